// Package figure turns one description of a figure, a table or a number into the files of a paper: PNG and SVG
// for the screen, PDF, and LaTeX source that uses the fonts of the document it is \input into. The same
// description always gives the same bytes.
//
// A [Figure] is a grid of panels. A panel shows curves and points ([Axes]), a heat map ([Matrix]), a causal
// forest ([Graph]), a picture ([Drawing]) or any plot of gonum.org/v1/plot ([Chart]):
//
//	p := figure.NewPlot()
//	p.X.Label.Text, p.Y.Label.Text = "x", "sin x"
//	p.Add(plotter.NewFunction(math.Sin))
//	f := &figure.Figure{ID: "sine", Rows: [][]figure.Panel{{&figure.Chart{Plot: p}}}}
//	paths, err := f.Export("figures") // sine.png, sine.svg, sine.pdf, sine.tex
//
// A type of another package is a panel if it has the three methods of [Panel].
//
// The plots are drawn with the plotters, axes and thumbnails of gonum. This package adds what gonum lacks:
// panels on a page, forests, drawings, tables, numbers. It replaces what looks worse there: legends hide no
// data, a logarithmic axis has ticks at all powers of ten, text may have scripts and accents, cells are whole
// pixels without seams, PDF has letters beyond Western Europe and no date, SVG needs no font, and LaTeX no
// image files.
//
// In LaTeX an Axes is an axis of pgfplots with the data in it. Other panels, and axes whose range needs more
// digits than TeX has, are drawn with TikZ. A figure needs the package pgfplots; a table needs booktabs and
// graphicx, or longtable if it is long.
package figure

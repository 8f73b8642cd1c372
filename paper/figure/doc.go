// Package figure turns one description of a figure, a table or a number into
// the files of a paper: PNG and SVG for the screen, PDF, and LaTeX source that
// uses the fonts of the document it is \input into. The same description
// always gives the same bytes.
//
// A [Figure] is a grid of panels. A panel shows curves and points ([Axes]), a
// heat map ([Matrix]), a causal forest ([Graph]), a picture ([Drawing]) or any plot
// of gonum.org/v1/plot ([Chart]):
//
//	p := figure.NewPlot()
//	p.X.Label.Text, p.Y.Label.Text = "x", "sin x"
//	p.Add(plotter.NewFunction(math.Sin))
//	f := &figure.Figure{ID: "sine", Rows: [][]figure.Panel{{&figure.Chart{Plot: p}}}}
//	paths, err := f.Export("figures") // sine.png, sine.svg, sine.pdf, sine.tex
//
// A type of another package is a panel if it has the three methods of [Panel].
//
// The plots are drawn with the plotters, axes and thumbnails of gonum. This
// package adds the parts that gonum lacks (panels on a page, forests, drawings,
// tables and numbers), and replaces the parts that look worse there:
//
//   - legends stand in lines above the frame, where they hide no data;
//   - ticks are at round numbers, and on a logarithmic axis at all powers of
//     ten, also where gonum's begin above the least value;
//   - scripts and accents are set from the glyphs of ordinary text fonts;
//   - cells are whole pixels without seams, where gonum's are blurred or
//     separated by hairlines;
//   - PDF supports letters beyond those of Western Europe, and has no date;
//   - SVG looks the same without our font, and holds each outline once;
//   - LaTeX has its text escaped and its outlines closed, and needs no image
//     files.
//
// In LaTeX an Axes is an axis of pgfplots with the data in it. Other panels, and axes whose
// range needs more digits than TeX has, are drawn with TikZ. A figure needs \usepackage{pgfplots}; tables need booktabs
// and graphicx, or longtable when they are long.
package figure

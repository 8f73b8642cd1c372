// Package figure turns one description of a figure, a table or a number into
// the files of a paper: PNG and SVG for the screen, PDF, and LaTeX source that
// takes the fonts of the document it is \input into. The same description
// always gives the same bytes.
//
// A [Figure] is a grid of panels. A panel describes what is to be seen: curves
// and points ([Axes]), a heat map ([Matrix]), a causal forest ([Graph]) or a
// picture ([Drawing]). Axes and Matrix are plots of gonum.org/v1/plot, which
// their Plot methods return to be added to; a [Chart] makes a panel of any
// plot:
//
//	p := figure.NewPlot()
//	p.X.Label.Text, p.Y.Label.Text = "x", "sin x"
//	p.Add(plotter.NewFunction(math.Sin))
//	f := &figure.Figure{ID: "sine", Rows: [][]figure.Panel{{&figure.Chart{Plot: p}}}}
//	paths, err := f.Export("figures") // sine.png, sine.svg, sine.pdf, sine.tex
//
// A type of another package is a panel if it has the three methods of [Panel].
//
// The plots are drawn with the plotters, axes and thumbnails of gonum. Made here
// is what gonum lacks (panels on a page, forests, drawings, tables and numbers)
// and what comes out worse there:
//
//   - legends stand in lines above the frame, where they hide no data;
//   - ticks are at round numbers, and on a logarithmic axis at all powers of
//     ten, also where gonum's begin above the least value;
//   - scripts and accents are set from the glyphs that text fonts have;
//   - cells are whole pixels without seams, where gonum's are blurred or parted
//     by hairlines;
//   - PDF takes letters beyond those of Western Europe, and no date;
//   - SVG looks the same without our font, with each outline in it once;
//   - LaTeX has its text escaped, its outlines closed, and its images inside
//     instead of beside it under changing names.
//
// The LaTeX twin of an Axes is an axis of pgfplots with the data in it, that
// of other panels is drawn with TikZ. A figure needs \usepackage{pgfplots}, and
// tables need booktabs (and longtable when they are long).
package figure

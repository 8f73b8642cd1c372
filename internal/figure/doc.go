// Package figure turns plots of gonum.org/v1/plot into the files of a paper: PNG and SVG for the screen, PDF, and LaTeX
// source that uses the fonts of the document it is \input into. The same figure always gives the same bytes.
//
// A [Figure] is a grid of panels, and a [Panel] is a *plot.Plot with a title:
//
//	p := figure.New("Descent").Axes("Step $t$", `$\hat g(\beta)$`)
//	p.Curve(0, "$T=16$", steps, forces)
//	p.Add(plotter.NewFunction(math.Sin)) // any plotter
//	f := &figure.Figure{ID: "descent", Rows: [][]*figure.Panel{{p}}}
//	paths, err := f.Export("figures") // descent.png, descent.svg, descent.pdf, descent.tex, descent.csv
//
// A label is one string: plain text, and formulas of LaTeX between dollar signs. LaTeX sets it as it is; elsewhere a
// formula is set from letters, scripts, accents and signs.
//
// The package adds what gonum lacks: panels on a page at any width, heat maps with the names of their blocks ([Heat]),
// causal forests ([Forest]), drawings ([Pen]), tables and numbers. LaTeX needs the packages pgf, xcolor and graphicx,
// and for tables booktabs and longtable.
package figure

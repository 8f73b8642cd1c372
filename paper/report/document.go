package report

import (
	"errors"
	"path/filepath"
	"strings"

	"learncausal/pkg/figure"
)

// document writes what leads to the outputs: all.tex, a document of all of them;
// captions.tex; and README.md, a page that lists them. What is laid out for a column
// is not in the document.
func document(dir string, outputs []Output) ([]string, error) {
	var figures, wide []*figure.Figure
	var tables, short []*figure.Table
	for _, out := range outputs {
		switch o := out.(type) {
		case *figure.Figure:
			figures = append(figures, o)
			if !strings.HasSuffix(o.ID, narrowSuffix) {
				wide = append(wide, o)
			}
		case *figure.Table:
			tables = append(tables, o)
			if !strings.HasSuffix(o.ID, narrowSuffix) {
				short = append(short, o)
			}
		case interface{ Table() *figure.Table }:
			tables, short = append(tables, o.Table()), append(short, o.Table())
		}
	}
	captions, err1 := figure.Captions(figures, tables)
	list, err2 := figure.Index(figures, tables)
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	files := []struct{ name, text string }{
		{"all.tex", figure.Document(wide, short)}, {"captions.tex", captions}, {"README.md", guide() + list},
	}
	var paths []string
	var errs []error
	for _, f := range files {
		path := filepath.Join(dir, f.name)
		paths, errs = append(paths, path), append(errs, figure.WriteFile(path, []byte(f.text)))
	}
	return paths, errors.Join(errs...)
}

// guide is the start of the page that lists the outputs.
func guide() string {
	return "# What a paper can take from this folder\n\n" +
		"Once, in the preamble of the paper:\n\n```latex\n" + figure.Preamble() + "\n" +
		`\newcommand{\figdir}{path/to/figures}
\input{\figdir/values}   % numbers
\input{\figdir/captions} % captions, and descriptions of the figures in words
` + "```\n\nThen, where it belongs:\n\n```latex\n" + `\begin{figure}
  \centering\input{\figdir/fig-mlp-1col}
  \caption{\capFigMlpOneCol}
\end{figure}
\begin{table*}
  \centering\caption{\capTabMlp}\input{\figdir/tab-mlp}
\end{table*}
\valStatementsFalse{} of \valStatements{} statements are false as printed.
` + "```\n" + `
- A figure is there as ` + "`.tex`" + `, which takes the fonts of the paper, and as PDF, SVG and PNG with its own:
  ` + "`\\includegraphics[alt={\\altFigMlp}]{\\figdir/fig-mlp.pdf}`" + `. Its type is never under 6 pt. Do not scale it:
  ` + "`paper export --width 5.5in fig-mlp`" + ` lays it out for another width.
- What ends in ` + "`-1col`" + ` fits a column of two (234 bp, 3.25 in). The rest goes into ` + "`figure*` or `table*`" + ` there.
  In its tables 0.505(5) is 0.505 with the standard error 0.005.
- ` + "`summary` and `claims`" + ` are longtables with their captions: no float around them. In a document of two columns
  they take pages of their own with one.
- The macro of a number is its id in ` + "`numbers.json`" + `: ` + "`fig9-mean` is `\\valFigNineMean`" + `. It works in text and in
  formulas. Where they exist there are also: ` + "`…PM`" + ` with its standard error, ` + "`…Interval`" + `, ` + "`…Paper`" + `, the value
  that the paper prints.
- A statement has the macros of its id and ` + "`Margin`, `Lhs`, `Rhs`, `MarginVerdict`" + `: lem-spectral-gap has
  ` + "`\\valLemSpectralGapMargin`" + `. How many there are: ` + "`\\valStatements`, `\\valStatementsFalse`" + ` (fails or inconsistent),
  ` + "`…Holds`, `…Consistent`, `…Fails`, `…Inconsistent`, `…Open`; the same of `\\valSteps`" + `, which are no statements of
  the paper's, and of ` + "`\\valCorrected`" + `.

Widths and heights are in bp, of which an inch has 72.

`
}

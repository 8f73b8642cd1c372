package figure

import (
	"cmp"
	"fmt"
	"strings"
)

// Preamble loads the packages of LaTeX that the exports need.
const Preamble = `\usepackage{amsmath,amssymb,booktabs,longtable,graphicx,xcolor,pgf}`

// Document returns a LaTeX document of the figures and tables with their captions, which it
// reads from \figdir or the current folder. With SOURCE_DATE_EPOCH its PDF has fixed bytes.
//
//	pdflatex '\def\figdir{path/to/figures}\input{\figdir/all}'
func Document(figures []*Figure, tables []*Table) string {
	var b strings.Builder
	b.WriteString(`\ifdefined\pdfsuppressptexinfo\pdfsuppressptexinfo=-1 \fi
\ifdefined\pdftrailerid\pdftrailerid{}\fi
\documentclass{article}
\usepackage[a4paper,margin=0.7in]{geometry}
` + Preamble + `
\providecommand{\figdir}{.}
\begin{document}
\input{\figdir/values}
\input{\figdir/captions}
`)
	// One figure a page: TeX holds only a few floats in memory.
	for _, f := range figures {
		fmt.Fprintf(&b, "\\begin{figure}[p]\n\\centering\n\\input{\\figdir/%s}\n", f.ID)
		fmt.Fprintf(&b, "\\caption{\\%s}\\label{fig:%s}\n\\end{figure}\n\\clearpage\n", CaptionMacro(f.ID), f.ID)
	}
	for _, t := range tables {
		if t.Long {
			fmt.Fprintf(&b, "\\input{\\figdir/%s}\n", t.ID)
			continue
		}
		fmt.Fprintf(&b, "\\begin{table}[p]\n\\centering\n\\caption{\\%s}\\label{tab:%s}\n",
			CaptionMacro(t.ID), t.ID)
		fmt.Fprintf(&b, "\\medskip\n\\input{\\figdir/%s}\n\\end{table}\n", t.ID)
	}
	b.WriteString("\\end{document}\n")
	return b.String()
}

// once returns a line that makes LaTeX skip a file of macros from the second time on.
func once(name string) string {
	return fmt.Sprintf("\\ifdefined\\%s\\endinput\\fi\\def\\%[1]s{}\n", name)
}

// CaptionMacro returns the macro of a caption, as capFigMlp for the id fig-mlp.
func CaptionMacro(id string) string { return macroName("cap", id) }

// Captions returns LaTeX macros for all captions, named by [CaptionMacro], and for the
// descriptions of all figures, such as altFigMlp for the id fig-mlp.
func Captions(figures []*Figure, tables []*Table) (string, error) {
	var b strings.Builder
	b.WriteString("% Captions, and descriptions of the figures in words.\n" + once("figcaptions"))
	defined := make(map[string]bool)
	define := func(macro, body string) {
		if !defined[macro] { // an output may be listed twice
			fmt.Fprintf(&b, "\\newcommand{\\%s}{%s}\n", macro, body)
		}
		defined[macro] = true
	}
	for _, f := range figures {
		alt, err := EscapeTeX(cmp.Or(f.Alt, f.name()))
		if err != nil {
			return "", fmt.Errorf("figure %s: description: %w", f.ID, err)
		}
		define(CaptionMacro(f.ID), f.Caption)
		define(macroName("alt", f.ID), alt)
	}
	for _, t := range tables {
		define(CaptionMacro(t.ID), t.Caption)
	}
	return b.String(), nil
}

// Index returns two tables in Markdown that list the figures and tables: the name to \input,
// the width in points of 1/72 inch, the macro of the caption, and the title or the columns.
func Index(figures []*Figure, tables []*Table) (string, error) {
	var b strings.Builder
	b.WriteString("| figure | width × height | caption | shows |\n|---|--:|---|---|\n")
	for _, f := range figures {
		l, err := f.layout()
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "| `%s` | %.0f × %.0f | `\\%s` | %s |\n", f.ID, l.w, l.h, CaptionMacro(f.ID), f.name())
	}
	b.WriteString("\n| table | width | caption | columns |\n|---|--:|---|---|\n")
	for _, t := range tables {
		width := fmt.Sprintf("%.0f", t.width())
		if t.Long {
			width = "the text’s"
		}
		fmt.Fprintf(&b, "| `%s` | %s | `\\%s` | %s |\n",
			t.ID, width, CaptionMacro(t.ID), strings.Join(t.flatHead(), ", "))
	}
	return b.String(), nil
}

// width estimates the width of a tabular in type of 10 pt, in points.
func (t *Table) width() (w float64) {
	const typeSize, gap = 10, 12
	for j, head := range t.Columns {
		column := TextWidth(head, typeSize)
		for _, r := range t.Rows {
			column = max(column, TextWidth(r[j].Shown(), typeSize))
		}
		w += column + gap
	}
	return w
}

package figure

import (
	"fmt"
	"path/filepath"
	"strings"
)

// preamble is what a document needs to \input any of the exports.
const preamble = `\usepackage{amsmath,amssymb,booktabs,longtable,pgfplots}
\pgfplotsset{compat=1.18}`

// Document returns a LaTeX document that \inputs values.tex and all given
// figures and tables, with their captions. They are looked for in \figdir,
// which is the current folder unless defined before:
//
//	pdflatex '\def\figdir{path/to/figures}\input{\figdir/all}'
//
// With SOURCE_DATE_EPOCH set its PDF is the same to the byte.
func Document(figures []*Figure, tables []*Table) string {
	var b strings.Builder
	b.WriteString(`\ifdefined\pdfsuppressptexinfo\pdfsuppressptexinfo=-1 \fi
\ifdefined\pdftrailerid\pdftrailerid{}\fi
\documentclass{article}
\usepackage[a4paper,margin=0.7in]{geometry}
` + preamble + `
\providecommand{\figdir}{.}
\begin{document}
\input{\figdir/values}
`)
	// A page each: TeX has no memory for many figures that wait for theirs.
	for _, f := range figures {
		fmt.Fprintf(&b, "\\begin{figure}[p]\n\\centering\n\\input{\\figdir/%s}\n", f.ID)
		fmt.Fprintf(&b, "\\caption{%s}\\label{fig:%s}\n\\end{figure}\n\\clearpage\n", f.Caption, f.ID)
	}
	for _, t := range tables {
		if t.Long {
			fmt.Fprintf(&b, "\\input{\\figdir/%s}\n", t.ID)
			continue
		}
		fmt.Fprintf(&b, "\\begin{table}[p]\n\\centering\n\\caption{%s}\\label{tab:%s}\n", t.Caption, t.ID)
		fmt.Fprintf(&b, "\\medskip\n\\input{\\figdir/%s}\n\\end{table}\n", t.ID)
	}
	b.WriteString("\\end{document}\n")
	return b.String()
}

// ExportDocument writes Document as all.tex into dir and returns its path.
func ExportDocument(dir string, figures []*Figure, tables []*Table) (string, error) {
	path := filepath.Join(dir, "all.tex")
	return path, WriteFile(path, []byte(Document(figures, tables)))
}

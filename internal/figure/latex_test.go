package figure

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
)

// compile runs pdflatex on a source in a folder and returns the log and the PDF.
func compile(t *testing.T, dir, source string) (log, pdf []byte) {
	t.Helper()
	if testing.Short() {
		t.Skip("slow: it runs LaTeX")
	}
	if _, err := exec.LookPath("pdflatex"); err != nil {
		t.Skip("NOT CHECKED: no pdflatex on this machine")
	}
	if err := os.WriteFile(filepath.Join(dir, "doc.tex"), []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("pdflatex", "-interaction=nonstopmode", "-halt-on-error", "doc.tex")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "max_print_line=10000", "SOURCE_DATE_EPOCH=0", "FORCE_SOURCE_DATE=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out[max(0, len(out)-2000):])
	}
	return must(os.ReadFile(filepath.Join(dir, "doc.log"))), must(os.ReadFile(filepath.Join(dir, "doc.pdf")))
}

// Figures, tables and numbers compile without an overfull line or a missing letter, to the same bytes twice, and to the
// same page in a document that changes the styles of TikZ and pgfplots and makes characters active, as babel does.
func TestExportsCompileInEveryDocument(t *testing.T) {
	dir := t.TempDir()
	body, figs, tabs := "", small(), []*Table{someTable(), longTable()}
	for _, tab := range tabs {
		must(tab.Export(dir))
		body += "\\input{" + tab.ID + "}\\clearpage\n"
	}
	body += `\act\:\act\;\act\!\act\?\act\"\act\<\act\>` + "\n"
	for _, f := range figs {
		must(f.Export(dir))
		body += "\\input{" + f.ID + "}\\clearpage\n"
	}
	must(someNumbers().Export(dir))
	captions := must(Captions(figs, tabs))
	if err := os.WriteFile(filepath.Join(dir, "captions.tex"), []byte(captions), 0o644); err != nil {
		t.Fatal(err)
	}
	head := "\\pdfsuppressptexinfo=-1 \\pdftrailerid{}\\documentclass{article}\n" + Preamble +
		"\\usepackage[margin=2cm]{geometry}\\nofiles\\def\\act#1{}"
	const styles = `
\usepackage{pgfplots}\pgfplotsset{compat=1.18,every axis/.append style={grid=both},grid=both}
\tikzset{every node/.style={draw,fill=red},every picture/.style={scale=2,rotate=5},
every path/.style={draw=red,line width=3pt}}
\def\act#1{\catcode` + "`" + `#1=13
\begingroup\lccode` + "`" + `\~=` + "`" + `#1\lowercase{\endgroup\def~}{\errmessage{active}}}`
	const begin = "\n\\begin{document}\\input{values}\\input{captions}\\input{captions}\\message{\\capAxes}\n" +
		"\\ifdim\\valFigNineMean pt>1pt\\errmessage{a mean}\\fi\n"
	log, first := compile(t, dir, head+begin+body+"\\end{document}\n")
	_, again := compile(t, dir, head+begin+body+"\\end{document}\n")
	_, styled := compile(t, dir, head+styles+begin+body+"\\end{document}\n")
	if bad := regexp.MustCompile(`(?m)^(Overfull|Missing character|! ).*`).FindAll(log, -1); bad != nil {
		t.Errorf("log: %s", bytes.Join(bad, []byte("\n")))
	}
	if !bytes.Equal(first, again) {
		t.Error("two compilations gave different bytes")
	}
	text := func(pdf []byte) string { // what is drawn, without tables of objects
		if err := os.WriteFile(filepath.Join(dir, "page.pdf"), pdf, 0o644); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command("pdftoppm", "-r", "60", "-gray", filepath.Join(dir, "page.pdf")).Output()
		if err != nil {
			t.Skip("NOT CHECKED: no pdftoppm on this machine")
		}
		return string(out)
	}
	if text(first) != text(styled) {
		t.Error("the styles of the document change the figures")
	}
}

// README.md states the preamble of the document of all exports.
func TestReadmeStatesThePreamble(t *testing.T) {
	if want := []byte("```latex\n" + Preamble + "\n"); !bytes.Contains(must(os.ReadFile("../../README.md")), want) {
		t.Errorf("README.md has no block that begins\n%s", want)
	}
}

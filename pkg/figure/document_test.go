package figure

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
)

// All exports compile in one document, from another folder, without an
// overfull line or a missing character, and to the same bytes twice. Every
// figure is read twice, so that names that are not local would clash.
func TestDocumentCompiles(t *testing.T) {
	if testing.Short() {
		t.Skip("slow: it runs LaTeX")
	}
	pdflatex, err := exec.LookPath("pdflatex")
	if err != nil {
		t.Skip("NOT CHECKED: no pdflatex on this machine, so the LaTeX exports were not compiled")
	}
	dir := filepath.Join(t.TempDir(), "some figures")
	figs := append(append(small(), small()...), readers(t))
	tabs := []*Table{someTable(), longTable()}
	for _, f := range figs {
		if _, err := f.Export(dir); err != nil {
			t.Fatal(err)
		}
	}
	for _, tb := range tabs {
		if _, err := tb.Export(dir); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := someNumbers().Export(dir); err != nil {
		t.Fatal(err)
	}
	// Labels would be defined twice: leave that to the reader of the warning.
	captions, err := Captions(figs, tabs)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"all.tex": Document(figs, tabs), "captions.tex": captions} {
		if err := WriteFile(filepath.Join(dir, name), []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	var pdf [2][]byte
	for i := range pdf {
		work := t.TempDir()
		cmd := exec.Command(pdflatex, "-interaction=nonstopmode", "-halt-on-error", "-jobname=all",
			`\def\figdir{`+filepath.ToSlash(dir)+`}\input{"\figdir/all"}`)
		cmd.Dir = work
		cmd.Env = append(os.Environ(), "SOURCE_DATE_EPOCH=0", "FORCE_SOURCE_DATE=1", "max_print_line=10000")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		log, err := os.ReadFile(filepath.Join(work, "all.log"))
		if err != nil {
			t.Fatal(err)
		}
		faults := regexp.MustCompile(`(?m)^(Overfull|Missing character|! |Package pgfplots Warning|` +
			`LaTeX Warning: Float too large).*`)
		if bad := faults.FindAll(log, -1); bad != nil {
			t.Errorf("log: %s", bytes.Join(bad, []byte("\n")))
		}
		if pdf[i], err = os.ReadFile(filepath.Join(work, "all.pdf")); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(pdf[0], pdf[1]) {
		t.Error("two compilations gave different bytes")
	}
	if d := os.Getenv("DEMO"); d != "" {
		if err := WriteFile(filepath.Join(d, "all.pdf"), pdf[0]); err != nil {
			t.Fatal(err)
		}
	}
}

// A figure compiles where a language has made characters active, as babel does.
func TestFiguresStandActiveCharacters(t *testing.T) {
	if testing.Short() {
		t.Skip("slow: it runs LaTeX")
	}
	pdflatex, err := exec.LookPath("pdflatex")
	if err != nil {
		t.Skip("NOT CHECKED: no pdflatex on this machine, so the LaTeX exports were not compiled")
	}
	dir := t.TempDir()
	source := "\\documentclass{article}\n" + preamble + `
\def\act#1{\catcode` + "`" + `#1=13 \begingroup\lccode` + "`" + `\~=` + "`" + `#1\lowercase{\endgroup\def~}{\errmessage{active}}}
\begin{document}\act\:\act\;\act\!\act\?\act\"\act\<\act\>
`
	for _, f := range small() {
		if _, err := f.Export(dir); err != nil {
			t.Fatal(err)
		}
		source += "\\fbox{\\input{" + f.ID + "}}\n"
	}
	if err := os.WriteFile(filepath.Join(dir, "doc.tex"), []byte(source+"\\end{document}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(pdflatex, "-interaction=nonstopmode", "-halt-on-error", "doc")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out[max(0, len(out)-2000):])
	}
}

// What the start page asks of a document is what the document of all exports has.
func TestReadmeStatesThePreamble(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	if want := "```latex\n" + preamble + "\n"; !bytes.Contains(readme, []byte(want)) {
		t.Errorf("README.md has no block that begins\n%s", want)
	}
}

package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// annotate writes the copy and ledger.sty, with paths from the folder of the copy, and never the source.
func TestAnnotateWritesACopy(t *testing.T) {
	dir := t.TempDir()
	source, out := filepath.Join(dir, "paper.tex"), filepath.Join(dir, "annotated.tex")
	text := "\\begin{document}\n\\begin{theorem}\\label{thm:main_thm} \\end{theorem}\n\\end{document}\n"
	if err := os.WriteFile(source, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	command := func(args ...string) error { return run(t.Context(), io.Discard, append([]string{"annotate"}, args...)) }
	if err := command(source, "-o", out, "--page", "https://example.org/ledger.html"); err != nil {
		t.Fatal(err)
	}
	copied, err := os.ReadFile(out)
	if err != nil || !strings.Contains(string(copied), `\ledgernext{thm-main}\begin{theorem}`) ||
		!strings.Contains(string(copied), `\def\ledgerpage{https://example.org/ledger.html}`) {
		t.Errorf("the copy is %q (%v)", copied, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "ledger.sty")); err != nil {
		t.Error(err)
	}
	_, figures, _ := strings.Cut(string(copied), `\ledgerfigures{`)
	figures, _, _ = strings.Cut(figures, "}")
	if _, err := os.Stat(filepath.Join(dir, figures, "fig-mlp.pdf")); err != nil {
		t.Error(err)
	}
	for _, args := range [][]string{{source, "-o", source}, {filepath.Join(dir, "none.tex")}, {}} {
		if err := command(args...); err == nil {
			t.Errorf("annotate %q is accepted", args)
		}
	}
	if b, err := os.ReadFile(source); err != nil || string(b) != text {
		t.Errorf("the source is now %q (%v)", b, err)
	}
}

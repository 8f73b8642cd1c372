package figures

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"learncausal/internal/figure"
)

// What leads to the outputs names each of them: the page and the document, and every caption is a macro.
func TestDocumentNamesEveryOutput(t *testing.T) {
	g := &figure.Figure{
		ID: "fig-mine", Caption: `A graph on $s_1, \dots, s_6$.`, Width: figure.FullText,
		Rows: [][]*figure.Panel{{figure.Causal("", &figure.Forest{Parents: []int{-1, 0, 0, 1, 2, -1}, Query: true})}},
	}
	tab := figure.NewTable("Numbers.", "One", "Two")
	tab.ID = "tab-mine"
	dir := t.TempDir()
	paths, err := document(dir, []Output{g, tab}, true)
	if err != nil || len(paths) != 3 {
		t.Fatalf("%v, %v: want three files", paths, err)
	}
	read := func(name string) string {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	for _, c := range []struct{ file, text string }{
		{"all.tex", `\input{\figdir/fig-mine}`},
		{"all.tex", `\caption{\capTabMine}`},
		{"captions.tex", `\newcommand{\capFigMine}{A graph on $s_1, \dots, s_6$.}`},
		{"captions.tex", `\newcommand{\altFigMine}{`},
		{"README.md", "| `fig-mine` | 396 × "},
		{"README.md", "| `tab-mine` | "},
		{"README.md", figure.Preamble},
	} {
		if !strings.Contains(read(c.file), c.text) {
			t.Errorf("%s does not say %s", c.file, c.text)
		}
	}
}

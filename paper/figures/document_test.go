package figures

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"learncausal/internal/figure"
)

// What leads to the outputs names each of them: the page all, the document those
// that are not for a column, and every caption is a macro.
func TestDocumentNamesEveryOutput(t *testing.T) {
	g := &figure.Figure{
		ID: "fig-mine", Caption: `A graph on $s_1, \dots, s_6$.`, Width: figure.FullText,
		Rows: [][]figure.Panel{{&figure.Graph{Parents: []int{-1, 0, 0, 1, 2, -1}, Query: true}}},
	}
	narrow, err := g.Fit(figure.OneColumn)
	if err != nil {
		t.Fatal(err)
	}
	narrow.ID += narrowSuffix
	tab := newTable("Numbers.", "One", "Two")
	tab.ID = "tab-mine"
	dir := t.TempDir()
	paths, err := document(dir, []Output{g, narrow, tab}, true)
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
		{"captions.tex", `\newcommand{\capFigMineOneCol}{A graph on $s_1, \dots, s_6$.}`},
		{"captions.tex", `\newcommand{\altFigMine}{`},
		{"README.md", "| `fig-mine-1col` | 234 × "},
		{"README.md", "| `tab-mine` | "},
		{"README.md", figure.Preamble},
	} {
		if !strings.Contains(read(c.file), c.text) {
			t.Errorf("%s does not say %s", c.file, c.text)
		}
	}
	if strings.Contains(read("all.tex"), narrowSuffix) {
		t.Error("all.tex holds what is for a column")
	}
}

// Every description can be said in LaTeX.
func TestDescriptionsHaveLaTeX(t *testing.T) {
	for id, words := range alts() {
		if _, err := figure.EscapeTeX(words); err != nil {
			t.Errorf("%s: %v", id, err)
		}
	}
}

// What is for a column stands behind what it is made of, and every id of the list is
// that of an entry.
func TestNarrowEntriesFollowTheirOwn(t *testing.T) {
	n := 0
	entries := Entries()
	for i, e := range entries {
		if id, ok := strings.CutSuffix(e.ID, narrowSuffix); ok {
			n++
			if i == 0 || entries[i-1].ID != id || !slices.Contains(narrowed, id) {
				t.Errorf("%s does not follow %s", e.ID, id)
			}
		}
	}
	if n != len(narrowed) {
		t.Errorf("%d entries for a column, want %d", n, len(narrowed))
	}
}

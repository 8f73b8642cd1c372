package show

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"learncausal/internal/runs"
)

// A page links a program for each cell while the reader waits, so that a program must not
// contain functions that the cell does not call.
func TestAProgramContainsOnlyItsCalls(t *testing.T) {
	if testing.Short() {
		t.Skip("slow: it links three programs")
	}
	const checks, load, get = "paper/claims.init", "paper/figures.LoadMulti", "internal/runs.(*Store).Get"
	const figures, tables = "paper/figures.figures", "paper/figures.tables"
	for _, c := range []struct {
		call string
		has  []string
	}{
		{`show.Figure("fig-graph-example")`, []string{load, figures, get}},
		{`show.Table("tab-mlp")`, []string{load, tables, get}},
		{`show.Check(claims.All(), "Lemma 13")`, []string{checks}},
	} {
		dir := t.TempDir()
		source, program := filepath.Join(dir, "main.go"), filepath.Join(dir, "cell")
		text := "package main\n\n"
		for _, imported := range []string{"paper/claims", "paper/show"} {
			if strings.Contains(c.call, filepath.Base(imported)+".") {
				text += "import \"learncausal/" + imported + "\"\n"
			}
		}
		text += fmt.Sprintf("\nfunc main() { %s }\n", c.call)
		if err := os.WriteFile(source, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command("go", "build", "-ldflags=-w", "-o", program, source).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		symbols, err := exec.Command("go", "tool", "nm", program).Output()
		if err != nil {
			t.Fatal(err)
		}
		var has []string
		for _, name := range []string{checks, load, figures, tables, get} {
			if strings.Contains(string(symbols), " learncausal/"+name+"\n") {
				has = append(has, name)
			}
		}
		if !slices.Equal(has, c.has) {
			t.Errorf("%s: the program has %q in it, want %q", c.call, has, c.has)
		}
	}
}

func TestAPageReplaysOneRunInSoMany(t *testing.T) {
	for all, want := range map[int][]int{0: nil, 3: {0, 1, 2}, 20: {0, 1, 2, 19}, 21: {0, 2, 4, 20}, 100: {0, 5, 10, 95}} {
		rs := make([]*runs.Run, all)
		for i := range rs {
			rs[i] = &runs.Run{Address: fmt.Sprint(i)}
		}
		some := thinned(rs, 20)
		var got []int
		for i, r := range some {
			if i < 3 || i == len(some)-1 {
				got = append(got, slices.Index(rs, r))
			}
		}
		if len(some) > 20 || !slices.Equal(got, want) {
			t.Errorf("%d of %d runs, the first and the last are %v, want %v", len(some), all, got, want)
		}
	}
}

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"learncausal/pkg/graph"
)

// A graph as networkx writes it, in an order in which the last node is not the effect.
const weather = `strict digraph  {
wet;
"sprin\"kler\"";
Łuk;
wet -> fog;
Łuk -> wet;
"sprin\"kler\"" -> wet;
}
`

func TestNamesOfNodesAreKept(t *testing.T) {
	dir := t.TempDir()
	args := append([]string{"train", write(t, "w.dot", weather), "-o", dir}, quickly...)
	const edges = `sprin"kler" -> wet, Łuk -> wet, wet -> fog`
	const order = `sprin"kler", Łuk, wet` + "\n"
	if text := output(t, append(args, "-n")...); !strings.Contains(text, "edges       "+edges+"\n") ||
		!strings.Contains(text, "positions   "+order) ||
		!strings.Contains(text, "task 2") || strings.Contains(text, `"parents"`) {
		t.Errorf("dry run\n%s", text)
	}
	text := output(t, append(args, "--heads", "2,1")...)
	files := content(t, dir)
	for name, want := range map[string]string{
		"given.dot": "\"sprin\\\"kler\\\"\" -> wet;\n", "learned.dot": "query=\"fog\";\n\t\"sprin\\\"kler\\\"\";\n",
		"graph.tex": "{wet}", "summary.txt": "positions in order: " + order,
		"summary.json": `"nodes": [` + "\n    \"sprin\\\"kler\\\"\",",
	} {
		says(t, files[name], want)
	}
	says(t, text, "The last position, wet, serves the label")
	says(t, files["summary.json"], "wet -> fog")
	_, g, names, err := graph.Read(strings.NewReader(files["given.dot"]))
	if err != nil || g == nil || strings.Join(names, " ") != `sprin"kler" Łuk wet fog` {
		t.Errorf("given.dot: %v %q, error %v\n%s", g, names, err, text)
	}
	says(t, output(t, "show", dir), edges)
	byPosition := output(t, "predict", dir, write(t, "in", "2 1 0\n"))
	if !strings.HasPrefix(byPosition, "sprin\"kler\"=2 Łuk=1 wet=0 -> fog\n") {
		t.Errorf("predicted\n%s", byPosition)
	}
	for _, table := range []string{
		"wet,\"sprin\"\"kler\"\"\",Łuk\n0,2,1\n",
		"\ufeffŁuk\twet\tsprin\"kler\"\r\n1\t0\t2\r\n", "Łuk; sprin\"kler\"; wet\n1; 2; 0",
	} {
		if got := output(t, "predict", dir, write(t, "in.csv", table)); got != byPosition {
			t.Errorf("predicted from %q\n%s", table, got)
		}
	}
	refused(t, []string{"in.csv, line 1", "columns", `"wet"`}, "predict", dir, write(t, "in.csv", "wet,Łuk\n0,1\n"))
	refused(t, []string{"in.csv, line 1", "columns"}, "predict", dir, write(t, "in.csv", "wet,wet,Łuk\n0,1,1\n"))

	// The names belong to the graph of the run.
	if err := os.WriteFile(filepath.Join(dir, "given.dot"), []byte("digraph { a -> b -> c; q }"), 0o666); err != nil {
		t.Fatal(err)
	}
	if got := output(t, "predict", dir, write(t, "in", "2 1 0\n")); !strings.HasPrefix(got, "2 1 0\n") {
		t.Errorf("names of a different graph:\n%s", got)
	}
}

// Positions of a file in the paper's names have the address that they always had.
func TestAddressesDoNotDependOnNames(t *testing.T) {
	address := func(text string) string {
		got := output(t, append([]string{"train", write(t, "g.dot", text), "-n"}, quickly...)...)
		return strings.Fields(got)[1]
	}
	want := address(forest)
	for _, text := range []string{
		"digraph { a -> b; a -> c; b -> d; c -> e; q }", "digraph { 0 -> {1 2}; 1 -> 3; 2 -> 4; 5 }",
		"digraph { s6; s3 -> s5; s2 -> s4; s1 -> {s2 s3} }",
	} {
		if got := address(text); got != want {
			t.Errorf("%s has the address %s, want %s", text, got, want)
		}
	}
}

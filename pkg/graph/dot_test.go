package graph

import (
	"errors"
	"os/exec"
	"strings"
	"testing"
	"testing/iotest"

	"gonum.org/v1/gonum/graph/encoding/dot"
	"gonum.org/v1/gonum/graph/multi"
)

func TestDOTRoundTrip(t *testing.T) {
	for _, f := range some() {
		var first, second strings.Builder
		if err := f.WriteDOT(&first); err != nil {
			t.Fatal(err)
		}
		g, err := ReadDOT(strings.NewReader(first.String()))
		if err != nil {
			t.Fatalf("%v: %v\n%s", f, err, first.String())
		}
		equal(t, "round trip", g.Parents(), f.Parents())
		if err := g.WriteDOT(&second); err != nil || second.String() != first.String() {
			t.Errorf("%v: other bytes when written again, error %v", f, err)
		}
	}
}

const exampleDOT = `strict digraph {
	// Node definitions.
	s1;
	s2;
	s3;
	s4;
	s5;
	s6;

	// Edge definitions.
	s1 -> s2;
	s1 -> s3;
	s2 -> s4;
	s3 -> s5;
}
`

func TestWriteDOTBytes(t *testing.T) {
	var b strings.Builder
	if err := Example().WriteDOT(&b); err != nil || b.String() != exampleDOT {
		t.Errorf("error %v, got\n%s", err, b.String())
	}
}

func TestGraphvizReadsWhatIsWritten(t *testing.T) {
	path, err := exec.LookPath("dot")
	if err != nil {
		t.Skip("NOT CHECKED: Graphviz is not installed")
	}
	cmd := exec.Command(path, "-Tplain")
	cmd.Stdin = strings.NewReader(exampleDOT)
	out, err := cmd.CombinedOutput()
	if n := strings.Count(string(out), "\nedge "); err != nil || n != 4 {
		t.Errorf("dot: %v, %d edges\n%s", err, n, out)
	}
}

func TestReadDOTAcceptsEveryWayToWriteAForest(t *testing.T) {
	const example = "[-1 0 0 1 2 -1]"
	for _, test := range []struct{ dot, want string }{
		{"digraph { 0 -> 1 -> 3; 0 -> 2 -> 4; 5 }", example},
		{"digraph { s1 -> s2 -> s4; s1 -> s3 -> s5; s6 }", example},
		{"digraph G { 5; 2 -> 4; 1 -> 3; 0 -> {1 2} }", example},    // every node of {1 2} seen before
		{"digraph { 0 -> {1; 2} {1 -> {3} {2 -> 4}}; 5 }", example}, // edges inside subgraphs
		{"digraph { {0 -> 1 subgraph c {2}} 0 -> 2 -> 4 1 -> 3 5 }", example},
		{"digraph { 0 -> {subgraph a {1} 2}; 1 -> 3; 2 -> 4; 5 }", example},
		{"digraph { 0 -> {1 1 2}; 1 -> 3; 2 -> 4; 5 }", example}, // a subgraph is a set
		{`digraph "my graph" { "s1" -> s2; s1 -> "s3"; "s2" -> s4; s3 -> s5; s6 }`, example},
		{"digraph { rankdir=LR; node [shape=circle]; 0:e -> 1:p:w -> 3 [color=red]; 0 -> 2 -> 4; 5 [label=query] }", example},
		{"strict digraph { 0 -> 1; 0 -> 1; 0 -> {1 2}; 1 -> 3; 2 -> 4; 5 }", example},
		{"# comment\nDIGRAPH { /* a */ 0 -> 1 // b\n 2 }", "[-1 0 -1]"},
		{"digraph { 1 0 }", "[-1 -1]"},
		{"digraph { 0 -> {}; 1 }", "[-1 -1]"},
		{"digraph { 10; 9; 8; 7; 6; 5; 4; 3; 2; 1; 0 }", "[-1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1]"},
	} {
		f, err := ReadDOT(strings.NewReader(test.dot))
		if err != nil || f.String() != test.want {
			t.Errorf("%s: got %v, error %v; want %s", test.dot, f, err, test.want)
		}
	}
}

func TestReadDOTRefusesByRule(t *testing.T) {
	const (
		arrows = `want "digraph", and "->" from parent to child`
		names  = ` nodes names them 0..`
	)
	for _, test := range []struct{ name, dot, want string }{
		{"empty file", "", "graph: not valid DOT: 1:1: error: expected one of strict, graphx or digraph"},
		{"bytes", "\x00\xff\xfe", "graph: not valid DOT: 1:1: error"},
		{"prose", "the chain on 20 positions", "graph: not valid DOT: 1:1: error"},
		{"cut short", "digraph { 0 -> 1", "graph: not valid DOT: 1:17: error"},
		{"two arrows", "digraph {\n0 -> -> 1 }", "graph: not valid DOT: 2:6: error"},
		{"no nodes", "digraph {}", "graph: T = 0: want at least 2"},
		{"query only", "digraph { 0 }", "graph: T = 1: want at least 2"},
		{"two graphs", "digraph { 0; 1 } digraph { 0; 1 }", "graph: DOT file holds 2 graphs: want 1"},
		{"undirected", "graph { 0 -- 1; 2 }", "graph: undirected DOT graph: " + arrows},
		{"arrows in an undirected graph", "graph { 0 -> 1; 2 }", "graph: not valid DOT: undirected graph"},
		{"undirected edge", "digraph { 0 -> 1; 1 -- 2; 3 }", `graph: undirected DOT edge in "1 -- 2": ` + arrows},
		{"undirected edge in a subgraph", "digraph { 0 -> {1 -- 2}; 3 }", `graph: undirected DOT edge in "1 -- 2": ` + arrows},
		{"other names", "digraph { a -> b; c }", `graph: DOT node "a": a file with 3` + names + "2 or s1..s3"},
		{"mixed names", "digraph { 0 -> s2; 2 }", `graph: DOT node "s2": a file with 3` + names},
		{"mixed names, s first", "digraph { s1 -> 1; s3 }", `graph: DOT node "1": a file with 3` + names},
		{"s0", "digraph { s0 -> s1; s2 }", `graph: DOT node "s0": a file with 3` + names},
		{"1-based numbers", "digraph { 1 -> 2; 3 }", `graph: DOT node "3": a file with 3` + names},
		{"negative", "digraph { -1 -> 0; 1 }", `graph: DOT node "-1": a file with 3` + names},
		{"root as a node", "digraph { 0; 1; -1 -> 1 }", `graph: DOT node "-1"`},
		{"leading zero", "digraph { 00 -> 1; 2 }", `graph: DOT node "00"`},
		{"decimal", "digraph { 0.0 -> 1; 2 }", `graph: DOT node "0.0"`},
		{"HTML name", "digraph { <b>x</b>> -> 1 }", "graph: not valid DOT"},
		{"position left out", "digraph { 0 -> 1; 3 }", `graph: DOT node "3": a file with 3` + names + "2 or s1..s3, each root and the query among them"},
		{"huge", "digraph { 0 -> 1000000000000; 99999999999999999999999 }", `graph: DOT node "1000000000000": a file with 3` + names},
		{"self-loop", "digraph { 0 -> 1 -> 1; 2 }", "graph: edge 1 -> 1: self-loop"},
		{"cycle", "digraph { 0 -> 1 -> 2 -> 0 }", "graph: edge 2 -> 0: closes the cycle 2 -> 0 -> 1 -> 2"},
		{"cycle in the paper's names", "digraph { s2 -> s3 -> s2; s1; s4 }", "graph: edge s3 -> s2: closes the cycle s3 -> s2 -> s3"},
		{"forward edge", "digraph { s1; s3 -> s2; s4 }", "graph: edge s3 -> s2: forward edge"},
		{"two parents", "digraph { s1 -> s3; s2 -> s3; s4 }", "graph: edge s2 -> s3: two parents: s3 already has the parent s1"},
		{"two parents by a subgraph", "digraph { {0 1} -> 2; 3 }", "graph: edge 1 -> 2: two parents: 2 already has the parent 0"},
		{"two parents by an edge in a subgraph", "digraph { 0 -> {1; 2 -> 4}; 3; 5 }", "graph: edge 0 -> 4: two parents"},
		{"forward edge to a subgraph with an edge", "digraph { 3 -> {0 -> 1}; 2; 4 }", "graph: edge 3 -> 0: forward edge"},
		{"duplicate", "digraph { 0 -> 1; 0:n -> 1; 2 }", "graph: edge 0 -> 1: duplicate edge"},
		{"query left out", "digraph { s1 -> s2 -> s3 }", "graph: edge s2 -> s3: a parent for the query"},
	} {
		f, err := ReadDOT(strings.NewReader(test.dot))
		if f != nil || err == nil || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%s: got %v, error %v; want error %q", test.name, f, err, test.want)
		}
	}
	broken := errors.New("disk gone")
	if _, err := ReadDOT(iotest.ErrReader(broken)); !errors.Is(err, broken) {
		t.Errorf("got error %v, want %v", err, broken)
	}
}

// The reason why ReadDOT reads the syntax tree itself; when this fails, gonum
// has mended it and dot.UnmarshalMulti may be used.
func TestUnmarshalLosesEdgesToKnownNodes(t *testing.T) {
	const file = "digraph { 1; 2; 0 -> {1 2}; 3 }"
	g := multi.NewDirectedGraph()
	if err := dot.UnmarshalMulti([]byte(file), g); err != nil {
		t.Fatal(err)
	}
	f, err := ReadDOT(strings.NewReader(file))
	if err != nil || len(f.Edges()) != 2 || g.Edges().Len() != 0 {
		t.Errorf("ReadDOT: %v, error %v; gonum: %d edges", f, err, g.Edges().Len())
	}
}

func FuzzReadDOT(f *testing.F) {
	f.Add([]byte(exampleDOT))
	f.Add([]byte("digraph { 0:n -> {1; 2 -> 4} [a=b]; 1 -> 3; subgraph c { 5 } }"))
	f.Fuzz(func(t *testing.T, data []byte) {
		g, err := ReadDOT(strings.NewReader(string(data)))
		if err != nil {
			if !strings.HasPrefix(err.Error(), "graph: ") {
				t.Errorf("%v: no package prefix", err)
			}
			return
		}
		if _, err := New(g.Parents()); err != nil {
			t.Error(err)
		}
	})
}

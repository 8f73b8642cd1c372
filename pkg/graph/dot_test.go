package graph

import (
	"errors"
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"
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

func TestDAGRoundTrip(t *testing.T) {
	unsorted := 0
	for _, g := range someDAGs(t) {
		var first, second strings.Builder
		if err := g.WriteDOT(&first); err != nil {
			t.Fatal(err)
		}
		h, err := ReadDAG(strings.NewReader(first.String()))
		if err != nil {
			t.Fatalf("%v: %v\n%s", g.Parents(), err, first.String())
		}
		if !sameDAG(g, h) {
			t.Errorf("%v becomes %v\n%s", g.Parents(), h.Parents(), first.String())
		}
		if err := h.WriteDOT(&second); err != nil || second.String() != first.String() {
			t.Errorf("%v: other bytes when written again, error %v", g.Parents(), err)
		}
		// Planted fault: the places are lost.
		h, err = ReadDAG(strings.NewReader(strings.ReplaceAll(first.String(), "headlabel", "taillabel")))
		if err != nil {
			t.Fatal(err)
		}
		if !sameDAG(g, h) {
			unsorted++
		}
	}
	if unsorted < 8 {
		t.Errorf("%d graphs have parents in an order that is not increasing, too few for a test", unsorted)
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
	if err := Figure1().WriteDOT(&b); err != nil || b.String() != exampleDOT {
		t.Errorf("error %v, got\n%s", err, b.String())
	}
}

const dagDOT = `strict digraph {
	// Node definitions.
	s1;
	s2;
	s3;
	s4;
	y;

	// Edge definitions.
	s1 -> s3;
	s1 -> s4 [headlabel=2];
	s2 -> s3;
	s3 -> s4 [headlabel=1];
	s3 -> y;
	s4 -> y;
}
`

func TestWriteDAGBytes(t *testing.T) {
	g, err := NewDAG([][]int{{}, {}, {0, 1}, {2, 0}, {2, 3}})
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := g.WriteDOT(&b); err != nil || b.String() != dagDOT {
		t.Errorf("error %v, got\n%s", err, b.String())
	}
}

func TestGraphvizReadsWrittenFiles(t *testing.T) {
	path, err := exec.LookPath("dot")
	if err != nil {
		t.Skip("NOT CHECKED: Graphviz is not installed")
	}
	for file, want := range map[string]int{exampleDOT: 4, dagDOT: 6} {
		cmd := exec.Command(path, "-Tplain")
		cmd.Stdin = strings.NewReader(file)
		out, err := cmd.CombinedOutput()
		if n := strings.Count(string(out), "\nedge "); err != nil || n != want {
			t.Errorf("dot: %v, %d edges\n%s", err, n, out)
		}
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
		{"\ufeffdigraph { 1 0 }", "[-1 -1]"}, // after a byte order mark
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

func TestReadDOTRefusesInvalidFiles(t *testing.T) {
	const (
		arrows = `want "digraph", and "->" from parent to child`
		names  = ` nodes named in this way: want `
	)
	for _, test := range []struct{ name, dot, want string }{
		{"empty file", "", "graph: not valid DOT: 1:1: error: expected digraph; got: end-of-file"},
		{"bytes", "\x00\xff\xfe", "graph: DOT file, line 1: a NUL byte"},
		{"prose", "the chain on 20 positions", "graph: not valid DOT: 1:1: error"},
		{"cut short", "digraph { 0 -> 1", "graph: not valid DOT: 1:17: error"},
		{"two arrows", "digraph {\n0 -> -> 1 }", "graph: not valid DOT: 2:6: error"},
		{"no nodes", "digraph {}", "graph: T = 0: want at least 2"},
		{"query only", "digraph { 0 }", "graph: T = 1: want at least 2"},
		{"two graphs", "digraph { 0; 1 } digraph { 0; 1 }", "graph: DOT file holds 2 graphs: want 1"},
		{"undirected", "graph { 0 -- 1; 2 }", "graph: undirected DOT graph: " + arrows},
		{"arrows in an undirected graph", "graph { 0 -> 1; 2 }", "graph: not valid DOT: undirected graph"},
		{"undirected edge", "digraph { 0 -> 1; 1 -- 2; 3 }", `graph: undirected DOT edge in "1 -- 2": ` + arrows},
		{
			"undirected edge in a subgraph", "digraph { 0 -> {1 -- 2}; 3 }",
			`graph: undirected DOT edge in "1 -- 2": ` + arrows,
		},
		{"root as a node", "digraph { 0; 1; -1 -> 1 }", `graph: DOT node "-1" among 3` + names},
		{"HTML name", "digraph { <b>x</b>> -> 1 }", "graph: not valid DOT"},
		{"position left out", "digraph { 0 -> 1; 3 }", `graph: DOT node "3" among 3` + names + "0..2, and 2 is missing"},
		{"s left out", "digraph { s1 -> s2; s4 }", `graph: DOT node "s4" among 3` + names + "s1..s3, and s3 is missing"},
		{"huge", "digraph { 0 -> 1000000000000; 99999999999999999999999 }", `graph: DOT node "1000000000000" among 3` + names},
		{"self-loop", "digraph { 0 -> 1 -> 1; 2 }", "graph: edge 1 -> 1: a parent must come before its child"},
		{"cycle", "digraph { 0 -> 1 -> 2 -> 0 }", "graph: edge 2 -> 0: a parent must come before its child"},
		{
			"cycle among others", "digraph { s2 -> s4 -> s2; s1; s3; s5 }",
			"graph: edge s4 -> s2: a parent must come before its child",
		},
		{
			"cycle in the paper's names", "digraph { s2 -> s3 -> s2; s1; s4 }",
			"graph: edge s3 -> s2: a parent must come before its child",
		},
		{"backward edge", "digraph { s1; s3 -> s2; s4 }", "graph: edge s3 -> s2: a parent must come before its child"},
		{
			"two parents", "digraph { s1 -> s3; s2 -> s3; s4 }",
			"graph: edge s2 -> s3: two parents: s3 already has the parent s1",
		},
		{
			"two parents by a subgraph", "digraph { {0 1} -> 2; 3 }",
			"graph: edge 1 -> 2: two parents: 2 already has the parent 0",
		},
		{"two parents by an edge in a subgraph", "digraph { 0 -> {1; 2 -> 4}; 3; 5 }", "graph: edge 0 -> 4: two parents"},
		{"backward edge to a subgraph with an edge", "digraph { 3 -> {0 -> 1}; 2; 4 }", "graph: edge 3 -> 0: a parent must come before its child"},
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

func TestReadDAGAcceptsEveryWayToWriteADAG(t *testing.T) {
	const (
		sorted   = "[[] [] [0 1] [0 2] [2 3]]"
		unsorted = "[[] [] [0 1] [2 0] [2 3]]"
	)
	for _, test := range []struct{ dot, want string }{
		{dagDOT, unsorted},
		{"digraph { {s1 s2} -> s3; {s1 s3} -> s4; {s3 s4} -> y }", sorted},
		{"digraph { {s4 s3} -> y; s3 -> s4; s2 -> s3; s1 -> {s4 s3} }", sorted}, // not in the order of the file
		{"digraph { y; s1 -> {s3 s4}; s2 -> s3 -> s4; {s3 s4} -> y }", sorted},  // the label first
		{"digraph { {s1 s2} -> s3; s3 -> s4 [headlabel=1]; s1 -> s4 [headlabel=2]; {s3 s4} -> y }", unsorted},
		{
			`digraph { {s1 s2} -> s3; s1 -> s4 ["headlabel"="2"]; s3 -> s4 [color=red, headlabel="1"]; {s3 s4} -> "y" }`,
			unsorted,
		},
		{
			"digraph { {0 1} -> 2; edge [headlabel=2]; 0 -> 3; 2 -> 3 [headlabel=1]; edge [headlabel=\"\"]; {2 3} -> y }",
			unsorted,
		},
		{
			"digraph { {edge [headlabel=2]; 0 -> 3} {edge [headlabel=1]; 2 -> 3} {0 1} -> 2; {2 3} -> y }",
			unsorted,
		}, // defaults end with a subgraph
		{"digraph { edge [headlabel=1]; 0 -> 2; 2 -> {3 y}; edge [headlabel=2]; 1 -> 2; 0 -> 3 -> y }", unsorted},
		{"strict digraph { {0 1} -> 2; {0 2} -> 3; 2 -> 3 [headlabel=1]; 0 -> 3 [headlabel=2]; {2 3} -> y }", unsorted},
		{"digraph { node [headlabel=2]; 0 [headlabel=3]; {0 1} -> 2 [label=7 taillabel=9]; {0 2} -> 3; {2 3} -> y }", sorted},
		{"digraph { s1 -> y }", "[[] [0]]"},
		{"digraph { y; s1 -> y }", "[[] [0]]"},
		{"digraph { s1; s3; s2 -> y [headlabel=1] }", "[[] [] [] [1]]"},
		{
			"digraph { 10 -> y; 9; 8; 7; 6; 5; 4; 3; 2 -> y; 1; 0 }",
			"[[] [] [] [] [] [] [] [] [] [] [] [2 10]]",
		}, // 2 before 10
	} {
		g, err := ReadDAG(strings.NewReader(test.dot))
		if err != nil {
			t.Errorf("%s: %v", test.dot, err)
		} else if got := fmt.Sprint(g.Parents()); got != test.want {
			t.Errorf("%s: got %s, want %s", test.dot, got, test.want)
		}
	}
}

func TestReadDAGRefusesInvalidFiles(t *testing.T) {
	for _, test := range []struct{ name, dot, want string }{
		{"cut short", "digraph { 0 -> y", "graph: not valid DOT: 1:17: error"},
		{"no nodes", "digraph {}", "graph: 0 nodes, want at least 2, the last of them the label"},
		{"position only", "digraph { s1 }", "graph: 1 nodes, want at least 2, the last of them the label"},
		{"label only", "digraph { y }", "graph: 1 nodes, want at least 2, the last of them the label"},
		{"undirected", "graph { 0 -- y }", "graph: undirected DOT graph: "},
		{"undirected edge", "digraph { 0 -- y }", `graph: undirected DOT edge in "0 -- y": `},
		{"no label", "digraph { {s1 s2} -> s3 }", "graph: nodes s1..s3 without a label, want a node y"},
		{"label by number", "digraph { {0 1} -> 2 }", "graph: nodes 0..2 without a label, want a node y"},
		{
			"position left out", "digraph { {s1 s3} -> y }",
			`graph: DOT node "s3" among 2 nodes named in this way: want s1..s2, and s2 is missing`,
		},
		{"self-loop", "digraph { 0 -> 1 -> 1; 0 -> y }", "graph: edge 1 -> 1: a parent must come before its child"},
		{"self-loop of the label", "digraph { 0 -> y -> y }", "graph: edge y -> y: a parent must come before its child"},
		{
			"cycle", "digraph { s1 -> s2 -> s3 -> s2; s1 -> y }",
			"graph: edge s3 -> s2: a parent must come before its child",
		},
		{"cycle through the label", "digraph { 0 -> y -> 0 }", "graph: edge y -> 0: a parent must come before its child"},
		{"backward edge", "digraph { {s1 s3} -> s2 -> y }", "graph: edge s3 -> s2: a parent must come before its child"},
		{"child of the label", "digraph { s1 -> y -> s2 }", "graph: edge y -> s2: a parent must come before its child"},
		{"duplicate", "digraph { s1:n -> y [headlabel=1]; s1 -> y [headlabel=2] }", "graph: edge s1 -> y: duplicate edge"},
		{"label without parents", "digraph { s1 -> s2; y }", "graph: node y, the label, has no parent, want at least one"},
		{
			"place of one parent only", "digraph { s1 -> y; s2 -> y [headlabel=1] }",
			`graph: edge s1 -> y: headlabel "": number the edges to y 1..2, each once, or none of them for increasing order`,
		},
		{
			"place too large", "digraph { s1 -> s3 [headlabel=1]; s2 -> s3 [headlabel=3]; s3 -> y }",
			`graph: edge s2 -> s3: headlabel "3": number the edges to s3 1..2`,
		},
		{
			"place zero", "digraph { 0 -> y [headlabel=0]; 1 -> y [headlabel=1] }",
			`graph: edge 0 -> y: headlabel "0": number the edges to y 1..2`,
		},
		{
			"place taken", "digraph { {0 1} -> y [headlabel=2] }",
			`graph: edge 1 -> y: headlabel "2": number the edges to y 1..2`,
		},
		{
			"place not a number", "digraph { 0 -> y [headlabel=first] }",
			`graph: edge 0 -> y: headlabel "first": number the edges to y 1..1`,
		},
	} {
		g, err := ReadDAG(strings.NewReader(test.dot))
		if g != nil || err == nil || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%s: got %v, error %v; want error %q", test.name, g, err, test.want)
		}
	}
}

// A file that asks for too much is refused at once, and one that asks for as much as
// there may be is read.
func TestReadDOTHasLimits(t *testing.T) {
	list := func(from, to int) string {
		var b strings.Builder
		for i := from; i <= to; i++ {
			fmt.Fprintf(&b, "s%d ", i)
		}
		return b.String()
	}
	nest := func(depth int) string {
		return "digraph " + strings.Repeat("{", depth) + "0 1" + strings.Repeat("}", depth)
	}
	bipartite := func(n, m int) string { return fmt.Sprintf("{%s} -> {%s}", list(1, n), list(n+1, n+m)) }
	back := ""
	for i := 1; i < 4000; i++ { // no cycle, and every edge points back
		back += fmt.Sprintf("s%d -> s%d; ", i+1, i)
	}
	const many, edges = "graph: DOT file with more than 4096 nodes, ", "graph: DOT file with more than 16384 edges, "
	for name, c := range map[string]struct{ dot, want string }{
		"deep":                 {nest(100_000), "graph: DOT file with more than 64 nested subgraphs, the limit"},
		"a little too deep":    {nest(66), "graph: DOT file with more than 64 nested subgraphs"},
		"too deep after some":  {"digraph {" + strings.Repeat("{s1} ", 9) + strings.TrimPrefix(nest(65), "digraph ") + "}", "graph: DOT file with more than 64 nested subgraphs"},
		"nodes":                {"digraph { " + list(1, 100_000) + "}", many},
		"nodes, then edges":    {"digraph { " + bipartite(128, 128) + list(257, 4096) + "s1 -> s4097 }", many},
		"a node too many":      {"digraph { " + list(1, 4097) + "}", many},
		"edges":                {"digraph { " + bipartite(2000, 2000) + "}", edges},
		"edges, strict":        {"strict digraph { " + bipartite(2000, 2000) + "}", edges},
		"an edge too many":     {"digraph { s1 -> s3; " + bipartite(128, 128) + " }", edges},
		"as many as there may": {"strict digraph { " + bipartite(128, 128) + " }", "graph: edge s10 -> s129: two parents"},
		"repeated":             {"digraph { " + strings.Repeat("s1 -> s2;", 16_385) + " }", edges},
		"backward":             {"digraph { " + back + "}", "graph: edge s2 -> s1: a parent must come before its child"},
		"backward, a cycle":    {"digraph { " + back + "s1 -> s4000 }", "graph: edge s2 -> s1: a parent must come before its child"},
		"large":                {"digraph {" + strings.Repeat(" ", 1<<20) + "}", "graph: DOT file of more than 1048576 bytes"},
	} {
		start, before := time.Now(), allocated()
		if _, err := ReadDAG(strings.NewReader(c.dot)); err == nil {
			t.Errorf("%s: read as a graph with a label", name)
		}
		if _, err := ReadDOT(strings.NewReader(c.dot)); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %.200v, want %s", name, err, c.want)
		}
		if took := time.Since(start); took > 30*time.Second {
			t.Errorf("%s: refused after %v", name, took)
		}
		if bytes := allocated() - before; bytes > 150<<20 {
			t.Errorf("%s: refused with %d bytes allocated", name, bytes)
		}
	}
	ladder := "" // two nodes a rung, each edge points back, and there are 2^40 ways down
	for i := 1; i < 80; i += 2 {
		ladder += fmt.Sprintf("{s%d s%d} -> {s%d s%d}; ", i+2, i+3, i, i+1)
	}
	if _, err := ReadDOT(strings.NewReader("digraph { " + ladder + "}")); err == nil || !strings.Contains(err.Error(), "a parent must come before its child") {
		t.Errorf("a ladder: %v", err)
	}
	if _, err := ReadDOT(strings.NewReader("digraph {" + strings.Repeat("{s1} ", 100) + "s2 s3}")); err != nil {
		t.Errorf("a hundred subgraphs beside each other: %v", err)
	}
	full := "digraph { 0 1 }"
	for size, want := range map[int]bool{1 << 20: true, 1<<20 + 1: false} {
		if _, err := ReadDOT(strings.NewReader(full + strings.Repeat(" ", size-len(full)))); (err == nil) != want {
			t.Errorf("a file of %d bytes: %v", size, err)
		}
	}
	if _, err := ReadDOT(strings.NewReader("digraph { 0 2 }")); err == nil || strings.Contains(err.Error(), "counted from 1") {
		t.Errorf("nodes counted from 0, of which one is left out: %v", err)
	}
	if err := Chain(3).WriteDOT(closed{}); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("written to what is closed: %v", err)
	}
	if _, err := ReadDOT(endless{}); err == nil || !strings.Contains(err.Error(), "more than 1048576 bytes") {
		t.Errorf("an endless file: %v", err)
	}
	for dot, n := range map[string]int{"digraph { " + list(1, 4096) + "}": 4096, nest(65): 2} {
		if f, err := ReadDOT(strings.NewReader(dot)); err != nil || f.T() != n {
			t.Errorf("%d nodes: %v", n, err)
		}
	}
}

// allocated returns how many bytes have been allocated.
func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

type closed struct{}

func (closed) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

type endless struct{}

func (endless) Read(b []byte) (int, error) { return len(b), nil }

func FuzzReadDOT(f *testing.F) {
	f.Add([]byte(exampleDOT))
	f.Add([]byte("digraph { 0:n -> {1; 2 -> 4} [a=b]; 1 -> 3; subgraph c { 5 } }"))
	f.Add([]byte(dagDOT))
	f.Add([]byte("strict digraph { {s1 s2} -> {s3 s4} -> y; s1 -> s3 -> s1 }"))
	f.Add([]byte("digraph " + strings.Repeat("{", 70) + strings.Repeat("}", 70)))
	f.Add([]byte("digraph { subgraph { edge [headlabel=2] 0 -> y } 1 -> y [headlabel=1] }"))
	f.Add([]byte("digraph { query=q; node [style=invis]; x; \"a\\\"b\" -> {é s2} [style=\"invis,bold\"]; q }"))
	f.Add([]byte("strict digraph { bgcolor=black; c -> b -> a; a -> y [dir=forward, color=white] }"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if g, err := ReadDAG(strings.NewReader(string(data))); err == nil {
			var b strings.Builder
			if err := g.WriteDOT(&b); err != nil {
				t.Error(err)
			}
			if h, err := ReadDAG(strings.NewReader(b.String())); err != nil || !sameDAG(g, h) {
				t.Errorf("%v becomes %v, error %v", g.Parents(), h, err)
			}
		} else if !strings.HasPrefix(err.Error(), "graph: ") {
			t.Errorf("%v: no package prefix", err)
		}
		if f, g, names, err := Read(strings.NewReader(string(data))); err == nil {
			var b strings.Builder
			if g != nil {
				err = g.WriteDOT(&b, names...)
			} else {
				err = f.WriteDOT(&b, names...)
			}
			f2, g2, again, err2 := Read(strings.NewReader(b.String()))
			same := (f == nil || f2 != nil && f.String() == f2.String()) && (g == nil || g2 != nil && sameDAG(g, g2))
			if err != nil || err2 != nil || !same || !slices.Equal(names, again) {
				t.Errorf("%v %v %q becomes %v %v %q, errors %v, %v", f, g, names, f2, g2, again, err, err2)
			}
		}
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

// In a strict graph an edge that is there twice is one edge, and keeps its place.
func TestRepeatedEdgeKeepsItsHeadlabel(t *testing.T) {
	g, err := ReadDAG(strings.NewReader("strict digraph { s1 -> y [headlabel=2]; s2 -> y [headlabel=1]; s1 -> y }"))
	if err != nil || !slices.Equal(g.Parents()[2], []int{1, 0}) {
		t.Errorf("%v, %v, want the parents of y in the order [1 0]", g, err)
	}
}

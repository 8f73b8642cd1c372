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

	"learncausal/internal/property"
)

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
	var b, dag strings.Builder
	if err := Figure1().WriteDOT(&b); err != nil || b.String() != exampleDOT {
		t.Errorf("error %v, got\n%s", err, b.String())
	}
	g, err := NewDAG([][]int{{}, {}, {0, 1}, {2, 0}, {2, 3}})
	if err != nil {
		t.Fatal(err)
	}
	if err := g.WriteDOT(&dag); err != nil || dag.String() != dagDOT {
		t.Errorf("error %v, got\n%s", err, dag.String())
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

func TestReadForestAcceptsEveryWayToWriteAForest(t *testing.T) {
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
		f, err := ReadForest(strings.NewReader(test.dot))
		if err != nil || f.String() != test.want {
			t.Errorf("%s: got %v, error %v; want %s", test.dot, f, err, test.want)
		}
	}
}

func TestReadForestRefusesInvalidFiles(t *testing.T) {
	for dot, want := range map[string]string{
		"":                                            "not valid DOT: 1:1: error: expected digraph; got: end-of-file",
		"\x00\xff\xfe":                                "DOT file, line 1: a NUL byte",
		"digraph {\n0 -> -> 1 }":                      "not valid DOT: 2:6: error",
		"digraph {}":                                  "T = 0: want at least 2",
		"digraph { 0; 1 } digraph { 0; 1 }":           "DOT file holds 2 graphs: want 1",
		"graph { 0 -> 1; 2 }":                         "not valid DOT: undirected graph",
		"digraph { 0 -> {1 -- 2}; 3 }":                `undirected DOT edge in "1 -- 2": want "digraph", and "->"`,
		"digraph { 0; 1; -1 -> 1 }":                   `DOT node "-1" among 3 nodes named in this way: want `,
		"digraph { <b>x</b>> -> 1 }":                  "not valid DOT",
		"digraph { 0 -> 1; 3 }":                       `DOT node "3" among 3 nodes named in this way: want 0..2, and 2 is`,
		"digraph { s1 -> s2; s4 }":                    `DOT node "s4" among 3 nodes named in this way: want s1..s3`,
		"digraph { 0 -> 99999999999999999999999; 1 }": `DOT node "99999999999999999999999" among 3`,
		"digraph { s2 -> s4 -> s2; s1; s3; s5 }":      "edge s4 -> s2: a parent must come before its child",
		"digraph { 3 -> {0 -> 1}; 2; 4 }":             "edge 3 -> 0: a parent must come before its child",
		"digraph { {0 1} -> 2; 3 }":                   "edge 1 -> 2: two parents: 2 already has the parent 0",
		"digraph { 0 -> {1; 2 -> 4}; 3; 5 }":          "edge 0 -> 4: two parents",
		"digraph { 0 -> 1; 0:n -> 1; 2 }":             "edge 0 -> 1: duplicate edge",
		"digraph { s1 -> s2 -> s3 }":                  "edge s2 -> s3: a parent for the query",
	} {
		_, err := ReadForest(strings.NewReader(dot))
		property.Mentions(t, err, "graph: "+want)
	}
	broken := errors.New("disk gone")
	if _, err := ReadForest(iotest.ErrReader(broken)); !errors.Is(err, broken) {
		t.Errorf("got error %v, want %v", err, broken)
	}
	if err := Chain(3).WriteDOT(closed{}); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("written to a closed writer: %v", err)
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
	for dot, want := range map[string]string{
		"digraph {}":                                "0 nodes, want at least 2, the last of them the label",
		"digraph { y }":                             "1 nodes, want at least 2, the last of them the label",
		"graph { 0 -- y }":                          "undirected DOT graph: ",
		"digraph { {s1 s2} -> s3 }":                 "nodes s1..s3 without a label, want a node y",
		"digraph { {0 1} -> 2 }":                    "nodes 0..2 without a label, want a node y",
		"digraph { {s1 s3} -> y }":                  `DOT node "s3" among 2 nodes named in this way: want s1..s2`,
		"digraph { 0 -> y -> y }":                   "edge y -> y: a parent must come before its child",
		"digraph { s1 -> s2 -> s3 -> s2; s1 -> y }": "edge s3 -> s2: a parent must come before its child",
		"digraph { s1 -> y -> s2 }":                 "edge y -> s2: a parent must come before its child",
		"digraph { s1:n -> y [headlabel=1]; s1 -> y [headlabel=2] }":     "edge s1 -> y: duplicate edge",
		"digraph { s1 -> s2; y }":                                        "node y, the label, has no parent",
		"digraph { s1 -> y; s2 -> y [headlabel=1] }":                     `edge s1 -> y: headlabel "": number the edges`,
		"digraph { 1 -> 2 [headlabel=1]; 0 -> 2 [headlabel=3]; 2 -> y }": `edge 0 -> 2: headlabel "3": number the edges`,
		"digraph { 0 -> y [headlabel=0]; 1 -> y [headlabel=1] }":         `edge 0 -> y: headlabel "0"`,
		"digraph { {0 1} -> y [headlabel=2] }":                           `edge 1 -> y: headlabel "2"`,
		"digraph { 0 -> y [headlabel=first] }":                           `edge 0 -> y: headlabel "first"`,
	} {
		_, err := ReadDAG(strings.NewReader(dot))
		property.Mentions(t, err, "graph: "+want)
	}
}

// A file beyond the limits is refused at once.
func TestReadForestHasLimits(t *testing.T) {
	bipartite := func(n, m int) string { return fmt.Sprintf("{%s} -> {%s}", list(1, n), list(n+1, n+m)) }
	back := ""
	for i := 1; i < 4000; i++ { // no cycle, and every edge points back
		back += fmt.Sprintf("s%d -> s%d; ", i+1, i)
	}
	ladder := "" // two nodes a rung, each edge points back, and there are 2^40 ways down
	for i := 1; i < 80; i += 2 {
		ladder += fmt.Sprintf("{s%d s%d} -> {s%d s%d}; ", i+2, i+3, i, i+1)
	}
	const many, edges = "more than 4096 nodes", "more than 16384 edges"
	for dot, want := range map[string]string{
		nest(100_000): "more than 64 nested subgraphs",
		nest(66):      "more than 64 nested subgraphs",
		"digraph {" + strings.Repeat("{s1} ", 9) + strings.TrimPrefix(nest(65), "digraph ") + "}": "more than 64 nested",
		"digraph { " + list(1, 100_000) + "}":                                                     many,
		"digraph { " + list(1, 4097) + "}":                                                        many,
		"digraph { " + bipartite(128, 128) + list(257, 4096) + "s1 -> s4097 }":                    many,
		"digraph { " + bipartite(2000, 2000) + "}":                                                edges,
		"strict digraph { " + bipartite(2000, 2000) + "}":                                         edges,
		"digraph { s1 -> s3; " + bipartite(128, 128) + " }":                                       edges,
		"digraph { " + strings.Repeat("s1 -> s2;", 16_385) + " }":                                 edges,
		"strict digraph { " + bipartite(128,
			128) + " }": "edge s10 -> s129: two parents",
		"digraph { " + back + "s1 -> s4000 }": "edge s2 -> s1: a parent must come before",
		"digraph { " + ladder + "}":           "a parent must come before its child",
		"digraph { 0 1 }" + strings.Repeat(" ",
			1<<20-14): "DOT file of more than 1048576 bytes",
	} {
		start, before := time.Now(), allocated()
		_, err := ReadForest(strings.NewReader(dot))
		property.Mentions(t, err, "graph: ", want)
		if took, bytes := time.Since(start), allocated()-before; took > 30*time.Second || bytes > 100<<20 {
			t.Errorf("%s: refused after %v with %d bytes allocated", want, took, bytes)
		}
	}
	_, err := ReadForest(endless{})
	property.Mentions(t, err, "more than 1048576 bytes")
	for dot, n := range map[string]int{
		"digraph { " + list(1, 4096) + "}": 4096, nest(65): 2, "digraph {" + strings.Repeat("{s1} ", 100) + "s2}": 2,
		"digraph { 0 1 }" + strings.Repeat(" ", 1<<20-15): 2,
	} {
		if f, err := ReadForest(strings.NewReader(dot)); err != nil || f.T() != n {
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
		g, err := ReadForest(strings.NewReader(string(data)))
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

// Files without names of nodes are read back, and written with the same bytes.
func TestDOTRoundTrip(t *testing.T) {
	for _, g := range someDAGs(t) {
		var first, second strings.Builder
		if err := g.WriteDOT(&first); err != nil {
			t.Fatal(err)
		}
		h, err := ReadDAG(strings.NewReader(first.String()))
		if err != nil || !sameDAG(g, h) {
			t.Fatalf("%v becomes %v, %v\n%s", g.Parents(), h, err, first.String())
		}
		if err := h.WriteDOT(&second); err != nil || second.String() != first.String() {
			t.Errorf("%v: other bytes when written again, error %v", g.Parents(), err)
		}
	}
	for _, f := range some() {
		var b strings.Builder
		if err := f.WriteDOT(&b); err != nil {
			t.Fatal(err)
		}
		if g, err := ReadForest(strings.NewReader(b.String())); err != nil || !slices.Equal(g.Parents(), f.Parents()) {
			t.Errorf("%v becomes %v, %v", f, g, err)
		}
	}
}

// list returns the nodes s<from> to s<to>.
func list(from, to int) string {
	var b strings.Builder
	for i := from; i <= to; i++ {
		fmt.Fprintf(&b, "s%d ", i)
	}
	return b.String()
}

// nest returns a graph of two nodes in subgraphs in subgraphs.
func nest(depth int) string {
	return "digraph " + strings.Repeat("{", depth) + "0 1" + strings.Repeat("}", depth)
}

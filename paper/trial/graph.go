package trial

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"learncausal/internal/files"
	"learncausal/internal/names"
	"learncausal/pkg/graph"
	"learncausal/pkg/train"
)

// A Graph is a forest, for Task 1, or a graph with several parents, for Task 2.
type Graph struct {
	Name   string // for a file or folder: chain-12
	Forest *graph.Forest
	DAG    *graph.DAG
	Nodes  []string // their names in a DOT file, or nil for s1..sT, see [graph.Read]
}

// T returns the number of positions.
func (g *Graph) T() int {
	if g.DAG != nil {
		return g.DAG.T()
	}
	return g.Forest.T()
}

// A graphFamily has a graph for each number of positions from least on.
type graphFamily struct {
	name  string
	least int
	graph func(t int) Graph
}

func graphFamilies() []graphFamily {
	var all []graphFamily
	for _, f := range graph.Families() {
		name := strings.ReplaceAll(f.Name, " ", "-")
		all = append(all, graphFamily{name, 2, func(t int) Graph { return Graph{Forest: f.New(t)} }})
	}
	return append(
		all,
		graphFamily{"halves", 2, func(t int) Graph { return Graph{DAG: graph.Halves(t)} }},
		graphFamily{"trigram", 2, func(t int) Graph { return Graph{DAG: graph.NGram(t, 2)} }},
		graphFamily{"fourgram", 3, func(t int) Graph { return Graph{DAG: graph.NGram(t, 3)} }},
	)
}

// GraphFamilies returns the names of the families for [GraphOfFamily].
func GraphFamilies() []string {
	var names []string
	for _, f := range graphFamilies() {
		names = append(names, f.name)
	}
	return names
}

// GraphOfFamily returns the graph of a family on t positions.
func GraphOfFamily(name string, t int) (*Graph, error) {
	all := graphFamilies()
	k := slices.IndexFunc(all, func(f graphFamily) bool { return f.name == name })
	if k < 0 {
		return nil, fmt.Errorf("the graph %s(%d): no such family; near it: %s (paper train --help shows all)",
			name, t, strings.Join(names.Nearest(name, append(GraphFamilies(), "figure-1")), ", "))
	}
	if f := all[k]; t < f.least || t > graph.MaxT {
		return nil, fmt.Errorf("the graph %s(%d): want %d to %d positions", name, t, f.least, graph.MaxT)
	}
	g := all[k].graph(t)
	g.Name = fmt.Sprintf("%s-%d", name, t)
	return &g, nil
}

// GraphsOfThePaper returns the graphs of the paper's figures: figure-1; figure-6, the
// random graph of Figures 6 and 8; and graph-0 to graph-19 of Figure 9.
func GraphsOfThePaper() []*Graph {
	all := []*Graph{{Name: "figure-1", Forest: graph.Figure1()}, {Name: "figure-6", Forest: RandomGraph()}}
	for _, g := range ManyGraphs() {
		all = append(all, &Graph{Name: g.Name, Forest: g.Graph})
	}
	return all
}

// GraphName returns the name by which [OpenGraph] knows the graph of a run, as figure-6 or chain(12), or "own".
func GraphName(spec train.Spec) string {
	given, t := GivenParents(spec), spec.T()
	same := func(parents [][]int) bool { return slices.EqualFunc(given, parents, slices.Equal) }
	for _, g := range GraphsOfThePaper() {
		if same(GivenParents(train.Spec{Task: train.Task1{Parents: g.Forest.Parents()}})) {
			return g.Name
		}
	}
	for _, name := range GraphFamilies() {
		g, err := GraphOfFamily(name, t)
		switch {
		case err != nil:
		case g.DAG != nil && same(g.DAG.Parents()),
			g.Forest != nil && same(GivenParents(train.Spec{Task: train.Task1{Parents: g.Forest.Parents()}})):
			return fmt.Sprintf("%s(%d)", name, t)
		}
	}
	return "own"
}

var (
	familyForm = regexp.MustCompile(`^([a-z0-9-]+)\((-?\d+)\)$`)
	notInNames = regexp.MustCompile(`[^a-z0-9]+`)
)

// OpenGraph returns the graph named by text: a family with its length, as in chain(12), one of
// [GraphsOfThePaper], or a DOT file, whose path is relative to dir.
func OpenGraph(text, dir string) (*Graph, error) {
	for _, g := range GraphsOfThePaper() {
		if g.Name == text {
			return g, nil
		}
	}
	if m := familyForm.FindStringSubmatch(text); m != nil {
		t, err := strconv.Atoi(m[2])
		if err != nil {
			return nil, fmt.Errorf("the graph %s: want 2 to %d positions", text, graph.MaxT)
		}
		return GraphOfFamily(m[1], t)
	}
	path := text
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	b, err := files.Read(path, maxDOT)
	if err != nil {
		return nil, noGraph(text, err)
	}
	base := filepath.Base(path)
	name := notInNames.ReplaceAllString(strings.ToLower(strings.TrimSuffix(base, filepath.Ext(base))), "-")
	return ReadGraph(bytes.NewReader(b), strings.Trim(name, "-"), path)
}

// maxDOT is the size of a DOT file, in bytes, that [graph.Read] refuses.
const maxDOT = 1 << 24

// ReadGraph reads a DOT digraph, see [graph.Read]. An empty name stands for my-graph. Errors
// begin with where, the place of the text.
func ReadGraph(r io.Reader, name, where string) (*Graph, error) {
	if name == "" {
		name = "my-graph"
	}
	forest, dag, nodes, err := graph.Read(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", where, err)
	}
	return &Graph{Name: name, Forest: forest, DAG: dag, Nodes: nodes}, nil
}

// noGraph returns the error for a text that names neither a file nor a family, with the
// nearest name of a graph.
func noGraph(text string, err error) error {
	name, _, _ := strings.Cut(strings.ToLower(text), "(")
	known := GraphFamilies()
	for _, g := range GraphsOfThePaper() {
		known = append(known, g.Name)
	}
	near := names.Nearest(strings.ReplaceAll(strings.TrimSpace(name), " ", "-"), known)[0]
	return fmt.Errorf("the graph %s: %w; want a DOT file, or a family as in chain(12); near it: %s", text, err, near)
}

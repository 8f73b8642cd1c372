package experiment

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"learncausal/paper/ledger"
	"learncausal/pkg/graph"
	"learncausal/pkg/runs"
)

// An OwnGraph is a forest, for Task 1, or a graph with several parents, for Task 2.
type OwnGraph struct {
	Name   string // of a file or a folder for it: chain-12
	Forest *graph.Forest
	DAG    *graph.DAG
}

// T returns the number of positions.
func (g *OwnGraph) T() int {
	if g.DAG != nil {
		return g.DAG.T()
	}
	return g.Forest.T()
}

// graphFamilies are the graphs that there are for each number of positions, by name.
func graphFamilies() (
	names []string, forests map[string]func(int) *graph.Forest, dags map[string]func(int) *graph.DAG,
) {
	forests = map[string]func(int) *graph.Forest{}
	for _, f := range graph.Families() {
		key := strings.ReplaceAll(f.Name, " ", "-")
		forests[key] = f.New
		names = append(names, key)
	}
	return append(names, "halves", "trigram", "fourgram"), forests, map[string]func(int) *graph.DAG{
		"halves":   graph.Halves,
		"trigram":  func(t int) *graph.DAG { return graph.NGram(t, 2) },
		"fourgram": func(t int) *graph.DAG { return graph.NGram(t, 3) },
	}
}

// GraphFamilies returns the names of the families that [GraphOfFamily] takes.
func GraphFamilies() []string {
	names, _, _ := graphFamilies()
	return names
}

// GraphOfFamily returns the graph of a family on t positions.
func GraphOfFamily(name string, t int) (*OwnGraph, error) {
	names, forests, dags := graphFamilies()
	least := 2
	if name == "fourgram" {
		least = 3
	}
	switch {
	case !slices.Contains(names, name):
		return nil, fmt.Errorf("the graph %s(%d): no such family; near it: %s (paper train --help shows all)",
			name, t, strings.Join(ledger.Nearest(name, append(names, "figure-1")), ", "))
	case t < least || t > graph.MaxT:
		return nil, outOfRange(name, strconv.Itoa(t), least)
	case forests[name] != nil:
		return &OwnGraph{Name: fmt.Sprintf("%s-%d", name, t), Forest: forests[name](t)}, nil
	}
	return &OwnGraph{Name: fmt.Sprintf("%s-%d", name, t), DAG: dags[name](t)}, nil
}

func outOfRange(name, t string, least int) error {
	return fmt.Errorf("the graph %s(%s): want %d to %d positions", name, t, least, graph.MaxT)
}

// GraphsOfThePaper returns the graphs that the paper's figures are of: figure-1,
// figure-6, the random one of Figures 6 and 8, and those of Figure 9, graph-0 to
// graph-19.
func GraphsOfThePaper() []*OwnGraph {
	all := []*OwnGraph{{Name: "figure-1", Forest: graph.Figure1()}, {Name: "figure-6", Forest: RandomGraph()}}
	for _, g := range ManyGraphs() {
		all = append(all, &OwnGraph{Name: g.Name, Forest: g.Graph})
	}
	return all
}

var (
	familyForm = regexp.MustCompile(`^([a-z0-9-]+)\((-?\d+)\)$`)
	labelForm  = regexp.MustCompile(`\by\b`)
	notInNames = regexp.MustCompile(`[^a-z0-9]+`)
)

// OpenGraph returns the graph that a text stands for: a family with its number of
// positions, as in chain(12), one of [GraphsOfThePaper], or a DOT file, whose path
// is relative to the folder dir.
func OpenGraph(text, dir string) (*OwnGraph, error) {
	for _, g := range GraphsOfThePaper() {
		if g.Name == text {
			return g, nil
		}
	}
	if m := familyForm.FindStringSubmatch(text); m != nil {
		t, err := strconv.Atoi(m[2])
		if err != nil {
			return nil, outOfRange(m[1], m[2], 2)
		}
		return GraphOfFamily(m[1], t)
	}
	path := text
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	b, err := runs.ReadFile(path, maxDOT)
	if err != nil {
		return nil, noGraph(text, err)
	}
	base := filepath.Base(path)
	name := notInNames.ReplaceAllString(strings.ToLower(strings.TrimSuffix(base, filepath.Ext(base))), "-")
	return ReadGraph(bytes.NewReader(b), strings.Trim(name, "-"), path)
}

// maxDOT is more bytes than a graph that can be trained on takes.
const maxDOT = 1 << 24

// ReadGraph reads a DOT digraph, of Task 2 if it has a node y. The name is
// my-graph where it is empty; where is what errors say of the place.
func ReadGraph(r io.Reader, name, where string) (*OwnGraph, error) {
	if name == "" {
		name = "my-graph"
	}
	text, err := io.ReadAll(io.LimitReader(r, maxDOT+1))
	if err == nil && len(text) > maxDOT {
		err = fmt.Errorf("want at most %d bytes", maxDOT)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", where, err)
	}
	forest, err := graph.ReadDOT(strings.NewReader(string(text)))
	if err == nil {
		return &OwnGraph{Name: name, Forest: forest}, nil
	}
	if errors.Is(err, graph.ErrSyntax) {
		return nil, fmt.Errorf("%s: %w", where, err)
	}
	if labelForm.Match(text) {
		dag, err := graph.ReadDAG(strings.NewReader(string(text)))
		if err != nil {
			return nil, fmt.Errorf("%s, read as Task 2 for its node y: %w", where, err)
		}
		return &OwnGraph{Name: name, DAG: dag}, nil
	}
	const as = "read as Task 1 as it has no node y (Task 2, of several parents, has one)"
	return nil, fmt.Errorf("%s, %s: %w", where, as, err)
}

// noGraph returns the error for a text that is no file and has not the form of a
// family, with the graph that may be meant.
func noGraph(text string, err error) error {
	name, _, bracket := strings.Cut(strings.ToLower(text), "(")
	names := GraphFamilies()
	for _, g := range GraphsOfThePaper() {
		names = append(names, g.Name)
	}
	name = strings.ReplaceAll(strings.TrimSpace(name), " ", "-")
	near := ledger.Nearest(name, names)[0]
	switch {
	case !errors.Is(err, fs.ErrNotExist) || !bracket && near != name:
		const want = "want a DOT file, or a family as in chain(12)"
		return fmt.Errorf("the graph %s: %w; %s; near it: %s", text, err, want, near)
	case slices.Contains(GraphFamilies(), near):
		near += "(12)"
	}
	return fmt.Errorf("the graph %s: no such file, and no family as it is written: want it as in %s", text, near)
}

package graph

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"learncausal/pkg/internal/dot"
)

// Read reads the causal graph of a file that holds one DOT digraph, with edges from parent to child: a forest,
// for Task 1, or a DAG, for Task 2. The other is nil.
//
//	digraph { s1 -> {s2 s3}; s2 -> s4; s3 -> s5; s6 }
//	digraph { {rain sprinkler} -> wet }
//
// A file may name the T positions s1..sT, as the paper does, or 0..T-1. Then s1 is position 0, a graph with a
// node y, the label, is a DAG, and names is nil. The file names every node, in any order: a root without
// children and the query, the last node, stand alone.
//
// In other files names[i] is the name of node i. Parents come before their children, and else the nodes keep
// the order of the file. The query or label is the last node, the last without children in the file. The graph
// attribute query names a different one, and so does a node y with parents and no child. If it has parents, and
// it is named or some node has two parents, the graph is a DAG.
//
// Where the nodes are numbers and each has a label of its own, as in files of causal-learn, the labels are the
// names. Subgraphs are expanded, and an edge repeated in a strict digraph counts once. Edges and nodes of style
// invis are left out. An error names any other attribute that hides an edge or its direction, or says that a node
// is not observed. Other attributes, and ports, are ignored.
//
// The other errors are those of [New] and [NewDAG], with the names of the file, and one for each departure from
// the rules above. A file has at most 1 MiB, 4096 nodes, 16384 edges and subgraphs nested 64 deep.
func Read(r io.Reader) (f *Forest, g *DAG, names []string, err error) {
	d, err := readDiagram(r)
	if err != nil {
		return nil, nil, nil, err
	}
	if d.own {
		names = d.names
	}
	several, effect := false, ""
	for _, id := range d.names {
		several = several || len(d.parents[id]) > 1
		if d.effect(id) {
			effect = id
		}
	}
	caused := len(d.names) > 0 && len(d.parents[d.names[len(d.names)-1]]) > 0
	second := d.labelled() || d.own && caused && (several || d.named)
	if second {
		g, err = d.dag()
	} else {
		f, err = d.forest()
	}
	switch {
	case err == nil || second || d.named:
	case several && !d.own:
		err = fmt.Errorf("%w; read as Task 1 as it has no node y (Task 2, of several parents, has one)", err)
	case several || caused:
		err = fmt.Errorf("%w; read as Task 1, with the query %s: query=NAME in the graph names a different query, "+
			"or the label of a graph of Task 2, as in query=%s", err, d.names[len(d.names)-1], dot.Quote(effect))
	}
	if err != nil {
		return nil, nil, nil, err
	}
	return f, g, names, nil
}

// ReadForest reads a forest from a DOT file, see [Read].
func ReadForest(r io.Reader) (*Forest, error) {
	d, err := readDiagram(r)
	if err != nil {
		return nil, err
	}
	return d.forest()
}

// ReadDAG reads a [DAG] from a DOT file, see [Read]. The parents of a node are in increasing order,
// as in the paper, wherever their edges stand in the file. For a different order the attribute
// headlabel, which Graphviz draws at the head of the arrow, numbers the edges to the node 1..k:
//
//	digraph { {s1 s2} -> s3; s3 -> s4 [headlabel=1]; s1 -> s4 [headlabel=2]; {s3 s4} -> y }
//
// is NewDAG of {}, {}, {0, 1}, {2, 0}, {2, 3}.
func ReadDAG(r io.Reader) (*DAG, error) {
	d, err := readDiagram(r)
	if err != nil {
		return nil, err
	}
	return d.dag()
}

// A diagram is a graph on the nodes 0..n-1 with names.
type diagram struct {
	names             []string
	edges             [][2]int
	places            map[[2]int]string   // headlabels of the edges that have one
	parents, children map[string][]string // of a node, by name
	own               bool                // the names are neither s1..sT nor 0..T-1
	named             bool                // own, and the file names the last node as its query or label
}

// readDiagram reads the digraph of a DOT file and numbers its nodes, see [Read].
func readDiagram(r io.Reader) (*diagram, error) {
	g, err := dot.Read(r)
	if err != nil {
		return nil, fmt.Errorf("graph: %w", err)
	}
	d := &diagram{
		places: make(map[[2]int]string), parents: make(map[string][]string), children: make(map[string][]string),
	}
	for _, e := range g.Edges {
		d.children[e.From] = append(d.children[e.From], e.To)
	}
	for _, id := range g.Nodes {
		for _, c := range d.children[id] {
			if !slices.Contains(d.parents[c], id) {
				d.parents[c] = append(d.parents[c], id)
			}
		}
	}
	if d.names, err = positions(g.Nodes); err != nil {
		return nil, err
	}
	query := g.Query
	if d.names == nil || query != "" && slices.Index(d.names, query) != len(d.names)-1 {
		if query == "" && d.effect(label) {
			query = label
		}
		d.own, d.named = true, query != ""
		if d.names, err = d.sorted(g.Nodes, query); err != nil {
			return nil, err
		}
	}
	number := make(map[string]int)
	for i, id := range d.names {
		number[id] = i
	}
	for _, edge := range g.Edges {
		e := [2]int{number[edge.From], number[edge.To]}
		d.edges = append(d.edges, e)
		if edge.Place != "" {
			d.places[e] = edge.Place
		}
	}
	return d, nil
}

// effect reports whether a node has parents and no child.
func (d *diagram) effect(id string) bool { return len(d.parents[id]) > 0 && len(d.children[id]) == 0 }

// sorted returns the given nodes in their order, but for two changes: the ancestors of a node come before it,
// and the query, if it is named, is the last node. Otherwise the last node without children is the last node.
func (d *diagram) sorted(nodes []string, query string) ([]string, error) {
	order := slices.DeleteFunc(slices.Clone(nodes), func(id string) bool { return id == query })
	switch children := d.children[query]; {
	case query == "":
	case len(children) > 0:
		return nil, fmt.Errorf("graph: DOT node %s has the child %s, and query=%s: want a query without children",
			query, children[0], dot.Quote(query))
	case len(order) == len(nodes):
		return nil, fmt.Errorf("graph: DOT graph with query=%s: no node has this name, want one of %s",
			dot.Quote(query), strings.Join(shortened(nodes), ", "))
	default:
		order = append(order, query)
	}
	var names, path []string // path leads from a node to one of its ancestors
	placed := make(map[string]bool)
	var place func(id string) error
	place = func(id string) error {
		if placed[id] {
			return nil
		}
		if k := slices.Index(path, id); k >= 0 {
			cycle := append(slices.Clone(path[k:]), id)
			slices.Reverse(cycle)
			return fmt.Errorf("graph: cycle %s: a node may not be among its own ancestors",
				strings.Join(shortened(cycle), " -> "))
		}
		path = append(path, id)
		for _, p := range d.parents[id] {
			if err := place(p); err != nil {
				return err
			}
		}
		path, names = path[:len(path)-1], append(names, id)
		placed[id] = true
		return nil
	}
	for _, id := range order {
		if err := place(id); err != nil {
			return nil, err
		}
	}
	return names, nil
}

// shortened returns at most twelve names for an error, the last one among them.
func shortened(names []string) []string {
	if n := len(names); n > 12 {
		return append(slices.Clone(names[:10]), "…", names[n-1])
	}
	return names
}

func (d *diagram) name(i int) string { return d.names[i] }

// labelled reports whether the diagram has the positions s1..sT or 0..T-1 and a label.
func (d *diagram) labelled() bool {
	n := len(d.names)
	return !d.own && n > 0 && d.names[n-1] == label
}

func (d *diagram) forest() (*Forest, error) {
	if d.labelled() {
		return nil, fmt.Errorf("graph: node %s is a label, want a forest without it, or ReadDAG", label)
	}
	return build(len(d.names), d.edges, d.name)
}

func (d *diagram) dag() (*DAG, error) {
	n := len(d.names)
	if n > 1 && !d.own && !d.labelled() {
		return nil, fmt.Errorf("graph: nodes %s..%s without a label, want a node %s", d.names[0], d.names[n-1], label)
	}
	parents := make([][]int, n)
	for _, e := range d.edges {
		parents[e[1]] = append(parents[e[1]], e[0])
	}
	if err := checkDAG(parents, d.name); err != nil {
		return nil, err
	}
	for i, ps := range parents {
		slices.Sort(ps)
		var err error
		if parents[i], err = d.inPlace(ps, i); err != nil {
			return nil, err
		}
	}
	return &DAG{parents}, nil
}

// inPlace returns the parents of node i ordered by their headlabels, and unchanged if none has one.
func (d *diagram) inPlace(parents []int, i int) ([]int, error) {
	if !slices.ContainsFunc(parents, func(p int) bool { return d.places[[2]int{p, i}] != "" }) {
		return parents, nil
	}
	k := len(parents)
	placed := slices.Repeat([]int{Root}, k)
	for _, p := range parents {
		e := [2]int{p, i}
		m, err := strconv.Atoi(d.places[e])
		if err != nil || m < 1 || m > k || placed[m-1] != Root {
			return nil, fault(e, d.name,
				"headlabel %q: number the edges to %s 1..%d, each once, or none of them for increasing order",
				d.places[e], d.name(i), k)
		}
		placed[m-1] = p
	}
	return placed, nil
}

// label is the name of the label of a [DAG].
const label = "y"

// namesFrom returns n names that consist of a prefix and the numbers from first.
func namesFrom(prefix string, first, n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = prefix + strconv.Itoa(first+i)
	}
	return names
}

var (
	paperForm  = regexp.MustCompile(`^s[1-9][0-9]*$`)
	numberForm = regexp.MustCompile(`^-?[0-9]+$`)
)

// positions returns the given nodes in the order s1..sT or 0..T-1, with the label last, or nil if they have
// other names. It is an error if a position is missing among nodes that all have such names.
func positions(nodes []string) ([]string, error) {
	rest := slices.DeleteFunc(slices.Clone(nodes), func(id string) bool { return id == label })
	other := func(form *regexp.Regexp) bool {
		return slices.ContainsFunc(rest, func(id string) bool { return !form.MatchString(id) })
	}
	var names []string
	switch {
	case !other(paperForm):
		names = namesFrom("s", 1, len(rest))
	case slices.Contains(rest, "0") && !other(numberForm):
		names = namesFrom("", 0, len(rest))
	default:
		return nil, nil
	}
	missing := slices.IndexFunc(names, func(id string) bool { return !slices.Contains(rest, id) })
	if missing >= 0 {
		odd := slices.IndexFunc(rest, func(id string) bool { return !slices.Contains(names, id) })
		return nil, fmt.Errorf("graph: DOT node %q among %d nodes named in this way: want %s..%s, and %s is missing",
			rest[odd], len(rest), names[0], names[len(names)-1], names[missing])
	}
	if len(rest) < len(nodes) {
		names = append(names, label)
	}
	return names, nil
}

// WriteDOT writes the forest as a DOT digraph for [Read] and Graphviz. The nodes are called
// s1..sT, or by the given names, as Read returns them. Forest and names determine the bytes.
// WriteDOT panics unless there are no names or as many as nodes.
func (f *Forest) WriteDOT(w io.Writer, names ...string) error {
	parents := make([][]int, f.T())
	for _, e := range f.Edges() {
		parents[e[1]] = []int{e[0]}
	}
	return write(w, parents, namesFrom("s", 1, f.T()), names)
}

// WriteDOT writes the graph as a DOT digraph for [Read] and Graphviz. The nodes are called s1..sT and y, or by
// the given names, as Read returns them. The edges to a node whose parents are not in increasing order are
// numbered. Graph and names determine the bytes. WriteDOT panics unless there are no names or as many as nodes.
func (g *DAG) WriteDOT(w io.Writer, names ...string) error {
	return write(w, g.lists(), append(namesFrom("s", 1, g.T()), label), names)
}

// write writes the graph in which node i has the parents parents[i], with its edges ordered by
// parent and child. The nodes are called by their own names, or as in the paper if there are none.
func write(w io.Writer, parents [][]int, paper, own []string) error {
	g := &dot.Graph{Nodes: paper}
	if len(own) > 0 {
		if len(own) != len(paper) {
			panic(fmt.Sprintf("graph: %d names of %d nodes, want as many or none", len(own), len(paper)))
		}
		g.Nodes, g.Query = own, own[len(own)-1]
	}
	var edges [][3]int // parent, child, and place among the parents
	for i, ps := range parents {
		for m, p := range ps {
			edges = append(edges, [3]int{p, i, m + 1})
		}
	}
	slices.SortFunc(edges, func(a, b [3]int) int { return slices.Compare(a[:], b[:]) })
	for _, e := range edges {
		edge := dot.Edge{From: g.Nodes[e[0]], To: g.Nodes[e[1]]}
		if !slices.IsSorted(parents[e[1]]) {
			edge.Place = strconv.Itoa(e[2])
		}
		g.Edges = append(g.Edges, edge)
	}
	return g.Write(w)
}

package graph

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/graph/encoding"
	"gonum.org/v1/gonum/graph/encoding/dot"
	syntax "gonum.org/v1/gonum/graph/formats/dot"
	"gonum.org/v1/gonum/graph/formats/dot/ast"
	"gonum.org/v1/gonum/graph/simple"
)

// ReadDOT reads a forest from a file that holds one DOT digraph, with edges
// from parent to child:
//
//	digraph { s1 -> {s2 s3}; s2 -> s4; s3 -> s5; s6 }
//
// The T nodes are named either 0..T-1 or s1..sT, the paper's names, where s1 is
// position 0. All of them occur in the file, in any order; so a root without
// children, and the query, which is the last node, stand in it by themselves.
// Attributes and ports are ignored, subgraphs are expanded, and an edge
// repeated in a strict digraph counts once.
//
// The errors are those of [FromEdges], with the names of the file, and one for
// each departure from the rules above. A file has at most 1 MiB, 4096 nodes, 16384
// edges and subgraphs 64 deep.
func ReadDOT(r io.Reader) (*Forest, error) {
	in, err := readDOT(r)
	if err != nil {
		return nil, err
	}
	d, err := in.diagram(plainName(in.nodes), len(in.nodes), "each root and the query")
	if err != nil {
		return nil, err
	}
	return build(d.n, d.edges, d.name)
}

// ReadDAG reads a [DAG] from a DOT file, under the rules of [ReadDOT] but for these:
// the label is the node y, beside the T positions, and a node may have several
// parents. They are in increasing order, as the paper has them, wherever their
// edges stand in the file; for another order the attribute headlabel, which
// Graphviz draws at the head of the arrow, numbers the edges to the node 1..k:
//
//	digraph { {s1 s2} -> s3; s3 -> s4 [headlabel=1]; s1 -> s4 [headlabel=2]; {s3 s4} -> y }
//
// Here [NewDAG] would be given {}, {}, {0, 1}, {2, 0}, {2, 3}.
func ReadDAG(r io.Reader) (*DAG, error) {
	in, err := readDOT(r)
	if err != nil {
		return nil, err
	}
	t := len(in.nodes) - 1
	d, err := in.diagram(withLabel(plainName(in.nodes), t), t, "the label "+label+" and each root")
	if err != nil {
		return nil, err
	}
	if err := checkEdges(d.edges, d.n, d.name); err != nil {
		return nil, err
	}
	parents := make([][]int, d.n)
	for _, e := range d.edges {
		parents[e[1]] = append(parents[e[1]], e[0])
	}
	for i, ps := range parents {
		slices.Sort(ps)
		if parents[i], err = d.inPlace(ps, i); err != nil {
			return nil, err
		}
	}
	return newDAG(parents, d.name)
}

// MustReadDOT is [ReadDOT] of a text, with a panic in place of an error: for graphs
// that are written in a program.
func MustReadDOT(text string) *Forest { return must(ReadDOT(strings.NewReader(text))) }

// MustReadDAG is [ReadDAG] of a text, with a panic in place of an error.
func MustReadDAG(text string) *DAG { return must(ReadDAG(strings.NewReader(text))) }

func must[G any](g G, err error) G {
	if err != nil {
		panic(err.Error())
	}
	return g
}

// inPlace returns the parents of node i in the order of their places, if one
// has a place.
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

// A diagram is what a DOT file says of a graph on the nodes 0..n-1.
type diagram struct {
	n      int
	edges  [][2]int
	places map[[2]int]string // headlabels of the edges that have one
	name   func(int) string
}

// label is the name of the label of a [DAG].
const label = "y"

// ErrSyntax is the error for a text that is not DOT at all.
var ErrSyntax = errors.New("not valid DOT")

// readDOT reads the one digraph of a DOT file. A byte order mark, which editors of
// Windows put before a text, is passed over.
func readDOT(r io.Reader) (*drawing, error) {
	const arrows = `want "digraph", and "->" from parent to child`
	data, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("graph: reading DOT: %w", err)
	}
	if len(data) > maxFile {
		return nil, fmt.Errorf("graph: DOT file of more than %d bytes, want at most so many", maxFile)
	}
	file, err := syntax.ParseBytes(bytes.TrimPrefix(data, []byte("\ufeff")))
	if err != nil {
		why := strings.Replace(err.Error(), "one of strict, graphx or digraph", "digraph", 1)
		return nil, fmt.Errorf("graph: %w: %s", ErrSyntax, why)
	}
	if n := len(file.Graphs); n != 1 {
		return nil, fmt.Errorf("graph: DOT file holds %d graphs: want 1", n)
	}
	g := file.Graphs[0]
	if !g.Directed {
		return nil, errors.New("graph: undirected DOT graph: " + arrows)
	}
	d := &drawing{strict: g.Strict, seen: make(map[string]bool)}
	d.add(g.Stmts)
	switch {
	case d.excess != "":
		return nil, fmt.Errorf("graph: DOT file with more than %s, want at most so many", d.excess)
	case d.undirected != nil:
		return nil, fmt.Errorf("graph: undirected DOT edge in %q: %s", d.undirected, arrows)
	}
	return d, nil
}

// What a DOT file may hold. Graphs that can be trained on have fewer nodes, and few
// parents of each.
const (
	maxFile  = 1 << 20
	maxNodes = 1 << 12
	maxEdges = 4 * maxNodes
	maxDepth = 64
)

// diagram returns the drawing with its nodes numbered by their names, those of t
// positions and whatever follows them; others says which nodes one easily leaves
// out.
func (d *drawing) diagram(name func(int) string, t int, others string) (*diagram, error) {
	n := len(d.nodes)
	out := &diagram{n: n, places: make(map[[2]int]string), name: name}
	if t == 1 && n == 1 && d.nodes[0] != name(0) {
		return nil, fmt.Errorf("graph: DOT node %q is the only one: want at least 2, "+
			"named 0..T-1 or s1..sT", d.nodes[0])
	}
	if n < 2 {
		return out, nil // too few for either graph
	}
	number := make(map[string]int)
	for i := range n {
		number[name(i)] = i
	}
	for _, id := range d.nodes {
		if _, ok := number[id]; !ok {
			const want = "a file with %d nodes names them 0..%d or s1..s%d, %s among them"
			return nil, fmt.Errorf("graph: DOT node %q: "+want+"%s", id, n, t-1, t, others, d.meant(id, t))
		}
	}
	known := make(map[[2]int]bool)
	for _, a := range d.edges {
		e := [2]int{number[a.from], number[a.to]}
		if !d.strict || !known[e] {
			out.edges = append(out.edges, e)
		}
		known[e] = true
		if a.place != "" {
			out.places[e] = a.place
		}
	}
	return out, nil
}

// meant says how to write a node that has no name of a graph on t positions, if that
// can be told.
func (d *drawing) meant(id string, t int) string {
	switch {
	case id == strconv.Itoa(t) && !slices.Contains(d.nodes, "0"):
		return "; counted from 1 they are s1, s2, …"
	case id == strings.ToUpper(label):
		return "; the label is " + label + ", a small letter"
	}
	return ""
}

// plainName returns the names of positions in a file with the given nodes:
// numbers from 0, or the paper's if the first node but the label has one.
func plainName(nodes []string) func(int) string {
	i := slices.IndexFunc(nodes, func(id string) bool { return id != label })
	if i >= 0 && strings.HasPrefix(nodes[i], "s") {
		return paperName
	}
	return strconv.Itoa
}

// paperName is the paper's name of position i.
func paperName(i int) string { return "s" + strconv.Itoa(i+1) }

// withLabel returns name for the positions 0..t-1, with the label's after them.
func withLabel(name func(int) string, t int) func(int) string {
	return func(i int) string {
		if i == t {
			return label
		}
		return name(i)
	}
}

// A drawing collects the nodes and edges of DOT statements in the order of the
// file. It takes the place of dot.Unmarshal, which in "1; 0 -> {1 2}" loses the
// edge to 1, as to every node of a subgraph that has occurred before.
type drawing struct {
	strict     bool     // an edge that is repeated counts once
	nodes      []string // each once
	seen       map[string]bool
	edges      []arrow
	depth      int           // of the subgraph
	place      string        // of edges that state none
	undirected *ast.EdgeStmt // one that has an undirected edge, or nil
	excess     string        // what there is too much of; nothing is added then
}

// An arrow is an edge with its headlabel, if it has one.
type arrow struct{ from, to, place string }

// add collects the statements and returns their nodes, each once.
func (d *drawing) add(stmts []ast.Stmt) []string {
	defer func(outer string) { d.place = outer }(d.place)
	d.depth++
	defer func() { d.depth-- }()
	d.limit(d.depth-1, maxDepth, "subgraphs in each other")
	var ids []string
	for _, stmt := range stmts {
		if d.excess != "" {
			return nil
		}
		switch stmt := stmt.(type) {
		case *ast.AttrStmt:
			if stmt.Kind == ast.EdgeKind {
				d.place = headlabel(stmt.Attrs, d.place)
			}
		case *ast.NodeStmt:
			ids = append(ids, d.end(stmt.Node)...)
		case *ast.Subgraph:
			ids = append(ids, d.add(stmt.Stmts)...)
		case *ast.EdgeStmt:
			from := d.end(stmt.From)
			ids = append(ids, from...)
			for e := stmt.To; e != nil; e = e.To {
				if !e.Directed {
					d.undirected = stmt
				}
				to := d.end(e.Vertex)
				d.join(from, to, headlabel(stmt.Attrs, d.place))
				ids, from = append(ids, to...), to
			}
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// join collects an edge from each of some nodes to each of others.
func (d *drawing) join(from, to []string, place string) {
	d.limit(len(d.edges)+len(from)*len(to), maxEdges, "edges")
	if d.excess != "" {
		return
	}
	for _, a := range from {
		for _, b := range to {
			d.edges = append(d.edges, arrow{a, b, place})
		}
	}
}

// end collects one end of an edge and returns its nodes, each once.
func (d *drawing) end(v ast.Vertex) []string {
	if sub, ok := v.(*ast.Subgraph); ok {
		return d.add(sub.Stmts)
	}
	id := unquote(v.(*ast.Node).ID)
	if !d.seen[id] {
		d.seen[id] = true
		d.nodes = append(d.nodes, id)
		d.limit(len(d.nodes), maxNodes, "nodes")
	}
	return []string{id}
}

// limit notes if there are more than most of something.
func (d *drawing) limit(n, most int, what string) {
	if n > most && d.excess == "" {
		d.excess = fmt.Sprintf("%d %s", most, what)
	}
}

// headlabel returns the last headlabel of the attributes, or that given.
func headlabel(attrs []*ast.Attr, place string) string {
	for _, a := range attrs {
		if unquote(a.Key) == "headlabel" {
			place = unquote(a.Val)
		}
	}
	return place
}

func unquote(id string) string {
	if s, err := strconv.Unquote(id); err == nil {
		return s
	}
	return id
}

// WriteDOT writes the forest as a DOT digraph with nodes s1..sT, which [ReadDOT]
// and Graphviz read. The bytes are determined by the forest.
func (f *Forest) WriteDOT(w io.Writer) error {
	return diagram{n: f.T(), edges: f.Edges(), name: paperName}.write(w)
}

// WriteDOT writes the graph as a DOT digraph with nodes s1..sT and y, which
// [ReadDAG] and Graphviz read. Edges are numbered at the nodes whose parents are
// not in increasing order. The bytes are determined by the graph.
func (g *DAG) WriteDOT(w io.Writer) error {
	d := diagram{n: len(g.lists()), places: make(map[[2]int]string), name: withLabel(paperName, g.T())}
	for i, ps := range g.lists() {
		for m, p := range ps {
			e := [2]int{p, i}
			d.edges = append(d.edges, e)
			if !slices.IsSorted(ps) {
				d.places[e] = strconv.Itoa(m + 1)
			}
		}
	}
	return d.write(w)
}

func (d diagram) write(w io.Writer) error {
	g := simple.NewDirectedGraph()
	for i := range d.n {
		g.AddNode(node{i, d.name(i)})
	}
	for _, e := range d.edges {
		g.SetEdge(edge{simple.Edge{F: g.Node(int64(e[0])), T: g.Node(int64(e[1]))}, d.places[e]})
	}
	data, err := dot.Marshal(g, "", "", "\t")
	if err != nil {
		return fmt.Errorf("graph: writing DOT: %w", err)
	}
	_, err = w.Write(append(data, '\n'))
	return err
}

// A node writes itself under its name.
type node struct {
	id   int
	name string
}

func (n node) ID() int64     { return int64(n.id) }
func (n node) DOTID() string { return n.name }

// An edge writes itself with its headlabel, if it has one.
type edge struct {
	simple.Edge
	place string
}

func (e edge) Attributes() []encoding.Attribute {
	if e.place == "" {
		return nil
	}
	return []encoding.Attribute{{Key: "headlabel", Value: e.place}}
}

package graph

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

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
// The errors are those of FromEdges, with the names of the file, and one for
// each departure from the rules above.
func ReadDOT(r io.Reader) (*Forest, error) {
	const arrows = `want "digraph", and "->" from parent to child`
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("graph: reading DOT: %w", err)
	}
	file, err := syntax.ParseBytes(data)
	if err != nil {
		return nil, fmt.Errorf("graph: not valid DOT: %w", err)
	}
	if n := len(file.Graphs); n != 1 {
		return nil, fmt.Errorf("graph: DOT file holds %d graphs: want 1", n)
	}
	g := file.Graphs[0]
	if !g.Directed {
		return nil, errors.New("graph: undirected DOT graph: " + arrows)
	}
	var d drawing
	d.add(g.Stmts)
	if d.undirected != nil {
		return nil, fmt.Errorf("graph: undirected DOT edge in %q: %s", d.undirected, arrows)
	}
	t := len(d.nodes)
	name := strconv.Itoa
	if t > 0 && strings.HasPrefix(d.nodes[0], "s") {
		name = func(i int) string { return node(i).DOTID() }
	}
	position := make(map[string]int)
	for i := range t {
		position[name(i)] = i
	}
	for _, id := range d.nodes {
		if _, ok := position[id]; !ok {
			return nil, fmt.Errorf("graph: DOT node %q: a file with %d nodes names them 0..%d or s1..s%d, each root and the query among them", id, t, t-1, t)
		}
	}
	var edges [][2]int
	for _, e := range d.edges {
		edge := [2]int{position[e[0]], position[e[1]]}
		if !g.Strict || !slices.Contains(edges, edge) {
			edges = append(edges, edge)
		}
	}
	return build(t, edges, name)
}

// A drawing collects the nodes and edges of DOT statements in the order of the
// file. It takes the place of dot.Unmarshal, which in "1; 0 -> {1 2}" loses the
// edge to 1, as to every node of a subgraph that has occurred before.
type drawing struct {
	nodes      []string // each once
	edges      [][2]string
	undirected *ast.EdgeStmt // one that has an undirected edge, or nil
}

// add collects the statements and returns their nodes, each once.
func (d *drawing) add(stmts []ast.Stmt) []string {
	var ids []string
	for _, stmt := range stmts {
		switch stmt := stmt.(type) {
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
				for _, a := range from {
					for _, b := range to {
						d.edges = append(d.edges, [2]string{a, b})
					}
				}
				ids, from = append(ids, to...), to
			}
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// end collects one end of an edge and returns its nodes, each once.
func (d *drawing) end(v ast.Vertex) []string {
	if sub, ok := v.(*ast.Subgraph); ok {
		return d.add(sub.Stmts)
	}
	id := v.(*ast.Node).ID
	if s, err := strconv.Unquote(id); err == nil {
		id = s
	}
	if !slices.Contains(d.nodes, id) {
		d.nodes = append(d.nodes, id)
	}
	return []string{id}
}

// WriteDOT writes the forest as a DOT digraph with nodes s1..sT, which ReadDOT
// and Graphviz read. The bytes are determined by the forest.
func (f *Forest) WriteDOT(w io.Writer) error {
	g := simple.NewDirectedGraph()
	for i := range f.parents {
		g.AddNode(node(i))
	}
	for _, e := range f.Edges() {
		g.SetEdge(simple.Edge{F: node(e[0]), T: node(e[1])})
	}
	data, err := dot.Marshal(g, "", "", "\t")
	if err != nil {
		return fmt.Errorf("graph: writing DOT: %w", err)
	}
	_, err = w.Write(append(data, '\n'))
	return err
}

// A node is a position that writes itself under the paper's name.
type node int64

func (n node) ID() int64     { return int64(n) }
func (n node) DOTID() string { return "s" + strconv.FormatInt(int64(n)+1, 10) }

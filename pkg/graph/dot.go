package graph

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	syntax "gonum.org/v1/gonum/graph/formats/dot"
	"gonum.org/v1/gonum/graph/formats/dot/ast"
)

// ReadDOT reads a forest from a file that holds one DOT digraph, with edges from parent to
// child:
//
//	digraph { s1 -> {s2 s3}; s2 -> s4; s3 -> s5; s6 }
//
// The T nodes are named either 0..T-1 or s1..sT, the paper's names, where s1 is position 0.
// The file names every node, in any order: a root without children and the query, which is
// the last node, stand alone. Attributes and ports are ignored, subgraphs are expanded, and
// an edge repeated in a strict digraph counts once.
//
// The errors are those of [New], with the names of the file, and one for each departure
// from the rules above. A file has at most 1 MiB, 4096 nodes, 16384 edges and subgraphs
// nested 64 deep.
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

// ReadDAG reads a [DAG] from a DOT file, under the rules of [ReadDOT] with two changes: the
// label is the node y, in addition to the T positions, and a node may have several parents.
// They are in increasing order, as in the paper, wherever their edges stand in the file. For
// a different order the attribute headlabel, which Graphviz draws at the head of the arrow,
// numbers the edges to the node 1..k:
//
//	digraph { {s1 s2} -> s3; s3 -> s4 [headlabel=1]; s1 -> s4 [headlabel=2]; {s3 s4} -> y }
//
// is NewDAG of {}, {}, {0, 1}, {2, 0}, {2, 3}.
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
	parents := make([][]int, d.n)
	for _, e := range d.edges {
		parents[e[1]] = append(parents[e[1]], e[0])
	}
	if err := checkDAG(parents, d.name); err != nil {
		return nil, err
	}
	for i, ps := range parents {
		slices.Sort(ps)
		if parents[i], err = d.inPlace(ps, i); err != nil {
			return nil, err
		}
	}
	return &DAG{parents}, nil
}

// inPlace returns the parents of node i ordered by their headlabels, and unchanged if none
// has one.
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

// A diagram is a graph on the nodes 0..n-1 with names.
type diagram struct {
	n      int
	edges  [][2]int
	places map[[2]int]string // headlabels of the edges that have one
	name   func(int) string
}

// label is the name of the label of a [DAG].
const label = "y"

// ErrSyntax is the error for a text that is not DOT.
var ErrSyntax = errors.New("not valid DOT")

// readDOT reads the digraph of a DOT file. It skips a byte order mark, which some editors
// write.
func readDOT(r io.Reader) (*drawing, error) {
	const arrows = `want "digraph", and "->" from parent to child`
	data, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("graph: reading DOT: %w", err)
	}
	if len(data) > maxFile {
		return nil, fmt.Errorf("graph: DOT file of more than %d bytes, the limit", maxFile)
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
		return nil, fmt.Errorf("graph: DOT file with more than %s, the limit", d.excess)
	case d.undirected != nil:
		return nil, fmt.Errorf("graph: undirected DOT edge in %q: %s", d.undirected, arrows)
	}
	return d, nil
}

// Limits on a DOT file. Graphs for training have fewer nodes, and few parents for each.
const (
	maxFile  = 1 << 20
	maxNodes = 1 << 12
	maxEdges = 4 * maxNodes
	maxDepth = 64
)

// diagram returns the drawing with its nodes numbered by their names. The first t nodes are
// positions. The error for an unknown name mentions others, the nodes that a file may lack.
func (d *drawing) diagram(name func(int) string, t int, others string) (*diagram, error) {
	n := len(d.nodes)
	out := &diagram{n: n, places: make(map[[2]int]string), name: name}
	if n < 2 {
		return out, nil // build and checkDAG refuse it
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

// meant suggests a correction of the unknown name id in a graph on t positions, or is empty.
func (d *drawing) meant(id string, t int) string {
	switch {
	case id == strconv.Itoa(t) && !slices.Contains(d.nodes, "0"):
		return "; counted from 1 they are s1, s2, …"
	case id == strings.ToUpper(label):
		return "; the label is " + label + ", a small letter"
	}
	return ""
}

// plainName returns the names of positions in a file with the given nodes: the paper's if
// the first node other than the label has a paper's name, otherwise numbers from 0.
func plainName(nodes []string) func(int) string {
	i := slices.IndexFunc(nodes, func(id string) bool { return id != label })
	if i >= 0 && strings.HasPrefix(nodes[i], "s") {
		return paperName
	}
	return strconv.Itoa
}

// paperName is the paper's name of position i.
func paperName(i int) string { return "s" + strconv.Itoa(i+1) }

// withLabel returns the names of t positions, followed by the label.
func withLabel(name func(int) string, t int) func(int) string {
	return func(i int) string {
		if i == t {
			return label
		}
		return name(i)
	}
}

// A drawing collects the nodes and edges of DOT statements in the order of the file. It
// replaces dot.Unmarshal, which in "1; 0 -> {1 2}" loses the edge to 1, and every edge to a
// node of a subgraph that occurred before.
type drawing struct {
	strict     bool     // a repeated edge counts once
	nodes      []string // each once
	seen       map[string]bool
	edges      []arrow
	depth      int           // of the subgraph
	place      string        // default headlabel
	undirected *ast.EdgeStmt // a statement with an undirected edge, or nil
	excess     string        // the limit that was exceeded; nothing is added after that
}

// An arrow is an edge with its headlabel, if it has one.
type arrow struct{ from, to, place string }

// add collects the statements and returns their nodes, each once.
func (d *drawing) add(stmts []ast.Stmt) []string {
	defer func(outer string) { d.place = outer }(d.place)
	d.depth++
	defer func() { d.depth-- }()
	d.limit(d.depth-1, maxDepth, "nested subgraphs")
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

// join collects an edge from each node of from to each node of to.
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

// limit records an excess if n > most.
func (d *drawing) limit(n, most int, unit string) {
	if n > most && d.excess == "" {
		d.excess = fmt.Sprintf("%d %s", most, unit)
	}
}

// headlabel returns the last headlabel of the attributes, or place if there is none.
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

// WriteDOT writes the forest as a DOT digraph with nodes s1..sT, for [ReadDOT] and Graphviz.
// The forest determines the bytes.
func (f *Forest) WriteDOT(w io.Writer) error {
	return diagram{n: f.T(), edges: f.Edges(), name: paperName}.write(w)
}

// WriteDOT writes the graph as a DOT digraph with nodes s1..sT and y, for [ReadDAG] and
// Graphviz. It numbers the edges to a node whose parents are not in increasing order. The
// graph determines the bytes.
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

// write writes the nodes and then the edges, ordered by parent and child. It sorts d.edges.
func (d diagram) write(w io.Writer) error {
	var b bytes.Buffer
	b.WriteString("strict digraph {\n\t// Node definitions.\n")
	for i := range d.n {
		fmt.Fprintf(&b, "\t%s;\n", d.name(i))
	}
	if len(d.edges) > 0 {
		b.WriteString("\n\t// Edge definitions.\n")
	}
	slices.SortFunc(d.edges, func(a, b [2]int) int { return slices.Compare(a[:], b[:]) })
	for _, e := range d.edges {
		place := ""
		if m := d.places[e]; m != "" {
			place = " [headlabel=" + m + "]"
		}
		fmt.Fprintf(&b, "\t%s -> %s%s;\n", d.name(e[0]), d.name(e[1]), place)
	}
	b.WriteString("}\n")
	_, err := w.Write(b.Bytes())
	return err
}

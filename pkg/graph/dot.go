package graph

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Read reads the causal graph of a file that holds one DOT digraph, with edges from parent
// to child: a forest, for Task 1, or a DAG, for Task 2. The other is nil.
//
//	digraph { s1 -> {s2 s3}; s2 -> s4; s3 -> s5; s6 }
//	digraph { {rain sprinkler} -> wet }
//
// A file may name the T positions s1..sT, as the paper does, or 0..T-1. Then s1 is position
// 0, a graph with a node y, the label, is a DAG, and names is nil. The file names every node,
// in any order: a root without children and the query, the last node, stand alone.
//
// In other files names[i] is the name of node i. Parents come before their children, and
// else the nodes keep the order of the file. The query or label is the last node, the last
// without children in the file. The graph attribute query names a different one, and so does
// a node y with parents and no child. If it has parents, and it is named or some node has two
// parents, the graph is a DAG.
//
// Subgraphs are expanded, and an edge repeated in a strict digraph counts once. Edges and
// nodes of style invis are left out. An error names any other attribute that hides an edge or
// its direction. Other attributes, and ports, are ignored.
//
// The other errors are those of [New] and [NewDAG], with the names of the file, and one for
// each departure from the rules above. A file has at most 1 MiB, 4096 nodes, 16384 edges and
// subgraphs nested 64 deep.
func Read(r io.Reader) (f *Forest, g *DAG, names []string, err error) {
	d, err := readDiagram(r)
	if err != nil {
		return nil, nil, nil, err
	}
	if d.own {
		names = d.names
	}
	caused, several, effect := d.inDegrees()
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
			"or the label of a graph of Task 2, as in query=%s", err, d.names[len(d.names)-1], quote(effect))
	}
	if err != nil {
		return nil, nil, nil, err
	}
	return f, g, names, nil
}

// ReadDOT reads a forest from a DOT file, see [Read].
func ReadDOT(r io.Reader) (*Forest, error) {
	d, err := readDiagram(r)
	if err != nil {
		return nil, err
	}
	return d.forest()
}

// ReadDAG reads a [DAG] from a DOT file, see [Read]. The parents of a node are in increasing
// order, as in the paper, wherever their edges stand in the file. For a different order the
// attribute headlabel, which Graphviz draws at the head of the arrow, numbers the edges to
// the node 1..k:
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
	names  []string
	edges  [][2]int
	places map[[2]int]string // headlabels of the edges that have one
	own    bool              // the names are neither s1..sT nor 0..T-1
	named  bool              // own, and the file names the last node as its query or label
}

// newDiagram returns a diagram with the names own, or with the names paper if there are none.
func newDiagram(paper, own []string, edges [][2]int) *diagram {
	d := &diagram{names: paper, edges: edges, places: make(map[[2]int]string)}
	if len(own) > 0 {
		if len(own) != len(paper) {
			panic(fmt.Sprintf("graph: %d names of %d nodes, want as many or none", len(own), len(paper)))
		}
		d.names, d.own = own, true
	}
	return d
}

func (d *diagram) name(i int) string { return d.names[i] }

// labelled reports whether the diagram has the positions s1..sT or 0..T-1 and a label.
func (d *diagram) labelled() bool {
	n := len(d.names)
	return !d.own && n > 0 && d.names[n-1] == label
}

// inDegrees reports whether the last node has a parent and whether some node has several. It
// returns the name of the last node with a parent and without a child.
func (d *diagram) inDegrees() (last, several bool, effect string) {
	parents, children := make([]int, len(d.names)), make([]int, len(d.names))
	known := make(map[[2]int]bool)
	for _, e := range d.edges {
		if !known[e] {
			known[e] = true
			parents[e[1]]++
			children[e[0]]++
			several = several || parents[e[1]] > 1
		}
	}
	for i, id := range d.names {
		if last = parents[i] > 0; last && children[i] == 0 {
			effect = id
		}
	}
	return last, several, effect
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

// label is the name of the label of a [DAG].
const label = "y"

// paperNames returns s1..sT.
func paperNames(t int) []string {
	names := make([]string, t)
	for i := range names {
		names[i] = "s" + strconv.Itoa(i+1)
	}
	return names
}

// numberNames returns 0..T-1.
func numberNames(t int) []string {
	names := make([]string, t)
	for i := range names {
		names[i] = strconv.Itoa(i)
	}
	return names
}

var (
	paperForm  = regexp.MustCompile(`^s[1-9][0-9]*$`)
	numberForm = regexp.MustCompile(`^-?[0-9]+$`)
)

// positions returns the given nodes in the order s1..sT or 0..T-1, with the label last, or
// nil if they have other names. It is an error if a position is missing among nodes that all
// have such names.
func positions(nodes []string) ([]string, error) {
	rest := slices.DeleteFunc(slices.Clone(nodes), func(id string) bool { return id == label })
	other := func(form *regexp.Regexp) bool {
		return slices.ContainsFunc(rest, func(id string) bool { return !form.MatchString(id) })
	}
	var names []string
	switch {
	case !other(paperForm):
		names = paperNames(len(rest))
	case slices.Contains(rest, "0") && !other(numberForm):
		names = numberNames(len(rest))
	default:
		return nil, nil
	}
	known := make(map[string]bool)
	for _, id := range names {
		known[id] = true
	}
	for _, id := range rest {
		if !known[id] {
			missing := slices.IndexFunc(names, func(id string) bool { return !slices.Contains(rest, id) })
			return nil, fmt.Errorf("graph: DOT node %q among %d nodes named in this way: want %s..%s, and %s is missing",
				id, len(rest), names[0], names[len(names)-1], names[missing])
		}
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
	return newDiagram(paperNames(f.T()), names, f.Edges()).write(w)
}

// WriteDOT writes the graph as a DOT digraph for [Read] and Graphviz. The nodes are called
// s1..sT and y, or by the given names, as Read returns them. The edges to a node whose parents
// are not in increasing order are numbered. Graph and names determine the bytes. WriteDOT
// panics unless there are no names or as many as nodes.
func (g *DAG) WriteDOT(w io.Writer, names ...string) error {
	d := newDiagram(append(paperNames(g.T()), label), names, nil)
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
func (d *diagram) write(w io.Writer) error {
	var b bytes.Buffer
	b.WriteString("strict digraph {\n")
	if d.own {
		fmt.Fprintf(&b, "\tquery=%s;\n\n", quote(d.names[len(d.names)-1]))
	}
	b.WriteString("\t// Node definitions.\n")
	for _, name := range d.names {
		fmt.Fprintf(&b, "\t%s;\n", quote(name))
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
		fmt.Fprintf(&b, "\t%s -> %s%s;\n", quote(d.names[e[0]]), quote(d.names[e[1]]), place)
	}
	b.WriteString("}\n")
	_, err := w.Write(b.Bytes())
	return err
}

// bare matches the names that DOT takes without quotation marks.
var bare = regexp.MustCompile(`^([A-Za-z_][A-Za-z_0-9]*|[0-9]+)$`)

// quote returns a name in the syntax of DOT. Names of other characters, and the keywords of
// DOT, have quotation marks.
func quote(name string) string {
	switch strings.ToLower(name) {
	case "node", "edge", "graph", "digraph", "subgraph", "strict":
	default:
		if bare.MatchString(name) {
			return name
		}
	}
	return `"` + strings.ReplaceAll(name, `"`, `\"`) + `"`
}

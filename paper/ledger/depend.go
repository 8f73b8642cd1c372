package ledger

import (
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/gonum/graph/encoding"
	"gonum.org/v1/gonum/graph/encoding/dot"
	"gonum.org/v1/gonum/graph/simple"
	"gonum.org/v1/gonum/graph/topo"
	"gonum.org/v1/gonum/graph/traverse"

	gonum "gonum.org/v1/gonum/graph"
)

// Dependencies is a directed graph over the rows of a ledger. An edge from a to b means
// that the proof of b uses a.
type Dependencies struct {
	ledger *Ledger
	graph  *simple.DirectedGraph
	number map[string]int64 // node of each id
}

// Dependencies returns the graph of the ledger's rows. It returns an error if an id
// occurs twice, if a row refers to an id without a row, or if the graph has a cycle.
func (l *Ledger) Dependencies() (*Dependencies, error) {
	d := &Dependencies{l, simple.NewDirectedGraph(), map[string]int64{}}
	for i := range l.Rows {
		r := &l.Rows[i]
		if _, ok := d.number[r.ID]; ok {
			return nil, fmt.Errorf("ledger: two rows have the id %s", r.ID)
		}
		d.number[r.ID] = int64(i)
		d.graph.AddNode(vertex{int64(i), r})
	}
	for i, r := range l.Rows {
		if c := r.Corrected; c != "" && l.Find(c) == nil {
			return nil, fmt.Errorf("ledger: %s is corrected by %s, which has no row", r.ID, c)
		}
		for _, u := range r.RestsOn {
			if _, ok := d.number[u]; !ok {
				return nil, fmt.Errorf("ledger: %s rests on %s, which has no row", r.ID, u)
			}
		}
		for _, u := range r.Uses {
			from, ok := d.number[u]
			if !ok {
				return nil, fmt.Errorf("ledger: %s uses %s, which has no row", r.ID, u)
			}
			if from == int64(i) {
				return nil, fmt.Errorf("ledger: %s uses itself", r.ID)
			}
			d.graph.SetEdge(simple.Edge{F: d.graph.Node(from), T: d.graph.Node(int64(i))})
		}
	}
	if cycles := topo.DirectedCyclesIn(d.graph); len(cycles) > 0 {
		var ids []string
		for _, n := range cycles[0] {
			ids = append(ids, l.Rows[n.ID()].ID)
		}
		return nil, fmt.Errorf("ledger: a cycle of proofs: %s", strings.Join(ids, " -> "))
	}
	return d, nil
}

// Users returns the rows whose proofs use the statement, directly or indirectly, in the
// order of the ledger. It panics if no row has the id.
func (d *Dependencies) Users(id string) []Row {
	start, ok := d.number[id]
	if !ok {
		panic("ledger: no row has the id " + id)
	}
	var out []int
	walk := traverse.BreadthFirst{Visit: func(n gonum.Node) {
		if n.ID() != start {
			out = append(out, int(n.ID()))
		}
	}}
	walk.Walk(d.graph, d.graph.Node(start), nil)
	slices.Sort(out)
	var users []Row
	for _, i := range out {
		users = append(users, d.ledger.Rows[i])
	}
	return users
}

// DOT returns the graph in the format of Graphviz. The fill colour of a node shows its
// verdict. A dashed edge connects a statement with its correction.
func (d *Dependencies) DOT() ([]byte, error) {
	g := simple.NewDirectedGraph()
	for i := range d.ledger.Rows {
		g.AddNode(d.graph.Node(int64(i)))
	}
	for i, r := range d.ledger.Rows {
		to := g.Node(int64(i))
		for _, u := range r.Uses {
			g.SetEdge(arrow{simple.Edge{F: g.Node(d.number[u]), T: to}, "solid"})
		}
	}
	for i, r := range d.ledger.Rows {
		if c := r.Corrected; c != "" {
			g.SetEdge(arrow{simple.Edge{F: g.Node(int64(i)), T: g.Node(d.number[c])}, "dashed"})
		}
	}
	b, err := dot.Marshal(g, "claims", "", "\t")
	if err != nil {
		return nil, fmt.Errorf("ledger: writing DOT: %w", err)
	}
	return append(b, '\n'), nil
}

// A vertex is a node for a row.
type vertex struct {
	id  int64
	row *Row
}

func (v vertex) ID() int64     { return v.id }
func (v vertex) DOTID() string { return `"` + v.row.ID + `"` }

func (v vertex) Attributes() []encoding.Attribute {
	fill := map[Verdict]string{
		Proved: "#b3d5e8", Tested: "#dfeef6", Untested: "#ffffff", Refuted: "#f3c9b3", Open: "#dddddd",
	}[v.row.Verdict]
	return []encoding.Attribute{
		{Key: "label", Value: fmt.Sprintf(`"%s\n%s"`, v.row.Number, v.row.ID)},
		{Key: "shape", Value: "box"},
		{Key: "style", Value: "filled"},
		{Key: "fillcolor", Value: `"` + fill + `"`},
	}
}

// An arrow is an edge with a style.
type arrow struct {
	simple.Edge
	style string
}

func (a arrow) Attributes() []encoding.Attribute {
	return []encoding.Attribute{{Key: "style", Value: a.style}}
}

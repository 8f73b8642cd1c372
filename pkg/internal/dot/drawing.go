package dot

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/text/unicode/norm"
	"gonum.org/v1/gonum/graph/formats/dot/ast"

	"learncausal/internal/names"
)

// A drawing collects the nodes and edges of DOT statements in the order of the file. It
// replaces dot.Unmarshal of gonum, which in "1; 0 -> {1 2}" loses the edge to 1, and every
// edge to a node of a subgraph that occurred before.
type drawing struct {
	strict bool             // a repeated edge counts once
	graph  style            // attributes of the graph
	order  []string         // of the nodes
	nodes  map[string]style // by name
	edges  []arrow
	known  map[[2]string]int   // the index in edges, if strict
	joined int                 // number of edges, with the repeated ones
	groups map[string][]string // the nodes of named subgraphs, by path
	err    error               // nothing is added after an error
}

// An arrow is an edge with its attributes.
type arrow struct {
	from, to string
	style    style
}

// A scope is the place of a statement in nested subgraphs.
type scope struct {
	path       string // the names of the subgraphs
	depth      int    // their number
	node, edge style  // default attributes
}

// add collects the statements and returns their nodes, each once.
func (d *drawing) add(at scope, stmts []ast.Stmt) []string {
	d.limit(at.depth, maxDepth, "nested subgraphs")
	var ids []string
	for _, stmt := range stmts {
		if d.err != nil {
			return nil
		}
		switch stmt := stmt.(type) {
		case *ast.Attr:
			d.set(&at, ast.GraphKind, stmt)
		case *ast.AttrStmt:
			d.set(&at, stmt.Kind, stmt.Attrs...)
		case *ast.NodeStmt:
			id := d.end(at, stmt.Node)
			d.nodes[id[0]] = d.nodes[id[0]].with(stmt.Attrs)
			ids = append(ids, id...)
		case *ast.Subgraph:
			ids = append(ids, d.end(at, stmt)...)
		case *ast.EdgeStmt:
			from := d.end(at, stmt.From)
			ids = append(ids, from...)
			for e := stmt.To; e != nil; e = e.To {
				if !e.Directed {
					d.err = fmt.Errorf("undirected DOT edge in %q: %s", stmt, arrows)
				}
				to := d.end(at, e.Vertex)
				d.join(from, to, at.edge, stmt.Attrs)
				ids, from = append(ids, to...), to
			}
		}
	}
	return distinct(ids)
}

// distinct returns the names, each once, in increasing order.
func distinct(ids []string) []string {
	slices.Sort(ids)
	return slices.Compact(ids)
}

// set sets the defaults of a subgraph, or the attributes of the whole graph.
func (d *drawing) set(at *scope, kind ast.Kind, attrs ...*ast.Attr) {
	switch {
	case kind == ast.NodeKind:
		at.node = at.node.with(attrs)
	case kind == ast.EdgeKind:
		at.edge = at.edge.with(attrs)
	case at.depth == 0:
		d.graph = d.graph.with(attrs)
	}
}

// join collects an edge from each node of from to each node of to.
func (d *drawing) join(from, to []string, defaults style, attrs []*ast.Attr) {
	d.joined += len(from) * len(to)
	if d.limit(d.joined, maxEdges, "edges"); d.err != nil {
		return
	}
	drawn := defaults.with(attrs)
	for _, a := range from {
		for _, b := range to {
			ends := [2]string{a, b}
			if i, twice := d.known[ends]; twice && d.strict {
				d.edges[i].style = d.edges[i].style.with(attrs)
				continue
			}
			d.known[ends] = len(d.edges)
			d.edges = append(d.edges, arrow{a, b, drawn})
		}
	}
}

// end collects one end of an edge and returns its nodes, each once.
func (d *drawing) end(at scope, v ast.Vertex) []string {
	if sub, ok := v.(*ast.Subgraph); ok {
		at.path += "/" + unquote(sub.ID)
		at.depth++
		ids := d.add(at, sub.Stmts)
		if sub.ID != "" { // it has the nodes of earlier statements with its name
			ids = distinct(append(ids, d.groups[at.path]...))
			d.groups[at.path] = ids
		}
		return ids
	}
	id := unquote(v.(*ast.Node).ID)
	if _, seen := d.nodes[id]; !seen {
		d.nodes[id] = at.node
		d.order = append(d.order, id)
		d.limit(len(d.order), maxNodes, "nodes")
	}
	return []string{id}
}

// limit records an error if n > most.
func (d *drawing) limit(n, most int, unit string) {
	if n > most && d.err == nil {
		d.err = fmt.Errorf("DOT file with more than %d %s, the limit", most, unit)
	}
}

// visible returns the graph of the visible nodes and edges. It is an error if attributes hide
// an edge, one of its ends or its direction in another way, or say that a node is not observed.
func (d *drawing) visible() (*Graph, error) {
	g, label := &Graph{Query: strings.TrimSpace(norm.NFC.String(d.graph["query"]))}, d.labels()
	name := func(id string) string { return strings.TrimSpace(norm.NFC.String(label(id))) }
	for _, a := range d.edges {
		if a.style.has("invis") {
			continue
		}
		for _, id := range []string{a.from, a.to} {
			if d.nodes[id].has("invis") {
				return nil, fmt.Errorf("DOT edge %s -> %s: style=invis hides node %s: want both ends visible, or neither end",
					a.from, a.to, id)
			}
		}
		if why := d.hidden(a.style); why != "" {
			return nil, fmt.Errorf("DOT edge %s -> %s: the attribute %s", a.from, a.to, why)
		}
		g.Edges = append(g.Edges, Edge{name(a.from), name(a.to), a.style["headlabel"]})
	}
	if s, set := d.graph["splines"]; set && (s == "" || s == "none") {
		return nil, fmt.Errorf("DOT graph with the attribute splines=%s, which hides all edges: want it removed", Quote(s))
	}
	seen := make(map[string]string) // the names by their looks
	for _, node := range d.order {
		id, err := names.Node(label(node))
		key, look := d.nodes[node].unobserved(), names.Look(id)
		switch other, twice := seen[look]; {
		case d.nodes[node].has("invis"):
		case key != "":
			return nil, fmt.Errorf("DOT node %s: the attribute %s=%s says that it is not observed, and the model reads "+
				"each node: want it removed, with its edges", id, key, Quote(d.nodes[node][key]))
		case err != nil:
			return nil, fmt.Errorf("DOT node %w", err)
		case twice:
			return nil, fmt.Errorf("DOT nodes %+q and %+q look the same: want one spelling of a node", other, label(node))
		default:
			seen[look] = label(node)
			g.Nodes = append(g.Nodes, id)
		}
	}
	return g, nil
}

// labels returns the function from nodes to their names: the label if the nodes are numbers, and each has a label
// of its own, as in files of causal-learn. Otherwise a node has its own name.
func (d *drawing) labels() func(string) string {
	label, distinct := make(map[string]string), make(map[string]bool)
	for _, id := range d.order {
		l := d.nodes[id]["label"]
		if _, err := strconv.ParseUint(id, 10, 32); err != nil || l == "" || strings.Contains(l, `\`) || distinct[l] {
			return func(id string) string { return id }
		}
		label[id], distinct[l] = l, true
	}
	return func(id string) string { return label[id] }
}

// unobserved returns the attribute by which dowhy (observed=no), pgmpy (roles="{'latents'}") or others say that a
// node is not observed, or "".
func (s style) unobserved() string {
	set := func(key string, words ...string) bool { return slices.Contains(words, strings.ToLower(s[key])) }
	switch {
	case set("observed", "no", "false", "0"):
		return "observed"
	case strings.Contains(s["roles"], "'latents'"):
		return "roles"
	}
	for _, key := range []string{"latent", "unobserved", "hidden"} {
		if s[key] != "" && !set(key, "no", "false", "0") {
			return key
		}
	}
	return ""
}

// hidden describes an attribute that hides an edge of the given style or its direction, with a
// remedy. It is empty if there is none.
func (d *drawing) hidden(s style) string {
	const (
		line = " hides the line: want it removed, or style=invis to leave the edge out"
		head = " hides which end is the parent: want it removed"
		turn = " turns the arrow round: want the edge written from parent to child"
		open = " leaves open which end is the parent: want one arrow"
	)
	both := s["dir"] == "both"
	color, page := colorOf(s["color"], "black"), colorOf(d.graph["bgcolor"], "white")
	clear := len(color) == len("#rrggbbaa") && strings.HasPrefix(color, "#") && strings.HasSuffix(color, "00")
	for _, test := range []struct {
		hides bool
		key   string
		why   string
	}{
		{s["dir"] == "back", "dir", turn},
		{both && strings.Contains(s["arrowtail"], "dot"), "arrowtail", open},
		{both && s["arrowtail"] != "none" || s["dir"] == "none", "dir", head},
		{strings.Contains(s["arrowhead"], "inv"), "arrowhead", turn},
		{s["arrowhead"] == "none", "arrowhead", head},
		{strings.Contains(s["arrowhead"], "dot"), "arrowhead", open},
		{zero(s["arrowsize"]), "arrowsize", head},
		{zero(s["penwidth"]), "penwidth", line},
		{s.has("invisible"), "style", line},
		{color == "transparent" || color == "none" || clear, "color", line},
		{color == page, "color", line},
		{s["lhead"] != "", "lhead", " draws the edge to a subgraph: want an edge to each of its nodes"},
		{s["ltail"] != "", "ltail", " draws the edge from a subgraph: want an edge from each of its nodes"},
	} {
		if value := s[test.key]; test.hides && value == "" {
			return "bgcolor=" + Quote(d.graph["bgcolor"]) + line
		} else if test.hides {
			return test.key + "=" + Quote(value) + test.why
		}
	}
	return ""
}

// A style has the attributes of a node, an edge or a graph that Read reads. It is not modified.
type style map[string]string

// read has the names of these attributes.
var read = strings.Fields("arrowhead arrowsize arrowtail bgcolor color dir headlabel hidden label latent lhead ltail " +
	"observed penwidth query roles splines style unobserved")

// with returns the style with the given attributes set, the last of each.
func (s style) with(attrs []*ast.Attr) style {
	out := make(style)
	maps.Copy(out, s)
	for _, a := range attrs {
		if key := unquote(a.Key); slices.Contains(read, key) {
			out[key] = unquote(a.Val)
		}
	}
	return out
}

// has reports whether the style of a node or an edge lists the given one.
func (s style) has(name string) bool {
	return slices.Contains(strings.FieldsFunc(s["style"], func(r rune) bool { return r == ',' || r == ' ' }), name)
}

// colorOf returns the name of a color, or the given name if it is empty.
func colorOf(color, name string) string {
	switch color = strings.ToLower(color); color {
	case "":
		return name
	case "#000000":
		return "black"
	case "#ffffff":
		return "white"
	}
	return color
}

// zero reports whether the value of an attribute is a number that is not positive.
func zero(value string) bool {
	v, err := strconv.ParseFloat(value, 64)
	return err == nil && v <= 0
}

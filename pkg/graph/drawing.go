package graph

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"

	syntax "gonum.org/v1/gonum/graph/formats/dot"
	"gonum.org/v1/gonum/graph/formats/dot/ast"

	"learncausal/internal/text"
)

// Limits on a DOT file. Graphs for training have fewer nodes, and few parents for each.
const (
	maxFile  = 1 << 20
	maxNodes = 1 << 12
	maxEdges = 4 * maxNodes
	maxDepth = 64
)

// readDiagram reads the digraph of a DOT file and numbers its nodes.
func readDiagram(r io.Reader) (*diagram, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("graph: reading DOT: %w", err)
	}
	if len(data) > maxFile {
		return nil, fmt.Errorf("graph: DOT file of more than %d bytes, the limit", maxFile)
	}
	if data, err = text.Decode(data); err != nil {
		return nil, fmt.Errorf("graph: DOT file, %w", err)
	}
	const arrows = `want "digraph", and "->" from parent to child`
	file, err := syntax.ParseBytes(data)
	if err != nil {
		if whole, end := syntax.ParseBytes(append(data, '\n')); end == nil { // a comment needs a line end
			file, err = whole, nil
		}
	}
	if err != nil {
		why := strings.Replace(err.Error(), "one of strict, graphx or digraph", "digraph", 1)
		why = strings.ReplaceAll(why, "graphx", "graph")
		if strings.HasSuffix(why, `got: ","`) {
			why += `; a list of nodes is written {s2 s3}, without commas`
		}
		return nil, errors.New("graph: not valid DOT: " + why)
	}
	if n := len(file.Graphs); n != 1 {
		return nil, fmt.Errorf("graph: DOT file holds %d graphs: want 1", n)
	}
	g := file.Graphs[0]
	if !g.Directed {
		return nil, errors.New("graph: undirected DOT graph: " + arrows)
	}
	d := &drawing{
		strict: g.Strict, nodes: make(map[string]style), known: make(map[[2]string]int), groups: make(map[string][]string),
	}
	d.add(g.Stmts)
	switch {
	case d.excess != "":
		return nil, fmt.Errorf("graph: DOT file with more than %s, the limit", d.excess)
	case d.undirected != nil:
		return nil, fmt.Errorf("graph: undirected DOT edge in %q: %s", d.undirected, arrows)
	}
	if err := d.leaveOut(); err != nil {
		return nil, err
	}
	return d.numbered()
}

// A drawing collects the nodes and edges of DOT statements in the order of the file. It
// replaces dot.Unmarshal, which in "1; 0 -> {1 2}" loses the edge to 1, and every edge to a
// node of a subgraph that occurred before.
type drawing struct {
	strict     bool             // a repeated edge counts once
	order      []string         // of the nodes
	nodes      map[string]style // by name
	edges      []arrow
	known      map[[2]string]int   // the index in edges, if strict
	joined     int                 // number of edges, with the repeated ones
	graph      style               // attributes of the graph
	node, edge style               // defaults of the subgraph
	depth      int                 // of the subgraph
	path       string              // its name after the names of the subgraphs around it
	groups     map[string][]string // the nodes of named subgraphs, by path
	undirected *ast.EdgeStmt       // a statement with an undirected edge, or nil
	excess     string              // the limit that was exceeded; nothing is added after that
}

// An arrow is an edge with its attributes.
type arrow struct {
	from, to string
	style    style
}

// A style has the attributes of a node, an edge or a graph that Read reads. It is not
// modified.
type style map[string]string

// read has the names of these attributes.
var read = []string{
	"arrowhead", "arrowsize", "bgcolor", "color", "dir", "headlabel", "lhead", "ltail", "penwidth", "query",
	"splines", "style",
}

// with returns the style with the given attributes set, the last of each.
func (s style) with(attrs []*ast.Attr) style {
	out := s
	for _, a := range attrs {
		if key := unquote(a.Key); slices.Contains(read, key) {
			out = maps.Clone(out)
			if out == nil {
				out = make(style)
			}
			out[key] = unquote(a.Val)
		}
	}
	return out
}

// add collects the statements and returns their nodes, each once.
func (d *drawing) add(stmts []ast.Stmt) []string {
	defer func(node, edge style) { d.node, d.edge = node, edge }(d.node, d.edge)
	d.depth++
	defer func() { d.depth-- }()
	d.limit(d.depth-1, maxDepth, "nested subgraphs")
	var ids []string
	for _, stmt := range stmts {
		if d.excess != "" {
			return nil
		}
		switch stmt := stmt.(type) {
		case *ast.Attr:
			d.set(ast.GraphKind, []*ast.Attr{stmt})
		case *ast.AttrStmt:
			d.set(stmt.Kind, stmt.Attrs)
		case *ast.NodeStmt:
			id := d.end(stmt.Node)
			d.nodes[id[0]] = d.nodes[id[0]].with(stmt.Attrs)
			ids = append(ids, id...)
		case *ast.Subgraph:
			ids = append(ids, d.end(stmt)...)
		case *ast.EdgeStmt:
			from := d.end(stmt.From)
			ids = append(ids, from...)
			for e := stmt.To; e != nil; e = e.To {
				if !e.Directed {
					d.undirected = stmt
				}
				to := d.end(e.Vertex)
				d.join(from, to, stmt.Attrs)
				ids, from = append(ids, to...), to
			}
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// set sets the defaults of a subgraph, or the attributes of the whole graph.
func (d *drawing) set(kind ast.Kind, attrs []*ast.Attr) {
	switch {
	case kind == ast.NodeKind:
		d.node = d.node.with(attrs)
	case kind == ast.EdgeKind:
		d.edge = d.edge.with(attrs)
	case d.depth == 1:
		d.graph = d.graph.with(attrs)
	}
}

// join collects an edge from each node of from to each node of to.
func (d *drawing) join(from, to []string, attrs []*ast.Attr) {
	d.joined += len(from) * len(to)
	d.limit(d.joined, maxEdges, "edges")
	if d.excess != "" {
		return
	}
	drawn := d.edge.with(attrs)
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
func (d *drawing) end(v ast.Vertex) []string {
	if sub, ok := v.(*ast.Subgraph); ok {
		outer := d.path
		defer func() { d.path = outer }()
		d.path += "/" + unquote(sub.ID)
		ids := d.add(sub.Stmts)
		if sub.ID != "" { // it has the nodes of earlier statements with its name
			ids = append(ids, d.groups[d.path]...)
			slices.Sort(ids)
			ids = slices.Compact(ids)
			d.groups[d.path] = ids
		}
		return ids
	}
	id := unquote(v.(*ast.Node).ID)
	if _, seen := d.nodes[id]; !seen {
		d.nodes[id] = d.node
		d.order = append(d.order, id)
		d.limit(len(d.order), maxNodes, "nodes")
	}
	return []string{id}
}

// limit records an excess if n > most.
func (d *drawing) limit(n, most int, unit string) {
	if n > most && d.excess == "" {
		d.excess = fmt.Sprintf("%d %s", most, unit)
	}
}

// has reports whether the style of a node or an edge lists the given one.
func (s style) has(name string) bool {
	return slices.Contains(strings.FieldsFunc(s["style"], func(r rune) bool { return r == ',' || r == ' ' }), name)
}

// invisible reports whether the style hides a node or an edge as a whole.
func (s style) invisible() bool { return s.has("invis") }

// leaveOut removes the nodes and edges that are not visible. It is an error if attributes hide
// an edge, one of its ends or its direction in another way.
func (d *drawing) leaveOut() error {
	d.edges = slices.DeleteFunc(d.edges, func(a arrow) bool { return a.style.invisible() })
	for _, a := range d.edges {
		for _, id := range []string{a.from, a.to} {
			if d.nodes[id].invisible() {
				return fmt.Errorf("graph: DOT edge %s -> %s: style=invis hides node %s: want both ends visible, or neither end",
					a.from, a.to, id)
			}
		}
		if why := d.hidden(a.style); why != "" {
			return fmt.Errorf("graph: DOT edge %s -> %s: the attribute %s", a.from, a.to, why)
		}
	}
	d.order = slices.DeleteFunc(d.order, func(id string) bool { return d.nodes[id].invisible() })
	if s, set := d.graph["splines"]; set && (s == "" || s == "none") {
		return fmt.Errorf("graph: DOT graph with the attribute splines=%s, which hides all edges: want it removed", quote(s))
	}
	return nil
}

// hidden describes an attribute that hides an edge of the given style or its direction, with a
// remedy. It is empty if there is none.
func (d *drawing) hidden(s style) string {
	const (
		line = " hides the line: want it removed, or style=invis to leave the edge out"
		head = " hides which end is the parent: want it removed"
		turn = " turns the arrow round: want the edge written from parent to child"
	)
	color, page := colorOf(s["color"], "black"), colorOf(d.graph["bgcolor"], "white")
	clear := len(color) == len("#rrggbbaa") && strings.HasPrefix(color, "#") && strings.HasSuffix(color, "00")
	for _, test := range []struct {
		hides bool
		key   string
		why   string
	}{
		{s["dir"] == "back", "dir", turn},
		{s["dir"] == "both" || s["dir"] == "none", "dir", head},
		{strings.Contains(s["arrowhead"], "inv"), "arrowhead", turn},
		{s["arrowhead"] == "none", "arrowhead", head},
		{zero(s["arrowsize"]), "arrowsize", head},
		{zero(s["penwidth"]), "penwidth", line},
		{s.has("invisible"), "style", line},
		{color == "transparent" || color == "none" || clear, "color", line},
		{color == page, "color", line},
		{s["lhead"] != "", "lhead", " draws the edge to a subgraph: want an edge to each of its nodes"},
		{s["ltail"] != "", "ltail", " draws the edge from a subgraph: want an edge from each of its nodes"},
	} {
		if value := s[test.key]; test.hides && value == "" {
			return "bgcolor=" + quote(d.graph["bgcolor"]) + line
		} else if test.hides {
			return test.key + "=" + quote(value) + test.why
		}
	}
	return ""
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

// numbered returns the drawing with its nodes numbered, see [Read].
func (d *drawing) numbered() (*diagram, error) {
	for _, id := range d.order {
		odd := func(r rune) bool { return !unicode.IsPrint(r) }
		if id == "" || strings.HasPrefix(id, "<") || strings.ContainsFunc(id, odd) {
			return nil, fmt.Errorf("graph: DOT node %q: want a name of letters, digits, punctuation and spaces", id)
		}
	}
	names, err := positions(d.order)
	if err != nil {
		return nil, err
	}
	out := &diagram{names: names, places: make(map[[2]int]string)}
	query, named := d.graph["query"]
	if names == nil || named && !(len(names) > 0 && names[len(names)-1] == query) {
		if !named && d.effect(label) {
			query, named = label, true
		}
		out.own, out.named = true, named
		if out.names, err = d.sorted(query, named); err != nil {
			return nil, err
		}
	}
	number := make(map[string]int)
	for i, id := range out.names {
		number[id] = i
	}
	for _, a := range d.edges {
		e := [2]int{number[a.from], number[a.to]}
		out.edges = append(out.edges, e)
		if place := a.style["headlabel"]; place != "" {
			out.places[e] = place
		}
	}
	return out, nil
}

// effect reports whether a node has parents and no child.
func (d *drawing) effect(id string) bool {
	return slices.ContainsFunc(d.edges, func(a arrow) bool { return a.to == id }) &&
		!slices.ContainsFunc(d.edges, func(a arrow) bool { return a.from == id })
}

// sorted returns the nodes in the order of the file, but for two changes: the ancestors of a
// node come before it, and the query, if it is named, is the last node. Otherwise the last
// node without children in the file is the last node.
func (d *drawing) sorted(query string, named bool) ([]string, error) {
	at, parents := make(map[string]int), make(map[string][]string)
	for k, id := range d.order {
		at[id] = k
	}
	for _, a := range d.edges {
		parents[a.to] = append(parents[a.to], a.from)
		if named && a.from == query {
			return nil, fmt.Errorf("graph: DOT node %s has the child %s, and query=%s: want a query without children",
				query, a.to, quote(query))
		}
	}
	if _, known := at[query]; named && !known {
		return nil, fmt.Errorf("graph: DOT graph with query=%s: no node has this name, want one of %s",
			quote(query), strings.Join(shortened(d.order), ", "))
	}
	names, path := make([]string, 0, len(d.order)), []string(nil)
	begun, placed := make(map[string]bool), make(map[string]bool)
	var place func(id string) error
	place = func(id string) error {
		switch {
		case placed[id]:
			return nil
		case begun[id]:
			cycle := slices.Clone(path[slices.Index(path, id):])
			slices.Reverse(cycle)
			return fmt.Errorf("graph: cycle %s -> %s: a node may not be among its own ancestors",
				id, strings.Join(shortened(cycle), " -> "))
		}
		begun[id], path = true, append(path, id)
		slices.SortFunc(parents[id], func(a, b string) int { return at[a] - at[b] })
		for _, p := range parents[id] {
			if err := place(p); err != nil {
				return err
			}
		}
		placed[id], path = true, path[:len(path)-1]
		names = append(names, id)
		return nil
	}
	for _, id := range d.order {
		if !named || id != query {
			if err := place(id); err != nil {
				return nil, err
			}
		}
	}
	if !named {
		return names, nil
	}
	return names, place(query)
}

// shortened returns at most twelve names for an error, the last one among them.
func shortened(names []string) []string {
	if n := len(names); n > 12 {
		return append(slices.Clone(names[:10]), "…", names[n-1])
	}
	return names
}

// dequote replaces the escapes of a string of DOT: a quotation mark, and a line that goes on
// in the next.
var dequote = strings.NewReplacer(`\\`, `\\`, `\"`, `"`, "\\\n", "")

func unquote(id string) string {
	if strings.HasPrefix(id, `"`) {
		return dequote.Replace(id[1 : len(id)-1])
	}
	return id
}

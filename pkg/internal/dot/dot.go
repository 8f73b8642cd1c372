// Package dot reads and writes digraphs in DOT, the language of Graphviz.
package dot

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"gonum.org/v1/gonum/graph/formats/dot"

	"learncausal/internal/files"
)

// A Graph is a digraph with named nodes.
type Graph struct {
	Query string   // the attribute query of the graph, or empty
	Nodes []string // in the order of the file
	Edges []Edge
}

// An Edge leads from a node to a node.
type Edge struct {
	From, To string
	Place    string // the attribute headlabel, or empty
}

// Limits on a file. Graphs for training have fewer nodes, and few parents for each.
const (
	maxFile  = 1 << 20
	maxNodes = 1 << 12
	maxEdges = 4 * maxNodes
	maxDepth = 64
)

const arrows = `want "digraph", and "->" from parent to child`

// Read reads a file that holds one digraph. Subgraphs are expanded, and an edge repeated in a
// strict digraph counts once. Edges and nodes of style invis are left out. It is an error if
// any other attribute hides an edge or its direction, or says that a node is not observed.
func Read(r io.Reader) (*Graph, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("reading DOT: %w", err)
	}
	if len(data) > maxFile {
		return nil, fmt.Errorf("DOT file of more than %d bytes, the limit", maxFile)
	}
	if data, err = files.Decode(data); err != nil {
		return nil, fmt.Errorf("DOT file, %w", err)
	}
	if why := foreign(string(data)); why != "" {
		return nil, errors.New("not DOT but " + why)
	}
	file, err := dot.ParseBytes(data)
	if err != nil {
		if whole, end := dot.ParseBytes(append(data, '\n')); end == nil { // a comment needs a line end
			file, err = whole, nil
		}
	}
	if err != nil {
		why := strings.Replace(err.Error(), "one of strict, graphx or digraph", "digraph", 1)
		why = strings.ReplaceAll(why, "graphx", "graph")
		if strings.HasSuffix(why, `got: ","`) {
			why += `; a list of nodes is written {s2 s3}, without commas`
		}
		return nil, errors.New("not valid DOT: " + why)
	}
	if n := len(file.Graphs); n != 1 {
		return nil, fmt.Errorf("DOT file holds %d graphs: want 1", n)
	}
	g := file.Graphs[0]
	if !g.Directed {
		return nil, errors.New("undirected DOT graph: " + arrows)
	}
	d := &drawing{
		strict: g.Strict, nodes: make(map[string]style), known: make(map[[2]string]int), groups: make(map[string][]string),
	}
	if d.add(scope{}, g.Stmts); d.err != nil {
		return nil, d.err
	}
	return d.visible()
}

// foreign describes a file in the language of another program, and its conversion. It is empty for other files.
func foreign(text string) string {
	const (
		networkx = ": in Python, networkx.nx_pydot.write_dot(networkx.read_%s(FILE), \"graph.dot\") converts it"
		pgmpy    = ": in Python, networkx.nx_pydot.write_dot(networkx.DiGraph(" +
			"pgmpy.readwrite.%sReader(FILE).get_model().edges), \"graph.dot\") converts it"
	)
	text = regexp.MustCompile(`^(\s|#.*|//.*|%.*|/\*[\s\S]*?\*/)+`).ReplaceAllString(text, "") // comments
	for _, f := range []struct{ begin, what string }{
		{`(dag|pdag|mag|pag)\s*("[^"]*"\s*)?\{`, `dagitty: want "digraph" for its first word, and no attributes in brackets`},
		{`<[\s\S]*<smile`, "XDSL of GeNIe" + fmt.Sprintf(pgmpy, "XDSL")},
		{`<smile`, "XDSL of GeNIe" + fmt.Sprintf(pgmpy, "XDSL")},
		{`<[\s\S]*<BIF|<BIF`, "XMLBIF" + fmt.Sprintf(pgmpy, "XMLBIF")},
		{`<\?xml|<graphml`, "XML" + fmt.Sprintf(networkx, "graphml")},
		{`(Creator\s.*\s+|Version\s.*\s+)*graph\s*\[`, "GML" + fmt.Sprintf(networkx, "gml")},
		{`network\s+\S+\s*\{`, `BIF: in R with bnlearn, write.dot("graph.dot", read.bif(FILE)) converts it`},
		{`(graph|flowchart)\s+(TD|TB|BT|RL|LR)\b`, `mermaid: want digraph { a -> b } for a --> b`},
		{`\[[^][{}"]+\]\s*\[`, `a formula of bnlearn: in R, write.dot("graph.dot", model2network(FORMULA)) converts it`},
		{`Graph (Nodes|Attributes):`, `the text of Tetrad: in causal-learn, GraphUtils.to_pydot(GRAPH).write("graph.dot") converts the graph`},
		{`[[{]\s*["[{\d}\]]`, `JSON: in Python, networkx.nx_pydot.write_dot(networkx.node_link_graph(json.load(open(FILE))), "graph.dot") ` +
			"converts a graph of networkx"},
		{`(?i:strict|digraph|graph)\b`, ""},
		{`[^\n{}]*[,;\t][^\n{}]*(\n|$)`, "a table: want digraph { a -> b; b -> c }, with an arrow from each parent to each child"},
	} {
		if regexp.MustCompile(`^(` + f.begin + `)`).MatchString(text) {
			return f.what
		}
	}
	return ""
}

// Write writes the query, the nodes and the edges. The graph determines the bytes.
func (g *Graph) Write(w io.Writer) error {
	var b bytes.Buffer
	b.WriteString("strict digraph {\n")
	if g.Query != "" {
		fmt.Fprintf(&b, "\tquery=%s;\n\n", Quote(g.Query))
	}
	b.WriteString("\t// Node definitions.\n")
	for _, id := range g.Nodes {
		fmt.Fprintf(&b, "\t%s;\n", Quote(id))
	}
	if len(g.Edges) > 0 {
		b.WriteString("\n\t// Edge definitions.\n")
	}
	for _, e := range g.Edges {
		place := ""
		if e.Place != "" {
			place = " [headlabel=" + Quote(e.Place) + "]"
		}
		fmt.Fprintf(&b, "\t%s -> %s%s;\n", Quote(e.From), Quote(e.To), place)
	}
	b.WriteString("}\n")
	_, err := w.Write(b.Bytes())
	return err
}

// bare matches the names that DOT takes without quotation marks.
var bare = regexp.MustCompile(`^([A-Za-z_][A-Za-z_0-9]*|[0-9]+)$`)

// Quote returns a name in the syntax of DOT. Names of other characters, and the keywords of
// DOT, have quotation marks.
func Quote(name string) string {
	switch strings.ToLower(name) {
	case "node", "edge", "graph", "digraph", "subgraph", "strict":
	default:
		if bare.MatchString(name) {
			return name
		}
	}
	return `"` + strings.ReplaceAll(name, `"`, `\"`) + `"`
}

// dequote replaces the escapes of a string of DOT: a quotation mark, and a line that goes on in the next.
var dequote = strings.NewReplacer(`\\`, `\\`, `\"`, `"`, "\\\n", "")

func unquote(id string) string {
	if strings.HasPrefix(id, `"`) {
		return dequote.Replace(id[1 : len(id)-1])
	}
	return id
}

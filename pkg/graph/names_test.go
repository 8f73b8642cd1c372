package graph

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// summary describes what Read returns: parents and names.
func summary(text string) string {
	f, g, names, err := Read(strings.NewReader(text))
	switch {
	case err != nil:
		return err.Error()
	case g != nil:
		return fmt.Sprintf("%v %s", g.Parents(), strings.Join(names, ","))
	}
	return fmt.Sprintf("%v %s", f, strings.Join(names, ","))
}

func TestReadKeepsTheNamesOfTheNodes(t *testing.T) {
	for text, want := range map[string]string{
		// The names of positions are no names.
		"digraph { s1 -> s2; s3 }":             "[-1 0 -1] ",
		"digraph { 0 -> 1; 2 }":                "[-1 0 -1] ",
		"digraph { {0 1} -> y }":               "[[] [] [0 1]] ",
		"digraph { query=s3; s1 -> s2; s3 }":   "[-1 0 -1] ",
		"digraph { query=y; y; s1 -> s2 -> y}": "[[] [0] [1]] ",
		// Task 1: the last node is isolated.
		"digraph { rain -> wet; query }":              "[-1 0 -1] rain,wet,query",
		"digraph { wet; rain -> wet; q }":             "[-1 0 -1] rain,wet,q",
		"digraph { wet; fog; rain -> wet }":           "[-1 0 -1] rain,wet,fog",
		"digraph { c -> d; a -> b; b -> c; q }":       "[-1 0 1 2 -1] a,b,c,d,q",
		"digraph { 1 -> 2; 3 }":                       "[-1 0 -1] 1,2,3",
		"digraph { s0 -> s1; s2 }":                    "[-1 0 -1] s0,s1,s2",
		"digraph { 0 -> s2; 2 }":                      "[-1 0 -1] 0,s2,2",
		"digraph { 10 -> 0.5; -3 }":                   "[-1 0 -1] 10,0.5,-3",
		"digraph { graph [query=q]; q; a -> b }":      "[-1 0 -1] a,b,q",
		"digraph { a -> b; subgraph { query=b; c } }": "[-1 0 -1] a,b,c",
		// of the subgraph, not of the graph
		"digraph { query=s2; s1 -> s3; s2 }":                                "[-1 0 -1] s1,s3,s2",
		`digraph { "Łódź"; Łódź -> "à la carte"; "a \"b\"" }`:               `[-1 0 -1] Łódź,à la carte,a "b"`,
		"digraph { \"sp\\\nlit\" -> \"node\"; split; \" q \" }":             `[-1 0 -1] split,node,q`,
		"digraph { x -> y -> z; q }":                                        "[-1 0 1 -1] x,y,z,q", // y has a child
		"digraph { subgraph A {a}; subgraph A {b}; r -> subgraph A {}; q }": "[-1 0 0 -1] r,a,b,q",
		"digraph { subgraph A {a}; {subgraph A {}} -> b; q }":               "[-1 -1 -1] a,b,q", // a different A
		// Task 2.
		"digraph { {rain sprinkler} -> wet }":                                          "[[] [] [0 1]] rain,sprinkler,wet",
		"digraph { wet; sprinkler; rain; {rain sprinkler} -> wet}":                     "[[] [] [0 1]] sprinkler,rain,wet",
		"digraph { {s1 s2} -> Y }":                                                     "[[] [] [0 1]] s1,s2,Y",
		"digraph { query=b; a -> b; c }":                                               "[[] [] [0]] a,c,b",
		"digraph { y; a -> y; c }":                                                     "[[] [] [0]] a,c,y",
		"digraph { query=c; a -> y; c }":                                               "[-1 0 -1] a,y,c",
		"digraph { {a b} -> c; a -> d [headlabel=2]; c -> d [headlabel=1] }":           "[[] [] [0 1] [2 0]] a,b,c,d",
		"strict digraph {\nrain;\nwind;\nwet;\nrain -> wind;\n{rain wind} -> wet\n}\n": "[[] [0] [0 1]] rain,wind,wet",
	} {
		if got := summary(text); got != want {
			t.Errorf("%s\n\tis  %s\n\twant %s", text, got, want)
		}
	}
}

func TestReadNamesTheNodesOfAFault(t *testing.T) {
	for text, want := range map[string]string{
		"{a b} -> c [headlabel=1]; c -> d": `edge b -> c: headlabel "1": number the edges to c 1..2`,
		"rain -> wet -> rain; q":           "cycle rain -> wet -> rain: a node may not be among its own ancestors",
		"q; rain -> rain":                  "cycle rain -> rain: ",
		"query=a; a -> b; c":               "DOT node a has the child b, and query=a: want a query without children",
		"query=d; a -> b; c":               "DOT graph with query=d: no node has this name, want one of a, b, c",
		`"" -> b; c`:                       `DOT node "": want a name with a letter or a digit`,
		`" " -> b; c`:                      `DOT node " ": want a name with a letter or a digit`,
		`"-" -> b; c`:                      `DOT node "-": want a name with a letter or a digit`,
		`s1; s2; "\n"; s1 -> s2`:           `DOT node "\n": want a name without \`,
		`"a\lb" -> b; c`:                   `DOT node "a\lb": want a name without \`,
		`X_1 -> X_2; "X_2 " -> X_3`:        `DOT nodes "X_2" and "X_2 " look the same: want one spelling`,
		"\u00e9 -> b; e\u0301 -> c":        `DOT nodes "\u00e9" and "e\u0301" look the same`,
		"rain -> wet; r\u0430in -> c":      `DOT nodes "rain" and "r\u0430in" look the same`,
		"\uff21 -> b; A -> c":              `DOT nodes "\uff21" and "A" look the same`,
		`"a b" -> b; "a  b" -> c`:          `DOT nodes "a b" and "a  b" look the same`,
		"a\u200b -> b; c":                  `DOT node "a\u200b": want a name of letters`,
		"<b> -> b; c":                      `DOT node "<b>": want a name of letters`,
		"q; rain -> wet":                   "query wet: query=NAME in the graph names a different query",
		"{a b} -> c -> \"d e\"; q":         `edge b -> c: two parents: c already has the parent a`,
		"{a b} -> \"d e\"; q":              "two parents",
		"query=q; {a b} -> c; q":           "edge b -> c: two parents: c already has the parent a",
		"a -> b; a -> b; c":                "edge a -> b: duplicate edge: give each edge once",
		"s1 -> s3; s2 -> s3; s4":           "read as Task 1 as it has no node y",
	} {
		if got := summary("digraph { " + text + " }"); !strings.HasPrefix(got, "graph: ") || !strings.Contains(got, want) {
			t.Errorf("%s\n\tis  %s\n\twant %s", text, got, want)
		}
	}
}

func TestReadOmitsInvisibleEdges(t *testing.T) {
	for text, want := range map[string]string{
		"digraph { rankdir=LR; s1 -> s2 -> s3 -> s4 [style=invis]; {s1 s3} -> y }":                    "[[] [] [] [] [0 2]] ",
		"digraph { edge [style=invis]; s1 -> s2 -> s3; edge [style=\"\"]; s1 -> s2; s4 }":             "[-1 0 -1 -1] ",
		"digraph { {edge [style=invis] s1 -> s2} s2 -> s3; s4 }":                                      "[-1 -1 1 -1] ",
		"digraph { edge [style=invis]; s1 -> s2; s2 -> s3 [style=\"bold,dashed\"]; s4 }":              "[-1 -1 1 -1] ",
		"digraph { s1 -> s2 [style=\"bold, invis\"]; s1 -> s3; s4 }":                                  "[-1 -1 0 -1] ",
		"strict digraph { s1 -> s2; s1 -> s2 [style=invis]; s3 }":                                     "[-1 -1 -1] ",
		"digraph { s1 -> s2; s1 -> s2 [style=invis]; s3 }":                                            "[-1 0 -1] ",
		"digraph { a -> b; spacer [style=invis]; b -> spacer -> c [style=invis]; c }":                 "[-1 0 -1] a,b,c",
		"digraph { node [style=invis]; x; node [style=filled]; s1 -> s2; s3 }":                        "[-1 0 -1] ",
		"digraph { s1; subgraph { node [style=invis]; s1 -> s2; s2 [style=filled] } s3 }":             "[-1 0 -1] ",
		"digraph { bgcolor=black; edge [color=white, constraint=false, dir=forward]; s1 -> s2; s3 }":  "[-1 0 -1] ",
		"digraph { subgraph cluster { style=invis; s1 -> s2 } s3 }":                                   "[-1 0 -1] ",
		"digraph { splines=ortho; s1 -> s2 [arrowtail=none, penwidth=0.5, color=\"#ff000080\"]; s3 }": "[-1 0 -1] ",
	} {
		if got := summary(text); got != want {
			t.Errorf("%s\n\tis   %s\n\twant %s", text, got, want)
		}
	}
	for text, want := range map[string]string{
		"s1 -> s2 [dir=back]; s3":                         "edge s1 -> s2: the attribute dir=back turns the arrow round",
		"s1 -> s2 [\"dir\"=\"both\"]; s3":                 "edge s1 -> s2: the attribute dir=both hides which end",
		"edge [dir=none]; s1 -> s2; s3":                   "edge s1 -> s2: the attribute dir=none hides which end",
		"{edge [dir=back]; {s1 -> s2}} s3":                "edge s1 -> s2: the attribute dir=back",
		"s1 -> s2 [arrowhead=none]; s3":                   "edge s1 -> s2: the attribute arrowhead=none",
		"s1 -> s2 [arrowsize=0.0]; s3":                    `edge s1 -> s2: the attribute arrowsize="0.0"`,
		"s1 -> s2 [penwidth=0]; s3":                       "edge s1 -> s2: the attribute penwidth=0 hides the line",
		"s1 -> s2 [color=Transparent]; s3":                "edge s1 -> s2: the attribute color=Transparent hides the line",
		"s1 -> s2 [color=\"#12345600\"]; s3":              `edge s1 -> s2: the attribute color="#12345600" hides the line`,
		"s1 -> s2 [color=white]; s3":                      "edge s1 -> s2: the attribute color=white hides the line",
		"s1 -> s2 [style=\"bold,invisible\"]; s3":         `edge s1 -> s2: the attribute style="bold,invisible" hides`,
		"s1 -> s2 [arrowhead=oinv]; s3":                   "edge s1 -> s2: the attribute arrowhead=oinv turns",
		"bgcolor=\"#000000\"; s1 -> s2; s3":               `edge s1 -> s2: the attribute bgcolor="#000000" hides the line`,
		"bgcolor=red; edge [color=Red]; s1 -> s2; s3":     "edge s1 -> s2: the attribute color=Red hides the line",
		"bgcolor=white; s1 -> s2 [color=\"#FFFFFF\"]; s3": `edge s1 -> s2: the attribute color="#FFFFFF" hides the line`,
		"s1 -> s2 [lhead=cluster_a]; s3":                  "edge s1 -> s2: the attribute lhead=cluster_a",
		"s1 -> s2 [ltail=cluster_a]; s3":                  "edge s1 -> s2: the attribute ltail=cluster_a",
		"s1 -> s2; s2 [style=invis]; s3":                  "edge s1 -> s2: style=invis hides node s2",
		"graph [splines=none]; s1 -> s2; s3":              "graph with the attribute splines=none, which hides all edges",
		"splines=\"\"; s1 -> s2; s3":                      `graph with the attribute splines="", which hides all edges`,
	} {
		if got := summary("digraph { " + text + " }"); !strings.HasPrefix(got, "graph: DOT "+want) {
			t.Errorf("%s\n\tis   %s\n\twant graph: DOT %s", text, got, want)
		}
	}
}

func TestReadNamesUnsupportedGraphviz(t *testing.T) {
	const arrows = `want "digraph", and "->" from parent to child`
	for text, want := range map[string]string{
		"digraph { s1 -> s2, s3 }":        `got: ","; a list of nodes is written {s2 s3}, without commas`,
		"digraph { s1, s2 -> s3 }":        `got: ","; a list of nodes is written {s2 s3}, without commas`,
		"graph { a -- b }":                "graph: undirected DOT graph: " + arrows,
		"strict graph { a -- b; c }":      "graph: undirected DOT graph: " + arrows,
		"digraph {\n\n\"caf\xe9\" -> b }": `graph: DOT file, line 3: the byte 0xe9, 'é' in Latin-1: want the file saved as UTF-8`,
	} {
		if got := summary(text); !strings.HasSuffix(got, want) {
			t.Errorf("%q is %s, want %s", text, got, want)
		}
	}
	for _, text := range []string{
		"digraph { s1 -> s2; s3 } // end", "digraph { s1 -> s2; s3 }\n# end", "digraph { s1 -> s2 // y\r s3 }",
		"\xff\xfed\x00i\x00g\x00r\x00a\x00p\x00h\x00{\x000\x00-\x00>\x001\x00 \x002\x00}\x00\r\x00\n\x00",
		"digraph {\u00a0s1\u00a0-> s2; s3 }\x00",
	} {
		if got := summary(text); got != "[-1 0 -1] " {
			t.Errorf("%q is %s", text, got)
		}
	}
}

// The files in testdata were written by causal-learn 0.1.4.8, networkx 3.6.1 with pydot 4.0.1, and pgmpy 1.1.2.
func TestReadFilesOfOtherPrograms(t *testing.T) {
	for file, want := range map[string]string{
		"causallearn-pc.dot":         "[[] [] [0 1] [2]] rain,sprinkler,wet,slip",
		"causallearn-fci.dot":        "graph: DOT edge 0 -> 2: the attribute arrowtail=odot leaves open",
		"causallearn-undirected.dot": "graph: DOT edge 0 -> 1: the attribute arrowhead=none hides which end is the parent",
		"causallearn-tetrad.txt":     "graph: not DOT but the text of Tetrad: in causal-learn, GraphUtils.to_pydot",
		"networkx.dot":               "[[] [] [0 1] [2]] rain,sprinkler,wet,slip",
		"networkx-observed.dot":      "graph: DOT node rain: the attribute observed=no says that it is not observed",
		"networkx-undirected.dot":    "graph: undirected DOT graph: want",
		"networkx.gml":               "graph: not DOT but GML: in Python, networkx.nx_pydot.write_dot(networkx.read_gml(",
		"networkx.graphml":           "graph: not DOT but XML: in Python, networkx.nx_pydot.write_dot(networkx.read_graphml(",
		"pgmpy.dot":                  `graph: DOT node U: the attribute roles="{'latents'}" says that it is not observed`,
		"pgmpy-dagitty.txt":          `graph: not DOT but dagitty: want "digraph" for its first word`,
	} {
		text, err := os.ReadFile(filepath.Join("testdata", file))
		if got := summary(string(text)); err != nil || !strings.HasPrefix(got, want) {
			t.Errorf("%s: %v\n\tis   %s\n\twant %s", file, err, got, want)
		}
	}
	for text, want := range map[string]string{
		"[A][B|A][C|A:B]":                                                  "not DOT but a formula of bnlearn",
		"// of R, 2024\n/* x */ dag {\na -> b }":                           "not DOT but dagitty",
		"# networkx, by hand\ngraph [\n node [":                            "not DOT but GML",
		"Creator \"x\"\nVersion 1\ngraph\n[":                               "not DOT but GML",
		"Graph Attributes:\nBIC: -3":                                       "not DOT but the text of Tetrad",
		`{"nodes": [{"id": "a"}]}`:                                         "not DOT but JSON",
		"[[0, 1], [0, 0]]":                                                 "not DOT but JSON",
		"network asia {\n}":                                                "not DOT but BIF",
		"%% mine\nflowchart LR\n a --> b":                                  "not DOT but mermaid",
		"graph TD; a-->b":                                                  "not DOT but mermaid",
		"from,to\na,b\n":                                                   "not DOT but a table",
		"<?xml version=\"1.0\"?>\n<smile version=\"1\">":                   "not DOT but XDSL of GeNIe: in Python",
		"<?xml version=\"1.0\"?>\n<BIF>":                                   "not DOT but XMLBIF",
		"// a, b\nstrict digraph \"x, y\"\n{ 0 -> 1; 2 }":                  "[-1 0 -1] ",
		"digraph { a -> b [arrowhead=odot]; c }":                           "the attribute arrowhead=odot leaves open",
		"digraph { a -> b [arrowhead=dotvee]; c }":                         "the attribute arrowhead=dotvee leaves open",
		"digraph { a [latent=yes]; a -> b }":                               "DOT node a: the attribute latent=yes says",
		"digraph { a -> b [dir=both, arrowtail=none, arrowhead=odot]; c }": "the attribute arrowhead=odot leaves open",

		"digraph { 0 [label=a]; 1 [label=a]; 0 -> 1; 2 [label=c] }":                     "[-1 0 -1] ",
		"digraph { 0 [label=a, observed=yes]; 1 [label=\"\\N\"]; 0 -> 1; 2 [label=c] }": "[-1 0 -1] ",
	} {
		if got := strings.TrimPrefix(summary(text), "graph: "); !strings.Contains(got, want) {
			t.Errorf("%s\n\tis   %s\n\twant %s", text, got, want)
		}
	}
}

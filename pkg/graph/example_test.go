package graph_test

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"learncausal/pkg/graph"
)

// The graph of the paper's Figure 1, as a list of parents. The last position is
// the query.
func ExampleNew() {
	f, err := graph.New([]int{graph.Root, 0, 0, 1, 2, graph.Root})
	if err != nil {
		panic(err)
	}
	fmt.Println(f.Edges(), "roots", f.Roots(), "leaves", f.Leaves())
	fmt.Println("d(3, 4) =", f.Distance(3, 4), "T_eff =", f.TEff())

	_, err = graph.New([]int{graph.Root, 2, 1, graph.Root})
	fmt.Println(err)
	// Output:
	// [[0 1] [0 2] [1 3] [2 4]] roots [0 5] leaves [3 4 5]
	// d(3, 4) = 4 T_eff = 3
	// graph: edge 2 -> 1: a parent must come before its child
}

// A function of the position defines a family.
func ExampleGrow() {
	fmt.Println(graph.Grow(8, func(i int) int { return i / 3 }))
	fmt.Println(graph.Grow(8, rand.New(rand.NewPCG(1, 1)).IntN))
	// Output:
	// [-1 0 0 1 1 1 2 -1]
	// [-1 0 1 2 0 1 5 -1]
}

func ExampleFamilies() {
	for _, family := range graph.Families() {
		f := family.New(64)
		fmt.Printf("%-12s T_eff = %5.2f\n", family.Name, f.TEff())
	}
	// Output:
	// chain        T_eff = 64.00
	// in-context   T_eff = 64.00
	// spider       T_eff =  8.00
	// binary tree  T_eff =  2.00
	// star         T_eff =  1.03
}

// The nodes of a Graphviz file may have any names.
func ExampleRead() {
	_, g, names, err := graph.Read(strings.NewReader("digraph { {rain sprinkler} -> wet }"))
	if err != nil {
		panic(err)
	}
	fmt.Println(g.Parents(), names)
	// Output:
	// [[] [] [0 1]] [rain sprinkler wet]
}

// A graph can be read from a Graphviz file.
func ExampleReadForest() {
	f, err := graph.ReadForest(strings.NewReader("digraph { s1 -> s2; s2 -> s4; s3; s5 }"))
	if err != nil {
		panic(err)
	}
	fmt.Println(f)
	// Output:
	// [-1 0 -1 1 -1]
}

// Nodes 2 and 3 have two parents each; node 3 is the label.
func ExampleNewDAG() {
	g, err := graph.NewDAG([][]int{{}, {}, {0, 1}, {1, 2}})
	if err != nil {
		panic(err)
	}
	k, err := g.Uniform()
	fmt.Println(g.T(), "positions,", k, "parents,", err)
	// Output:
	// 3 positions, 2 parents, <nil>
}

package exact_test

import (
	"fmt"

	"learncausal/paper/exact"
	"learncausal/pkg/graph"
)

func ExampleStationary() {
	mu, err := exact.Stationary(exact.Rats("7/10 3/10; 1/5 4/5"))
	fmt.Println(mu.Strings(), err)
	// Output:
	// [2/5 3/5] <nil>
}

// On the edge 0 -> 1 the idealized gradient is the chi-squared information of
// the pair, and it is smaller for a pair that is farther apart.
func ExampleG() {
	pi := exact.Rats("7/10 3/10; 1/5 4/5")
	g := graph.Chain(5)
	fmt.Println(exact.G(pi, g, 1, 0), exact.ChiSquaredInformation(exact.Joint(pi, g, 1, 0)))
	fmt.Println(exact.G(pi, g, 2, 0), exact.G(pi, g, 3, 0))
	// Output:
	// 1/4 1/4
	// 1/8 1/16
}

// The probability that the first two tokens of a chain differ.
func ExampleSequences() {
	sum := exact.Int(0)
	for x, p := range exact.Sequences(graph.Chain(3), exact.Rats("7/10 3/10; 1/5 4/5")) {
		if x[0] != x[1] {
			sum = exact.Add(sum, p)
		}
	}
	fmt.Println(sum.RatString())
	// Output:
	// 6/25
}

// An inequality with irrational sides is decided by enclosures: e < 193/71.
func ExampleInterval_AtMost() {
	e := exact.Point(exact.Int(1)).Exp()
	fmt.Println(e.AtMost(exact.Point(exact.Frac(193, 71))))
	fmt.Println(e.AtMost(exact.Point(exact.Frac(1264, 465))))
	// Output:
	// certainly
	// certainly not
}

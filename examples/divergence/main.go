// A divergence of your own: Jeffreys', f(z) = (z-1) log z. Its information is largest at the parent, so that
// Algorithm 2, the oracle, finds the graph.
package main

import (
	"fmt"
	"math"

	"learncausal/pkg/graph"
	"learncausal/pkg/markov"
	"learncausal/pkg/nb"
	"learncausal/pkg/theory"
)

func main() {
	jeffreys := theory.NewDivergence("Jeffreys", func(d float64) float64 { return d * math.Log1p(d) }, math.Inf(1))
	prior := nb.Must(markov.NewOrbit(3, []float64{0.6, 0.3, 0.1, 0.2, 0.1, 0.7, 0.45, 0.25, 0.3}))
	g := graph.MustNew(-1, 0, 1, 0, -1)
	info := theory.Information(jeffreys, prior, g)
	fmt.Printf("information of position 2 with positions 0 and 1: %.3f and %.3f\n", info.At(2, 0), info.At(2, 1))
	fmt.Println("the oracle finds", theory.Oracle(info, make([]float64, g.T())).Parents(), "of", g.Parents())
	// Output:
	// information of position 2 with positions 0 and 1: 0.000 and 0.286
	// the oracle finds [-1 0 1 0 -1] of [-1 0 1 0 -1]
}

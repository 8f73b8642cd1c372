package theory_test

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"learncausal/pkg/graph"
	"learncausal/pkg/markov"
	"learncausal/pkg/theory"
)

// orbit returns a prior that meets the paper's assumptions: uniform over the
// relabelings of a matrix of trace one.
func orbit() *markov.Finite {
	prior, err := markov.NewOrbit(3, []float64{0.6, 0.3, 0.1, 0.2, 0.1, 0.7, 0.5, 0.2, 0.3})
	if err != nil {
		panic(err)
	}
	return prior
}

// Mutual information falls with the distance, so the oracle finds the graph.
func ExampleOracle() {
	g := graph.Figure1()
	info := theory.Information(theory.ChiSquared, orbit(), g)
	fmt.Printf("I(3;1) = %.3f, I(3;0) = %.3f, I(3;2) = %.3f\n", info.At(3, 1), info.At(3, 0), info.At(3, 2))
	fmt.Println(theory.Oracle(info, make([]float64, g.T())), "is", g)
	// Output:
	// I(3;1) = 0.268, I(3;0) = 0.001, I(3;2) = 0.000
	// [-1 0 0 1 2 -1] is [-1 0 0 1 2 -1]
}

// An expectation over the prior, in the paper, is a mean over its
// chains.
func ExampleMean() {
	c := theory.MustChain([]float64{0.7, 0.3, 0.2, 0.8}, 2)
	fmt.Printf("mu = %.2f, lambda = %.2f, |B|^2 = %.2f\n", c.Mu, c.Lambda(), c.FrobeniusSquared())
	fmt.Printf("E |B|^2 = %.3f\n", theory.Mean(orbit(), (*theory.Chain).FrobeniusSquared))
	// Output:
	// mu = [0.40 0.60], lambda = 0.50, |B|^2 = 0.25
	// E |B|^2 = 0.268
}

// Stage 1 of Algorithm 1 on a spider of 32 positions, with the exact gradient in
// the limit of small beta0: the attention of each child goes to its parent, that
// of the roots stays spread out.
func ExampleAlgorithm1() {
	g, prior := graph.FamilyNamed("spider").New(32), orbit()
	ghat, err := theory.GHat(g, prior, 1/math.Sqrt(g.TEff()), theory.QueryApart)
	if err != nil {
		panic(err)
	}
	set := theory.Settings{Beta0: 1e-3, Rate1: 96 / 1e-3, Rate2: 1, Tau1: 10000, Alpha: 1. / 32, Every: 10000}
	still := func(m *theory.Reduced, _ *mat.Dense) (*mat.Dense, float64, float64) {
		return mat.NewDense(m.S, m.S, nil), 0, 0
	}
	run, err := theory.Algorithm1(set, g, 3, theory.LimitStage(ghat, set.Beta0), still)
	if err != nil {
		panic(err)
	}
	first, last := run.Points[0].Rows, run.Points[1].Rows
	fmt.Printf("attention of position 30 on its parent: %.3f, after %d steps %.3f\n",
		first[30].Parent, run.Tau1, last[30].Parent)
	fmt.Printf("drift of the query from the uniform attention: %.3f\n", last[31].Drift)
	// Output:
	// attention of position 30 on its parent: 0.032, after 611 steps 0.969
	// drift of the query from the uniform attention: 0.007
}

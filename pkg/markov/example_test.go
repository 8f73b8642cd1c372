package markov_test

import (
	"fmt"

	"learncausal/pkg/markov"
	"learncausal/pkg/num"
)

func ExampleStationary() {
	mu := make([]float64, 2)
	err := markov.Stationary(mu, []float64{0.7, 0.3, 0.2, 0.8})
	fmt.Printf("%.2f %v\n", mu, err)

	err = markov.Stationary(mu, []float64{1, 0, 0, 1})
	fmt.Println(err)
	// Output:
	// [0.40 0.60] <nil>
	// markov: the chain is reducible and has no unique stationary measure
}

// The prior of the paper's experiments: nearly deterministic rows.
func ExampleParsePrior() {
	prior, err := markov.ParsePrior("dirichlet(0.1)", 3)
	if err != nil {
		panic(err)
	}
	pi, mu := make([]float64, 9), make([]float64, 3)
	prior.Draw(pi, mu, num.Stream(1, "example"))
	for s := range 3 {
		fmt.Printf("pi(.|%d) = %.3f\n", s, pi[3*s:3*s+3])
	}
	fmt.Printf("mu = %.3f\n", mu)
	// Output:
	// pi(.|0) = [0.763 0.140 0.097]
	// pi(.|1) = [0.002 0.704 0.294]
	// pi(.|2) = [0.007 0.000 0.993]
	// mu = [0.028 0.014 0.958]
}

// Averages over a prior of finite support are sums: the relabelings of one matrix
// over two states are two.
func ExampleNewOrbit() {
	prior, err := markov.NewOrbit(2, []float64{0.7, 0.3, 0.2, 0.8})
	if err != nil {
		panic(err)
	}
	for k, pi := range prior.Pi {
		fmt.Printf("%.2f of %v with mu = %.1f\n", prior.Weight[k], pi, prior.Mu[k])
	}
	// Output:
	// 0.50 of [0.7 0.3 0.2 0.8] with mu = [0.4 0.6]
	// 0.50 of [0.8 0.2 0.3 0.7] with mu = [0.6 0.4]
}

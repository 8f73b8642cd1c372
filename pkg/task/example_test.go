package task_test

import (
	"context"
	"fmt"

	"learncausal/pkg/graph"
	"learncausal/pkg/markov"
	"learncausal/pkg/num"
	"learncausal/pkg/task"
)

// How well the next token can be predicted, and how much the roots add that the
// edges do not.
func Example() {
	prior, err := markov.NewDirichlet(3, 0.1)
	if err != nil {
		panic(err)
	}
	t := task.Task{Graph: graph.InContext(20), Prior: prior}
	b := t.NewBatch(1000)
	t.NewSampler().Fill(b, num.Stream(1, "example"))
	x, y := b.Seq(2)
	fmt.Printf("%v, then %.2f\n", x, y)

	edges := task.Losses(b, func(fhat []float64, x []int) {
		task.PosteriorGivenEdges(fhat, t.Graph, prior.Alpha, x)
	})
	bayes, err := task.BayesRisk(context.Background(), t, b, 100, 1, nil)
	if err != nil {
		panic(err)
	}
	fmt.Printf("given the edges %.3f, Bayes %.3f nats\n", num.Average(edges).Mean, bayes.Mean)
	// Output:
	// [2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 0], then [0.02 0.98 0.00]
	// given the edges 0.640, Bayes 0.596 nats
}

// The law of Task 1 by enumeration: the probability that the first two tokens of
// a Markov chain are equal, 0.4 0.7 + 0.6 0.8.
func ExampleTask_Enumerate() {
	prior, err := markov.NewOrbit(2, []float64{0.7, 0.3, 0.2, 0.8})
	if err != nil {
		panic(err)
	}
	t := task.Task{Graph: graph.Chain(4), Prior: prior}
	all, err := t.Enumerate(prior.Pi[0], prior.Mu[0])
	if err != nil {
		panic(err)
	}
	n, p := 0, 0.0
	for x, q := range all {
		n++
		if x[0] == x[1] {
			p += q
		}
	}
	fmt.Printf("%d sequences, probability %.2f\n", n, p)
	// Output:
	// 16 sequences, probability 0.76
}

// The index says from where on a sequence is new.
func ExampleSequences() {
	for x, from := range task.Sequences(2, 2) {
		fmt.Println(x, from)
	}
	// Output:
	// [0 0] 0
	// [0 1] 1
	// [1 0] 0
	// [1 1] 1
}

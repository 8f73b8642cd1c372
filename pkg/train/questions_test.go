package train_test

import (
	"encoding/csv"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"

	"learncausal/pkg/graph"
	"learncausal/pkg/task"
	"learncausal/pkg/train"
)

// short returns a spec of few steps with a model of some heads in each layer.
func short(k train.Task, first, second int) train.Spec {
	return train.Spec{
		Task: k, Model: train.Disentangled{Heads: [2]int{first, second}, Init: 0.01},
		Optimiser: train.AdamW{Rate: 0.02, Schedule: train.Constant}, Batch: 64, Steps: 192, Test: 512, Every: 64,
	}
}

// trained returns a trainer after the steps of a spec.
func trained(spec train.Spec) *train.Trainer {
	t, err := train.New(spec, 0)
	if err == nil {
		err = t.Advance(spec.Steps)
	}
	if err != nil {
		panic(err)
	}
	return t
}

// A sticky prior keeps each state with a random probability, and otherwise leaves it uniformly.
type sticky struct{ s int }

func (p sticky) States() int    { return p.s }
func (p sticky) String() string { return fmt.Sprintf("sticky(%d)", p.s) }

func (p sticky) Draw(pi, mu []float64, src *rand.PCG) {
	stay := rand.New(src).Float64()
	for i := range pi {
		pi[i] = (1 - stay) / float64(p.s-1)
		if i%(p.s+1) == 0 {
			pi[i] = stay
		}
	}
	for i := range mu {
		mu[i] = 1 / float64(p.s) // its stationary measure
	}
}

// A prior of one's own is a type with the three methods of markov.Prior.
func ExampleNew() {
	own := task.Task{Graph: graph.Chain(6), Prior: sticky{3}}
	for _, p := range trained(short(own, 1, 1)).Snapshot().Curve {
		fmt.Printf("step %3d  test loss %.2f\n", p.Step, p.Loss)
	}
	// Output:
	// step   0  test loss 1.10
	// step  64  test loss 1.01
	// step 128  test loss 0.96
	// step 192  test loss 0.95
}

// Three heads on a graph with three parents, with a line of CSV after every ten steps.
func ExampleTrainer_Advance() {
	dag, err := graph.NewDAG([][]int{{}, {}, {}, {0, 1, 2}, {1, 2, 3}})
	if err != nil {
		panic(err)
	}
	spec := short(train.Task2{Parents: dag.Parents(), States: 2, Prior: "dirichlet(0.1)"}, 3, 1)
	t, err := train.New(spec, 0)
	if err != nil {
		panic(err)
	}
	w := csv.NewWriter(os.Stdout)
	w.Write([]string{"step", "batch loss", "head 1", "head 2", "head 3"})
	for range 3 {
		if err := t.Advance(10); err != nil {
			panic(err)
		}
		row := []string{strconv.Itoa(t.Step()), fmt.Sprintf("%.3f", t.Loss())}
		for _, head := range spec.HeadAttentions(t.Snapshot().Weights) {
			row = append(row, fmt.Sprintf("%.2f", head.At(3, 0))) // from position 3 to its parent 0
		}
		w.Write(row)
	}
	w.Flush()
	// Output:
	// step,batch loss,head 1,head 2,head 3
	// 10,0.518,0.24,0.24,0.23
	// 20,0.524,0.23,0.23,0.23
	// 30,0.485,0.23,0.23,0.23
}

// A warmed optimiser has a rate that rises linearly over 64 steps, and then stays.
type warmed struct{ train.AdamW }

func (o warmed) RateAt(step, _ int) float64 { return o.Rate * min(1, float64(step+1)/64) }

// A schedule of one's own is a type that embeds an optimiser.
func ExampleOptimiser() {
	spec := short(train.Task1{Parents: graph.Chain(6).Parents(), States: 3, Prior: "dirichlet(0.1)"}, 1, 1)
	spec.Optimiser = warmed{spec.Optimiser.(train.AdamW)}
	for _, p := range trained(spec).Snapshot().Curve {
		fmt.Printf("step %3d  test loss %.2f\n", p.Step, p.Loss)
	}
	// Output:
	// step   0  test loss 1.10
	// step  64  test loss 0.92
	// step 128  test loss 0.89
	// step 192  test loss 0.82
}

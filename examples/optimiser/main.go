// An optimiser of your own: SGD with momentum, v <- Beta v + g and theta <- theta - Rate v. Its state is stored with
// the run, so that an interrupted run goes on with equal bytes.
package main

import (
	"fmt"
	"os"

	"gonum.org/v1/gonum/floats"
	"learncausal/pkg/graph"
	"learncausal/pkg/model"
	"learncausal/pkg/nb"
	"learncausal/pkg/train"
)

type Momentum struct{ Rate, Beta float64 }

func (o Momentum) Validate() error                 { return nil }
func (o Momentum) RateAt(_, _ int) float64         { return o.Rate }
func (o Momentum) Start(w model.Model) train.Steps { return momentum{o.Beta, w.Zero()} }

type momentum struct {
	beta float64
	v    model.Model
}

func (m momentum) Moments() []model.Model { return []model.Model{m.v} }

func (m momentum) Step(w model.Model, g train.Gradient, rate float64, _ int) {
	for _, v := range model.Trained(m.v) {
		floats.Scale(m.beta, v)
	}
	g.AddTo(m.v, 1)
	for k, v := range model.Trained(m.v) {
		floats.AddScaled(model.Trained(w)[k], -rate, v)
	}
}

func main() {
	train.Register[Momentum]("momentum")
	end := nb.Must(nb.Run(nb.Must(os.MkdirTemp("", "runs")), train.Spec{
		Task:  train.Task1{Parents: graph.Chain(6).Parents(), States: 3, Prior: "dirichlet(0.1)"},
		Model: train.Disentangled{Heads: [2]int{1, 1}}, Optimiser: Momentum{Rate: 1, Beta: 0.9},
		Batch: 128, Steps: 256, Every: 128, Test: 512,
	}))
	for _, p := range end.Curve {
		fmt.Printf("step %3d  test loss %.2f  attention on the parents %.2f\n", p.Step, p.Loss, p.Attention)
	}
	// Output:
	// step   0  test loss 1.10  attention on the parents 0.32
	// step 128  test loss 0.77  attention on the parents 0.63
	// step 256  test loss 0.77  attention on the parents 0.74
}

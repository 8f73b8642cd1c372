// A model of your own: it predicts from the last token alone, f = softmax(B[x_{T-1}]). One type has the methods of
// train.Model and, as its weights, those of model.Forwarder.
package main

import (
	"fmt"

	"learncausal/pkg/model"
	"learncausal/pkg/nb"
	"learncausal/pkg/num"
	"learncausal/pkg/train"
)

type bigram struct {
	S, T int
	B    []float64 // S x S
}

func (*bigram) Validate() error                    { return nil }
func (*bigram) New(s, t int) model.Model           { return &bigram{s, t, make([]float64, s*s)} }
func (*bigram) Initialise(model.Model, train.Spec) {} // zeros
func (w *bigram) Zero() model.Model                { return w.New(w.S, w.T) }
func (w *bigram) Size() (s, t int)                 { return w.S, w.T }
func (w *bigram) Matrices() []model.Matrix {
	return []model.Matrix{{Name: "B", Rows: w.S, Cols: w.S, Data: w.B}}
}

func (w *bigram) Forward(x []int, y []float64, grad model.Model) (f []float64, loss float64) {
	f, at := make([]float64, w.S), w.S*x[w.T-1]
	logZ := num.LogSumExp(f, w.B[at:at+w.S])
	for a, p := range y {
		loss += p * (logZ - w.B[at+a])
		if g, ok := grad.(*bigram); ok {
			g.B[at+a] += f[a] - p
		}
	}
	return f, loss
}

func main() {
	t := nb.Must(train.New(train.Spec{
		Task:  train.Task1{Parents: []int{-1, 0, 1, -1}, States: 2, Prior: "finite(0.9 0.1; 0.2 0.8)"},
		Model: &bigram{}, Optimiser: train.SGD{Rate: 1, Schedule: train.Constant}, Batch: 64, Steps: 200,
	}, 0))
	nb.Check(t.Advance(200))
	f, _ := t.Snapshot().Weights.(*bigram).Forward([]int{0, 0, 0, 1}, nil, nil)
	fmt.Printf("after 1: %.2f\n", f)
	// Output:
	// after 1: [0.20 0.80]
}

package train

import (
	"slices"

	"learncausal/internal/engine"
	"learncausal/pkg/model"
	"learncausal/pkg/task"
)

// Forward returns the distribution f over the S tokens after the sequence x and the loss
// -sum_s y_s log f_s in nats, and adds the gradient of the loss to grad. They are the
// results of [model.Weights.Forward] and [model.MLP.Forward] to rounding, computed by the tables that a
// [Trainer] uses. y or grad may be nil; without y the loss is 0 and nothing is added. It panics where
// [model.Check] has an error, unless w has two layers, and if grad has another shape than w.
func Forward(w model.Model, x []int, y []float64, grad model.Model) (f []float64, loss float64) {
	e := engine.New(w)
	p := e.NewPass()
	if grad == nil {
		loss = p.Loss(x, y, nil)
		return p.Predictions(), loss
	}
	g := e.NewGradient()
	loss = p.Loss(x, y, g)
	g.AddTo(grad, 1)
	return p.Predictions(), loss
}

// Predictions returns f after each sequence of b, as [Forward] does, in a tenth of its time.
func Predictions(w model.Model, b *task.Batch) [][]float64 {
	p, all := engine.New(w).NewPass(), make([][]float64, b.Len())
	for n := range all {
		x, _ := b.Seq(n)
		p.Loss(x, nil, nil)
		all[n] = slices.Clone(p.Predictions())
	}
	return all
}

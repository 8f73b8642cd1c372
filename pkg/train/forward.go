package train

import (
	"slices"

	"learncausal/pkg/internal/engine"
	"learncausal/pkg/internal/simd"
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

// A Predictor evaluates one model on many sequences, in a tenth of the time of [Forward]. It is not safe for
// concurrent use.
type Predictor struct{ pass engine.Pass }

// NewPredictor returns a predictor of the model. It panics where [model.Check] has an error, and unless w has
// two layers.
func NewPredictor(w model.Model) *Predictor { return &Predictor{engine.New(w).NewPass()} }

// Predict returns the distribution f after the sequence x, and the loss for the target y, as [Forward] does.
// The next call overwrites f.
func (p *Predictor) Predict(x []int, y []float64) (f []float64, loss float64) {
	loss = p.pass.Loss(x, y, nil)
	return p.pass.Predictions(), loss
}

// Predictions returns f after each sequence of b.
func Predictions(w model.Model, b *task.Batch) [][]float64 {
	p, all := NewPredictor(w), make([][]float64, b.Len())
	for n := range all {
		x, _ := b.Seq(n)
		f, _ := p.Predict(x, nil)
		all[n] = slices.Clone(f)
	}
	return all
}

// SIMD returns the SIMD vectors that training uses, with equal bytes: none, avx2 or avx512.
func SIMD() string { return simd.Level() }

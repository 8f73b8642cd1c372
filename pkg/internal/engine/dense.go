package engine

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"learncausal/pkg/model"
)

// dense is the engine of a [model.Forwarder]: its own forward pass, without tables. A gradient holds two numbers for
// each one of the weights.
type dense struct {
	shape
	w model.Forwarder
	n int // numbers of the matrices
}

func newDense(w model.Forwarder) (*dense, error) {
	zero, ok := w.Zero().(model.Forwarder)
	if !ok {
		return nil, fmt.Errorf("the zero weights of a %T are a %T, want the same type", w, w.Zero())
	}
	e := &dense{shape: shapeOf(w), w: zero}
	for _, m := range e.shape {
		e.n += m.Rows * m.Cols
	}
	e.check(zero)
	e.Load(w)
	return e, nil
}

func (e *dense) Load(w model.Model) {
	e.check(w)
	model.Copy(e.w, w)
}

func (e *dense) NewPass() Pass { return &densePass{e: e} }

func (e *dense) NewGradient() Gradient {
	return &denseGradient{e: e, g: e.w.Zero(), sum: make([]float64, e.n)}
}

func (e *dense) MeanAttention([]int) []*mat.Dense { return nil }

type densePass struct {
	e *dense
	f []float64
}

func (p *densePass) Loss(x []int, y []float64, g Gradient) float64 {
	s, t := p.e.w.Size()
	check(x, y, s, t)
	if g == nil || y == nil {
		return p.forward(x, y, nil)
	}
	to, ok := g.(*denseGradient)
	if !ok || to.e != p.e {
		panic(otherGradient)
	}
	loss := p.forward(x, y, to.g)
	to.drain()
	return loss
}

func (p *densePass) forward(x []int, y []float64, g model.Model) (loss float64) {
	p.f, loss = p.e.w.Forward(x, y, g)
	return loss
}

func (p *densePass) Losses(x []int, y []float64, g Gradient) float64 {
	s, t := p.e.w.Size()
	checkAll(x, y, s, t)
	var grad model.Model
	if g != nil {
		to, ok := g.(*denseGradient)
		if !ok || to.e != p.e {
			panic(otherGradient)
		}
		grad = to.g
		defer to.drain()
	}
	loss := 0.0
	for k := range len(x) / t {
		loss += p.forward(x[k*t:(k+1)*t], y[k*s:(k+1)*s], grad)
	}
	return loss
}

func (p *densePass) Predictions() []float64 { return p.f }

type denseGradient struct {
	e   *dense
	g   model.Model // what passes have added, before drain
	sum []float64
}

// drain adds the matrices of g to the sum, and clears them.
func (g *denseGradient) drain() {
	rest := g.sum
	for _, m := range g.g.Matrices() {
		for i, v := range m.Data {
			rest[i] += v
		}
		clear(m.Data)
		rest = rest[len(m.Data):]
	}
}

func (g *denseGradient) Sum() []float64 { return g.sum }

func (g *denseGradient) AddTo(w model.Model, c float64) {
	g.e.check(w)
	rest := g.sum
	for _, m := range w.Matrices() {
		if !m.Fixed {
			addScaled(m.Data, c, rest[:len(m.Data)])
		}
		rest = rest[len(m.Data):]
	}
}

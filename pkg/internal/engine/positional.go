package engine

import (
	"gonum.org/v1/gonum/mat"

	"learncausal/pkg/model"
)

// positional is the engine of a [model.Positional]: its own pass, which has no tables but the attention of the
// first layer. An engine and a gradient hold T^2 numbers for each head and d^2 for each of Q and K.
type positional struct {
	shape
	w    *model.Positional
	pass *positionalCore
}

func newPositional(w *model.Positional) *positional {
	e := &positional{shape: shapeOf(w), w: w.Zero().(*model.Positional)}
	e.Load(w)
	return e
}

func (e *positional) Load(w model.Model) {
	e.check(w)
	model.Copy(e.w, w)
	e.pass = newPositionalCore(e.w, e.w.PositionAttentions())
}

func (e *positional) NewPass() Pass { return &positionalPass{e: e} }

func (e *positional) NewGradient() Gradient {
	g, sum := e.pass.newGradient()
	return &positionalGradient{e, g, sum}
}

func (e *positional) MeanAttention(x []int) []*mat.Dense {
	sequences(x, e.w.T)
	return e.w.PositionAttentions()
}

// A positionalPass renews its pass after a Load.
type positionalPass struct {
	e   *positional
	of  *positionalCore // the engine's, of which own is a fork
	own *positionalCore
}

func (p *positionalPass) Loss(x []int, y []float64, g Gradient) float64 {
	if p.of != p.e.pass {
		p.of, p.own = p.e.pass, newPositionalCore(p.e.w, p.e.pass.p)
	}
	if g == nil {
		return p.own.loss(x, y, nil)
	}
	to, ok := g.(*positionalGradient)
	if !ok || to.e != p.e {
		panic(otherGradient)
	}
	return p.own.loss(x, y, to.g)
}

func (p *positionalPass) Losses(x []int, y []float64, g Gradient) float64 {
	s, t := p.e.w.S, p.e.w.T
	checkAll(x, y, s, t)
	loss := 0.0
	for k := range len(x) / t {
		loss += p.Loss(x[k*t:(k+1)*t], y[k*s:(k+1)*s], g)
	}
	return loss
}

func (p *positionalPass) Predictions() []float64 { return p.own.last() }

type positionalGradient struct {
	e   *positional
	g   *model.Positional
	sum []float64
}

func (g *positionalGradient) Sum() []float64 { return g.sum }

func (g *positionalGradient) AddTo(w model.Model, c float64) {
	g.e.check(w)
	g.e.pass.addTo(w.(*model.Positional), g.g, c)
}

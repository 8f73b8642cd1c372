package train

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"learncausal/pkg/internal/engine"
	"learncausal/pkg/model"
	"learncausal/pkg/num"
)

// A Model is an architecture of two layers and its initial weights: [Disentangled] or [MLP].
// The example of [model.Weights.Forward] trains another depth.
type Model interface {
	weights(s, t int) model.Model                 // zero weights
	initialise(w model.Model, seed uint64)        // sets zero weights to the weights at step 0
	attention(s Spec, w model.Model) []*mat.Dense // Spec.HeadAttentions
	footprint(s, t int) engine.Footprint
	validate() error
	name() string
	size() string // the fields, for messages
}

// Disentangled is the disentangled transformer, with one head in each layer for
// Disentangled{Heads: [2]int{1, 1}}.
type Disentangled struct {
	Heads [2]int  // in each layer, at least 1
	Init  float64 // standard deviation of the normal initial attention matrices; W starts at zero
}

// MLP is the standard transformer with MLPs and the initial weights of the authors' released code.
type MLP struct {
	Width           int  // at least 1
	FixedEmbeddings bool // embeddings keep their initial values
	Residual        bool // the form of the paper's text, [model.MLP]
}

func (m Disentangled) validate() error {
	if m.Heads[0] < 1 || m.Heads[1] < 1 {
		return fmt.Errorf("spec: heads are %v, want at least one in each layer", m.Heads)
	}
	if !(m.Init == 0 || positive(m.Init)) {
		return fmt.Errorf("spec: init is %v, want a nonnegative number", m.Init)
	}
	return nil
}

func (m MLP) validate() error {
	if m.Width < 1 {
		return fmt.Errorf("spec: width is %d, want at least 1", m.Width)
	}
	return nil
}

func (m Disentangled) name() string { return "disentangled transformer" }
func (m MLP) name() string {
	return choose(m.Residual, "standard transformer with MLPs, residual", "standard transformer with MLPs")
}

func (m Disentangled) size() string { return fmt.Sprintf("heads %d,%d", m.Heads[0], m.Heads[1]) }
func (m MLP) size() string          { return fmt.Sprintf("width %d", m.Width) }

func (m Disentangled) weights(s, t int) model.Model { return model.NewWeights(s, t, m.Heads[:]...) }

func (m MLP) weights(s, t int) model.Model {
	w := model.NewMLP(s, t, m.Width)
	if m.Residual {
		w = model.NewResidualMLP(s, t, m.Width)
	}
	w.Fixed = m.FixedEmbeddings
	return w
}

func (m Disentangled) footprint(s, t int) engine.Footprint {
	return engine.WeightsFootprint(s, t, m.Heads[0], m.Heads[1])
}

func (m MLP) footprint(s, t int) engine.Footprint {
	return engine.MLPFootprint(s, t, m.Width, m.Residual)
}

func (m Disentangled) attention(_ Spec, w model.Model) []*mat.Dense {
	return w.(*model.Weights).PositionAttentions()
}

func (m MLP) attention(s Spec, w model.Model) []*mat.Dense { return s.MeanAttention(w) }

func (m Disentangled) initialise(w model.Model, seed uint64) {
	if m.Init == 0 {
		return
	}
	for l, layer := range w.(*model.Weights).A {
		for h, a := range layer {
			normal(a.RawMatrix().Data, m.Init, seed, "init", uint64(l), uint64(h))
		}
	}
}

// initialise follows the authors' released code: normal embeddings, V and In of standard
// deviation 1/sqrt(d); attention, Out, biases and the output matrix are zero.
func (m MLP) initialise(weights model.Model, seed uint64) {
	w, sd := weights.(*model.MLP), 1/math.Sqrt(float64(m.Width))
	normal(w.E.RawMatrix().Data, sd, seed, "init E", 0)
	normal(w.P.RawMatrix().Data, sd, seed, "init P", 0)
	for l, layer := range w.Layers {
		normal(layer.V.RawMatrix().Data, sd, seed, "init V", uint64(l))
		if layer.In != nil {
			normal(layer.In.RawMatrix().Data, sd, seed, "init In", uint64(l))
		}
	}
}

// normal fills v with normal draws of standard deviation sd.
func normal(v []float64, sd float64, seed uint64, purpose string, index ...uint64) {
	src := num.Stream(seed, purpose, index...)
	for i := range v {
		v[i] = float64(sd * num.Normal(src))
	}
}

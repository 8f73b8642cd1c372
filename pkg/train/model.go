package train

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"learncausal/pkg/internal/engine"
	"learncausal/pkg/internal/jax"
	"learncausal/pkg/model"
	"learncausal/pkg/num"
)

// A Model is an architecture and its initial weights: [Disentangled], [MLP] or [Positional], of two layers, which have
// JSON, or a type of the reader's own. [Register] gives a type of one's own a JSON.
type Model interface {
	// Validate returns an error that names the wrong field. The other methods are called after it returned none.
	Validate() error
	// New returns zero weights over s tokens and t positions: weights of package model, or a [model.Forwarder].
	New(s, t int) model.Model
	// Initialise sets zero weights to those at step 0, which must depend on the spec alone: Spec.Seed selects the
	// streams of [num.Stream].
	Initialise(w model.Model, s Spec)
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

// Positional is a transformer whose first layer attends by position alone, [model.Positional], with the initial
// weights of the code of its authors: the first layer is zero. Every entry of W of a Linear model is Init. Entries of
// Q and K are normal with standard deviation Init/sqrt(d), those of the values with 1/sqrt(S).
type Positional struct {
	Heads      int
	Relative   bool
	Values     bool
	Linear     bool
	Everywhere bool    // the loss is the mean over all positions
	Init       float64 // positive; 0.01 and 1 in the authors' code
}

func (m Positional) form(s, t int) model.PositionalForm {
	return model.PositionalForm{
		S: s, T: t, Heads: m.Heads,
		Relative: m.Relative, Values: m.Values, Linear: m.Linear, Everywhere: m.Everywhere,
	}
}

// Validate returns an error that names the wrong field.
func (m Disentangled) Validate() error {
	if m.Heads[0] < 1 || m.Heads[1] < 1 {
		return fmt.Errorf("spec: heads are %v, want at least one in each layer", m.Heads)
	}
	if !(m.Init == 0 || positive(m.Init)) {
		return fmt.Errorf("spec: init is %v, want a nonnegative number", m.Init)
	}
	return nil
}

// Validate returns an error that names the wrong field.
func (m Positional) Validate() error {
	switch {
	case m.Heads < 1:
		return fmt.Errorf("spec: heads is %d, want at least one", m.Heads)
	case m.Linear && (m.Heads > 1 || m.Values):
		return fmt.Errorf("spec: heads is %d with values %t in a linear model, want one head without values",
			m.Heads, m.Values)
	case !positive(m.Init):
		return fmt.Errorf("spec: init is %v, want a positive number: a second layer of zeros stays zero", m.Init)
	}
	return nil
}

// Validate returns an error that names the wrong field.
func (m MLP) Validate() error {
	if m.Width < 1 {
		return fmt.Errorf("spec: width is %d, want at least 1", m.Width)
	}
	return nil
}

func (m Disentangled) name() string { return "disentangled transformer" }
func (m MLP) name() string {
	return "standard transformer with MLPs" + choose(m.Residual, ", residual", "")
}

func (m Positional) name() string {
	return choose(m.Linear, "minimal model", "simplified transformer") +
		choose(m.Everywhere, ", loss at every position", "")
}

func (m Disentangled) size() string { return fmt.Sprintf("heads %d,%d", m.Heads[0], m.Heads[1]) }
func (m MLP) size() string          { return fmt.Sprintf("width %d", m.Width) }

func (m Positional) size() string { return fmt.Sprintf("heads %d", m.Heads) }

// New returns zero weights over s tokens and t positions.
func (m Disentangled) New(s, t int) model.Model { return model.NewWeights(s, t, m.Heads[:]...) }

// New returns zero weights over s tokens and t positions.
func (m MLP) New(s, t int) model.Model {
	w := model.NewMLP(s, t, m.Width)
	if m.Residual {
		w = model.NewResidualMLP(s, t, m.Width)
	}
	w.Fixed = m.FixedEmbeddings
	return w
}

// New returns zero weights over s tokens and t positions.
func (m Positional) New(s, t int) model.Model { return model.NewPositional(m.form(s, t)) }

func (m Positional) footprint(s, t int) engine.Footprint {
	return engine.PositionalFootprint(m.form(s, t))
}

// Initialise sets the weights at step 0.
func (m Positional) Initialise(weights model.Model, s Spec) {
	w := weights.(*model.Positional)
	for h, v := range w.V {
		normal(v.RawMatrix().Data, 1/math.Sqrt(float64(w.S)), s.Seed, "init V", uint64(h))
	}
	if m.Linear {
		all := w.W.RawMatrix().Data
		for i := range all {
			all[i] = m.Init
		}
		return
	}
	d, _ := w.Q.Dims()
	for name, a := range map[string]*mat.Dense{"init Q": w.Q, "init K": w.K} {
		normal(a.RawMatrix().Data, m.Init/math.Sqrt(float64(d)), s.Seed, name)
	}
}

func (m Disentangled) footprint(s, t int) engine.Footprint {
	return engine.WeightsFootprint(s, t, m.Heads[0], m.Heads[1])
}

func (m MLP) footprint(s, t int) engine.Footprint {
	return engine.MLPFootprint(s, t, m.Width, m.Residual)
}

// Initialise sets the weights at step 0.
func (m Disentangled) Initialise(w model.Model, s Spec) {
	if m.Init == 0 {
		return
	}
	number, _ := replayed(s.Task)
	for l, layer := range w.(*model.Weights).A {
		for h, a := range layer {
			if v := a.RawMatrix().Data; number == 0 {
				normal(v, m.Init, s.Seed, "init", uint64(l), uint64(h))
			} else {
				replayNormal(v, m.Init, jax.NewKey(uint32(s.Seed)).Next(number+1+l), len(layer)*len(v), h*len(v))
			}
		}
	}
}

// Initialise follows the authors' released code: normal embeddings, V and In of standard
// deviation 1/sqrt(d); attention, Out, biases and the output matrix are zero.
func (m MLP) Initialise(weights model.Model, s Spec) {
	w, sd := weights.(*model.MLP), 1/math.Sqrt(float64(m.Width))
	number, _ := replayed(s.Task)
	fill := func(a *mat.Dense, purpose string, l int, key jax.Key) {
		if v := a.RawMatrix().Data; number == 0 {
			normal(v, sd, s.Seed, purpose, uint64(l))
		} else {
			replayNormal(v, sd, key, len(v), 0)
		}
	}
	key, n := jax.NewKey(uint32(s.Seed)).Next(max(number-2, 0)), 2*len(w.Layers)+2
	fill(w.E, "init E", 0, key.Of(n, n-2))
	fill(w.P, "init P", 0, key.Of(n, n-1))
	for l, layer := range w.Layers {
		fill(layer.V, "init V", l, key.Of(n, 2*l))
		if layer.In != nil {
			in, _ := key.Of(n, 2*l+1).Split()
			fill(layer.In, "init In", l, in)
		}
	}
}

// A knownModel is a model of this package.
type knownModel interface {
	Model
	footprint(s, t int) engine.Footprint
	name() string
	size() string // the fields, for messages
}

// modelKind returns m, or a model of the reader's own behind the same methods.
func modelKind(m Model) knownModel {
	switch m := m.(type) {
	case Disentangled:
		return m
	case MLP:
		return m
	case Positional:
		return m
	}
	return ownModel{m}
}

// An ownModel is a model of another package.
type ownModel struct{ Model }

func (m ownModel) name() string { return "model " + nameOf(m.Model) }
func (m ownModel) size() string { return "own weights" }

// footprint counts the weights, and as many numbers for each of its parts.
func (m ownModel) footprint(s, t int) engine.Footprint {
	n := 0.0
	for _, a := range m.New(s, t).Matrices() {
		n += float64(len(a.Data))
	}
	return engine.Footprint{Weights: n, Engine: n, Gradient: 2 * n, Pass: n}
}

// replayNormal fills v with the first of the n normal draws of a key and with those after it, times sd.
func replayNormal(v []float64, sd float64, key jax.Key, n, first int) {
	for i := range v {
		v[i] = sd * float64(key.Normal(n, first+i))
	}
}

// normal fills v with normal draws of standard deviation sd.
func normal(v []float64, sd float64, seed uint64, purpose string, index ...uint64) {
	src := num.Stream(seed, purpose, index...)
	for i := range v {
		v[i] = float64(sd * num.Normal(src))
	}
}

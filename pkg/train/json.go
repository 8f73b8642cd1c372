package train

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
)

// specJSON is the JSON of a Spec, by which runs are addressed. The order of its fields is fixed. The first ten
// describe Task 1, one head in each layer, zero initial weights and SGD; the others are omitted in that case.
type specJSON struct {
	Parents  []int    `json:"parents"` // of Task 1
	States   int      `json:"states"`
	Prior    string   `json:"prior"`
	Batch    int      `json:"batch"`
	Steps    int      `json:"steps"`
	Rate     float64  `json:"rate"`
	Schedule Schedule `json:"schedule"`
	Seed     uint64   `json:"seed"`
	Test     int      `json:"test"`
	Every    int      `json:"every"`

	Nodes     [][]int `json:"nodes,omitempty"`     // parents of Task 2
	Roots     string  `json:"roots,omitempty"`     // Task 2: "dirichlet", "uniform"; Task 1: "uniform" if not stationary
	Heads     int     `json:"heads,omitempty"`     // in the first layer, if not one
	Second    int     `json:"second,omitempty"`    // in the second layer, if not one
	Optimiser string  `json:"optimiser,omitempty"` // "adamw", if not SGD
	Decay     float64 `json:"decay,omitempty"`
	Init      float64 `json:"init,omitempty"`

	Width      int    `json:"width,omitempty"`      // of the transformer with MLPs
	Embeddings string `json:"embeddings,omitempty"` // of the transformer with MLPs: "trained" or "fixed"

	Coupled float64 `json:"coupled,omitempty"` // weight decay of SGD

	Residual bool `json:"residual,omitempty"` // of the transformer with MLPs

	JAX int `json:"jax,omitempty"`

	Freeze []string `json:"freeze,omitempty"`

	Chain      int       `json:"chain,omitempty"`      // length of a Markov chain
	Positional string    `json:"positional,omitempty"` // first layer by position alone: "absolute" or "relative"
	Values     bool      `json:"values,omitempty"`     // of the positional first layer
	Linear     bool      `json:"linear,omitempty"`     // of the positional model
	Everywhere bool      `json:"everywhere,omitempty"` // of the positional model
	First      float64   `json:"first,omitempty"`      // factor of the rate of SGD in the first layer
	Betas      []float64 `json:"betas,omitempty"`      // of AdamW, if not 0.9 and 0.999
	Norms      bool      `json:"norms,omitempty"`

	// Kinds that [Register] has named.
	Task  *setting `json:"task,omitempty"`
	Model *setting `json:"model,omitempty"`
	By    *setting `json:"by,omitempty"` // optimiser
}

// MarshalJSON returns the specJSON form of the [Spec.Canonical] spec, the same bytes for the same
// run. It returns an error if a part is missing, if the model is wrong, and for a type that [Register] has not named.
func (s Spec) MarshalJSON() ([]byte, error) {
	if err := s.complete(); err != nil {
		return nil, err
	}
	if err := s.Model.Validate(); err != nil {
		return nil, err
	}
	f, err := s.specJSON()
	if err != nil {
		return nil, err
	}
	b, err := json.Marshal(f)
	if err != nil {
		return nil, fmt.Errorf("spec: %w", err)
	}
	return b, nil
}

// UnmarshalJSON reads the JSON of MarshalJSON. It returns an error for any other form.
func (s *Spec) UnmarshalJSON(b []byte) error {
	var f specJSON
	if err := json.Unmarshal(b, &f); err != nil {
		return err
	}
	spec, err := f.spec()
	if err != nil {
		return err
	}
	want, err := spec.specJSON()
	if err != nil {
		return err
	}
	if !reflect.DeepEqual(f, want) {
		return fmt.Errorf("spec: %+v belongs to no task, model and optimiser, want %+v", f, want)
	}
	*s = spec
	return nil
}

func (s Spec) specJSON() (f specJSON, err error) {
	s = s.Canonical()
	f = specJSON{Batch: s.Batch, Steps: s.Steps, Seed: s.Seed, Test: s.Test, Every: s.Every}
	f.Freeze, f.Norms = s.Freeze, s.Norms
	var errs [3]error
	switch k := s.Task.(type) {
	case Chain:
		f.Chain, f.States, f.Prior = k.Length, k.States, k.Prior
	case Task1:
		f.Parents, f.States, f.Prior, f.JAX = k.Parents, k.States, k.Prior, k.JAX
		f.Roots = choose(k.UniformRoots, "uniform", "")
	case Task2:
		f.Nodes, f.States, f.Prior, f.JAX = k.Parents, k.States, k.Prior, k.JAX
		f.Roots = choose(k.UniformRoots, "uniform", "dirichlet")
	default:
		f.Task, errs[0] = settingOf(k)
	}
	switch m := s.Model.(type) {
	case Disentangled:
		f.Heads = choose(m.Heads[0] == 1, 0, m.Heads[0])
		f.Second = choose(m.Heads[1] == 1, 0, m.Heads[1])
		f.Init = m.Init
	case MLP:
		f.Width, f.Embeddings, f.Residual = m.Width, choose(m.FixedEmbeddings, "fixed", "trained"), m.Residual
	case Positional:
		f.Positional, f.Heads = choose(m.Relative, "relative", "absolute"), choose(m.Heads == 1, 0, m.Heads)
		f.Values, f.Linear, f.Everywhere, f.Init = m.Values, m.Linear, m.Everywhere, m.Init
	default:
		f.Model, errs[1] = settingOf(m)
	}
	switch o := s.Optimiser.(type) {
	case SGD:
		f.Rate, f.Schedule, f.Coupled, f.First = o.Rate, o.Schedule, o.Decay, o.FirstLayerRate
	case AdamW:
		f.Rate, f.Schedule, f.Optimiser, f.Decay = o.Rate, o.Schedule, "adamw", o.Decay
		if o.Betas != [2]float64{} {
			f.Betas = o.Betas[:]
		}
	default:
		f.By, errs[2] = settingOf(o)
	}
	return f, cmp.Or(errs[0], errs[1], errs[2])
}

func choose[V any](is bool, yes, no V) V {
	if is {
		return yes
	}
	return no
}

func (f specJSON) spec() (Spec, error) {
	s := Spec{Batch: f.Batch, Steps: f.Steps, Seed: f.Seed, Test: f.Test, Every: f.Every, Freeze: f.Freeze, Norms: f.Norms}
	var errs [3]error
	switch {
	case f.Task != nil:
		s.Task, errs[0] = kindOf[Task](f.Task)
	case f.Chain != 0:
		s.Task = Chain{f.Chain, f.States, f.Prior}
	case f.Nodes == nil:
		s.Task = Task1{f.Parents, f.States, f.Prior, f.Roots == "uniform", f.JAX}
	case f.Roots == "dirichlet", f.Roots == "uniform":
		s.Task = Task2{f.Nodes, f.States, f.Prior, f.Roots == "uniform", f.JAX}
	default:
		return s, fmt.Errorf("spec: roots is %q, want dirichlet or uniform for Task 2", f.Roots)
	}
	switch {
	case f.Model != nil:
		s.Model, errs[1] = kindOf[Model](f.Model)
	case f.Positional == "absolute", f.Positional == "relative":
		s.Model = Positional{max(f.Heads, 1), f.Positional == "relative", f.Values, f.Linear, f.Everywhere, f.Init}
	case f.Positional != "":
		return s, fmt.Errorf("spec: positional is %q, want absolute or relative", f.Positional)
	case f.Embeddings == "":
		s.Model = Disentangled{[2]int{max(f.Heads, 1), max(f.Second, 1)}, f.Init}
	case f.Embeddings == "trained", f.Embeddings == "fixed":
		s.Model = MLP{f.Width, f.Embeddings == "fixed", f.Residual}
	default:
		return s, fmt.Errorf("spec: embeddings is %q, want trained or fixed, or nothing without MLPs", f.Embeddings)
	}
	switch {
	case f.By != nil:
		s.Optimiser, errs[2] = kindOf[Optimiser](f.By)
	case f.Optimiser == "":
		s.Optimiser = SGD{f.Rate, f.Schedule, f.Coupled, f.First}
	case f.Optimiser == "adamw":
		o := AdamW{Rate: f.Rate, Schedule: f.Schedule, Decay: f.Decay}
		copy(o.Betas[:], f.Betas)
		s.Optimiser = o
	default:
		return s, fmt.Errorf("spec: optimiser is %q, want adamw, or nothing for SGD", f.Optimiser)
	}
	return s, cmp.Or(errs[0], errs[1], errs[2])
}

package train

import (
	"encoding/json"
	"fmt"
)

// flat is the JSON of a Spec, by which runs are addressed. It has a field for
// whatever there may be in one of the parts, in this order for good. The first ten
// are those of Task 1, one head in each layer, zero initial weights and SGD, and
// the others are left out in that case.
type flat struct {
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
	Roots     string  `json:"roots,omitempty"`     // of Task 2: "dirichlet" or "uniform"
	Heads     int     `json:"heads,omitempty"`     // in the first layer, if not one
	Second    int     `json:"second,omitempty"`    // in the second layer, if not one
	Optimiser string  `json:"optimiser,omitempty"` // "adamw", if not SGD
	Decay     float64 `json:"decay,omitempty"`
	Init      float64 `json:"init,omitempty"`

	Width      int    `json:"width,omitempty"`      // of the transformer with MLPs
	Embeddings string `json:"embeddings,omitempty"` // of the transformer with MLPs: "trained" or "fixed"
}

// MarshalJSON returns the flat form of the spec, the same bytes for the same
// spec. There is an error if a part is missing or a layer has no head.
func (s Spec) MarshalJSON() ([]byte, error) {
	if err := s.complete(); err != nil {
		return nil, err
	}
	if m, ok := s.Model.(Disentangled); ok && m.validate() != nil {
		return nil, m.validate()
	}
	return json.Marshal(s.flat())
}

func (s Spec) flat() flat {
	f := flat{Batch: s.Batch, Steps: s.Steps, Seed: s.Seed, Test: s.Test, Every: s.Every}
	s.Task.flatten(&f)
	s.Model.flatten(&f)
	s.Optimiser.flatten(&f)
	return f
}

func (k Task1) flatten(f *flat) { f.Parents, f.States, f.Prior = k.Parents, k.States, k.Prior }

func (k Task2) flatten(f *flat) {
	f.Nodes, f.States, f.Prior, f.Roots = k.Parents, k.States, k.Prior, "dirichlet"
	if k.UniformRoots {
		f.Roots = "uniform"
	}
}

func (m Disentangled) flatten(f *flat) {
	for l, to := range []*int{&f.Heads, &f.Second} {
		if m.Heads[l] != 1 {
			*to = m.Heads[l]
		}
	}
	f.Init = m.Init
}

func (m MLP) flatten(f *flat) {
	f.Width, f.Embeddings = m.Width, "trained"
	if m.FixedEmbeddings {
		f.Embeddings = "fixed"
	}
}

func (o SGD) flatten(f *flat) { f.Rate, f.Schedule = o.Rate, o.Schedule }

func (o AdamW) flatten(f *flat) {
	f.Rate, f.Schedule, f.Optimiser, f.Decay = o.Rate, o.Schedule, "adamw", o.Decay
}

// UnmarshalJSON reads what MarshalJSON writes. There is an error for what it
// would write otherwise.
func (s *Spec) UnmarshalJSON(b []byte) error {
	var f flat
	if err := json.Unmarshal(b, &f); err != nil {
		return err
	}
	spec, err := f.spec()
	if err != nil {
		return err
	}
	got, err := json.Marshal(f)
	if err != nil {
		return err
	}
	want, err := json.Marshal(spec)
	if err != nil {
		return err
	}
	if string(got) != string(want) {
		return fmt.Errorf("spec: %s belongs to no task, model and optimiser, want %s", got, want)
	}
	*s = spec
	return nil
}

func (f flat) spec() (Spec, error) {
	s := Spec{Batch: f.Batch, Steps: f.Steps, Seed: f.Seed, Test: f.Test, Every: f.Every}
	switch {
	case f.Nodes == nil:
		s.Task = Task1{f.Parents, f.States, f.Prior}
	case f.Roots == "dirichlet", f.Roots == "uniform":
		s.Task = Task2{f.Nodes, f.States, f.Prior, f.Roots == "uniform"}
	default:
		return s, fmt.Errorf("spec: roots is %q, want dirichlet or uniform for Task 2", f.Roots)
	}
	switch f.Embeddings {
	case "":
		s.Model = Disentangled{[2]int{max(f.Heads, 1), max(f.Second, 1)}, f.Init}
	case "trained", "fixed":
		s.Model = MLP{f.Width, f.Embeddings == "fixed"}
	default:
		return s, fmt.Errorf("spec: embeddings is %q, want trained or fixed, or nothing without MLPs", f.Embeddings)
	}
	switch f.Optimiser {
	case "":
		s.Optimiser = SGD{f.Rate, f.Schedule}
	case "adamw":
		s.Optimiser = AdamW{f.Rate, f.Schedule, f.Decay}
	default:
		return s, fmt.Errorf("spec: optimiser is %q, want adamw, or nothing for SGD", f.Optimiser)
	}
	return s, nil
}

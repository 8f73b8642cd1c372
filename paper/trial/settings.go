// Package trial has what a run on any graph needs: the graph by name or file ([OpenGraph]), the settings
// ([Settings]), the cost ([MeasureCost]), the comparison with predictors that need no training ([Measure]),
// and the results of the runs of a sweep ([Outcome]).
package trial

import (
	"fmt"
	"slices"
	"strings"

	"learncausal/pkg/markov"
	"learncausal/pkg/train"
)

// Settings determine a run on a given graph. The JSON names are the flags of paper train
// and the keys of the plan of a sweep. Start from [DefaultSettings].
type Settings struct {
	States       int    `json:"states"`
	Prior        string `json:"prior"`
	UniformRoots bool   `json:"uniform-roots"`

	Model string  `json:"model"`
	Heads []int   `json:"heads"`
	Init  float64 `json:"init"`
	Width int     `json:"width"`
	Fixed bool    `json:"fixed-embeddings"`

	Optimiser string  `json:"optimiser"`
	Schedule  string  `json:"schedule"`
	Rate      float64 `json:"rate"`
	Decay     float64 `json:"decay"`

	Batch int    `json:"batch"`
	Steps int    `json:"steps"`
	Test  int    `json:"test"`
	Every int    `json:"every"`
	Seed  uint64 `json:"seed"`
	JAX   int    `json:"jax"`

	// Given reports whether a setting was given. Spec replaces settings that were not
	// given by defaults that depend on the task and the model.
	Given func(name string) bool `json:"-"`
}

// DefaultSettings returns the settings with none given.
func DefaultSettings() Settings {
	return Settings{
		States: 3, Prior: "dirichlet(0.1)", Model: "disentangled", Width: 30, Schedule: "constant",
		Batch: 256, Steps: 4096, Test: 4096,
		Given: func(string) bool { return false },
	}
}

// A SettingError is an error about one setting.
type SettingError struct {
	Name string // of the setting
	Why  string // after the name, as in "is 0, want at least 1"
}

func (e *SettingError) Error() string { return e.Name + " " + e.Why }

func wrong(name, format string, args ...any) error {
	return &SettingError{name, fmt.Sprintf(format, args...)}
}

// mostKeys is the largest number of a key of JAX, which takes a tenth of a second.
const mostKeys = 1_000_000

// Spec returns the specification of a run on the graph g. The error is a [SettingError].
func (s *Settings) Spec(g *Graph) (train.Spec, error) {
	spec := train.Spec{Batch: s.Batch, Steps: s.Steps, Seed: s.Seed, Test: s.Test, Every: s.Every}
	if s.States < 2 {
		return spec, wrong("states", "is %d, want at least 2", s.States)
	}
	prior, err := markov.ParsePrior(s.Prior, s.States)
	if err != nil {
		return spec, wrong("prior", "with %d states: %v", s.States, err)
	}
	if g.DAG != nil {
		spec.Task = train.Task2{
			Parents: g.DAG.Parents(), States: s.States, Prior: prior.String(), UniformRoots: s.UniformRoots, JAX: s.JAX,
		}
	} else {
		spec.Task = train.Task1{
			Parents: g.Forest.Parents(), States: s.States, Prior: prior.String(), UniformRoots: s.UniformRoots, JAX: s.JAX,
		}
	}
	if spec.Model, err = s.model(g); err != nil {
		return spec, err
	}
	if spec.Optimiser, err = s.optimiser(g.DAG != nil); err != nil {
		return spec, err
	}
	if !s.Given("every") {
		spec.Every = max(1, s.Steps/64)
	} else if s.Every < 1 {
		return spec, wrong("every", "is %d, want at least 1", s.Every)
	}
	if s.JAX > mostKeys {
		return spec, wrong("jax", "is %d, want 0 to %d: keys are split off one after the other", s.JAX, mostKeys)
	}
	if s.Test < 2 {
		return spec, wrong("test", "is %d, want at least 2 sequences: a standard error needs them", s.Test)
	}
	if err := spec.Validate(); err != nil {
		name, why, _ := strings.Cut(strings.TrimPrefix(err.Error(), "spec: "), " ")
		return spec, wrong(name, "%s", why)
	}
	return spec, nil
}

// A kind is a value of Settings.Model.
type kind struct {
	name, text string
	settings   []string // which the other kinds lack
	model      func(s *Settings, g *Graph) (train.Model, error)
	is         func(m train.Model) bool
}

var kinds = []kind{
	{"disentangled", "", []string{"heads", "init"}, (*Settings).disentangled, func(m train.Model) bool {
		_, ok := m.(train.Disentangled)
		return ok
	}},
	mlpKind("mlp", "standard, with MLPs", false),
	mlpKind("residual-mlp", "its form in the text", true),
}

func mlpKind(name, text string, residual bool) kind {
	return kind{
		name, text, []string{"width", "fixed-embeddings"}, func(s *Settings, _ *Graph) (train.Model, error) {
			return train.MLP{Width: s.Width, FixedEmbeddings: s.Fixed, Residual: residual}, nil
		}, func(m train.Model) bool {
			mlp, ok := m.(train.MLP)
			return ok && mlp.Residual == residual
		},
	}
}

// ModelNames returns the values of Settings.Model, and what each stands for, "" if the name says it.
func ModelNames() (names, texts []string) {
	for _, k := range kinds {
		names, texts = append(names, k.name), append(texts, k.text)
	}
	return names, texts
}

// ModelName returns the value of Settings.Model for a model.
func ModelName(m train.Model) string {
	return kinds[slices.IndexFunc(kinds, func(k kind) bool { return k.is(m) })].name
}

func (s *Settings) model(g *Graph) (train.Model, error) {
	all, _ := ModelNames()
	at := slices.Index(all, s.Model)
	if at < 0 {
		return nil, wrong("model", "is %q, want one of %s", s.Model, strings.Join(all, ", "))
	}
	for _, k := range kinds {
		for _, name := range k.settings {
			if s.Given(name) && !slices.Contains(kinds[at].settings, name) {
				return nil, wrong(name, "belongs to the model %s", k.name)
			}
		}
	}
	return kinds[at].model(s, g)
}

func (s *Settings) disentangled(g *Graph) (train.Model, error) {
	m := train.Disentangled{Heads: [2]int{1, 1}, Init: s.Init}
	if g.DAG != nil {
		parents := g.DAG.Parents()
		m.Heads[0] = len(parents[g.DAG.T()])
		if !s.Given("init") {
			m.Init = 1e-4 // heads that start equal stay equal
		}
	}
	if s.Given("heads") {
		if len(s.Heads) != 2 {
			return nil, wrong("heads", "is %v, want one number for each of the two layers, as in 2,1", s.Heads)
		}
		m.Heads = [2]int(s.Heads)
	}
	return m, nil
}

func (s *Settings) optimiser(several bool) (train.Optimiser, error) {
	name, rate := s.Optimiser, s.Rate
	if !s.Given("optimiser") {
		name = "sgd"
		if several || s.Model != "disentangled" {
			name = "adamw"
		}
	}
	schedule := train.Schedule(s.Schedule)
	switch name {
	case "sgd":
		if !s.Given("rate") {
			rate = 1
		}
		return train.SGD{Rate: rate, Schedule: schedule, Decay: s.Decay}, nil
	case "adamw":
		if !s.Given("rate") {
			rate = 0.01
		}
		return train.AdamW{Rate: rate, Schedule: schedule, Decay: s.Decay}, nil
	}
	return nil, wrong("optimiser", "is %q, want sgd or adamw", name)
}

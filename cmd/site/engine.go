package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"learncausal/internal/runs"
	"learncausal/paper/claims"
	"learncausal/paper/ledger"
	"learncausal/paper/trial"
	"learncausal/pkg/graph"
	"learncausal/pkg/num"
	"learncausal/pkg/train"
)

// A checked is the result of a check in the page and the stored result.
type checked struct {
	Here, Stored result
	Differs      []string // names of the fields of the row that differ
}

// A result is the part of a row that the page shows.
type result struct {
	Verdict    ledger.Verdict
	LHS, RHS   float64
	Margin     float64
	Instances  string
	Layout     string // the witness, or the worst instance
	HasWitness bool
}

// check runs the check of a statement in full, and compares the result with the stored
// ledger. It is an error if the id is unknown.
func check(ctx context.Context, id string, stored []byte) (*checked, error) {
	l, err := ledger.Parse(stored)
	if err != nil {
		return nil, err
	}
	old := l.Find(id)
	if old == nil {
		return nil, fmt.Errorf("no row of the stored ledger has the id %q", id)
	}
	all := claims.All()
	i := slices.IndexFunc(all, func(c ledger.Claim) bool { return c.ID == id })
	if i < 0 {
		return nil, fmt.Errorf("no statement has the id %q", id)
	}
	rows, err := ledger.Run(ctx, all[i:i+1], false, 1, nil)
	if err != nil {
		return nil, err
	}
	now, err := ledger.New(rows)
	if err != nil {
		return nil, err
	}
	differs := []string{}
	for _, d := range old.Differences(now.Rows[0]) {
		differs = append(differs, d.Field)
	}
	return &checked{resultOf(now.Rows[0]), resultOf(*old), differs}, nil
}

func resultOf(r ledger.Row) result {
	_, layout := r.Evidence()
	return result{r.Verdict, r.LHS, r.RHS, r.Margin, r.Instances.String(), layout, r.Witness != nil}
}

// settings are the settings of a run on a graph of the reader. The others have the defaults of paper train.
type settings struct {
	DOT    string `json:"dot"`
	States int    `json:"states"`
	Prior  string `json:"prior"`
	Steps  int    `json:"steps"`
	Seed   uint64 `json:"seed"`
}

// A drawing is the graph of a DOT file.
type drawing struct {
	Parents []int    // -1 for a root
	Names   []string // of the positions, or nil for s1..sT
	forest  *graph.Forest
}

// An outlook has the graph, and the mean log-losses in nats of predictors that need no
// training, on the test set.
type outlook struct {
	drawing
	References []reference
}

type reference struct {
	Name string
	Loss float64
}

// A look is the state of a run under way.
type look struct {
	Step, Steps int
	Curve       []point
	Attention   [][]float64 // of the first layer, by position: T x T
}

// A point is a test loss.
type point struct {
	Step int
	Loss float64
}

// An ending has the results of a run.
type ending struct {
	Sequences              int
	Model                  num.Estimate
	References             []trial.Reference
	Given, Found, Others   int
	Edges                  []trial.Edge
	AttentionOnTheirParent float64 // 0 without edges
}

// interval is the time between two looks at a run.
const interval = 200 * time.Millisecond

// learn trains on a graph. It posts an outlook, then looks, the last after the last step,
// and then, as float64, shares of the comparison with the Bayes predictor. The weights have
// the same bytes as the weights of paper train with the same settings.
func learn(ctx context.Context, s settings, post func(name string, answer any)) (*ending, error) {
	g, err := readForest(s.DOT)
	if err != nil {
		return nil, err
	}
	spec, err := s.spec(g.forest)
	if err != nil {
		return nil, err
	}
	refs, err := references(spec)
	if err != nil {
		return nil, err
	}
	post("outlook", outlook{*g, refs})
	t, err := train.New(spec, 1)
	if err != nil {
		return nil, err
	}
	var last time.Time
	for t.Step() < spec.Steps {
		if err := t.Advance(1); err != nil {
			return nil, err
		}
		if now := time.Now(); now.Sub(last) > interval || t.Step() == spec.Steps {
			last = now
			shot := t.Snapshot()
			rows := slices.Collect(slices.Chunk(shot.Disentangled().PositionAttention().RawMatrix().Data, spec.T()))
			var curve []point
			for _, p := range shot.Curve {
				curve = append(curve, point{p.Step, p.Loss})
			}
			post("look", look{t.Step(), spec.Steps, curve, rows})
		}
	}
	shot := t.Snapshot()
	run := &runs.Run{Spec: spec, Address: runs.Address(spec), Origin: runs.Trained, Final: shot, Curve: shot.Curve}
	own, err := trial.Measure(trial.WithProgress(ctx, func(share float64) { post("share", share) }), run)
	if err != nil {
		return nil, err
	}
	e := &ending{
		Sequences: own.Sequences, Model: own.Model, References: own.References, Edges: own.Edges,
	}
	if a := shot.Curve[len(shot.Curve)-1].Attention; !math.IsNaN(a) {
		e.AttentionOnTheirParent = a
	}
	e.Given, e.Found, e.Others = own.Found()
	return e, nil
}

// most is the largest number of positions that the page draws, as the field positions of the form says.
const most = 24

// readForest returns the graph of a DOT file.
func readForest(dot string) (*drawing, error) {
	f, dag, names, err := graph.Read(strings.NewReader(dot))
	switch {
	case err != nil:
		return nil, err
	case dag != nil:
		return nil, errors.New("graph: the last node is the label of a graph of Task 2: want a forest here; " +
			"paper train takes both")
	case f.T() > most:
		return nil, fmt.Errorf("graph: %d positions, want at most %d here; paper train takes more", f.T(), most)
	}
	return &drawing{f.Parents(), names, f}, nil
}

// spec returns the specification of the run on a forest.
func (s settings) spec(f *graph.Forest) (train.Spec, error) {
	all := trial.DefaultSettings()
	all.States, all.Prior, all.Steps, all.Seed = s.States, s.Prior, s.Steps, s.Seed
	return all.Spec(&trial.Graph{Forest: f})
}

// references returns the mean losses of the predictors that are quick to compute.
func references(spec train.Spec) ([]reference, error) {
	b, err := spec.TestSet()
	if err != nil {
		return nil, err
	}
	entropy, edges, err := trial.KnownLosses(spec, b)
	if err != nil {
		return nil, err
	}
	refs := []reference{{"uniform guess", math.Log(float64(b.S))}}
	if edges != nil {
		refs = append(refs, reference{"posterior mean given the edges", num.Average(edges).Mean})
	}
	return append(refs, reference{"knows the transition matrix", num.Average(entropy).Mean}), nil
}

package runs

import (
	"math"
	"path/filepath"
	"strings"
	"testing"

	"learncausal/internal/property"
	"learncausal/pkg/model"
	"learncausal/pkg/train"
)

// honest trains a run on from one of its milestones, which was altered, and keeps
// all from there as a store does.
func honest(t *testing.T, r *Run, from int) {
	t.Helper()
	p, err := newPlan(r.Spec)
	if err != nil {
		t.Fatal(err)
	}
	tr, err := train.New(r.Spec, 2)
	if err == nil {
		err = tr.Restore(r.Milestones[from])
	}
	if err != nil {
		t.Fatal(err)
	}
	c := &checkpoint{
		states:     r.states[:until(tr.Step(), p.marks)],
		milestones: r.Milestones[:from+1],
	}
	for tr.Step() < r.Spec.Steps {
		if err := tr.Advance(1); err != nil {
			t.Fatal(err)
		}
		p.keep(c, tr)
	}
	*r = *p.finished(c)
}

// A run that was forged with right sums loads, and a replay or retraining finds it.
// The stretches alone find the faults in them.
func TestForgedRunIsFound(t *testing.T) {
	scaled := func(at int) func(t *testing.T, r *Run) {
		return func(t *testing.T, r *Run) {
			n := (at + len(r.Milestones)) % len(r.Milestones)
			for _, a := range model.Trained(r.Milestones[n].Weights) {
				a[0] *= 0.9
			}
			honest(t, r, n)
		}
	}
	for _, spec := range []train.Spec{testSpec, multiSpec, mlpSpec(train.MLP{Width: 6})} {
		for name, c := range map[string]struct {
			forge     func(t *testing.T, r *Run)
			stretches bool // find it
		}{
			"a final weight by one ulp": {func(_ *testing.T, r *Run) {
				x := &r.Final.Weights.Matrices()[0].Data[1]
				*x = math.Nextafter(*x, 9)
			}, true},
			"a loss between the ends": {
				func(_ *testing.T, r *Run) { r.Curve[len(r.Curve)-2].Loss *= 1.1 },
				false,
			},
			"the last milestone but one, honest from there": {scaled(-2), false},
			"the first milestone, honest from there":        {scaled(0), false},
			"the attention at the end":                      {func(_ *testing.T, r *Run) { r.Edges[0].Attention = 0.25 }, true},
			"a digest between the ends": {func(_ *testing.T, r *Run) {
				r.states[len(r.states)/2] = strings.Repeat("0", digits)
			}, false},
		} {
			s := testStore(t.TempDir())
			r := getSpec(t, s, spec, Options{})
			c.forge(t, r)
			forge(t, filepath.Join(s.Dir, r.Address), r)
			forged := getSpec(t, s, spec, Options{})
			property.Mentions(t, forged.Replay(t.Context(), 2, forged.Segments()), "differs from its replay")
			if err := forged.Replay(t.Context(), 2, forged.Stretches()); c.stretches && err == nil {
				t.Errorf("%s, %s: not found in %v", spec.Description(), name, forged.Stretches())
			}
			if _, err := s.Get(t.Context(), spec, Options{Fresh: true}); err == nil || forged.Origin != Loaded {
				t.Errorf("%s, %s: not found by retraining", spec.Description(), name)
			}
		}
	}
}

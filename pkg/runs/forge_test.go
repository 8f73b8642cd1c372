package runs

import (
	"math"
	"path/filepath"
	"strings"
	"testing"

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

func scale(w model.Model, by float64) {
	for _, a := range model.Trained(w) {
		for i := range a {
			a[i] = float64(by * a[i])
		}
	}
}

// A run that was forged with right sums loads, and training the right part of it
// again finds it. The stretches alone find the faults in them.
func TestForgedRunIsFound(t *testing.T) {
	for _, spec := range []train.Spec{testSpec, multiSpec, mlpSpec(train.MLP{Width: 6})} {
		for name, c := range map[string]struct {
			forge     func(r *Run)
			stretches bool // find it
		}{
			"a final weight by one ulp": {func(r *Run) {
				x := &r.Final.Weights.Matrices()[0].Data[1]
				*x = math.Nextafter(*x, 9)
			}, true},
			"all losses between the ends": {func(r *Run) {
				for i := 1; i < len(r.Curve)-1; i++ {
					r.Curve[i].Loss *= 1.1
				}
			}, true},
			"the weights of the last milestone but one, and honest from there": {func(r *Run) {
				n := len(r.Milestones) - 2
				scale(r.Milestones[n].Weights, 0.9)
				honest(t, r, n)
			}, false},
			"the weights of a milestone between the ends, and honest from there": {func(r *Run) {
				scale(r.Milestones[0].Weights, 0.9)
				honest(t, r, 0)
			}, false},
			"the attention at the end": {func(r *Run) { r.Edges[0].Attention = 0.25 }, true},
			"a digest between the ends": {func(r *Run) {
				r.states[len(r.states)/2] = strings.Repeat("0", digits)
			}, false},
		} {
			s := testStore(t.TempDir())
			r := getSpec(t, s, spec, Options{})
			c.forge(r)
			forge(t, filepath.Join(s.Dir, r.Address), r)
			forged := getSpec(t, s, spec, Options{})
			if forged.Origin != Loaded {
				t.Fatal(forged.Origin)
			}
			whole := forged.Replay(t.Context(), 2, forged.Segments())
			if whole == nil || !strings.Contains(whole.Error(), "differs from its replay") {
				t.Errorf("%s, %s: %v", spec.Experiment(), name, whole)
			}
			if err := forged.Replay(t.Context(), 2, forged.Stretches()); c.stretches && err == nil {
				t.Errorf("%s, %s: not found in %v", spec.Experiment(), name, forged.Stretches())
			}
			if _, err := s.Get(t.Context(), spec, Options{Fresh: true}); err == nil {
				t.Errorf("%s, %s: not found by training anew", spec.Experiment(), name)
			}
		}
	}
}

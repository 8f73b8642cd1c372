package runs

import (
	"context"
	"fmt"
	"math"
	"slices"

	"learncausal/pkg/train"
)

// Segment is a part of a run: from step From (exclusive) to step To (inclusive).
type Segment struct{ From, To int }

// String returns "from-to".
func (s Segment) String() string { return fmt.Sprintf("%d-%d", s.From, s.To) }

// Segments returns the parts into which the milestones divide the run, in order. Together they cover the run.
func (r *Run) Segments() []Segment {
	all := []Segment{{0, r.Spec.Steps}}
	for _, s := range r.Milestones {
		if s.Step < r.Spec.Steps {
			all[len(all)-1].To = s.Step
			all = append(all, Segment{s.Step, r.Spec.Steps})
		}
	}
	return all
}

// Stretches returns the first min(64, Steps/8) steps of each of the Segments, in order. The first begins the
// run, the last of several ends it, and the others end in an evaluation. A light run has only the first.
func (r *Run) Stretches() []Segment {
	all := r.Segments()
	if n := min(stretch, r.Spec.Steps/8); n > 0 {
		for i := range all {
			all[i].To = all[i].From + n
		}
	}
	return all
}

// Replay retrains parts of a run and compares everything stored of them bit by bit:
// milestones, evaluations, digests of the state and, after the last step, the attention. A
// part begins at step 0 or at a milestone but the last, and ends at an evaluation, a digest
// or a milestone. An error names the run, the part, the step and the first difference.
//
// A part proves nothing about earlier steps; all Segments together prove the run.
func (r *Run) Replay(ctx context.Context, workers int, parts []Segment) error {
	p, err := newPlan(r.Spec)
	if err != nil {
		return err
	}
	if len(r.states) != len(p.marks) || len(r.Curve) != len(p.evaluations) {
		return fmt.Errorf("runs: run %s has no digests of its states, want a run from Get or Load", r.Address)
	}
	ends := slices.Concat(p.marks, p.milestones)
	var t *train.Trainer
	for _, part := range parts {
		from := r.milestone(part.From)
		if from.Weights == nil && part.From != 0 || part.To <= part.From || !slices.Contains(ends, part.To) {
			return fmt.Errorf("runs: replay of steps %v of run %s: want it from 0 or a milestone %v, "+
				"up to a later evaluation or milestone", part, r.Address, p.milestones)
		}
		if t == nil || from.Weights == nil {
			t, err = p.trainer(from, workers)
		} else {
			err = t.Restore(from)
		}
		if err != nil {
			return fmt.Errorf("runs: run %s: %w", r.Address, err)
		}
		if err := r.replay(ctx, p, t, part); err != nil {
			return err
		}
	}
	return nil
}

// milestone returns the milestone at a step, or the zero Snapshot.
func (r *Run) milestone(step int) (m train.Snapshot) {
	for _, s := range r.Milestones {
		if s.Step == step {
			m = s
		}
	}
	return m
}

// replay replays a part of the run; the trainer is at its beginning.
func (r *Run) replay(ctx context.Context, p *plan, t *train.Trainer, part Segment) error {
	for {
		if d := r.difference(p, t); d != "" {
			return fmt.Errorf("runs: run %s differs from its replay of steps %v: at step %d %s",
				r.Address, part, t.Step(), d)
		}
		if t.Step() == part.To {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("runs: replay of run %s stopped at step %d: %w", r.Address, t.Step(), err)
		}
		if err := t.Advance(1); err != nil {
			return fmt.Errorf("runs: replay of run %s: %w", r.Address, err)
		}
	}
}

// difference describes the first difference between the run and the trainer at its step, or returns "".
func (r *Run) difference(p *plan, t *train.Trainer) string {
	step := t.Step()
	mark, marked := slices.BinarySearch(p.marks, step)
	kept := r.milestone(step)
	if !marked && kept.Weights == nil {
		return ""
	}
	now := t.Snapshot()
	if kept.Weights != nil {
		if d := differentWeights(kept, now); d != "" {
			return d
		}
	}
	if i, evaluated := slices.BinarySearch(p.evaluations, step); evaluated {
		q := now.Curve[len(now.Curve)-1]
		if s := r.Curve[i]; s.Step != q.Step || differ(s.Loss, q.Loss) || differ(s.Attention, q.Attention) ||
			!slices.EqualFunc(s.Norms, q.Norms, func(a, b float64) bool { return !differ(a, b) }) {
			return fmt.Sprintf("point %d of the curve is stored as %+v and replayed as %+v", i, s, q)
		}
	}
	if marked && r.states[mark] != digest(now) {
		return fmt.Sprintf("the digest of the state is stored as %q and replayed as %q", r.states[mark], digest(now))
	}
	if step == r.Spec.Steps {
		if s, q := encodeEdges(r.Edges), encodeEdges(r.Spec.Edges(now.Weights)); string(s) != string(q) {
			return fmt.Sprintf("the attention is stored as\n%sand replayed as\n%s", s, q)
		}
	}
	return ""
}

// differ reports whether two numbers differ as bits.
func differ(a, b float64) bool { return math.Float64bits(a) != math.Float64bits(b) }

// differentWeights describes the first entry in which the weights or moments of two snapshots of one run differ
// as bits, or returns "". The stored snapshot may be without moments.
func differentWeights(stored, replayed train.Snapshot) string {
	other := matrices(replayed)
	for k, a := range matrices(stored) {
		cols := len(a.Data) / a.Rows
		for i, x := range a.Data {
			if y := other[k].Data[i]; differ(x, y) {
				return fmt.Sprintf("%s[%d,%d] is stored as %v and replayed as %v", a.Name, i/cols, i%cols, x, y)
			}
		}
	}
	return ""
}

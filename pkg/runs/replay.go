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

// Segments returns the parts into which the states that are kept divide the run, in
// order. Together they are all of it.
func (r *Run) Segments() []Segment {
	var all []Segment
	for _, from := range r.starts() {
		if n := len(all); n > 0 {
			all[n-1].To = from
		}
		all = append(all, Segment{from, r.Spec.Steps})
	}
	return all
}

// Stretches returns the first steps of each of the Segments, at most 64 of them, in
// order: the first begin the run, and where there are several the last end it. The
// others end in an evaluation. Of a light run only the first is left.
func (r *Run) Stretches() []Segment {
	n := min(stretch, r.Spec.Steps/8)
	if n == 0 {
		n = r.Spec.Steps
	}
	var all []Segment
	for _, from := range r.starts() {
		all = append(all, Segment{from, from + n})
	}
	return all
}

// starts returns the steps from which the run can be trained again: 0 and the
// milestones before the last.
func (r *Run) starts() []int {
	all := []int{0}
	for _, s := range r.Milestones {
		if s.Step < r.Spec.Steps {
			all = append(all, s.Step)
		}
	}
	return all
}

// Replay checks parts of a run against training itself. Each begins at step 0 or at a
// milestone but the last, and ends where something is kept. It is trained again, and on
// the way and at its end all that is kept is compared bit by bit: milestones,
// evaluations, digests of the state and, after the last step, the attention. An error
// names the run, the part, the step, and what differs first.
//
// A part says nothing of what comes before it: only all the Segments together prove
// the run.
func (r *Run) Replay(ctx context.Context, workers int, parts []Segment) error {
	p, err := newPlan(r.Spec)
	if err != nil {
		return err
	}
	if len(r.states) != len(p.marks) || len(r.Curve) != len(p.evaluations) {
		return fmt.Errorf("runs: run %s has no digests of its states, want one that Get returned", r.Address)
	}
	var t *train.Trainer
	for _, part := range parts {
		from, err := r.start(p, part)
		switch {
		case err != nil:
			return err
		case from == nil:
			t, err = train.New(r.Spec, workers)
		case t == nil:
			t, err = train.Resume(r.Spec, workers, *from)
		default:
			err = t.Restore(*from)
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

// start returns the state at the beginning of a part of the run, nil for the initial
// one, or an error if the part cannot be replayed.
func (r *Run) start(p *plan, part Segment) (*train.Snapshot, error) {
	fault := func(format string, args ...any) error {
		return fmt.Errorf("runs: replay of steps %v of run %s: %s", part, r.Address, fmt.Sprintf(format, args...))
	}
	if !slices.Contains(r.starts(), part.From) {
		return nil, fault("want it from one of %v, the steps at which the state is kept", r.starts())
	}
	ends := append(slices.Clone(p.marks), p.milestones...)
	if part.To <= part.From || !slices.Contains(ends, part.To) {
		return nil, fault("want it up to a step after that with an evaluation, or to a milestone %v", p.milestones)
	}
	return r.milestone(part.From), nil
}

// milestone returns the milestone at a step, or nil.
func (r *Run) milestone(step int) *train.Snapshot {
	i := slices.IndexFunc(r.Milestones, func(s train.Snapshot) bool { return s.Step == step })
	if i < 0 {
		return nil
	}
	return &r.Milestones[i]
}

// replay trains a part of the run, at whose beginning the trainer is.
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

// difference describes what of the run is not as the trainer has it at the same step,
// or returns "".
func (r *Run) difference(p *plan, t *train.Trainer) string {
	step := t.Step()
	mark, marked := slices.BinarySearch(p.marks, step)
	kept := r.milestone(step)
	if !marked && kept == nil {
		return ""
	}
	now := t.Snapshot()
	if kept != nil {
		if d := differentWeights(*kept, now); d != "" {
			return d
		}
	}
	if i, evaluated := slices.BinarySearch(p.evaluations, step); evaluated {
		q := now.Curve[len(now.Curve)-1]
		if s := r.Curve[i]; s.Step != q.Step || differ(s.Loss, q.Loss) || differ(s.Attention, q.Attention) {
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

// differ tells whether two numbers differ as bits.
func differ(a, b float64) bool { return math.Float64bits(a) != math.Float64bits(b) }

// differentWeights describes the first entry in which the weights or moments of two
// snapshots of one run differ as bits, or returns "". The stored one may be without
// moments.
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

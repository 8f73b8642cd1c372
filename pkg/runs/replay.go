package runs

import (
	"context"
	"fmt"
	"math"

	"learncausal/pkg/train"
)

// stretch is the length of a replayed segment in steps. Two of them and the
// evaluations on the test set at both ends take about half a second.
const stretch = 64

// milestones returns the steps at which weights are kept: the end of a first
// stretch and both ends of a last one.
func milestones(spec train.Spec) []int {
	n := min(stretch, spec.Steps/8)
	if n == 0 {
		return []int{spec.Steps}
	}
	return []int{n, spec.Steps - n, spec.Steps}
}

// Segment is a part of a run: from step From (exclusive) to step To (inclusive).
type Segment struct{ From, To int }

// String returns "from-to".
func (s Segment) String() string { return fmt.Sprintf("%d-%d", s.From, s.To) }

// Replay checks a run against training itself. It trains from the initial weights to the
// first milestone, and from the last milestone but one to the end, and compares
// weights and curve bit by bit with those of r. It returns the segments that
// were trained and found equal. If an entry differs, the error names the run,
// the step and the first such entry.
func (r *Run) Replay(ctx context.Context, workers int) ([]Segment, error) {
	if len(r.Milestones) == 0 {
		return nil, fmt.Errorf("runs: run %s has no milestones, want one that Get returned", r.Address)
	}
	t, err := train.New(r.Spec, workers)
	if err != nil {
		return nil, fmt.Errorf("runs: run %s: %w", r.Address, err)
	}
	var done []Segment
	replay := func(to train.Snapshot) error {
		from := t.Step()
		for t.Step() < to.Step {
			if err := ctx.Err(); err != nil {
				return fmt.Errorf("runs: replay of run %s stopped at step %d: %w", r.Address, t.Step(), err)
			}
			if err := t.Advance(1); err != nil {
				return fmt.Errorf("runs: replay of run %s: %w", r.Address, err)
			}
		}
		if d := difference(to, t.Snapshot()); d != "" {
			return fmt.Errorf("runs: run %s differs from its replay of steps %d-%d: at step %d %s",
				r.Address, from, to.Step, to.Step, d)
		}
		done = append(done, Segment{from, to.Step})
		return nil
	}
	if err := replay(r.Milestones[0]); err != nil {
		return done, err
	}
	if n := len(r.Milestones); n > 1 {
		if err := t.Restore(r.Milestones[n-2]); err != nil {
			return done, fmt.Errorf("runs: run %s: %w", r.Address, err)
		}
		if err := replay(r.Milestones[n-1]); err != nil {
			return done, err
		}
	}
	return done, nil
}

// difference describes the first entry in which two snapshots of one run
// differ as bits, or returns "".
func difference(stored, replayed train.Snapshot) string {
	differ := func(a, b float64) bool { return math.Float64bits(a) != math.Float64bits(b) }
	other := matrices(replayed)
	for k, a := range matrices(stored) {
		cols := len(a.Data) / a.Rows
		for i, x := range a.Data {
			if y := other[k].Data[i]; differ(x, y) {
				return fmt.Sprintf("%s[%d,%d] is stored as %v and replayed as %v", a.Name, i/cols, i%cols, x, y)
			}
		}
	}
	if len(stored.Curve) != len(replayed.Curve) {
		return fmt.Sprintf("the curve is stored with %d points and replayed with %d",
			len(stored.Curve), len(replayed.Curve))
	}
	for i, p := range stored.Curve {
		if q := replayed.Curve[i]; p.Step != q.Step || differ(p.Loss, q.Loss) || differ(p.Attention, q.Attention) {
			return fmt.Sprintf("point %d of the curve is stored as %+v and replayed as %+v", i, p, q)
		}
	}
	return ""
}

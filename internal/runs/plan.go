package runs

import (
	"encoding/binary"
	"fmt"
	"slices"

	"learncausal/internal/files"
	"learncausal/pkg/train"
)

const (
	stretch  = 64        // most steps of a stretch: they take as long as an evaluation at both ends
	inner    = 3         // most milestones between the ends, except for small states
	between  = 256 << 10 // most bytes of several of these milestones
	small    = 64 << 10  // bytes of a small state
	apart    = 1 << 12   // steps between the milestones of small states
	maxMarks = 1 << 18   // bounds run.json
)

// A plan is the list of everything stored of a run. The spec determines it.
//
// The state is stored at the milestones: at up to three steps between the ends, fewer for a large model, about
// every 4096 steps for a small one; one stretch before the last step; and after the last step, there without
// moments. Each milestone but the last is one stretch before an evaluation.
//
// A digest of the state is stored at the marks: the evaluations and the end of the first stretch. Hence every
// stretch from a stored state ends in a digest.
type plan struct {
	manifest

	evaluations, marks, milestones []int // steps, increasing
}

// newPlan validates a spec, makes it canonical, computes its address, and returns the plan of its run.
func newPlan(spec train.Spec) (*plan, error) {
	if err := spec.Validate(); err != nil {
		return nil, fmt.Errorf("runs: %w", err)
	}
	spec = spec.Canonical()
	id, err := identify(spec)
	if err != nil {
		return nil, err
	}
	if n := spec.Steps / spec.Every; n > maxMarks {
		return nil, fmt.Errorf("runs: spec: every is %d, which gives %d evaluations, want at most %d",
			spec.Every, n, maxMarks)
	}
	last, err := spec.NewSnapshot(spec.Steps)
	if err != nil {
		return nil, fmt.Errorf("runs: %w", err)
	}
	p := &plan{manifest: id}
	for _, point := range last.Curve {
		p.evaluations = append(p.evaluations, point.Step)
	}
	n := min(stretch, spec.Steps/8)
	if n == 0 {
		p.marks, p.milestones = p.evaluations, []int{spec.Steps}
		return p, nil
	}
	p.marks = append(slices.Clone(p.evaluations), n)
	slices.Sort(p.marks)
	p.marks = slices.Compact(p.marks)
	parts := 1 + min(max(between/size(last), 1), inner)
	if size(last) <= small {
		parts = max(parts, spec.Steps/apart)
	}
	for i := 1; i < parts; i++ {
		at := p.evaluations[len(p.evaluations)*i/parts] - n
		if at > 0 && at < spec.Steps-n {
			p.milestones = append(p.milestones, at)
		}
	}
	// If evaluations are rare, several parts end at the same one.
	p.milestones = append(slices.Compact(p.milestones), spec.Steps-n, spec.Steps)
	return p, nil
}

// until returns the number of the increasing steps that are at most step.
func until(step int, steps []int) int {
	n, found := slices.BinarySearch(steps, step)
	if found {
		n++
	}
	return n
}

// form returns a zero snapshot with the shape of milestone i.
func (p *plan) form(i int) train.Snapshot {
	s := must(p.Spec.NewSnapshot(p.milestones[i]))
	if i == len(p.milestones)-1 {
		s.Moments = nil
	}
	return s
}

// Memory estimates the peak memory, in bytes, of [Store.Get] when it trains the run of spec
// with the given number of workers, one for each processor if not positive. It returns an
// error if the spec is wrong or has no address.
func Memory(spec train.Spec, workers int) (float64, error) {
	p, err := newPlan(spec)
	if err != nil {
		return 0, err
	}
	return p.memory(workers), nil
}

// memory is Memory: the trainer, the milestones, the state before the steps of [pace], the
// current state, and all of these states again in a checkpoint.
func (p *plan) memory(workers int) float64 {
	states := (2*len(p.milestones) + 3) * size(must(p.Spec.NewSnapshot(0)))
	return p.Spec.Memory(workers) + float64(states)
}

// size returns the number of bytes of the weights and moments of a state.
func size(s train.Snapshot) int {
	n := 0
	for _, a := range matrices(s) {
		n += 8 * len(a.Data)
	}
	return n
}

// digest returns the first 32 hexadecimal digits of the SHA-256 of the weights and then the moments of a state:
// matrix by matrix in the order of the files of weights, row by row, float64 numbers in little endian.
func digest(s train.Snapshot) string {
	b := make([]byte, 0, size(s))
	for _, a := range matrices(s) {
		b = must(binary.Append(b, binary.LittleEndian, a.Data))
	}
	return files.Sum(b)[:digits]
}

// digits is the length of a digest.
const digits = 32

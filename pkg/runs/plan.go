package runs

import (
	"encoding/binary"
	"fmt"
	"slices"

	"learncausal/pkg/train"
)

const (
	// stretch is the most steps that a replay of a stretch takes: about as long as
	// the evaluations on the test set at both of its ends.
	stretch = 64
	// between is how many bytes the states between the ends of a run take at most,
	// unless it is one, and inner how many they are at most: but of states of at most
	// small bytes there is one at every so many steps.
	between = 256 << 10
	inner   = 3
	small   = 64 << 10
	apart   = 1 << 12
	// maxMarks bounds run.json.
	maxMarks = 1 << 18
)

// A plan is what is kept of a run: all of it depends on the spec alone.
//
// The whole state is kept after each of the milestones: at up to three steps between
// the ends, fewer of a large model, and about every 4096 steps of a small one, a stretch
// before the last step, and at the last one, there without moments. Each but the last is
// a stretch before an evaluation.
//
// A digest of the state is kept at each of the marks: the end of the first stretch and
// the evaluations. So the stretch that follows the initial state, or one that is kept,
// ends in a digest, and all but the first in an evaluation too.
type plan struct {
	manifest

	evaluations, marks, milestones []int // steps, increasing
}

// newPlan returns the plan of the run of a spec, which is made canonical.
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
		return nil, fmt.Errorf("runs: spec: every is %d, which gives %d evaluations, want at most %d of them",
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
	// There are several parts for an evaluation where these are rare.
	p.milestones = append(slices.Compact(p.milestones), spec.Steps-n, spec.Steps)
	return p, nil
}

// until returns how many of some increasing steps are up to the given one.
func until(step int, steps []int) int {
	n, found := slices.BinarySearch(steps, step)
	if found {
		n++
	}
	return n
}

// form returns milestone i as it is kept, with zeros for numbers.
func (p *plan) form(i int) train.Snapshot {
	s := must(p.Spec.NewSnapshot(p.milestones[i]))
	if i == len(p.milestones)-1 {
		s.Moments = nil
	}
	return s
}

// Memory returns about how many bytes [Store.Get] takes at most to train the run of a spec
// on so many workers, one for each processor if workers is not positive. There is an error
// if the spec is wrong or has no address.
func Memory(spec train.Spec, workers int) (float64, error) {
	p, err := newPlan(spec)
	if err != nil {
		return 0, err
	}
	return p.memory(workers), nil
}

// memory is Memory: that of the trainer, of the states that are kept and the one before the
// steps that [pace] takes, and of the states once more in a checkpoint.
func (p *plan) memory(workers int) float64 {
	states := (2*len(p.milestones) + 3) * size(must(p.Spec.NewSnapshot(0)))
	return p.Spec.Memory(workers) + float64(states)
}

// size returns how many bytes the weights and moments of a state take.
func size(s train.Snapshot) int {
	n := 0
	for _, a := range matrices(s) {
		n += 8 * len(a.Data)
	}
	return n
}

// digest returns the first 32 hexadecimal digits of the SHA-256 of the weights of a
// state and then its moments: matrix by matrix in the order of the files of weights,
// row by row, eight bytes a number, the least significant first.
func digest(s train.Snapshot) string {
	b := make([]byte, 0, size(s))
	for _, a := range matrices(s) {
		b = must(binary.Append(b, binary.LittleEndian, a.Data))
	}
	return sum256(b)[:digits]
}

// digits is the length of a digest.
const digits = 32

package sweep

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"learncausal/paper/experiment"
	"learncausal/pkg/runs"
	"learncausal/pkg/train"
)

// A Cost is what runs take, as far as a short measurement tells.
type Cost struct {
	CPU     time.Duration // time of processors for all runs
	Longest time.Duration // of the longest
	Disk    float64       // bytes
}

// Memory returns about how many bytes those of the runs with the given numbers take that
// need most, so many at a time.
func (s *Sweep) Memory(which []int, jobs int) (float64, error) {
	all := make([]float64, len(which))
	for k, i := range which {
		var err error
		if all[k], err = runs.Memory(s.Plan.Runs[i].Spec, workers(jobs, len(which))); err != nil {
			return 0, err
		}
	}
	slices.Sort(all)
	sum := 0.0
	for _, bytes := range all[max(0, len(all)-jobs):] {
		sum += bytes
	}
	return sum, nil
}

// Cost measures the first steps of a run of each kind among those with the given
// numbers, and throws them away. Runs are of one kind that differ in their graph of
// the same length, with as many parents at most, in seed, rate, steps or evaluations. A run whose weights are in the
// store takes nothing, and the time of what runs are compared with is left out. Tell is given the
// share of the kinds that is measured.
func (s *Sweep) Cost(ctx context.Context, which []int, tell func(share float64)) (Cost, error) {
	kinds := map[string][]int{}
	var names []string
	for _, i := range which {
		switch has, err := s.Store.HasWeights(s.Plan.Runs[i].Address); {
		case err != nil:
			return Cost{}, err
		case has:
			continue
		}
		name := kind(s.Plan.Runs[i].Spec)
		if kinds[name] == nil {
			names = append(names, name)
		}
		kinds[name] = append(kinds[name], i)
	}
	var total Cost
	sum := 0.0
	for k, name := range names {
		tell(float64(k) / float64(len(names)))
		begun, worked := time.Now(), cpuTime()
		cost, err := experiment.MeasureCost(ctx, s.Plan.Runs[kinds[name][0]].Spec, 1)
		if err != nil {
			return total, fmt.Errorf("sweep: run %s: %w", s.Plan.Runs[kinds[name][0]].Address, err)
		}
		// On a busy machine the process waits for much of the time.
		busy := float64(cpuTime()-worked) / float64(time.Since(begun))
		cost.Step = time.Duration(busy * float64(cost.Step))
		cost.Evaluation = time.Duration(busy * float64(cost.Evaluation))
		for _, i := range kinds[name] {
			spec := s.Plan.Runs[i].Spec
			c := cost.Of(spec)
			sum += float64(c.Total())
			total.Longest = max(total.Longest, c.Total())
			total.Disk += s.disk(c, spec.T())
		}
	}
	total.CPU = time.Duration(min(sum, math.MaxInt64/2))
	return total, nil
}

func kind(s train.Spec) string {
	task, prior := "1", ""
	switch of := s.Task.(type) {
	case train.Task1:
		prior = of.Prior
	case train.Task2:
		most := 0
		for _, ps := range of.Parents {
			most = max(most, len(ps))
		}
		task, prior = fmt.Sprintf("2 with %d parents", most), of.Prior
	}
	return fmt.Sprintf("%s %s %d %d %T %v %T %d %d",
		task, prior, s.T(), s.S(), s.Model, s.Model, s.Optimiser, s.Batch, s.Test)
}

// What is kept of a run, in bytes: a point of its curve or an edge in its result, and
// in the store where the weights are not kept; and how many states are, a moment of an
// optimiser counted as one.
const (
	bytesOfPoint = 80
	bytesOfCurve = 3000
	states       = 5
)

// disk returns about how many bytes are kept of a run of that cost on t positions.
func (s *Sweep) disk(c experiment.Cost, t int) float64 {
	result := bytesOfPoint * float64(c.Evaluations+t)
	if s.Plan.Keep == Curve {
		return result + bytesOfCurve
	}
	return result + states*8*float64(c.Parameters)
}

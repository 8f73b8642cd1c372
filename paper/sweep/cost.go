package sweep

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"learncausal/internal/runs"
	"learncausal/paper/trial"
	"learncausal/pkg/train"
)

// A Cost is an estimate of the cost of runs.
type Cost struct {
	CPU     time.Duration // processor time of all runs
	Longest time.Duration // processor time of the longest run
	Disk    float64       // bytes
}

// Memory estimates the peak memory, in bytes, of training the runs whose numbers are in which, jobs at a time.
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

// Cost estimates the cost of the runs whose numbers are in which. It measures the first steps of one run of
// each kind, and calls progress with the share of the runs so far. Runs of one kind differ in seed, rate,
// steps, evaluations, and in a graph with the same length and the same maximal number of parents. A run whose
// weights are in the store costs nothing; the time of comparisons is left out.
func (s *Sweep) Cost(ctx context.Context, which []int, progress func(share float64)) (Cost, error) {
	var total Cost
	sum := 0.0
	measured := map[string]trial.Cost{} // by kind
	for k, i := range which {
		r := s.Plan.Runs[i]
		switch has, err := s.Store.HasWeights(r.Address); {
		case err != nil:
			return Cost{}, err
		case has:
			continue
		}
		cost, found := measured[kind(r.Spec)]
		if !found {
			progress(float64(k) / float64(len(which)))
			var err error
			if cost, err = trial.MeasureCost(ctx, r.Spec, 1); err != nil {
				return total, fmt.Errorf("sweep: run %s: %w", r.Address, err)
			}
			measured[kind(r.Spec)] = cost
		}
		cost = cost.Of(r.Spec)
		sum += float64(cost.Total())
		total.Longest = max(total.Longest, cost.Total())
		total.Disk += s.disk(cost, r.Spec.T())
	}
	total.CPU = time.Duration(min(sum, math.MaxInt64/2))
	return total, nil
}

// kind names the kind of a run: two runs of a kind take equal times for a step and for an evaluation.
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

// Parts of a stored run.
const (
	bytesOfPoint = 80   // of a point of the curve or an edge, in the result
	bytesOfCurve = 3000 // of a run without weights, in the store
	states       = 5    // weights and moments of the optimiser, in the store
)

// disk estimates the bytes on disk of a run of the given cost on t positions.
func (s *Sweep) disk(c trial.Cost, t int) float64 {
	result := bytesOfPoint * float64(c.Evaluations+t)
	if s.Plan.Keep == Curve {
		return result + bytesOfCurve
	}
	return result + states*8*float64(c.Parameters)
}

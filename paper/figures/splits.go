package figures

import (
	"errors"
	"fmt"
	"slices"

	"learncausal/paper/trial"
	"learncausal/pkg/runs"
	"learncausal/pkg/train"
)

// Splits are the runs of runs/sweeps/several-parents.toml in one setting of Figures 5 and 7.
type Splits struct {
	MultiParent
	Runs []SplitRun // by seed
}

// A SplitRun is one run. Its heads are matched with the places in the lists of parents by
// the assignment that holds at most nodes.
type SplitRun struct {
	Seed    uint64
	Nodes   int // positions with parents, the last one not included
	Split   int // nodes where each head has over half of its attention on its own parent
	Swapped int // nodes where each head has over half of its attention on another parent
	Steps   []int
	Loss    []float64 // along training, on the test set
}

// HasSplit reports whether the heads split the parents, see [MultiRun.HasSplit].
func (r *SplitRun) HasSplit() bool {
	return float64(r.Split) >= SplitShare*float64(r.Nodes)
}

// Fallen returns the first step at which the loss has made nine tenths of its total decrease.
func (r *SplitRun) Fallen() int {
	first, last := r.Loss[0], r.Loss[len(r.Loss)-1]
	return r.Steps[slices.IndexFunc(r.Loss, func(l float64) bool { return first-l >= 0.9*(first-last) })]
}

// HaveSplit returns the number of runs whose heads split the parents.
func (s Splits) HaveSplit() int {
	n := 0
	for _, r := range s.Runs {
		if r.HasSplit() {
			n++
		}
	}
	return n
}

// LoadSplits reads the results of runs/sweeps/several-parents.toml, in the order of the plan.
func LoadSplits() ([]Splits, error) {
	all, err := trial.Outcomes(severalParents)
	if err != nil {
		return nil, err
	}
	return newSplits(all)
}

func newSplits(outcomes []*trial.Outcome) ([]Splits, error) {
	var all []Splits
	for _, o := range outcomes {
		setting, err := settingOf(o.Spec)
		if err == nil && o.Diverged != "" {
			err = errors.New("it has diverged")
		}
		if err != nil {
			return nil, fmt.Errorf("figures: run %s of %s: %w", o.Address, severalParents, err)
		}
		k := slices.IndexFunc(all, func(s Splits) bool { return s.Name == setting.Name })
		if k < 0 {
			k = len(all)
			all = append(all, Splits{MultiParent: setting})
		}
		all[k].Runs = append(all[k].Runs, newSplitRun(setting, o))
	}
	return all, nil
}

// settingOf returns the setting of Figures 5 and 7 that a run is in.
func settingOf(spec train.Spec) (MultiParent, error) {
	for _, m := range MultiParents() {
		for _, m := range []MultiParent{m, m.InPrint()} {
			same := m.Spec(int(spec.Seed))
			if runs.Address(same) == runs.Address(spec) {
				return m, nil
			}
		}
	}
	return MultiParent{}, fmt.Errorf("it is in no setting of Figures 5 and 7")
}

// newSplitRun counts the nodes at which the heads split the parents, from the edges. A
// head with more than half of the attention of a node on one parent has less on every
// other, so that the head of such an edge is the only one that attends to the parent.
func newSplitRun(m MultiParent, o *trial.Outcome) SplitRun {
	run := SplitRun{Seed: o.Spec.Seed}
	for _, p := range o.Curve {
		run.Steps, run.Loss = append(run.Steps, p.Step), append(run.Loss, float64(p.Loss))
	}
	count := map[string]int{} // nodes where every parent is attended to, by the heads of the parents
	for i, parents := range m.Graph.Parents()[:m.Graph.T()-1] {
		if len(parents) == 0 {
			continue
		}
		run.Nodes++
		heads := make([]int, len(parents))
		for l, j := range parents {
			is := func(e trial.OwnEdge) bool { return e.Child == i && e.Parent == j }
			heads[l] = -1
			if e := o.Edges[slices.IndexFunc(o.Edges, is)]; e.Attention > 0.5 {
				heads[l] = e.Head
			}
		}
		if !slices.Contains(heads, -1) {
			count[fmt.Sprint(heads)]++
		}
	}
	for _, n := range count {
		run.Split = max(run.Split, n)
		run.Swapped += n
	}
	run.Swapped -= run.Split
	return run
}

// Package answers puts questions to the sweeps in sweeps/, which are larger than the
// experiments of the paper: how often an edge of Figure 9 fails and whether the printed
// mean is one draw of ours ([LoadSeeds]), how often the heads split several parents
// ([LoadSplits]), and whether what people train, both layers at once, obeys what is
// proved of Algorithm 1 ([LoadJoint]).
//
// What became of each run of a sweep is stored in sweeps/<name>/results.jsonl; paper
// sweep trains any of them again.
package answers

import (
	"path/filepath"

	"learncausal/paper/experiment"
	"learncausal/paper/sweep"
)

// load returns the runs of a plan of this project, and what became of each.
func load(plan string) ([]sweep.Run, []*sweep.Result, error) {
	dir, err := experiment.Dir("sweeps")
	if err != nil {
		return nil, nil, err
	}
	s, err := sweep.Open(filepath.Join(dir, plan))
	if err != nil {
		return nil, nil, err
	}
	results, err := s.Results()
	return s.Plan.Runs, results, err
}

package figures

import (
	"cmp"
	"slices"
	"testing"
)

// More tokens give a smaller loss, and every run ends near the counts after all of them.
func TestStagesOfTheStoredRuns(t *testing.T) {
	all, err := LoadStages()
	if err != nil || len(all) != 2 {
		t.Fatalf("%d tasks, %v", len(all), err)
	}
	for _, n := range all {
		falls := slices.IsSortedFunc(n.Levels, func(a, b float64) int { return cmp.Compare(b, a) })
		if len(n.Runs) != 10 || len(n.Levels) != n.Parents+2 || !falls {
			t.Errorf("%d parents: %d runs, want ten; levels %v, want decreasing", n.Parents, len(n.Runs), n.Levels)
		}
		best := n.Levels[len(n.Levels)-1]
		for _, r := range n.Runs {
			if end := r.Loss[len(r.Loss)-1]; end < best-0.02 || end > best+0.04 {
				t.Errorf("%d parents: a run ends at %v, the best predictor at %v", n.Parents, end, best)
			}
		}
	}
}

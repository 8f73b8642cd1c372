package claims

import (
	"testing"

	"learncausal/pkg/graph"
	"learncausal/pkg/model"
	"learncausal/pkg/task"
)

// The formula of the corrected Construction 1 names the positions of largest
// score, which do not come from it.
func TestExactLimitIsTheHardMax(t *testing.T) {
	same := func(a, b []int) bool {
		seen := map[int]int{}
		for _, i := range a {
			seen[i]++
		}
		for _, i := range b {
			seen[i]--
		}
		for _, n := range seen {
			if n != 0 {
				return false
			}
		}
		return true
	}
	wrong := 0
	for n := 2; n <= 6; n++ {
		for g := range graph.All(n) {
			c := model.ConstructionOne(g, 2)
			for x := range task.Sequences(2, n) {
				if !same(childrenAndFirstRoots(g, x), c.Attended(x)) {
					t.Errorf("graph %v, sequence %v: %v, want %v", g, x, childrenAndFirstRoots(g, x), c.Attended(x))
				}
				if !same(childrenOfMatches(g, x), c.Attended(x)) {
					wrong++
				}
				if t.Failed() {
					break
				}
			}
		}
	}
	if wrong == 0 {
		t.Error("the printed limit is never wrong")
	}
}

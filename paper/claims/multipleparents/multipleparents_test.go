package multipleparents

import (
	"fmt"
	"testing"

	"learncausal/paper/claims/compare"
	"learncausal/paper/exact"
	"learncausal/pkg/graph"
)

// Behind the roots 1 to 6 stand four children of 1 and 2, and the children 11 and 12 of {5, 6} and {7, 8}.
// In 1 1 1 2 2 2 1 1 1 1 1 2 1, where the target has the parents 3 and 4, no position matches them, and
// the prefix of 1s does not count. The pairs of a 3-gram are disjoint at every second position.
func TestVotesByHand(t *testing.T) {
	check := compare.With(t)
	parents := pairsBehind(2, 4).Parents()
	check("disjoint sets of parents", float64(disjointParents(parents[:12])), 3)
	check("disjoint pairs of a 3-gram", float64(disjointParents(graph.NGram(9, 2).Parents()[:8])), 3)
	stated := votes{1, 1, 1, disjointParents}
	x := []int{0, 0, 0, 1, 1, 1, 0, 0, 0, 0, 0, 1, 0}
	check("a share without matches", exact.Float(stated.shareOf(parents, x)), 1)
	x[3] = 0 // 7 to 10 and 12 match; 1 to 4 are roots behind a constant prefix
	check("a share", exact.Float(stated.shareOf(parents, x)), 5./10)
	check("a bound", exact.Float(stated.bound(parents, 2, exact.Rats("1/3 2/3; 2/3 1/3"))), 4*4*9./3)
}

func TestUniformGraphs(t *testing.T) {
	// On 2 positions: the target has the parents {1, 2}, positions are roots. On
	// 3: position 3 is a root or a child, and the target has 3 choices.
	for _, c := range []struct {
		t, k    int
		ordered bool
		want    int
	}{
		{2, 2, false, 1}, {2, 2, true, 2}, {3, 2, false, 2 * 3}, {3, 2, true, 3 * 6}, {3, 3, false, 1}, {4, 3, true, 7 * 24},
	} {
		all, seen := uniformGraphs(c.t, c.k, c.ordered), map[string]bool{}
		for _, g := range all {
			seen[fmt.Sprint(g.Parents())] = true
		}
		if len(seen) != c.want || len(all) != c.want {
			t.Errorf("%d positions, %d parents: %d graphs, %d different, want %d", c.t, c.k, len(all), len(seen), c.want)
		}
	}
}

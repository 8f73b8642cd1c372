package claims

import (
	"fmt"
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
				if !same(exactLimit(g, x), c.Attended(x)) {
					t.Errorf("graph %v, sequence %v: %v, want %v", g, x, exactLimit(g, x), c.Attended(x))
				}
				wrong += int(unit(!same(printedLimit(g, x), c.Attended(x))))
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

func TestUniformGraphs(t *testing.T) {
	// On 2 positions: the target has the parents {1, 2}, positions are roots. On
	// 3: position 3 is a root or a child, and the target has 3 choices.
	for _, c := range []struct {
		t, k    int
		ordered bool
		want    int
	}{{2, 2, false, 1}, {2, 2, true, 2}, {3, 2, false, 2 * 3}, {3, 2, true, 3 * 6}, {3, 3, false, 1}, {4, 3, true, 7 * 24}} {
		all, seen := uniformGraphs(c.t, c.k, c.ordered), map[string]bool{}
		for _, g := range all {
			seen[fmt.Sprint(g.Parents())] = true
		}
		if len(seen) != c.want || len(all) != c.want {
			t.Errorf("%d graphs on %d positions with %d parents, %d of them different, want %d", len(all), c.t, c.k, len(seen), c.want)
		}
	}
}

// TestPrimitiveChains knows the answers for S = 3.
func TestPrimitiveChains(t *testing.T) {
	for _, c := range []struct {
		support [][]bool
		want    string
	}{
		{[][]bool{{false, true, false}, {false, false, true}, {true, false, false}}, "periodic"},
		{[][]bool{{false, true, false}, {false, false, true}, {true, true, false}}, ""}, // cycles of length 2 and 3
		{[][]bool{{true, false, false}, {true, true, true}, {true, true, true}}, "reducible"},
	} {
		if ok, why := isPrimitive(c.support); why != c.want || ok != (why == "") {
			t.Errorf("%v: %q, want %q", c.support, why, c.want)
		}
	}
}

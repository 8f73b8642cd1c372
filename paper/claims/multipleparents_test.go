package claims

import (
	"fmt"
	"testing"
)

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

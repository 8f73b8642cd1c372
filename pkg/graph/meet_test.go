package graph

import (
	"math/rand/v2"
	"testing"
)

// The edges down to both ends are those of the path between them, and the
// ancestors of the meeting point are exactly the common ones.
func TestMeetIsTheLastCommonAncestor(t *testing.T) {
	src := rand.NewPCG(1, 1)
	for range 50 {
		f := Random(12, 0.2, src)
		above := func(i int) map[int]int {
			m := map[int]int{}
			for d := 0; i != Root; i, d = f.Parent(i), d+1 {
				m[i] = d
			}
			return m
		}
		for i := range f.T() {
			for j := range f.T() {
				k, a, b := f.Meet(i, j)
				ai, aj, want := above(i), above(j), Root
				for v := range ai {
					if _, ok := aj[v]; ok && v > want {
						want = v
					}
				}
				if k != want {
					t.Fatalf("%v: Meet(%d, %d) is %d, want %d", f, i, j, k, want)
				}
				if k == Root {
					if f.Distance(i, j) != -1 || a != -1 || b != -1 {
						t.Fatalf("%v: Meet(%d, %d) finds different trees at %d and %d edges", f, i, j, a, b)
					}
				} else if a != ai[k] || b != aj[k] || a+b != f.Distance(i, j) {
					t.Fatalf("%v: Meet(%d, %d) is %d and %d edges away", f, i, j, a, b)
				}
			}
		}
	}
}

package graph

import (
	"slices"
	"testing"
	"time"
)

func TestTEffIsTOverMostLeavesOfATree(t *testing.T) {
	for _, n := range []int{2, 3, 4, 7, 20, 41} {
		for _, f := range []*Forest{Chain(n), InContext(n)} { // Section 4.2 (def-teff-examples)
			if got := f.TEff(); got != float64(n) {
				t.Errorf("%v: TEff = %v, want T", f, got)
			}
		}
	}
	for _, test := range []struct {
		parents []int
		want    float64
	}{
		{Figure1().Parents(), 3},
		{[]int{-1, 0, 0, 0, 0, -1}, 6. / 4},                  // star
		{[]int{-1, -1, 0, 0, 1, 1, 1, -1}, 8. / 3},           // the second tree has most
		{[]int{-1, -1, -1, -1, -1}, 5},                       // roots only
		{[]int{-1, 0, 1, 1, 3, 3, 0, -1, 7, 7, -1}, 11. / 4}, // caterpillar and cherry
	} {
		if got := MustNew(test.parents...).TEff(); got != test.want {
			t.Errorf("%v: TEff = %v, want %v", test.parents, got, test.want)
		}
	}
	// 6 pairs at distance 0, 8 at 1, 6 at 2, 4 at 3 and 2 at 4: all exact in binary.
	if got, want := Figure1().TEffLambda(0.5), 36/12.125; got != want {
		t.Errorf("Example: TEffLambda(1/2) = %v, want %v", got, want)
	}
}

// The bound T_eff(lambda) >= (1-lambda) T/(1 + lambda L) that TEffLambda documents, for at most L leaves in a tree.
func TestTEffLambdaIsBoundedByLeaves(t *testing.T) {
	ratio := func(f *Forest, lambda float64) float64 {
		leaves := float64(f.T()) / f.TEff()
		return f.TEffLambda(lambda) / ((1 - lambda) * float64(f.T()) / (1 + lambda*leaves))
	}
	fs := some()
	for n := 2; n <= 8; n++ {
		fs = slices.AppendSeq(fs, All(n))
	}
	for _, f := range fs {
		for _, lambda := range []float64{0, 0.01, 0.3, 0.5, 0.9, 0.99} {
			if c := ratio(f, lambda); c < 1-1e-14 {
				t.Errorf("%v, lambda %v: T_eff(lambda) is %v of (1-lambda) T/(1+lambda L)", f, lambda, c)
			}
		}
	}
	// Long chains approach it, so that no factor can be gained.
	if c := ratio(Chain(5000), 0.9); c < 1 || c > 1.005 {
		t.Errorf("Chain(5000): T_eff(0.9) is %v of the bound, want just above 1", c)
	}
}

func TestAdjacencyHasAOneAtEachParent(t *testing.T) {
	f := Figure1()
	a := f.Adjacency()
	for i := range f.T() {
		for j := range f.T() {
			if got := a.At(i, j); got != 0 && got != 1 || (got == 1) != (f.Parent(i) == j) {
				t.Errorf("(%d, %d) is %v", i, j, got)
			}
		}
	}
}

// One pass over the positions takes milliseconds; a search for each position takes over ten seconds.
func TestLeavesAndTEffTakeOnePass(t *testing.T) {
	const n = MaxT / 4
	comb := Grow(n, func(i int) int { return max(i-1-(i+1)%2, Root) }) // a chain of even positions, a leaf on each
	begun := time.Now()
	if leaves, teff := Chain(n).Leaves(), comb.TEff(); len(leaves) != 2 || teff > 3 {
		t.Errorf("a chain has %d leaves, want 2, and a comb the effective length %v, want about 2", len(leaves), teff)
	}
	if took := time.Since(begun); took > 5*time.Second {
		t.Errorf("%d positions took %v", n, took)
	}
}

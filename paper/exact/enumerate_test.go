package exact

import (
	"math/big"
	"slices"
	"strings"
	"testing"
)

// The points of the simplex are the compositions of den into n parts, of which
// there are C(den-1, n-1), in order.
func TestSimplexHasEveryCompositionOnce(t *testing.T) {
	for _, c := range []struct{ n, den, want int }{{1, 1, 1}, {2, 6, 5}, {3, 6, 10}, {4, 7, 20}, {3, 3, 1}, {3, 2, 0}} {
		var all []Vector
		for p := range Simplex(c.n, c.den) {
			if all = append(all, p); slices.ContainsFunc(p, func(x *big.Rat) bool { return x.Sign() <= 0 }) {
				t.Errorf("%v is not in the open simplex", p.Strings())
			}
		}
		inOrder(t, all, c.want)
	}
}

func TestGridVariesTheFirstEntryFastest(t *testing.T) {
	var got []string
	for u := range Grid(2, 2) {
		got = append(got, u.Strings()...)
	}
	if want := strings.Fields("0 0  1 0  2 0  0 1  1 1  2 1  0 2  1 2  2 2"); !slices.Equal(got, want) {
		t.Errorf("grid %v, want %v", got, want)
	}
}

func TestPositiveRunsThroughAllMatrices(t *testing.T) {
	for _, c := range []struct{ s, den, want int }{{3, 3, 1}, {3, 4, 27}, {2, 5, 16}, {3, 2, 0}} {
		var all []Vector
		for pi := range Positive(c.s, c.den) {
			if all = append(all, slices.Concat(pi...)); CheckRows(pi) != nil {
				t.Error(CheckRows(pi))
			}
		}
		inOrder(t, all, c.want)
	}
}

// 0.245 has the largest remainder, and gets the tenth that is left.
func TestRoundKeepsRowsExact(t *testing.T) {
	got := Vector(Round([]float64{0.13, 0.245, 0.625, 1, 0, 0, 0, 0, 1}, 3, 10)[0]).Strings()
	if !slices.Equal(got, []string{"1/10", "3/10", "3/5"}) {
		t.Errorf("0.13, 0.245, 0.625 in tenths: %v", got)
	}
}

// inOrder fails unless there are so many vectors, each greater than the one before.
func inOrder(t *testing.T, all []Vector, want int) {
	t.Helper()
	for k := 1; k < len(all); k++ {
		if slices.CompareFunc(all[k-1], all[k], (*big.Rat).Cmp) >= 0 {
			t.Errorf("%v comes after %v", all[k].Strings(), all[k-1].Strings())
		}
	}
	if len(all) != want {
		t.Errorf("%d vectors, want %d", len(all), want)
	}
}

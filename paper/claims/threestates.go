package claims

import (
	"fmt"
	"math"
	"math/big"

	"learncausal/paper/exact"
	"learncausal/paper/ledger"
)

// everyThreeStates encloses what is left of the gap times gamma^3/9 for three
// states: in the notation of its proof among the errata (thm-dpi-gap-sharp), that
//
//	|C|^2 - times/3 gamma spread(C) - gamma/(2 sqrt(3 r)) (t tr(C)^2 + (5/4 |C|^2 - 2 det C)/t)
//	  - s (spread(C) - r |C|^2)
//
// is a positive form in the 2 x 2 matrix C for some s, r >= 0 and t > 0, where
// times/3 gamma r + gamma/sqrt(3 r) <= 1, for each gamma in [3/7, 3/4] and each
// measure mu that the second bullet of Assumption 1 allows. It says so for a note.
func everyThreeStates(w *ledger.Worst, times *big.Rat) string {
	domain := []exact.Range{{Lo: 0.428, Hi: 0.75}, {Lo: 0.142, Hi: 0.334}, {Lo: 0.142, Hi: 0.5}}
	boxes := w.Everywhere(domain, 1<<17, func(box []exact.Range) (lhs, rhs exact.Range, asks bool) {
		gamma, mu := box[0], [3]exact.Range{box[1], box[2], exact.At(1).Sub(box[1]).Sub(box[2])}
		if !mayBe(gamma, mu) {
			return lhs, rhs, false
		}
		mu[2].Lo = max(mu[2].Lo, mu[1].Lo) // it is the largest
		return exact.At(0), leastPivot(gamma, mu, rangeOf(times)), true
	})
	return fmt.Sprintf(", and by %d what the proof leaves to a computation for S = 3", boxes)
}

// mayBe reports whether gamma/3 <= mu_1 <= mu_2 <= mu_3 and the second bullet of
// Assumption 1 are possible in a box: with pi = gamma/3 + (1-gamma) q and nu =
// (mu - gamma/3)/(1-gamma) it asks that
//
//	gamma^2/3 <= (1-gamma)^2 sum_s |q(.|s) - nu|^2 <= (1-gamma)^2 (1 - |nu|^2)/mu_1
func mayBe(gamma exact.Range, mu [3]exact.Range) bool {
	third, rest := gamma.Quo(exact.At(3)), exact.At(1).Sub(gamma)
	if third.Lo > mu[0].Hi || mu[0].Lo > mu[1].Hi || mu[1].Lo > mu[2].Hi {
		return false
	}
	room := rest.Pow(2)
	for _, m := range mu {
		room = room.Sub(m.Sub(third).Pow(2))
	}
	return room.Hi >= gamma.Pow(2).Mul(mu[0]).Quo(exact.At(3)).Lo
}

// leastPivot returns a range that is positive if the form is, for one of some s
// and t, at all points of the box.
func leastPivot(gamma exact.Range, mu [3]exact.Range, times exact.Range) exact.Range {
	r := largestRatio(gamma.Hi, times.Hi)
	root := gamma.Quo(exact.At(3).Mul(exact.At(r)).Sqrt()) // gamma/sqrt(3 r)
	slope := times.Mul(gamma).Quo(exact.At(3))
	best := exact.Range{Lo: math.Inf(-1), Hi: math.Inf(1)}
	if slope.Mul(exact.At(r)).Add(root).Hi > 1 {
		return best
	}
	spread := spreadForm(mu)
	for _, st := range [][2]float64{{0, 1.2}, {0.1, 1.2}, {0.3, 1.3}, {0.5, 1.8}, {1, 1.4}, {1, 2.5}, {2, 3.7}} {
		form := threeForm(spread, slope, root, exact.At(r), exact.At(st[0]), exact.At(st[1]))
		if p := pivotOf(form); p > best.Lo {
			best.Lo = p
		}
		if best.Lo > 0 {
			break
		}
	}
	return best
}

// threeForm returns the symmetric matrix of the form in (C_11, C_12, C_21, C_22) for
// some s and t, given that of spread(C), slope = times/3 gamma, root =
// gamma/sqrt(3 r), and r.
func threeForm(spread [4][4]exact.Range, slope, root, r, s, t exact.Range) (form [4][4]exact.Range) {
	half := root.Mul(exact.At(0.5))
	overT := half.Quo(t)
	for i := range form {
		for j := range form {
			form[i][j] = exact.At(0).Sub(slope.Add(s).Mul(spread[i][j]))
		}
		form[i][i] = form[i][i].Add(exact.At(1)).Add(s.Mul(r)).Sub(overT.Mul(exact.At(1.25)))
	}
	// C_11 and C_22 are the coordinates 0 and 3; 2 det C has 1 at (0, 3) and -1 at
	// (1, 2), on both sides of the diagonal.
	for _, at := range [][2]int{{0, 0}, {0, 3}, {3, 0}, {3, 3}} {
		form[at[0]][at[1]] = form[at[0]][at[1]].Sub(half.Mul(t))
	}
	for _, at := range [][2]int{{0, 3}, {3, 0}} {
		form[at[0]][at[1]] = form[at[0]][at[1]].Add(overT)
	}
	for _, at := range [][2]int{{1, 2}, {2, 1}} {
		form[at[0]][at[1]] = form[at[0]][at[1]].Sub(overT)
	}
	return form
}

// largestRatio returns about the largest r with times/3 gamma r + gamma/sqrt(3 r)
// <= 1, which increases with r there.
func largestRatio(gamma, times float64) float64 {
	lo, hi := 1.0, 8.0
	for range 40 {
		if r := (lo + hi) / 2; times/3*gamma*r+gamma/math.Sqrt(3*r) < 1-1e-9 {
			lo = r
		} else {
			hi = r
		}
	}
	return lo
}

// spreadForm returns the symmetric matrix of sum_{s,k} P_sk^2 as a form in (C_11,
// C_12, C_21, C_22), where P_sk = sqrt(mu_k/mu_s) sum_ab C_ab f_a(s) f_b(k) for an
// orthonormal basis f_1, f_2 of the complement of sqrt(mu).
func spreadForm(mu [3]exact.Range) [4][4]exact.Range {
	two := mu[0].Add(mu[1])
	root := func(x exact.Range) exact.Range { return x.Quo(two).Sqrt() }
	minus := func(x exact.Range) exact.Range { return exact.At(0).Sub(x) }
	f := [2][3]exact.Range{
		{root(mu[1]), minus(root(mu[0])), exact.At(0)},
		{root(mu[0].Mul(mu[2])), root(mu[1].Mul(mu[2])), minus(two.Sqrt())},
	}
	var over, times [2][2]exact.Range
	for a := range f {
		for b := range f {
			for s, m := range mu {
				product := f[a][s].Mul(f[b][s])
				if a == b {
					product = f[a][s].Pow(2)
				}
				over[a][b] = over[a][b].Add(product.Quo(m))
				times[a][b] = times[a][b].Add(product.Mul(m))
			}
		}
	}
	var form [4][4]exact.Range
	for i := range form {
		for j := range form {
			form[i][j] = over[i/2][j/2].Mul(times[i%2][j%2])
		}
	}
	return form
}

// pivotOf returns a lower bound of the least pivot of the symmetric matrix in
// elimination, which is positive only if the matrix is positive.
func pivotOf(a [4][4]exact.Range) float64 {
	least := math.Inf(1)
	for n := range a {
		least = min(least, a[n][n].Lo)
		if least <= 0 {
			return least
		}
		for i := n + 1; i < len(a); i++ {
			for j := i; j < len(a); j++ {
				a[i][j] = a[i][j].Sub(a[n][i].Mul(a[n][j]).Quo(a[n][n]))
				a[j][i] = a[i][j]
			}
		}
	}
	return least
}

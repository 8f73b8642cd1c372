package instruments

import (
	"fmt"
	"math"
	"math/big"

	"learncausal/paper/exact"
	"learncausal/paper/ledger"
	"learncausal/pkg/graph"
	"learncausal/pkg/theory"
)

// The prior has a constant mean, and the hypotheses of Lemma 5.
const (
	ConstantMean = `$\mathbb E_\pi[\pi]=\frac1S11^\top$`
	OrbitPrior   = FloorHypothesis + `; ` + SpreadOfRows + `; the prior is symmetric; ` + ConstantMean
)

// AncestorPairs holds one pair j < i of NearForest for each pair of distances to
// the common ancestor. In none of them is j the parent of i.
var AncestorPairs = func() (distant [][2]int) {
	seen := map[[2]int]bool{}
	for i := range NearForest.T() - 1 {
		for j := range i {
			_, toI, toJ := NearForest.Meet(i, j)
			if at := [2]int{toI, toJ}; j != NearForest.Parent(i) && !seen[at] {
				seen[at] = true
				distant = append(distant, [2]int{i, j})
			}
		}
	}
	return distant
}()

// GapFaults returns the faults of a claim on the gap: a larger bound for each
// place of j, which what describes, and each hypothesis dropped.
func GapFaults(larger, what string) []ledger.Fault {
	check := func(of Bullets, family PriorFamily, places []PlaceOfJ) ledger.Check {
		return func(e *ledger.Env, w *ledger.Worst) string {
			GapCheck{GammaBound{e.Bound(0), of}, family, places}.Search(e, w)
			return ""
		}
	}
	faults := []ledger.Fault{
		ledger.Drop(FloorHypothesis, "gamma by the rows alone", check(RowBullet, MeanOne, PlacesOfJ)),
		ledger.Drop(SpreadOfRows, "gamma by the entries alone", check(EntryBullet, MeanOne, PlacesOfJ)),
		ledger.Drop(ConstantMean, "one matrix of any trace", check(BothBullets, anyMatrix, PlacesOfJ)),
	}
	for k, place := range PlacesOfJ {
		check := check(BothBullets, MeanOne, PlacesOfJ[k:k+1])
		faults = append(faults, ledger.PlantIn(place.name, what, check.With(larger)))
	}
	return faults
}

// GradientGap returns the check that the gap is at least the bound of the statement. The remark ends the note.
func GradientGap(remark string) ledger.Check {
	return func(e *ledger.Env, w *ledger.Worst) string {
		bound := GammaBound{e.Bound(0), BothBullets}
		ratios := GapCheck{bound, MeanOne, PlacesOfJ}.Search(e, w)
		boxes := EveryPairOfRows(w, func(c TwoStates) (lhs, rhs exact.Range) {
			// The traces of the two matrices average to 1, so their eigenvalues are l
			// and -l, and the largest mean of g_ij is l^4.
			return bound.Within(c.Gamma), c.Lambda.Pow(2).Sub(c.Lambda.Pow(4))
		})
		if times, exponent := bound.Factors(3); exponent.Cmp(exact.Int(3)) == 0 {
			boxes += everyThreeStates(w, exact.Mul(times, exact.Int(9)))
		}
		return SearchNote(w, "; true for all: g_ij(π) = ⟨B^{b+1}, B^a⟩ with a ≥ 1 and b the distances of i and j "+
			"from their common ancestor, a+b ≥ 2, so |g_ij| ≤ λ‖B‖² and the gap is at least (1−λ)‖B‖²"+boxes+
			". Least found of the gap over the bound:"+ratios+remark)
	}
}

// A PlaceOfJ holds pairs of positions i, j of a graph; j is not the parent of i.
type PlaceOfJ struct {
	name  string
	graph *graph.Forest
	pairs [][2]int
}

// PlacesOfJ has the places of j that a proof distinguishes.
var PlacesOfJ = []PlaceOfJ{
	{"j = i", graph.Chain(3), [][2]int{{1, 1}}},
	{"j in the tree of i", NearForest, AncestorPairs},
	{"j in another tree", graph.MustNew(graph.Root, graph.Root, 0, graph.Root), [][2]int{{2, 1}}},
}

// A PriorFamily is a family of priors for a search, with an exact search for a witness among them.
type PriorFamily struct {
	bases   func(x []float64, s int) []*theory.Chain
	witness func(q GapCheck, w *ledger.Worst, s int) *ledger.Witness
}

// MeanOne has the priors of [BasesOfPrior], anyMatrix single matrices.
var (
	MeanOne   = PriorFamily{BasesOfPrior, GapCheck.lightWitness}
	anyMatrix = PriorFamily{
		bases: func(x []float64, s int) []*theory.Chain {
			return []*theory.Chain{theory.MustChain(ledger.Kernel(x[:s*s], s, LeastEntry), s)}
		},
		witness: GapCheck.matrixWitness,
	}
)

// A GapCheck is a bound of the gap E|B|_F^2 - E g_ij over a family of priors, for some places of j.
type GapCheck struct {
	Bound  GammaBound
	Family PriorFamily
	Places []PlaceOfJ
}

// Search searches for a prior that breaks the bound. It returns the least ratios of
// the gap to the bound for a note.
func (q GapCheck) Search(e *ledger.Env, w *ledger.Worst) string {
	return PriorSearch{
		Bound: q.Bound, Sizes: []int{2, 3, 4, 5}, Budget: e.Budget(32000, 1600), Bases: q.Family.bases, Value: q.least,
		Witness: func(w *ledger.Worst, s int) *ledger.Witness { return q.Family.witness(q, w, s) },
	}.Run(e, w)
}

// least returns the least gap under the prior, in floats.
func (q GapCheck) least(bases []*theory.Chain) float64 {
	most := math.Inf(-1)
	for _, place := range q.Places {
		for _, at := range place.pairs {
			g := 0.0
			for _, c := range bases {
				g += c.G(place.graph, at[0], at[1]) / float64(len(bases))
			}
			most = max(most, g)
		}
	}
	return NormOf(bases) - most
}

// broken returns the witness that some gap is below the bound under the relabelings of pi, or nil.
func (q GapCheck) broken(pi exact.Matrix) *ledger.Witness {
	norm := exact.FrobeniusSquared(pi)
	for _, place := range q.Places {
		for _, at := range place.pairs {
			g := exact.G(pi, place.graph, at[0], at[1])
			if w := q.Bound.Exceeds(exact.Sub(norm, g), pi); w != nil {
				w.Instance["graph"], w.Instance["i"], w.Instance["j"] = place.graph, at[0]+1, at[1]+1
				if !w.Squared { // as printed, g_{i,j} + bound <= g_{i,p(i)}
					w.LHS, w.RHS = exact.Add(w.LHS, g), norm
				}
				return asOrbits(w)
			}
		}
	}
	return nil
}

// lightWitness looks for the simplest [exact.LightState] for which the prior breaks the bound.
func (q GapCheck) lightWitness(w *ledger.Worst, s int) *ledger.Witness {
	return q.Bound.AmongLightStates(w, s, q.broken)
}

// matrixWitness looks for the simplest matrix over two states that breaks the bound.
func (q GapCheck) matrixWitness(w *ledger.Worst, s int) *ledger.Witness {
	var found *ledger.Witness
	if s == 2 {
		ledger.SmallestKernel(2, 8, func(pi exact.Matrix) bool {
			w.Rationals++
			found = q.broken(pi)
			return found != nil
		})
	}
	return found
}

// EnumeratedGradient returns g_ij(pi) with the law of (s_i, s_j) summed over all sequences.
func EnumeratedGradient(pi exact.Matrix, g *graph.Forest, i, j int) *big.Rat {
	sum, mu := exact.Int(-1), exact.MustStationary(pi)
	for x, p := range exact.Sequences(g, pi) {
		sum.Add(sum, exact.Quo(exact.Mul(p, pi[x[j]][x[i]]), mu[x[i]]))
	}
	return sum
}

// HalfGap returns (1-alpha)/2 |B|_F^2, with alpha the largest distance of two rows.
func HalfGap(pi exact.Matrix) *big.Rat {
	rest := exact.Sub(exact.Int(1), exact.Alpha(pi))
	return exact.Mul(exact.Mul(exact.Frac(1, 2), rest), exact.FrobeniusSquared(pi))
}

// everyThreeStates decides the computation that the proof of the gap times gamma^3/9 needs for three states. In
// the notation of that proof in the erratum (thm-dpi-gap-sharp),
//
//	|C|^2 - times/3 gamma spread(C) - gamma/(2 sqrt(3 r)) (t tr(C)^2 + (5/4 |C|^2 - 2 det C)/t)
//	  - s (spread(C) - r |C|^2)
//
// must be a positive form in the 2 x 2 matrix C for some s, r >= 0 and t > 0 with times/3 gamma r +
// gamma/sqrt(3 r) <= 1, for each gamma in [3/7, 3/4] and each measure mu that the second bullet of Assumption 1
// allows. The result is a clause for a note.
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

// mayBe reports whether a box may hold a point with gamma/3 <= mu_1 <= mu_2 <= mu_3 that satisfies the second
// bullet of Assumption 1. For pi = gamma/3 + (1-gamma) q and nu = (mu - gamma/3)/(1-gamma), the bullet requires
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

// leastPivot returns a range. The range is positive only if the form of
// everyThreeStates is positive at all points of the box, for one of a few s and t.
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

// threeForm returns the symmetric matrix of the form of everyThreeStates in (C_11, C_12, C_21, C_22) for some s
// and t, given the matrix of spread(C), slope = times/3 gamma, root = gamma/sqrt(3 r), and r.
func threeForm(spread [4][4]exact.Range, slope, root, r, s, t exact.Range) (form [4][4]exact.Range) {
	half := root.Mul(exact.At(0.5))
	overT := half.Quo(t)
	for i := range form {
		for j := range form {
			form[i][j] = exact.At(0).Sub(slope.Add(s).Mul(spread[i][j]))
		}
		form[i][i] = form[i][i].Add(exact.At(1)).Add(s.Mul(r)).Sub(overT.Mul(exact.At(1.25)))
	}
	// C_11 and C_22 are the coordinates 0 and 3. The matrix of 2 det C has 1 at (0, 3)
	// and (3, 0), and -1 at (1, 2) and (2, 1).
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

// largestRatio returns an approximation of the largest r <= 8 with times/3 gamma r +
// gamma/sqrt(3 r) <= 1; the left side increases with r there.
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

// spreadForm returns the symmetric matrix of sum_{s,k} P_sk^2 as a form in (C_11, C_12, C_21, C_22), where P_sk
// = sqrt(mu_k/mu_s) sum_ab C_ab f_a(s) f_b(k) for an orthonormal basis f_1, f_2 of the complement of sqrt(mu).
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

// pivotOf returns a lower bound of the least pivot in the elimination of a symmetric
// matrix. The bound is positive only if the matrix is positive definite.
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

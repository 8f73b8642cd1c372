package claims

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"

	"learncausal/pkg/exact"
	"learncausal/pkg/graph"
	"learncausal/pkg/theory"
)

// parentInformation compares g_{i,p(i)} with the displayed sum and with the
// information of two positions at a distance, all in rationals.
func parentInformation(e *Env, distance int) Finding {
	c := comparison{}
	r := rand.New(e.Stream("matrices"))
	g := graph.Chain(5)
	for k := range e.Budget(60, 15) {
		pi := positiveMatrix(r, 2+k%3, 6+r.IntN(12))
		ideal, info, sum := exact.G(pi, g, 3, 2), exact.ChiSquaredInformation(exact.Joint(pi, g, 3, 3-distance)), exact.FrobeniusSquared(pi)
		lhs, rhs := []float64{exact.Float(ideal), exact.Float(sum)}, []float64{exact.Float(info), exact.Float(info)}
		// Equal rationals have equal floats; different ones may, too.
		if (ideal.Cmp(info) == 0 && sum.Cmp(info) == 0) != (lhs[0] == rhs[0] && lhs[1] == rhs[1]) {
			lhs[0] = math.Nextafter(rhs[0], 2)
		}
		c.equal(lhs, rhs, func() Instance { return Instance{"graph": parentList(g), "i": 4, "pi": pi.Strings()} })
	}
	f := c.finding(Exact, "Equal as rationals for each pi: P[s_i=s', s_p(i)=s] = mu(s) pi(s'|s).")
	f.Seed = Seed
	return f
}

// positiveMatrix returns a random transition matrix with positive entries that
// are multiples of 1/den.
func positiveMatrix(r *rand.Rand, s, den int) exact.Matrix {
	m := exact.Zero(s, s)
	for _, row := range m {
		for j, n := range composition(r, s, den) {
			row[j].SetFrac64(int64(n), int64(den))
		}
	}
	return m
}

// twoInformations checks the bound with the given weight of the second
// information, exactly on random matrices, and attacks it in floats for j other
// than p(i), where it is an equality.
func twoInformations(e *Env, second *big.Rat) Finding {
	f := Finding{Tier: Exact, Verdict: Holds, Margin: math.Inf(1), Seed: Seed}
	r := rand.New(e.Stream("matrices"))
	bound := func(pi exact.Matrix, g *graph.Forest, i, j int) *big.Rat {
		half := exact.FrobeniusSquared(pi)
		half.Mul(half, big.NewRat(1, 2))
		return half.Add(half, new(big.Rat).Mul(second, exact.ChiSquaredInformation(exact.Joint(pi, g, i, j))))
	}
	for k := range e.Budget(12, 4) {
		pi := positiveMatrix(r, 2+k%2, 6+r.IntN(12))
		g := graph.Random(6, 0.2, e.Stream("forest", uint64(k)))
		for i := range g.T() {
			for j := 0; j <= i && g.Parent(i) != graph.Root; j++ {
				lhs, rhs := exact.G(pi, g, i, j), bound(pi, g, i, j)
				f.Instances++
				if lhs.Cmp(rhs) > 0 && f.Verdict == Holds {
					f.Verdict, f.LHS, f.RHS = Fails, exact.Float(lhs), exact.Float(rhs)
					f.Margin = Slack(f.LHS, f.RHS)
					f.Instance = Instance{"graph": parentList(g), "pi": pi.Strings(), "i": i + 1, "j": j + 1}
					f.Witness = f.Instance
				}
			}
		}
	}
	if f.Verdict == Fails {
		return f
	}
	g := graph.MustNew(graph.Root, 0, 1, 1, graph.Root)
	for _, j := range []int{0, 2, 3} { // grandparent, sibling, itself; i is position 4
		for s := 2; s <= e.Budget(3, 2); s++ {
			value := func(x []float64) float64 {
				c := theory.MustChain(kernel(x, s, 0.01), s)
				ip := c.FrobeniusSquared()
				if ip < 1e-3 {
					return math.Inf(1) // both sides vanish
				}
				return Slack(c.G(g, 3, j), ip/2+c.Information(theory.ChiSquared, g, 3, j)/2)
			}
			best, v, evals := e.Attack(value, e.kernelStarts(2, s, 0), e.Budget(1500, 300))
			f.Instances += evals
			if v < f.Margin {
				c := theory.MustChain(kernel(best, s, 0.01), s)
				f.Margin, f.LHS, f.RHS = v, c.G(g, 3, j), c.FrobeniusSquared()/2+c.Information(theory.ChiSquared, g, 3, j)/2
				f.Instance = Instance{"graph": parentList(g), "pi": decimals(c.Pi, s), "i": 4, "j": j + 1}
			}
		}
	}
	f.Note = fmt.Sprintf("No counterexample found in %d instances. Proof, for each pi: g = sum mu mu' a b with a = pi/mu'-1 and b = P/(mu mu')-1, and 2ab <= a^2+b^2; equality at j = p(i).", f.Instances)
	if f.Margin < -1e-12 {
		f.Verdict, f.Witness = Fails, f.Instance
	}
	return f
}

// Which pairs and priors rootIdeal goes over.
const (
	rootAll      = iota
	rootNotQuery // without (T, T)
	rootTrace    // priors that are not of constant mean
)

// rootIdeal computes g_ij for the roots of small forests exactly, for priors
// uniform over the relabelings of one matrix, under which it is invariant.
func rootIdeal(e *Env, which int) Finding {
	f := Finding{Tier: Exact, Verdict: Holds, Seed: Seed}
	r := rand.New(e.Stream("matrices"))
	check := func(pi exact.Matrix, g *graph.Forest) {
		last := g.T() - 1
		for _, i := range g.Roots() {
			for j := range i + 1 {
				if f.Verdict == Fails || which == rootNotQuery && i == last && j == last {
					continue
				}
				f.Instances++
				v := exact.G(pi, g, i, j)
				if f.Instance == nil || v.Sign() != 0 {
					f.LHS = exact.Float(v)
					f.Instance = Instance{"graph": parentList(g), "pi, and its relabelings": pi.Strings(), "i": i + 1, "j": j + 1, "equation": "g_ij = 0", "lhs": v.RatString(), "rhs": "0"}
				}
				if v.Sign() != 0 {
					f.Verdict, f.Margin, f.Witness = Fails, Deviation(f.LHS, 0), f.Instance
				}
			}
		}
	}
	small := graph.InContext(3) // 1 -> 2 and the query
	switch which {
	case rootAll:
		smallestKernel(3, 6, func(pi exact.Matrix) bool {
			if pi.Trace().Cmp(big.NewRat(1, 1)) == 0 && exact.CheckGamma(pi, big.NewRat(1, 10)) == nil {
				check(pi, small)
			}
			return f.Verdict == Fails
		})
	case rootNotQuery:
		for k := range e.Budget(20, 6) {
			check(traceOneMatrix(r, 3+k%2, 8+r.IntN(10)), graph.Random(6, 0.5, e.Stream("forest", uint64(k))))
			check(traceOneMatrix(r, 3+k%2, 8+r.IntN(10)), graph.InContext(5))
		}
	case rootTrace:
		for range 5 {
			check(positiveMatrix(r, 3, 7+r.IntN(10)), graph.InContext(5))
		}
	}
	f.Note = "Roots other than T are independent of the earlier positions and have the law mu; g_ii is the mean trace minus 1."
	if f.Verdict == Fails && which == rootAll {
		f.Note = "s_T is uniform, not of law mu: g_TT = E[1/S sum_s pi(s|s)/mu(s)] - 1, which is 0 for uniform mu but not in general (here gamma = 1/10 is admitted). For j < T, and for the other roots, the sum is 0. So the query's own row of the first layer is not left alone in stage 1."
	}
	return f
}

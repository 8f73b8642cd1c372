package claims

import (
	"math"
	"math/big"

	"learncausal/paper/exact"
	"learncausal/paper/ledger"
	"learncausal/pkg/num"
	"learncausal/pkg/theory"
)

// A longChain is stage 2 on the chain of T positions over two states, where
// children attend to their parents, position 1 to itself, and the query T to all
// positions alike: A1_* of Lemma 10 (thm-stage2-lower) where the rows of roots are
// uniform. What is averaged over sequences is a function of their pair counts,
// whose law is summed over.
type longChain struct {
	bases []exact.Matrix // the prior is uniform over their relabelings
	t     int
	eps   float64
}

// chainSums are, for one sequence, sums over the positions of v = exp(beta z), of v z,
// and of both over the positions that carry a token; and z of the two roots.
type chainSums struct {
	v, vz     float64
	hit, hitZ [2]float64
	rootZ     [2]float64
}

// sums returns those for the query s, whose token is s too.
func (c longChain) sums(in exact.Pairs, s int, beta float64) chainSums {
	var out chainSums
	grown := num.Exp(beta)
	add := func(n int, token int, z float64) {
		v := float64(n)
		switch z {
		case 0:
		case 1:
			v *= grown
		default:
			v *= num.Exp(beta * z)
		}
		out.v, out.vz = out.v+v, out.vz+float64(v*z)
		out.hit[token], out.hitZ[token] = out.hit[token]+v, out.hitZ[token]+float64(v*z)
	}
	for a := range 2 {
		for b := range 2 {
			add(in.N[a][b], b, unit(a == s))
		}
	}
	out.rootZ = [2]float64{unit(in.First == s), float64(in.States()[s]+1) / float64(c.t)}
	add(1, in.First, out.rootZ[0])
	add(1, s, out.rootZ[1])
	return out
}

// chainWithin is more than the rounding error of a function of chainSums of size
// one.
const chainWithin = 1e-12

// mean encloses E[h], where h is a function of pi and the sums for one s of size at
// most one, summed over s and averaged over the bases.
func (c longChain) mean(beta float64, h func(pi *theory.Chain, s int, sums chainSums) float64) exact.Interval {
	total := exact.Point(new(big.Rat))
	for _, base := range c.bases {
		pi := theory.MustChain(base.Floats(), 2)
		total = total.Add(c.over(base, func(in exact.Pairs) float64 {
			sum := 0.0
			for s := range 2 {
				sum += h(pi, s, c.sums(in, s, beta))
			}
			return sum
		}))
	}
	return total.Quo(exact.Point(exact.Frac(int64(len(c.bases)), 1)))
}

// over encloses E[h] under one base, where h is a function of size at most two.
func (c longChain) over(base exact.Matrix, h func(in exact.Pairs) float64) exact.Interval {
	return exact.PairMean(base, exact.MustStationary(base), c.t-1, h, 2*chainWithin)
}

// meanOf is mean for one query s, and one base.
func (c longChain) meanOf(s int, beta float64, h func(x runSums) float64) exact.Interval {
	base := c.bases[0]
	mu := theory.MustChain(base.Floats(), 2).Mu[s]
	return c.over(base, func(in exact.Pairs) float64 { return h(c.sums(in, s, beta).means(c.t, mu, beta)) })
}

// means returns the sums as those of a long run.
func (x chainSums) means(t int, mu, beta float64) runSums {
	share := 1 / float64(t)
	over := share * num.Exp(-beta)
	spread := float64((x.rootZ[0]-mu)*(x.rootZ[0]-mu)) + float64((x.rootZ[1]-mu)*(x.rootZ[1]-mu))
	return runSums{
		v: x.v * over, vz: x.vz * over, spread: spread * share,
		hit: []float64{x.hit[0] * over, x.hit[1] * over}, hitZ: []float64{x.hitZ[0] * over, x.hitZ[1] * over},
	}
}

// growth encloses -Delta_beta, query in sequence:
//
//	1/(S(S-1)) sum_{s,s'} E[pi(s'|s) (E1 - E2 E3)/(E2 + eps)]
func (c longChain) growth(beta float64) exact.Interval {
	half := exact.Point(exact.Frac(1, 2))
	return half.Mul(c.mean(beta, func(pi *theory.Chain, s int, x chainSums) float64 {
		sum := 0.0
		for to := range 2 {
			f := x.hit[to] / x.v
			sum += pi.Pi.At(s, to) * (x.hitZ[to]/x.v - float64(f*(x.vz/x.v))) / (f + c.eps)
		}
		return sum
	}))
}

// rootShare is r of the chain: position 1 and the query.
func (c longChain) rootShare() float64 { return 2 / float64(c.t) }

// gamma is that of the assumptions.
func (c longChain) gamma() float64 {
	g := 1 - c.rootShare()
	for _, base := range c.bases {
		g = min(g, theory.MustChain(base.Floats(), 2).Gamma())
	}
	return g
}

func (c longChain) instance(beta float64) ledger.Instance {
	return ledger.Instance{"graph": "chain", "T": c.t, "orbits": c.bases, "eps": c.eps, "beta": beta}
}

// longChains returns the chains of several lengths under three priors over two
// states, symmetric with constant mean: that of the trends, one of the largest
// gamma, and one under which eps > 0 holds beta back.
func longChains(lengths ...int) []longChain {
	var out []longChain
	for _, bases := range [][]exact.Matrix{
		{exact.Rats("4/5 1/5; 2/5 3/5"), exact.Rats("1/5 4/5; 3/5 2/5")},
		{exact.Rats("293/1000 707/1000; 707/1000 293/1000"), exact.Rats("707/1000 293/1000; 293/1000 707/1000")},
		{exact.Rats("5/6 1/6; 2/3 1/3"), exact.Rats("5/12 7/12; 7/12 5/12")},
	} {
		for _, t := range lengths {
			out = append(out, longChain{bases, t, 1 / math.Sqrt(float64(t))})
		}
	}
	return out
}

package instruments

import (
	"math/big"
	"slices"

	"learncausal/paper/exact"
	"learncausal/paper/ledger"
	"learncausal/pkg/num"
	"learncausal/pkg/theory"
)

// StageOneInstance describes stage 1 and a row by its role.
func StageOneInstance(c exact.StageOne, row exact.Role) ledger.Instance {
	t := exact.Pow(c.Root, 2)
	return ledger.Instance{
		"T": t, "pairs": CountOfPairs(t), "eps": c.Eps, "beta0": exact.Inv(exact.Pow(t, 2)), "orbits": c.Pis,
		"i": positionOf(row, t),
	}
}

// CountOfPairs returns the number of edges 1 -> 2, 3 -> 4, ... on t positions.
func CountOfPairs(t *big.Rat) *big.Rat {
	return exact.Quo(exact.Sub(t, exact.Int(1)), exact.Int(2))
}

// positionOf returns a position of the role of a row: 3, 4 or T.
func positionOf(role exact.Role, t *big.Rat) *big.Rat {
	if role == exact.Query {
		return t
	}
	return exact.Int(int64(role) + 1)
}

// DecayAt encloses (root^2)^-rate, where a nil rate is 1/2.
func DecayAt(root, rate *big.Rat) exact.Interval {
	if rate == nil {
		return exact.Point(exact.Inv(root))
	}
	return exact.Power(root, exact.Mul(exact.Int(-2), rate))
}

// An Order is a claim LHS <= C RHS for all T = root^2, with one C.
type Order struct {
	LHS, RHS func(root *big.Rat) exact.Interval
	At       func(root *big.Rat) ledger.Instance
}

// RootsOfT returns the roots of T at which an order is decided, for the odd numbers T = 3^6, 3^12, ..., 3^90.
func RootsOfT() []*big.Rat {
	var out []*big.Rat
	for k := 3; k <= 45; k += 3 {
		out = append(out, exact.Pow(exact.Int(3), k))
	}
	return out
}

// Decide fails if each of the constants is refuted at one of the roots; the last constant gives the witness.
// Otherwise it decides LHS <= C RHS with the last constant at all roots.
func (o Order) Decide(w *ledger.Worst, roots []*big.Rat, constants ...*big.Rat) {
	type sides struct{ lhs, rhs exact.Interval }
	var all []sides
	for _, root := range roots {
		all = append(all, sides{lhs: o.LHS(root), rhs: o.RHS(root)})
	}
	refuted := -1
	for _, c := range constants {
		refuted = slices.IndexFunc(all, func(s sides) bool {
			return s.lhs.AtMost(exact.Point(c).Mul(s.rhs)) == exact.CertainlyNot
		})
		if refuted < 0 {
			break
		}
	}
	last := constants[len(constants)-1]
	for k, s := range all {
		if refuted >= 0 && k != refuted {
			continue
		}
		Decide(w, s.lhs, exact.Point(last).Mul(s.rhs), func() ledger.Instance { return o.At(roots[k]).With("C", last) })
	}
}

// Decide decides lhs <= rhs for enclosed sides. A witness has the numbers of [Between].
func Decide(w *ledger.Worst, lhs, rhs exact.Interval, at func() ledger.Instance) {
	if lhs.AtMost(rhs) == exact.CertainlyNot {
		l, r := Between(lhs, rhs)
		w.AtMostRat(l, r, at)
		return
	}
	w.AtMostInterval(lhs, rhs, at)
}

// AnyHolds decides whether one of several instances, the candidates for a constant, holds: the finding is that of the
// first one that is not refuted, or else of the last.
func AnyHolds(w *ledger.Worst, candidates int, decide func(k int)) {
	for k := range candidates {
		*w = ledger.Worst{Instances: w.Instances}
		if decide(k); !w.Failed() {
			return
		}
	}
}

// Between returns numbers l > r with lhs >= l and r >= rhs, for enclosures with
// lhs > rhs. They have twelve decimals, or more if twelve do not suffice.
func Between(lhs, rhs exact.Interval) (l, r *big.Rat) {
	for den := exact.Pow(exact.Int(10), 12); ; den = exact.Mul(den, exact.Int(10)) {
		up := func(x *big.Rat) *big.Rat { return exact.Quo(exact.Ceil(exact.Mul(x, den)), den) }
		l, r = new(big.Rat).Neg(up(new(big.Rat).Neg(lhs.Lo))), up(rhs.Hi)
		if l.Cmp(r) > 0 {
			return l, r
		}
	}
}

// A LongChain is stage 2 on the chain of T positions over two states. Children attend to their parents,
// position 1 to itself, and the query T to all positions equally: A1_* of Lemma 10 (thm-stage2-lower) with
// uniform rows of roots. An average over sequences is a sum over the law of their pair counts.
type LongChain struct {
	Bases  []exact.Matrix // the prior is uniform over their relabelings
	T      int
	Eps    float64
	Astray bool // planted: children attend to themselves
}

// chainSums are sums of v = exp(beta z) and of v z for one sequence, over all
// positions and over the positions of each token, and z of the two roots.
type chainSums struct {
	v, vz     float64
	hit, hitZ [2]float64
	rootZ     [2]float64
}

// sums returns the sums for the query s, whose token is s.
func (c LongChain) sums(in exact.Pairs, s int, beta float64) chainSums {
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
			add(in.N[a][b], b, Indicator(a == s && !c.Astray || b == s && c.Astray))
		}
	}
	out.rootZ = [2]float64{Indicator(in.First == s), float64(in.States()[s]+1) / float64(c.T)}
	add(1, in.First, out.rootZ[0])
	add(1, s, out.rootZ[1])
	return out
}

// chainWithin exceeds the rounding error of a function of chainSums of size one.
const chainWithin = 1e-12

// mean encloses the mean over the bases of sum_s E[h], where h is a function of pi, s
// and the sums for s, of size at most one.
func (c LongChain) mean(beta float64, h func(pi *theory.Chain, s int, sums chainSums) float64) exact.Interval {
	total := exact.Point(new(big.Rat))
	for _, base := range c.Bases {
		pi := theory.MustChain(base.Floats(), 2)
		total = total.Add(c.over(base, func(in exact.Pairs) float64 {
			sum := 0.0
			for s := range 2 {
				sum += h(pi, s, c.sums(in, s, beta))
			}
			return sum
		}))
	}
	return total.Quo(exact.Point(exact.Int(len(c.Bases))))
}

// over encloses E[h] under one base, for a function h of size at most two.
func (c LongChain) over(base exact.Matrix, h func(in exact.Pairs) float64) exact.Interval {
	return exact.PairMean(base, exact.MustStationary(base), c.T-1, h, 2*chainWithin)
}

// meanOf encloses E[h] for one query s under the first base.
func (c LongChain) meanOf(s int, beta float64, h func(x runSums) float64) exact.Interval {
	base := c.Bases[0]
	mu := theory.MustChain(base.Floats(), 2).Mu[s]
	return c.over(base, func(in exact.Pairs) float64 { return h(c.sums(in, s, beta).means(c.T, mu, beta)) })
}

// means returns the sums in the units of runSums.
func (x chainSums) means(t int, mu, beta float64) runSums {
	share := 1 / float64(t)
	over := share * num.Exp(-beta)
	spread := float64((x.rootZ[0]-mu)*(x.rootZ[0]-mu)) + float64((x.rootZ[1]-mu)*(x.rootZ[1]-mu))
	return runSums{
		v: x.v * over, vz: x.vz * over, spread: spread * share,
		hit: []float64{x.hit[0] * over, x.hit[1] * over}, hitZ: []float64{x.hitZ[0] * over, x.hitZ[1] * over},
	}
}

// Growth encloses -Delta_beta, query in sequence:
//
//	1/(S(S-1)) sum_{s,s'} E[pi(s'|s) (E1 - E2 E3)/(E2 + eps)]
func (c LongChain) Growth(beta float64) exact.Interval {
	half := exact.Point(exact.Frac(1, 2))
	return half.Mul(c.mean(beta, func(pi *theory.Chain, s int, x chainSums) float64 {
		sum := 0.0
		for to := range 2 {
			f := x.hit[to] / x.v
			sum += pi.Pi.At(s, to) * (x.hitZ[to]/x.v - float64(f*(x.vz/x.v))) / (f + c.Eps)
		}
		return sum
	}))
}

// Gamma returns the largest gamma of Assumption 1 and of r <= 1 - gamma, where the roots
// are position 1 and the query.
func (c LongChain) Gamma() float64 {
	g := 1 - 2/float64(c.T)
	for _, base := range c.Bases {
		g = min(g, theory.MustChain(base.Floats(), 2).Gamma())
	}
	return g
}

// Instance describes the chain and beta.
func (c LongChain) Instance(beta float64) ledger.Instance {
	return ledger.Instance{"graph": "chain", "T": c.T, "orbits": c.Bases, "eps": c.Eps, "beta": beta}
}

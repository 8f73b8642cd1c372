package claims

import (
	"fmt"
	"math"
	"math/big"
	"slices"

	"learncausal/paper/exact"
	"learncausal/paper/ledger"
	"learncausal/pkg/graph"
	"learncausal/pkg/num"
	"learncausal/pkg/theory"
)

// This file encloses expectations on long sequences: the gradient of stage 1 on
// in-context graphs of any odd length, and stage 2 on chains over two states.
//
// On an in-context graph T enters by formulas. A claim for all T, up to a constant,
// is therefore decided at T as large as the constant requires.

// The in-context graph on 5 positions, 1 -> 2, 3 -> 4 and the query, stands for a
// long one. The row is one of the last three positions; the first two are a pair
// that does not contain the row.
const (
	otherRoot = iota
	otherChild
	ownRoot
	ownChild
	queryRole
)

var shortInContext = graph.InContext(5)

// nearby is the number of tokens in two pairs and the query. At most so many tokens
// depend on the tokens at two positions.
const nearby = 5

// pairLaws are the laws of two tokens of the in-context graph, for every length.
type pairLaws struct {
	mu    exact.Vector
	joint [5][5]exact.Matrix // by the roles of the row and the column
	one   [5]exact.Vector
}

var pairLawsOf memo[string, *pairLaws] // by the matrix

func newPairLaws(pi exact.Matrix) *pairLaws {
	return pairLawsOf.get(fmt.Sprint(pi.Strings()), func() *pairLaws {
		l := &pairLaws{mu: exact.MustStationary(pi)}
		for j := range l.one {
			l.one[j] = exact.Marginal(pi, shortInContext, j)
			for i := range l.joint {
				l.joint[i][j] = exact.Joint(pi, shortInContext, i, j)
			}
		}
		return l
	})
}

// A longInContext is the in-context graph on T positions, T odd, with one
// transition matrix.
type longInContext struct {
	*pairLaws
	pi      exact.Matrix
	t, eps  *big.Rat
	reading theory.Reading
	spread  []exact.Interval // fluctuation of each state s'
}

func newLongInContext(pi exact.Matrix, t, eps *big.Rat, reading theory.Reading) longInContext {
	c := longInContext{pairLaws: newPairLaws(pi), pi: pi, t: t, eps: eps, reading: reading}
	for state := range pi {
		c.spread = append(c.spread, c.fluctuation(state))
	}
	return c
}

// fluctuation returns an interval with
//
//	E[w/(muhat+eps)] / E[w] - 1/(mu+eps)
//
// for every function w >= 0 of two pairs and the query. With m = muhat,
//
//	1/(m+eps) = 1/(mu+eps) - (m-mu)/(mu+eps)^2 + (m-mu)^2/((m+eps)(mu+eps)^2)
//
// and T(m-mu) = c + R, |c| <= 5. R is the sum over the other pairs. It is independent
// of w and has mean 0; its variance is below T/2 times the variance of a pair. In
// the last term m >= mu/2 unless R <= -(T mu/2 - 5), an event of probability at most
// exp(-(T mu/2-5)^2/T) by Hoeffding's inequality.
func (c longInContext) fluctuation(state int) exact.Interval {
	mu, two := c.mu[state], exact.Frac(2, 1)
	shifted := exact.Add(mu, c.eps)
	far := exact.Sub(exact.Quo(exact.Mul(c.t, mu), two), exact.Frac(nearby, 1))
	if far.Sign() <= 0 {
		return exact.Interval{Lo: exact.Quo(exact.Frac(-1, 1), shifted), Hi: exact.Quo(exact.Frac(1, 1), c.eps)}
	}
	second := c.secondMoment(state)
	exponent := exact.Quo(exact.Pow(far, 2), c.t)
	if most := exact.Frac(1000, 1); exponent.Cmp(most) > 0 {
		exponent = most
	}
	tail := exact.Point(new(big.Rat).Neg(exponent)).Exp().Hi
	above := exact.Add(exact.Mul(exact.Quo(two, mu), second), exact.Mul(exact.Quo(exact.Pow(mu, 2), c.eps), tail))
	first := exact.Quo(exact.Frac(nearby, 1), c.t)
	scale := exact.Pow(shifted, 2)
	return exact.Interval{
		Lo: exact.Quo(new(big.Rat).Neg(first), scale), Hi: exact.Quo(exact.Add(first, above), scale),
	}
}

// secondMoment returns 25/T^2 plus the variance of R/T, where R is taken over all
// T/2 pairs.
func (c longInContext) secondMoment(state int) *big.Rat {
	mu, two := c.mu[state], exact.Frac(2, 1)
	both := c.joint[otherRoot][otherChild][state][state]
	pair := exact.Mul(two, exact.Sub(exact.Add(mu, both), exact.Mul(two, exact.Pow(mu, 2))))
	return exact.Quo(exact.Add(exact.Frac(nearby*nearby, 1), exact.Mul(pair, exact.Quo(c.t, two))), exact.Pow(c.t, 2))
}

// laws returns P[s_i = s', s_j = s] and P[s_j = s]. If the query is in the sequence,
// both are conditional on s_T = s.
func (c longInContext) laws(i, j, s, state int) (joint, single *big.Rat) {
	given := c.reading == theory.QueryInSequence
	single = c.one[j][s]
	if given && j == queryRole {
		single = exact.Frac(1, 1)
	}
	switch {
	case given && i == queryRole && s == state:
		return single, single
	case given && i == queryRole:
		return new(big.Rat), single
	}
	return c.joint[i][j][state][s], single
}

// weighted encloses E[x_{j,s} (x_{i,s'} + eps) / (muhat(s') + eps)].
func (c longInContext) weighted(i, j, s, state int) exact.Interval {
	joint, single := c.laws(i, j, s, state)
	weight := exact.Add(joint, exact.Mul(c.eps, single))
	central := exact.Quo(exact.Frac(1, 1), exact.Add(c.mu[state], c.eps))
	return exact.Point(weight).Mul(exact.Point(central).Add(c.spread[state]))
}

// error encloses the difference of Lemma 24 (lem-concentration-a1) before its
// absolute value, E[x_{j,s}(x_{i,s'}+eps)/(muhat(s')+eps)] - P[...]/mu(s').
func (c longInContext) error(i, j, s, state int) exact.Interval {
	joint, _ := c.laws(i, j, s, state)
	return c.weighted(i, j, s, state).Sub(exact.Point(exact.Quo(joint, c.mu[state])))
}

// ghat encloses the entry (i, j) of ghat for this matrix.
func (c longInContext) ghat(i, j int) exact.Interval {
	sum := exact.Point(new(big.Rat))
	for s := range c.pi {
		_, single := c.laws(i, j, s, 0)
		sum = sum.Sub(exact.Point(single))
		for state, p := range c.pi[s] {
			sum = sum.Add(exact.Point(p).Mul(c.weighted(i, j, s, state)))
		}
	}
	return sum
}

// A longStageOne is stage 1 on the in-context graph on T = root^2 positions with
// beta0 = T^(-2). Its prior is uniform over the relabelings of the matrices pis.
type longStageOne struct {
	pis       []exact.Matrix
	root, eps *big.Rat
	chains    []longInContext
}

func newLongStageOne(root, eps *big.Rat, reading theory.Reading, pis ...exact.Matrix) longStageOne {
	c := longStageOne{pis: pis, root: root, eps: eps}
	for _, pi := range pis {
		c.chains = append(c.chains, newLongInContext(pi, exact.Pow(root, 2), eps, reading))
	}
	return c
}

// inverse returns 1/x, which is T_eff^(-1/2) at the root of T.
func inverse(x *big.Rat) *big.Rat { return exact.Quo(exact.Frac(1, 1), x) }

// instance describes stage 1 and a row by its role.
func (c longStageOne) instance(row int) ledger.Instance {
	t := exact.Pow(c.root, 2)
	return ledger.Instance{
		"T": t, "pairs": pairsOf(t), "eps": c.eps, "beta0": inverse(exact.Pow(t, 2)), "orbits": c.pis,
		"i": positionOf(row, t),
	}
}

// pairsOf returns the number of edges 1 -> 2, 3 -> 4, ... on t positions.
func pairsOf(t *big.Rat) *big.Rat {
	return exact.Quo(exact.Sub(t, exact.Frac(1, 1)), exact.Frac(2, 1))
}

// positionOf returns a position of the role of a row: 3, 4 or T.
func positionOf(role int, t *big.Rat) *big.Rat {
	if role == queryRole {
		return t
	}
	return exact.Frac(int64(role)+1, 1)
}

// gstar encloses the entry (i, j) of g* for every A1. By Lemma 23 (lem-nonzero-beta)
// g* differs from ghat by at most 3 S^2 eps^-2 (e^beta0 - 1) <= 6 S^2 beta0/eps^2.
func (c longStageOne) gstar(i, j int) exact.Interval {
	sum := exact.Point(new(big.Rat))
	for _, chain := range c.chains {
		sum = sum.Add(chain.ghat(i, j))
	}
	s := int64(len(c.pis[0]))
	shift := exact.Quo(exact.Frac(6*s*s, 1), exact.Mul(exact.Pow(c.root, 4), exact.Pow(c.eps, 2)))
	around := exact.Interval{Lo: new(big.Rat).Neg(shift), Hi: shift}
	return sum.Quo(exact.Point(exact.Frac(int64(len(c.pis)), 1))).Add(around)
}

// columns returns the roles of the positions up to the row.
func columns(row int) []int {
	switch row {
	case queryRole:
		return []int{otherRoot, otherChild, queryRole}
	case ownRoot:
		return []int{otherRoot, otherChild, ownRoot}
	}
	return []int{otherRoot, otherChild, ownRoot, ownChild}
}

// g returns the entry (i, j) of the idealized gradient.
func (c longStageOne) g(i, j int) *big.Rat {
	sum := new(big.Rat)
	for _, pi := range c.pis {
		sum.Add(sum, exact.G(pi, shortInContext, i, j))
	}
	return sum.Quo(sum, exact.Frac(int64(len(c.pis)), 1))
}

// drive encloses V = |v|_inf T/beta0 of Lemma 6 (thm-stage1-roots) for a row. As J
// annihilates constants, v counts up to a constant, and V is
//
//	(max_j g*_ij - min_j g*_ij) / (2S)
func (c longStageOne) drive(row int) exact.Interval {
	var entries []exact.Interval
	for _, j := range columns(row) {
		entries = append(entries, c.gstar(row, j))
	}
	return exact.Spread(entries...).Quo(exact.Point(exact.Frac(2*int64(len(c.pis[0])), 1)))
}

// distance returns an interval that holds both max_j |g*_ij - ideal(i, j)| and
// min_c max_j |g*_ij - ideal(i, j) - c|, half of the spread of the differences.
func (c longStageOne) distance(row int, ideal func(i, j int) *big.Rat) exact.Interval {
	var entries []exact.Interval
	most := new(big.Rat)
	for _, j := range columns(row) {
		d := c.gstar(row, j).Sub(exact.Point(ideal(row, j)))
		entries = append(entries, d)
		if m := d.Abs().Hi; m.Cmp(most) > 0 {
			most = m
		}
	}
	return exact.Interval{Lo: exact.Quo(exact.Spread(entries...).Lo, exact.Frac(2, 1)), Hi: most}
}

// gap encloses min_{j != p} (g*_ip - g*_ij).
func (c longStageOne) gap(i, p int) exact.Interval {
	least := exact.Interval{}
	for _, j := range columns(i) {
		if j == p {
			continue
		}
		d := c.gstar(i, p).Sub(c.gstar(i, j))
		if least.Lo == nil || d.Lo.Cmp(least.Lo) < 0 {
			least.Lo = d.Lo
		}
		if least.Hi == nil || d.Hi.Cmp(least.Hi) < 0 {
			least.Hi = d.Hi
		}
	}
	return least
}

// decayAt encloses (root^2)^-rate, where a nil rate is 1/2.
func decayAt(root, rate *big.Rat) exact.Interval {
	if rate == nil {
		return exact.Point(inverse(root))
	}
	return exact.Power(root, exact.Mul(exact.Frac(-2, 1), rate))
}

// An order is a claim lhs <= C rhs for all T = root^2, with one C.
type order struct {
	lhs, rhs func(root *big.Rat) exact.Interval
	at       func(root *big.Rat) ledger.Instance
}

// rootsOfT returns the roots of T at which an order is decided, for the odd numbers
// T = 3^6, 3^12, ..., 3^90.
func rootsOfT() []*big.Rat {
	var out []*big.Rat
	for k := 3; k <= 45; k += 3 {
		out = append(out, exact.Pow(exact.Frac(3, 1), k))
	}
	return out
}

// fewRootsOfT returns three of rootsOfT.
func fewRootsOfT() []*big.Rat {
	roots := rootsOfT()
	return []*big.Rat{roots[1], roots[5], roots[14]}
}

// decide fails if each of the constants is refuted at one of the roots; the last
// constant gives the witness. Otherwise it decides lhs <= C rhs with the last constant
// at all roots.
func (o order) decide(w *ledger.Worst, roots []*big.Rat, constants ...*big.Rat) {
	type sides struct{ lhs, rhs exact.Interval }
	var all []sides
	for _, root := range roots {
		all = append(all, sides{o.lhs(root), o.rhs(root)})
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
		rhs := exact.Point(last).Mul(s.rhs)
		at := func() ledger.Instance { return o.at(roots[k]).With("C", last) }
		if refuted >= 0 {
			lhs, rhs := between(s.lhs, rhs)
			w.AtMostRat(lhs, rhs, at)
			continue
		}
		w.AtMostInterval(s.lhs, rhs, at)
	}
}

// between returns numbers l > r with lhs >= l and r >= rhs, for enclosures with
// lhs > rhs. They have twelve decimals, or more if twelve do not suffice.
func between(lhs, rhs exact.Interval) (l, r *big.Rat) {
	for den := exact.Pow(exact.Frac(10, 1), 12); ; den = exact.Mul(den, exact.Frac(10, 1)) {
		up := func(x *big.Rat) *big.Rat { return exact.Quo(ceiling(exact.Mul(x, den)), den) }
		l, r = new(big.Rat).Neg(up(new(big.Rat).Neg(lhs.Lo))), up(rhs.Hi)
		if l.Cmp(r) > 0 {
			return l, r
		}
	}
}

// A longChain is stage 2 on the chain of T positions over two states. Children
// attend to their parents, position 1 to itself, and the query T to all positions
// equally: A1_* of Lemma 10 (thm-stage2-lower) with uniform rows of roots. An average
// over sequences is a sum over the law of their pair counts.
type longChain struct {
	bases []exact.Matrix // the prior is uniform over their relabelings
	t     int
	eps   float64
}

// chainSums are sums of v = exp(beta z) and of v z for one sequence, over all
// positions and over the positions of each token, and z of the two roots.
type chainSums struct {
	v, vz     float64
	hit, hitZ [2]float64
	rootZ     [2]float64
}

// sums returns the sums for the query s, whose token is s.
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

// chainWithin exceeds the rounding error of a function of chainSums of size one.
const chainWithin = 1e-12

// mean encloses the mean over the bases of sum_s E[h], where h is a function of pi, s
// and the sums for s, of size at most one.
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

// over encloses E[h] under one base, for a function h of size at most two.
func (c longChain) over(base exact.Matrix, h func(in exact.Pairs) float64) exact.Interval {
	return exact.PairMean(base, exact.MustStationary(base), c.t-1, h, 2*chainWithin)
}

// meanOf encloses E[h] for one query s under the first base.
func (c longChain) meanOf(s int, beta float64, h func(x runSums) float64) exact.Interval {
	base := c.bases[0]
	mu := theory.MustChain(base.Floats(), 2).Mu[s]
	return c.over(base, func(in exact.Pairs) float64 { return h(c.sums(in, s, beta).means(c.t, mu, beta)) })
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

// gamma returns the largest gamma of Assumption 1 and of r <= 1 - gamma, where the roots
// are position 1 and the query.
func (c longChain) gamma() float64 {
	g := 1 - 2/float64(c.t)
	for _, base := range c.bases {
		g = min(g, theory.MustChain(base.Floats(), 2).Gamma())
	}
	return g
}

func (c longChain) instance(beta float64) ledger.Instance {
	return ledger.Instance{"graph": "chain", "T": c.t, "orbits": c.bases, "eps": c.eps, "beta": beta}
}

// longChains returns chains of the given lengths under three priors over two states,
// symmetric with constant mean: the prior of the trends, one with the largest gamma,
// and one under which eps > 0 slows the growth of beta.
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

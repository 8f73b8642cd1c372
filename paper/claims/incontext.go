package claims

import (
	"fmt"
	"math/big"
	"slices"

	"learncausal/paper/exact"
	"learncausal/paper/ledger"
	"learncausal/pkg/graph"
	"learncausal/pkg/theory"
)

// This file encloses the gradient of stage 1 on in-context graphs of any odd
// length: T enters by formulas, so that what is claimed for all T, up to a
// constant, is decided at T as large as the constant asks for.

// The positions of the in-context graph on 5 positions, 1 -> 2, 3 -> 4 and the
// query, stand for those of a long one: the row is one of the last three, and
// the first two are a pair that is not the row's.
const (
	otherRoot = iota
	otherChild
	ownRoot
	ownChild
	queryRole
)

var shortInContext = graph.InContext(5)

// nearby is how many tokens, at most, depend on those at two positions: those of
// two pairs, and the query.
const nearby = 5

// pairLaws are the laws of two tokens of the in-context graph, of any length.
type pairLaws struct {
	mu    exact.Vector
	joint [5][5]exact.Matrix // by roles, for the row and a column up to it
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
	spread  []exact.Interval // of 1/(muhat(s')+eps) - 1/(mu(s')+eps), see fluctuation
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
// for each w >= 0 that depends on two pairs and the query. With m = muhat,
//
//	1/(m+eps) = 1/(mu+eps) - (m-mu)/(mu+eps)^2 + (m-mu)^2/((m+eps)(mu+eps)^2)
//
// and T(m-mu) = c + R, |c| <= 5, where R is the sum over the other pairs,
// independent of w, with mean 0 and variance below T/2 times that of a pair. In
// the last term m >= mu/2, or else R <= -(T mu/2 - 5), which has a probability of
// at most exp(-(T mu/2-5)^2/T) by Hoeffding's inequality.
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

// secondMoment returns 25/T^2 more than the variance of R/T, where all pairs of T
// positions count.
func (c longInContext) secondMoment(state int) *big.Rat {
	mu, two := c.mu[state], exact.Frac(2, 1)
	both := c.joint[otherRoot][otherChild][state][state]
	pair := exact.Mul(two, exact.Sub(exact.Add(mu, both), exact.Mul(two, exact.Pow(mu, 2))))
	return exact.Quo(exact.Add(exact.Frac(nearby*nearby, 1), exact.Mul(pair, exact.Quo(c.t, two))), exact.Pow(c.t, 2))
}

// laws returns P[s_i = s', s_j = s] and P[s_j = s], given s_T = s if the query is
// in the sequence.
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

// error encloses the difference within the bars of Lemma 24
// (lem-concentration-a1), E[x_{j,s}(x_{i,s'}+eps)/(muhat(s')+eps)] - P[...]/mu(s').
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
// beta0 = T^(-2) and a prior uniform over the relabelings of the matrices.
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

// instance describes it, and row i.
func (c longStageOne) instance(row int) ledger.Instance {
	t := exact.Pow(c.root, 2)
	return ledger.Instance{
		"T": t, "pairs": pairsOf(t), "eps": c.eps, "beta0": inverse(exact.Pow(t, 2)), "orbits": c.pis, "i": positionOf(row, t),
	}
}

// pairsOf returns the number of edges, 1 -> 2, 3 -> 4, ....
func pairsOf(t *big.Rat) *big.Rat {
	return exact.Quo(exact.Sub(t, exact.Frac(1, 1)), exact.Frac(2, 1))
}

// positionOf returns one of that role: 3, 4 or T.
func positionOf(role int, t *big.Rat) *big.Rat {
	if role == queryRole {
		return t
	}
	return exact.Frac(int64(role)+1, 1)
}

// gstar encloses the entry (i, j) of g* for every A1. It differs from that of ghat
// by 3 S^2 eps^-2 (e^beta0 - 1) <= 6 S^2 beta0/eps^2 at most, by Lemma 23
// (lem-nonzero-beta).
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

// columns are the roles of the positions up to the one of the row.
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

// drive encloses V = |v|_inf T/beta0 of Lemma 6 (thm-stage1-roots) for a row, v
// modulo constants, which J annihilates: (max_j g*_ij - min_j g*_ij) / (2S).
func (c longStageOne) drive(row int) exact.Interval {
	var entries []exact.Interval
	for _, j := range columns(row) {
		entries = append(entries, c.gstar(row, j))
	}
	return exact.Spread(entries...).Quo(exact.Point(exact.Frac(2*int64(len(c.pis[0])), 1)))
}

// distance encloses both max_j |g*_ij - ideal(i, j)| for a row and the same modulo
// constants, which is half of the spread of the differences.
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

// gap encloses the least g*_ip - g*_ij over the columns j other than p.
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

// decayAt encloses (root^2)^-rate, 1/root where no rate is given.
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

// rootsOfT are the roots of T at which an order is decided, odd numbers:
// T = 3^6, 3^12, ..., 3^90.
func rootsOfT() []*big.Rat {
	var out []*big.Rat
	for k := 3; k <= 45; k += 3 {
		out = append(out, exact.Pow(exact.Frac(3, 1), k))
	}
	return out
}

// fewRootsOfT are three of the rootsOfT.
func fewRootsOfT() []*big.Rat {
	roots := rootsOfT()
	return []*big.Rat{roots[1], roots[5], roots[14]}
}

// decide fails if each of the constants is refuted at one of the roots, with that
// of the last as the witness; else it decides lhs <= C rhs with the last constant
// at all of them.
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

// between returns numbers l > r of twelve decimals, or more if need be, with
// lhs >= l and r >= rhs, for enclosures with lhs > rhs.
func between(lhs, rhs exact.Interval) (l, r *big.Rat) {
	for den := exact.Pow(exact.Frac(10, 1), 12); ; den = exact.Mul(den, exact.Frac(10, 1)) {
		up := func(x *big.Rat) *big.Rat { return exact.Quo(ceiling(exact.Mul(x, den)), den) }
		l, r = new(big.Rat).Neg(up(new(big.Rat).Neg(lhs.Lo))), up(rhs.Hi)
		if l.Cmp(r) > 0 {
			return l, r
		}
	}
}

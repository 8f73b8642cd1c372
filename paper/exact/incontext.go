package exact

import (
	"fmt"
	"math/big"

	"learncausal/pkg/graph"
)

// A Role is a position of an in-context graph, 1 -> 2, 3 -> 4, ..., and the query T, in relation to a row of
// A1. The row is one of the last three roles. The first two are a pair that does not contain the row.
type Role int

const (
	OtherRoot Role = iota
	OtherChild
	OwnRoot
	OwnChild
	Query
)

// fivePositions is the in-context graph on 5 positions. Its positions have the roles in
// their order, and their laws in pairs are the same on every longer graph.
var fivePositions = graph.InContext(5)

// columns returns the roles of the positions up to the row.
func (row Role) columns() []Role {
	switch row {
	case Query:
		return []Role{OtherRoot, OtherChild, Query}
	case OwnRoot:
		return []Role{OtherRoot, OtherChild, OwnRoot}
	}
	return []Role{OtherRoot, OtherChild, OwnRoot, OwnChild}
}

// Nearby is the number of tokens in two pairs and the query of an in-context graph. At
// most this many tokens depend on the tokens at two positions.
const Nearby = 5

// An InContext encloses expectations over sequences of the in-context graph on T positions, T odd,
// under one transition matrix. T enters by formulas and may be of any size. A claim for all T, up
// to a constant, is therefore decided at T as large as the constant requires.
type InContext struct {
	Pi     Matrix
	Mu     Vector // stationary
	T, Eps *big.Rat
	Apart  bool // the query is independent of the sequence, not its last token s_T

	joint  [5][5]Matrix // laws of two tokens, by the roles of the row and the column
	one    [5]Vector
	spread []Interval // fluctuation of each state s'
}

// NewInContext returns the graph on t positions, with the query in the sequence. It panics unless pi has a
// positive stationary measure over two states or more, t is an odd integer of at least 5, and eps > 0.
func NewInContext(pi Matrix, t, eps *big.Rat) InContext {
	if !t.IsInt() || t.Num().Bit(0) == 0 || t.Cmp(Int(5)) < 0 {
		panic(fmt.Sprintf("exact: T = %s, want an odd integer of at least 5", t.RatString()))
	}
	positiveEps(eps)
	c := InContext{Pi: pi, Mu: positive(pi), T: t, Eps: eps}
	for j := range c.one {
		c.one[j] = Marginal(pi, fivePositions, j)
		for i := range c.joint {
			c.joint[i][j] = Joint(pi, fivePositions, i, j)
		}
	}
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
// and T(m-mu) = c + R, |c| <= 5. R is the sum over the other pairs. It is independent of w and has mean 0; its
// variance is below T/2 times the variance of a pair. In the last term m >= mu/2 unless R <= -(T mu/2 - 5), an
// event of probability at most exp(-(T mu/2-5)^2/T) by Hoeffding's inequality.
func (c InContext) fluctuation(state int) Interval {
	mu, two := c.Mu[state], Int(2)
	shifted := Add(mu, c.Eps)
	far := Sub(Quo(Mul(c.T, mu), two), Int(Nearby))
	if far.Sign() <= 0 {
		return Interval{Lo: Quo(Int(-1), shifted), Hi: Quo(Int(1), c.Eps)}
	}
	second := c.secondMoment(state)
	exponent := Quo(Pow(far, 2), c.T)
	if most := Int(1000); exponent.Cmp(most) > 0 {
		exponent = most
	}
	tail := Point(new(big.Rat).Neg(exponent)).Exp().Hi
	above := Add(Mul(Quo(two, mu), second), Mul(Quo(Pow(mu, 2), c.Eps), tail))
	first := Quo(Int(Nearby), c.T)
	scale := Pow(shifted, 2)
	return Interval{Lo: Quo(new(big.Rat).Neg(first), scale), Hi: Quo(Add(first, above), scale)}
}

// secondMoment returns 25/T^2 plus the variance of R/T, where R is taken over all T/2 pairs.
func (c InContext) secondMoment(state int) *big.Rat {
	mu, two := c.Mu[state], Int(2)
	both := c.joint[OtherRoot][OtherChild][state][state]
	pair := Mul(two, Sub(Add(mu, both), Mul(two, Pow(mu, 2))))
	return Quo(Add(Int(Nearby*Nearby), Mul(pair, Quo(c.T, two))), Pow(c.T, 2))
}

// laws returns P[s_i = s', s_j = s] and P[s_j = s]. If the query is in the sequence,
// both are conditional on s_T = s.
func (c InContext) laws(i, j Role, s, state int) (joint, single *big.Rat) {
	index("role", int(i), int(Query)+1)
	index("role", int(j), int(Query)+1)
	index("state", s, len(c.Pi))
	index("state", state, len(c.Pi))
	single = c.one[j][s]
	if !c.Apart && j == Query {
		single = Int(1)
	}
	switch {
	case !c.Apart && i == Query && s == state:
		return single, single
	case !c.Apart && i == Query:
		return new(big.Rat), single
	}
	return c.joint[i][j][state][s], single
}

// weighted encloses E[x_{j,s} (x_{i,s'} + eps) / (muhat(s') + eps)].
func (c InContext) weighted(i, j Role, s, state int) Interval {
	joint, single := c.laws(i, j, s, state)
	weight := Add(joint, Mul(c.Eps, single))
	central := Quo(Int(1), Add(c.Mu[state], c.Eps))
	return Point(weight).Mul(Point(central).Add(c.spread[state]))
}

// Error encloses the difference of Lemma 24 (lem-concentration-a1) before its absolute
// value, for s and s' = state,
//
//	E[x_{j,s} (x_{i,s'} + eps)/(muhat(s') + eps)] - P[s_i = s', s_j = s]/mu(s')
//
// It panics if a role or a state is out of range.
func (c InContext) Error(i, j Role, s, state int) Interval {
	joint, _ := c.laws(i, j, s, state)
	return c.weighted(i, j, s, state).Sub(Point(Quo(joint, c.Mu[state])))
}

// GHat encloses the entry (i, j) of the gradient of stage 1 in the limit beta0 -> 0
// for this matrix, as theory.GHat defines it. It panics if a role is out of range.
func (c InContext) GHat(i, j Role) Interval {
	sum := Point(new(big.Rat))
	for s := range c.Pi {
		_, single := c.laws(i, j, s, 0)
		sum = sum.Sub(Point(single))
		for state, p := range c.Pi[s] {
			sum = sum.Add(Point(p).Mul(c.weighted(i, j, s, state)))
		}
	}
	return sum
}

// A StageOne encloses the gradient of stage 1 on the in-context graph on T = Root^2 positions at
// beta0 = T^(-2), for every A1. Its prior is uniform over the relabelings of the matrices Pis.
type StageOne struct {
	Pis       []Matrix
	Root, Eps *big.Rat
	Apart     bool // as in InContext

	chains []InContext
}

// NewStageOne returns stage 1 with the query in the sequence. It panics as
// [NewInContext] does, and unless there are matrices, all over as many states.
func NewStageOne(root, eps *big.Rat, pis ...Matrix) StageOne {
	atLeast("the number of matrices", len(pis), 1)
	c := StageOne{Pis: pis, Root: root, Eps: eps}
	for _, pi := range pis {
		sameLength(pis[0][0], pi[0])
		c.chains = append(c.chains, NewInContext(pi, Pow(root, 2), eps))
	}
	return c
}

// GStar encloses the entry (i, j) of g*. By Lemma 23 (lem-nonzero-beta) g* differs from
// ghat by at most 3 S^2 eps^-2 (e^beta0 - 1) <= 6 S^2 beta0/eps^2.
func (c StageOne) GStar(i, j Role) Interval {
	sum := Point(new(big.Rat))
	for _, chain := range c.chains {
		chain.Apart = c.Apart
		sum = sum.Add(chain.GHat(i, j))
	}
	s := int64(len(c.Pis[0]))
	shift := Quo(Int(6*s*s), Mul(Pow(c.Root, 4), Pow(c.Eps, 2)))
	around := Interval{Lo: new(big.Rat).Neg(shift), Hi: shift}
	return sum.Quo(Point(Int(len(c.Pis)))).Add(around)
}

// G returns the entry (i, j) of the idealized gradient, the mean of [G] over the matrices.
func (c StageOne) G(i, j Role) *big.Rat {
	sum := new(big.Rat)
	for _, pi := range c.Pis {
		sum.Add(sum, G(pi, fivePositions, int(i), int(j)))
	}
	return sum.Quo(sum, Int(len(c.Pis)))
}

// Drive encloses V = |v|_inf T/beta0 of Lemma 6 (thm-stage1-roots) for a row. As J
// annihilates constants, v counts up to a constant, and V is
//
//	(max_j g*_ij - min_j g*_ij) / (2S)
func (c StageOne) Drive(row Role) Interval {
	var entries []Interval
	for _, j := range row.columns() {
		entries = append(entries, c.GStar(row, j))
	}
	return Spread(entries...).Quo(Point(Int(2 * int64(len(c.Pis[0])))))
}

// Distance returns an interval that contains both max_j |g*_ij - ideal(i, j)| and
// min_c max_j |g*_ij - ideal(i, j) - c|, half of the spread of the differences.
func (c StageOne) Distance(row Role, ideal func(i, j Role) *big.Rat) Interval {
	var entries []Interval
	most := new(big.Rat)
	for _, j := range row.columns() {
		d := c.GStar(row, j).Sub(Point(ideal(row, j)))
		entries = append(entries, d)
		if m := d.Abs().Hi; m.Cmp(most) > 0 {
			most = m
		}
	}
	return Interval{Lo: Quo(Spread(entries...).Lo, Int(2)), Hi: most}
}

// Gap encloses min_{j != p} (g*_ip - g*_ij).
func (c StageOne) Gap(i, p Role) Interval {
	var gaps []Interval
	for _, j := range i.columns() {
		if j != p {
			gaps = append(gaps, c.GStar(i, p).Sub(c.GStar(i, j)))
		}
	}
	least, _ := extremes(gaps)
	return least
}

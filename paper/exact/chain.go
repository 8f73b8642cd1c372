package exact

import (
	"errors"
	"fmt"
	"math/big"
	"slices"

	"learncausal/pkg/graph"
)

// Stationary returns the mu with mu pi = mu and sum 1 of the S x S transition matrix pi. There is
// an error where a row is not a probability vector, or the chain has more than one closed class.
func Stationary(pi Matrix) (Vector, error) {
	if err := CheckRows(pi); err != nil {
		return nil, err
	}
	// The last equation of (pi^T - I) mu = 0 follows from the others; the sum stands in its place.
	a := pi.T().Sub(Diag(Ones(len(pi))))
	last := len(a) - 1
	a[last] = Ones(len(a))
	b := Zero(1, len(a))[0]
	b[last].SetInt64(1)
	mu, ok := a.Solve(b)
	if !ok {
		return nil, errors.New("exact: the chain is reducible and has no unique stationary measure")
	}
	return mu, nil
}

// CheckRows returns an error that names the first row of pi that is not a
// probability vector over as many states as pi has rows.
func CheckRows(pi Matrix) error {
	if len(pi) == 0 {
		return errors.New("exact: a matrix without rows, want at least 1 state")
	}
	for s, row := range pi {
		if len(row) != len(pi) {
			return fmt.Errorf("exact: row %d has %d entries, want %d", s, len(row), len(pi))
		}
		sum := new(big.Rat)
		for t, p := range row {
			if p.Sign() < 0 {
				return fmt.Errorf("exact: row %d, column %d is %v, want a probability", s, t, p.RatString())
			}
			sum.Add(sum, p)
		}
		if sum.Cmp(Int(1)) != 0 {
			return fmt.Errorf("exact: row %d sums to %v, want 1", s, sum.RatString())
		}
	}
	return nil
}

// MustStationary is [Stationary] with a panic in place of an error, where the caller knows that mu exists.
func MustStationary(pi Matrix) Vector {
	mu, err := Stationary(pi)
	if err != nil {
		panic(err.Error())
	}
	return mu
}

// CheckGamma returns an error unless pi satisfies the first two bullets of Assumption 1 with the given gamma:
//
//	gamma > 0, min pi(s'|s) > gamma/S, sum_s |pi(.|s) - mu|_2^2 >= gamma^2/S
func CheckGamma(pi Matrix, gamma *big.Rat) error {
	if _, err := Stationary(pi); err != nil {
		return err
	}
	if gamma.Sign() <= 0 {
		return fmt.Errorf("exact: gamma is %v, want a positive number", gamma.RatString())
	}
	states := Int(len(pi))
	floor := Quo(gamma, states)
	for s, row := range pi {
		for t, p := range row {
			if p.Cmp(floor) <= 0 {
				return fmt.Errorf("exact: pi(%d|%d) is %v, want more than gamma/S = %v",
					t, s, p.RatString(), floor.RatString())
			}
		}
	}
	if spread, want := RowSpread(pi), Quo(Mul(gamma, gamma), states); spread.Cmp(want) < 0 {
		return fmt.Errorf("exact: sum_s |pi(.|s) - mu|^2 is %v, want gamma^2/S = %v or more",
			spread.RatString(), want.RatString())
	}
	return nil
}

// FloorGamma returns S min pi(s'|s), below which each gamma > 0 satisfies the first
// bullet of Assumption 1. It panics unless pi is square.
func FloorGamma(pi Matrix) *big.Rat {
	pi.square()
	return Mul(Int(len(pi)), slices.MinFunc(slices.Concat(pi...), (*big.Rat).Cmp))
}

// RowSpread returns sum_s |pi(.|s) - mu|_2^2. The second bullet of Assumption 1 holds
// for gamma^2 up to S times it.
func RowSpread(pi Matrix) *big.Rat {
	sum := new(big.Rat)
	for _, row := range centered(pi, MustStationary(pi)) {
		sum.Add(sum, Dot(row, row))
	}
	return sum
}

// centered returns pi - 1 mu^T.
func centered(pi Matrix, mu Vector) Matrix { return pi.Sub(Outer(Ones(len(pi)), mu)) }

// Marginal returns the law of s_i: mu, or uniform for the query. It panics unless
// 0 <= i < T, and if pi has no unique stationary measure.
func Marginal(pi Matrix, g *graph.Forest, i int) Vector {
	g.Parent(i) // panics
	if i < g.T()-1 {
		return MustStationary(pi)
	}
	return Uniform(len(pi))
}

// Joint returns the law of (s_i, s_j) given pi on the forest: row a, column b
// is P[s_i = a, s_j = b]. In one tree, with least common ancestor k,
//
//	P = (pi^d(k,i))^T diag(mu) pi^d(k,j)
//
// and the product of the marginals otherwise.
func Joint(pi Matrix, g *graph.Forest, i, j int) Matrix {
	k, toI, toJ := g.Meet(i, j)
	if k == graph.Root {
		return Outer(Marginal(pi, g, i), Marginal(pi, g, j))
	}
	return pi.Power(toI).T().Mul(Diag(Marginal(pi, g, k))).Mul(pi.Power(toJ))
}

// ChiSquared returns the chi-squared divergence
//
//	sum_x P(x)^2/Q(x) - 1 = sum_x (P(x) - Q(x))^2/Q(x)
//
// of probability vectors of the same length, with Q positive; it panics of others.
func ChiSquared(p, q Vector) *big.Rat {
	sameLength(p, q)
	positiveLaw(q)
	d := new(big.Rat)
	for x := range p {
		e := Sub(p[x], q[x])
		d.Add(d, Quo(Mul(e, e), q[x]))
	}
	return d
}

// ChiSquaredInformation returns the chi-squared divergence of the joint law
// from the product of its marginals. It panics unless they are positive.
func ChiSquaredInformation(joint Matrix) *big.Rat {
	sums := func(m Matrix) Vector { return entries(len(m), func(i int) *big.Rat { return Dot(m[i]) }) }
	d, product := new(big.Rat), Outer(sums(joint), sums(joint.T()))
	for a := range joint {
		d.Add(d, ChiSquared(joint[a], product[a]))
	}
	return d
}

// FrobeniusSquared returns |B_pi|_F^2 as eq. (41) has it,
//
//	sum_{s,s'} mu(s) pi(s'|s)^2 / mu(s') - 1
//
// It panics unless pi has one stationary measure, a positive one, over two states
// or more, as do all that divide by it.
func FrobeniusSquared(pi Matrix) *big.Rat {
	mu, sum := positive(pi), Int(-1)
	for s := range pi {
		for t := range pi {
			sum.Add(sum, Quo(Mul(mu[s], Mul(pi[s][t], pi[s][t])), mu[t]))
		}
	}
	return sum
}

// LambdaAtMost reports whether lambda(pi) = |B_pi|_2 <= c, for c >= 0 (Definition 6). With D =
// diag(mu) and N = D^(1/2) B^T B D^(1/2), which has no roots in it, that is whether c^2 D - N is
// semidefinite. It panics if c is negative, or mu not positive.
func LambdaAtMost(pi Matrix, c *big.Rat) bool {
	if c.Sign() < 0 {
		panic(fmt.Sprintf("exact: a singular value of at most %v, want a bound that is not negative", c.RatString()))
	}
	mu := positive(pi)
	m := centered(pi, mu)
	n := m.T().Mul(Diag(mu)).Mul(m)
	return Diag(mu).Scale(Mul(c, c)).Sub(n).Semidefinite()
}

// G returns the idealized gradient of Lemma 5 (thm-dpi-gap) for one transition matrix,
//
//	g_ij(pi) = sum_{s,s'} pi(s'|s)/mu(s') P[s_i = s', s_j = s] - 1
func G(pi Matrix, g *graph.Forest, i, j int) *big.Rat {
	mu, joint, sum := positive(pi), Joint(pi, g, i, j), Int(-1)
	for s := range pi {
		for t := range pi {
			sum.Add(sum, Quo(Mul(pi[s][t], joint[t][s]), mu[t]))
		}
	}
	return sum
}

// TV returns the total variation distance sum_x |P(x) - Q(x)| / 2. It panics if the lengths differ.
func TV(p, q Vector) *big.Rat {
	return Quo(Norm1(SubScaled(p, Int(1), q)), Int(2))
}

// Alpha returns the contraction coefficient of Lemma 17 (lem-contraction),
//
//	alpha(pi) = max_{j != k} TV(pi(.|j), pi(.|k))
//
// It panics unless pi is a transition matrix.
func Alpha(pi Matrix) *big.Rat {
	if err := CheckRows(pi); err != nil {
		panic(err.Error())
	}
	all := Vector{new(big.Rat)}
	for j := range pi {
		for k := range j {
			all = append(all, TV(pi[j], pi[k]))
		}
	}
	return slices.MaxFunc(all, (*big.Rat).Cmp)
}

// TEffLambda returns T^2 / sum_{i,j} lambda^d(i,j), as [graph.Forest.TEffLambda]
// does. It panics unless lambda is in [0, 1].
func TEffLambda(g *graph.Forest, lambda *big.Rat) *big.Rat {
	fraction("lambda", lambda)
	// below[i] sums lambda^d(i,j) over the subtree of i. Pairs with the last common
	// ancestor i contribute below[i]^2 - lambda^2 sum of below[c]^2 over its children c.
	below, sum := Ones(g.T()), new(big.Rat)
	for i := g.T() - 1; i >= 0; i-- {
		square := Mul(below[i], below[i])
		sum.Add(sum, square)
		if p := g.Parent(i); p != graph.Root {
			sum.Sub(sum, Mul(Mul(lambda, lambda), square))
			below[p] = Add(below[p], Mul(lambda, below[i]))
		}
	}
	n := Int(g.T())
	return Quo(Mul(n, n), sum)
}

package finitesample

import (
	"math"
	"math/big"

	"learncausal/paper/claims/instruments"
	"learncausal/paper/exact"
	"learncausal/paper/ledger"
	"learncausal/pkg/graph"
	"learncausal/pkg/num"
)

// This file encloses the distance of the mean of N samples of a gradient from its expectation, which a given
// probability of error allows: from above by Bernstein's inequality with the moments of the proofs, and from
// below by the variance. N and T may be so large that a wrong power of N or T_eff is refuted.

// longRoots returns the roots of N or T at which orders are decided, up to T = 3^438.
func longRoots() []*big.Rat {
	var out []*big.Rat
	for k := 3; k <= 220; k += 54 {
		out = append(out, exact.Pow(exact.Int(3), k))
	}
	return out
}

// likely is the probability delta in the bounds from below: the error of a sample's
// mean exceeds half of its standard deviation with a larger probability.
var likely = exact.Frac(1, 100)

// logOf encloses log(x), for x of any size.
func logOf(x *big.Rat) exact.Interval { return exact.Point(x).Log() }

// unionLog encloses log(2 T^2/delta), which replaces log(1/delta) in a bound of at most
// T^2 entries on both sides.
func unionLog(t, delta *big.Rat) exact.Interval {
	return logOf(exact.Quo(exact.Mul(exact.Int(2), exact.Pow(t, 2)), delta))
}

// errorScale returns c = 2 S^2/gamma^2. The gradient Z of one sample has E|Z|^p <= (p!/2) S c^p for all p >= 2.
func errorScale(states int, gamma *big.Rat) *big.Rat {
	s := int64(states)
	return exact.Quo(exact.Int(2*s*s), exact.Pow(gamma, 2))
}

// sampleError encloses c (sqrt(2 S l/N) + l/N) with l = log(2 T^2/delta), which bounds
// all entries of ghat^emp - ghat with probability 1-delta.
func sampleError(states int, gamma, n *big.Rat, l exact.Interval) exact.Interval {
	perSample := l.Quo(exact.Point(n))
	spread := exact.Point(exact.Int(2 * int64(states))).Mul(perSample).Sqrt()
	return exact.Point(errorScale(states, gamma)).Mul(spread.Add(perSample))
}

// leastVariance returns a lower bound of the variance of Z_ij on the in-context
// graph on T positions for roots i and j of two pairs, rational in pi, T and eps:
//
//	(1-1/S) S sum_{s,s'} mu(s) mu(s') ((pi(s'|s)/(mu(s')+5/T+eps) - 1)_+)^2
//
// by Jensen's inequality, as five tokens depend on the two positions and the query,
// and Z is zero unless s_j = s_T, which has the probability 1/S.
func leastVariance(pi exact.Matrix, t, eps *big.Rat) *big.Rat {
	mu, one, sum := exact.MustStationary(pi), exact.Int(1), new(big.Rat)
	for s, s2 := range instruments.Pairs(len(pi)) {
		above := exact.Add(exact.Add(mu[s2], exact.Quo(exact.Int(exact.Nearby), t)), eps)
		if gain := exact.Sub(exact.Quo(pi[s][s2], above), one); gain.Sign() > 0 {
			sum.Add(sum, exact.Mul(exact.Mul(mu[s], mu[s2]), exact.Pow(gain, 2)))
		}
	}
	return exact.Mul(exact.Int(len(pi)-1), sum)
}

// likelyError returns a number that the absolute value of a mean of n samples, less any constant, exceeds with
// a probability of more than 1/100: half of its standard deviation, by the inequality of Paley and Zygmund,
// once n is at least the fourth central moment over the squared variance; zero before.
func likelyError(variance, fourth, n *big.Rat) *big.Rat {
	if variance.Sign() == 0 || exact.Mul(n, exact.Pow(variance, 2)).Cmp(fourth) < 0 {
		return new(big.Rat)
	}
	return exact.Quo(exact.Point(exact.Quo(variance, n)).Sqrt().Lo, exact.Int(2))
}

// momentBound returns (p!/2) S c^p, a bound of E|Z|^p for p >= 2.
func momentBound(states int, gamma *big.Rat, p int) *big.Rat {
	orders := new(big.Rat).SetInt(new(big.Int).MulRange(1, int64(p)))
	return exact.Mul(exact.Mul(orders, exact.Frac(int64(states), 2)), exact.Pow(errorScale(states, gamma), p))
}

// fourthMoment returns 2^4 (4!/2) S c^4, a bound of the fourth central moment of Z.
func fourthMoment(states int, gamma *big.Rat) *big.Rat {
	return exact.Mul(exact.Int(16), momentBound(states, gamma, 4))
}

// A tailBound returns a bound that the distance of the mean of n samples from its
// expectation exceeds with a probability of at most 2 exp(-l), given the second moment
// of a sample, its largest deviation from its mean, n and l.
type tailBound func(second, most, n, l float64) float64

// bernstein is Bernstein's inequality.
func bernstein(second, most, n, l float64) float64 {
	return math.Sqrt(2*second*l/n) + most*l/(3*n)
}

// decideTail decides P(|mean of n samples - E| >= bound) <= 2 exp(-l) for the law, with
// some number of independent samples among the n.
func decideTail(
	w *ledger.Worst, law exact.SampleLaw, bound tailBound, most *big.Rat, n, independent int, at ledger.Instance,
) {
	for _, level := range []float64{2, 4, 8} {
		far := bound(exact.Float(law.Moment(2)), exact.Float(most), float64(n), level)
		p := law.Tail(independent, far*(1+1e-12))
		w.AtMostRounded(p, 2*num.Exp(-level), exact.TailRounding, func() ledger.Instance {
			return at.With("N", n).With("l", level)
		})
	}
}

// largestOfRow encloses the least number that the largest entry of a row does not exceed
// with probability 99/100: with the bound E of the error,
//
//	max_j |ghat_ij| - E <= max_j |ghat^emp_ij| <= max_j |ghat_ij| + E
func largestOfRow(pis []exact.Matrix, row exact.Role, root *big.Rat, samples sampleCount) exact.Interval {
	pi := pis[0]
	l := unionLog(exact.Pow(root, 2), likely)
	off := sampleError(len(pi), exact.FloorGamma(pi), samples(root, l).Lo, l)
	largest := exact.NewStageOne(root, exact.Inv(root), pis...).
		Distance(row, func(exact.Role, exact.Role) *big.Rat { return new(big.Rat) })
	return exact.Interval{Lo: largest.Sub(off).Lo, Hi: largest.Add(off).Hi}
}

// A sampleCount returns N, given root = T^(1/2) and l = log(2T^2/delta).
type sampleCount func(root *big.Rat, l exact.Interval) exact.Interval

// perLength returns N = T^power l.
func perLength(power string) sampleCount {
	return func(root *big.Rat, l exact.Interval) exact.Interval {
		return exact.Power(root, exact.Mul(exact.Int(2), exact.Rat(power))).Mul(l)
	}
}

// errorConstant encloses K = 2 S^2 gamma^-2 (1 + sqrt(2S)).
func errorConstant(pi exact.Matrix) exact.Interval {
	s := int64(len(pi))
	spread := exact.Point(exact.Int(2 * s)).Sqrt().Add(exact.Point(exact.Int(1)))
	return exact.Point(errorScale(len(pi), exact.FloorGamma(pi))).Mul(spread)
}

// errorAt encloses the least number that the errors of all entries do not exceed with probability 99/100, for
// eps = 1/root: from below by half a standard deviation of one entry, from above by Bernstein's inequality.
func errorAt(pi exact.Matrix, root *big.Rat, samples sampleCount) exact.Interval {
	t := exact.Pow(root, 2)
	l := unionLog(t, likely)
	n := samples(root, l)
	below := likelyError(leastVariance(pi, t, exact.Inv(root)), fourthMoment(len(pi), exact.FloorGamma(pi)), n.Hi)
	return exact.Interval{Lo: below, Hi: sampleError(len(pi), exact.FloorGamma(pi), n.Lo, l).Hi}
}

// leastError returns a lower bound of |Z_ij - E Z_ij| for a sequence of the in-context
// graph on root^2 positions in which s_i = s_j = s_T and the other tokens differ from
// s_T: there Z_ij is at least gamma root/2 - S, while |E Z| <= (S c^2)^(1/2).
func leastError(s int64, gamma, root *big.Rat) *big.Rat {
	far := exact.Point(exact.Sub(exact.Quo(exact.Mul(gamma, root), exact.Int(2)), exact.Int(s))).
		Sub(exact.Point(exact.Int(s)).Sqrt().Mul(exact.Point(errorScale(int(s), gamma))))
	if far.Lo.Sign() < 0 {
		return new(big.Rat)
	}
	return far.Lo
}

// exactRareProbability returns the probability that some state has at most half of its stationary frequency.
func exactRareProbability(g *graph.Forest, pi exact.Matrix) *big.Rat {
	mu, sum := exact.MustStationary(pi), new(big.Rat)
	for x, p := range exact.Sequences(g, pi) {
		for a, m := range mu {
			if exact.Frac(2*instruments.Occurrences(a, x), int64(len(x))).Cmp(m) <= 0 {
				sum.Add(sum, p)
				break
			}
		}
	}
	return sum
}

// A rareCase is a forest with a chain.
type rareCase struct {
	instruments.FamilyMember
	pi exact.Matrix
}

package theory

import (
	"fmt"
	"math"
)

// A Divergence is an f-divergence, given by a convex f with f(1) = 0:
//
//	D_f(P || Q) = sum_x Q(x) f(P(x)/Q(x))
//
// with 0 f(0/0) = 0, and P(x) lim_{z->inf} f(z)/z where Q(x) = 0 < P(x). It is zero for P = Q and
// not negative, may be infinite, and is the same for f and f plus a multiple of z-1. The
// predeclared ones have f >= 0, so that nothing cancels in the sum.
type Divergence struct {
	Name string
	// excess returns f(1+d) for d >= -1, accurate also near d = 0.
	excess func(d float64) float64
	// slope is the limit of f(z)/z for large z.
	slope float64
}

var (
	// ChiSquared has f(z) = (z-1)^2.
	ChiSquared = Divergence{"chi-squared", func(d float64) float64 { return d * d }, math.Inf(1)}
	// KullbackLeibler has f(z) = z log z - (z-1): D = sum P log(P/Q), in nats.
	KullbackLeibler = Divergence{"Kullback-Leibler", entropic, math.Inf(1)}
	// ReverseKL has f(z) = -log z + (z-1): D = sum Q log(Q/P), in nats.
	ReverseKL = Divergence{"reverse Kullback-Leibler", logarithmic, 1}
	// TotalVariation has f(z) = |z-1|/2; D lies in [0, 1].
	TotalVariation = Divergence{"total variation", func(d float64) float64 { return math.Abs(d) / 2 }, 0.5}
	// Hellinger has f(z) = (sqrt z - 1)^2/2: the squared Hellinger distance, in [0, 1].
	Hellinger = Divergence{"squared Hellinger", hellinger, 0.5}
	// JensenShannon has f(z) = z/2 log(2z/(z+1)) + 1/2 log(2/(z+1)):
	// D = KL(P||M)/2 + KL(Q||M)/2 with M = (P+Q)/2, in [0, log 2].
	JensenShannon = Divergence{"Jensen-Shannon", jensenShannon, math.Ln2 / 2}
)

// NewDivergence returns the divergence of another f, as in examples/divergence. excess returns f(1+d) for d >= -1, at
// least 0 and accurate near d = 0; slope is the limit of f(z)/z for large z, which may be +Inf. For an f that is
// negative somewhere, add the multiple of z-1 that makes it touch zero at one. NewDivergence panics if excess(0) is
// not 0, or if f is negative, not convex or above slope (z-1) between the points 0, 1/2, 1, 3/2, 2, 4 and 8.
func NewDivergence(name string, excess func(d float64) float64, slope float64) Divergence {
	if name == "" || excess == nil || excess(0) != 0 {
		panic(fmt.Sprintf("theory: divergence %q, want a name, and an f with f(1) = 0", name))
	}
	points := []float64{0, 0.5, 1, 1.5, 2, 4, 8}
	for k, z := range points {
		v := excess(z - 1)
		if z > 1 && !(v <= float64(slope*(z-1))*(1+1e-12)) || !(v >= 0) {
			panic(fmt.Sprintf("theory: divergence %q with f(%v) = %v, want 0 to slope (z-1), with the slope %v",
				name, z, v, slope))
		}
		for _, a := range points[:k] {
			if mid := excess(float64((a+z)/2) - 1); !(mid <= float64((excess(a-1)+v)/2*(1+1e-12))+1e-12) {
				panic(fmt.Sprintf("theory: divergence %q is not convex between %v and %v", name, a, z))
			}
		}
	}
	return Divergence{name, excess, slope}
}

// Hinge returns the hockey-stick divergence, f(z) = max(z-k, 0) for k >= 1. It
// vanishes for any P <= k Q. As an information measure with k > 1 it is zero also for
// some dependent pairs. It panics unless k is at least one and finite.
func Hinge(k float64) Divergence {
	if !(k >= 1 && k <= math.MaxFloat64) {
		panic(fmt.Sprintf("theory: hinge divergence with k = %v, want k >= 1", k))
	}
	return Divergence{fmt.Sprintf("hinge at %g", k), func(d float64) float64 { return max(d-(k-1), 0) }, 1}
}

// Divergences returns the ones above, the hinge at 2. Notebooks and the searches of the ledger range over them.
func Divergences() []Divergence {
	return []Divergence{ChiSquared, KullbackLeibler, ReverseKL, TotalVariation, Hellinger, JensenShannon, Hinge(2)}
}

// F returns f(z), which is +Inf where it is beyond floating point. It panics unless z
// is finite and not negative.
func (f Divergence) F(z float64) float64 {
	if !(z >= 0 && z <= math.MaxFloat64) {
		panic(fmt.Sprintf("theory: %s of %v, want a number >= 0", f.check().Name, z))
	}
	return f.check().excess(z - 1)
}

// check panics unless f is one that this package made.
func (f Divergence) check() Divergence {
	if f.excess == nil {
		panic("theory: a divergence without a function: ChiSquared is one, Divergences lists them, " +
			"and NewDivergence makes another")
	}
	return f
}

// Between returns D_f(P || Q) of two probability vectors. It panics if their lengths differ, or unless each
// entry is in [0, 1], and each entry of Q zero or at least 1e-150, below which the ratios leave floating point.
func (f Divergence) Between(p, q []float64) float64 {
	f.check()
	if len(p) != len(q) {
		panic(fmt.Sprintf("theory: divergence of laws on %d and %d states", len(p), len(q)))
	}
	for x := range p {
		// Sums of frequencies are above one by their rounding.
		if !(p[x] >= 0 && p[x] <= 1+1e-9 && (q[x] == 0 || q[x] >= 1e-150 && q[x] <= 1+1e-9)) {
			panic(fmt.Sprintf("theory: divergence of laws with probabilities %v and %v of %d, "+
				"want numbers in [0, 1], the second zero or at least 1e-150", p[x], q[x], x))
		}
	}
	sum := 0.0
	for x := range p {
		switch {
		case q[x] > 0:
			sum += float64(q[x] * f.excess((p[x]-q[x])/q[x]))
		case p[x] > 0:
			sum += float64(p[x] * f.slope)
		}
	}
	return sum
}

// entropic returns (1+d) log(1+d) - d, by its series near zero.
func entropic(d float64) float64 {
	switch {
	case d <= -1:
		return 1
	case math.Abs(d) >= 0.1:
		return float64((1+d)*math.Log1p(d)) - d
	}
	return series(d, func(k float64) float64 { return k * (k - 1) })
}

// logarithmic returns d - log(1+d), by its series near zero.
func logarithmic(d float64) float64 {
	switch {
	case d <= -1:
		return math.Inf(1)
	case math.Abs(d) >= 0.1:
		return d - math.Log1p(d)
	}
	return series(d, func(k float64) float64 { return k })
}

// series returns sum_{k>=2} (-d)^k / below(k); the first term left out is 1e-18 of the sum.
func series(d float64, below func(k float64) float64) float64 {
	sum, p := 0.0, d*d
	for k := 2.0; k < 20; k++ {
		sum += p / below(k)
		p *= -d
	}
	return sum
}

// hellinger returns (sqrt(1+d) - 1)^2 / 2, where nothing cancels.
func hellinger(d float64) float64 {
	h := d / (1 + math.Sqrt(1+d))
	return h * h / 2
}

// jensenShannon returns f(1+d) from the mixture, which is m times Q: P is 1+e
// times the mixture, and Q 1-e times.
func jensenShannon(d float64) float64 {
	m := 1 + float64(d/2)
	e := d / (2 * m)
	return m / 2 * (entropic(e) + entropic(-e))
}

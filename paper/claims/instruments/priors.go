package instruments

import (
	"fmt"
	"iter"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"

	"learncausal/paper/exact"
	"learncausal/paper/ledger"
	"learncausal/pkg/theory"
)

// RationalKernels returns transition matrices over 2 to 4 states: all positive
// ones with a small denominator over two states, and n random ones.
func RationalKernels(e *ledger.Env, n int) iter.Seq[exact.Matrix] {
	return func(yield func(exact.Matrix) bool) {
		for den := 2; den <= 6; den++ {
			for pi := range exact.Positive(2, den) {
				if !yield(pi) {
					return
				}
			}
		}
		r := rand.New(e.Stream("kernels"))
		for k := range n {
			s := 2 + k%3
			x := make([]float64, s*s)
			for i := range x {
				x[i] = 2 * r.NormFloat64()
			}
			if !yield(exact.Round(ledger.Kernel(x, s, 0.02), s, 100)) {
				return
			}
		}
	}
}

// AttackExactly searches for a chain that breaks the bound, and also decides the
// bound on the rational matrices.
func AttackExactly(e *ledger.Env, w *ledger.Worst, q ledger.KernelBound) {
	q.Attack(e, w)
	for pi := range RationalKernels(e, e.Budget(60, 20)) {
		if witness := q.Decide(w, pi); witness != nil {
			w.Fail(*witness)
		}
	}
}

// KernelInstance describes a transition matrix as an instance.
func KernelInstance(pi exact.Matrix) func() ledger.Instance {
	return func() ledger.Instance { return ledger.Instance{"S": len(pi), "pi": pi} }
}

// Independent returns 1 mu^T, the matrix with mu in every row.
func Independent(mu exact.Vector) exact.Matrix {
	return slices.Repeat(exact.Matrix{mu}, len(mu))
}

// smallSlack is the slack below which the worst point of a search is decided in rational numbers.
const smallSlack = 0.05

// LeastGamma bounds the gamma of a search from below: as the rows become equal,
// both sides vanish, and only rounding errors remain.
const LeastGamma = 0.01

// LeastEntry is the least entry of the matrices in a search for priors.
const LeastEntry = 1e-4

// Bullets are the bullets of Assumption 1 that a gamma satisfies: pi(s'|s) >= gamma/S on the entries, and
// sum_s |pi(.|s) - mu|^2 >= gamma^2/S on the rows. The gamma of a statement is the largest one, at most 1.
type Bullets struct{ entries, rows bool }

// Both bullets, and each alone.
var (
	BothBullets = Bullets{entries: true, rows: true}
	EntryBullet = Bullets{entries: true}
	RowBullet   = Bullets{rows: true}
)

// among returns gamma, given the largest gamma of each bullet.
func (g Bullets) among(entries, rows float64) float64 {
	least := 1.0
	if g.entries {
		least = min(least, entries)
	}
	if g.rows {
		least = min(least, rows)
	}
	return least
}

// Float returns gamma for the chain in floats.
func (g Bullets) Float(c *theory.Chain) float64 {
	return g.among(c.GammaBounds())
}

// Square returns gamma^2, which is rational.
func (g Bullets) Square(pi exact.Matrix) *big.Rat {
	squares := exact.Vector{exact.Int(1)}
	if g.entries {
		squares = append(squares, exact.Pow(exact.FloorGamma(pi), 2))
	}
	if g.rows {
		squares = append(squares, exact.Mul(exact.Int(len(pi)), exact.RowSpread(pi)))
	}
	return slices.MinFunc(squares, (*big.Rat).Cmp)
}

// Root returns gamma. It panics if gamma is irrational.
func (g Bullets) Root(pi exact.Matrix) *big.Rat {
	square := g.Square(pi)
	root := new(big.Rat).SetFrac(new(big.Int).Sqrt(square.Num()), new(big.Int).Sqrt(square.Denom()))
	if exact.Mul(root, root).Cmp(square) != 0 {
		panic("instruments: the root of " + square.RatString() + " is not rational")
	}
	return root
}

// simplestGamma returns the gamma of least denominator, at most 60, that accept
// accepts and for which pi satisfies the first two bullets of Assumption 1, or nil.
func simplestGamma(pi exact.Matrix, accept func(gamma *big.Rat) bool) *big.Rat {
	for q := int64(2); q <= 60; q++ {
		for p := int64(1); p < q; p++ {
			if gamma := exact.Frac(p, q); accept(gamma) && exact.CheckGamma(pi, gamma) == nil {
				return gamma
			}
		}
	}
	return nil
}

// A GammaBound is a bound in terms of S and gamma, for the gamma of the bullets.
type GammaBound struct {
	ledger.Bound
	Of Bullets
}

// Factors returns the factor of the power of gamma in the bound for a number of states, and the exponent of gamma.
func (b GammaBound) Factors(states int) (times, exponent *big.Rat) {
	at := ledger.At[*big.Rat]{"S": exact.Int(states), `\gamma`: exact.Int(1)}
	return b.Rat(at), b.Exponent(`\gamma`)
}

// FloatAt returns the bound for a number of states and a gamma.
func (b GammaBound) FloatAt(states int, gamma float64) float64 {
	times, exponent := b.Factors(states)
	return exact.Float(times) * math.Pow(gamma, exact.Float(exponent))
}

// RatAt returns the bound for a rational gamma.
func (b GammaBound) RatAt(states int, gamma *big.Rat) *big.Rat {
	return b.Rat(ledger.At[*big.Rat]{"S": exact.Int(states), `\gamma`: gamma})
}

// Within encloses the bound for two states.
func (b GammaBound) Within(gamma exact.Range) exact.Range {
	times, exponent := b.Factors(2)
	return rangeOf(times).Mul(gamma.Pow(int(exponent.Num().Int64())))
}

// Exceeds returns the witness that the bound at pi exceeds right, or nil. The witness has a simple gamma, if
// there is one and the bound has both bullets. Otherwise it compares squares at the largest gamma.
func (b GammaBound) Exceeds(right *big.Rat, pi exact.Matrix) *ledger.Witness {
	square := b.Of.Square(pi)
	if square.Sign() == 0 {
		return nil
	}
	times, exponent := b.Factors(len(pi))
	most := exact.Mul(exact.Pow(times, 2), exact.Power(square, exponent).Lo)
	if right.Sign() > 0 && most.Cmp(exact.Mul(right, right)) <= 0 {
		return nil
	}
	w := &ledger.Witness{Instance: ledger.Instance{"S": len(pi), "pi": pi, "mu": exact.MustStationary(pi)}, RHS: right}
	left := func(gamma *big.Rat) *big.Rat { return b.RatAt(len(pi), gamma) }
	if b.Of == BothBullets {
		top := math.Sqrt(exact.Float(square))
		gamma := simplestGamma(pi, func(gamma *big.Rat) bool {
			return exact.Float(gamma) < top*(1+1e-9) && right.Cmp(left(gamma)) < 0
		})
		if gamma != nil {
			w.Instance["gamma"], w.LHS = gamma, left(gamma)
			return w
		}
	}
	w.Instance["gamma^2"] = square
	if right.Sign() <= 0 {
		w.LHS = new(big.Rat) // the bound is positive
		w.Equation = "0 < the bound <= the right side"
		return w
	}
	w.LHS, w.RHS, w.Squared = most, exact.Mul(right, right), true
	return w
}

// asOrbits changes the witness about pi so that its prior is uniform over the
// relabelings of pi and of the other matrices.
func asOrbits(w *ledger.Witness, others ...exact.Matrix) *ledger.Witness {
	w.Instance["orbits"] = append([]exact.Matrix{w.Instance["pi"].(exact.Matrix)}, others...)
	delete(w.Instance, "pi")
	return w
}

// A PriorSearch is a search for a prior for which Value is below Bound.
type PriorSearch struct {
	Bound   GammaBound
	Sizes   []int                                        // numbers of states
	Budget  int                                          // over all sizes together
	Bases   func(x []float64, s int) []*theory.Chain     // the prior at a point: relabelings of these matrices
	Value   func(bases []*theory.Chain) float64          // the right side
	Witness func(w *ledger.Worst, s int) *ledger.Witness // decides a near miss in rational numbers; nil for none
}

// Run searches each size, and decides near misses by Witness. It returns, for a note, the least ratios of value to
// bound.
func (q PriorSearch) Run(e *ledger.Env, w *ledger.Worst) string {
	var ratios RatioPerSize
	for _, s := range q.Sizes {
		lhs, rhs := q.size(e, w, s)
		ratios.Add(s, lhs, rhs)
		if w.Failed() || ledger.Slack(lhs, rhs) >= smallSlack {
			continue
		}
		if witness := q.Witness(w, s); witness != nil {
			w.Fail(*witness)
		}
	}
	return string(ratios)
}

// size searches the priors over s states, and returns the worst sides.
func (q PriorSearch) size(e *ledger.Env, w *ledger.Worst, s int) (lhs, rhs float64) {
	sides := func(x []float64) (lhs, rhs float64) {
		bases := q.Bases(x, s)
		gamma := 1.0
		for _, c := range bases {
			gamma = min(gamma, q.Bound.Of.Float(c))
		}
		if gamma < LeastGamma || NormOf(bases) < 1e-9 {
			return 0, math.Inf(1)
		}
		return q.Bound.FloatAt(s, gamma), q.Value(bases)
	}
	second := 0 // parameters of a second matrix
	if s == 2 {
		second = 4
	}
	starts := e.KernelStarts(e.Budget(5, 1), s, second)
	for _, pi := range LightStates(s) {
		starts = append(starts, ledger.Parameters(pi, LeastEntry))
	}
	_, lhs, rhs = e.Search(w, sides, starts, q.Budget/len(q.Sizes), func(x []float64) ledger.Instance {
		at := ledger.Instance{"S": s, "prior": "relabelings of pi"}
		for k, c := range q.Bases(x, s) {
			at[[]string{"pi", "pi2"}[k]] = ledger.Grid(c.Pi.RawMatrix().Data, s)
		}
		return at
	})
	return lhs, rhs
}

// A RatioPerSize lists, for a note, the worst rhs/lhs of a search for each S.
type RatioPerSize string

// Add appends rhs/lhs for s states.
func (r *RatioPerSize) Add(s int, lhs, rhs float64) {
	*r += RatioPerSize(fmt.Sprintf(" %.3g (S = %d)", rhs/lhs, s))
}

// BasesOfPrior returns the matrices of a prior of constant mean: one matrix of
// trace 1 or, for two states, two matrices with traces that sum to 2.
func BasesOfPrior(x []float64, s int) []*theory.Chain {
	first := ledger.Kernel(x[:s*s], s, LeastEntry)
	if s == 2 {
		second := withTraceFloats(ledger.Kernel(x[4:], 2, LeastEntry), 2, 2-first[0]-first[3])
		return []*theory.Chain{theory.MustChain(first, 2), theory.MustChain(second, 2)}
	}
	return []*theory.Chain{theory.MustChain(withTraceFloats(first, s, 1), s)}
}

// NormOf returns the mean of |B|_F^2 over the matrices, B being the centered matrix of pi.
func NormOf(bases []*theory.Chain) float64 {
	norm := 0.0
	for _, c := range bases {
		norm += c.FrobeniusSquared() / float64(len(bases))
	}
	return norm
}

// withTraceFloats is [exact.WithTrace] in floats.
func withTraceFloats(pi []float64, s int, t float64) []float64 {
	tr := 0.0
	for i := range s {
		tr += pi[i*s+i]
	}
	shift, to, a := 0, float64(s), 0.0
	if tr > t {
		shift, to = 1, 0
	}
	if tr != t {
		a = (t - tr) / (to - tr)
	}
	out := make([]float64, s*s)
	for k := range out {
		out[k] = (1 - a) * pi[k]
		if (k/s+shift)%s == k%s {
			out[k] += a
		}
	}
	return out
}

// LightStates returns chains of [exact.LightState] with a small gamma, for which both
// bullets of Assumption 1 allow about the same gamma.
func LightStates(s int) [][]float64 {
	var out [][]float64
	if s == 2 {
		return nil
	}
	for _, den := range []int64{10, 30, 100, 300} {
		m := 1 / float64(den)
		d := math.Ceil(1e6 * m / (1 - m) * math.Sqrt(float64(s)/2))
		out = append(out, exact.LightState(s, exact.Frac(1, den), exact.Frac(int64(d), 1e6)).Floats())
	}
	return out
}

// AmongLightStates returns the witness of the simplest [exact.LightState] over s states for which broken has one, or
// nil. Up to a denominator of 64, a bound with both bullets needs a witness with a simple gamma. broken is
// called only where |B|_F^2 is below the bound.
func (b GammaBound) AmongLightStates(
	w *ledger.Worst, s int, broken func(pi exact.Matrix) *ledger.Witness,
) *ledger.Witness {
	if s < 3 {
		return nil
	}
	for den := int64(s + 3); den <= 256; den++ {
		for a := int64(1); a*int64(s-2) < den && (den <= 64 || a <= 4); a++ {
			for k := int64(1); k <= 3*a; k++ {
				m, d := exact.Frac(a, den), exact.Frac(k, den)
				norm, entries, spread := lightNorm(s, exact.Float(m), exact.Float(d))
				if math.IsInf(norm, 1) { // no chain
					continue
				}
				if norm > b.FloatAt(s, b.Of.among(entries, spread))*(1+1e-9) {
					w.Floats++
					continue
				}
				w.Rationals++
				witness := broken(exact.LightState(s, m, d))
				if witness != nil && (!witness.Squared || b.Of != BothBullets || den > 64) {
					return witness
				}
			}
		}
	}
	return nil
}

// lightNorm returns, for an [exact.LightState] in floats, |B|_F^2 and the largest gamma of the entries and of the rows.
// The first row differs from mu by (1-m) d in two entries, the other rows by m d.
func lightNorm(s int, m, d float64) (norm, entries, spread float64) {
	n := float64(s)
	h := (1 - (n-2)*m) / 2
	if h <= d {
		return math.Inf(1), 0, 0
	}
	norm = m * (1 - m) * d * d * 2 * h / (h*h - m*m*d*d)
	squares := 2 * d * d * ((1-m)*(1-m) + (n-1)*m*m)
	return norm, min(n*m, n*(h-d)), math.Sqrt(n * squares)
}

// leastCovered is the least gamma of the chains over two states that EveryPairOfRows covers.
const leastCovered = 0.05

// TwoStates encloses the quantities of all chains over two states with probabilities a of leaving the first
// state and b of leaving the second in a box. The eigenvalues of B are 1-a-b and 0.
type TwoStates struct {
	Lambda  exact.Range // |1-a-b|, equal to alpha(pi)
	Entries exact.Range // 2 min pi(s'|s)
	Gamma   exact.Range // the largest gamma of the first two bullets of Assumption 1
}

func newTwoStates(a, b exact.Range) TwoStates {
	one, two := exact.At(1), exact.At(2)
	c := TwoStates{Lambda: one.Sub(a).Sub(b).Abs()}
	c.Entries = two.Mul(a.Min(b).Min(one.Sub(a)).Min(one.Sub(b)))
	// sum_s |pi(.|s) - mu|^2 = 2 lambda^2 (mu_1^2 + mu_2^2)
	squares := a.Pow(2).Add(b.Pow(2)).Quo(a.Add(b).Pow(2))
	c.Gamma = c.Entries.Min(two.Mul(c.Lambda).Mul(squares.Sqrt()))
	return c
}

// EveryPairOfRows decides lhs <= rhs for all chains over two states with a gamma
// of at least leastCovered, and returns a clause for a note.
func EveryPairOfRows(w *ledger.Worst, sides func(c TwoStates) (lhs, rhs exact.Range)) string {
	side := exact.Range{Lo: leastCovered / 2, Hi: 1 - leastCovered/2}
	boxes := w.Everywhere([]exact.Range{side, side}, 1<<18, func(box []exact.Range) (lhs, rhs exact.Range, asks bool) {
		c := newTwoStates(box[0], box[1])
		if c.Gamma.Hi < leastCovered {
			return lhs, rhs, false
		}
		lhs, rhs = sides(c)
		return lhs, rhs, true
	})
	return fmt.Sprintf(", and enclosed by %d boxes for all chains over two states with γ ≥ 1/20", boxes)
}

// rangeOf returns a range that holds x.
func rangeOf(x *big.Rat) exact.Range {
	whole := func(n *big.Int) exact.Range { return exact.At(exact.Float(new(big.Rat).SetInt(n))) }
	return whole(x.Num()).Quo(whole(x.Denom()))
}

// HalfGapAmongLightStates returns the witness of the simplest [exact.LightState] over three
// states for which the bound exceeds HalfGap, or nil.
func (b GammaBound) HalfGapAmongLightStates(w *ledger.Worst) *ledger.Witness {
	for den := int64(4); den <= 40; den++ {
		for k := int64(1); 2*k < den-1; k++ {
			w.Rationals++
			pi := exact.LightState(3, exact.Frac(1, den), exact.Frac(k, 2*den))
			if witness := b.Exceeds(HalfGap(pi), pi); witness != nil && !witness.Squared {
				witness.Instance["alpha"], witness.Instance["|B|_F^2"] = exact.Alpha(pi), exact.FrobeniusSquared(pi)
				return asOrbits(witness)
			}
		}
	}
	return nil
}

// RoundedGamma returns a multiple of 1/den below the largest gamma of pi.
func RoundedGamma(pi exact.Matrix, den int64) *big.Rat {
	return exact.Frac(int64(math.Floor(theory.MustChain(pi.Floats(), len(pi)).Gamma()*float64(den)))-1, den)
}

// ExceedsNorm returns the witness that the bound exceeds |B|_F^2, or nil.
func (b GammaBound) ExceedsNorm(pi exact.Matrix) *ledger.Witness {
	w := b.Exceeds(exact.FrobeniusSquared(pi), pi)
	if w != nil {
		return asOrbits(w)
	}
	return nil
}

// OrbitPair returns the witness that the bound exceeds |B|_F^2 for a matrix of two states, or nil. The matrix
// is the simplest one with a partner: the relabelings of both are a prior of Assumption 1.
func (b GammaBound) OrbitPair() *ledger.Witness {
	for den := 2; den <= 8; den++ {
		for pi := range exact.Positive(2, den) {
			w := b.Exceeds(exact.FrobeniusSquared(pi), pi)
			if w == nil || w.Squared {
				continue
			}
			gamma, want := w.Instance["gamma"].(*big.Rat), exact.Sub(exact.Int(2), pi.Trace())
			partner := ledger.SmallestKernel(2, 12, func(pi exact.Matrix) bool {
				return pi.Trace().Cmp(want) == 0 && exact.CheckGamma(pi, gamma) == nil
			})
			if partner != nil {
				w.Instance["spread"] = exact.RowSpread(pi)
				return asOrbits(w, partner)
			}
		}
	}
	return nil
}

package instruments

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"learncausal/paper/exact"
	"learncausal/paper/ledger"
	"learncausal/pkg/graph"
	"learncausal/pkg/markov"
	"learncausal/pkg/model"
	"learncausal/pkg/task"
	"learncausal/pkg/theory"
)

// Balanced returns a matrix over two states with trace 2 - tr(pi).
func Balanced(pi exact.Matrix) exact.Matrix {
	return exact.WithTrace(exact.Rats("1/2 1/2; 1/4 3/4"), exact.Sub(exact.Int(2), pi.Trace()))
}

// RandomTokens returns t independent tokens below s.
func RandomTokens(r *rand.Rand, s, t int) []int {
	x := make([]int, t)
	for i := range x {
		x[i] = r.IntN(s)
	}
	return x
}

// TokenRows returns the matrix X of a sequence over s tokens, T x S.
func TokenRows(x []int, s int) exact.Matrix {
	rows := exact.Zero(len(x), s)
	for i, a := range x {
		rows[i][a].SetInt64(1)
	}
	return rows
}

// FirstStream returns the residual stream of the disentangled transformer before the first layer, T x (S+T).
func FirstStream(x []int, s int) exact.Matrix {
	return Beside(TokenRows(x, s), exact.Diag(exact.Ones(len(x))))
}

// RandomPattern returns a lower triangular stochastic T x T matrix that is positive up to the diagonal.
func RandomPattern(r *rand.Rand, t int) exact.Matrix {
	pattern := exact.Zero(t, t)
	for i, row := range pattern {
		sum := int64(0)
		for j := range i + 1 {
			n := int64(1 + r.IntN(4))
			row[j].SetInt64(n)
			sum += n
		}
		for j := range i + 1 {
			row[j].Mul(row[j], exact.Frac(1, sum))
		}
	}
	return pattern
}

// Rational returns the matrix in rationals.
func Rational(a *mat.Dense) exact.Matrix {
	rows, _ := a.Dims()
	return exact.FromFloats(a.RawMatrix().Data, rows)
}

// Beside returns [a, b], the rows of a continued by the rows of b.
func Beside(a, b exact.Matrix) exact.Matrix {
	out := make(exact.Matrix, len(a))
	for i := range a {
		out[i] = append(append([]*big.Rat(nil), a[i]...), b[i]...)
	}
	return out
}

// Distance returns the largest difference of two entries.
func Distance(p, q []float64) float64 {
	d := 0.0
	for a := range p {
		d = max(d, math.Abs(p[a]-q[a]))
	}
	return d
}

// UnevenPrior returns the uniform prior over the relabelings of a matrix of trace one
// whose stationary measure is not uniform.
func UnevenPrior() *markov.Finite {
	return MustOrbit(3, []float64{0.6, 0.3, 0.1, 0.2, 0.2, 0.6, 0.3, 0.5, 0.2})
}

// TraceOneMatrix returns a random positive transition matrix of trace one with
// entries over den >= 2s, whose relabelings are a prior of constant mean.
func TraceOneMatrix(r *rand.Rand, s, den int) exact.Matrix {
	diagonal, m := composition(r, s, den), exact.Zero(s, s)
	for a := range s {
		rest := composition(r, s-1, den-diagonal[a])
		for b, n := range slices.Insert(rest, a, diagonal[a]) {
			m[a][b].SetFrac64(int64(n), int64(den))
		}
	}
	return m
}

// composition returns n positive integers that sum to total.
func composition(r *rand.Rand, n, total int) []int {
	parts := slices.Repeat([]int{1}, n)
	for range total - n {
		parts[r.IntN(n)]++
	}
	return parts
}

// RandomKernel returns a positive transition matrix over s states, whose entries may be of different orders.
func RandomKernel(r *rand.Rand, s int) exact.Matrix {
	pi := exact.Zero(s, s)
	for _, row := range pi {
		sum := int64(0)
		weights := make([]int64, s)
		for k := range weights {
			weights[k] = 1 + r.Int64N(1<<r.IntN(8))
			sum += weights[k]
		}
		for k, w := range weights {
			row[k].SetFrac64(w, sum)
		}
	}
	return pi
}

// RandomLaw returns a law on n values, of positive multiples of 1/den.
func RandomLaw(r *rand.Rand, n, den int) exact.Vector {
	law := exact.Zero(1, n)[0]
	for k, parts := range composition(r, n, den) {
		law[k].SetFrac64(int64(parts), int64(den))
	}
	return law
}

// Occurrences returns the number of positions of x with token s.
func Occurrences(s int, x []int) int64 {
	n := int64(0)
	for _, v := range x {
		if v == s {
			n++
		}
	}
	return n
}

// SmallIntegers returns a random matrix with entries from -3 to 3.
func SmallIntegers(r *rand.Rand, rows, columns int) exact.Matrix {
	m := exact.Zero(rows, columns)
	for _, row := range m {
		for _, v := range row {
			v.SetInt64(int64(r.IntN(7) - 3))
		}
	}
	return m
}

// Shares returns the law of x_i over s tokens for i uniform on the positions.
func Shares(positions, x []int, s int) []float64 {
	f := make([]float64, s)
	for _, i := range positions {
		f[x[i]]++
	}
	for a := range f {
		f[a] /= float64(len(positions))
	}
	return f
}

// ExactShares returns [Shares] in rationals, as a matrix of one row.
func ExactShares(positions, x []int, s int) exact.Matrix {
	f := exact.Zero(1, s)
	for _, i := range positions {
		f[0][x[i]].Add(f[0][x[i]], exact.Frac(1, int64(len(positions))))
	}
	return f
}

// BetaOne and BetaTwo are scales of the constructions at which the softmax is one-hot or uniform up to ScaleTolerance:
// the scores of two roots differ by at least 1/T^2.
const (
	BetaOne, BetaTwo = 200, 1e4
	ScaleTolerance   = 1e-9
)

// LimitNote returns the note of a comparison with the law over the positions of largest score. If dense, which has the
// deviations of the dense transformer, has failed, then law becomes that failure.
func LimitNote(dense, law *ledger.Worst, note string) string {
	if dense.Failed() {
		*law = *dense
		return "The dense transformer does not attend to the positions of largest score."
	}
	if law.Holds() {
		return dense.Finding(note).Note // with the largest deviation
	}
	return note
}

// Scales keeps the worst instance of the bounds on a construction at finite scales.
type Scales struct {
	*ledger.Worst
	largest float64 // largest deviation from the limit
	Dropped float64 // part of the share of uncounted positions that the bound omits
}

// Compare compares the output of a construction on every sequence with the law of x_i over the attended
// positions, and over the positions counted in the empirical transition, if any, at (beta1, beta2/unit) = (8,
// 2), (10, 5) and (12, 8). Rounding changes the output by less than 1e-12, since scores are below 1000.
func (c *Scales) Compare(
	k *model.Construction, s, t int, unit float64, bound func(beta1, beta2 float64) float64, in ledger.Instance,
) {
	const rounding = 1e-12
	for _, beta := range [][2]float64{{8, 2 * unit}, {10, 5 * unit}, {12, 8 * unit}} {
		w, most := k.Weights(beta[0], beta[1]), bound(beta[0], beta[1])
		for x := range task.Sequences(s, t) {
			at := func() ledger.Instance {
				return in.With("S", s).With("T", t).With("s", ledger.OneBased(x)).
					With("beta1", beta[0]).With("beta2", beta[1])
			}
			f, attended := w.Linear(x).RawRowView(t-1), k.Attended(x)
			far := Distance(f, Shares(attended, x, s))
			c.largest = max(c.largest, far)
			c.UpTo(1).AtMostRounded(far, most, rounding, at)
			if counted := k.Matches(x); counted != nil {
				uncounted := 1 - float64(len(counted))/float64(len(attended))
				c.UpTo(1).AtMostRounded(Distance(f, Shares(counted, x, s)), most+float64((1-c.Dropped)*uncounted), rounding, at)
			}
		}
	}
}

// Note returns the note of the claims on finite scales, with the largest deviation.
func (c *Scales) Note() string {
	return fmt.Sprintf("True for all: the first term is the first layer's leak, by way of the scores, the "+
		"second is what the other positions weigh. Evaluated by enumeration, with the rounding error below the "+
		"margins; largest |f − f_∞| %.2g.", c.largest)
}

// PerState returns s, the divisor of a mean over the queried token.
func PerState(s int) *big.Rat { return exact.Int(s) }

// Undivided returns 1, the divisor of a sum over the queried token.
func Undivided(int) *big.Rat { return exact.Int(1) }

// A SmallPopulation is a model with a prior and a graph so small that all sequences can be summed over.
type SmallPopulation struct {
	Graph *graph.Forest
	Prior *markov.Finite
	Model *theory.Reduced
	Eps   float64
}

// Instance describes the population.
func (p SmallPopulation) Instance() ledger.Instance {
	return ledger.Instance{"graph": p.Graph, "S": p.Model.S, "T": p.Model.T, "prior": p.Prior.String(), "eps": p.Eps}
}

// NewSmallPopulation returns the population with A2 = beta I and the rows of A1, each
// up to the diagonal, one after the other.
func NewSmallPopulation(g *graph.Forest, prior *markov.Finite, eps, beta float64, rows []float64) SmallPopulation {
	m := theory.NewReduced(prior.States(), g.T(), beta)
	for i := range m.T {
		rows = rows[copy(m.A1.RawRowView(i)[:i+1], rows):]
	}
	return SmallPopulation{g, prior, m, eps}
}

// Gradients returns the population gradient of the loss. It panics if the sizes do not fit.
func (p SmallPopulation) Gradients(reading theory.Reading) *theory.Population {
	population, err := theory.NewPopulation(p.Graph, p.Prior, p.Eps, reading)
	if err != nil {
		panic("instruments: " + err.Error())
	}
	return population
}

// ExactPopulation returns the population gradient in rationals, for the uniform prior over matrices.
func ExactPopulation(g *graph.Forest, eps *big.Rat, reading theory.Reading, pis ...exact.Matrix) exact.Population {
	return exact.Population{Graph: g, Pis: pis, Eps: eps, Apart: reading == theory.QueryApart}
}

// Shift returns |g* - ghat|_inf, the effect of A2 on the gradient of A1.
func (p SmallPopulation) Shift(reading theory.Reading) float64 {
	gradients, still := p.Gradients(reading), *p.Model
	still.A2 = mat.NewDense(still.S, still.S, nil)
	star, ghat := gradients.Gradient(p.Model).GStar, gradients.Gradient(&still).GStar
	return floats.Distance(star.RawMatrix().Data, ghat.RawMatrix().Data, math.Inf(1))
}

package claims

import (
	"fmt"

	"learncausal/paper/exact"
	"learncausal/paper/ledger"
	"learncausal/pkg/model"
	"learncausal/pkg/task"
)

// shares returns the law of x_i over s tokens for i uniform on the positions.
func shares(positions, x []int, s int) []float64 {
	f := make([]float64, s)
	for _, i := range positions {
		f[x[i]]++
	}
	for a := range f {
		f[a] /= float64(len(positions))
	}
	return f
}

// exactShares is shares in rationals, as a matrix of one row.
func exactShares(positions, x []int, s int) exact.Matrix {
	f := exact.Zero(1, s)
	for _, i := range positions {
		f[0][x[i]].Add(f[0][x[i]], exact.Frac(1, int64(len(positions))))
	}
	return f
}

// At these scales of the constructions the softmax is one-hot or uniform up to
// rounding: the scores of two roots differ by at least 1/T^2.
const (
	betaOne, betaTwo = 200, 1e4
	scaleTolerance   = 1e-9
)

// limitNote returns the note of the comparison of two laws. If the dense transformer differs from the law over the
// positions of largest score, this is the failure.
func limitNote(dense, law *ledger.Worst, note string) string {
	if dense.Failed() {
		*law = *dense
		return "The dense transformer does not attend to the positions of largest score."
	}
	if law.Holds() {
		return dense.Finding(note).Note // with the largest deviation
	}
	return note
}

// A scales keeps the worst instance of the bounds on a construction at finite scales.
type scales struct {
	*ledger.Worst
	largest float64 // largest deviation from the limit
	dropped float64 // part of the share of uncounted positions that the bound omits
}

// compare compares the output of a construction on every sequence with the law of x_i over the attended
// positions, and over the positions counted in the empirical transition, if any, at (beta1, beta2/unit) = (8,
// 2), (10, 5) and (12, 8). Rounding changes the output by less than 1e-12, since scores are below 1000.
func (c *scales) compare(
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
			far := distance(f, shares(attended, x, s))
			c.largest = max(c.largest, far)
			c.AtMostRounded(far, most, rounding, at)
			if counted := k.Matches(x); counted != nil {
				uncounted := 1 - float64(len(counted))/float64(len(attended))
				c.AtMostRounded(distance(f, shares(counted, x, s)), most+float64((1-c.dropped)*uncounted), rounding, at)
			}
		}
	}
}

func (c *scales) note() string {
	return fmt.Sprintf("True for all: the first term is the first layer's leak, by way of the scores, the "+
		"second is what the other positions weigh. Evaluated by enumeration, with the rounding error below the "+
		"margins; largest |f − f_∞| %.2g.", c.largest)
}

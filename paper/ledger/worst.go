package ledger

import (
	"fmt"
	"math"
	"math/big"

	"learncausal/paper/exact"
)

// A Worst accumulates the instances of a statement. It keeps the instance of least margin, and as the witness
// the first instance on which the statement certainly fails. The zero value is ready to use.
//
// Its methods call at, which describes an instance, only for an instance that is kept.
type Worst struct {
	Instances // so far

	lhs, rhs, margin float64
	instance         Instance
	any              bool
	decided          bool    // there was an instance, 0 = 0 included
	rounding         float64 // largest accepted deviation of an equation between floats
	undecided        bool    // an enclosure was too wide for some instance
	witness          *Witness
	broken           Finding // the sides of the witness in floats
	first            bool    // the first witness ends the check
	most             float64 // see UpTo; 0 if unknown
}

// Failed reports whether an instance has certainly failed.
func (w *Worst) Failed() bool { return w.witness != nil }

// Margin returns the least margin so far, +Inf before the first instance.
func (w *Worst) Margin() float64 {
	if !w.any {
		return math.Inf(1)
	}
	return w.margin
}

// UpTo says that the left side of the next instance cannot exceed most, such as 1 for a probability, whether the
// statement is true or not. If its right side is at least most, the instance is trivial.
func (w *Worst) UpTo(most float64) *Worst {
	w.most = most
	return w
}

// AtMost adds an instance of lhs <= rhs in floats. It is evidence only: a failure needs a
// witness from another method.
func (w *Worst) AtMost(lhs, rhs float64, at func() Instance) { w.atMost(&w.Floats, lhs, rhs, at) }

// atMost counts an instance of lhs <= rhs in n, unless it is trivial. Trivial instances give way to others.
func (w *Worst) atMost(n *int, lhs, rhs float64, at func() Instance) {
	others, trivial := w.N(), w.count(n, rhs)
	margin := Slack(lhs, rhs)
	if trivial && others > 0 && margin >= 0 {
		return
	}
	if !trivial && others == 0 && w.margin >= 0 {
		w.any = false
	}
	w.keep(lhs, rhs, margin, at)
}

// count adds 1 to n, or to the trivial instances if the next one is trivial.
func (w *Worst) count(n *int, rhs float64) (trivial bool) {
	if trivial = w.most > 0 && rhs >= w.most; trivial {
		n = &w.Trivial
	}
	*n++
	w.most = 0
	return trivial
}

// Keep is AtMost for the worst point of a search. The equality 0 = 0 has no margin.
func (w *Worst) Keep(lhs, rhs float64, at func() Instance) {
	w.count(&w.Floats, rhs)
	w.decided = true
	if lhs != 0 || rhs != 0 {
		w.keep(lhs, rhs, Slack(lhs, rhs), at)
	}
}

// Sampled adds an instance of lhs <= rhs in which a side is a confidence limit of a mean, so that chance does
// not explain lhs > rhs, which is a failure. The witness has no sides.
func (w *Worst) Sampled(lhs, rhs float64, at func() Instance) {
	w.atMost(&w.Samples, lhs, rhs, at)
	if lhs > rhs {
		w.Fail(Witness{Instance: at()})
	}
}

func (w *Worst) keep(lhs, rhs, margin float64, at func() Instance) {
	w.decided = true
	if math.IsNaN(margin) {
		w.undecided = true
		return
	}
	if !w.any || margin < w.margin {
		w.lhs, w.rhs, w.margin, w.any, w.instance = lhs, rhs, margin, true, at()
	}
}

// AtMostRounded decides lhs <= rhs in floats whose difference has an error of at most
// rounding. If that is not enough to decide, the finding is Open.
func (w *Worst) AtMostRounded(lhs, rhs, rounding float64, at func() Instance) {
	w.atMost(&w.Enclosures, lhs, rhs, at)
	switch {
	case lhs-rounding > rhs:
		w.Fail(Witness{Instance: at()})
	case lhs+rounding > rhs:
		w.undecided = true
	}
}

// AtMostRat decides lhs <= rhs. The equality 0 = 0 counts as an instance without a margin.
func (w *Worst) AtMostRat(lhs, rhs *big.Rat, at func() Instance) {
	if lhs.Sign() == 0 && rhs.Sign() == 0 {
		w.decided, w.most = true, 0
		w.Rationals++
		return
	}
	w.atMost(&w.Rationals, exact.Float(lhs), exact.Float(rhs), at)
	if lhs.Cmp(rhs) > 0 {
		w.Fail(Witness{Instance: at(), LHS: lhs, RHS: rhs})
	}
}

// AtMostInterval decides lhs <= rhs for enclosed sides. It fails if it fails for all numbers in the intervals,
// and the witness has the decisive end points. If the intervals overlap, the finding is Open.
func (w *Worst) AtMostInterval(lhs, rhs exact.Interval, at func() Instance) {
	w.atMost(&w.Enclosures, lhs.Float(), rhs.Float(), at)
	switch lhs.AtMost(rhs) {
	case exact.CertainlyNot:
		w.Fail(Witness{Instance: at(), LHS: lhs.Lo, RHS: rhs.Hi})
	case exact.Undecided:
		w.undecided = true
	}
}

// Everywhere decides lhs <= rhs at all points of a box in outward rounded arithmetic, by
// [exact.Cover] with at most the given number of boxes, and returns the number of boxes.
// sides returns enclosures of both sides for all points of a box; applies is false if the
// hypotheses fail at all points. An undecided box leaves the finding Open: a failure needs
// a witness from one of the other methods. After a failure Everywhere does nothing.
func (w *Worst) Everywhere(
	box []exact.Range, most int, sides func(box []exact.Range) (lhs, rhs exact.Range, applies bool),
) int {
	if w.Failed() {
		return 0
	}
	boxes, left := exact.Cover(box, most, func(box []exact.Range) exact.Decision {
		lhs, rhs, applies := sides(box)
		switch {
		case !applies || lhs.Hi <= rhs.Lo:
			return exact.Certainly
		case lhs.Lo > rhs.Hi:
			return exact.CertainlyNot
		}
		return exact.Undecided
	})
	w.Enclosures += boxes
	w.decided = true
	w.undecided = w.undecided || left != nil
	return boxes
}

// EqualRat decides lhs = rhs. equation names the equation, if the statement has several.
func (w *Worst) EqualRat(equation string, lhs, rhs *big.Rat, at func() Instance) {
	w.Rationals++
	l, r := exact.Float(lhs), exact.Float(rhs)
	if lhs.Cmp(rhs) == 0 {
		w.keep(l, r, 0, at)
		return
	}
	w.keep(l, r, deviation(l, r), at)
	w.Fail(Witness{Instance: at(), Equation: equation, LHS: lhs, RHS: rhs})
}

// EqualMatrix decides left = right entry by entry. The witness has the first entry that
// differs, with its row and column.
func (w *Worst) EqualMatrix(equation string, left, right exact.Matrix, at func() Instance) {
	for i, row := range left {
		for j, x := range row {
			if x.Cmp(right[i][j]) != 0 {
				w.EqualRat(equation, x, right[i][j], func() Instance {
					return at().With("row", i+1).With("column", j+1)
				})
				return
			}
		}
	}
	w.EqualRat(equation, left[0][0], right[0][0], at)
}

// Equal compares lhs = rhs in floats by the largest deviation of an entry,
//
//	|lhs - rhs| / max(1, |lhs|, |rhs|), or 2 if one of the two is NaN
//
// A deviation up to tolerance is rounding, with margin zero; a larger one is a failure.
func (w *Worst) Equal(lhs, rhs []float64, tolerance float64, at func() Instance) {
	if len(lhs) != len(rhs) || len(lhs) == 0 {
		panic(fmt.Sprintf("ledger: sides of %d and %d entries, want equal and positive lengths", len(lhs), len(rhs)))
	}
	w.decided = true
	w.Floats++
	var worst int
	var most float64
	for k := range lhs {
		if d := deviationOf(lhs[k], rhs[k]); d > most {
			worst, most = k, d
		}
	}
	l, r := lhs[worst], rhs[worst]
	if !(most <= tolerance) {
		w.keep(l, r, deviation(l, r), at)
		w.Fail(Witness{Instance: at()})
		return
	}
	if most > w.rounding || !w.any {
		w.rounding = most
		if !w.Failed() {
			w.lhs, w.rhs, w.any, w.instance = l, r, true, at()
		}
	}
}

func deviationOf(l, r float64) float64 {
	if math.IsNaN(l) && math.IsNaN(r) {
		return 0
	}
	if d := math.Abs(l-r) / max(1, math.Abs(l), math.Abs(r)); !math.IsNaN(d) {
		return d
	}
	return 2
}

// Fail records a witness. Only the first witness is kept.
func (w *Worst) Fail(witness Witness) {
	if w.witness != nil {
		return
	}
	if w.first {
		panic(errWitness)
	}
	w.witness = &witness
	lhs, rhs, ok := witness.floats()
	if !ok {
		lhs, rhs = w.lhs, w.rhs
	}
	w.broken = Finding{LHS: lhs, RHS: rhs, Margin: deviation(lhs, rhs)} // of lhs <= rhs the slack, since lhs > rhs
}

// roundingOfSearch bounds the rounding error of a margin in floats: a margin above
// -roundingOfSearch counts as zero.
const roundingOfSearch = 1e-9

// Finding returns the result: Refuted if there is a witness, with its sides; Open if an
// instance is undecided, or the least margin is negative without a witness; Untested if
// all instances are trivial; else Tested.
func (w *Worst) Finding(note string) Finding {
	f := Finding{
		Verdict: Tested, LHS: w.lhs, RHS: w.rhs, Margin: w.margin,
		Instance: w.instance, Instances: w.Instances, Note: note,
	}
	switch {
	case w.witness != nil:
		f.Verdict, f.Witness, f.Instance = Refuted, w.witness, w.witness.Instance
		f.LHS, f.RHS, f.Margin = w.broken.LHS, w.broken.RHS, w.broken.Margin
		if w.margin < f.Margin-1e-6 {
			f.Note += fmt.Sprintf(" Worst found by the search: lhs %.3g, rhs %.3g, margin %.3g%s.",
				w.lhs, w.rhs, w.margin, w.instance.inBrief())
		}
	case !w.decided:
		f.Verdict, f.Note = Open, "No instance was decided."
	case w.undecided:
		f.Verdict, f.Note = Open, "An enclosure of the rounding error does not decide it."
	case w.margin < -roundingOfSearch:
		f.Verdict, f.Note = Open, "The search broke it in floats, and no rational instance nearby confirms that."
	default:
		if w.N() == 0 {
			f.Verdict = Untested
		}
		f.Margin = max(w.margin, 0)
		if w.rounding > 1e-17 {
			f.Note += fmt.Sprintf(" Largest deviation %.0e, rounding.", w.rounding)
		}
	}
	return f
}

// Include adds the instances of another Worst, but not their margins. A failure or an undecided instance of the other
// one outranks what w has, and replaces it.
func (w *Worst) Include(other *Worst) {
	n, first := w.Instances, w.first
	n.add(other.Instances)
	if other.Finding("").gravity() > w.Finding("").gravity() {
		*w = *other
	}
	w.Instances, w.first = n, first
}

// Holds reports whether the statement holds on the instances so far.
func (w *Worst) Holds() bool { return w.Finding("").Holds() }

// IfHolds returns the note if the statement holds, and else no note.
func (w *Worst) IfHolds(note string) string {
	if w.Holds() {
		return note
	}
	return ""
}

package ledger

import (
	"math"
	"math/big"
	"strings"
	"testing"

	"learncausal/paper/exact"
)

func here() Instance { return Instance{"S": 2} }

// Each method separates instances that hold, that fail, and that it cannot decide.
func TestWorstDecides(t *testing.T) {
	third, half := big.NewRat(1, 3), big.NewRat(1, 2)
	wide := exact.Interval{Lo: big.NewRat(1, 4), Hi: half}
	for name, c := range map[string]struct {
		take func(w *Worst)
		want Verdict
	}{
		"no more":             {func(w *Worst) { w.AtMost(1, 2, here) }, Tested},
		"an equality":         {func(w *Worst) { w.AtMost(1+1e-10, 1, here) }, Tested},
		"more, in floats":     {func(w *Worst) { w.AtMost(2, 1, here) }, Open},
		"rationals":           {func(w *Worst) { w.AtMostRat(third, half, here) }, Tested},
		"rationals, more":     {func(w *Worst) { w.AtMostRat(half, third, here) }, Refuted},
		"two zeros":           {func(w *Worst) { w.AtMostRat(new(big.Rat), new(big.Rat), here) }, Tested},
		"apart":               {func(w *Worst) { w.AtMostInterval(exact.Point(third), exact.Point(half), here) }, Tested},
		"apart, more":         {func(w *Worst) { w.AtMostInterval(exact.Point(half), exact.Point(third), here) }, Refuted},
		"overlapping":         {func(w *Worst) { w.AtMostInterval(exact.Point(third), wide, here) }, Open},
		"clear of rounding":   {func(w *Worst) { w.AtMostRounded(1, 1.1, 0.01, here) }, Tested},
		"above by more":       {func(w *Worst) { w.AtMostRounded(1.1, 1, 0.01, here) }, Refuted},
		"within rounding":     {func(w *Worst) { w.AtMostRounded(1, 1.001, 0.01, here) }, Open},
		"equal":               {func(w *Worst) { w.EqualRat("", half, half, here) }, Tested},
		"not equal":           {func(w *Worst) { w.EqualRat("", half, third, here) }, Refuted},
		"equal matrices":      {func(w *Worst) { w.EqualMatrix("", exact.Rats("1 2"), exact.Rats("1 2"), here) }, Tested},
		"one entry differs":   {func(w *Worst) { w.EqualMatrix("", exact.Rats("1 2"), exact.Rats("1 3"), here) }, Refuted},
		"up to the rounding":  {func(w *Worst) { w.AtMostRounded(1, 1.5, 0.5, here) }, Tested},
		"above by rounding":   {func(w *Worst) { w.AtMostRounded(2, 1.5, 0.5, here) }, Open},
		"more than nothing":   {func(w *Worst) { w.Keep(1, 0, here) }, Open},
		"floats":              {func(w *Worst) { w.Equal([]float64{1, 2}, []float64{1, 2}, 0, here) }, Tested},
		"floats, rounded":     {func(w *Worst) { w.Equal([]float64{1, 2}, []float64{1, 2 + 1e-13}, 1e-12, here) }, Tested},
		"floats that differ":  {func(w *Worst) { w.Equal([]float64{1, 2}, []float64{1, 2.1}, 1e-12, here) }, Refuted},
		"NaN on one side":     {func(w *Worst) { w.Equal([]float64{math.NaN()}, []float64{1}, 1e-12, here) }, Refuted},
		"a side that is NaN":  {func(w *Worst) { w.AtMost(math.NaN(), 1, here) }, Open},
		"a sample":            {func(w *Worst) { w.Sampled(1, 1, here) }, Tested},
		"a sample above":      {func(w *Worst) { w.Sampled(1, 0.99, here) }, Refuted},
		"a sampled NaN":       {func(w *Worst) { w.Sampled(1, math.NaN(), here) }, Open},
		"NaN within rounding": {func(w *Worst) { w.AtMostRounded(1, math.NaN(), 0.01, here) }, Open},
		"a tolerance of NaN":  {func(w *Worst) { w.Equal([]float64{1}, []float64{1}, math.NaN(), here) }, Refuted},
		"nothing decided":     {func(w *Worst) { w.Floats = 1 }, Open},
		"NaN on both":         {func(w *Worst) { w.Equal([]float64{math.NaN()}, []float64{math.NaN()}, 0, here) }, Tested},
	} {
		var w Worst
		c.take(&w)
		f := w.Finding("")
		if f.Verdict != c.want || f.Instances.N() != 1 {
			t.Errorf("%s: %s on %d instances, want %s on 1", name, f.Verdict, f.Instances, c.want)
		}
		if (f.Witness != nil) != (c.want == Refuted) || f.Verdict == Tested && f.Margin < 0 {
			t.Errorf("%s: %+v", name, f)
		}
		if name == "nothing decided" {
			continue
		}
		w.AtMostRat(exact.Int(1), exact.Int(2), here)
		if again := w.Finding(""); again.Verdict != c.want {
			t.Errorf("%s, and then one that holds: %s", name, again.Verdict)
		}
	}
}

// The witness is the first failure, and the sides are its own, in the order of
// the entries where matrices differ.
func TestWorstKeepsTheFirstWitness(t *testing.T) {
	var w Worst
	w.AtMostRat(big.NewRat(1, 2), big.NewRat(1, 3), here)
	w.AtMostRat(exact.Int(1), big.NewRat(1, 4), func() Instance { return Instance{"S": 3} })
	f := w.Finding("")
	if f.Instance["S"] != 2 || f.LHS != 0.5 || math.Abs(f.Margin+1.0/3) > 1e-15 || f.Witness.RHS.RatString() != "1/3" {
		t.Errorf("%+v", f)
	}
	w = Worst{}
	w.EqualMatrix("a", exact.Rats("1 2; 3 4"), exact.Rats("1 2; 5 6"), here)
	if f := w.Finding(""); f.Instance["row"] != 2 || f.Instance["column"] != 1 || f.Witness.Equation != "a" || f.LHS != 3 {
		t.Errorf("%+v, %+v", f, f.Witness)
	}
	w = Worst{}
	w.Equal([]float64{1}, []float64{2}, 1e-9, here)
	w.Equal([]float64{3}, []float64{3 + 1e-12}, 1e-9, func() Instance { return Instance{"S": 3} })
	if f := w.Finding(""); f.LHS != 1 || f.RHS != 2 || f.Instance["S"] != 2 {
		t.Errorf("after numbers that are not equal, two that are: %+v", f)
	}
	w = Worst{}
	w.Fail(Witness{Instance: here(), LHS: exact.Int(4), RHS: big.NewRat(9, 4), Squared: true})
	if f := w.Finding(""); f.LHS != 2 || f.RHS != 1.5 {
		t.Errorf("roots of the sides: %v, %v", f.LHS, f.RHS)
	}
}

// The note has a failure worse than the witness, and the rounding, if there was one.
func TestWorstNotesLargerViolations(t *testing.T) {
	var w Worst
	w.EqualRat("", exact.Int(1), exact.Int(2), here)
	w.EqualRat("", exact.Int(1), exact.Int(4), func() Instance { return Instance{"S": 3} })
	if f := w.Finding("So."); f.Note != "So. Worst found by the search: lhs 1, rhs 4, margin -0.75, S = 3." || f.RHS != 2 {
		t.Errorf("%+v", f)
	}
	w = Worst{}
	w.Equal([]float64{1}, []float64{2}, 1e-9, here)
	w.Equal([]float64{1}, []float64{4}, 1e-9, here)
	w.Equal([]float64{3}, []float64{3 + 1e-12}, 1e-9, here)
	if f := w.Finding("So."); f.Note != "So. Worst found by the search: lhs 1, rhs 4, margin -0.75, S = 2." || f.RHS != 2 {
		t.Errorf("%+v", f)
	}
	for right, want := range map[float64]string{1: "So.", 1 + 0x1p-40: "So. Largest deviation 9e-13, rounding."} {
		w = Worst{}
		w.Equal([]float64{1}, []float64{right}, 1e-9, here)
		if got := w.Finding("So.").Note; got != want {
			t.Errorf("1 and %v: note %q, want %q", right, got, want)
		}
	}
}

// A deviation is one by the larger of both numbers, of any sign, or by one.
func TestDeviationOfTwoNumbers(t *testing.T) {
	nan := math.NaN()
	for _, c := range [][3]float64{
		{-20, -10, 0.5},
		{-10, -20, 0.5},
		{20, 10, 0.5},
		{10, 20, 0.5},
		{0.25, -0.25, 0.5},
		{nan, nan, 0},
		{nan, 1, 2},
		{1, nan, 2},
		{math.Inf(1), 1, 2},
	} {
		if d := deviationOf(c[0], c[1]); d != c[2] {
			t.Errorf("%v and %v deviate by %v, want %v", c[0], c[1], d, c[2])
		}
	}
}

// The number of instances, and the sides and margin of the worst instance, by hand.
func TestWorstKeepsTheLeastMargin(t *testing.T) {
	matrix := exact.Rats("1 2; 3 4")
	for name, c := range map[string]struct {
		take             func(w *Worst)
		instances        int
		lhs, rhs, margin float64
	}{
		"at most":              {func(w *Worst) { w.AtMost(1, 4, here); w.AtMost(1, 2, here) }, 2, 1, 2, 0.5},
		"a search":             {func(w *Worst) { w.Keep(3, 4, here) }, 1, 3, 4, 0.25},
		"rationals":            {func(w *Worst) { w.AtMostRat(big.NewRat(1, 4), exact.Int(1), here) }, 1, 0.25, 1, 0.75},
		"rationals, more":      {func(w *Worst) { w.AtMostRat(exact.Int(1), big.NewRat(1, 4), here) }, 1, 1, 0.25, -0.75},
		"two zeros":            {func(w *Worst) { w.AtMostRat(new(big.Rat), new(big.Rat), here) }, 1, 0, 0, 0},
		"zero and more":        {func(w *Worst) { w.AtMostRat(new(big.Rat), big.NewRat(1, 2), here) }, 1, 0, 0.5, 1},
		"equal":                {func(w *Worst) { w.EqualRat("", big.NewRat(1, 2), big.NewRat(1, 2), here) }, 1, 0.5, 0.5, 0},
		"not equal":            {func(w *Worst) { w.EqualRat("", big.NewRat(1, 2), exact.Int(1), here) }, 1, 0.5, 1, -0.5},
		"matrices":             {func(w *Worst) { w.EqualMatrix("", matrix, exact.Rats("1 2; 3 4"), here) }, 1, 1, 1, 0},
		"matrices that differ": {func(w *Worst) { w.EqualMatrix("", matrix, exact.Rats("1 2; 3 8"), here) }, 1, 4, 8, -0.5},
		"floats, the worst entry": {
			func(w *Worst) { w.Equal([]float64{1, 2, 5}, []float64{1, 4, 5.5}, 0, here) }, 1, 2, 4, -0.5,
		},
		"floats, rounded": {
			func(w *Worst) { w.Equal([]float64{1, 2, 5}, []float64{1, 4, 5.5}, 1, here) }, 1, 2, 4, 0,
		},
		"the larger rounding": {func(w *Worst) {
			w.Equal([]float64{3}, []float64{4}, 1, here)
			w.Equal([]float64{1}, []float64{2}, 1, here)
			w.Equal([]float64{5}, []float64{6}, 1, here)
		}, 3, 1, 2, 0},
		"the first of equal roundings": {func(w *Worst) {
			w.Equal([]float64{0, 0.25}, []float64{0.5, 0.75}, 1, here)
			w.Equal([]float64{0.125}, []float64{0.625}, 1, here)
		}, 2, 0, 0.5, 0},
		"no rounding":      {func(w *Worst) { w.Equal([]float64{3}, []float64{3}, 0, here) }, 1, 3, 3, 0},
		"the first of two": {func(w *Worst) { w.AtMost(1, 2, here); w.AtMost(2, 4, here) }, 2, 1, 2, 0.5},
		"below zero":       {func(w *Worst) { w.AtMost(-2, -1, here) }, 1, -2, -1, 0.5},
		"below zero, more": {func(w *Worst) { w.AtMost(-1, -2, here) }, 1, -1, -2, -0.5},
		"no number":        {func(w *Worst) { w.AtMost(math.NaN(), 1, here); w.AtMost(1, 2, here) }, 2, 1, 2, 0.5},
	} {
		var w Worst
		c.take(&w)
		f := w.Finding("")
		if f.Instances.N() != c.instances || f.LHS != c.lhs || f.RHS != c.rhs || f.Margin != c.margin {
			t.Errorf("%s: %+v, want %+v", name, f, c)
		}
	}
	for _, sides := range [][2][]float64{{nil, nil}, {{1}, {1, 2}}} {
		func() {
			defer func() {
				if said, _ := recover().(string); !strings.HasPrefix(said, "ledger: ") {
					t.Errorf("%v and %v are compared: %q", sides[0], sides[1], said)
				}
			}()
			new(Worst).Equal(sides[0], sides[1], 0, here)
		}()
	}
}

// The ends decide a box: ends that touch hold, ends that are certainly beyond fail at once, and
// others are cut.
func TestEverywhereDecidesABoxByItsEnds(t *testing.T) {
	at := func(lo, hi float64) exact.Range { return exact.Range{Lo: lo, Hi: hi} }
	for _, c := range []struct {
		lhs, rhs exact.Range
		boxes    int
		want     Verdict
	}{
		{at(0, 1), at(1, 2), 1, Tested},
		{at(3, 4), at(1, 2), 1, Open},
		{at(2, 4), at(1, 2), 5, Open},
		{at(0, 1.5), at(1, 2), 5, Open},
	} {
		w := new(Worst)
		sides := func([]exact.Range) (lhs, rhs exact.Range, asks bool) { return c.lhs, c.rhs, true }
		n := w.Everywhere([]exact.Range{at(0, 1)}, 5, sides)
		if f := w.Finding(""); n != c.boxes || f.Verdict != c.want || f.Instances.N() != n {
			t.Errorf("%v <= %v: %d boxes, %+v, want %d and %s", c.lhs, c.rhs, n, f, c.boxes, c.want)
		}
	}
}

// x (1-x) <= most on the unit interval.
func TestEverywhereIsOpenWhereABoxIsLeft(t *testing.T) {
	unit := []exact.Range{{Lo: 0, Hi: 1}}
	for _, c := range []struct {
		most float64
		asks bool
		want Verdict
	}{{0.26, true, Tested}, {0.24, true, Open}, {0.24, false, Tested}} {
		w := new(Worst)
		n := w.Everywhere(unit, 1000, func(box []exact.Range) (lhs, rhs exact.Range, asks bool) {
			return box[0].Mul(exact.At(1).Sub(box[0])), exact.At(c.most), c.asks
		})
		if got := w.Finding("").Verdict; got != c.want || n != w.N() || n < 1 {
			t.Errorf("x (1-x) <= %v, %d boxes: %s, want %s", c.most, n, got, c.want)
		}
	}
	w := new(Worst)
	for _, most := range []float64{0.24, 0.26} { // an open finding stays open
		w.Everywhere(unit, 1000, func(box []exact.Range) (lhs, rhs exact.Range, asks bool) {
			return box[0].Mul(exact.At(1).Sub(box[0])), exact.At(most), true
		})
		if got := w.Finding("").Verdict; got != Open {
			t.Errorf("after a box that was left: %s", got)
		}
	}
	w = new(Worst)
	w.Fail(Witness{Instance: here()})
	if n := w.Everywhere(unit, 9, nil); n != 0 || !w.Failed() {
		t.Errorf("after a failure it tried %d boxes", n)
	}
}

// Instances are counted by method, and a trivial one only as such; its margin gives way to that of others.
func TestInstancesAreCountedByMethod(t *testing.T) {
	var w Worst
	w.UpTo(1).AtMost(0.1, 1, here)
	if f := w.Finding(""); f.Verdict != Untested || f.Margin != 0.9 || f.Instances.String() != "not tested; 1 trivial" {
		t.Errorf("a trivial instance alone: %+v", f)
	}
	w.UpTo(1).AtMostRat(exact.Frac(1, 3), exact.Frac(2, 3), here)
	w.UpTo(1).AtMostInterval(exact.Point(exact.Frac(1, 2)), exact.Point(exact.Int(2)), here)
	w.AtMostInterval(exact.Point(exact.Int(1)), exact.Point(exact.Int(4)), here) // UpTo is for one instance
	w.Sampled(0.25, 1, here)
	w.Equal([]float64{1}, []float64{1}, 0, here)
	f := w.Finding("")
	want := Instances{Rationals: 1, Enclosures: 1, Floats: 1, Samples: 1, Trivial: 2}
	if f.Verdict != Tested || f.Instances != want || f.Margin != 0.5 || f.Instances.N() != 4 {
		t.Errorf("%+v, want %+v and the margin 1/2 of the instance in rationals", f, want)
	}
	if w.UpTo(1).AtMost(2, 1, here); w.Margin() != -0.5 {
		t.Errorf("a left side above what it can be: margin %v", w.Margin())
	}
}

// A statement is proved as a whole on paper or in Coq, and unless its check contradicts it.
func TestVerdictOfAProof(t *testing.T) {
	holds := func(_ *Env, w *Worst) string { w.AtMost(1, 2, here); return "" }
	trivial := func(_ *Env, w *Worst) string { w.UpTo(1).AtMost(0, 1, here); return "" }
	whole, part, refuted := Proof{Theorem: "a"}, Proof{Theorem: "b", Gap: "half"}, Proof{Theorem: "c", Refutes: true}
	for name, c := range map[string]struct {
		claim Claim
		want  Verdict
	}{
		"no proof":             {Claim{Check: holds}, Tested},
		"on paper":             {Claim{Check: holds, OnPaper: []string{"e"}}, Proved},
		"in Coq":               {Claim{Check: holds, Proved: []Proof{part, whole}}, Proved},
		"in part":              {Claim{Check: holds, Proved: []Proof{part, refuted}}, Tested},
		"a check without end":  {Claim{Check: func(*Env, *Worst) string { return "" }, OnPaper: []string{"e"}}, Open},
		"trivial but on paper": {Claim{Check: trivial, OnPaper: []string{"e"}}, Proved},
	} {
		rows, _ := Run(t.Context(), []Claim{c.claim}, true, 1, nil)
		if rows[0].Verdict != c.want {
			t.Errorf("%s: %s, want %s", name, rows[0].Verdict, c.want)
		}
	}
}

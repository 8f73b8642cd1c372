// Package claims states every numbered statement of the paper as a check that
// can fail, and keeps the ledger of their verdicts.
//
// A Claim holds the statement as printed; where that is false, a second claim,
// with the suffix "-corrected", holds what is true instead. Each claim carries
// a planted fault: the same check with one formula or hypothesis spoilt, which
// must report failure. The files follow the sections of the paper.
package claims

import (
	"fmt"
	"maps"
	"math"
	"math/big"
	"slices"

	"learncausal/pkg/exact"
	"learncausal/pkg/ledger"
)

// A Tier says what kind of evidence a verdict rests on.
type Tier string

const (
	// Exact: an identity or inequality in rational numbers, or in floats with
	// an enclosure of the rounding error, on given instances.
	Exact Tier = "exact"
	// Enclosed: statistical, by a confidence bound at a preset level that is
	// corrected for the number of checks.
	Enclosed Tier = "enclosed"
	// ConsistentWith: for claims with unstated constants or limits; a fitted
	// exponent with its interval against the claimed one, or the least
	// constant that the data need.
	ConsistentWith Tier = "consistent with"
)

// A Verdict is what became of a claim.
type Verdict string

const (
	Holds        Verdict = "holds" // on every instance tried; not "proved"
	Fails        Verdict = "fails" // with a witness
	Consistent   Verdict = "consistent"
	Inconsistent Verdict = "inconsistent"
	Open         Verdict = "open"
)

// An Instance is what a check was evaluated on: a graph, a transition matrix,
// S, T, gamma, ... Rational values are strings such as "3/10". Values must
// marshal to the same JSON every time.
type Instance map[string]any

// A Finding is what a check came to.
type Finding struct {
	Tier      Tier
	Verdict   Verdict
	LHS, RHS  float64  // the two sides on the worst instance, an inequality read as LHS <= RHS
	Margin    float64  // see Slack and Deviation; negative where the claim fails
	Instance  Instance // the worst instance; the witness where an exact claim fails
	Instances int      // number of instances tried
	Witness   Instance // decided exactly, so that it can be checked by hand; nil unless the claim fails
	Seed      uint64   // of the search or the sample, 0 if none was used
	Note      string   // one or two sentences: what decided, what holds instead, least constant, ...
}

// A Claim is one statement with its check.
type Claim struct {
	ID         string
	Title      string
	Section    string   // title of the paper's section
	Statement  string   // LaTeX, one line, in our own words and the paper's symbols
	Hypotheses string   // LaTeX, one line: what each instance is checked for before the conclusion
	Uses       []string // ids that the proof in the paper uses
	Corrected  string   // id of the corrected statement, "" if none
	Quick      bool     // part of the quick ledger: its check takes less than a second or so
	Check      func(*Env) Finding
	Fault      string // what is spoilt in Faulty
	Faulty     func(*Env) Finding
}

// An Env is that of the ledger.
type Env struct{ *ledger.Env }

// Seed of every search and sample in the ledger.
const Seed = ledger.Seed

// Slack returns the relative margin of lhs <= rhs,
//
//	(rhs - lhs) / max(|lhs|, |rhs|),
//
// which lies in [-2, 2], is zero at equality and negative where the inequality
// fails.
func Slack(lhs, rhs float64) float64 {
	scale := max(math.Abs(lhs), math.Abs(rhs))
	if scale == 0 {
		return 0
	}
	return (rhs - lhs) / scale
}

// Deviation returns the margin of lhs = rhs: zero at equality, else minus the
// relative difference.
func Deviation(lhs, rhs float64) float64 { return -math.Abs(Slack(lhs, rhs)) }

// byWitness returns a finding of the exact tier that fails with the instance, the
// sides and the margin of its witness, so that the row can be checked by hand; a
// worse instance, which a search in floats found, goes into the note. The witness
// names its sides "lhs" and "rhs", or their squares "lhs^2" and "rhs^2"; where it
// does neither, those of the finding are its own.
func (f Finding) byWitness() Finding {
	if f.Tier != Exact || f.Verdict != Fails {
		return f
	}
	w := f
	w.Instance = f.Witness
	if lhs, rhs, ok := f.Witness.sides(); ok {
		w.LHS, w.RHS, w.Margin = lhs, rhs, Deviation(lhs, rhs) // of lhs <= rhs the slack, as it fails
	}
	if f.Margin < w.Margin-1e-6 {
		w.Note += fmt.Sprintf(" Worst found by the search: lhs %.3g, rhs %.3g, margin %.3g%s.", f.LHS, f.RHS, f.Margin, f.Instance.inBrief())
	}
	return w
}

// sides returns the two sides that a witness states, if it does.
func (in Instance) sides() (lhs, rhs float64, ok bool) {
	side := func(name string) (float64, bool) {
		text, _ := in[name].(string)
		q, ok := new(big.Rat).SetString(text)
		if !ok {
			return 0, false
		}
		return exact.Float(q), true
	}
	lhs, first := side("lhs")
	rhs, second := side("rhs")
	if first && second {
		return lhs, rhs, true
	}
	lhs, first = side("lhs^2")
	rhs, second = side("rhs^2")
	return math.Sqrt(lhs), math.Sqrt(rhs), first && second
}

// inBrief returns the entries of an instance that fit into a line of text.
func (in Instance) inBrief() string {
	text := ""
	for _, k := range slices.Sorted(maps.Keys(in)) {
		switch v := in[k].(type) {
		case int, int64, string:
			text += fmt.Sprintf(", %s = %v", k, v)
		}
	}
	return text
}

// files returns the claims file by file; where two files share a section, in its
// order.
var files = []func() []Claim{
}

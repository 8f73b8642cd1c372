package ledger

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/big"
	"slices"
	"strings"

	"learncausal/paper/exact"
)

// A Verdict is what stands behind a statement. A check alone never gives Proved.
type Verdict string

const (
	Proved   Verdict = "proved"     // as a whole, on paper or in Coq, and the check found no counterexample
	Tested   Verdict = "tested"     // no counterexample among the instances, and not proved as a whole
	Untested Verdict = "not tested" // no instance could have been a counterexample, and not proved as a whole
	Refuted  Verdict = "refuted"    // by a witness
	Open     Verdict = "open"       // the check could not decide
)

// Verdicts are all verdicts in order.
var Verdicts = []Verdict{Proved, Tested, Untested, Refuted, Open}

// weakness orders verdicts by what they say for a proof that uses the row.
func (v Verdict) weakness() int {
	return slices.Index([]Verdict{Proved, Tested, Untested, Open, Refuted}, v)
}

// Instances counts the instances of a check by the method that decided them.
type Instances struct {
	Rationals  int `json:"rationals,omitempty"`  // rational numbers or integers
	Enclosures int `json:"enclosures,omitempty"` // intervals, or floats with a bound of their rounding
	Floats     int `json:"floats,omitempty"`     // floats; of a search, its worst point
	Samples    int `json:"samples,omitempty"`    // confidence limits of a mean
	Trivial    int `json:"trivial,omitempty"`    // not in the other counts: the right side exceeds all left sides
}

// N returns the number of instances that are not trivial.
func (t Instances) N() int { return t.Rationals + t.Enclosures + t.Floats + t.Samples }

// String returns the numbers in words: "31 in rationals, 2 in floats; 8 trivial".
func (t Instances) String() string {
	var parts []string
	for _, p := range []struct {
		n    int
		what string
	}{{t.Rationals, "rationals"}, {t.Enclosures, "enclosures"}, {t.Floats, "floats"}, {t.Samples, "samples"}} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%d in %s", p.n, p.what))
		}
	}
	text := strings.Join(parts, ", ")
	if parts == nil {
		text = string(Untested)
	}
	if t.Trivial > 0 {
		text += fmt.Sprintf("; %d trivial", t.Trivial)
	}
	return text
}

func (t *Instances) add(other Instances) {
	t.Rationals += other.Rationals
	t.Enclosures += other.Enclosures
	t.Floats += other.Floats
	t.Samples += other.Samples
	t.Trivial += other.Trivial
}

// A Finding is the result of a check. An inequality is read as LHS <= RHS.
type Finding struct {
	Verdict   Verdict   `json:"verdict"`
	LHS       float64   `json:"lhs"` // the two sides on the witness, or else on the worst instance
	RHS       float64   `json:"rhs"`
	Margin    float64   `json:"margin"`   // of lhs <= rhs the Slack, of lhs = rhs minus its absolute value
	Instance  Instance  `json:"instance"` // of the witness, or else the worst instance
	Instances Instances `json:"instances"`
	Witness   *Witness  `json:"witness"`            // nil unless the claim fails
	Seed      uint64    `json:"seed"`               // of the search or the sample, 0 if none was used; set by Run
	Resolves  []string  `json:"resolves,omitempty"` // what the check resolves of each bound; set by Run
	Note      string    `json:"note"`               // one or two sentences: reason, corrected form, least constant, ...
}

// Failed reports whether the statement is false.
func (f Finding) Failed() bool { return f.Verdict == Refuted }

// Holds reports whether the check found no counterexample and left no instance undecided.
func (f Finding) Holds() bool { return f.Verdict != Refuted && f.Verdict != Open }

// gravity orders verdicts: a failure outranks an Open finding, which outranks the rest.
func (f Finding) gravity() int { return slices.Index([]Verdict{Open, Refuted}, f.Verdict) }

// Slack returns the relative margin of lhs <= rhs,
//
//	(rhs - lhs) / max(|lhs|, |rhs|),
//
// in [-2, 2]: zero at equality, negative where the inequality fails. It is -1 for lhs = +Inf and a finite rhs.
// It is NaN for rhs = +Inf, which a search returns outside of the hypotheses.
func Slack(lhs, rhs float64) float64 {
	scale := max(math.Abs(lhs), math.Abs(rhs))
	switch {
	case scale == 0:
		return 0
	case math.IsInf(lhs, 1) && math.Abs(rhs) < lhs:
		return -1
	}
	return (rhs - lhs) / scale
}

// deviation returns the margin of lhs = rhs: zero at equality, else minus the relative difference.
func deviation(lhs, rhs float64) float64 { return -math.Abs(Slack(lhs, rhs)) }

// A Witness is an instance on which a statement fails, decided exactly. It can be checked by hand or by another
// program. Its instance has integers, truth values, rational numbers and lists of such values. Their names have
// a fixed meaning:
//
//	S, T, graph   states, positions, forest
//	pairs         edges of the in-context graph 1 -> 2, 3 -> 4, ... on T positions,
//	              where there is no graph because T is large
//	X             a sequence of tokens
//	pi, mu        a transition matrix and its stationary measure
//	prior         matrices, each as likely as the others
//	orbits        matrices whose relabelings are, all together, the prior; a
//	              statement about one chain is about the first
//	i, j, k; s, s'        positions; states
//	row, column           the entry of a matrix that the sides are
//	gamma, lambda, eps, beta, exp(beta), ...   rational numbers
//
// tools/witness.py decides every witness from these values alone. It refuses an unknown name, and a value that
// contradicts the others.
type Witness struct {
	// Equation names the equation or line, where the statement has several.
	Equation string `json:"equation,omitempty"`
	// LHS and RHS are the two sides. They are nil where the sides are irrational;
	// then only the finding has them, in floats.
	LHS *big.Rat `json:"lhs,omitempty"`
	RHS *big.Rat `json:"rhs,omitempty"`
	// Squared: the statement compares the square roots of LHS and RHS.
	Squared  bool     `json:"squared,omitempty"`
	Instance Instance `json:"instance"`
}

// floats returns the two sides; ok is false if the witness has none.
func (w *Witness) floats() (lhs, rhs float64, ok bool) {
	if w == nil || w.LHS == nil || w.RHS == nil {
		return 0, 0, false
	}
	lhs, rhs = exact.Float(w.LHS), exact.Float(w.RHS)
	if w.Squared {
		lhs, rhs = math.Sqrt(lhs), math.Sqrt(rhs)
	}
	return lhs, rhs, true
}

// An Instance has the parameters of one evaluation of a statement, by name. Each is
//
//   - an int, a float64 or a string, or a list of such values;
//   - a rational number, vector or matrix (*big.Rat, exact.Vector, exact.Matrix,
//     []exact.Matrix), stored as "a/b" and lists of such strings; a row of a
//     transition matrix is the current state, a column the next state;
//   - a graph (any value with a method Parents() []int), stored as the list of
//     the parents of positions 1, 2, ..., with 0 for a root;
//   - an Instance.
//
// States and positions are counted from 1.
type Instance map[string]any

// MarshalJSON writes the values in the order of their names; fractions keep six significant digits.
func (in Instance) MarshalJSON() ([]byte, error) {
	plain := make(map[string]any, len(in))
	for name, v := range in {
		p, err := plainValue(v)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		plain[name] = p
	}
	return json.Marshal(plain)
}

// plainValue returns the value as JSON stores it.
func plainValue(v any) (any, error) {
	switch v := v.(type) {
	case nil, string, int, int64, bool, []int, [][]int, []int64, []string, [][]string, [][][]string, []bool, Instance,
		*big.Rat, []*big.Rat, exact.Vector, exact.Matrix, []exact.Matrix:
		return v, nil
	case float64:
		return round(v), nil
	case []float64:
		return roundAll(v), nil
	case [][]float64:
		rows := make([][]float64, len(v))
		for i, row := range v {
			rows[i] = roundAll(row)
		}
		return rows, nil
	case interface{ Parents() []int }:
		return OneBased(v.Parents()), nil
	case []any:
		all := make([]any, len(v))
		for i := range v {
			var err error
			if all[i], err = plainValue(v[i]); err != nil {
				return nil, err
			}
		}
		return all, nil
	case map[string]any:
		return Instance(v), nil
	}
	return nil, fmt.Errorf("a value of type %T has no stored form (see Instance)", v)
}

// stored returns the instance after a round trip through JSON.
func (in Instance) stored() Instance {
	b, err := json.Marshal(in)
	if err != nil {
		panic("ledger: " + err.Error())
	}
	out := Instance{}
	if err := json.Unmarshal(b, &out); err != nil {
		panic("ledger: " + err.Error())
	}
	return out
}

// With returns a copy of the instance in which name has the value.
func (in Instance) With(name string, value any) Instance {
	out := maps.Clone(in)
	out[name] = value
	return out
}

// inBrief returns the numbers and words of an instance on one line.
func (in Instance) inBrief() string {
	text := ""
	for _, k := range slices.Sorted(maps.Keys(in)) {
		switch v := in[k].(type) {
		case int, string:
			text += fmt.Sprintf(", %s = %v", k, v)
		case *big.Rat:
			text += fmt.Sprintf(", %s = %s", k, v.RatString())
		}
	}
	return text
}

// OneBased returns states or positions as the paper counts them, from 1.
func OneBased(x []int) []int {
	out := make([]int, len(x))
	for i, v := range x {
		out[i] = v + 1
	}
	return out
}

// Grid returns the rows of a matrix, for an Instance. x is row-major with the given number of columns.
func Grid(x []float64, columns int) [][]float64 {
	var rows [][]float64
	for row := range slices.Chunk(x, columns) {
		rows = append(rows, row)
	}
	return rows
}

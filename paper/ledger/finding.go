package ledger

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/big"
	"slices"

	"learncausal/paper/exact"
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
	Holds        Verdict = "holds"        // on every instance tried; not "proved"
	Fails        Verdict = "fails"        // with a witness
	Consistent   Verdict = "consistent"   // with a fitted trend or constant
	Inconsistent Verdict = "inconsistent" // with a fitted trend
	Open         Verdict = "open"         // the check could not decide
)

// A Finding is what a check came to. An inequality is read as LHS <= RHS.
type Finding struct {
	Tier      Tier     `json:"tier"`
	Verdict   Verdict  `json:"verdict"`
	LHS       float64  `json:"lhs"` // the two sides on the worst instance; on the witness where there is one
	RHS       float64  `json:"rhs"`
	Margin    float64  `json:"margin"`    // see Slack and Deviation; negative where the claim fails
	Instance  Instance `json:"instance"`  // the worst instance, or that of the witness
	Instances int      `json:"instances"` // number of instances tried
	Witness   *Witness `json:"witness"`   // nil unless the claim fails
	Seed      uint64   `json:"seed"`      // of the search or the sample, 0 if none was used; set by Run
	Note      string   `json:"note"`      // one or two sentences: what decided, what holds instead, least constant, ...
}

// Failed reports whether the statement was found false, or at odds with the
// data.
func (f Finding) Failed() bool { return f.Verdict == Fails || f.Verdict == Inconsistent }

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

// A Witness is an instance on which a statement fails, decided exactly, so that
// it can be checked by hand or by another program. Its instance has integers,
// truth values, rational numbers and lists of those, and no words; what they
// mean goes by their names:
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
// tools/witness.py decides each again from these, and refuses a name that it
// does not know and a value that is not what follows from the others.
type Witness struct {
	Instance Instance
	Equation string   // which equation or line, in words, where the statement has several; may be empty
	LHS, RHS *big.Rat // the two sides, nil where they are not rational: then the finding has them in floats
	Squared  bool     // the sides compared are the roots of LHS and RHS
}

// floats returns the sides, if the witness has them.
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

// storedWitness is the form of a witness in JSON: rationals as "a/b".
type storedWitness struct {
	Equation string   `json:"equation,omitempty"`
	LHS      *string  `json:"lhs,omitempty"`
	RHS      *string  `json:"rhs,omitempty"`
	Squared  bool     `json:"squared,omitempty"`
	Instance Instance `json:"instance"`
}

// MarshalJSON writes the sides as "a/b".
func (w *Witness) MarshalJSON() ([]byte, error) {
	s := storedWitness{Equation: w.Equation, Squared: w.Squared, Instance: w.Instance}
	if w.LHS != nil && w.RHS != nil {
		lhs, rhs := w.LHS.RatString(), w.RHS.RatString()
		s.LHS, s.RHS = &lhs, &rhs
	}
	return json.Marshal(s)
}

// UnmarshalJSON reads what MarshalJSON writes.
func (w *Witness) UnmarshalJSON(b []byte) error {
	var s storedWitness
	if err := json.Unmarshal(b, &s); err != nil {
		return err
	}
	*w = Witness{Equation: s.Equation, Squared: s.Squared, Instance: s.Instance}
	for _, side := range []struct {
		to   **big.Rat
		text *string
	}{{&w.LHS, s.LHS}, {&w.RHS, s.RHS}} {
		if side.text == nil {
			continue
		}
		q, ok := new(big.Rat).SetString(*side.text)
		if !ok {
			return fmt.Errorf("ledger: a witness has the side %q, want a rational number such as 3/10", *side.text)
		}
		*side.to = q
	}
	return nil
}

// An Instance is what a check was evaluated on: named values, each of which is
//
//   - an int, a float64 or a string, or a list of such;
//   - a rational number, vector or matrix (*big.Rat, exact.Vector,
//     exact.Matrix, []exact.Matrix), stored as "a/b" and lists of that: the rows
//     of a transition matrix are the current state, its columns the next one;
//   - a graph (any value with a method Parents() []int), stored as the list of
//     the parents of positions 1, 2, ..., with 0 for a root;
//   - an Instance.
//
// States and positions are counted from 1.
type Instance map[string]any

// MarshalJSON writes the values in the order of their names; fractions keep six
// significant digits.
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
	case nil, string, int, int64, bool, []int, [][]int, []int64, []string, [][]string, [][][]string, []bool, Instance:
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
	case *big.Rat:
		return v.RatString(), nil
	case exact.Vector:
		return v.Strings(), nil
	case []*big.Rat: // a row of an exact.Matrix
		return exact.Vector(v).Strings(), nil
	case exact.Matrix:
		return v.Strings(), nil
	case []exact.Matrix:
		var all [][][]string
		for _, m := range v {
			all = append(all, m.Strings())
		}
		return all, nil
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

// stored returns the instance as JSON gives it back.
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

// With returns a copy of the instance with another value.
func (in Instance) With(name string, value any) Instance {
	out := maps.Clone(in)
	out[name] = value
	return out
}

// inBrief returns the entries of an instance that fit into a line of text.
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

// OneBased returns a sequence, a list of states or of positions as the paper
// counts them, from 1.
func OneBased(x []int) []int {
	out := make([]int, len(x))
	for i, v := range x {
		out[i] = v + 1
	}
	return out
}

// Grid returns the rows of a matrix with the given number of columns, row-major
// in x, for an Instance.
func Grid(x []float64, columns int) [][]float64 {
	var rows [][]float64
	for row := range slices.Chunk(x, columns) {
		rows = append(rows, row)
	}
	return rows
}

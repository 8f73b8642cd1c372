package ledger

import (
	"math"
	"reflect"
	"regexp"
	"slices"
)

var inequality = regexp.MustCompile(`\\(le|ge|lesssim)\b`)

// Unsound lists what is wrong with a row, whatever it claims: a tier that does
// not go with its verdict, a failure without a witness, sides that are not those
// of the witness, a statement that holds with a negative margin.
func (r Row) Unsound() []string {
	var out []string
	fault := func(wrong bool, text string) {
		if wrong {
			out = append(out, text)
		}
	}
	trend := r.Tier == ConsistentWith
	fault(!slices.Contains([]Tier{Exact, Enclosed, ConsistentWith}, r.Tier), "no tier")
	fault(!slices.Contains(verdicts, r.Verdict), "no verdict")
	fault(trend && (r.Verdict == Holds || r.Verdict == Fails && r.Witness == nil),
		"a trend is consistent, inconsistent or open")
	fault(!trend && (r.Verdict == Consistent || r.Verdict == Inconsistent),
		"only a trend can be consistent or inconsistent")
	fault(r.Verdict == Fails && r.Witness == nil, "fails without a witness")
	fault(r.Verdict != Fails && r.Verdict != Inconsistent && r.Witness != nil, "has a witness and does not fail")
	fault(r.Verdict == Fails && r.Margin > 0, "fails with a positive margin")
	fault(r.Verdict == Holds && r.Margin < 0, "holds with a negative margin")
	if r.Tier == Exact && r.Verdict == Fails && r.Witness != nil {
		lhs, rhs, ok := r.Witness.floats()
		fault(!reflect.DeepEqual(r.Instance, r.Witness.Instance), "the instance is not the witness")
		fault(ok && (lhs != r.LHS || rhs != r.RHS), "the sides are not those of the witness")
		fault(r.Margin != Deviation(r.LHS, r.RHS), "the margin is not that of the sides")
		fault(inequality.MatchString(r.Statement) && r.Witness.Equation == "" && r.LHS <= r.RHS,
			"an inequality lhs <= rhs fails with lhs <= rhs")
	}
	fault(r.Failed() && len(r.Repairs) == 0, "fails, and has no repair")
	fault(!r.Failed() && len(r.Repairs) > 0, "has a repair and does not fail")
	fault(r.Instances <= 0, "no instances")
	fault(math.IsNaN(r.LHS+r.RHS+r.Margin) || math.IsInf(r.Margin, 0), "sides or margin that are not numbers")
	fault(r.Kind == Correction && r.Failed(), "the corrected statement fails")
	return out
}

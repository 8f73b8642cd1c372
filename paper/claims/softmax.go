package claims

import (
	"math/big"

	"learncausal/pkg/exact"
)

// tightest keeps the instance with the least margin of lhs <= rhs.
type tightest struct {
	Finding
	any bool
}

func (w *tightest) add(lhs, rhs float64, instance func() Instance) {
	w.Instances++
	if m := Slack(lhs, rhs); !w.any || m < w.Margin {
		w.LHS, w.RHS, w.Margin, w.Instance, w.any = lhs, rhs, m, instance(), true
	}
}

// decide is add for rational sides; the first failure becomes the witness. An
// equality 0 = 0 is counted, and says nothing about the margin.
func (w *tightest) decide(lhs, rhs *big.Rat, instance func() Instance) {
	if lhs.Sign() == 0 && rhs.Sign() == 0 {
		w.Instances++
		return
	}
	if lhs.Cmp(rhs) > 0 && w.Witness == nil {
		w.Witness = instance()
		w.Witness["lhs"], w.Witness["rhs"] = lhs.RatString(), rhs.RatString()
	}
	w.add(exact.Float(lhs), exact.Float(rhs), instance)
}

// finding returns the verdict: Fails where a rational instance did.
func (w *tightest) finding(tier Tier, note string) Finding {
	w.Tier, w.Verdict, w.Note, w.Seed = tier, Holds, note, Seed
	if w.Witness != nil {
		w.Verdict, w.LHS, w.RHS = Fails, exact.Float(exact.Rat(w.Witness["lhs"].(string))), exact.Float(exact.Rat(w.Witness["rhs"].(string)))
		w.Margin, w.Instance = Slack(w.LHS, w.RHS), w.Witness
	}
	return w.Finding
}

package claims

import (
	"fmt"
	"math"
)

// A comparison keeps the worst of the instances on which two sides of an
// identity were compared.
type comparison struct {
	tol      float64 // deviation that rounding may cause; 0 where the arithmetic is exact
	n        int
	worst    float64
	lhs, rhs float64
	instance Instance
}

// equal compares the two sides entry by entry; the deviation of an entry is
// |lhs - rhs| / max(1, |lhs|, |rhs|). A NaN on one side deviates by 2.
func (c *comparison) equal(lhs, rhs []float64, instance func() Instance) {
	if len(lhs) != len(rhs) {
		panic(fmt.Sprintf("claims: %d entries compared with %d", len(lhs), len(rhs)))
	}
	c.n++
	for k, l := range lhs {
		r := rhs[k]
		d := math.Abs(l-r) / max(1, math.Abs(l), math.Abs(r))
		if math.IsNaN(d) {
			d = 2 * unit(math.IsNaN(l) != math.IsNaN(r))
		}
		if d > c.worst && d > 1e-17 || c.instance == nil {
			c.worst, c.lhs, c.rhs, c.instance = d, l, r, instance()
		}
	}
}

// finding is Holds if no deviation exceeds the tolerance. The margin is then
// zero, for what is left is rounding; the note says how much.
func (c *comparison) finding(tier Tier, note string) Finding {
	f := Finding{Tier: tier, Verdict: Holds, LHS: c.lhs, RHS: c.rhs, Instance: c.instance, Instances: c.n, Note: note}
	if c.worst > c.tol {
		f.Verdict, f.Margin, f.Witness = Fails, Deviation(c.lhs, c.rhs), c.instance
	} else if c.tol > 0 {
		f.Note += fmt.Sprintf(" Largest deviation %.0e, rounding.", c.worst)
	}
	return f
}

// ints writes a sequence or a list of states 1-based, as the paper counts.
func ints(x []int) []int {
	out := make([]int, len(x))
	for i, v := range x {
		out[i] = v + 1
	}
	return out
}

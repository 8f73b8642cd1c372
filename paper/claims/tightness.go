package claims

import (
	"cmp"
	_ "embed"
	"fmt"
	"math"
	"strings"
	"sync"

	"learncausal/paper/exact"
	"learncausal/paper/ledger"
)

// measured returns the check of a claim, open where it comes to other numbers than
// the claim states: to another share of the bound than [ledger.Claim.Share] where it
// holds, to other sides than Missed where it fails.
func measured(c ledger.Claim) ledger.Check {
	if c.Missed != nil {
		return missing(c.Check, c.Missed)
	}
	return reaching(c.Check, cmp.Or(c.Share, 0.99))
}

// closely is how much more of a bound than the stated share may be taken up in the
// quick budget.
const closely = 1.02

// reaching returns the check, open where no instance takes up that share of the
// bound: what holds is then looser than what is stated. It is open too where in the
// quick budget, which finds no worse instances than the full one, a bound that is
// decided is taken up by closely more: what holds is then another one.
func reaching(check ledger.Check, share float64) ledger.Check {
	return func(e *ledger.Env) ledger.Finding {
		f := check(e)
		used, quick := 1-f.Margin, e.Budget(0, 1) == 1
		switch {
		case used < share && (f.Verdict == ledger.Holds || f.Verdict == ledger.Consistent):
			f.Verdict = ledger.Open
			f.Note = fmt.Sprintf("No instance takes up more than %.3g of the bound, want %v.", used, share)
		case used > closely*share && quick && f.Verdict == ledger.Holds:
			f.Verdict = ledger.Open
			f.Note = fmt.Sprintf("An instance takes up %.3g of the bound, want hardly more than %v.", used, share)
		}
		return f
	}
}

//go:embed means.txt
var meansText string

// A mean is how much of the bounds of a row its instances take up on the average in the
// quick budget, to seven digits, and how many these are; none for searches alone.
type mean struct {
	taken    float64
	compared int
}

// of reports whether so many instances take up that much, to six digits.
func (m mean) of(compared int, taken float64) bool {
	return compared == m.compared && math.Abs(taken-m.taken) <= 1e-6*math.Abs(m.taken)
}

// means are those of all rows, by id.
var means = sync.OnceValue(func() map[string]mean {
	all := map[string]mean{}
	for line := range strings.Lines(meansText) {
		var id string
		var m mean
		if _, err := fmt.Sscan(line, &id, &m.taken, &m.compared); err != nil {
			panic(fmt.Sprintf("claims: means.txt has %q, want an id and two numbers: %v", line, err))
		}
		all[id] = m
	}
	return all
})

// averaging returns the check, open where in the quick budget other instances are
// compared than stated, or they take up another part of their bounds on the average, if
// only where the bound is far. What is right it does not know.
func averaging(check ledger.Check, want mean) ledger.Check {
	return func(e *ledger.Env) ledger.Finding {
		f := check(e)
		if e.Budget(0, 1) == 1 && !want.of(f.Compared, f.Mean()) {
			f.Verdict, f.Witness = ledger.Open, nil
			f.Note = fmt.Sprintf("On the average %d instances take up %.7g of the bound, want %d and %v.",
				f.Compared, f.Mean(), want.compared, want.taken)
		}
		return f
	}
}

// missing returns the check, open where it fails with other sides than these.
func missing(check ledger.Check, sides exact.Vector) ledger.Check {
	lhs, rhs := exact.Float(sides[0]), exact.Float(sides[1])
	return func(e *ledger.Env) ledger.Finding {
		f := check(e)
		if f.Verdict == ledger.Fails && !(agree(f.LHS, lhs) && agree(f.RHS, rhs)) {
			f.Verdict, f.Witness = ledger.Open, nil
			f.Note = fmt.Sprintf("The sides of the witness are %v and %v, want %v and %v.", f.LHS, f.RHS, lhs, rhs)
		}
		return f
	}
}

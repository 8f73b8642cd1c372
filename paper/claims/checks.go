package claims

import (
	"fmt"
	"math/big"

	"learncausal/paper/exact"
	"learncausal/paper/ledger"
	"learncausal/pkg/num"
)

// identity returns x.
func identity[T any](x T) T { return x }

// unit returns 1 if b holds, and 0 otherwise.
func unit(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// sigmoid maps a coordinate of a search to (0, 1).
func sigmoid(x float64) float64 { return 1 / (1 + num.Exp(-x)) }

// searchNote returns the note of a search. If the statement holds, it
// gives the number of instances and then the reason why the statement is true.
func searchNote(w *ledger.Worst, reason string) string {
	return w.IfHolds(fmt.Sprintf("No counterexample found in %d instances%s", w.Instances, reason))
}

// A coefficient is a factor in a bound as a function of the number S of states.
type coefficient func(states int) *big.Rat

// overS returns the coefficient a/(b S^k).
func overS(a, b int64, k int) coefficient {
	return func(states int) *big.Rat {
		return exact.Quo(exact.Frac(a, b), exact.Pow(exact.Int(states), k))
	}
}

// A namedLine is lhs <= rhs, in rationals.
type namedLine struct {
	name     string
	lhs, rhs *big.Rat
}

// nineDecimals returns the lower end of a narrow enclosure to nine decimals.
func nineDecimals(x exact.Interval) *big.Rat { return exact.Rat(x.Lo.FloatString(9)) }

const shiftOfExp = `e^{\beta_0}-1`

// candidateConstants stand for a constant that the paper leaves open. A claim is
// false if each of them is refuted at some T.
var candidateConstants = []*big.Rat{exact.Int(1), exact.Int(100), exact.Int(10000)}

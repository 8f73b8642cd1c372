package claims

import (
	"fmt"
	"math/big"

	"learncausal/paper/exact"
	"learncausal/paper/ledger"
)

// leastCovered is the least gamma of the chains over two states that
// everyPairOfRows covers.
const leastCovered = 0.05

// twoStates encloses what the statements say of all chains over two states whose
// probabilities a of leaving the first and b of leaving the second lie in a box.
// B has the one eigenvalue 1-a-b beside 0.
type twoStates struct {
	a, b    exact.Range
	lambda  exact.Range // |1-a-b|, which is alpha(pi) too
	entries exact.Range // 2 min pi(s'|s)
	gamma   exact.Range // the largest of the first two bullets of Assumption 1
}

func newTwoStates(a, b exact.Range) twoStates {
	one, two := exact.At(1), exact.At(2)
	c := twoStates{a: a, b: b, lambda: one.Sub(a).Sub(b).Abs()}
	c.entries = two.Mul(a.Min(b).Min(one.Sub(a)).Min(one.Sub(b)))
	// sum_s |pi(.|s) - mu|^2 = 2 lambda^2 (mu_1^2 + mu_2^2)
	squares := a.Pow(2).Add(b.Pow(2)).Quo(a.Add(b).Pow(2))
	c.gamma = c.entries.Min(two.Mul(c.lambda).Mul(squares.Sqrt()))
	return c
}

// everyPairOfRows decides lhs <= rhs for all chains over two states whose gamma
// is at least leastCovered, and says so for a note.
func everyPairOfRows(w *ledger.Worst, sides func(c twoStates) (lhs, rhs exact.Range)) string {
	side := exact.Range{Lo: leastCovered / 2, Hi: 1 - leastCovered/2}
	boxes := w.Everywhere([]exact.Range{side, side}, 1<<18, func(box []exact.Range) (lhs, rhs exact.Range, asks bool) {
		c := newTwoStates(box[0], box[1])
		if c.gamma.Hi < leastCovered {
			return lhs, rhs, false
		}
		lhs, rhs = sides(c)
		return lhs, rhs, true
	})
	return fmt.Sprintf(", and enclosed by %d boxes for all chains over two states with γ ≥ 1/20", boxes)
}

// rangeOf returns a range that holds x.
func rangeOf(x *big.Rat) exact.Range {
	return exact.At(exact.Float(new(big.Rat).SetInt(x.Num()))).Quo(exact.At(exact.Float(new(big.Rat).SetInt(x.Denom()))))
}

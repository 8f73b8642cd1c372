// Two lemmas of your own on chains of two states, decided in rational numbers: a true one, with a fault that its check
// must refute, and a false one, of which a counterexample is shown.
package main

import (
	"math/big"

	"learncausal/paper/exact"
	"learncausal/paper/ledger"
	"learncausal/paper/show"
)

type chain struct {
	P *big.Rat `at:"pi(1|0)"`
	Q *big.Rat `at:"pi(0|1)"`
}

// atMost checks mu(0) = q/(p+q) <= bound for p and q in 1/6, 2/6, ..., 1.
func atMost(bound func(c chain) *big.Rat) ledger.Check {
	return ledger.Decided(func(w *ledger.Worst) {
		for k := range int64(36) {
			c := chain{exact.Frac(1+k/6, 6), exact.Frac(1+k%6, 6)}
			w.AtMostRat(exact.Quo(c.Q, exact.Add(c.P, c.Q)), bound(c), ledger.Of(c))
		}
	})
}

func sum(c chain) *big.Rat  { return exact.Add(exact.Sub(exact.Int(1), c.P), c.Q) } // of column 0
func half(c chain) *big.Rat { return exact.Quo(sum(c), exact.Int(2)) }
func back(c chain) *big.Rat { return c.Q }

func main() {
	show.Rows([]ledger.Claim{{
		ID: "column", Title: "Column", Statement: `$\mu(0)\le\sum_s\pi(0|s)$`, Check: atMost(sum),
		Faults: []ledger.Fault{ledger.Plant("half of the right side", atMost(half))},
	}, {
		ID: "back", Title: "Back", Statement: `$\mu(0)\le\pi(0|1)$`, Check: atMost(back),
	}})
	// Output:
	// | Statement | Verdict | Instances | Refuted, as they must be |
	// |---|---|---|---|
	// | Column: $\mu(0)\le\sum_s\pi(0\|s)$ | tested | 36 in rationals | half of the right side |
	// | Back: $\mu(0)\le\pi(0\|1)$ | refuted | 36 in rationals |  |
	//
	// back is refuted:
	// pi(0|1)  1/6
	// pi(1|0)  1/6
	// lhs      1/2
	// rhs      1/6
}

package ledger_test

import (
	"context"
	"fmt"
	"math/big"

	"learncausal/paper/exact"
	"learncausal/paper/ledger"
)

// halfOfSum decides a/2 <= factor (a+b)/2 for small a and b.
func halfOfSum(factor *big.Rat) ledger.Check {
	return func(_ *ledger.Env, w *ledger.Worst) string {
		for p := range exact.Grid(2, 3) {
			lhs := exact.Quo(p[0], exact.Int(2))
			rhs := exact.Mul(factor, exact.Quo(exact.Add(p[0], p[1]), exact.Int(2)))
			w.AtMostRat(lhs, rhs, func() ledger.Instance { return ledger.Instance{"a": p[0], "b": p[1]} })
		}
		return ""
	}
}

// A statement beside its check, and a fault that the check must find.
func Example() {
	all := ledger.Collect(ledger.Section{Title: "Means", Claims: []ledger.Claim{{
		ID: "lem-half", Number: "Lemma 1", Title: "Half of a sum", Statement: `$a/2\le(a+b)/2$`,
		Hypotheses: `$a,b\ge0$`,
		Check:      halfOfSum(exact.Int(1)),
		Faults:     []ledger.Fault{{What: "half of the right side", Check: halfOfSum(exact.Frac(1, 2))}},
	}}})
	claims, err := ledger.Select(all, "Lemma 1")
	if err != nil {
		fmt.Println(err)
		return
	}
	rows, err := ledger.Run(context.Background(), claims, false, 1, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range rows {
		fmt.Printf("%s (%s) %s: %s, margin %g\n", r.Number, r.ID, r.Verdict, r.Instances, r.Margin)
		spoilt := r.Faults[0].Check.Finding(ledger.NewEnv(context.Background(), r.Claim, false))
		fmt.Printf("with %s: %s\n%s", r.Faults[0].What, spoilt.Verdict, spoilt.Witness.Layout())
	}
	// Output:
	// Lemma 1 (lem-half) tested: 16 in rationals, margin 0
	// with half of the right side: refuted
	// a    1
	// b    0
	// lhs  1/2
	// rhs  1/4
}

// A theorem proves or refutes its row, fully or in part.
func ExampleProof() {
	for _, p := range []ledger.Proof{
		{Theorem: "bound_g1_refuted", File: "proofs/refuted_markov.v", Refutes: true},
		{Theorem: "mu_lower", File: "proofs/markov.v"},
		{Theorem: "b_norm", File: "proofs/markov.v", Gap: "the second formula"},
	} {
		fmt.Println(p)
	}
	// Output:
	// refuted in Coq, witness computed: bound_g1_refuted, proofs/refuted_markov.v
	// proved in Coq: mu_lower, proofs/markov.v
	// proved in Coq in part: b_norm, proofs/markov.v (the second formula)
}

package claims_test

import (
	"context"
	"fmt"

	"learncausal/paper/claims"
	"learncausal/paper/ledger"
)

// A statement is found by the number that the PDF prints, with its steps and its
// correction.
func ExampleAll() {
	found, err := ledger.Select(claims.All(), "Lemma 16")
	if err != nil {
		fmt.Println(err)
		return
	}
	rows, err := ledger.Run(context.Background(), found, true, 1, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range rows {
		fmt.Printf("%s (%s) %s:\n%s\n", r.Number, r.ID, r.Verdict, r.Statement)
	}
	// Output:
	// Lemma 16 (lem-bound-g1) refuted:
	// $\|B_\pi\|_F^2\ge\gamma^2/S$
	// Lemma 16 (lem-bound-g1-corrected) proved:
	// $\|B_\pi\|_F^2\ge2\min_s\mu_\pi(s)\sum_s\|\pi(\cdot\mid s)-\mu_\pi\|_2^2\ge2\gamma^3/S^2$
}

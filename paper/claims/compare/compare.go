// Package compare compares the numbers of checks with numbers computed by hand, in the tests of package claims and of
// its sections.
package compare

import (
	"context"
	"fmt"
	"math"
	"testing"

	"learncausal/paper/exact"
	"learncausal/paper/ledger"
	"learncausal/pkg/graph"
	"learncausal/pkg/markov"
	"learncausal/pkg/theory"
)

// A Check reports two numbers that differ by more than rounding.
type Check func(what string, got, want float64)

// With returns the check that reports to a test.
func With(t *testing.T) Check {
	return func(what string, got, want float64) {
		t.Helper()
		if math.IsInf(want, 0) || !(math.Abs(got-want) <= 1e-9*math.Abs(want)+1e-13) {
			t.Errorf("%s is %v, want %v", what, got, want)
		}
	}
}

// Each compares two lists entry by entry.
func (check Check) Each(what string, got, want []float64) {
	check(what, float64(len(got)), float64(len(want)))
	for k, v := range got[:min(len(got), len(want))] {
		check(what, v, want[k])
	}
}

// Inequalities compares the inequalities that a decision gives to a Worst with the given ones: the
// sides of the tightest, and their number.
func (check Check) Inequalities(what string, decide func(w *ledger.Worst), lines ...[2]float64) {
	check.UpTo(0, what, decide, lines...)
}

// UpTo is Inequalities with left sides that cannot exceed most, see [ledger.Worst.UpTo].
func (check Check) UpTo(most float64, what string, decide func(w *ledger.Worst), lines ...[2]float64) {
	var got, want ledger.Worst
	decide(&got)
	for _, line := range lines {
		want.UpTo(most).AtMost(line[0], line[1], func() ledger.Instance { return nil })
	}
	f, g := got.Finding(""), want.Finding("")
	check.Each(what, []float64{f.LHS, f.RHS, float64(f.Instances.N())}, []float64{g.LHS, g.RHS, float64(g.Instances.N())})
}

// An Asymmetric is a prior of two chains with weights 1/3 and 2/3, and a forest with a root in the middle,
// a path of length two and, over two states, a position with two children. No two of its numbers are
// equal.
type Asymmetric struct {
	Graph        *graph.Forest
	First, Other exact.Matrix
}

// Asymmetrics returns an instance over two states and one over three.
func Asymmetrics() []Asymmetric {
	return []Asymmetric{{
		graph.MustNew(graph.Root, 0, 0, graph.Root, 1, graph.Root),
		exact.Rats("4/5 1/5; 3/10 7/10"), exact.Rats("1/5 4/5; 9/10 1/10"),
	}, {
		graph.MustNew(graph.Root, 0, graph.Root, 1, graph.Root),
		exact.Rats("1/2 1/3 1/6; 1/10 3/5 3/10; 2/7 1/7 4/7"), exact.Rats("1/4 1/4 1/2; 1/3 1/2 1/6; 1/8 3/8 1/2"),
	}}
}

// Matrices returns the matrices of the prior, each as often as its weight is a multiple of 1/3.
func (u Asymmetric) Matrices() []exact.Matrix { return []exact.Matrix{u.First, u.Other, u.Other} }

// Prior returns the prior in floats.
func (u Asymmetric) Prior() *markov.Finite {
	p := &markov.Finite{Weight: []float64{1.0 / 3, 2.0 / 3}}
	for _, pi := range []exact.Matrix{u.First, u.Other} {
		p.Pi, p.Mu = append(p.Pi, pi.Floats()), append(p.Mu, exact.MustStationary(pi).Floats())
	}
	return p
}

// Chain returns the first chain in floats.
func (u Asymmetric) Chain() *theory.Chain { return theory.MustChain(u.First.Floats(), len(u.First)) }

// Bounds returns the bounds in the statement of a claim.
func Bounds(c ledger.Claim) []ledger.Bound {
	return ledger.NewEnv(context.Background(), c, true).Bounds()
}

// An Outcome is a check with its verdict.
type Outcome struct {
	Check ledger.Check
	Want  ledger.Verdict
}

// Verdicts runs each check with the bounds of a claim, in the quick budget and in the full one.
func Verdicts(t *testing.T, c ledger.Claim, outcomes map[string]Outcome) {
	for what, o := range outcomes {
		for _, quick := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, quick %v", what, quick), func(t *testing.T) {
				if !quick && testing.Short() {
					t.Skip("the full budget takes long")
				}
				if f := o.Check.Finding(ledger.NewEnv(t.Context(), c, quick)); f.Verdict != o.Want {
					t.Errorf("%s (%s), want %s", f.Verdict, f.Note, o.Want)
				}
			})
		}
	}
}

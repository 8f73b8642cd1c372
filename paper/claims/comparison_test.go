package claims

import (
	"math"
	"testing"

	"learncausal/paper/exact"
	"learncausal/paper/ledger"
	"learncausal/pkg/graph"
	"learncausal/pkg/markov"
	"learncausal/pkg/theory"
)

// A comparison reports two numbers that differ by more than rounding.
type comparison func(what string, got, want float64)

func comparing(t *testing.T) comparison {
	return func(what string, got, want float64) {
		t.Helper()
		if math.IsInf(want, 0) || !(math.Abs(got-want) <= 1e-9*math.Abs(want)+1e-13) {
			t.Errorf("%s is %v, want %v", what, got, want)
		}
	}
}

// each compares two lists entry by entry.
func (check comparison) each(what string, got, want []float64) {
	check(what, float64(len(got)), float64(len(want)))
	for k, v := range got[:min(len(got), len(want))] {
		check(what, v, want[k])
	}
}

// An asymmetric is a prior of two chains with weights 1/3 and 2/3, and a forest with a root in the middle,
// a path of length two and, over two states, a position with two children. No two of its numbers are
// equal.
type asymmetric struct {
	graph *graph.Forest
	first exact.Matrix
	other exact.Matrix
}

func asymmetrics() []asymmetric {
	return []asymmetric{{
		graph.MustNew(graph.Root, 0, 0, graph.Root, 1, graph.Root),
		exact.Rats("4/5 1/5; 3/10 7/10"), exact.Rats("1/5 4/5; 9/10 1/10"),
	}, {
		graph.MustNew(graph.Root, 0, graph.Root, 1, graph.Root),
		exact.Rats("1/2 1/3 1/6; 1/10 3/5 3/10; 2/7 1/7 4/7"), exact.Rats("1/4 1/4 1/2; 1/3 1/2 1/6; 1/8 3/8 1/2"),
	}}
}

// matrices returns the matrices of the prior, each as often as its weight is a multiple of 1/3.
func (u asymmetric) matrices() []exact.Matrix { return []exact.Matrix{u.first, u.other, u.other} }

func (u asymmetric) prior() *markov.Finite {
	p := &markov.Finite{Weight: []float64{1.0 / 3, 2.0 / 3}}
	for _, pi := range []exact.Matrix{u.first, u.other} {
		p.Pi, p.Mu = append(p.Pi, pi.Floats()), append(p.Mu, exact.MustStationary(pi).Floats())
	}
	return p
}

func (u asymmetric) chain() *theory.Chain { return theory.MustChain(u.first.Floats(), len(u.first)) }

// inequalities compares the inequalities that a decision gives to a Worst with the given ones: the
// sides of the tightest, and their number.
func (check comparison) inequalities(what string, decide func(w *ledger.Worst), lines ...[2]float64) {
	var got, want ledger.Worst
	decide(&got)
	for _, line := range lines {
		want.AtMost(line[0], line[1], func() ledger.Instance { return nil })
	}
	f, g := got.Finding(""), want.Finding("")
	check.each(what, []float64{f.LHS, f.RHS, float64(f.Instances)}, []float64{g.LHS, g.RHS, float64(g.Instances)})
}

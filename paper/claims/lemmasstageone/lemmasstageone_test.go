package lemmasstageone

import (
	"math"
	"slices"
	"testing"

	"learncausal/paper/claims/compare"
	"learncausal/paper/claims/instruments"
	"learncausal/paper/exact"
	"learncausal/paper/ledger"
	"learncausal/pkg/graph"
	"learncausal/pkg/markov"
	"learncausal/pkg/task"
	"learncausal/pkg/theory"
)

// The count laws with pinned tokens are those of the sum over all sequences.
func TestPinnedCountsEqualEnumeration(t *testing.T) {
	c := theory.MustChain([]float64{0.7, 0.2, 0.1, 0.3, 0.3, 0.4, 0.1, 0.8, 0.1}, 3)
	for _, g := range []*graph.Forest{graph.Chain(5), graph.Figure1(), graph.InContext(6)} {
		for _, pins := range [][]pin{{}, {{1, 2}}, {{0, 1}, {3, 2}}, {{2, 0}, {g.T() - 1, 1}}, {{2, 0}, {2, 1}}} {
			for state := range c.S {
				got, want := pinnedCounts(g, c, state, pins...), enumeratedCounts(t, g, c, state, pins)
				for n, p := range want {
					q := 0.0
					if n < len(got) {
						q = got[n]
					}
					if math.Abs(q-p) > 1e-14 {
						t.Errorf("%v, %v: P(N_%d = %d) is %v, want %v", g, pins, state, n, q, p)
					}
				}
			}
		}
	}
}

func enumeratedCounts(t *testing.T, g *graph.Forest, c *theory.Chain, state int, pins []pin) []float64 {
	prior := &markov.Finite{Pi: [][]float64{c.Pi.RawMatrix().Data}, Mu: [][]float64{c.Mu}, Weight: []float64{1}}
	seq, err := task.Task{Graph: g, Prior: prior}.Enumerate(c.Pi.RawMatrix().Data, c.Mu)
	if err != nil {
		t.Fatal(err)
	}
	law := make([]float64, g.T()+1)
	for x, p := range seq {
		n, match := 0, true
		for i, a := range x {
			n += int(instruments.Indicator(a == state))
			match = match && !slices.ContainsFunc(pins, func(p pin) bool { return p.position == i && p.state != a })
		}
		law[n] += p * instruments.Indicator(match)
	}
	return law
}

// The errors of Lemma 24 (lem-concentration-a1) against sums over all sequences, and e^beta - 1 against
// math.Expm1.
func TestGradientErrorsAreSumsOverSequences(t *testing.T) {
	check := compare.With(t)
	const eps = 0.15
	for _, u := range compare.Asymmetrics() {
		c, t := u.Chain(), float64(u.Graph.T())
		for _, at := range [][2]int{{1, 0}, {4, 1}, {2, 2}, {4, 4}} {
			i, j := at[0], at[1]
			law := instruments.EnumeratedLaw(u.First, u.Graph, i, j)
			for k, got := range gradientErrors(u.Graph, c, i, j, eps) {
				state, s := k/c.S, k%c.S
				mu, expected, square := c.Mu[state], 0.0, 0.0
				for x, p := range exact.Sequences(u.Graph, u.First) {
					frequency := float64(instruments.Occurrences(state, x)) / t
					value := (instruments.Indicator(x[i] == state) - frequency) / (frequency + eps)
					expected += exact.Float(p) * value * instruments.Indicator(x[j] == s)
					square += exact.Float(p) * (frequency - mu) * (frequency - mu)
				}
				limit := exact.Float(law[state][s]) / mu
				for b := range c.S {
					limit -= exact.Float(law[b][s])
				}
				check("an error of the gradient", got.whole, math.Abs(expected-limit))
				check("an error of the gradient at mu", got.bias, eps/(mu+eps)*math.Abs(limit))
				check("the deviation of muhat", got.sigma, math.Sqrt(square))
			}
		}
	}
	for _, beta := range []float64{1e-9, 0.99e-4, 1.01e-4, 0.5} {
		check("e^beta - 1", instruments.Indicator(math.Abs(expMinusOne(beta)/math.Expm1(beta)-1) < 1e-8), 1)
	}
}

// The inequalities of Lemma 24 on a small instance.
func TestInequalitiesOfLemma24(t *testing.T) {
	check, u := compare.With(t), compare.Asymmetrics()[0]
	const eps = 0.15
	var lines [][2]float64
	for k, err := range gradientErrors(u.Graph, u.Chain(), 1, 0, eps) {
		mu := u.Chain().Mu[k/2]
		most := 2*err.bias + 1.15*(2*err.sigma/((mu+eps)*(mu+2*eps))+12*err.sigma*err.sigma/(eps*mu*(mu+eps)))
		lines = append(lines, [2]float64{err.whole, most})
	}
	check.Inequalities("the errors of Lemma 24", func(w *ledger.Worst) {
		concentrationOn(w, u.Graph, u.First, eps, 2, 3, [2]int{1, 0})
	}, lines...)
}

// The enclosures contain the error of Lemma 24 by the law of the counts, and become
// narrow like 1/T.
func TestInContextContainsTheErrors(t *testing.T) {
	for _, pi := range concentrationMatrices {
		chain := theory.MustChain(pi.Floats(), len(pi))
		width := map[int64]float64{}
		for _, last := range []int64{301, 903} {
			c := exact.NewInContext(pi, exact.Int(last), exact.Frac(1, 2))
			c.Apart = true
			for k, want := range gradientErrors(graph.InContext(int(last)), chain, 41, 40, 0.5) {
				got := c.Error(exact.OwnChild, exact.OwnRoot, k%len(pi), k/len(pi))
				if m := got.Abs(); exact.Float(m.Lo) > want.whole+1e-12 || exact.Float(m.Hi) < want.whole-1e-12 {
					t.Errorf("T = %d, s = %d, s' = %d: %v does not contain %v", last, k%len(pi)+1, k/len(pi)+1, m, want.whole)
				}
				width[last] = max(width[last], exact.Float(exact.Sub(got.Hi, got.Lo)))
			}
		}
		if ratio := width[301] / width[903]; ratio < 2.5 {
			t.Errorf("widths %v at T = 301 and %v at T = 903, want a third", width[301], width[903])
		}
	}
}

// The enclosures of the errors of Lemma 24 contain the errors in floats.
func TestErrorsOnInContextGraphs(t *testing.T) {
	for _, in := range []struct {
		t  int64
		pi exact.Matrix
	}{
		{225, exact.Rats("9/10 1/10; 2/5 3/5")},
		{121, exact.Rats("1/2 1/3 1/6; 1/10 3/5 3/10; 2/7 1/7 4/7")},
		{169, instruments.PullToward[0]},
	} {
		c := exact.NewInContext(in.pi, exact.Int(in.t), exact.Frac(1, 10))
		c.Apart = true
		g, chain := graph.InContext(int(in.t)), theory.MustChain(in.pi.Floats(), len(in.pi))
		for _, at := range [][2]exact.Role{
			{exact.OwnChild, exact.OwnRoot}, {exact.OwnChild, exact.OwnChild}, {exact.OwnRoot, exact.OtherChild},
		} {
			for k, e := range gradientErrors(g, chain, int(at[0]), int(at[1]), 0.1) {
				x := c.Error(at[0], at[1], k%chain.S, k/chain.S).Abs()
				if exact.Float(x.Lo) > e.whole+1e-9 || exact.Float(x.Hi) < e.whole-1e-9 {
					t.Errorf("T = %d, roles %v: %v does not contain %v", in.t, at, x, e.whole)
				}
			}
		}
	}
}

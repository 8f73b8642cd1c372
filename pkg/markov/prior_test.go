package markov

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"learncausal/internal/property"
	"learncausal/pkg/num"
)

// checkDraw returns an error unless pi is a transition matrix and mu its stationary measure,
// up to relative errors of tol.
func checkDraw(pi, mu []float64, tol float64) error {
	s := len(mu)
	total := 0.0
	for r := range s {
		total += mu[r]
		sum, top := 0.0, 0.0
		for _, p := range pi[r*s : r*s+s] {
			if !(p >= 0) {
				return fmt.Errorf("row %d is %v", r, pi[r*s:r*s+s])
			}
			sum, top = sum+p, max(top, p)
		}
		if math.Abs(sum-1) > tol || top < 1/float64(s)-tol {
			return fmt.Errorf("row %d sums to %v with largest entry %v", r, sum, top)
		}
	}
	if math.Abs(total-1) > tol {
		return fmt.Errorf("mu sums to %v", total)
	}
	for j := range s {
		flow := 0.0
		for i := range s {
			if !(mu[i] >= 0) {
				return fmt.Errorf("mu is %v", mu)
			}
			flow += mu[i] * pi[i*s+j]
		}
		if math.Abs(flow-mu[j]) > tol {
			return fmt.Errorf("(mu pi)(%d) = %v, want %v", j, flow, mu[j])
		}
	}
	return nil
}

// The law of one entry is Beta(alpha, (S-1) alpha), in the first row as in the last.
func TestDirichletDraws(t *testing.T) {
	for _, alpha := range []float64{0.001, 0.01, 0.05, 0.1, 0.5, 0.7, 1, 10, 1000} {
		for _, s := range []int{2, 3, 10, 20} {
			d, err := NewDirichlet(s, alpha)
			if err != nil {
				t.Fatal(err)
			}
			src := rand.NewPCG(1, uint64(s))
			pi, mu := make([]float64, s*s), make([]float64, s)
			n := 3000
			if s > 3 {
				n = 600
			}
			entry, last := make([]float64, n), make([]float64, n)
			for k := range n {
				d.Draw(pi, mu, src)
				// Logarithms of gamma variables are of size 10/alpha, and carry
				// an absolute error of as many units of 2**-53.
				if err := checkDraw(pi, mu, 1e-14*float64(s)+4e-15/alpha); err != nil {
					t.Fatalf("alpha %v, S=%d, draw %d: %v", alpha, s, k, err)
				}
				entry[k], last[k] = pi[1], pi[s*s-2]
			}
			law := distuv.Beta{Alpha: alpha, Beta: float64(s-1) * alpha}
			for _, x := range [][]float64{entry, last} {
				if k := property.Kolmogorov(x, law.CDF); k > property.KSBound {
					t.Errorf("alpha %v, S=%d: Kolmogorov-Smirnov statistic %.2f, want below %v", alpha, s, k, property.KSBound)
				}
			}
		}
	}
}

// The conditions of Assumption 1 for bases of mean trace one, with gamma = 0.15. That an orbit
// has every relabeling is a property test.
func TestOrbitSatisfiesTheAssumption(t *testing.T) {
	const gamma = 0.15
	for text, s := range map[string]int{
		"orbit(0.6 0.3 0.1; 0.2 0.1 0.7; 0.45 0.25 0.3)":                            3,
		"orbit(0.8 0.2; 0.4 0.6 | 0.2 0.8; 0.6 0.4)":                                2,
		"orbit(0.1 0.2 0.3 0.4; 0.4 0.1 0.2 0.3; 0.3 0.4 0.1 0.2; 0.1 0.1 0.1 0.7)": 4,
	} {
		p, err := ParsePrior(text, s)
		if err != nil {
			t.Fatal(err)
		}
		f, mean := p.(*Finite), make([]float64, s*s)
		for k, pi := range f.Pi {
			dist := 0.0
			for i, v := range pi {
				mean[i] += f.Weight[k] * v
				dist += (v - f.Mu[k][i%s]) * (v - f.Mu[k][i%s])
			}
			if slices.Min(pi) <= gamma/float64(s) || dist < gamma*gamma/float64(s) {
				t.Errorf("%s: matrix %d is %v, and mixes in one step up to %v", text, k, pi, dist)
			}
		}
		for i, m := range mean {
			if math.Abs(m-1/float64(s)) > 1e-14 {
				t.Errorf("%s: E pi(%d|%d) = %v, want 1/%d", text, i%s, i/s, m, s)
			}
		}
	}
}

func TestParsePriorRoundTrip(t *testing.T) {
	for text, want := range map[string]string{
		"dirichlet(0.1)":                  "dirichlet(0.1)",
		"Doubly-Stochastic( uniform )":    "doubly-stochastic(uniform)",
		"unigram(1e0)":                    "unigram(1)",
		" dirichlet(1e-3) ":               "dirichlet(0.001)",
		"orbit(0.8 0.2;0.3 0.7)":          "orbit(0.8 0.2; 0.3 0.7)",
		"orbit(0.8 .2; 0.3 0.7|0 1;1 0)":  "orbit(0.8 0.2; 0.3 0.7 | 0 1; 1 0)",
		"finite(0.8 .2; .3 .7|0 1;1 0)":   "finite(0.8 0.2; 0.3 0.7 | 0 1; 1 0)",
		"dirichlet( 0.1 )":                "dirichlet(0.1)",
		"dirichlet (\t0.1)":               "dirichlet(0.1)",
		"Dirichlet(.1,)":                  "dirichlet(0.1)",
		"orbit ( 0.8,0.2;0.3,\n0.7; )":    "orbit(0.8 0.2; 0.3 0.7)",
		"finite(0.8, 0.2, 0.3, 0.7)":      "finite(0.8 0.2; 0.3 0.7)",
		"finite(0.8 0.2000005;0.5 0.5)":   "finite(0.7999996000002 0.2000003999998; 0.5 0.5)",
		"finite(0.8 0.2000000000004;1 0)": "finite(0.8 0.2000000000004; 1 0)", // as a stored prior, rounded or not
	} {
		p, err := ParsePrior(text, 2)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if p.String() != want || p.States() != 2 {
			t.Errorf("%q reads as %q on %d states, want %q on 2", text, p, p.States(), want)
		}
		if again, err := ParsePrior(p.String(), 2); err != nil || again.String() != want {
			t.Errorf("%q does not read back: %v, %v", p, again, err)
		}
	}
}

func TestPriorErrors(t *testing.T) {
	for _, c := range []struct {
		text   string
		states int
		want   string
	}{
		{"dirichlet(0.1", 3, `prior "dirichlet(0.1": want dirichlet(alpha), orbit(matrix), finite(matrix), ` +
			`doubly-stochastic(uniform) or unigram(alpha)`},
		{"beta(1)", 3, `unknown family "beta", want dirichlet(alpha), orbit(matrix), finite(matrix), ` +
			`doubly-stochastic(uniform) or unigram(alpha)`},
		{"doubly-stochastic(1)", 3, `"1" between the brackets, want uniform`},
		{"doubly-stochastic(uniform)", 5, "doubly stochastic prior over 5 states, want 2 to 4"},
		{"unigram(1 2)", 3, "2 parameters, want one for all states, as in unigram(1)"},
		{"unigram(0)", 3, "Dirichlet parameter 0, want 0.001 to 1000"},
		{"dirichlet(x)", 3, `"x" is not a number`},
		{"dirichlet(NaN)", 3, "Dirichlet parameter NaN, want 0.001 to 1000"},
		{"dirichlet(1)", 256, "over 256 states, want 2 to 255"},
		{"dirichlet(0,1)", 3, "2 parameters, want one for all states, as in dirichlet(0.1)"},
		{"dirichlet()", 3, "0 parameters, want one"},
		{"orbit(0.5 x; 0 1)", 2, `"x" is not a number`},
		{"orbit()", 2, "matrix 0: 0 entries, want 2 x 2"},
		{"orbit(0.5; 0.5 0 1)", 2, "matrix 0: row 0 has 1 entries, want 2"},
		{"finite(1 0; 0 1 | 1 0 0; 1)", 2, "matrix 1: row 0 has 3 entries, want 2"},
		{"orbit(0.7 0.2 0.1; 0.1 0.7 0.2)", 3, `matrix 0: 6 entries, want 3 x 3, with rows split by ";"`},
		{"finite(0.8 0.200002; 0.5 0.5)", 2, "matrix 0: row 0 sums to 1.000002, want 1"},
		{"orbit(1.5 -0.5; 0 1)", 2, "row 0, column 1 is -0.5, want a probability"},
		{"finite(0.5 0.5; 0.2 0.8 | 1 0; 1 0)", 2, "matrix 1: the stationary measure of state 1 is 0, want at least"},
		{"finite(0.5 0.5; 0.2 0.8 | 1 0; 0 1)", 2, "finite prior, matrix 1: markov: the chain is reducible"},
		{"finite(1)", 1, "finite prior over 1 states, want 2 to 255"},
	} {
		_, err := ParsePrior(c.text, c.states)
		property.Mentions(t, err, c.want)
	}
	_, orbit := NewOrbit(3)
	property.Mentions(t, orbit, "orbit prior without a matrix")
	_, large := NewOrbit(9)
	property.Mentions(t, large, "over 9 states, want 2 to 8")
	_, finite := NewFinite(3)
	property.Mentions(t, finite, "finite prior without a matrix")
}

// Sampled contains the draws of the prior, each with all its relabelings.
func TestSampledIsTheOrbitOfDraws(t *testing.T) {
	prior, err := NewDirichlet(3, 0.5)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Sampled(prior, 4, num.Stream(3, "sampled"))
	if err != nil {
		t.Fatal(err)
	}
	src, pi, mu := num.Stream(3, "sampled"), make([]float64, 9), make([]float64, 3)
	for k := range 4 {
		prior.Draw(pi, mu, src)
		if !slices.Equal(got.Pi[6*k], pi) || len(got.Pi) != 24 {
			t.Errorf("draw %d of %d is %v, want %v", k, len(got.Pi)/6, got.Pi[6*k], pi)
		}
	}
}

// By a uniform variable the matrix is drawn in whose part of the weights it falls, the last
// one beyond their sum.
func TestFiniteDrawsWhereTheVariableFalls(t *testing.T) {
	f := &Finite{Weight: []float64{0.4, 0.3, 0.2, 0.05}}
	for k := range f.Weight {
		p := float64(k) / 4
		f.Pi, f.Mu = append(f.Pi, []float64{p, 1 - p, p, 1 - p}), append(f.Mu, []float64{p, 1 - p})
	}
	for seed := range uint64(200) {
		u, want := num.Uniform(num.Stream(seed, "falls")), 0
		for _, border := range []float64{0.4, 0.7, 0.9} {
			if u >= border {
				want++
			}
		}
		pi, mu := make([]float64, 4), make([]float64, 2)
		f.Draw(pi, mu, num.Stream(seed, "falls"))
		if !slices.Equal(pi, f.Pi[want]) || !slices.Equal(mu, f.Mu[want]) {
			t.Fatalf("%v draws %v, %v, want matrix %d", u, pi, mu, want)
		}
	}
}

// Equal weights are not walked along where the end of the walk is plain, and the draw is that
// of the walk everywhere: at random places, and within some roundings of each border.
func TestEqualWeightsAreDrawnAsByTheLoop(t *testing.T) {
	src := num.Stream(1, "equal weights")
	for _, n := range []int{1, 2, 3, 6, 24, 720, 5040, 40320} {
		f := &Finite{uniform: true}
		for range n {
			f.Weight = append(f.Weight, 1/float64(n))
		}
		walked := &Finite{Weight: f.Weight}
		var all []float64
		for range 200 {
			all = append(all, num.Uniform(src))
			border := float64(src.Uint64()%uint64(n)) / float64(n)
			for _, far := range []float64{0, 1e-16, 1e-15, 1e-14, 1e-12, 1e-10} {
				all = append(all, border+far, math.Abs(border-far))
			}
		}
		for _, u := range all {
			if got, want := f.index(u), walked.index(u); got != want {
				t.Fatalf("of %d matrices %v draws %d, and on a walk %d", n, u, got, want)
			}
		}
	}
}

// A prior that would fill the memory is refused before its matrices are made.
func TestTooManyMatricesAreRefused(t *testing.T) {
	base := slices.Repeat([]float64{1. / 8}, 64)
	_, err := NewOrbit(8, slices.Repeat([][]float64{base}, 12)...)
	property.Mentions(t, err, "orbit prior of 483840 matrices over 8 states, want at most 466033")
	for states, most := range map[int]int{2: 5592405, 255: 514} {
		if checkMost("finite", states, most) != nil || checkMost("finite", states, most+1) == nil {
			t.Errorf("not at most %d matrices over %d states", most, states)
		}
	}
}

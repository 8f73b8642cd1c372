package markov

import (
	"math"
	"slices"
	"testing"

	"learncausal/pkg/num"
)

// Entries have a mean of 1/S, and each of its kind the variance of its law: at S = 2 and for a unigram row of
// Dirichlet(1) an entry is uniform or Beta(1, S-1); of a doubly stochastic matrix at S = 3 the law is the same for
// all entries. The bounds are six standard errors.
func TestSpecialPriorsDraw(t *testing.T) {
	const n = 1 << 14
	for text, states := range map[string][]int{"doubly-stochastic(uniform)": {2, 3, 4}, "unigram(1)": {2, 3, 5}} {
		for _, s := range states {
			p, err := ParsePrior(text, s)
			if err != nil {
				t.Fatal(err)
			}
			src, pi, mu := num.Stream(7, "special", uint64(s)), make([]float64, s*s), make([]float64, s)
			mean, square := make([]float64, s*s), make([]float64, s*s)
			for range n {
				p.Draw(pi, mu, src)
				if err := checkDraw(pi, mu, 1e-13); err != nil {
					t.Fatal(text, err)
				}
				for k, v := range pi {
					mean[k] += v / n
					square[k] += v * v / n
				}
			}
			want := square[0]
			if _, same := p.(*unigram); same {
				if !slices.Equal(pi[:s], pi[s:2*s]) || !slices.Equal(pi[:s], mu) {
					t.Fatalf("%s: rows %v with the measure %v", text, pi, mu)
				}
				want = 2 / float64(s*(s+1))
			} else if s == 2 {
				want = 1. / 3
			}
			for k := range pi {
				if d := mean[k] - 1/float64(s); math.Abs(d) > 6*0.3/math.Sqrt(n) {
					t.Errorf("%s over %d states: the mean of entry %d is off by %.2g", text, s, k, d)
				}
				if d := square[k] - want; math.Abs(d) > 6*0.45/math.Sqrt(n) {
					t.Errorf("%s over %d states: the mean square of entry %d is off by %.2g", text, s, k, d)
				}
			}
		}
	}
}

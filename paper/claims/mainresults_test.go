package claims

import (
	"math"
	"testing"

	"learncausal/pkg/markov"
	"learncausal/pkg/num"
)

// TestSmallestEntryOfDirichletRows compares the law that decides the remark on
// Dirichlet rows, P(min pi > gamma/S) = (1-gamma)^(S(S-1)) at alpha = 1, with
// draws: five standard deviations, a false alarm of 3e-7 per row of the table.
func TestSmallestEntryOfDirichletRows(t *testing.T) {
	const draws = 50000
	for _, c := range []struct {
		s     int
		gamma float64
	}{{2, 0.3}, {4, 0.05}, {6, 0.01}} {
		prior, err := markov.NewDirichlet(c.s, 1)
		if err != nil {
			t.Fatal(err)
		}
		src := num.Stream(5, "claims/dirichlet", uint64(c.s))
		pi, mu, n := make([]float64, c.s*c.s), make([]float64, c.s), 0
		for range draws {
			prior.Draw(pi, mu, src)
			low := 1.0
			for _, p := range pi {
				low = min(low, p)
			}
			n += int(unit(low > c.gamma/float64(c.s)))
		}
		p := math.Pow(1-c.gamma, float64(c.s*(c.s-1)))
		if got := float64(n) / draws; math.Abs(got-p) > 5*math.Sqrt(p*(1-p)/draws) {
			t.Errorf("S = %d, gamma = %v: %v of the draws, want %v", c.s, c.gamma, got, p)
		}
	}
}

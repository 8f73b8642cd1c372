package mainresults

import (
	"math"
	"testing"

	"learncausal/paper/claims/compare"
	"learncausal/paper/claims/instruments"
	"learncausal/paper/exact"
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
			n += int(instruments.Indicator(low > c.gamma/float64(c.s)))
		}
		p := math.Pow(1-c.gamma, float64(c.s*(c.s-1)))
		if got := float64(n) / draws; math.Abs(got-p) > 5*math.Sqrt(p*(1-p)/draws) {
			t.Errorf("S = %d, gamma = %v: %v of the draws, want %v", c.s, c.gamma, got, p)
		}
	}
}

// The mean of a trace under both bullets of Assumption 1, against a sum over cells whose corners
// are floats, and the gamma of Dirichlet priors against laws in closed form.
func TestTracesAndGammasOfPriors(t *testing.T) {
	check := compare.With(t)
	for _, n := range []float64{64, 200, 2000} {
		var sum, least, most float64
		for a := n / 4; a < 3*n/4; a++ { // of n times the leaving probabilities
			for b := n / 4; b < 3*n/4; b++ {
				high, low := n-a-b, n-a-b-2
				near, far := min(math.Abs(high), math.Abs(low)), max(math.Abs(high), math.Abs(low))
				if high*low < 0 {
					near = 0
				}
				if sides := a + b + 2; near*near*(a*a+b*b) >= sides*sides*(n*n/16) {
					sum, least, most = sum+low+1, least+1, most+1
				} else if sides -= 2; far*far*((a+1)*(a+1)+(b+1)*(b+1)) >= sides*sides*(n*n/16) {
					sum, most = sum+min(low, 0), most+1
				}
			}
		}
		if sum < 0 {
			most = least
		}
		check("a mean of tr pi", exact.Float(conditionedTrace(int64(n), 1, 2, true)), 1+sum/most/n)
		check("a mean of tr pi without a condition", exact.Float(conditionedTrace(int64(n), 1, 2, false)), 1)
	}
	check("gamma for alpha = 1", gammaAbove(10, 1), 10*(1-math.Pow(0.99, 1./90)))
	x := gammaAbove(2, 2) / 2 // with two entries of law 6 x (1-x)
	check("gamma for alpha = 2", 3*x*x-2*x*x*x, 1-math.Sqrt(0.99))
}

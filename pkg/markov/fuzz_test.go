package markov

import (
	"math"
	"testing"

	"learncausal/pkg/num"
)

// A text is refused, or is a prior whose own text is read as the same, and which draws
// matrices of rows that sum to one.
func FuzzParsePrior(f *testing.F) {
	for _, text := range []string{
		"dirichlet(0.1)", " dirichlet(1e-3)", "dirichlet(NaN)", "dirichlet(1e999)", "dirichlet(-0)", "dirichlet(0x1p-4)",
		"orbit(0.7 0.3; 0.4 0.6)", "orbit(0.7 0.3; 0.4 0.6 | 0.5 0.5; 0.1 0.9)", "orbit()", "orbit(1 0; 0 1)",
		"finite(0.5 0.5; 0.5 0.5)", "finite(|)", "finite(1e-300 1; 1 1e-300)", "finite(0.5 0.5 0.5 0.5", "uniform(1)", "",
	} {
		f.Add(text, 2)
	}
	f.Add("dirichlet(0.1)", 255)
	f.Add("dirichlet(0.1)", -1)
	f.Add("orbit(0.1 0.7 0.2; 0.2 0.1 0.7; 0.1 0.1 0.8)", 3)
	f.Fuzz(func(t *testing.T, text string, states int) {
		p, err := ParsePrior(text, states)
		if err != nil {
			return
		}
		again, err := ParsePrior(p.String(), states)
		if err != nil || again.String() != p.String() || p.States() != states {
			t.Fatalf("%q is %q over %d states, which is read as %v, %v", text, p, p.States(), again, err)
		}
		pi, mu := make([]float64, states*states), make([]float64, states)
		p.Draw(pi, mu, num.Stream(1, "fuzz"))
		for s := range states + 1 {
			row := mu
			if s < states {
				row = pi[s*states : (s+1)*states]
			}
			sum := 0.0
			for _, v := range row {
				if !(v >= 0) {
					t.Fatalf("%q draws %v", text, row)
				}
				sum += v
			}
			if !(math.Abs(sum-1) < 1e-9) {
				t.Fatalf("%q draws a row that sums to %v", text, sum)
			}
		}
	})
}

package claims

import (
	"math"
	"math/big"
	"testing"

	"learncausal/paper/exact"
	"learncausal/pkg/graph"
	"learncausal/pkg/theory"
)

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

// A row of which one position leads takes as long as exact.LeaderTime says, and no
// longer than exact.TimeBound, in steps of some size.
func TestTimeOfOneLeader(t *testing.T) {
	const n, alpha = 40, 0.1
	one := exact.Int(1)
	small := exact.LeaderTime(exact.Int(n), exact.Frac(1, 10)).Float() * (n - 1) / n
	for _, etaDelta := range []float64{0.02, 0.5, 8} {
		q := sharpTime(1, 2, 0.25)
		last, _ := q.follow(n, etaDelta, alpha, func(h []float64) { clear(h); h[0] = 1 })
		eta := new(big.Rat).SetFloat64(etaDelta)
		if most := exact.TimeBound(exact.Frac(1, 10), exact.Int(n), one, eta).Float(); last > most || math.Abs(most/q.steps(n, alpha, etaDelta)-1) > 1e-9 {
			t.Errorf("%v steps of %v, want at most %v", last, etaDelta, most)
		}
		if etaDelta == 0.02 && math.Abs(last*etaDelta/small-1) > 0.02 {
			t.Errorf("%v steps of %v, want a time of %v", last, etaDelta, small)
		}
	}
}

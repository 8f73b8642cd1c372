package claims

import (
	"math"
	"math/big"
	"testing"

	"learncausal/paper/exact"
	"learncausal/pkg/graph"
	"learncausal/pkg/theory"
)

// The enclosures hold the gradient by quadrature.
func TestLongInContextHoldsTheGradient(t *testing.T) {
	first := exact.Rats("9/10 1/20 1/20; 1/5 1/20 3/4; 1/5 3/4 1/20")
	second := exact.Rats("4/5 1/5; 3/10 7/10")
	for _, pi := range []exact.Matrix{first, second} {
		prior := mustOrbit(len(pi), pi.Floats())
		for _, root := range []int64{9, 15} {
			last := int(root * root)
			g := graph.InContext(last)
			for _, reading := range []theory.Reading{theory.QueryInSequence, theory.QueryApart} {
				ghat, err := theory.GHat(g, prior, 1/float64(root), reading)
				if err != nil {
					t.Fatal(err)
				}
				c := newLongInContext(pi, exact.Frac(root*root, 1), exact.Frac(1, root), reading)
				row := map[int]int{ownRoot: 40, ownChild: 41, queryRole: last - 1}
				for i, at := range row {
					column := map[int]int{otherRoot: 20, otherChild: 21, ownRoot: at &^ 1, ownChild: at, queryRole: at}
					for _, j := range columns(i) {
						got := c.ghat(i, j)
						want := new(big.Rat).SetFloat64(ghat.At(at, column[j]))
						if !got.Contains(want) {
							t.Errorf("T = %d, %v, (%d, %d): %v does not hold %v", last, reading, i, j, got, ghat.At(at, column[j]))
						}
						if width := exact.Float(exact.Sub(got.Hi, got.Lo)); root == 15 && width > 20 {
							t.Errorf("(%d, %d): an enclosure of width %v", i, j, width)
						}
					}
				}
			}
		}
	}
}

// The enclosures hold the error of Lemma 24 by the law of the counts, and become
// narrow like 1/T.
func TestLongInContextHoldsTheErrors(t *testing.T) {
	for _, pi := range concentrationMatrices {
		chain := theory.MustChain(pi.Floats(), len(pi))
		width := map[int64]float64{}
		for _, last := range []int64{301, 903} {
			c := newLongInContext(pi, exact.Frac(last, 1), exact.Frac(1, 2), theory.QueryApart)
			for k, want := range gradientErrors(graph.InContext(int(last)), chain, 41, 40, 0.5) {
				got := c.error(ownChild, ownRoot, k%len(pi), k/len(pi))
				if m := got.Abs(); exact.Float(m.Lo) > want.whole+1e-12 || exact.Float(m.Hi) < want.whole-1e-12 {
					t.Errorf("T = %d, s = %d, s' = %d: %v does not hold %v", last, k%len(pi)+1, k/len(pi)+1, m, want.whole)
				}
				width[last] = max(width[last], exact.Float(exact.Sub(got.Hi, got.Lo)))
			}
		}
		if ratio := width[301] / width[903]; ratio < 2.5 {
			t.Errorf("widths %v at T = 301 and %v at T = 903, want a third", width[301], width[903])
		}
	}
}

// A row of which one position leads takes as long as leaderTime says, and no
// longer than timeBound, in steps of some size.
func TestTimeOfOneLeader(t *testing.T) {
	const n, alpha = 40, 0.1
	one := exact.Frac(1, 1)
	small := leaderTime(exact.Frac(n, 1), exact.Frac(1, 10)).Float() * (n - 1) / n
	for _, etaDelta := range []float64{0.02, 0.5, 8} {
		q := sharpTime(1, 2, 0.25)
		last, _ := q.follow(n, etaDelta, alpha, func(h []float64) { clear(h); h[0] = 1 })
		eta := new(big.Rat).SetFloat64(etaDelta)
		if most := timeBound(exact.Frac(1, 10), exact.Frac(n, 1), one, eta).Float(); last > most || math.Abs(most/q.steps(n, alpha, etaDelta)-1) > 1e-9 {
			t.Errorf("%v steps of %v, want at most %v", last, etaDelta, most)
		}
		if etaDelta == 0.02 && math.Abs(last*etaDelta/small-1) > 0.02 {
			t.Errorf("%v steps of %v, want a time of %v", last, etaDelta, small)
		}
	}
}

package claims

import (
	"math/big"
	"testing"

	"learncausal/pkg/exact"
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
						want := new(big.Rat).SetFloat64(ghat[at*last+column[j]])
						if !got.Contains(want) {
							t.Errorf("T = %d, %v, (%d, %d): %v does not hold %v", last, reading, i, j, got, ghat[at*last+column[j]])
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

package exact

import (
	"math"
	"math/big"
	"testing"

	"learncausal/pkg/graph"
	"learncausal/pkg/markov"
	"learncausal/pkg/theory"
)

// Each enclosure is compared with the rational sum over all sequences, and at 40 positions with floats from an
// integral over u^N. It is narrow.
func TestChainGHatEnclosesTheSumOverSequences(t *testing.T) {
	pi := Rats("9/10 1/10; 3/10 7/10")
	for _, n := range []int{2, 3, 6} {
		eps := Frac(1, 3)
		p := Population{Graph: graph.Chain(n), Pis: []Matrix{pi}, Eps: eps}
		for i, row := range ChainGHat(pi, n, eps) {
			for j, want := range p.GHat(i) {
				lo, hi := new(big.Rat).SetFloat64(row[j].Lo), new(big.Rat).SetFloat64(row[j].Hi)
				if !(Interval{lo, hi}).Contains(want) || row[j].Hi-row[j].Lo > 1e-13 {
					t.Errorf("T=%d: ghat (%d, %d) is %s, not in %v", n, i, j, want.FloatString(17), row[j])
				}
			}
		}
	}
	mu := MustStationary(pi).Floats()
	prior := &markov.Finite{Pi: [][]float64{pi.Floats()}, Mu: [][]float64{mu}, Weight: []float64{1}}
	floats, err := theory.GHat(graph.Chain(40), prior, 1./6, theory.QueryInSequence)
	if err != nil {
		t.Fatal(err)
	}
	for i, row := range ChainGHat(pi, 40, Frac(1, 6)) {
		for j, r := range row {
			if d := math.Abs(floats.At(i, j) - r.Lo); d > 1e-11 {
				t.Errorf("ghat (%d, %d) is %v, in floats it is %v", i, j, r, floats.At(i, j))
			}
		}
	}
}

func BenchmarkChainGHat(b *testing.B) {
	for b.Loop() {
		ChainGHat(Rats("9/10 1/10; 3/10 7/10"), 512, Frac(1, 22))
	}
}

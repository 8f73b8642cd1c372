package task

import (
	"math"
	"testing"

	"learncausal/pkg/markov"
	"learncausal/pkg/num"
)

// A chain with a known matrix has the stationary measure at its first and its last token, the matrix in its pairs,
// and the row of its last token as the target. The bounds are six standard errors.
func TestChainFollowsItsMatrix(t *testing.T) {
	const n = 1 << 15
	prior, err := markov.ParsePrior("finite(0.7 0.3; 0.1 0.9)", 2)
	if err != nil {
		t.Fatal(err)
	}
	c := Chain{T: 3, Prior: prior}
	b := c.NewBatch(n)
	c.NewSampler().Fill(b, num.Stream(3, "chain"))
	rows := [][]float64{{0.7, 0.3}, {0.1, 0.9}}
	ones, from, to := [3]float64{}, [2]float64{}, [2]float64{}
	for k := range n {
		x, y := b.Seq(k)
		for i, a := range x {
			ones[i] += float64(a) / n
		}
		from[x[1]]++
		to[x[1]] += float64(x[2])
		if want := rows[x[2]]; y[0] != want[0] || y[1] != want[1] {
			t.Fatalf("target %v after %v, want %v", y, x, want)
		}
	}
	for i, p := range ones {
		if math.Abs(p-0.75) > 6*0.45/math.Sqrt(n) {
			t.Errorf("token %d is 1 in a share of %v, want 0.75", i, p)
		}
	}
	for a, row := range rows {
		if p := to[a] / from[a]; math.Abs(p-row[1]) > 6*0.5/math.Sqrt(from[a]) {
			t.Errorf("after %d a 1 follows in a share of %v, want %v", a, p, row[1])
		}
	}
}

package theory

import (
	"math"
	"testing"

	"learncausal/pkg/graph"
	"learncausal/pkg/markov"
	"learncausal/pkg/num"
	"learncausal/pkg/task"
)

// The mean over samples is GHat with the query in the sequence, and not with
// the query apart. 15 entries beyond 5 standard errors either way: the
// probability of a false alarm is below 1e-5.
func TestEmpiricalGHatIsUnbiased(t *testing.T) {
	prior, err := markov.NewOrbit(2, []float64{0.8, 0.2, 0.4, 0.6})
	if err != nil {
		t.Fatal(err)
	}
	tk := task.Task{Graph: graph.Chain(5), Prior: prior}
	const eps, rounds = 0.5, 400
	sum, square := make([]float64, 25), make([]float64, 25)
	for k := range rounds {
		for i, v := range raw(EmpiricalGHat(tk, eps, 100, num.Stream(1, "empirical", uint64(k)))) {
			sum[i] += v / rounds
			square[i] += v * v / rounds
		}
	}
	far := func(reading Reading) float64 {
		want, err := GHat(tk.Graph, prior, eps, reading)
		if err != nil {
			t.Fatal(err)
		}
		worst := 0.0
		for i, v := range sum {
			if se := math.Sqrt((square[i] - v*v) / rounds); se > 0 {
				worst = max(worst, math.Abs(v-raw(want)[i])/se)
			}
		}
		return worst
	}
	if z := far(QueryInSequence); z > 5 {
		t.Errorf("query in sequence: %.1f standard errors off", z)
	}
	if z := far(QueryApart); z < 5 {
		t.Errorf("query apart: only %.1f standard errors off", z)
	}
}

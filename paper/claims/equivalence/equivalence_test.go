package equivalence

import (
	"math/rand/v2"
	"testing"

	"learncausal/paper/claims/compare"
	"learncausal/paper/ledger"
	"learncausal/pkg/model"
	"learncausal/pkg/task"
)

// TestScoresForPatternsSeparateMaps spoils one number of each map.
func TestScoresForPatternsSeparateMaps(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 5))
	w := model.NewWeights(2, 3, 2, 1)
	for _, a := range model.Trained(w) {
		for i := range a {
			a[i] = float64(r.IntN(5) - 2)
		}
	}
	x := []int{0, 1, 1}
	agree := func(m *model.Standard) bool {
		var worst ledger.Worst
		equalForPatterns(&worst, m, w, x, r, func() ledger.Instance { return ledger.Instance{} })
		return !worst.Failed()
	}
	if !agree(w.Standard()) {
		t.Error("the map as it should be fails")
	}
	score := w.Standard()
	score.Layers[1][0].Q.Set(3, 3, score.Layers[1][0].Q.At(3, 3)+1)
	value := w.Standard()
	value.Layers[0][1].V.Set(0, 0, 1)
	output := w.Standard()
	output.W.Set(0, 0, output.W.At(0, 0)+1)
	for i, m := range []*model.Standard{score, value, output} {
		if agree(m) {
			t.Errorf("spoilt map %d is not found", i)
		}
	}
}

func TestOneHeadOutputIsTheForwardPass(t *testing.T) {
	check := compare.With(t)
	for qkv := range task.Sequences(2, 3) {
		for x := range task.Sequences(2, 2) {
			m, _ := oneHead(qkv, x)
			check("an output of one head", oneHeadOutput(int64(qkv[0]*qkv[1]), qkv, x).Float(), m.Forward(x).At(1, 0))
		}
	}
}

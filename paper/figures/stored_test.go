package figures

import (
	"fmt"
	"strings"
	"testing"

	"learncausal/pkg/train"
)

func singleParent(t *testing.T, name string) SingleParent {
	t.Helper()
	s, err := SingleParentNamed(name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func printedSpec(t *testing.T, name string) train.Spec {
	t.Helper()
	g, err := PrintedGraphNamed(name)
	if err != nil {
		t.Fatal(err)
	}
	return ManyGraphsSpec(g.Graph, 0)
}

func TestEveryRunIsStored(t *testing.T) {
	for _, s := range Specs() {
		if _, err := stored(t.Context(), s); err != nil {
			t.Error(err)
		}
	}
}

// A trained model cannot have a smaller expected loss than the Bayes predictor.
// A paired difference below -4 standard errors has false-alarm probability 3e-5.
func TestNoTrainedModelBeatsTheBayesPredictor(t *testing.T) {
	specs := []train.Spec{printedSpec(t, "graph-0"), printedSpec(t, "graph-13")}
	specs = append(specs, mapped(SingleParents(), SingleParent.Spec)...)
	for _, spec := range specs {
		r, err := stored(t.Context(), spec)
		if err != nil {
			t.Fatal(err)
		}
		draws := lossDraws
		if r.Spec.S() == 3 {
			draws = comparisonDraws
		}
		losses, err := compareLosses(t.Context(), lossSequences, draws, r)
		if err != nil {
			t.Fatal(err)
		}
		l := losses[0]
		if z := l.ModelLessBayes.Z(); z < -4 {
			t.Errorf("run %s is %.1f standard errors below the Bayes predictor: %+v", r.Address, z, l)
		}
		// The test can fail: the predictor that knows pi does beat it.
		if l.Entropy.Mean > l.Bayes.Mean-10*l.Bayes.StdErr {
			t.Errorf("run %s: entropy %v is not far below the Bayes risk %v", r.Address, l.Entropy, l.Bayes)
		}
	}
}

// The notebooks replay every run as it is stored.
func TestAChangedWeightIsFound(t *testing.T) {
	if testing.Short() {
		t.Skip("slow: it trains")
	}
	r, err := stored(t.Context(), printedSpec(t, "graph-19"))
	if err != nil {
		t.Fatal(err)
	}
	const entry = 7
	weights := r.Final.Disentangled()
	changed := &weights.W.RawMatrix().Data[entry]
	right := *changed
	*changed += 1e-15
	want := fmt.Sprintf("[%d,%d] is stored as %v and replayed as %v",
		entry/weights.S, entry%weights.S, *changed, right)
	if _, err := Replay(t.Context(), nil, r); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want one that says that W%s", err, want)
	}
}

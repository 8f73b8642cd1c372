package answers

import (
	"context"
	"errors"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"learncausal/paper/experiment"
	"learncausal/pkg/num"
	"learncausal/pkg/runs"
	"learncausal/pkg/task"
	"learncausal/pkg/train"
)

func mustLoad(t *testing.T, name string) []*experiment.Outcome {
	t.Helper()
	all, err := experiment.Outcomes(name)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// stored loads a run that the repository has with its weights.
func stored(t *testing.T, spec train.Spec) *runs.Run {
	t.Helper()
	r, err := experiment.Stored(nil)(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A notebook begins some runs again, and so does each test of the notebooks.
func TestANotebookBeginsRunsAgain(t *testing.T) {
	text, err := os.ReadFile("../../notebooks/15-beyond-the-paper.ipynb")
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{
		"answers.Replay(nb.Context())", "12 runs of four sweeps were begun again and gave the stored evaluations.",
	} {
		if !strings.Contains(string(text), part) {
			t.Errorf("notebook 15 has no %q", part)
		}
	}
}

func TestARunThatBeginsOtherwiseIsFound(t *testing.T) {
	all := mustLoad(t, jointTraining)
	o := all[slices.IndexFunc(all, func(o *experiment.Outcome) bool { return o.Spec.T() == 10 })]
	if err := begins(o); err != nil {
		t.Fatal(err)
	}
	o.Curve[1].Loss += 1e-15
	if err := begins(o); err == nil || !strings.Contains(err.Error(), "stored is") {
		t.Errorf("another loss: error %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Replay(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("stopped: error %v", err)
	}
}

// The first seeds of the sweep are the stored runs.
func TestSeedsAreThoseOfTheComparison(t *testing.T) {
	s, err := LoadSeeds()
	if err != nil {
		t.Fatal(err)
	}
	g := experiment.ManyGraphs()[17]
	for seed := range 2 {
		r := stored(t, g.Spec(seed))
		on := r.Final.Disentangled().PositionAttention()
		for i := range g.Graph.T() {
			got := s.Edge[17][seed][i]
			if p := g.Graph.Parent(i); p < 0 && !math.IsNaN(got) || p >= 0 && got != on[i][p] {
				t.Errorf("seed %d, position %d: attention %v", seed, i, got)
			}
		}
		for e, p := range r.Curve {
			if s.Steps[e] != p.Step || s.Along[17][seed][e] != p.Attention {
				t.Errorf("seed %d, step %d: attention %v, want %v", seed, p.Step, s.Along[17][seed][e], p.Attention)
			}
		}
		if s.Mean[17][seed] != r.Curve[len(r.Curve)-1].Attention {
			t.Errorf("seed %d: mean %v", seed, s.Mean[17][seed])
		}
	}
	if s.Seeds() < 5 || len(s.Variance().OneRuns) != s.Seeds() {
		t.Errorf("%d seeds", s.Seeds())
	}
}

func TestWhoTrailsMayEndInFront(t *testing.T) {
	s := comparison(nil, []float64{0.9, 0.7, 0.8})
	s.Steps, s.Along = []int{0, 1, 2, 3}, [][][]float64{{{0.1, 0.2, 0.5, 0.9}, {0.1, 0.4, 0.4, 0.7}, {0.1, 0.3, 0.3, 0.8}}}
	got := s.WithEnd(0)
	if !math.IsNaN(got[0]) || !floats.EqualApprox(got[1:], []float64{-1, 0.5, 1}, 1e-12) {
		t.Errorf("%v, want NaN, -1, 1/2, 1", got)
	}
}

func TestGraphsWithUnequalSeedsAreRefused(t *testing.T) {
	all := mustLoad(t, figure9)
	if _, err := newSeeds(all[1:]); err == nil || !strings.Contains(err.Error(), "graph-") {
		t.Errorf("a run less: error %v", err)
	}
	all[3].Diverged = "it did"
	if _, err := newSeeds(all); err == nil || !strings.Contains(err.Error(), all[3].Address) {
		t.Errorf("a run that diverged: error %v", err)
	}
}

// comparison has two graphs with the given runs, and what the authors printed.
func comparison(printed []float64, mean ...[]float64) *Seeds {
	return &Seeds{Comparison: &experiment.Comparison{Mean: mean, Printed: printed}}
}

func TestOneDraw(t *testing.T) {
	for _, c := range []struct {
		name         string
		printed      []float64
		share        float64 // of the four means that are at least the printed one
		below, above []int
	}{
		{"below all", []float64{0.1, 0.1}, 1, []int{0, 1}, nil},
		{"above all", []float64{0.9, 0.9}, 0, nil, []int{0, 1}},
		{"among them", []float64{0.25, 0.55}, 0.75, nil, nil}, // 0.4 is above 0.35 alone
		{"one of each", []float64{0.3, 0.61}, 0, nil, []int{1}},
	} {
		s := comparison(c.printed, []float64{0.2, 0.3}, []float64{0.5, 0.6})
		d := s.OneDraw(40_000)
		// Five standard errors: a false alarm in two of a million.
		if math.Abs(d.Above-c.share) > 5*0.5/200 {
			t.Errorf("%s: %v of the draws are above, want %v", c.name, d.Above, c.share)
		}
		if below, above := s.Outside(); !slices.Equal(below, c.below) || !slices.Equal(above, c.above) {
			t.Errorf("%s: outside are %v and %v", c.name, below, above)
		}
		if !slices.IsSorted(d.Draws) || math.Abs(d.Draws[0]-0.35) > 1e-12 || math.Abs(d.Draws[39_999]-0.45) > 1e-12 {
			t.Errorf("%s: draws from %v to %v", c.name, d.Draws[0], d.Draws[39_999])
		}
	}
}

func TestFailsCountsRunsBelowAHalf(t *testing.T) {
	if n := Fails(experiment.Edge{Ours: []float64{0.49, 0.5, 0.51, 0.1}}); n != 2 {
		t.Errorf("%d", n)
	}
}

// What is read off the edges of a result is what the weights of the run say.
func TestSplitsAreThoseOfTheRuns(t *testing.T) {
	all, err := LoadSplits()
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, m := range all {
		for k := range min(m.Seeds, len(m.Runs)) {
			want := experiment.NewMultiRun(m.Graph, stored(t, m.Spec(k)))
			got := m.Runs[k]
			if got.Split != len(want.Split) || got.Swapped != len(want.Swapped) || got.Nodes != len(want.Nodes) ||
				got.HasSplit() != want.HasSplit() || got.Seed != uint64(k) {
				t.Errorf("%s, seed %d: %d split, %d swapped of %d, want %d, %d of %d", m.Name, k,
					got.Split, got.Swapped, got.Nodes, len(want.Split), len(want.Swapped), len(want.Nodes))
			}
			compared++
		}
	}
	if compared != 10 {
		t.Errorf("%d runs compared, want the ten that are stored", compared)
	}
}

func TestSplitRun(t *testing.T) {
	m := experiment.MultiParents()[0] // node i has the parents i-2 and i-1, from the third on
	o := &experiment.Outcome{Spec: m.Spec(7), Curve: []experiment.OutcomePoint{{Step: 0, Loss: 1}, {Step: 10, Loss: 0.2}, {Step: 20, Loss: 0.09}, {Step: 30, Loss: 0}}}
	for i, parents := range m.Graph.Parents()[:31] {
		for l, j := range parents {
			o.Edges = append(o.Edges, experiment.OwnEdge{Parent: j, Child: i, Attention: 0.9, Head: l, Given: true})
		}
	}
	edge := func(parent, child int) *experiment.OwnEdge {
		is := func(e experiment.OwnEdge) bool { return e.Parent == parent && e.Child == child }
		return &o.Edges[slices.IndexFunc(o.Edges, is)]
	}
	edge(8, 10).Head, edge(9, 10).Head = 1, 0 // swapped
	edge(11, 12).Attention = 0.5              // neither
	got := newSplitRun(m, o)
	if got.Nodes != 29 || got.Split != 27 || got.Swapped != 1 || !got.HasSplit() || got.Seed != 7 || got.Fallen() != 20 {
		t.Errorf("%+v, fallen at %d", got, got.Fallen())
	}
	edge(12, 13).Attention = 0.3
	if got := newSplitRun(m, o); got.Split != 26 || got.HasSplit() {
		t.Errorf("%d of 29 nodes are split, and so is the run: %v", got.Split, got.HasSplit())
	}
	all := mustLoad(t, severalParents)
	all[0].Spec.Batch /= 2
	if _, err := newSplits(all); err == nil || !strings.Contains(err.Error(), "no setting") {
		t.Errorf("half the batch: error %v", err)
	}
}

func TestJointOf(t *testing.T) {
	all := mustLoad(t, jointTraining)
	js, err := newJoint(all)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, j := range js {
		n += len(j.Seeds)
		for _, r := range j.Seeds {
			// No predictor is better than Bayes, nor Bayes than who knows the matrix; both
			// are compared on samples.
			if r.Excess.Mean < -4*r.Excess.StdErr || r.Above < r.Excess.Mean {
				t.Errorf("%s, T = %d, %s: %+v", j.Family, j.Graph.T(), j.Prior, r)
			}
		}
		if l := j.Learned(); l < 0 || l > 1 || j.Uniform() <= 0 {
			t.Errorf("%s: %v of the edges are learned, uniform attention is %v", j.Family, l, j.Uniform())
		}
	}
	if n != len(all) {
		t.Errorf("%d runs, want %d", n, len(all))
	}
	first := js[0]
	entropy, _, err := experiment.KnownLosses(all[0].Spec, mustTestSet(t, all[0].Spec))
	if err != nil {
		t.Fatal(err)
	}
	end := float64(all[0].End().Loss)
	if want := end - num.Average(entropy).Mean; math.Abs(first.Seeds[0].Above-want) > 1e-12 {
		t.Errorf("%v above the least loss, want %v", first.Seeds[0].Above, want)
	}
	if first.Graph.T() != 10 || first.Family != "chain" || math.Abs(first.Uniform()-(1./2+1./3+1./4+1./5+1./6+1./7+1./8+1./9)/8) > 1e-12 {
		t.Errorf("the first is %s, T = %d, uniform %v", first.Family, first.Graph.T(), first.Uniform())
	}
	all[0].Bayes = nil
	if _, err := newJoint(all); err == nil || !strings.Contains(err.Error(), "Bayes") {
		t.Errorf("without Bayes: error %v", err)
	}
}

func mustTestSet(t *testing.T, spec train.Spec) *task.Batch {
	t.Helper()
	b, err := spec.TestSet()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Algorithm 1 predicts a distribution, finds the parents even in the star, where joint
// training does not, and is no better than Bayes.
func TestAlgorithmOneOnTheStar(t *testing.T) {
	js, err := newJoint(mustLoad(t, jointTraining))
	if err != nil {
		t.Fatal(err)
	}
	j := js[slices.IndexFunc(js, func(j *Joint) bool { return j.Family == "star" && j.Graph.T() == 10 && j.S == 3 })]
	one, err := j.algorithmOne()
	if err != nil {
		t.Fatal(err)
	}
	if one.Attention < 0.9 || j.Attention() > j.Uniform() {
		t.Errorf("attention on the parents: Algorithm 1 %.2f, joint training %.2f, uniform %.2f", one.Attention, j.Attention(), j.Uniform())
	}
	if one.Excess <= 0 || math.Abs(one.Above-j.Seeds[0].Above-(one.Excess-j.Seeds[0].Excess.Mean)) > 1e-12 {
		t.Errorf("%+v beside %+v", one, j.Seeds)
	}
	// The least loss of a prediction with f + eps in it.
	eps := 1 / math.Sqrt(j.Graph.TEff())
	if most := math.Log((1 + 3*eps) / eps); one.Above > most {
		t.Errorf("loss %v, at most log((1 + S eps)/eps) = %v for a distribution", one.Above, most)
	}
}

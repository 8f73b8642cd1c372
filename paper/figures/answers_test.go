package figures

import (
	"cmp"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"learncausal/paper/trial"
	"learncausal/pkg/num"
	"learncausal/pkg/task"
	"learncausal/pkg/train"
)

func mustLoad(t *testing.T, name string) []*trial.Outcome {
	t.Helper()
	all, err := trial.Outcomes(name)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// A notebook begins some runs again, and so does each test of the notebooks.
func TestANotebookBeginsRunsAgain(t *testing.T) {
	text, err := os.ReadFile("../../notebooks/15-beyond-the-paper.ipynb")
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{
		"figures.ReplaySweeps(nb.Context())", "A run of each of six sweeps was begun again and gave the stored evaluations.",
	} {
		if !strings.Contains(string(text), part) {
			t.Errorf("notebook 15 has no %q", part)
		}
	}
}

func TestARunThatBeginsOtherwiseIsFound(t *testing.T) {
	all := mustLoad(t, jointTraining)
	o := all[slices.IndexFunc(all, func(o *trial.Outcome) bool { return o.Spec.T() == 10 })]
	if err := begins(o); err != nil {
		t.Fatal(err)
	}
	o.Curve[1].Loss += 1e-15
	if err := begins(o); err == nil || !strings.Contains(err.Error(), "stored is") {
		t.Errorf("another loss: error %v", err)
	}
	o = all[1]
	o.One.Attention += 1e-15
	if err := begins(o); err == nil || !strings.Contains(err.Error(), "Algorithm 1") {
		t.Errorf("another Algorithm 1: error %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := ReplaySweeps(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("stopped: error %v", err)
	}
}

// The counts from the edges of a result equal the counts from the weights of the run.
func TestSplitsAreThoseOfTheRuns(t *testing.T) {
	all, err := LoadSplits()
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, m := range all {
		for k := range min(m.Seeds, len(m.Runs)) {
			r, err := stored(t.Context(), m.Spec(k))
			if err != nil {
				t.Fatal(err)
			}
			want := NewMultiRun(m.Graph, r)
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
	m := MultiParents()[0] // node i has the parents i-2 and i-1, from the third on
	o := &trial.Outcome{Spec: m.Spec(7), Curve: []trial.OutcomePoint{{Step: 0, Loss: 1}, {Step: 10, Loss: 0.2}, {Step: 20, Loss: 0.09}, {Step: 30, Loss: 0}}}
	for i, parents := range m.Graph.Parents()[:31] {
		for l, j := range parents {
			o.Edges = append(o.Edges, trial.Edge{Parent: j, Child: i, Attention: 0.9, Head: l, Given: true})
		}
	}
	edge := func(parent, child int) *trial.Edge {
		is := func(e trial.Edge) bool { return e.Parent == parent && e.Child == child }
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
	entropy, _, err := trial.KnownLosses(all[0].Spec, mustTestSet(t, all[0].Spec))
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
	one := j.One
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

// More tokens give a smaller loss, and every run ends near the counts after all of them.
func TestStagesOfTheStoredRuns(t *testing.T) {
	all, err := LoadStages()
	if err != nil || len(all) != 2 {
		t.Fatalf("%d tasks, %v", len(all), err)
	}
	for _, n := range all {
		falls := slices.IsSortedFunc(n.Levels, func(a, b float64) int { return cmp.Compare(b, a) })
		if len(n.Runs) != 10 || len(n.Levels) != n.Parents+2 || !falls {
			t.Errorf("%d parents: %d runs, levels %v, want ten runs and falling levels", n.Parents, len(n.Runs), n.Levels)
		}
		best := n.Levels[len(n.Levels)-1]
		for _, r := range n.Runs {
			if end := r.Loss[len(r.Loss)-1]; end < best-0.02 || end > best+0.04 {
				t.Errorf("%d parents: a run ends at %v, the best predictor at %v", n.Parents, end, best)
			}
		}
	}
}

// Pairs that are equal count neither for nor against, and the order of the graphs does
// not matter. By hand: of the ten pairs six differ in both, five of them alike and one
// not; eight differ in x and eight in y.
func TestKendallWithTies(t *testing.T) {
	type point struct{ x, y float64 }
	points := []point{{1, 1}, {1, 2}, {2, 2}, {2, 1}, {3, 3}}
	graphs := make([]*Joint, len(points))
	at := map[*Joint]point{}
	for i, p := range points {
		graphs[i] = &Joint{S: i}
		at[graphs[i]] = p
	}
	x := func(j *Joint) float64 { return at[j].x }
	y := func(j *Joint) float64 { return at[j].y }
	fallen := func(j *Joint) float64 { return -at[j].x }
	rng := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		rng.Shuffle(len(graphs), func(i, k int) { graphs[i], graphs[k] = graphs[k], graphs[i] })
		for _, c := range []struct {
			name string
			y    func(*Joint) float64
			want float64
		}{{"itself", x, 1}, {"its negative", fallen, -1}, {"y", y, 0.5}} {
			if got := kendall(graphs, x, c.y); math.Abs(got-c.want) > 1e-15 {
				t.Errorf("x against %s: %v, want %v", c.name, got, c.want)
			}
		}
	}
	// Without ties it is what Kendall (1938) has: of the three pairs two agree.
	three := slices.DeleteFunc(graphs, func(j *Joint) bool { return j.S != 0 && j.S != 1 && j.S != 4 })
	at[three[0]], at[three[1]], at[three[2]] = point{1, 1}, point{2, 3}, point{3, 2}
	if got := kendall(three, x, y); math.Abs(got-1./3) > 1e-15 {
		t.Errorf("of three graphs %v, want 1/3", got)
	}
}

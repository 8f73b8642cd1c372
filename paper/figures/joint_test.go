package figures

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"learncausal/paper/trial"
	"learncausal/pkg/num"
	"learncausal/pkg/task"
	"learncausal/pkg/train"
)

func TestJointComparesWithBayesAndTheMatrix(t *testing.T) {
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
	uniform := (1./2 + 1./3 + 1./4 + 1./5 + 1./6 + 1./7 + 1./8 + 1./9) / 8
	if first.Graph.T() != 10 || first.Family != "chain" || math.Abs(first.Uniform()-uniform) > 1e-12 {
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
		t.Errorf("attention on the parents: Algorithm 1 %.2f, joint training %.2f, uniform %.2f",
			one.Attention, j.Attention(), j.Uniform())
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

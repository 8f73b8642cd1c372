package trial

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"learncausal/pkg/graph"
	"learncausal/pkg/markov"
	"learncausal/pkg/task"
)

// Work is the time that small steps of gradient flow take under a force of 1.
func TestWorkIsTheTimeOfARow(t *testing.T) {
	const step = 1e-4
	for _, n := range []int{2, 3, 7, 20} {
		others, lead, time := float64(n-1), 0.0, 0.0
		for share := 1 / float64(n); share < 0.5; time += step {
			lead += step * share * (1 - share) * (1 + 1/others)
			share = math.Exp(lead) / (math.Exp(lead) + others)
		}
		if got := Work(n); math.Abs(got-time) > 1e-2 {
			t.Errorf("work on %d entries %g, the flow of a row takes %g", n, got, time)
		}
	}
}

// The force at a child whose parent has k learned children falls to S alpha/(k + S alpha) of the force without them.
func TestSiblingsExplainAway(t *testing.T) {
	for _, alpha := range []float64{0.1, 1} {
		prior, err := markov.NewDirichlet(3, alpha)
		if err != nil {
			t.Fatal(err)
		}
		// Roots between the siblings and the child make its other keys nearly independent of it.
		parents := slices.Repeat([]int{graph.Root}, 14)
		parents[1], parents[2], parents[12] = 0, 0, 0
		g := graph.MustNew(parents...)
		tk := task.Task{Graph: g, Prior: prior, UniformRoots: true}
		b := tk.NewBatch(1 << 17)
		tk.NewSampler().Fill(b, rand.NewPCG(1, 1))
		learned, alone := slices.Repeat([]int{graph.Root}, 14), 0.0
		for k := range 3 {
			if k > 0 {
				learned[k] = 0
			}
			got := residualForce(b, parents, graph.MustNew(learned...), alpha, 0)[12]
			if k == 0 {
				alone = got
			}
			if want := alone * 3 * alpha / (float64(k) + 3*alpha); math.Abs(got/want-1) > 0.05 {
				t.Errorf("alpha %g: %d siblings leave a force of %.4f, want %.4f", alpha, k, got, want)
			}
		}
	}
}

func TestLearningOrder(t *testing.T) {
	prior, err := markov.NewDirichlet(3, 0.1)
	if err != nil {
		t.Fatal(err)
	}
	g := graph.MustNew(graph.Root, 0, graph.Root, 2, graph.Root, 0, graph.Root)
	times, err := LearningOrder(task.Task{Graph: g, Prior: prior}, 3, 1<<12, rand.NewPCG(1, 1))
	if err != nil {
		t.Fatal(err)
	}
	if !(times[0] == 0 && times[1] == 0 && 0 < times[3] && times[3] < times[5]) {
		t.Errorf("times %v, want a row of two entries at once, then position 3, and the sibling last", times)
	}
	finite, err := markov.NewOrbit(2, []float64{0.9, 0.1, 0.3, 0.7})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := LearningOrder(task.Task{Graph: g, Prior: finite}, 3, 16, rand.NewPCG(1, 1)); err == nil {
		t.Error("a finite prior is no error")
	}
}

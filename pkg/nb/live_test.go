package nb

import (
	"context"
	"slices"
	"strings"
	"testing"

	"learncausal/internal/property"
	"learncausal/pkg/graph"
	"learncausal/pkg/train"
)

type said struct{ done string }

func (s *said) Update(int, int, string) {}

func (s *said) Done(status string) { s.done = status }

func liveSpec() train.Spec {
	return train.Spec{
		Task:      train.Task1{Parents: graph.InContext(6).Parents(), States: 3, Prior: "dirichlet(0.3)"},
		Model:     train.Disentangled{Heads: [2]int{1, 1}},
		Optimiser: train.SGD{Rate: 1, Schedule: train.Constant},
		Batch:     16, Steps: 40, Test: 64, Every: 16,
	}
}

func steps(shots []train.Snapshot) (at []int) {
	for _, s := range shots {
		at = append(at, s.Step)
	}
	return at
}

func TestLiveShowsReachedStates(t *testing.T) {
	var looks [][]int
	m := new(said)
	draw := func(s []train.Snapshot) { looks = append(looks, steps(s)) }
	shots, err := live(t.Context(), liveSpec(), m, draw, 0, 16, 40)
	if err != nil || !slices.Equal(steps(shots), []int{0, 16, 40}) {
		t.Fatalf("states at %v, error %v", steps(shots), err)
	}
	if len(looks) < 2 || !slices.Equal(looks[0], []int{0, 0, 0}) || !slices.Equal(looks[len(looks)-1][:2], []int{0, 16}) {
		t.Errorf("seen on the way: %v", looks)
	}
	if !strings.HasPrefix(m.done, "40 steps: test loss ") || strings.Contains(m.done, " at step") {
		t.Errorf("said %q", m.done)
	}
}

func TestLiveReturnsStatesAfterAnInterrupt(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	m := new(said)
	look := func(s []train.Snapshot) {
		if s[2].Step == 20 {
			cancel()
		}
	}
	shots, err := live(ctx, liveSpec(), m, look, 0, 10, 20, 40)
	if err != nil || !slices.Equal(steps(shots), []int{0, 10, 20, 21}) {
		t.Fatalf("states at %v, error %v", steps(shots), err)
	}
	if !strings.HasPrefix(m.done, "stopped at step 21 of 40: test loss ") || !strings.Contains(m.done, " at step 16") {
		t.Errorf("said %q", m.done)
	}
}

func TestLiveRefusesStatesThatTheRunDoesNotReach(t *testing.T) {
	for _, at := range [][]int{nil, {-1}, {16, 0}, {0, 41}} {
		_, err := live(t.Context(), liveSpec(), new(said), nil, at...)
		property.Mentions(t, err, "40")
	}
}

func TestLiveEndsWhereTheRunDiverges(t *testing.T) {
	spec, m := liveSpec(), new(said)
	spec.Optimiser = train.SGD{Rate: 1e300, Schedule: train.Constant}
	shots, err := live(t.Context(), spec, m, func([]train.Snapshot) {}, 0, 40)
	if err == nil || !strings.Contains(err.Error(), "diverged") || len(shots) != 2 || shots[1].Step%40 == 0 {
		t.Fatalf("states at %v, error %v", steps(shots), err)
	}
	if !strings.HasPrefix(m.done, "diverged at step ") {
		t.Errorf("said %q", m.done)
	}
}

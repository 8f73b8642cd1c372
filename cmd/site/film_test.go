package main

import (
	"math"
	"slices"
	"testing"

	"learncausal/pkg/model"
)

func TestFilmShowsTheEffectOfEachHead(t *testing.T) {
	f, err := shoot(filmParents, filmX, []int{0, 512, 2048})
	if err != nil {
		t.Fatal(err)
	}
	for a := range ablations {
		if uniform := f.Losses[a][0]; math.Abs(uniform-math.Log(3)) > 1e-3 {
			t.Errorf("ablation %d: the loss at step 0 is %v, want log 3", a, uniform)
		}
		for k, shot := range f.Frames[a] {
			for _, row := range append(shot.First, shot.Second, shot.F) {
				sum := 0.0
				for _, v := range row {
					sum += v
				}
				if math.Abs(sum-1) > 5e-3 {
					t.Errorf("ablation %d, step %d: %v has the sum %v", a, f.Steps[k], row, sum)
				}
			}
		}
	}
	end := f.Frames[0][2]
	for i, p := range filmParents {
		if p >= 0 && end.First[i][p] < 0.8 {
			t.Errorf("position %d attends to its parent with %v", i, end.First[i][p])
		}
	}
	if both := f.Losses[0][2]; both > 0.85 || f.Losses[1][2] < 1 || f.Losses[2][2] < 1 {
		t.Errorf("losses %v: want under 0.85 with both heads, and above 1 without one of them", f.Losses)
	}
	if children := end.Second[1] + end.Second[2]; children < 0.7 || end.F[1] < 0.85 {
		t.Errorf("the query attends to the children of its letter with %v and predicts %v", children, end.F)
	}
}

func TestFramesOfAnotherSequenceAreItsForwardPasses(t *testing.T) {
	f := &film{Parents: filmParents, States: 3, Steps: []int{7}}
	w := model.NewWeights(3, 6, 1, 1)
	for n, a := range model.Trained(w) {
		for i := range a {
			a[i] = math.Sin(float64(5*n + i))
		}
		f.Weights = append(f.Weights, nil)
		f.Weights[0] = append(f.Weights[0], a...)
	}
	x := []int{2, 0, 1, 2, 1, 1}
	all, err := f.frames(x)
	if err != nil {
		t.Fatal(err)
	}
	want, _ := w.Forward(x, nil, nil)
	if !slices.Equal(all[0][0].F, rounded(want)) {
		t.Errorf("predicts %v, want %v", all[0][0].F, want)
	}
	for a := range ablations[1:] {
		if slices.Equal(all[a+1][0].F, all[0][0].F) {
			t.Errorf("ablation %d does not change the prediction", a+1)
		}
	}
	for _, wrong := range [][]int{nil, {1}, {0, 1, 2, 3, 0, 0}, {0, 0, 0, 0, 0, 0, 0}} {
		if _, err := f.frames(wrong); err == nil {
			t.Errorf("no error for the sequence %v", wrong)
		}
	}
}

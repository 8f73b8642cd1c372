package runs_test

import (
	"context"
	"fmt"
	"os"

	"learncausal/internal/runs"
	"learncausal/pkg/train"
)

// Asking for a run trains it, and asking again loads it.
func ExampleStore_Get() {
	spec := train.Spec{
		Task:      train.Task1{Parents: []int{-1, 0, 1, 2, -1}, States: 2, Prior: "dirichlet(0.1)"},
		Model:     train.Disentangled{Heads: [2]int{1, 1}},
		Optimiser: train.SGD{Rate: 1, Schedule: train.Constant},
		Batch:     64, Steps: 32, Test: 256, Every: 16,
	}
	dir, err := os.MkdirTemp("", "runs")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	for range 2 {
		run, err := runs.Open(dir).Get(context.Background(), spec, runs.Options{})
		if err != nil {
			fmt.Println(err)
			return
		}
		last := run.Curve[len(run.Curve)-1]
		fmt.Printf("%s: %s, loss %.3f after %d steps\n", run.Origin, run.Address, last.Loss, last.Step)
	}
	// Output:
	// trained: fb57a0f57d5c6bf8, loss 0.542 after 32 steps
	// loaded: fb57a0f57d5c6bf8, loss 0.542 after 32 steps
}

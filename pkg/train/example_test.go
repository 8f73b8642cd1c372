package train_test

import (
	"fmt"

	"learncausal/pkg/train"
)

// A short run on a chain: the loss falls, and the first layer comes to attend to
// the parents.
func Example() {
	spec := train.Spec{
		Task:      train.Task1{Parents: []int{-1, 0, 1, 2, 3, 4, 5, -1}, States: 3, Prior: "dirichlet(0.1)"},
		Model:     train.Disentangled{Heads: [2]int{1, 1}},
		Optimiser: train.SGD{Rate: 1, Schedule: train.Constant},
		Batch:     128, Steps: 1024, Test: 1024, Every: 256,
	}
	t, err := train.New(spec, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := t.Advance(spec.Steps); err != nil {
		fmt.Println(err)
		return
	}
	for _, p := range t.Snapshot().Curve {
		fmt.Printf("step %4d  loss %.3f  attention on the parents %.3f\n", p.Step, p.Loss, p.Attention)
	}
	// Output:
	// step    0  loss 1.099  attention on the parents 0.265
	// step  256  loss 0.883  attention on the parents 0.292
	// step  512  loss 0.805  attention on the parents 0.475
	// step  768  loss 0.768  attention on the parents 0.590
	// step 1024  loss 0.762  attention on the parents 0.631
}

// A spec that cannot be trained says why.
func ExampleSpec_Validate() {
	spec := train.Spec{
		Task:      train.Task1{Parents: []int{-1, 0, 4, 1, -1}, States: 2, Prior: "dirichlet(0.1)"},
		Model:     train.Disentangled{Heads: [2]int{1, 1}},
		Optimiser: train.SGD{Rate: 1, Schedule: train.Constant},
		Batch:     256, Steps: 512, Test: 1024, Every: 128,
	}
	fmt.Println(spec.Validate())
	// Output:
	// spec: parents: graph: edge 4 -> 2: a parent must come before its child
}

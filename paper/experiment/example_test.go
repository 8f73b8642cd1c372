package experiment_test

import (
	"fmt"

	"learncausal/paper/experiment"
)

// The setting of Figure 2, by its name.
func ExampleSingleParentNamed() {
	s, err := experiment.SingleParentNamed("icl")
	if err != nil {
		fmt.Println(err)
		return
	}
	spec := s.Spec()
	fmt.Println(s.Title, s.Graph.T(), spec.S(), spec.Steps)
	_, err = experiment.SingleParentNamed("star")
	fmt.Println(err)
	// Output:
	// In-context learning 20 10 131072
	// experiment: no setting of Figure 6 has the name "star", want one of: chain, icl, random
}

func ExampleAll() {
	for _, e := range experiment.All() {
		fmt.Printf("%-20s %3d runs\n", e.Name, len(e.Specs))
	}
	// Output:
	// single-parent          3 runs
	// many-graphs           20 runs
	// multi-parent           8 runs
	// multi-parent-printed   2 runs
	// mlp                   27 runs
}

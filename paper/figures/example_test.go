package figures_test

import (
	"context"
	"fmt"

	"learncausal/paper/figures"
	"learncausal/paper/trial"
)

// The setting of Figure 2, by its name.
func ExampleSingleParentNamed() {
	s, err := figures.SingleParentNamed("icl")
	if err != nil {
		fmt.Println(err)
		return
	}
	spec := s.Spec()
	fmt.Println(s.Title, s.Graph.T(), spec.S(), spec.Steps)
	_, err = figures.SingleParentNamed("star")
	fmt.Println(err)
	// Output:
	// In-context learning 20 10 131072
	// figures: no setting of Figure 6 has the name "star", want one of: chain, icl, random
}

func ExampleAll() {
	for _, e := range figures.All() {
		fmt.Printf("%-20s %3d runs\n", e.Name, len(e.Specs))
	}
	// Output:
	// single-parent          3 runs
	// many-graphs           20 runs
	// multi-parent           8 runs
	// multi-parent-printed   2 runs
	// mlp                   27 runs
	// sub-n-grams            8 runs
	// certified              3 runs
}

// One registered figure, drawn by its id from the stored runs.
func ExampleResults_Figure() {
	results := figures.New(trial.Stored(nil))
	f, err := results.Figure(context.Background(), "fig-many-graphs")
	if err != nil {
		fmt.Println(err)
		return
	}
	png, err := f.PNG()
	fmt.Println(f.ID, len(png) > 0, err)

	_, err = results.Figure(context.Background(), "fig-mpl")
	fmt.Println(err)
	// Output:
	// fig-many-graphs true <nil>
	// figures: no figure has the id "fig-mpl"; near it: fig-mlp, fig-gij, fig-ood (paper list shows all)
}

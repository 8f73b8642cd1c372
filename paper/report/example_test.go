package report_test

import (
	"context"
	"fmt"

	"learncausal/paper/experiment"
	"learncausal/paper/report"
)

// One registered figure, drawn by its id from the stored runs.
func ExampleResults_Figure() {
	results := report.New(experiment.Stored(nil))
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
	// report: no figure has the id "fig-mpl"; near it: fig-mlp, fig-gij, fig-ood (paper list shows all)
}

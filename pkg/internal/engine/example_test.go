package engine_test

import (
	"fmt"

	"learncausal/pkg/graph"
	"learncausal/pkg/internal/engine"
	"learncausal/pkg/model"
)

// The definition and the engine give the same loss, and the gradient of the
// engine takes a step down.
func ExampleNew() {
	w := model.ConstructionOne(graph.Chain(5), 2).Weights(1, 2)
	x, y := []int{1, 0, 0, 1, 0}, []float64{0.25, 0.75}
	_, loss := w.Forward(x, y, nil)
	fmt.Printf("definition %.6f\n", loss)

	e := engine.New(w)
	p, g := e.NewPass(), e.NewGradient()
	fmt.Printf("engine     %.6f\n", p.Loss(x, y, g))

	g.AddTo(w, -0.1)
	e.Load(w)
	fmt.Printf("a step on  %.6f\n", p.Loss(x, y, nil))
	// Output:
	// definition 0.798404
	// engine     0.798404
	// a step on  0.693091
}

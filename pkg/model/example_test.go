package model_test

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"learncausal/pkg/graph"
	"learncausal/pkg/model"
)

// Construction 1 of a chain: the first layer attends to the parent, the query,
// which has none, to all positions alike, and the second layer to the positions
// whose parent has the token of the query.
func ExampleConstructionOne() {
	c := model.ConstructionOne(graph.Chain(5), 2)
	w := c.Weights(5, 20)
	fmt.Printf("%.2f\n", mat.Formatted(w.PositionAttention()))

	x := []int{1, 0, 0, 1, 0} // of positions 0, ..., 3, two follow a 0: a 0 and a 1
	limit := make([]float64, 2)
	c.Limit(limit, x)
	fmt.Printf("counted at %d: output %.3f, in the limit of large weights %.3f\n",
		c.Matches(x), w.Linear(x).RawRowView(4), limit)
	// Output:
	// ⎡1.00  0.00  0.00  0.00  0.00⎤
	// ⎢0.99  0.01  0.00  0.00  0.00⎥
	// ⎢0.01  0.99  0.01  0.00  0.00⎥
	// ⎢0.01  0.01  0.98  0.01  0.00⎥
	// ⎣0.20  0.20  0.20  0.20  0.20⎦
	// counted at [2 3]: output [0.533 0.467], in the limit of large weights [0.500 0.500]
}

// Three layers learn to copy the first token: gradient descent with the gradient of
// the dense model, which may have any number of layers.
func ExampleWeights_Forward() {
	w := model.NewWeights(2, 3, 1, 1, 1)
	for step := range 61 {
		loss, grad := 0.0, w.Zero().(*model.Weights)
		for k := range 8 {
			x, y := []int{k & 1, k >> 1 & 1, k >> 2}, make([]float64, 2)
			y[x[0]] = 1
			_, l := w.Forward(x, y, grad)
			loss += l / 8
		}
		for k, a := range model.Trained(w) {
			for i, g := range model.Trained(grad)[k] {
				a[i] -= 0.5 * g / 8
			}
		}
		if step%20 == 0 {
			fmt.Printf("step %d: loss %.2f\n", step, loss)
		}
	}
	x := []int{1, 0, 0}
	f, _ := w.Forward(x, nil, nil)
	fmt.Printf("after %d: %.2f\n", x, f)
	// Output:
	// step 0: loss 0.69
	// step 20: loss 0.02
	// step 40: loss 0.01
	// step 60: loss 0.01
	// after [1 0 0]: [0.01 0.99]
}

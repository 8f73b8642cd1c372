package num_test

import (
	"fmt"

	"learncausal/pkg/num"
)

func ExampleSoftmax() {
	p := make([]float64, 3)
	num.Softmax(p, []float64{0, num.Log(2), num.Log(5)})
	fmt.Printf("%.3f\n", p)
	// Output:
	// [0.125 0.250 0.625]
}

// A stream is addressed by its seed, its purpose and any indices: the third
// batch is the same, whoever draws the first two.
func ExampleStream() {
	for batch := range uint64(3) {
		src := num.Stream(1, "batch", batch)
		fmt.Printf("%.4f %.4f\n", num.Uniform(src), num.Normal(src))
	}
	third := num.Stream(1, "batch", 2)
	fmt.Printf("%.4f\n", num.Uniform(third))
	// Output:
	// 0.0133 1.2585
	// 0.0811 -0.8655
	// 0.6812 0.1925
	// 0.6812
}

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
	fmt.Println(num.Stream(1, "batch", 3).Uint64() == num.Stream(1, "batch", 3).Uint64())
	fmt.Println(num.Stream(1, "batch", 3).Uint64() == num.Stream(1, "batch", 2).Uint64())
	// Output:
	// true
	// false
}

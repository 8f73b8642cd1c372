package lanes

import (
	"fmt"
	"math"

	"learncausal/pkg/num"
)

// Softmax replaces x by its softmax, e_i / sum with e_i = num.Exp(x_i - top), where top
// is the largest entry and the sum is that of the e_i in lanes. The length is to be a
// multiple of eight; what is not to count is -Inf.
func Softmax(x []float64) (top, sum float64) {
	if len(x) == 0 || len(x)%8 != 0 {
		panic(fmt.Sprintf("lanes: softmax of %d entries, want a multiple of 8", len(x)))
	}
	return softmax(x)
}

func softmaxGo(x []float64) (top, sum float64) {
	top = math.Inf(-1)
	for _, v := range x {
		if v > top {
			top = v
		}
	}
	var s [8]float64
	for i, v := range x {
		e := num.Exp(v - top)
		x[i] = e
		s[i&7] += e
	}
	sum = ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]))
	for i := range x {
		x[i] /= sum
	}
	return top, sum
}

package num

import (
	"fmt"
	"math"
)

// Softmax writes the softmax of x to dst,
//
//	dst_i = exp(x_i) / sum_j exp(x_j)
//
// which is positive, up to underflow, and sums to one. An entry -Inf of x has probability 0 if another entry is
// finite. The maximum is subtracted first, so that no exponential overflows. dst and x may be the same slice;
// entries of dst beyond the length of x keep their values. It panics if dst is shorter than x.
//
// All of dst is NaN if an entry of x is NaN or +Inf, or all are -Inf.
func Softmax(dst, x []float64) {
	if len(dst) < len(x) {
		panic(fmt.Sprintf("num: softmax of %d numbers into %d", len(x), len(dst)))
	}
	top := math.Inf(-1)
	for _, v := range x {
		if v > top { // faster than max; the sum handles NaN
			top = v
		}
	}
	dst = dst[:len(x)]
	sum := 0.0
	for i, v := range x {
		dst[i] = Exp(v - top)
		sum += dst[i]
	}
	for i := range dst {
		dst[i] /= sum
	}
}

// LogSumExp returns log sum_i exp(x_i) and writes to dst, of the length of x, the softmax
// of x. It multiplies by 1/sum where Softmax divides, so that the two round differently;
// stored training runs contain its bytes. dst and x may be the same slice.
func LogSumExp(dst, x []float64) float64 {
	if len(dst) != len(x) {
		panic(fmt.Sprintf("num: softmax of %d numbers into %d", len(x), len(dst)))
	}
	top := math.Inf(-1)
	for _, v := range x {
		top = max(top, v)
	}
	sum := 0.0
	for i, v := range x {
		dst[i] = Exp(v - top)
		sum += dst[i]
	}
	inverse := 1 / sum
	for i := range dst {
		dst[i] = float64(dst[i] * inverse)
	}
	return top + Log(sum)
}

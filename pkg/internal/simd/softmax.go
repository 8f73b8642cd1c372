package simd

import (
	"fmt"
	"math"

	"learncausal/pkg/num"
)

// Softmax replaces each row of x by its softmax, e_i (1 / sum) with e_i = num.Exp(x_i - top).
// It writes top, the largest entry of a row, to tops and the sum of the e_i, in lanes, to sums.
// A row must have a finite entry and room for a multiple of eight; the entries behind it up to
// that length become 0. It panics if the sizes do not fit.
//
// x: rows x n; tops, sums: rows
func Softmax(x Matrix, tops, sums []float64) {
	wide := x
	wide.Cols = (x.Cols + 7) &^ 7
	if x.Rows < 1 || x.Cols < 1 || x.Right != 1 || x.Rows > 1 && x.Down < wide.Cols || len(tops) != x.Rows ||
		len(sums) != x.Rows {
		panic(fmt.Sprintf("simd: softmax of %dx%d numbers, %d and %d apart, with %d maxima and %d sums",
			x.Rows, x.Cols, x.Down, x.Right, len(tops), len(sums)))
	}
	wide.check()
	if assembly && level > none {
		softmaxVectors(&x.Data[0], &tops[0], &sums[0], x.Cols, x.Rows, x.Down)
		return
	}
	for k := range x.Rows {
		row := x.Data[k*x.Down:][:x.Cols]
		top := math.Inf(-1)
		for _, v := range row {
			if v > top {
				top = v
			}
		}
		var s [8]float64
		for i, v := range row {
			e := num.Exp(v - top)
			row[i] = e
			s[i&7] += e
		}
		sum := ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]))
		share := 1 / sum
		for i, e := range row {
			row[i] = float64(e * share)
		}
		clear(x.Data[k*x.Down+x.Cols:][:-x.Cols&7])
		tops[k], sums[k] = top, sum
	}
}

// Exp replaces each entry of x by num.Exp of it. It panics unless the length is a positive multiple of eight.
// No entry may exceed 1/4: the vectors reduce the argument as for a softmax and may differ there.
func Exp(x []float64) {
	multiple(len(x))
	if assembly && level > none {
		expsVectors(&x[0], len(x))
		return
	}
	for i, v := range x {
		x[i] = num.Exp(v)
	}
}

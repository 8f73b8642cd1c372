package lanes

import (
	"fmt"
	"math"

	"learncausal/pkg/num"
)

// Softmax replaces each row of x by its softmax, e_i (1 / sum) with e_i = num.Exp(x_i - top),
// where top is the largest entry and the sum is that of the e_i in lanes, and has these two of
// each row in tops and sums. One entry of a row is to be finite. Rows are to have room for a
// multiple of eight; what is behind them up to there becomes 0.
func Softmax(x Matrix, tops, sums []float64) {
	wide := x
	wide.Cols = (x.Cols + 7) &^ 7
	if x.Rows < 1 || x.Cols < 1 || x.Right != 1 || x.Rows > 1 && x.Down < wide.Cols || len(tops) != x.Rows ||
		len(sums) != x.Rows {
		panic(fmt.Sprintf("lanes: softmax of %dx%d numbers, %d and %d apart, with %d maxima and %d sums",
			x.Rows, x.Cols, x.Down, x.Right, len(tops), len(sums)))
	}
	wide.check()
	softmax(x, tops, sums)
}

// Exp replaces each entry of x, of a multiple of eight numbers, by num.Exp of it. It panics at
// another length. No entry is to be above 1/4: there the vectors, which reduce the argument as
// for a softmax, may differ.
func Exp(x []float64) {
	multiple(len(x))
	exps(x)
}

func expsGo(x []float64) {
	for i, v := range x {
		x[i] = num.Exp(v)
	}
}

func softmaxGo(x Matrix, tops, sums []float64) {
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

package lanes

import "fmt"

// Spread sets each row of h to the combination by a row v of two-hot rows, one for each
// entry of v: entry a of h is the sum of the v_j with x_j = a, from zero and over j in this
// order, and behind these sums, of which there are as many as h has columns more than v,
// stands v itself. In x each row has as many tokens, of which those beyond the columns of v
// do not count. It panics if the sizes do not fit; that tokens are in range is not checked.
func Spread(h, v Matrix, x []int) {
	if tokens := twoHot(h, v, x); !spread(h, v, x, tokens) {
		spreadGo(h, v, x)
	}
}

func spreadGo(h, v Matrix, x []int) {
	n := v.Cols
	tokens, down := h.Cols-n, len(x)/h.Rows
	for k := range h.Rows {
		row, v, x := h.Data[k*h.Down:][:h.Cols], v.Data[k*v.Down:][:n], x[k*down:][:n]
		sums := row[:tokens]
		clear(sums)
		for j, a := range v {
			sums[x[j]] += a
		}
		copy(row[tokens:], v)
	}
}

// Collect sets each row of y to the products of those two-hot rows with a row of h, the
// transpose of Spread: entry j of y is h_a + h_{tokens+j}, where a = x_j. It panics as
// Spread does.
func Collect(y, h Matrix, x []int) {
	if tokens := twoHot(h, y, x); !collect(y, h, x, tokens) {
		collectGo(y, h, x)
	}
}

func collectGo(y, h Matrix, x []int) {
	n := y.Cols
	tokens, down := h.Cols-n, len(x)/h.Rows
	for k := range h.Rows {
		h, y, x := h.Data[k*h.Down:][:h.Cols], y.Data[k*y.Down:][:n], x[k*down:][:n]
		table, v := h[:tokens], h[tokens:][:n]
		for j, a := range v {
			y[j] = table[x[j]] + a
		}
	}
}

// twoHot panics unless h has rows for tokens and for the columns of v, and x tokens for
// these. It returns the number of tokens.
func twoHot(h, v Matrix, x []int) int {
	if h.Rows != v.Rows || h.Rows < 1 || v.Cols < 1 || h.Cols <= v.Cols || h.Right != 1 || v.Right != 1 ||
		len(x)%h.Rows != 0 || len(x)/h.Rows < v.Cols {
		panic(fmt.Sprintf("lanes: %dx%d numbers, %dx%d of tokens and positions, columns %d and %d apart, %d tokens",
			v.Rows, v.Cols, h.Rows, h.Cols, v.Right, h.Right, len(x)))
	}
	h.check()
	v.check()
	return h.Cols - v.Cols
}

// AddRows adds row k of v to row at_k of to, one after the other. It panics if the sizes do not
// fit, or a row is not there.
func AddRows(to, v Matrix, at []int) {
	if v.Rows < 1 || v.Cols < 1 || len(at) != v.Rows || to.Cols != v.Cols || to.Right != 1 || v.Right != 1 {
		panic(fmt.Sprintf("lanes: %dx%d numbers added to rows of %d at %d places", v.Rows, v.Cols, to.Cols, len(at)))
	}
	to.check()
	v.check()
	for k, i := range at {
		if uint(i) >= uint(to.Rows) {
			panic(fmt.Sprintf("lanes: row %d added to row %d of %d", k, i, to.Rows))
		}
	}
	addRows(to, v, at)
}

func addRowsGo(to, v Matrix, at []int) {
	for k, i := range at {
		row, from := to.Data[i*to.Down:][:v.Cols], v.Data[k*v.Down:][:v.Cols]
		for j, x := range from {
			row[j] += x
		}
	}
}

// SumProducts sets each row of n numbers in y to sums of products, y_i = a_0i b_0i + a_1i b_1i +
// ..., from zero and in this order: rows of a and b have as many times n numbers as y is shorter
// than a. n is a multiple of eight. It panics if the lengths do not fit.
func SumProducts(y, a, b []float64, n int) {
	multiple(n)
	if len(y) == 0 || len(y)%n != 0 || len(a) == 0 || len(a)%len(y) != 0 || len(b) != len(a) {
		panic(fmt.Sprintf("lanes: products of %d and %d numbers summed up to %d in rows of %d",
			len(a), len(b), len(y), n))
	}
	sumProducts(y, a, b, n)
}

func sumProductsGo(y, a, b []float64, n int) {
	clear(y)
	for terms := len(a) / len(y); len(y) > 0; y = y[n:] {
		for range terms {
			a0, b0 := a[:n], b[:n]
			for i, v := range a0 {
				y[i] += float64(v * b0[i])
			}
			a, b = a[n:], b[n:]
		}
	}
}

// Drain adds v to sum and clears v. It panics unless they have one length.
func Drain(sum, v []float64) {
	sameLength(len(sum), len(v))
	if len(v) > 0 {
		drain(sum, v)
	}
}

func drainGo(sum, v []float64) {
	for i, x := range v {
		sum[i] += x
	}
	clear(v)
}

package simd

import "fmt"

// Spread sets each row of h to v h0, where row j of h0 is two-hot, with ones at the token x_j and at the
// position j. Entry a < S of h is the sum of the v_j with x_j = a, from zero in the order of j, and entry S+j
// is v_j. It panics if the sizes do not fit, and does not check that tokens are in range.
//
// h: rows x (S+T); v: rows x T; x: rows x (at least T), further tokens are ignored
func Spread(h, v Matrix, x []int) {
	tokens, n, down := twoHot(h, v, x), v.Cols, len(x)/h.Rows
	if assembly && level > none && tokens <= 8 { // whose sums stay in registers; with more, plain Go is faster
		spreadVectors(&h.Data[0], &v.Data[0], &x[0], tokens, n, h.Rows, h.Down, v.Down, down)
		return
	}
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

// Collect sets each row of y to h h0^T, the transpose of Spread: entry j of y is
// h_a + h_{S+j}, where a = x_j. It panics if the sizes do not fit.
//
// y: rows x T; h: rows x (S+T); x: rows x (at least T)
func Collect(y, h Matrix, x []int) {
	tokens, n, down := twoHot(h, y, x), y.Cols, len(x)/h.Rows
	if assembly && level > none && tokens <= 16 {
		collectVectors(&y.Data[0], &h.Data[0], &x[0], tokens, n, h.Rows, y.Down, h.Down, down)
		return
	}
	for k := range h.Rows {
		h, y, x := h.Data[k*h.Down:][:h.Cols], y.Data[k*y.Down:][:n], x[k*down:][:n]
		table, v := h[:tokens], h[tokens:][:n]
		for j, a := range v {
			y[j] = table[x[j]] + a
		}
	}
}

// twoHot panics unless the sizes fit, as in Spread. It returns S.
func twoHot(h, v Matrix, x []int) int {
	if h.Rows != v.Rows || h.Rows < 1 || v.Cols < 1 || h.Cols <= v.Cols || h.Right != 1 || v.Right != 1 ||
		len(x)%h.Rows != 0 || len(x)/h.Rows < v.Cols {
		panic(fmt.Sprintf("simd: %dx%d numbers, %dx%d of tokens and positions, columns %d and %d apart, %d tokens",
			v.Rows, v.Cols, h.Rows, h.Cols, v.Right, h.Right, len(x)))
	}
	h.check()
	v.check()
	return h.Cols - v.Cols
}

// AddRows adds row k of v to row at_k of to, in the order of k. It panics if the sizes do not
// fit, or at_k is no row of to.
//
// to: m x n; v: rows x n; at: rows
func AddRows(to, v Matrix, at []int) {
	if v.Rows < 1 || v.Cols < 1 || len(at) != v.Rows || to.Cols != v.Cols || to.Right != 1 || v.Right != 1 {
		panic(fmt.Sprintf("simd: %dx%d numbers added to rows of %d at %d places", v.Rows, v.Cols, to.Cols, len(at)))
	}
	to.check()
	v.check()
	for k, i := range at {
		if uint(i) >= uint(to.Rows) {
			panic(fmt.Sprintf("simd: row %d added to row %d of %d", k, i, to.Rows))
		}
	}
	if assembly && level > none {
		addRowsVectors(&to.Data[0], &v.Data[0], &at[0], v.Cols, v.Rows, to.Down, v.Down)
		return
	}
	for k, i := range at {
		row, from := to.Data[i*to.Down:][:v.Cols], v.Data[k*v.Down:][:v.Cols]
		for j, x := range from {
			row[j] += x
		}
	}
}

// SumProducts sets each row of y to y_i = a_0i b_0i + a_1i b_1i + ..., from zero in this order.
// It panics if the lengths do not fit.
//
// y: rows x n; a, b: rows x terms x n; n is a multiple of eight
func SumProducts(y, a, b []float64, n int) {
	multiple(n)
	if len(y) == 0 || len(y)%n != 0 || len(a) == 0 || len(a)%len(y) != 0 || len(b) != len(a) {
		panic(fmt.Sprintf("simd: products of %d and %d numbers summed up to %d in rows of %d",
			len(a), len(b), len(y), n))
	}
	if assembly && level > none {
		productsVectors(&y[0], &a[0], &b[0], n, len(a)/len(y), len(y)/n)
		return
	}
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
	if assembly && level > none && len(v) > 0 {
		drainVectors(&sum[0], &v[0], len(v))
		return
	}
	for i, x := range v {
		sum[i] += x
	}
	clear(v)
}

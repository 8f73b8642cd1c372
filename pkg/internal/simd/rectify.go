package simd

import (
	"fmt"
	"math"
)

// Rectify replaces x by max(0, x), the ReLU. It panics unless the length is a positive multiple of eight.
func Rectify(x []float64) {
	multiple(len(x))
	if assembly && level > none {
		rectifyVectors(&x[0], len(x))
		return
	}
	for i, v := range x {
		x[i] = max(0, v)
	}
}

// RectifyGrad is the backward pass of Rectify, whose output is x: it clears dx where x is 0,
// and adds the products x dx to products, row after row. It panics if the lengths do not fit.
//
// dx, x: rows x n; products: n, a multiple of eight
func RectifyGrad(dx, x, products []float64) {
	multiple(len(products))
	if len(dx) != len(x) || len(x) == 0 || len(x)%len(products) != 0 {
		panic(fmt.Sprintf("simd: %d numbers with a gradient of %d, want rows of %d", len(x), len(dx), len(products)))
	}
	if assembly && level > none {
		rectifyGradVectors(&dx[0], &x[0], &products[0], len(x)/len(products), len(products))
		return
	}
	n := len(products)
	for ; len(x) > 0; dx, x = dx[n:], x[n:] {
		dx, x := dx[:n], x[:n]
		for i, v := range x {
			b := math.Float64bits(v)
			keep := uint64(int64(b|-b) >> 63) // all bits, or none where v is 0
			d := math.Float64frombits(math.Float64bits(dx[i]) & keep)
			dx[i] = d
			products[i] += float64(d * v)
		}
	}
}

// Transpose sets y to the transpose of x. It panics if a length does not fit.
//
// x: rows x columns; y: columns x rows; both numbers are multiples of eight
func Transpose(y, x []float64, rows, columns int) {
	multiple(rows)
	multiple(columns)
	if len(x) != rows*columns || len(y) != rows*columns {
		panic(fmt.Sprintf("simd: transpose of %d numbers in %d, want %dx%d", len(x), len(y), rows, columns))
	}
	if assembly && level > none {
		transposeVectors(&y[0], &x[0], rows, columns)
		return
	}
	for i := 0; i < rows; i += 4 {
		x0, x1 := x[i*columns:][:columns], x[(i+1)*columns:][:columns]
		x2, x3 := x[(i+2)*columns:][:columns], x[(i+3)*columns:][:columns]
		for j, v := range x0 {
			to := y[j*rows+i:][:4]
			to[0], to[1], to[2], to[3] = v, x1[j], x2[j], x3[j]
		}
	}
}

// multiple panics unless n is a positive multiple of eight.
func multiple(n int) {
	if n < 8 || n%8 != 0 {
		panic(fmt.Sprintf("simd: length %d, want a positive multiple of 8", n))
	}
}

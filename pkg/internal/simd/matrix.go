package simd

import "fmt"

// A Matrix is Rows x Cols numbers, (i, j) at Data[i*Down + j*Right].
type Matrix struct {
	Rows, Cols  int
	Down, Right int // distances in Data of the next row and column, at least 1
	Data        []float64
}

// Dense returns data as a rows x cols matrix, row-major without gaps.
func Dense(rows, cols int, data []float64) Matrix { return Matrix{rows, cols, cols, 1, data} }

// T returns the transpose of m, which shares its data.
func (m Matrix) T() Matrix { return Matrix{m.Cols, m.Rows, m.Right, m.Down, m.Data} }

// AddMul adds a b to c: c_ij += a_i0 b_0j + a_i1 b_1j + ..., term by term in this order.
// b and c must have adjacent columns (Right = 1); a may be a transpose. c must not
// overlap with a and b. It panics if the sizes do not fit, or if data are too short.
//
// c: m x n; a: m x k; b: k x n
func (c Matrix) AddMul(a, b Matrix) {
	if a.Rows != c.Rows || b.Cols != c.Cols || a.Cols != b.Rows || c.Right != 1 || b.Right != 1 {
		panic(fmt.Sprintf("simd: product of %dx%d and %dx%d added to %dx%d, columns %d and %d apart, want 1",
			a.Rows, a.Cols, b.Rows, b.Cols, c.Rows, c.Cols, b.Right, c.Right))
	}
	if c.Rows <= 0 || c.Cols <= 0 || a.Cols <= 0 {
		return
	}
	c.check()
	a.check()
	b.check()
	if assembly && level > none {
		addMul(c, a, b)
		return
	}
	n := c.Cols
	for i := range c.Rows {
		y, x := c.Data[i*c.Down:][:n], a.Data[i*a.Down:]
		k := 0 // four terms at a time
		for ; k+3 < b.Rows; k += 4 {
			m0, m1 := b.Data[k*b.Down:][:n], b.Data[(k+1)*b.Down:][:n]
			m2, m3 := b.Data[(k+2)*b.Down:][:n], b.Data[(k+3)*b.Down:][:n]
			m0, m1, m2, m3 = m0[:len(y)], m1[:len(y)], m2[:len(y)], m3[:len(y)]
			x0, x1, x2, x3 := x[k*a.Right], x[(k+1)*a.Right], x[(k+2)*a.Right], x[(k+3)*a.Right]
			for j, v := range y {
				v += float64(x0 * m0[j])
				v += float64(x1 * m1[j])
				v += float64(x2 * m2[j])
				v += float64(x3 * m3[j])
				y[j] = v
			}
		}
		for ; k < b.Rows; k++ {
			row, v := b.Data[k*b.Down:][:n], x[k*a.Right]
			row = row[:len(y)]
			for j := range y {
				y[j] += float64(v * row[j])
			}
		}
	}
}

// check panics unless every entry is in the data.
func (m Matrix) check() {
	if m.Down < 1 || m.Right < 1 || (m.Rows-1)*m.Down+(m.Cols-1)*m.Right >= len(m.Data) {
		panic(fmt.Sprintf("simd: %dx%d numbers at distances %d and %d, but %d are there",
			m.Rows, m.Cols, m.Down, m.Right, len(m.Data)))
	}
}

// addMul is AddMul in vectors. It reads parts of few rows side by side, so that the processor prefetches them.
func addMul(c, a, b Matrix) {
	const part = 16
	for i := 0; i < c.Rows; i += part {
		rows := min(part, c.Rows-i)
		for k := 0; k < a.Cols; k += part {
			addMulVectors(&c.Data[i*c.Down], &a.Data[i*a.Down+k*a.Right], &b.Data[k*b.Down], rows, c.Cols,
				min(part, a.Cols-k), c.Down, a.Down, a.Right, b.Down)
		}
	}
}

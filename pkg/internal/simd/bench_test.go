package simd

import (
	"fmt"
	"testing"
)

// benchmark measures f with each kind of vectors.
func benchmark(b *testing.B, name string, f func()) {
	defer func(old int) { level = old }(level)
	for level = none; level <= available(); level++ {
		b.Run(name+"/"+Level(), func(b *testing.B) {
			for range b.N {
				f()
			}
		})
	}
}

func BenchmarkAddMul(b *testing.B) {
	for _, s := range [][3]int{{8, 60, 30}, {32, 60, 30}, {32, 30, 60}, {30, 60, 32}, {32, 10, 90}, {32, 90, 10}, {10, 90, 32}, {32, 46, 23}, {23, 46, 32}, {32, 3, 69}, {3, 69, 32}, {32, 64, 32}} {
		m, n, k := s[0], s[1], s[2]
		x, y := Dense(m, k, make([]float64, m*k)), Dense(k, n, make([]float64, k*n))
		c := Dense(m, n, make([]float64, m*n))
		benchmark(b, fmt.Sprintf("%dx%dx%d", m, n, k), func() { c.AddMul(x, y) })
	}
}

func BenchmarkAttention(b *testing.B) {
	for _, s := range [][2]int{{20, 10}, {20, 3}, {32, 5}} {
		n, tokens := s[0], s[1]
		rnd := newMaker(1, 2)
		f, x := factors(rnd, n, tokens)
		g, _ := factors(rnd, n, tokens)
		v := padded(rnd, n)
		a := NewAttention(n, tokens)
		y := make([]float64, len(v))
		name := func(s string) string { return fmt.Sprintf("n=%d,tokens=%d/%s", n, tokens, s) }
		benchmark(b, name("fill"), func() { a.Fill(f, x) })
		benchmark(b, name("combine"), func() { a.Combine(y, v, v) })
		benchmark(b, name("dots"), func() { a.Dots(y, v) })
		d := Rank{append(v, v...), append(v, v...), v, v}
		benchmark(b, name("back"), func() { a.Back(g, d, x) })
	}
}

func BenchmarkSoftmax(b *testing.B) {
	x, of := Dense(8, 24, make([]float64, 192)), make([]float64, 8)
	benchmark(b, "8x24", func() { Softmax(x, of, of) })
}

package lanes

import (
	"fmt"
	"math/rand/v2"
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
	for _, s := range [][3]int{{8, 60, 30}, {30, 60, 8}, {8, 10, 90}, {10, 90, 8}} {
		m, n, k := s[0], s[1], s[2]
		x, y := Dense(m, k, make([]float64, m*k)), Dense(k, n, make([]float64, k*n))
		c := Dense(m, n, make([]float64, m*n))
		benchmark(b, fmt.Sprintf("%dx%dx%d", m, n, k), func() { c.AddMul(x, y) })
	}
}

func BenchmarkAttention(b *testing.B) {
	for _, s := range [][2]int{{20, 10}, {20, 3}, {32, 5}} {
		n, tokens := s[0], s[1]
		rnd := rand.New(rand.NewPCG(1, 2))
		f, x := factors(rnd, n, tokens)
		g, _ := factors(rnd, n, tokens)
		v := padded(rnd, n)
		a := NewAttention(n, tokens)
		y := make([]float64, len(v))
		name := func(s string) string { return fmt.Sprintf("n=%d,tokens=%d/%s", n, tokens, s) }
		benchmark(b, name("fill"), func() { a.Fill(f, x) })
		benchmark(b, name("combine"), func() { a.Combine(y, v) })
		benchmark(b, name("dots"), func() { a.Dots(y, v) })
		d := Rank{v, v, v, v, v, v}
		benchmark(b, name("back"), func() { a.Back(g, d, x) })
	}
}

func BenchmarkSoftmax(b *testing.B) {
	x := make([]float64, 24)
	benchmark(b, "24", func() { Softmax(x) })
}

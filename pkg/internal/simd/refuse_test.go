package simd

import (
	"testing"

	"learncausal/internal/property"
)

// A size that does not fit is refused before a kernel, which does not look, reads or writes
// beyond it, at every level. The property tests draw further sizes.
func TestWrongSizesAreRefused(t *testing.T) {
	m := func(rows, cols int) Matrix { return Dense(rows, cols, make([]float64, rows*cols)) }
	n := func(k int) []float64 { return make([]float64, k) }
	a, x, short := NewAttention(5, 3), make([]int, 8), Matrix{2, 2, 2, 1, n(3)} // rows of eight
	rank := func(keys, mean, last int) Rank { return Rank{n(16), n(keys), n(mean), n(last)} }
	factors := func(sizes ...int) Factors { return Factors{n(sizes[0]), n(sizes[1]), n(sizes[2]), n(sizes[3])} }
	right := factors(64, 64, 64, 64)
	wrong := map[string]func(){
		"product, rows":           func() { m(2, 2).AddMul(m(3, 2), m(2, 2)) },
		"product, columns":        func() { m(2, 2).AddMul(m(2, 2), m(2, 3)) },
		"product, terms":          func() { m(2, 2).AddMul(m(2, 3), m(2, 2)) },
		"product, no distance":    func() { m(2, 2).AddMul(Matrix{2, 2, 0, 1, n(4)}, m(2, 2)) },
		"product, no step":        func() { m(2, 2).AddMul(Matrix{2, 2, 2, 0, n(4)}, m(2, 2)) },
		"product, wide steps":     func() { m(2, 2).AddMul(Matrix{2, 2, 1, 4, n(4)}, m(2, 2)) },
		"product, a transpose":    func() { m(2, 2).AddMul(m(2, 2), m(2, 2).T()) },
		"product, left short":     func() { m(2, 2).AddMul(short, m(2, 2)) },
		"product, right short":    func() { m(2, 2).AddMul(m(2, 2), short) },
		"product, short":          func() { short.AddMul(m(2, 2), m(2, 2)) },
		"softmax, a column":       func() { Softmax(m(8, 8).T(), n(8), n(8)) },
		"spread, columns":         func() { Spread(m(5, 5).T(), m(5, 2), make([]int, 10)) },
		"spread, other columns":   func() { Spread(m(2, 5), m(2, 2).T(), make([]int, 4)) },
		"spread, no rows":         func() { Spread(Matrix{0, 5, 5, 1, n(5)}, Matrix{0, 2, 2, 1, n(2)}, nil) },
		"spread, no columns":      func() { Spread(m(1, 5), Matrix{1, 0, 1, 1, n(1)}, make([]int, 1)) },
		"collect, few tokens":     func() { Collect(m(1, 2), m(1, 5), make([]int, 1)) },
		"rows, a transpose":       func() { AddRows(m(2, 2), m(2, 2).T(), []int{0, 1}) },
		"rows, to a transpose":    func() { AddRows(m(2, 2).T(), m(2, 2), []int{0, 1}) },
		"rows, no columns":        func() { AddRows(Matrix{1, 0, 1, 1, nil}, Matrix{1, 0, 1, 1, nil}, []int{0}) },
		"rows, none":              func() { AddRows(m(1, 1), m(0, 1), nil) },
		"rows, columns":           func() { AddRows(m(2, 3), m(2, 2), []int{0, 1}) },
		"products, nothing":       func() { SumProducts(n(8), nil, nil, 8) },
		"products, part of a row": func() { SumProducts(n(12), n(24), n(24), 8) },
		"fill, token, position":   func() { a.Fill(factors(64, 63, 64, 64), x) },
		"gather, factors":         func() { a.Gather(factors(63, 64, 64, 64), rank(16, 8, 8), x) },
		"gather, no keys":         func() { a.Gather(right, Rank{nil, nil, n(8), n(8)}, x) },
		"gather, part of a key":   func() { a.Gather(right, Rank{n(12), n(12), n(8), n(8)}, x) },
		"gather, keys":            func() { a.Gather(right, rank(8, 8, 8), x) },
		"gather, mean":            func() { a.Gather(right, rank(16, 7, 8), x) },
		"gather, last":            func() { a.Gather(right, rank(16, 8, 7), x) },
		"fold, factors":           func() { a.Fold(factors(64, 64, 63, 64), n(64), x) },
		"walk, few sums":          func() { Walk(make([][Eight]int, 2), []int{1}, make([]uint64, 8), n(24), 2) },
		"walk, given state":       func() { Walk([][Eight]int{{}, {5}}, []int{1}, make([]uint64, 8), n(64), 2) },
	}
	atLevels(t, func(t *testing.T) {
		for name, f := range wrong {
			if property.Refused(t, "simd", f) == "" {
				t.Errorf("%s: %s is accepted", Level(), name)
			}
		}
		m(0, 2).AddMul(m(0, 2), m(2, 2)) // nothing to do is done
		Walk(make([][Eight]int, 1), nil, nil, n(8), 1)
		a.Fill(right, x)
		a.Gather(right, rank(16, 8, 8), x)
		if got, want := Level(), []string{"none", "avx2", "avx512"}[level]; got != want {
			t.Errorf("level %d is called %s, want %s", level, got, want)
		}
	})
}

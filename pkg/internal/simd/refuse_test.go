package simd

import (
	"testing"

	"learncausal/internal/property"
)

// A size that does not fit is refused before a kernel, which does not look, reads or writes
// beyond it: each condition by itself, at every level.
func TestWrongSizesAreRefused(t *testing.T) {
	m := func(rows, cols int) Matrix { return Dense(rows, cols, make([]float64, rows*cols)) }
	n := func(k int) []float64 { return make([]float64, k) }
	a := NewAttention(5, 3) // rows of eight
	factors := func() Factors { return Factors{n(64), n(64), n(64), n(64)} }
	rank := func() Rank { return Rank{n(16), n(16), n(8), n(8)} }
	x := make([]int, 8)
	if a.stride != 8 || a.tokens != 8 {
		t.Fatalf("attention of rows of %d and %d", a.stride, a.tokens)
	}
	spoilt := func(change func(f *Factors)) Factors { f := factors(); change(&f); return f }
	cut := func(change func(d *Rank)) Rank { d := rank(); change(&d); return d }
	short := Matrix{2, 2, 2, 1, n(3)}
	wrong := map[string]func(){
		"product, rows":           func() { m(2, 2).AddMul(m(3, 2), m(2, 2)) },
		"product, columns":        func() { m(2, 2).AddMul(m(2, 2), m(2, 3)) },
		"product, terms":          func() { m(2, 2).AddMul(m(2, 3), m(2, 2)) },
		"product, no distance":    func() { m(2, 2).AddMul(Matrix{2, 2, 0, 1, n(4)}, m(2, 2)) },
		"product, no step":        func() { m(2, 2).AddMul(Matrix{2, 2, 2, 0, n(4)}, m(2, 2)) },
		"product, wide steps":     func() { m(2, 2).AddMul(Matrix{2, 2, 1, 4, n(4)}, m(2, 2)) },
		"softmax, a column":       func() { Softmax(m(8, 8).T(), n(8), n(8)) },
		"softmax, maxima":         func() { Softmax(m(2, 8), n(1), n(2)) },
		"softmax, sums":           func() { Softmax(m(2, 8), n(2), n(1)) },
		"softmax, rows":           func() { Softmax(Matrix{2, 5, 5, 1, n(13)}, n(2), n(2)) },
		"softmax, nothing":        func() { Softmax(Matrix{1, 0, 1, 1, n(8)}, n(1), n(1)) },
		"softmax, no rows":        func() { Softmax(Matrix{0, 1, 1, 1, n(8)}, nil, nil) },
		"spread, columns":         func() { Spread(m(5, 5).T(), m(5, 2), make([]int, 10)) },
		"spread, other columns":   func() { Spread(m(2, 5), m(2, 2).T(), make([]int, 4)) },
		"spread, rows":            func() { Spread(m(3, 5), m(2, 2), make([]int, 6)) },
		"spread, no rows":         func() { Spread(Matrix{0, 5, 5, 1, n(5)}, Matrix{0, 2, 2, 1, n(2)}, nil) },
		"spread, no columns":      func() { Spread(m(1, 5), Matrix{1, 0, 1, 1, n(1)}, make([]int, 1)) },
		"spread, few columns":     func() { Spread(m(1, 2), m(1, 2), make([]int, 2)) },
		"spread, few tokens":      func() { Spread(m(1, 5), m(1, 2), make([]int, 1)) },
		"collect, few tokens":     func() { Collect(m(1, 2), m(1, 5), make([]int, 1)) },
		"rows, beside each other": func() { AddRows(m(2, 2), m(2, 2).T(), []int{0, 1}) },
		"rows, sums so":           func() { AddRows(m(2, 2).T(), m(2, 2), []int{0, 1}) },
		"rows, a number short":    func() { AddRows(m(2, 2), short, []int{0, 1}) },
		"rows, a sum short":       func() { AddRows(short, m(2, 2), []int{0, 1}) },
		"rows, no columns":        func() { AddRows(Matrix{1, 0, 1, 1, nil}, Matrix{1, 0, 1, 1, nil}, []int{0}) },
		"rows, none":              func() { AddRows(m(1, 1), m(0, 1), nil) },
		"product, a factor so":    func() { m(2, 2).AddMul(m(2, 2), m(2, 2).T()) },
		"product, beside":         func() { m(2, 2).T().AddMul(m(2, 2), m(2, 2)) },
		"product, left short":     func() { m(2, 2).AddMul(short, m(2, 2)) },
		"product, right short":    func() { m(2, 2).AddMul(m(2, 2), short) },
		"product, short":          func() { short.AddMul(m(2, 2), m(2, 2)) },
		"rows, columns":           func() { AddRows(m(2, 3), m(2, 2), []int{0, 1}) },
		"rows, places":            func() { AddRows(m(2, 2), m(2, 2), []int{0}) },
		"products, no sums":       func() { SumProducts(nil, n(8), n(8), 8) },
		"products, part of a row": func() { SumProducts(n(12), n(24), n(24), 8) },
		"products, nothing":       func() { SumProducts(n(8), nil, nil, 8) },
		"products, part":          func() { SumProducts(n(16), n(24), n(24), 8) },
		"products, other":         func() { SumProducts(n(8), n(16), n(8), 8) },
		"fill, tokens":            func() { a.Fill(factors(), x[:7]) },
		"fill, positions":         func() { a.Fill(spoilt(func(f *Factors) { f.PosPos = f.PosPos[:63] }), x) },
		"fill, token, position":   func() { a.Fill(spoilt(func(f *Factors) { f.TokPos = f.TokPos[:63] }), x) },
		"fill, pairs of tokens":   func() { a.Fill(spoilt(func(f *Factors) { f.TokTok = f.TokTok[:63] }), x) },
		"fill, position, token":   func() { a.Fill(spoilt(func(f *Factors) { f.PosTok = f.PosTok[:63] }), x) },
		"gather, factors":         func() { a.Gather(spoilt(func(f *Factors) { f.PosPos = f.PosPos[:63] }), rank(), x) },
		"gather, no keys":         func() { a.Gather(factors(), cut(func(d *Rank) { d.Keys, d.Queries = nil, nil }), x) },
		"gather, part of a key":   func() { a.Gather(factors(), cut(func(d *Rank) { d.Keys, d.Queries = n(12), n(12) }), x) },
		"gather, queries":         func() { a.Gather(factors(), cut(func(d *Rank) { d.Queries = n(8) }), x) },
		"gather, mean":            func() { a.Gather(factors(), cut(func(d *Rank) { d.Mean = n(7) }), x) },
		"gather, last":            func() { a.Gather(factors(), cut(func(d *Rank) { d.Last = n(7) }), x) },
		"back, queries":           func() { a.Back(factors(), cut(func(d *Rank) { d.Queries = n(8) }), x) },
		"fold, factors":           func() { a.Fold(spoilt(func(f *Factors) { f.TokTok = f.TokTok[:63] }), n(64), x) },
		"fold, sum":               func() { a.Fold(factors(), n(56), x) },
		"walk, positions":         func() { Walk(make([][Eight]int, 1), []int{0, 0}, make([]uint64, 16), n(64), 1) },
		"walk, states":            func() { Walk(make([][Eight]int, 1), []int{}, nil, n(64), 0) },
		"walk, itself":            func() { Walk(make([][Eight]int, 2), []int{0}, make([]uint64, 8), n(64), 1) },
		"walk, given state":       func() { Walk([][Eight]int{{}, {5}}, []int{1}, make([]uint64, 8), n(64), 2) },
		"walk, few sums":          func() { Walk(make([][Eight]int, 2), []int{1}, make([]uint64, 8), n(24), 2) },
	}
	defer func(old int) { level = old }(level)
	for level = none; level <= available(); level++ {
		for name, f := range wrong {
			if property.Refused(t, "simd", f) == "" {
				t.Errorf("%s: %s is accepted", Level(), name)
			}
		}
		m(0, 2).AddMul(m(0, 2), m(2, 2)) // nothing to do is done
		Walk(make([][Eight]int, 1), nil, nil, n(8), 1)
		a.Fill(factors(), x)
		a.Gather(factors(), rank(), x)
	}
	for level = none; level <= available(); level++ {
		if got, want := Level(), []string{"none", "avx2", "avx512"}[level]; got != want {
			t.Errorf("level %d is called %s, want %s", level, got, want)
		}
	}
}

package simd

import (
	"math/rand/v2"

	"pgregory.net/rapid"

	"learncausal/internal/property"
)

func rectifications(t *rapid.T) {
	rows, columns := 8*rapid.IntRange(0, 3).Draw(t, "rows/8"), 8*rapid.IntRange(0, 3).Draw(t, "columns/8")
	size := rows * columns
	x := make([]float64, length(t, "x", size))
	dx, y := make([]float64, length(t, "dx", len(x))), make([]float64, length(t, "y", size))
	products := make([]float64, length(t, "products", columns))
	right := len(x) > 0 && len(x)%8 == 0
	property.Decide(t, right, property.Refused(t, "simd", func() { Rectify(x) }))
	n := len(products)
	right = len(x) > 0 && n > 0 && n%8 == 0 && len(x)%n == 0 && len(dx) == len(x)
	property.Decide(t, right, property.Refused(t, "simd", func() { RectifyGrad(dx, x, products) }))
	right = size > 0 && len(x) == size && len(y) == size
	property.Decide(t, right, property.Refused(t, "simd", func() { Transpose(y, x, rows, columns) }))
}

func words(t *rapid.T) {
	src := rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1)
	dst := make([]uint64, length(t, "words", Eight*rapid.IntRange(0, 4).Draw(t, "words/8")))
	if !property.Decide(t, len(dst)%Eight == 0, property.Refused(t, "simd", func() { NewWords(src).Fill(dst) })) {
		return
	}
	for _, w := range dst {
		if f := Fraction(w); !(f >= 0 && f < 1) {
			t.Fatalf("the fraction of %x is %v", w, f)
		}
	}
	var layers [256]Layer
	for i := range layers {
		layers[i] = Layer{0, 1, 0, 1}
	}
	y, inside := make([]float64, length(t, "y", len(dst))), make([]uint8, length(t, "inside", len(dst)/Eight))
	right := len(y) == len(dst) && len(inside) == len(dst)/Eight
	if property.Decide(t, right, property.Refused(t, "simd", func() { Points(y, inside, dst, &layers) })) {
		for k, w := range dst {
			if want, in := Point(&layers, w); y[k] != want || in != (inside[k/Eight]>>(k%Eight)&1 == 1) {
				t.Fatalf("word %x stands for %v, in a block for %v", w, want, y[k])
			}
		}
	}
}

func numbersOfEight(t *rapid.T) {
	n := rapid.IntRange(0, 4).Draw(t, "n")
	y := make([]float64, length(t, "y", Eight*n))
	x := make([]float64, length(t, "x", len(y)))
	for i := range y {
		y[i] = 1 + float64(i)/8
	}
	m := rapid.IntRange(-1, 6).Draw(t, "m")
	fit := len(y)%Eight == 0 && len(x) == len(y)
	if property.Decide(t, fit && m >= 1, property.Refused(t, "simd", func() { Powers(x, y, m) })) {
		for i, v := range y {
			if x[i] != Power(v, m) {
				t.Fatalf("%v to the power %d is %v, in a block %v", v, m, Power(v, m), x[i])
			}
		}
	}
	property.Decide(t, fit, property.Refused(t, "simd", func() { Sums(x, y) }))
	s := rapid.IntRange(1, 4).Draw(t, "s")
	mu, a := make([]float64, length(t, "mu", Eight*s)), make([]float64, length(t, "a", Eight*s*s))
	sums := make([]float64, length(t, "sums", Eight*s*s))
	for i := range a {
		a[i] = 1
	}
	right := len(mu)%Eight == 0 && len(a) == len(mu)*(len(mu)/Eight) && len(sums) == len(a)
	property.Decide(t, right, property.Refused(t, "simd", func() { Eliminate(mu, a, sums) }))
}

func walks(t *rapid.T) {
	s, n := rapid.IntRange(-1, 4).Draw(t, "s"), rapid.IntRange(1, 5).Draw(t, "positions")
	states := make([][Eight]int, length(t, "states", n+1))
	parents := make([]int, n)
	right := s >= 1 && n <= len(states)
	for i := range parents {
		parents[i] = rapid.IntRange(-1, 6).Draw(t, "parent")
		p := parents[i]
		right = right && p >= 0 && p < len(states) && (p < i || p >= n)
	}
	words := make([]uint64, length(t, "words", Eight*n))
	sums := make([]float64, Eight*max(s, 1)*max(s, 1))
	for i := range sums {
		sums[i] = float64(i / Eight)
	}
	right = right && len(words) == Eight*n
	property.Decide(t, right, property.Refused(t, "simd", func() { Walk(states, parents, words, sums, s) }))
	var picked, rows [Eight]int
	rows[3] = rapid.OneOf(rapid.IntRange(-1, 5), rapid.SampledFrom([]int{1 << 59, 1 << 60, 1<<63 - 1})).Draw(t, "row")
	right = s >= 1 && rows[3] >= 0 && rows[3] < max(s, 1)
	property.Decide(t, right, property.Refused(t, "simd", func() { Pick(&picked, &rows, new([Eight]uint64), sums, s) }))
}

package simd

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"learncausal/internal/property"
)

// apart returns the matrix of these rows and columns with gaps, all of random numbers.
func apart(rnd *maker, rows, cols int) (Matrix, array) {
	down := cols + rnd.IntN(4)
	a := numbers(rnd, rows*down)
	return Matrix{rows, cols, down, 1, a.part}, a
}

// checkSpread compares with plain Go, in rows of n numbers.
func checkSpread(t *testing.T, seed uint64, rows, n, tokens int) {
	rnd := newMaker(seed, 6)
	x := make([]int, rows*(n+rnd.IntN(3)))
	for j := range x {
		x[j] = rnd.IntN(tokens)
	}
	v, room := apart(rnd, rows, n)
	h, wide := apart(rnd, rows, tokens+n)
	before, table := slices.Clone(room.whole), slices.Clone(wide.whole)
	inPlainGo(func() { Spread(h, v, x) })
	wantH := slices.Clone(wide.whole)
	copy(wide.whole, table)
	inPlainGo(func() { Collect(v, h, x) })
	wantV := slices.Clone(room.whole)
	atLevels(t, func(t *testing.T) {
		what := fmt.Sprintf("%d rows of %d numbers, %d tokens", rows, n, tokens)
		copy(room.whole, before)
		copy(wide.whole, table)
		Spread(h, v, x)
		same(t, what+": spread", wide.whole, wantH)
		copy(wide.whole, table)
		Collect(v, h, x)
		same(t, what+": collect", room.whole, wantV)
	})
}

func TestSpreadAndCollectHaveTheBytesOfPlainGo(t *testing.T) {
	for n := 1; n <= 40; n++ {
		for tokens := 1; tokens <= 20; tokens++ {
			atPlaces(n, func(seed uint64) { checkSpread(t, seed, 1+n%3, n, tokens) })
		}
	}
}

func FuzzSpread(f *testing.F) {
	f.Add(uint64(1), uint8(0), uint8(0), uint8(0))
	f.Add(uint64(2), uint8(4), uint8(20), uint8(9))
	f.Add(uint64(19), uint8(2), uint8(70), uint8(39))
	f.Fuzz(func(t *testing.T, seed uint64, rows, n, tokens uint8) {
		checkSpread(t, seed, 1+int(rows)%5, 1+int(n), 1+int(tokens)%40)
	})
}

// checkSums compares sums of rows and of products with plain Go, in rows of n numbers.
func checkSums(t *testing.T, seed uint64, rows, n, terms int) {
	rnd := newMaker(seed, 7)
	v, _ := apart(rnd, rows, n)
	to, room := apart(rnd, terms, n)
	at := make([]int, rows)
	for k := range at {
		at[k] = rnd.IntN(terms)
	}
	w := (n + 7) &^ 7
	y, a, b := numbers(rnd, rows*w), numbers(rnd, rows*w*terms).part, numbers(rnd, rows*w*terms).part
	begin := slices.Clone(room.whole)
	inPlainGo(func() {
		AddRows(to, v, at)
		SumProducts(y.part, a, b, w)
	})
	want, wantY := slices.Clone(room.whole), slices.Clone(y.whole)
	sum, part := numbers(rnd, n), numbers(rnd, n)
	beginSum, beginPart := slices.Clone(sum.whole), slices.Clone(part.whole)
	inPlainGo(func() { Drain(sum.part, part.part) })
	wantSum, wantPart := slices.Clone(sum.whole), slices.Clone(part.whole)
	atLevels(t, func(t *testing.T) {
		copy(sum.whole, beginSum)
		copy(part.whole, beginPart)
		Drain(sum.part, part.part)
		same(t, fmt.Sprintf("%d numbers drained", n), slices.Concat(sum.whole, part.whole), slices.Concat(wantSum, wantPart))
		copy(room.whole, begin)
		AddRows(to, v, at)
		same(t, fmt.Sprintf("%d rows of %d added to %d", rows, n, terms), room.whole, want)
		clear(y.part)
		SumProducts(y.part, a, b, w)
		same(t, fmt.Sprintf("%d rows of %d sums of %d products", rows, w, terms), y.whole, wantY)
	})
}

func TestSumsOfRowsAndProductsHaveTheBytesOfPlainGo(t *testing.T) {
	for n := 1; n <= 40; n++ {
		for terms := 1; terms <= 4; terms++ {
			atPlaces(n, func(seed uint64) { checkSums(t, seed, 1+n%7, n, terms) })
		}
	}
}

func FuzzRows(f *testing.F) {
	f.Add(uint64(1), uint8(0), uint8(0), uint8(0))
	f.Add(uint64(2), uint8(8), uint8(9), uint8(3))
	f.Add(uint64(19), uint8(5), uint8(70), uint8(5))
	f.Fuzz(func(t *testing.T, seed uint64, rows, n, terms uint8) {
		checkSums(t, seed, 1+int(rows)%9, 1+int(n), 1+int(terms)%6)
	})
}

// Rows and products are added in their order.
func TestRowsAreAddedInOrder(t *testing.T) {
	atLevels(t, func(t *testing.T) {
		sum := []float64{0, 3}
		AddRows(Dense(2, 1, sum), Dense(4, 1, []float64{1e17, 1, 1, -1e17}), []int{0, 0, 1, 0})
		same(t, "rows", sum, []float64{0, 4})
		one, y := []float64{1, 1, 1, 1, 1, 1, 1, 1}, make([]float64, 8)
		a := slices.Concat(one, one, one)
		a[0], a[8], a[16] = 1e17, 1, -1e17
		SumProducts(y, a, slices.Concat(one, one, one), 8)
		same(t, "products", y, []float64{0, 3, 3, 3, 3, 3, 3, 3})
	})
}

func sumsOfRows(t *rapid.T) {
	rows, n, terms := rapid.IntRange(1, 3).Draw(t, "rows"), rapid.IntRange(1, 20).Draw(t, "n"),
		rapid.IntRange(1, 4).Draw(t, "terms")
	v := Dense(rows, n, make([]float64, length(t, "v", rows*n)))
	to := Dense(terms, n, make([]float64, length(t, "to", terms*n)))
	for i := range v.Data {
		v.Data[i] = 1
	}
	at, inside := make([]int, length(t, "at", rows)), true
	for k := range at {
		at[k] = rapid.IntRange(-1, terms).Draw(t, "row")
		inside = inside && at[k] >= 0 && at[k] < terms
	}
	right := len(v.Data) >= rows*n && len(to.Data) >= terms*n && len(at) == rows && inside
	if property.Decide(t, right, property.Refused(t, "simd", func() { AddRows(to, v, at) })) {
		count := make([]float64, len(to.Data))
		for _, i := range at {
			for j := range n {
				count[i*n+j]++
			}
		}
		if !slices.Equal(to.Data, count) {
			t.Fatalf("ones added to the rows %v are %v", at, to.Data)
		}
	}
	sum := make([]float64, length(t, "sum", len(v.Data)))
	if property.Decide(t, len(sum) == len(v.Data), property.Refused(t, "simd", func() { Drain(sum, v.Data) })) {
		for i, x := range sum {
			if x != 1 || v.Data[i] != 0 {
				t.Fatalf("ones are drained to %v and leave %v", sum, v.Data)
			}
		}
	}
	w := length(t, "multiple", 8)
	a, b := make([]float64, length(t, "a", 8*rows*terms)), make([]float64, length(t, "b", 8*rows*terms))
	for i := range a {
		a[i] = 2
	}
	for i := range b {
		b[i] = 3
	}
	y := make([]float64, 8*rows)
	right = w > 0 && w%8 == 0 && len(y)%w == 0 && len(a) > 0 && len(a)%len(y) == 0 && len(b) == len(a)
	if property.Decide(t, right, property.Refused(t, "simd", func() { SumProducts(y, a, b, w) })) &&
		y[8*rows-1] != float64(6*(len(a)/len(y))) {
		t.Fatalf("%d products of two and three are %v", len(a)/len(y), y[8*rows-1])
	}
}

// Numbers of a token are added in their order.
func TestSpreadAddsInOrder(t *testing.T) {
	h, v, x := make([]float64, 8), []float64{1, 5, 1e17, -1e17, 3}, []int{2, 0, 2, 2, 2}
	atLevels(t, func(t *testing.T) {
		Spread(Dense(1, 8, h), Dense(1, 5, v), x)
		same(t, "spread", h, []float64{5, 0, 3, 1, 5, 1e17, -1e17, 3})
		y := make([]float64, len(x))
		Collect(Dense(1, 5, y), Dense(1, 8, append([]float64{10, 20, 30}, v...)), x)
		same(t, "collect", y, []float64{31, 15, 1e17 + 30, -1e17 + 30, 33})
	})
}

func spreads(t *rapid.T) {
	tokens, n := rapid.IntRange(1, 20).Draw(t, "tokens"), rapid.IntRange(1, 20).Draw(t, "n")
	rows := rapid.IntRange(1, 3).Draw(t, "rows")
	x := make([]int, length(t, "x", rows*n))
	for j := range x {
		x[j] = rapid.IntRange(0, tokens-1).Draw(t, "token")
	}
	room := func(name string, rows, cols int) (Matrix, bool) {
		has := length(t, name, rows*cols)
		m := Dense(rows, cols, make([]float64, has))
		for i := range m.Data {
			m.Data[i] = 1
		}
		return m, has >= rows*cols
	}
	v, rightV := room("v", length(t, "rows of v", rows), n)
	h, rightH := room("h", rows, length(t, "columns of h", tokens+n))
	right := rightV && rightH && v.Rows == rows && h.Cols > n && len(x)%rows == 0 && len(x) >= rows*n
	for _, a := range x {
		if a >= h.Cols-n {
			right, x = false, nil // a token out of range is not refused
		}
	}
	if property.Decide(t, right, property.Refused(t, "simd", func() { Collect(v, h, x) })) && v.Data[rows*n-1] != 2 {
		t.Fatalf("one and one are %v", v.Data[rows*n-1])
	}
	if property.Decide(t, right, property.Refused(t, "simd", func() { Spread(h, v, x) })) {
		count := make([]float64, h.Cols)
		for j, a := range x[:n] {
			count[a] += 2
			count[h.Cols-n+j] = 2
		}
		if !slices.Equal(h.Data[:h.Cols], count) {
			t.Fatalf("twos for the tokens %v are spread as %v", x, h.Data)
		}
	}
}

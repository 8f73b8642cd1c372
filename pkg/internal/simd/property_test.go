package simd

import (
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"learncausal/internal/property"
	"learncausal/pkg/num"
)

func TestProperties(t *testing.T) {
	property.Test(t, property.Table{
		"Dense Matrix.T Matrix.AddMul":                                   products,
		"Padded NewAttention NewAttentions":                              sizes,
		"Attention.Fill Attention.Combine Attention.Dots Attention.Back": attentions,
		"Attention.Gather Attention.Fold":                                gathers,
		"Spread Collect":                                                 spreads,
		"AddRows SumProducts Drain":                                      sumsOfRows,
		"Softmax":                                                        softmaxes,
		"Exp":                                                            exponentials,
		"Rectify RectifyGrad Transpose":                                  rectifications,
		"NewWords Words.Fill Fraction Point Points":                      words,
		"Power Powers Sums Eliminate":                                    numbersOfEight,
		"Walk Pick":                                                      walks,
	})
}

// length draws one that is right most often.
func length(t *rapid.T, name string, right int) int {
	if rapid.IntRange(0, 7).Draw(t, name+" is wrong") > 0 {
		return right
	}
	return rapid.IntRange(0, right+9).Draw(t, name)
}

func products(t *rapid.T) {
	size := rapid.IntRange(1, 5)
	m, n, k := size.Draw(t, "m"), size.Draw(t, "n"), size.Draw(t, "k")
	make := func(name string, rows, cols int) (Matrix, bool) {
		has := length(t, name, rows*cols)
		return Dense(rows, cols, make([]float64, has)), has >= rows*cols
	}
	a, rightA := make("a", m, k)
	b, rightB := make("b", length(t, "rows of b", k), n)
	c, rightC := make("c", n, m)
	right := rightA && rightB && rightC && b.Rows == k && m == 1
	// The transpose has its columns at a distance, unless there is one row.
	property.Decide(t, right, property.Refused(t, "simd", func() { c.T().AddMul(a, b) }))
}

func sizes(t *rapid.T) {
	n, tokens := rapid.IntRange(-2, 300).Draw(t, "n"), rapid.IntRange(-2, 20).Draw(t, "tokens")
	if p := Padded(max(n, 0)); p%8 != 0 || p < n || p > max(n, 0)+15 || p > 0 && p%128 == 0 {
		t.Fatalf("%d is padded to %d", n, p)
	}
	property.Decide(t, n > 0 && tokens > 0, property.Refused(t, "simd", func() { NewAttention(n, tokens) }))
}

func attentions(t *rapid.T) {
	n, tokens := rapid.IntRange(1, 20).Draw(t, "n"), rapid.IntRange(1, 20).Draw(t, "tokens")
	s, k := Padded(n), Padded(tokens)
	right := true
	vector := func(name string, want int) []float64 {
		has := length(t, name, want)
		right = right && has == want
		return make([]float64, has)
	}
	f := Factors{vector("PosPos", s*s), vector("TokPos", k*s), vector("TokTok", k*k), vector("PosTok", s*k)}
	x := make([]int, length(t, "x", s))
	right = right && len(x) == s
	a := NewAttention(n, tokens)
	fits := property.Decide(t, right, property.Refused(t, "simd", func() { a.Fill(f, x) }))
	right = true
	y, z := vector("y", s), vector("z", s)
	whole := right
	total := vector("total", s)
	property.Decide(t, right, property.Refused(t, "simd", func() { a.Combine(y, total, z) }))
	right = whole
	property.Decide(t, right, property.Refused(t, "simd", func() { a.Dots(y, z) }))
	links := rapid.IntRange(1, 3).Draw(t, "links")
	right = fits
	d := Rank{
		vector("Queries", links*s), vector("Keys", links*s),
		vector("Mean", s), vector("Last", s),
	}
	property.Decide(t, right, property.Refused(t, "simd", func() { a.Back(f, d, x) }))
}

// Gather and then Fold add as much as Back.
func gathers(t *rapid.T) {
	n, tokens := rapid.IntRange(1, 20).Draw(t, "n"), rapid.IntRange(1, 20).Draw(t, "tokens")
	s, k := Padded(n), Padded(tokens)
	rnd := newMaker(rapid.Uint64().Draw(t, "seed"), 1)
	f, x := factors(rnd, n, tokens)
	a := NewAttention(n, tokens)
	a.Fill(f, x)
	d := Rank{
		padded(rnd, n), padded(rnd, n), padded(rnd, n), padded(rnd, n),
	}
	zero := func(posTok int) Factors {
		return Factors{make([]float64, s*s), make([]float64, k*s), make([]float64, k*k), make([]float64, posTok)}
	}
	want, got := zero(s*k), zero(s*k)
	a.Back(want, d, x)
	sum := zero(length(t, "sum", s*k)).PosTok
	right := len(sum) == s*k
	to := got
	to.PosTok = sum
	fits := property.Decide(t, right, property.Refused(t, "simd", func() { a.Gather(to, d, x) }))
	if property.Decide(t, right, property.Refused(t, "simd", func() { a.Fold(got, sum, x) })) && fits {
		if !reflect.DeepEqual(got, want) || slices.Max(sum) != 0 || slices.Min(sum) != 0 {
			t.Fatalf("gathered and folded %v, leaving %v, want %v", got, sum, want)
		}
	}
}

func softmaxes(t *rapid.T) {
	rows, n := rapid.IntRange(0, 3).Draw(t, "rows"), rapid.IntRange(0, 40).Draw(t, "n")
	down := rapid.IntRange(max(n, 1), n+9).Draw(t, "down")
	x := Matrix{rows, n, down, 1, make([]float64, rapid.IntRange(0, 200).Draw(t, "room"))}
	tops, sums := make([]float64, length(t, "tops", rows)), make([]float64, length(t, "sums", rows))
	whole := (n + 7) / 8 * 8
	right := rows > 0 && n > 0 && len(tops) == rows && len(sums) == rows && len(x.Data) >= (rows-1)*down+whole &&
		(rows == 1 || down >= whole)
	if property.Decide(t, right, property.Refused(t, "simd", func() { Softmax(x, tops, sums) })) &&
		(sums[rows-1] != float64(n) || !property.Near(x.Data[(rows-1)*down], 1/float64(n), 1e-15)) {
		t.Fatalf("the softmax of %d zeros is %v with the sum %v", n, x.Data[(rows-1)*down], sums[rows-1])
	}
}

func exponentials(t *rapid.T) {
	x := make([]float64, length(t, "x", Eight*rapid.IntRange(0, 4).Draw(t, "x/8")))
	for i := range x {
		x[i] = rapid.Float64Range(-800, 0.25).Draw(t, "x")
	}
	before := slices.Clone(x)
	right := len(x) > 0 && len(x)%Eight == 0
	if !property.Decide(t, right, property.Refused(t, "simd", func() { Exp(x) })) {
		return
	}
	for i, v := range before {
		if x[i] != num.Exp(v) {
			t.Fatalf("the exponential of %v is %v, want %v", v, x[i], num.Exp(v))
		}
	}
}

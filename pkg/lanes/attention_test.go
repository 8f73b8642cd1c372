package lanes

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// factors returns random factors, and tokens, for n positions.
func factors(rnd *rand.Rand, n, tokens int) (Factors, []int) {
	s, t := Padded(n), Padded(tokens)
	x := make([]int, s)
	for i := range n {
		x[i] = rnd.IntN(tokens)
	}
	fill := func(rows, cols, stride int, has func(i, j int) bool, size int) []float64 {
		f := numbers(rnd, size)
		clear(f)
		for i := range rows {
			for j := range cols {
				if has(i, j) {
					f[i*stride+j] = math.Exp(6 * rnd.NormFloat64())
				}
			}
		}
		return f
	}
	all := func(i, j int) bool { return true }
	return Factors{
		PosPos: fill(n, n, s, func(j, i int) bool { return i >= j }, s*s),
		TokPos: fill(tokens, n, s, all, t*s),
		TokTok: fill(tokens, tokens, t, all, t*t),
		PosTok: fill(n, tokens, t, all, s*t),
	}, x
}

// padded returns a vector of n random numbers and zeros.
func padded(rnd *rand.Rand, n int) []float64 {
	v := numbers(rnd, Padded(n))
	clear(v[n:])
	return v
}

func checkAttention(t *testing.T, seed uint64, n, tokens, links int) {
	rnd := rand.New(rand.NewPCG(seed, 2))
	f, x := factors(rnd, n, tokens)
	s := Padded(n)
	v := padded(rnd, n)
	var d Rank
	for _, p := range []*[]float64{&d.R, &d.S, &d.C, &d.B} {
		for range links {
			*p = append(*p, padded(rnd, n)...)
		}
	}
	d.Minus, d.Last = padded(rnd, n), padded(rnd, n)
	run := func() (all [][]float64) {
		a := NewAttention(n, tokens)
		sum := a.Fill(f, x)
		y, z := make([]float64, s), make([]float64, s)
		a.Combine(y, v)
		a.Dots(z, v)
		tt := Padded(tokens)
		g := Factors{make([]float64, s*s), make([]float64, tt*s), make([]float64, tt*tt), make([]float64, tt*s)}
		a.Back(g, d, x)
		a.Back(g, d, x)
		return [][]float64{a.p, sum, y, z, g.PosPos, g.TokPos, g.TokTok, g.PosTok}
	}
	names := []string{"attention", "sums", "combination", "dots", "posPos", "tokPos", "tokTok", "posTok"}
	defer func(old int) { level = old }(level)
	level = none
	want := run()
	atLevels(t, func(t *testing.T) {
		for i, got := range run() {
			same(t, fmt.Sprintf("%d positions, %d tokens: %s", n, tokens, names[i]), got, want[i])
		}
	})
}

func TestAttentionIsThatOfPlainGo(t *testing.T) {
	for n := 1; n <= 70; n++ {
		for _, tokens := range []int{1, 3, 8, 10, 16, 17, 20} {
			checkAttention(t, uint64(n), n, tokens, 1+n%3)
		}
	}
}

func TestSoftmaxIsThatOfPlainGo(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for n := 8; n <= 72; n += 8 {
		for range 200 {
			x := numbers(rnd, n)
			for i := range x {
				switch rnd.IntN(10) {
				case 0:
					x[i] = math.Inf(-1)
				case 1:
					x[i] = -745.2 * rnd.Float64()
				}
			}
			want := copied(x)
			top, sum := softmaxGo(want)
			plain := copied(x)
			atLevels(t, func(t *testing.T) {
				copy(x, plain)
				a, b := Softmax(x)
				same(t, "softmax", append(x[:n:n], a, b), append(want[:n:n], top, sum))
			})
		}
	}
}

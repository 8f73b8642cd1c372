package simd

import (
	"fmt"
	"math"
	"slices"
	"testing"
)

// factors returns random factors, and tokens, for n positions.
func factors(rnd *maker, n, tokens int) (Factors, []int) {
	s, t := Padded(n), Padded(tokens)
	x := make([]int, s)
	for i := range n {
		x[i] = rnd.IntN(tokens)
	}
	fill := func(rows, cols, stride int, has func(i, j int) bool, size int) []float64 {
		f := numbers(rnd, size).part
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
	all := func(int, int) bool { return true }
	f := Factors{
		PosPos: fill(n, n, s, func(j, i int) bool { return i >= j }, s*s),
		TokPos: fill(tokens, n, s, all, t*s),
		TokTok: fill(tokens, tokens, t, all, t*t),
		PosTok: fill(n, tokens, t, all, s*t),
	}
	tiny := rnd.IntN(2 * n) // the query, if there is one, whose sum is below Least
	for j := range min(tiny+1, n) {
		if tiny < n {
			f.PosPos[j*s+tiny] *= 1e-210
		}
	}
	return f, x
}

// padded returns a vector of n random numbers and zeros.
func padded(rnd *maker, n int) []float64 {
	v := numbers(rnd, Padded(n)).part
	clear(v[n:])
	return v
}

func checkAttention(t *testing.T, seed uint64, n, tokens, links int) {
	rnd := newMaker(seed, 2)
	f, x := factors(rnd, n, tokens)
	s := Padded(n)
	v := padded(rnd, n)
	var d Rank
	for _, p := range []*[]float64{&d.Queries, &d.Keys} {
		for range links {
			*p = append(*p, padded(rnd, n)...)
		}
	}
	d.Mean, d.Last = padded(rnd, n), padded(rnd, n)
	tt := Padded(tokens)
	arrays := []array{numbers(rnd, s), numbers(rnd, s), numbers(rnd, s)}
	clear(arrays[2].part[n:])
	for _, size := range []int{s * s, tt * s, tt * tt, tt * s} {
		arrays = append(arrays, numbers(rnd, size))
	}
	begin := make([][]float64, len(arrays))
	for i, r := range arrays {
		begin[i] = append([]float64(nil), r.whole...)
	}
	run := func() [][]float64 {
		for i, r := range arrays {
			copy(r.whole, begin[i])
		}
		a := NewAttention(n, tokens)
		sum := a.Fill(f, x)
		a.Combine(arrays[0].part, arrays[2].part, v)
		a.Dots(arrays[1].part, v)
		g := Factors{PosPos: arrays[3].part, TokPos: arrays[4].part, TokTok: arrays[5].part, PosTok: arrays[6].part}
		a.Back(g, d, x)
		a.Back(g, d, x)
		all := [][]float64{a.p, sum}
		for _, r := range arrays {
			all = append(all, append([]float64(nil), r.whole...))
		}
		return all
	}
	names := []string{"attention", "sums", "combination", "dots", "total", "posPos", "tokPos", "tokTok", "posTok"}
	var want [][]float64
	inPlainGo(func() { want = run() })
	atLevels(t, func(t *testing.T) {
		for i, got := range run() {
			same(t, fmt.Sprintf("%d positions, %d tokens: %s", n, tokens, names[i]), got, want[i])
		}
	})
}

func TestAttentionHasTheBytesOfPlainGo(t *testing.T) {
	tokens := []int{1, 3, 8, 10, 16, 17, 20}
	for n := 1; n <= 70; n++ {
		atPlaces(n, func(seed uint64) { checkAttention(t, seed, n, tokens[seed%7], 1+n%3) })
	}
}

func FuzzAttention(f *testing.F) {
	f.Fuzz(func(t *testing.T, seed uint64, n, tokens, links uint8) {
		checkAttention(t, seed, 1+int(n)%140, 1+int(tokens)%40, 1+int(links)%4)
	})
}

// Attention and its gradient agree with the definition.
func TestAttentionByDefinition(t *testing.T) {
	const n, tokens = 11, 3
	rnd := newMaker(5, 6)
	f, x := factors(rnd, n, tokens)
	s, tt := Padded(n), Padded(tokens)
	a := NewAttention(n, tokens)
	a.Fill(f, x)
	u, v := padded(rnd, n), padded(rnd, n)
	d := Rank{append(slices.Clone(u), v...), append(slices.Clone(v), u...), v, u}
	g := Factors{make([]float64, s*s), make([]float64, tt*s), make([]float64, tt*tt), make([]float64, tt*s)}
	a.Back(g, d, x)
	combined, dots, total := make([]float64, s), make([]float64, s), slices.Clone(u)
	a.Combine(combined, total, v)
	for i, c := range combined {
		near(t, "total", total[i], u[i]+c)
	}
	a.Dots(dots, v)
	want := Factors{make([]float64, s*s), make([]float64, tt*s), make([]float64, tt*tt), make([]float64, tt*s)}
	row := make([]float64, n)
	for i := range n {
		sum := 0.0
		for j := range i + 1 {
			row[j] = f.PosPos[j*s+i] * f.TokPos[x[j]*s+i] * f.TokTok[x[j]*tt+x[i]] * f.PosTok[j*tt+x[i]]
			sum += row[j]
		}
		for j := range i + 1 {
			p := row[j] / max(sum, Least)
			near(t, "attention", a.Keys().Data[j*s+i], p)
			grad := u[i]*v[j] + v[i]*u[j] - v[i]
			if i == n-1 {
				grad += u[j]
			}
			combined[i] -= v[j] * p
			dots[j] -= p * v[i]
			want.PosPos[j*s+i] += p * grad
			want.TokPos[x[j]*s+i] += p * grad
			want.TokTok[x[j]*tt+x[i]] += p * grad
			want.PosTok[x[i]*s+j] += p * grad
		}
	}
	size := 0.0
	for i := range n {
		size = max(size, math.Abs(u[i]), math.Abs(v[i]))
	}
	for i := range n {
		near(t, "combination", combined[i]/size, 0)
		near(t, "dots", dots[i]/size, 0)
	}
	for name, pair := range map[string][2][]float64{
		"posPos": {g.PosPos, want.PosPos}, "tokPos": {g.TokPos, want.TokPos},
		"tokTok": {g.TokTok, want.TokTok}, "posTok": {g.PosTok, want.PosTok},
	} {
		for i := range pair[0] {
			near(t, name, pair[0][i]/(size*size), pair[1][i]/(size*size))
		}
	}
}

// near fails unless x is y to a relative 1e-13, or an absolute one where they are small.
func near(t *testing.T, what string, x, y float64) {
	t.Helper()
	if !(math.Abs(x-y) <= 1e-13*max(1, math.Abs(y))) {
		t.Fatalf("%s is %v, want %v", what, x, y)
	}
}

func checkSoftmax(t *testing.T, seed uint64, rows, n int) {
	rnd := newMaker(seed, 4)
	down := (n+7)&^7 + rnd.IntN(4)
	a := numbers(rnd, rows*down)
	x := Matrix{rows, n, down, 1, a.part}
	for k := range rows {
		for i := range n {
			v := &x.Data[k*down+i]
			switch kind := rnd.IntN(10); {
			case kind == 0 && i > 0:
				*v = math.Inf(-1)
			case kind == 1:
				*v = -745.2 * rnd.Float64()
			case seed%2 == 0 || kind == 2:
				*v = 3 * rnd.NormFloat64()
			}
		}
	}
	begin := slices.Clone(a.whole)
	tops, sums := numbers(rnd, rows), numbers(rnd, rows)
	run := func() []float64 {
		copy(a.whole, begin)
		Softmax(x, tops.part, sums.part)
		return slices.Concat(a.whole, tops.whole, sums.whole)
	}
	var want []float64
	inPlainGo(func() { want = run() })
	atLevels(t, func(t *testing.T) {
		same(t, fmt.Sprintf("softmax of %d rows of %d", rows, n), run(), want)
	})
}

func TestSoftmaxHasTheBytesOfPlainGo(t *testing.T) {
	for n := 1; n <= 72; n++ {
		for seed := range uint64(40) {
			checkSoftmax(t, seed, 1+int(seed)%4, n)
		}
	}
}

// checkExp compares with plain Go: where the argument is reduced by no multiple of ln 2, by
// some, at the ends of the range, and where the exponential is subnormal or zero.
func checkExp(t *testing.T, seed uint64, n int) {
	special := []float64{
		0, math.Copysign(0, -1), 1e-300, -1e-300, 1e-17, -1e-17, 0.25, -0.25, -math.Ln2 / 2, -math.Ln2,
		-708.4, -709, -744.4, -745.1, -745.2, -1e9, math.Inf(-1), math.NaN(),
	}
	rnd := newMaker(seed, 6)
	a := numbers(rnd, n)
	for i := range a.part {
		switch rnd.IntN(4) {
		case 0:
			a.part[i] = special[rnd.IntN(len(special))]
		case 1:
			a.part[i] = -750 * rnd.Float64()
		default:
			a.part[i] = 0.25 - rnd.ExpFloat64()
		}
	}
	begin := slices.Clone(a.whole)
	inPlainGo(func() { Exp(a.part) })
	want := slices.Clone(a.whole)
	atLevels(t, func(t *testing.T) {
		copy(a.whole, begin)
		Exp(a.part)
		same(t, fmt.Sprintf("exponentials of %d numbers", n), a.whole, want)
	})
}

func TestExpHasTheBytesOfPlainGo(t *testing.T) {
	for n := 1; n <= 10; n++ {
		for k := range 5 {
			atPlaces(5*n+k, func(seed uint64) { checkExp(t, seed, 8*n) })
		}
	}
}

func FuzzExp(f *testing.F) {
	f.Add(uint64(1), uint8(0))
	f.Add(uint64(19), uint8(9))
	f.Fuzz(func(t *testing.T, seed uint64, eights uint8) { checkExp(t, seed, 8+8*(int(eights)%32)) })
}

func FuzzSoftmax(f *testing.F) {
	f.Fuzz(func(t *testing.T, seed uint64, rows, n uint8) { checkSoftmax(t, seed, 1+int(rows)%5, 1+int(n)%96) })
}

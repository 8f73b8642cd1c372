package simd

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
)

// Eight is the number of problems side by side: entry k of problem l is at the index 8k+l.
const Eight = 8

// Words are eight generators xoshiro256++ (Blackman and Vigna, ACM TOMS 47, 2021)
// side by side, for random words in bulk. [NewWords] makes them.
type Words struct {
	s [4][Eight]uint64 // s[i][l] is word i of the state of generator l
}

// NewWords returns generators whose states are the next 32 draws from src: four of
// the first generator, four of the second, and so on.
func NewWords(src *rand.PCG) *Words {
	w := new(Words)
	for l := range Eight {
		for i := range w.s {
			w.s[i][l] = src.Uint64()
		}
	}
	return w
}

// Fill writes random words to dst: entry 8k+l is the k-th next draw of generator l.
// It panics unless the length of dst is a multiple of 8.
func (w *Words) Fill(dst []uint64) {
	n := vectors(len(dst))
	if assembly && level > none && n > 0 {
		fillWordsVectors(&dst[0], &w.s[0][0], n)
		return
	}
	for l := range Eight {
		s0, s1, s2, s3 := w.s[0][l], w.s[1][l], w.s[2][l], w.s[3][l]
		for k := l; k < len(dst); k += Eight {
			dst[k] = bits.RotateLeft64(s0+s3, 23) + s0
			t := s1 << 17
			s2 ^= s0
			s3 ^= s1
			s1 ^= s2
			s0 ^= s3
			s2 ^= t
			s3 = bits.RotateLeft64(s3, 45)
		}
		w.s[0][l], w.s[1][l], w.s[2][l], w.s[3][l] = s0, s1, s2, s3
	}
}

// vectors returns n/8, and panics unless that is a whole number.
func vectors(n int) int {
	if n%Eight != 0 {
		panic(fmt.Sprintf("simd: length %d, want a multiple of 8", n))
	}
	return n / Eight
}

// sameLength panics unless two slices have one length.
func sameLength(n, want int) {
	if n != want {
		panic(fmt.Sprintf("simd: %d and %d entries, want as many", n, want))
	}
}

// Fraction returns the upper 52 bits of a word as a number from
// {0, 1, ..., 2**52-1} / 2**52, uniform if the word is.
func Fraction(word uint64) float64 { return math.Float64frombits(word>>12|0x3ff<<52) - 1 }

// A Layer is one of 256 ranges of numbers, Left to Left + Width, with an inner range, Lo to Hi.
type Layer struct{ Left, Width, Lo, Hi float64 }

// Point returns the number that a word encodes, Left + u Width. The lower 8 bits of the word
// choose the layer and the upper 52 bits choose u from {1/2, 3/2, ..., 2**52-1/2} / 2**52. It
// reports whether the number is inside the inner range.
func Point(layers *[256]Layer, word uint64) (y float64, inside bool) {
	l := &layers[word&255]
	u := math.Float64frombits(word>>12|0x3ff<<52) - (1 - 0x1p-53)
	y = l.Left + float64(u*l.Width)
	return y, l.Lo < y && y < l.Hi
}

// Points writes the [Point] of each word to y, and whether entry 8k+l is inside to bit l of inside[k]. It
// panics unless y has the length of words, a multiple of 8, and inside an eighth of it.
func Points(y []float64, inside []uint8, words []uint64, layers *[256]Layer) {
	n := vectors(len(words))
	sameLength(len(y), len(words))
	sameLength(len(inside), n)
	if assembly && level > none && n > 0 {
		pointsVectors(&y[0], &inside[0], &words[0], &layers[0].Left, n)
		return
	}
	clear(inside)
	for k, word := range words {
		v, in := Point(layers, word)
		y[k] = v
		if in {
			inside[k/Eight] |= 1 << (k % Eight)
		}
	}
}

// Power returns y^m for m >= 1, the product of the y^(2^i) over the bits i of m, beginning with the lowest.
func Power(y float64, m int) float64 {
	p := 1.0
	for ; m > 0; m >>= 1 {
		if m&1 != 0 {
			p = float64(p * y)
		}
		y = float64(y * y)
	}
	return p
}

// Powers writes the [Power] m of each entry of y to x. It panics if m < 1, and unless x has
// the length of y, a multiple of 8.
func Powers(x, y []float64, m int) {
	sameLength(len(x), len(y))
	if m < 1 {
		panic(fmt.Sprintf("simd: power %d, want at least 1", m))
	}
	n := vectors(len(y))
	if assembly && level > none && n > 0 {
		powersVectors(&x[0], &y[0], m, n)
		return
	}
	x = x[:len(y)]
	if m == 10 { // 1/0.1, for the paper's Dirichlet(0.1): the same products as Power
		for k, v := range y {
			v2 := float64(v * v)
			v4 := float64(v2 * v2)
			x[k] = float64(v2 * float64(v4*v4))
		}
		return
	}
	for k, v := range y {
		x[k] = Power(v, m)
	}
}

// Sums writes to sums the running sums of eight vectors x side by side, from the left. It
// panics unless sums has the length of x, a multiple of 8.
func Sums(sums, x []float64) {
	sameLength(len(sums), len(x))
	n := vectors(len(x))
	if assembly && level > none && n > 0 {
		runningSumsVectors(&sums[0], &x[0], n)
		return
	}
	var total [Eight]float64
	for k := 0; k+Eight <= len(x); k += Eight {
		from, to := (*[Eight]float64)(x[k:]), (*[Eight]float64)(sums[k:])
		for l, v := range from {
			total[l] += v
			to[l] = total[l]
		}
	}
}

// Eliminate writes to mu the stationary measures of eight jump processes side by side with the
// rates a, which it destroys. It is the elimination of Grassmann, Taksar and Heyman (Oper. Res. 33,
// 1985): it removes the states S-1, ..., 1 one by one. It multiplies the result by the sums of the
// rows, whose running sums are in sums, see [Sums], and normalises it.
//
// It returns the two kinds of divisors: the least sum of rates from a state to the states
// before it, and the total of the measure. It panics if the lengths do not fit.
//
// mu: S x 8; a, sums: S x S x 8
func Eliminate(mu, a, sums []float64) (least, total [Eight]float64) {
	s := vectors(len(mu))
	sameLength(len(a), Eight*s*s)
	sameLength(len(sums), len(a))
	for l := range least {
		least[l] = math.MaxFloat64
	}
	if s == 0 {
		return least, total
	}
	if assembly && level > none {
		if s > 1 {
			eliminateVectors(&a[0], &least[0], s)
		}
		measureVectors(&mu[0], &total[0], &a[0], &sums[0], s)
		return least, total
	}
	eliminate(a, &least, s)
	measure(mu, &total, a, sums, s)
	return least, total
}

func eliminate(a []float64, least *[Eight]float64, s int) {
	for n := s - 1; n > 0; n-- {
		row := a[n*s*Eight : (n*s+n)*Eight]
		var out [Eight]float64
		for k := 0; k < len(row); k += Eight {
			for l, p := range (*[Eight]float64)(row[k:]) {
				out[l] += p
			}
		}
		for l, o := range out {
			if o < least[l] {
				least[l] = o
			}
			out[l] = 1 / o
		}
		for i := range n {
			bypass(a[i*s*Eight:(i*s+n+1)*Eight], row, &out)
		}
	}
}

// bypass removes a state from the rates of another state. row has the rates of the removed
// state to the states before it, and inv the inverses of their sums.
func bypass(to, row []float64, inv *[Eight]float64) {
	last := (*[Eight]float64)(to[len(row):])
	for l := range last {
		last[l] = float64(last[l] * inv[l])
	}
	r0, r1, r2, r3, r4, r5, r6, r7 := last[0], last[1], last[2], last[3], last[4], last[5], last[6], last[7]
	for ; len(row) >= Eight && len(to) >= Eight; row, to = row[Eight:], to[Eight:] {
		t, p := (*[Eight]float64)(to), (*[Eight]float64)(row)
		t[0] += float64(r0 * p[0])
		t[1] += float64(r1 * p[1])
		t[2] += float64(r2 * p[2])
		t[3] += float64(r3 * p[3])
		t[4] += float64(r4 * p[4])
		t[5] += float64(r5 * p[5])
		t[6] += float64(r6 * p[6])
		t[7] += float64(r7 * p[7])
	}
}

func measure(mu []float64, total *[Eight]float64, a, sums []float64, s int) {
	for l := range Eight {
		mu[l] = 1
	}
	for n := 1; n < s; n++ {
		var sum [Eight]float64
		for i := range n {
			m, p := (*[Eight]float64)(mu[i*Eight:]), (*[Eight]float64)(a[(i*s+n)*Eight:])
			for l := range Eight {
				sum[l] += float64(m[l] * p[l])
			}
		}
		*(*[Eight]float64)(mu[n*Eight:]) = sum
	}
	for i := range s {
		m, w := (*[Eight]float64)(mu[i*Eight:]), (*[Eight]float64)(sums[(i*s+s-1)*Eight:])
		for l := range Eight {
			m[l] = float64(m[l] * w[l])
			total[l] += m[l]
		}
	}
	for i := range mu {
		mu[i] /= total[i%Eight]
	}
}

// Walk draws states[i], for i = 0, ..., len(parents)-1 in this order, by eight uniform words
// each. With u the [Fraction] of the word of problem l, and r = states[parents[i]][l], the
// state is the number of entries of row r of sums, the last one left out, that are at most
// u times the last one. The caller sets the states from len(parents) on.
//
// It panics unless s is at least 1, there are eight words for each parent, a parent stands
// before its child or from len(parents) on, and sums has a row for every state.
//
// words: len(parents) x 8; sums: rows x s x 8, running sums as of [Sums]
func Walk(states [][Eight]int, parents []int, words []uint64, sums []float64, s int) {
	t := len(parents)
	if t > len(states) || s < 1 {
		panic(fmt.Sprintf("simd: a walk of %d positions on %d among %d states", t, len(states), s))
	}
	sameLength(len(words), Eight*t)
	for i, p := range parents {
		if p < 0 || p >= i && p < t || p >= len(states) {
			panic(fmt.Sprintf("simd: parent %d of position %d of %d, and %d in all", p, i, t, len(states)))
		}
	}
	checkRows(states[t:], s, sums, s)
	if t > 0 {
		walk(states, states, parents, words, sums, s)
	}
}

// Pick draws states by eight words as [Walk] does, each from its row of sums. It panics unless
// s is at least 1, and sums has the rows.
func Pick(states, rows *[Eight]int, words *[Eight]uint64, sums []float64, s int) {
	if s < 1 {
		panic(fmt.Sprintf("simd: a pick among %d states, want at least 1", s))
	}
	to, from := [1][Eight]int{}, [1][Eight]int{*rows}
	checkRows(from[:], 1, sums, s)
	walk(to[:], from[:], []int{0}, words[:], sums, s)
	*states = to[0]
}

// checkRows panics unless sums has all rows, and at least number of them.
func checkRows(rows [][Eight]int, number int, sums []float64, s int) {
	least, most := 0, number-1
	for i := range rows {
		for _, r := range &rows[i] {
			least, most = min(least, r), max(most, r)
		}
	}
	if least < 0 || most >= len(sums)/Eight/s {
		panic(fmt.Sprintf("simd: rows %d to %d of %d sums over %d states", least, most, len(sums), s))
	}
}

func walk(states, rows [][Eight]int, parents []int, words []uint64, sums []float64, s int) {
	if assembly && level > none {
		walkVectors(&states[0][0], &rows[0][0], &parents[0], &words[0], &sums[0], s, len(parents))
		return
	}
	last := Eight * (s - 1)
	for i, p := range parents {
		for l := range Eight {
			row := sums[rows[p][l]*s*Eight+l:]
			u := float64(Fraction(words[Eight*i+l]) * row[last])
			state := 0
			for k := 0; k < last; k += Eight {
				if row[k] <= u {
					state++
				}
			}
			states[i][l] = state
		}
	}
}

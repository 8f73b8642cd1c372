package simd

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// compare fails unless f returns with each kind of vectors the numbers that it returns
// without.
func compare(t *testing.T, what string, f func() []float64) {
	t.Helper()
	defer func(old int) { level = old }(level)
	level = none
	want := f()
	atLevels(t, func(t *testing.T) { same(t, what, f(), want) })
}

// floats returns words as the numbers with their bits.
func floats(words ...uint64) []float64 {
	var x []float64
	for _, w := range words {
		x = append(x, math.Float64frombits(w))
	}
	return x
}

// The first words from the states 1, 2, 3, 4 equal the output of the authors' code, in
// every lane and with all vectors.
func TestWordsAreXoshiro(t *testing.T) {
	defer func(old int) { level = old }(level)
	for level = none; level <= available(); level++ {
		w := new(Words)
		for i := range w.s {
			for l := range Eight {
				w.s[i][l] = uint64(i + 1)
			}
		}
		got := make([]uint64, 5*Eight)
		w.Fill(got[:2*Eight])
		w.Fill(got[2*Eight:])
		for k, want := range []uint64{41943041, 58720359, 3588806011781223, 3591011842654386, 9228616714210784205} {
			for l := range Eight {
				if got[Eight*k+l] != want {
					t.Errorf("%s: word %d of generator %d is %d, want %d", Level(), k, l, got[Eight*k+l], want)
				}
			}
		}
	}
}

// The state of lane l is made of the words 4l, 4l+1, ... of the source.
func TestWordsOfEachLane(t *testing.T) {
	src, again := rand.NewPCG(1, 2), rand.NewPCG(1, 2)
	for l, w := range NewWords(src).s[0] {
		if got := again.Uint64(); got != w {
			t.Errorf("the state of generator %d starts with %d, want %d", l, w, got)
		}
		for range 3 {
			again.Uint64()
		}
	}
}

// checkEight compares all kernels at n entries, states and powers with plain Go.
func checkEight(t *testing.T, seed uint64, n, m int) {
	rnd := newMaker(seed, 1)
	x := numbers(rnd, Eight*n).part
	compare(t, fmt.Sprintf("%d words", n), func() []float64 {
		w, dst := NewWords(rand.NewPCG(seed, 2)), room[uint64](rnd, Eight*n)
		w.Fill(dst)
		return floats(slices.Concat(dst, w.s[0][:], w.s[1][:], w.s[2][:], w.s[3][:])...)
	})
	y := numbers(rnd, Eight*n)
	begin := slices.Clone(y.whole)
	compare(t, fmt.Sprintf("%d running sums", n), func() []float64 {
		copy(y.whole, begin)
		Sums(y.part, x)
		return slices.Clone(y.whole)
	})
	compare(t, fmt.Sprintf("%d powers %d", n, m), func() []float64 {
		copy(y.whole, begin)
		Powers(y.part, x, m)
		return slices.Clone(y.whole)
	})
	comparePoints(t, rnd, n)
	compareElimination(t, rnd, n)
	compareWalks(t, rnd, n)
}

func comparePoints(t *testing.T, rnd *maker, n int) {
	var layers [256]Layer
	for i := range layers {
		layers[i] = Layer{rnd.Float64(), 1 + rnd.Float64(), 0.8 * rnd.Float64(), 1 + rnd.Float64()}
	}
	words := room[uint64](rnd, Eight*n)
	for k := range words {
		if words[k] = rnd.Uint64(); rnd.IntN(8) == 0 { // y is an end of the inner part
			y, _ := Point(&layers, words[k])
			below := float64(rnd.IntN(2))
			layers[words[k]&255].Lo, layers[words[k]&255].Hi = y-below, y+1-below
		}
	}
	compare(t, fmt.Sprintf("%d points", n), func() []float64 {
		y, inside := room[float64](rnd, Eight*n), room[uint8](rnd, n)
		Points(y, inside, words, &layers)
		for _, in := range inside {
			y = append(y, float64(in))
		}
		return y
	})
}

func compareElimination(t *testing.T, rnd *maker, s int) {
	rates, sums := room[float64](rnd, Eight*s*s), room[float64](rnd, Eight*s*s)
	for i := range rates {
		if rates[i] = math.Pow(10, -200*rnd.Float64()); i%Eight == 1 && rnd.IntN(2) == 0 {
			rates[i] = 0 // and nothing is a number in this lane
		}
	}
	for k := 0; k < len(rates); k += Eight * s {
		Sums(sums[k:k+Eight*s], rates[k:k+Eight*s])
	}
	compare(t, fmt.Sprintf("elimination of %d states", s), func() []float64 {
		mu, a := room[float64](rnd, Eight*s), room[float64](rnd, Eight*s*s)
		copy(a, rates)
		for i := range mu {
			mu[i] = 7 // overwritten
		}
		least, total := Eliminate(mu, a, sums)
		all := slices.Concat(mu, a, least[:], total[:])
		for i, v := range all {
			if math.IsNaN(v) {
				all[i] = -1 // its sign and payload are nobody's
			}
		}
		return all
	})
}

func compareWalks(t *testing.T, rnd *maker, s int) {
	sums := room[float64](rnd, (s+1)*Eight*s)
	for r := range s + 1 {
		x := make([]float64, Eight*s)
		for i := range x {
			x[i] = float64(rnd.IntN(4))
		}
		Sums(sums[r*Eight*s:(r+1)*Eight*s], x)
	}
	const t0 = 7
	states, parents, words := make([][Eight]int, t0+2), make([]int, t0), room[uint64](rnd, Eight*t0)
	for l := range Eight {
		states[t0][l], states[t0+1][l] = s, rnd.IntN(s+1)
	}
	for i := range parents {
		if parents[i] = rnd.IntN(t0 + 1); parents[i] >= i {
			parents[i] = t0 + rnd.IntN(2)
		}
	}
	for k := range words {
		words[k] = rnd.Uint64() >> 59 << 59 // a fraction that is often a ratio of sums
	}
	compare(t, fmt.Sprintf("walk among %d states", s), func() []float64 {
		var all []float64
		Walk(states, parents, words, sums, s)
		for _, eight := range states {
			for _, state := range eight {
				all = append(all, float64(state))
			}
		}
		var picked [Eight]int
		Pick(&picked, &states[t0+1], (*[Eight]uint64)(words), sums, s)
		for _, state := range picked {
			all = append(all, float64(state))
		}
		return all
	})
}

// By hand: three states, by rows of running sums 1, 3, 4 and 0, 0, 2 and 2, 2, 2.
func TestWalkByHand(t *testing.T) {
	var sums []float64
	for _, row := range [][3]float64{{1, 3, 4}, {0, 0, 2}, {2, 2, 2}, {0.5, 1, 1}} {
		for _, v := range row {
			sums = append(sums, slices.Repeat([]float64{v}, Eight)...)
		}
	}
	// Fractions in eighths: 0 to 7 of the row's last number.
	words := make([]uint64, 0, 3*Eight)
	for range 3 {
		for l := range uint64(Eight) {
			words = append(words, l<<61)
		}
	}
	defer func(old int) { level = old }(level)
	for level = none; level <= available(); level++ {
		// Row 3 is given at the end; position 0 has it, 1 follows 0, 2 has row 3 again.
		states := make([][Eight]int, 4)
		for l := range Eight {
			states[3][l] = 3
		}
		Walk(states, []int{3, 0, 3}, words, sums, 3)
		first := [Eight]int{0, 0, 0, 0, 1, 1, 1, 1} // 1/2 is at most u from 4/8 on, and 1 never
		want := [][Eight]int{first, {0, 0, 1, 1, 2, 2, 2, 2}, first}
		if !slices.Equal(states[:3], want) {
			t.Errorf("%s: states %v, want %v", Level(), states[:3], want)
		}
		var picked [Eight]int
		Pick(&picked, &[Eight]int{0, 0, 0, 0, 2, 2, 2, 2}, (*[Eight]uint64)(words), sums, 3)
		if want := [Eight]int{0, 0, 1, 1, 0, 0, 0, 0}; picked != want {
			t.Errorf("%s: picked %v, want %v", Level(), picked, want)
		}
	}
}

func TestEightHaveTheBytesOfPlainGo(t *testing.T) {
	for n := 1; n <= 40; n++ {
		atPlaces(n, func(seed uint64) { checkEight(t, seed, n, 1+int(seed)%1000) })
	}
}

func FuzzEight(f *testing.F) {
	f.Add(uint64(1), uint8(10), uint16(10))
	f.Add(uint64(2), uint8(1), uint16(1))
	f.Add(uint64(3), uint8(3), uint16(1000))
	f.Fuzz(func(t *testing.T, seed uint64, n uint8, m uint16) {
		checkEight(t, seed, 1+int(n)%70, 1+int(m)%1000)
	})
}

// Nothing is done, and nothing goes wrong, where there is nothing to do.
func TestEightOfNothing(t *testing.T) {
	NewWords(rand.NewPCG(1, 1)).Fill(nil)
	Points(nil, nil, nil, new([256]Layer))
	Powers(nil, nil, 3)
	Sums(nil, nil)
	Eliminate(nil, nil, nil)
}

package simd

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// inPlainGo calls f without vectors, for the results that define the vectors' results.
func inPlainGo(f func()) {
	defer func(old int) { level = old }(level)
	level = none
	f()
}

// atLevels calls f with each kind of vectors that the machine has.
func atLevels(t *testing.T, f func(t *testing.T)) {
	defer func(old int) { level = old }(level)
	if available() < avx512 {
		t.Logf("NOT CHECKED: more vectors than %s, which is what this machine, or this build, has", levels[available()])
	}
	for level = none; level <= available(); level++ {
		f(t)
	}
}

// guard is how many numbers stand at both ends of an array that is nobody's business.
const guard = 16

// An array is a part of numbers that begins anywhere between two vectors.
type array struct{ whole, part []float64 }

// A maker makes arrays, each of which begins a step further from the beginning of a vector
// than the one before. With eight seeds that follow one another from a multiple of eight on,
// every array of a check begins at each of the eight places.
type maker struct {
	*rand.Rand
	next, step int
}

func newMaker(seed, stream uint64) *maker {
	return &maker{rand.New(rand.NewPCG(seed, stream)), int(seed % places), int(seed / places % places)}
}

// places is how many numbers the longest vector has.
const places = 8

// atPlaces calls check with the eight seeds of a number.
func atPlaces(n int, check func(seed uint64)) {
	for at := range places {
		check(uint64(places*n + at))
	}
}

// numbers returns n random numbers of different sizes between guards.
func numbers(rnd *maker, n int) array {
	whole := make([]float64, n+2*guard+places)
	for i := range whole {
		whole[i] = rnd.NormFloat64() * math.Exp2(float64(rnd.IntN(20)))
		if rnd.IntN(8) == 0 {
			whole[i] = 0
		}
	}
	at := guard + rnd.next%places
	rnd.next += rnd.step
	return array{whole, whole[at : at+n : at+n]}
}

// room returns n zeros that begin where the next array does.
func room[T any](rnd *maker, n int) []T {
	at := rnd.next % places
	rnd.next += rnd.step
	return make([]T, n+places)[at : at+n : at+n]
}

// same fails unless all bits of a and b are equal.
func same(t *testing.T, what string, a, b []float64) {
	t.Helper()
	for i := range a {
		if math.Float64bits(a[i]) != math.Float64bits(b[i]) {
			t.Fatalf("%s with %s: %v at %d, plain Go %v", what, Level(), a[i], i, b[i])
		}
	}
}

func checkAddMul(t *testing.T, seed uint64, m, n, k int) {
	rnd := newMaker(seed, 1)
	a := Dense(m, k, numbers(rnd, m*k).part)
	if rnd.IntN(2) == 0 {
		a = Dense(k, m, a.Data).T()
	}
	gap := rnd.IntN(5)
	b := Matrix{k, n, n + gap, 1, numbers(rnd, k*(n+gap)).part}
	sum := numbers(rnd, m*(n+gap))
	c := Matrix{m, n, n + gap, 1, sum.part}
	begin := append([]float64(nil), sum.whole...)
	inPlainGo(func() { c.AddMul(a, b) })
	want := append([]float64(nil), sum.whole...)
	atLevels(t, func(t *testing.T) {
		copy(sum.whole, begin)
		c.AddMul(a, b)
		same(t, fmt.Sprintf("product %dx%dx%d", m, n, k), sum.whole, want)
	})
}

// Every number of columns up to 70, and every remainder of rows and terms; and sizes
// that are taken in parts.
func TestAddMulHasTheBytesOfPlainGo(t *testing.T) {
	for n := 1; n <= 70; n++ {
		for m := 1; m <= 9; m++ {
			atPlaces(n, func(seed uint64) { checkAddMul(t, seed, m, n, 1+(m*n)%17) })
		}
	}
	checkAddMul(t, 1, 130, 17, 140)
	checkAddMul(t, 2, 65, 3, 64)
}

// A product agrees with the definition, and its terms are added in order.
func TestAddMulAddsInOrder(t *testing.T) {
	c := Dense(1, 1, []float64{1})
	c.AddMul(Dense(1, 3, []float64{1, 1, 1}), Dense(3, 1, []float64{1e17, -1e17, 3}))
	if c.Data[0] != 3 {
		t.Errorf("1 + 1e17 - 1e17 + 3 is %v, want 3", c.Data[0])
	}
	a, b := Dense(2, 3, []float64{1, 2, 3, 4, 5, 6}), Dense(3, 2, []float64{1, 2, 3, 4, 5, 6})
	c = Dense(2, 2, make([]float64, 4))
	c.AddMul(a, b)
	same(t, "product", c.Data, []float64{22, 28, 49, 64})
	clear(c.Data)
	c.AddMul(Dense(3, 2, []float64{1, 4, 2, 5, 3, 6}).T(), b)
	same(t, "product with a transpose", c.Data, []float64{22, 28, 49, 64})
}

func FuzzAddMul(f *testing.F) {
	f.Fuzz(func(t *testing.T, seed uint64, m, n, k uint8) {
		checkAddMul(t, seed, 1+int(m)%140, 1+int(n)%90, 1+int(k)%140)
	})
}

func checkRectify(t *testing.T, seed uint64, rows, columns int) {
	rnd := newMaker(seed, 5)
	rows, columns = 8*rows, 8*columns
	var all []array
	for _, n := range []int{rows * columns, rows * columns, rows * columns, columns} {
		all = append(all, numbers(rnd, n))
	}
	all[0].part[rnd.IntN(rows*columns)] = math.Copysign(0, -1)
	begin := make([][]float64, len(all))
	for i, a := range all {
		begin[i] = slices.Clone(a.whole)
	}
	run := func() (after [][]float64) {
		for i, a := range all {
			copy(a.whole, begin[i])
		}
		x, dx, y, products := all[0].part, all[1].part, all[2].part, all[3].part
		Rectify(x)
		RectifyGrad(dx, x, products)
		Transpose(y, x, rows, columns)
		for _, a := range all {
			after = append(after, slices.Clone(a.whole))
		}
		return after
	}
	defer func(old int) { level = old }(level)
	level = none
	want := run()
	atLevels(t, func(t *testing.T) {
		for i, got := range run() {
			same(t, fmt.Sprintf("%dx%d: array %d", rows, columns, i), got, want[i])
		}
	})
}

func TestRectifyAndTransposeHaveTheBytesOfPlainGo(t *testing.T) {
	for rows := 1; rows <= 9; rows++ {
		for columns := 1; columns <= 9; columns++ {
			atPlaces(rows*columns, func(seed uint64) { checkRectify(t, seed, rows, columns) })
		}
	}
}

func FuzzRectify(f *testing.F) {
	f.Add(uint64(1), uint8(3), uint8(4))
	f.Fuzz(func(t *testing.T, seed uint64, rows, columns uint8) {
		checkRectify(t, seed, 1+int(rows)%12, 1+int(columns)%12)
	})
}

func TestTransposeAndRectify(t *testing.T) {
	x, y := make([]float64, 8*16), make([]float64, 16*8)
	for i := range x {
		x[i] = float64(i - 60)
	}
	Transpose(y, x, 8, 16)
	for i := range 8 {
		for j := range 16 {
			if y[8*j+i] != x[16*i+j] {
				t.Fatalf("transpose has %v at (%d, %d), want %v", y[8*j+i], j, i, x[16*i+j])
			}
		}
	}
	dx, products := make([]float64, 128), make([]float64, 16)
	for i := range dx {
		dx[i] = 1
	}
	Rectify(x)
	RectifyGrad(dx, x, products)
	sum := 0.0
	for i := range x {
		want := max(0, float64(i-60))
		if x[i] != want || dx[i] != min(want, 1) {
			t.Fatalf("%d: rectified to %v, gradient %v; want %v, %v", i-60, x[i], dx[i], want, min(want, 1))
		}
	}
	for _, v := range products {
		sum += v
	}
	if want := 67.0 * 68 / 2; sum != want {
		t.Errorf("products add up to %v, want %v", sum, want)
	}
}

func TestLevels(t *testing.T) {
	for _, c := range []struct {
		name      string
		has, want int
	}{
		{"", avx512, avx512},
		{"", none, none},
		{"none", avx512, none},
		{"avx2", avx512, avx2},
		{"avx512", avx2, avx2},
	} {
		if got, err := chosen(c.name, c.has); err != nil || got != c.want {
			t.Errorf("%q with %s gives %s, want %s", c.name, levels[c.has], levels[got], levels[c.want])
		}
	}
	const want = `simd: the environment variable LEARNCAUSAL_VECTORS is "sse", want one of [none avx2 avx512]`
	if _, err := chosen("sse", avx512); err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

package lanes

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// atLevels calls f with each kind of vectors that the machine has.
func atLevels(t *testing.T, f func(t *testing.T)) {
	defer func(old int) { level = old }(level)
	if available() < avx512 {
		t.Logf("NOT CHECKED: more vectors than %s, which is what this machine, or this build, has", levels[available()])
	}
	for level = avx2; level <= available(); level++ {
		f(t)
	}
}

// guard is how many numbers stand at both ends of an array that is nobody's business.
const guard = 16

// An array is a part of numbers that begins anywhere between two vectors.
type array struct{ whole, part []float64 }

// numbers returns n random numbers of different sizes between guards.
func numbers(rnd *rand.Rand, n int) array {
	whole := make([]float64, n+2*guard+8)
	for i := range whole {
		whole[i] = rnd.NormFloat64() * math.Exp2(float64(rnd.IntN(20)))
		if rnd.IntN(8) == 0 {
			whole[i] = 0
		}
	}
	at := guard + rnd.IntN(8)
	return array{whole, whole[at : at+n : at+n]}
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
	rnd := rand.New(rand.NewPCG(seed, 1))
	a := Dense(m, k, numbers(rnd, m*k).part)
	if rnd.IntN(2) == 0 {
		a = Dense(k, m, a.Data).T()
	}
	gap := rnd.IntN(5)
	b := Matrix{k, n, n + gap, 1, numbers(rnd, k*(n+gap)).part}
	sum := numbers(rnd, m*(n+gap))
	c := Matrix{m, n, n + gap, 1, sum.part}
	begin := append([]float64(nil), sum.whole...)
	addMulGo(c, a, b)
	want := append([]float64(nil), sum.whole...)
	atLevels(t, func(t *testing.T) {
		copy(sum.whole, begin)
		c.AddMul(a, b)
		same(t, fmt.Sprintf("product %dx%dx%d", m, n, k), sum.whole, want)
	})
}

// Every number of columns up to 70, and every remainder of rows and terms; and sizes
// that are taken in parts.
func TestAddMulIsThatOfPlainGo(t *testing.T) {
	for n := 1; n <= 70; n++ {
		for m := 1; m <= 9; m++ {
			checkAddMul(t, uint64(n), m, n, 1+(m*n)%17)
		}
	}
	checkAddMul(t, 1, 130, 17, 140)
	checkAddMul(t, 2, 65, 3, 64)
}

// A product is that of the definition, and its terms are added in their order.
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
		if got := chosen(c.name, c.has); got != c.want {
			t.Errorf("%q with %s gives %s, want %s", c.name, levels[c.has], levels[got], levels[c.want])
		}
	}
	defer func() {
		const want = `lanes: the environment variable LEARNCAUSAL_VECTORS is "sse", want one of [none avx2 avx512]`
		if said := recover(); said != want {
			t.Errorf("said %v, want %s", said, want)
		}
	}()
	chosen("sse", avx512)
}

package lanes

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// atLevels calls f with each kind of vectors that the machine has but none.
func atLevels(t *testing.T, f func(t *testing.T)) {
	defer func(old int) { level = old }(level)
	if available() == none {
		t.Log("NOT CHECKED: this machine has no vectors, or the build none of its assembly")
	}
	for level = avx2; level <= available(); level++ {
		f(t)
	}
}

// numbers returns n random numbers of different sizes that begin at any distance
// from where a vector would, in an array with guards at both ends.
func numbers(rnd *rand.Rand, n int) []float64 {
	const guard = 9
	all := make([]float64, n+2*guard+8)
	for i := range all {
		all[i] = rnd.NormFloat64() * math.Exp2(float64(rnd.IntN(20)))
		if rnd.IntN(8) == 0 {
			all[i] = 0
		}
	}
	at := guard + rnd.IntN(8)
	return all[at : at+n]
}

// whole returns the array that x of [numbers] is part of, with its guards.
func whole(x []float64) []float64 { return x[:cap(x)] }

// same fails unless all bits of a and b are equal.
func same(t *testing.T, what string, a, b []float64) {
	t.Helper()
	for i := range a {
		if math.Float64bits(a[i]) != math.Float64bits(b[i]) {
			t.Fatalf("%s with %s: %v at %d, plain Go %v", what, Level(), a[i], i, b[i])
		}
	}
}

func copied(x []float64) []float64 { return append(make([]float64, 0, cap(x)), x...) }

func checkAddMul(t *testing.T, seed uint64, m, n, k int) {
	rnd := rand.New(rand.NewPCG(seed, 1))
	a := Dense(m, k, numbers(rnd, m*k))
	if rnd.IntN(2) == 0 {
		a = Dense(k, m, a.Data).T()
	}
	gap := rnd.IntN(5)
	b := Matrix{k, n, n + gap, 1, numbers(rnd, k*(n+gap))}
	c := Matrix{m, n, n + gap, 1, numbers(rnd, m*(n+gap))}
	want := c
	want.Data = copied(whole(c.Data))[:len(c.Data)]
	addMulGo(want, a, b)
	plain := copied(whole(c.Data))
	atLevels(t, func(t *testing.T) {
		got := c
		got.Data = append([]float64(nil), plain...)[:len(c.Data)]
		got.AddMul(a, b)
		same(t, fmt.Sprintf("product %dx%dx%d", m, n, k), whole(got.Data)[:len(plain)], whole(want.Data)[:len(plain)])
	})
}

// Every number of columns up to 70, and every remainder of rows and terms.
func TestAddMul(t *testing.T) {
	for n := 1; n <= 70; n++ {
		for m := 1; m <= 9; m++ {
			checkAddMul(t, uint64(n), m, n, 1+(m*n)%17)
		}
	}
}

func FuzzAddMul(f *testing.F) {
	f.Add(uint64(1), uint8(8), uint8(60), uint8(30))
	f.Add(uint64(2), uint8(1), uint8(1), uint8(1))
	f.Add(uint64(3), uint8(30), uint8(70), uint8(8))
	f.Fuzz(func(t *testing.T, seed uint64, m, n, k uint8) {
		checkAddMul(t, seed, 1+int(m)%40, 1+int(n)%90, 1+int(k)%70)
	})
}

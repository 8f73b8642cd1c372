package num

import (
	"encoding/binary"
	"hash/fnv"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// bigExp returns e**x to well over 100 bits.
func bigExp(x float64) *big.Float {
	const prec = 400
	z := new(big.Float).SetPrec(prec).SetFloat64(x)
	z.SetMantExp(z, -16) // x / 2**16
	sum, term := big.NewFloat(1).SetPrec(prec), big.NewFloat(1).SetPrec(prec)
	for n := 1; n < 60; n++ {
		term.Quo(term.Mul(term, z), new(big.Float).SetInt64(int64(n)))
		sum.Add(sum, term)
	}
	for range 16 {
		sum.Mul(sum, sum)
	}
	return sum
}

func ulps(got float64, want *big.Float) float64 {
	w, _ := want.Float64()
	ulp := math.Nextafter(math.Abs(w), math.Inf(1)) - math.Abs(w)
	d := new(big.Float).SetPrec(400).Sub(big.NewFloat(got).SetPrec(400), want)
	diff, _ := d.Float64()
	return math.Abs(diff) / ulp
}

func TestExpWithinOneUlp(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		x := (rnd.Float64() - 0.5) * 1400
		if rnd.IntN(2) == 0 {
			x /= 1000
		}
		if e := ulps(Exp(x), bigExp(x)); e > 1 {
			t.Errorf("Exp(%v) is %.2f ulp off", x, e)
		}
	}
	for _, x := range []float64{0, 709.7, -708.3, -740, -745.2, 710, math.Inf(1), math.Inf(-1)} {
		if got, want := Exp(x), math.Exp(x); math.Abs(got-want) > 1e-15*want && got != want && want > 1e-300 {
			t.Errorf("Exp(%v) = %v, want %v", x, got, want)
		}
	}
}

// The largest and the least argument at which Exp is neither infinite nor zero, and those next
// to them.
func TestExpAtItsEnds(t *testing.T) {
	const most, least = 709.782712893384, -745.1332191019411
	for _, c := range []struct{ x, want float64 }{
		{most, 1.7976931348622732e+308},
		{math.Nextafter(most, 800), math.Inf(1)},
		{least, 5e-324},
		{math.Nextafter(least, -800), 0},
		{-708.3, 2.4e-308},
		{-740, 4.2e-322},
	} {
		if got := Exp(c.x); got != c.want && !(math.Abs(got-c.want) < 0.05*c.want) {
			t.Errorf("Exp(%v) = %v, want %v", c.x, got, c.want)
		}
	}
}

func TestLogInvertsExp(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		x := (rnd.Float64() - 0.5) * 1400
		// Relative error of exp(log v) against v, to first order.
		v := math.Exp(x / 2)
		back, _ := bigExp(Log(v)).Float64()
		if r := math.Abs(back/v - 1); r > 2e-16*(1+math.Abs(x)) {
			t.Errorf("exp(Log(%v)) = %v", v, back)
		}
		if got, want := Log(v), math.Log(v); math.Abs(got-want) > 4e-16*math.Abs(want) {
			t.Errorf("Log(%v) = %v, want %v", v, got, want)
		}
	}
	if !math.IsInf(Log(0), -1) || !math.IsNaN(Log(-1)) || Log(1) != 0 {
		t.Error("Log at 0, -1 or 1")
	}
	if Log(math.MaxFloat64) != math.Log(math.MaxFloat64) || !math.IsInf(Log(math.Inf(1)), 1) {
		t.Error("Log at the largest number or beyond")
	}
}

// The first draws are pinned: stored runs depend on them.
func TestStreamIsPinned(t *testing.T) {
	a := Stream(1, "test", 2, 3)
	got := [2]uint64{a.Uint64(), a.Uint64()}
	want := [2]uint64{0xe1994319ebb747e9, 0xc6bb20f6738fec28}
	if got != want {
		t.Errorf("Stream(1, test, 2, 3) starts with %#x, want %#x", got, want)
	}
	if b := Stream(1, "test", 3, 2); b.Uint64() == got[0] {
		t.Error("the order of the indices does not matter")
	}
	for range 1000 {
		if u := UniformOpen(a); u <= 0 || u >= 1 {
			t.Fatalf("UniformOpen gave %v", u)
		}
	}
}

// The bits of all functions are pinned, on either side of each of their branches.
func TestBitsArePinned(t *testing.T) {
	h, src := fnv.New64a(), Stream(2, "bits")
	for range 3000 {
		u, z := Uniform(src), Normal(src)
		for _, x := range []float64{z, CosPi(u), Exp(1500 * (u - 0.5)), Exp(-1500 * u), Log(u), Log(1e300 * u)} {
			h.Write(binary.LittleEndian.AppendUint64(nil, math.Float64bits(x)))
		}
	}
	if got := h.Sum64(); got != 0x45f3e5799407134 {
		t.Errorf("digest %#x", got)
	}
}

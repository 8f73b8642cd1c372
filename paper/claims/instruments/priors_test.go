package instruments

import (
	"math"
	"math/rand/v2"
	"testing"

	"learncausal/paper/exact"
	"learncausal/pkg/theory"
)

func TestLightStateInClosedForm(t *testing.T) {
	for s := 3; s <= 6; s++ {
		m, d := exact.Frac(1, 20), exact.Frac(3, 40)
		pi := exact.LightState(s, m, d)
		if pi.Trace().Cmp(exact.Int(1)) != 0 {
			t.Errorf("S = %d: trace %v, want 1", s, pi.Trace())
		}
		c := theory.MustChain(pi.Floats(), s)
		norm, entries, rows := lightNorm(s, exact.Float(m), exact.Float(d))
		gamma := BothBullets.among(entries, rows)
		if want := exact.Float(exact.FrobeniusSquared(pi)); math.Abs(norm-want) > 1e-15 || math.Abs(gamma-c.Gamma()) > 1e-14 {
			t.Errorf("S = %d: norm %v, gamma %v, want %v, %v", s, norm, gamma, want, c.Gamma())
		}
	}
}

func TestWithTraceInBothArithmetics(t *testing.T) {
	pi := exact.Rats("1/2 1/4 1/4; 1/3 1/3 1/3; 1/5 1/5 3/5")
	for _, want := range []string{"1", "1/2", "2"} {
		q := exact.WithTrace(pi, exact.Rat(want))
		if err := exact.CheckRows(q); err != nil || q.Trace().Cmp(exact.Rat(want)) != 0 {
			t.Errorf("trace %v, want %v (%v)", q.Trace(), want, err)
		}
		for k, v := range withTraceFloats(pi.Floats(), 3, exact.Float(exact.Rat(want))) {
			if math.Abs(v-q.Floats()[k]) > 1e-15 {
				t.Errorf("trace %s, entry %d: %v, want %v", want, k, v, q.Floats()[k])
			}
		}
	}
}

// The closed forms of chains over two states are those of the matrices.
func TestTwoStatesEncloseTheChain(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		a, b := 0.02+0.96*r.Float64(), 0.02+0.96*r.Float64()
		c, in := theory.MustChain([]float64{1 - a, a, b, 1 - b}, 2), newTwoStates(exact.At(a), exact.At(b))
		for name, of := range map[string]struct {
			in exact.Range
			x  float64
		}{
			"lambda": {in.Lambda, c.Lambda()}, "alpha": {in.Lambda, c.Alpha()},
			"floor": {in.Entries, EntryBullet.Float(c)}, "gamma": {in.Gamma, c.Gamma()},
		} {
			if of.x < of.in.Lo-1e-12 || of.x > of.in.Hi+1e-12 {
				t.Errorf("%s is %v, outside of %v, for a = %v, b = %v", name, of.x, of.in, a, b)
			}
		}
	}
}

package claims

import (
	"math"
	"testing"

	"learncausal/pkg/exact"
	"learncausal/pkg/theory"
)

func TestLightStateInClosedForm(t *testing.T) {
	for s := 3; s <= 6; s++ {
		m, d := exact.Frac(1, 20), exact.Frac(3, 40)
		pi := lightState(s, m, d)
		if pi.Trace().Cmp(exact.Frac(1, 1)) != 0 {
			t.Errorf("S = %d: trace %v, want 1", s, pi.Trace())
		}
		c := theory.MustChain(pi.Floats(), s)
		norm, gamma := lightNorm(s, ratFloat(m), ratFloat(d))
		if want := ratFloat(exact.FrobeniusSquared(pi)); math.Abs(norm-want) > 1e-15 || math.Abs(gamma-c.Gamma()) > 1e-14 {
			t.Errorf("S = %d: norm %v, gamma %v, want %v, %v", s, norm, gamma, want, c.Gamma())
		}
	}
}

func TestWithTraceInBothArithmetics(t *testing.T) {
	pi := exact.Rats("1/2 1/4 1/4; 1/3 1/3 1/3; 1/5 1/5 3/5")
	for _, want := range []string{"1", "1/2", "2"} {
		q := withTrace(pi, exact.Rat(want))
		if err := exact.CheckRows(q); err != nil || q.Trace().Cmp(exact.Rat(want)) != 0 {
			t.Errorf("trace %v, want %v (%v)", q.Trace(), want, err)
		}
		for k, v := range mixed(pi.Floats(), 3, ratFloat(exact.Rat(want))) {
			if math.Abs(v-q.Floats()[k]) > 1e-15 {
				t.Errorf("trace %s, entry %d: %v, want %v", want, k, v, q.Floats()[k])
			}
		}
	}
}

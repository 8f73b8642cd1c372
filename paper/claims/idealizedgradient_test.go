package claims

import (
	"testing"

	"learncausal/paper/exact"
	"learncausal/pkg/num"
)

// ghat(beta) in rationals from the limits of E1/E2 and E3, against the theory's floats and the
// enclosure.
func TestGHatIsThatOfTheLimits(t *testing.T) {
	check := comparing(t)
	for _, u := range asymmetrics() {
		d := int64(1)
		for _, m := range exact.MustStationary(u.first) {
			d = leastMultiple(d, m.Denom().Int64())
		}
		for _, base := range []float64{1, 1.125, 1.5} {
			r, beta := exact.Frac(3, 10), float64(d)*num.Log(base)
			want := exact.Float(ghatAsDefined(u.first, r, exact.FromFloats([]float64{base}, 1)[0][0], d))
			check("ghat(beta)", u.chain().GHatBeta(0.3, beta), want)
			check("ghat(beta)", exact.GHat(u.first, r, exact.FromFloats([]float64{beta}, 1)[0][0]).Float(), want)
		}
	}
}

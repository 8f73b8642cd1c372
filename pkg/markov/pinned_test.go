package markov

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"learncausal/pkg/internal/sampler"
	"learncausal/pkg/internal/simd"
)

// Stored runs depend on the bits of draws: by every method, for each kind of ziggurat, and
// for more states than fit on the stack.
func TestBitsOfDrawsArePinned(t *testing.T) {
	for _, c := range []struct {
		states        int
		prior, digest string
	}{
		{2, "dirichlet(0.001)", "2d1e18ad7ef65efd"},
		{2, "dirichlet(0.02040816326530612)", "cab4ab8aae22cb66"}, // 1/49, of which the inverse is above 49
		{3, "dirichlet(0.0013)", "00ca8cfe91c92f57"},
		{17, "dirichlet(0.03)", "50bd32f5e917acad"},
		{3, "dirichlet(0.1)", "df496780b30f585a"},
		{17, "dirichlet(0.3)", "881543d9bb903bab"},
		{2, "dirichlet(0.5)", "6cb3c9eba1caa537"},
		{10, "dirichlet(1)", "51355d19b706419b"},
		{3, "dirichlet(1.7)", "464bd261808a105d"},
		{3, "dirichlet(1000)", "fdf62dc702d8acc4"},
		{3, "orbit(0.6 0.3 0.1; 0.2 0.1 0.7; 0.5 0.2 0.3)", "3f8624c272d5df8a"},
	} {
		p, err := ParsePrior(c.prior, c.states)
		if err != nil {
			t.Fatal(err)
		}
		h, src := sha256.New(), rand.NewPCG(9, 9)
		put := func(all ...[]float64) {
			for _, x := range slices.Concat(all...) {
				h.Write(binary.LittleEndian.AppendUint64(nil, math.Float64bits(x)))
			}
		}
		pi, mu := make([]float64, c.states*c.states), make([]float64, c.states)
		for range 20 {
			p.Draw(pi, mu, src)
			put(pi, mu)
		}
		words, draw, b := simd.NewWords(src), sampler.NewDrawer(p), sampler.NewBlock(c.states)
		if d, ok := p.(*Dirichlet); ok {
			draw = sampler.NewDirichlet(d.S, d.Alpha)
		}
		for range 3 {
			draw(b, words, src)
			put(b.Pi, b.Mu, b.Sums)
		}
		if d, ok := p.(*Dirichlet); ok {
			counts := make([]int, len(pi))
			for i := range counts {
				counts[i] = 7 * i % 40
			}
			d.DrawNext(pi, counts, 1, src)
			d.DrawRow(mu, src)
			put(pi, mu)
		}
		if got := fmt.Sprintf("%x", h.Sum(nil)[:8]); got != c.digest {
			t.Errorf("%s over %d states: digest %s, want %s", c.prior, c.states, got, c.digest)
		}
	}
}

// Up to 16 states nothing is allocated.
func TestDrawsAllocateNothing(t *testing.T) {
	const s = maxStack
	src, pi, mu, counts := rand.NewPCG(1, 1), make([]float64, s*s), make([]float64, s), make([]int, s*s)
	d, err := NewDirichlet(s, 0.3)
	if err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(5, func() { d.Draw(pi, mu, src); d.DrawNext(pi, counts, 1, src) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// The largest priors, and one whose rarest state is as rare as it may be.
func TestPriorsAtTheirLimits(t *testing.T) {
	uniform := func(s int) []float64 { return slices.Repeat([]float64{1 / float64(s)}, s*s) }
	_, err := NewFinite(255, uniform(255))
	orbit, err2 := NewOrbit(8, uniform(8))
	rare, err3 := NewFinite(2, []float64{1, MinMu, 1, MinMu})
	if err != nil || err2 != nil || len(orbit.Pi) != 40320 || err3 != nil || rare.Mu[0][1] != MinMu {
		t.Errorf("%v, %v, %v", err, err2, err3)
	}
}

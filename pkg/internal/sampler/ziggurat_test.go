package sampler

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"learncausal/internal/property"
	"learncausal/pkg/internal/simd"
)

func TestGammaHasItsLaw(t *testing.T) {
	src := rand.NewPCG(1, 1)
	for _, alpha := range []float64{
		0.05, 0.07, 0.1, 0.125, 0.25, 0.3, 0.4999, 0.5, 0.5001, 0.7, 0.999, 1, 1.001, 1.5, 3.3, 40, 1000,
	} {
		z := newZiggurat(alpha)
		x := make([]float64, 40000)
		for i := range x {
			_, x[i] = z.Draw(src)
		}
		if k := property.Kolmogorov(x, distuv.Gamma{Alpha: alpha, Beta: 1}.CDF); k > property.KSBound {
			t.Errorf("alpha %v: Kolmogorov-Smirnov statistic %.2f, want below %v", alpha, k, property.KSBound)
		}
	}
}

// A point at an edge is accepted with the probability that it is below the density,
// within 5 standard deviations: false-alarm probability 6e-7 each.
func TestEdgesAreDecidedByTheDensity(t *testing.T) {
	src := rand.NewPCG(3, 1)
	for _, alpha := range []float64{0.0013, 0.1, 0.3, 1, 1.7, 1000} {
		z := newZiggurat(alpha)
		var count, variance [3]float64 // at the left, at the right, in the lowest layer
		for n := 0; n < 40000; {
			word := src.Uint64()
			y, inside := simd.Point(&z.layers, word)
			i := int(word & 255)
			if inside || i == 0 && y >= z.x[1] {
				continue
			}
			n++
			low := z.f[i]
			if i == 0 {
				low = 0
			}
			p := max(0, (z.density(y)-low)/(z.f[i+1]-low))
			side := 0
			if y > z.x[256] {
				side = 1
			}
			if i == 0 {
				side = 2
			}
			if _, x, ok := z.edge(i, y, src); ok {
				count[side]++
				if x != simd.Power(y, z.m) {
					t.Fatalf("alpha %v: %v to the power %d is %v", alpha, y, z.m, x)
				}
			}
			count[side] -= p
			variance[side] += p * (1 - p)
		}
		for side, c := range count {
			if c*c > 25*variance[side] {
				t.Errorf("alpha %v, side %d: %v more are accepted than expected, of variance %v", alpha, side, c, variance[side])
			}
		}
	}
}

func TestTailHasItsLaw(t *testing.T) {
	src := rand.NewPCG(4, 1)
	for _, alpha := range []float64{0.03, 0.1, 0.3, 1, 1.7, 1000} {
		z, law := newZiggurat(alpha), distuv.Gamma{Alpha: alpha, Beta: 1}
		above := law.Survival(simd.Power(z.x[1], z.m))
		x := make([]float64, 20000)
		for i := range x {
			y, v, ok := z.edge(0, z.x[1], src)
			if x[i] = v; !ok || math.Abs(simd.Power(y, z.m)/v-1) > 1e-12 {
				t.Fatalf("alpha %v: %v is %v to the power %d", alpha, v, y, z.m)
			}
		}
		tail := func(v float64) float64 { return 1 - min(1, law.Survival(v)/above) }
		if k := property.Kolmogorov(x, tail); k > property.KSBound {
			t.Errorf("alpha %v: Kolmogorov-Smirnov statistic %.2f, want below %v", alpha, k, property.KSBound)
		}
	}
}

// Each word gives the same draw as alone; a rejected one is replaced from src.
func TestBulkDrawsEqualSingleDraws(t *testing.T) {
	z, src, again := newZiggurat(0.3), rand.NewPCG(5, 1), rand.NewPCG(5, 1)
	words, y, inside := make([]uint64, 1<<12), make([]float64, 1<<12), make([]uint8, 1<<9)
	simd.NewWords(rand.NewPCG(6, 1)).Fill(words)
	z.fillIn(y, inside, words, src)
	for k, word := range words {
		want, in := simd.Point(&z.layers, word)
		if !in {
			var ok bool
			if want, _, ok = z.edge(int(word&255), want, again); !ok {
				want, _ = z.Draw(again)
			}
		}
		if y[k] != want {
			t.Fatalf("word %d gives %v, alone %v", k, y[k], want)
		}
	}
}

// For small alpha, the law of alpha log X is exponential except near zero: X = U^(1/alpha) G with
// G ~ Gamma(alpha+1), and P(X <= x) of the rest.
func TestLogarithmsOfSmallGammasHaveTheirLaw(t *testing.T) {
	src := rand.NewPCG(2, 1)
	for _, alpha := range []float64{0.001, 0.0013, 0.01, 0.03, 0.1} {
		z := newZiggurat(alpha)
		x := make([]float64, 40000)
		for i := range x {
			y, _ := z.Draw(src)
			x[i] = z.Log(y)
		}
		cdf := func(v float64) float64 {
			if v > -600 {
				return distuv.Gamma{Alpha: alpha, Beta: 1}.CDF(math.Exp(v))
			}
			g, _ := math.Lgamma(alpha + 1) // P(X <= x) = x^alpha / Gamma(alpha+1) (1 + O(x))
			return math.Exp(alpha*v - g)
		}
		if k := property.Kolmogorov(x, cdf); k > property.KSBound {
			t.Errorf("alpha %v: Kolmogorov-Smirnov statistic %.2f, want below %v", alpha, k, property.KSBound)
		}
	}
}

// The layers cover the density, their inner rectangles are below it, and all have
// one area.
func TestLayersHoldTheDensity(t *testing.T) {
	for _, alpha := range []float64{0.001, 0.0013, 0.03, 0.1, 0.3, 0.5, 0.6, 1, 1.0001, 1.7, 10, 1000} {
		z := newZiggurat(alpha)
		area := z.layers[0].Width * z.f[1]
		for i, l := range z.layers {
			low, high := z.f[i], z.f[i+1]
			if i > 0 && math.Abs(l.Width*(high-low)/area-1) > 1e-9 {
				t.Errorf("alpha %v: layer %d has the area %v, want %v", alpha, i, l.Width*(high-low), area)
			}
			if i > 0 && (l.Left > 1e-300 && z.density(l.Left) > low*(1+1e-9) || z.density(l.Left+l.Width) > low*(1+1e-9)) {
				t.Errorf("alpha %v: layer %d does not cover the density", alpha, i)
			}
			if i < 255 && (l.Lo > 1e-300 && z.density(l.Lo) < high*(1-1e-9) || z.density(l.Hi) < high*(1-1e-9)) {
				t.Errorf("alpha %v: the density is below the inner rectangle of layer %d", alpha, i)
			}
		}
	}
}

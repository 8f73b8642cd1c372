package sampler

import (
	"math"
	"math/rand/v2"
	"sync"

	"learncausal/pkg/internal/simd"
	"learncausal/pkg/num"
)

// A Ziggurat draws X ~ Gamma(alpha) as Y^m, where m is the smallest integer with
// m alpha >= 1. With b = alpha - 1/m, Y has the log-concave density
//
//	f(y) = exp(b log(x/b) + b - x),  x = y^m
//
// up to a constant. It is one at its mode x = b; for b = 0 it is exp(-x). 256 layers of
// equal area v cover the density (Marsaglia and Tsang, J. Stat. Softw. 5, 2000), each from a
// left to a right end. The lowest begins at zero and ends in the tail.
type Ziggurat struct {
	alpha, b float64
	m        int
	layers   [256]simd.Layer
	f        [257]float64 // f[i] is the lower end of layer i; f[256] = 1
	x        [257]float64 // right ends: x[0] = v/f[1] > x[1] = r > ... > x[256]
	left     [257]float64 // left ends: left[0] = 0
}

var ziggurats sync.Map // of func() *Ziggurat by alpha

// ZigguratOf returns a function that returns the Ziggurat for Gamma(alpha),
// 0.001 <= alpha <= 1000. The first call builds it.
func ZigguratOf(alpha float64) func() *Ziggurat {
	z, _ := ziggurats.LoadOrStore(alpha, sync.OnceValue(func() *Ziggurat { return newZiggurat(alpha) }))
	return z.(func() *Ziggurat)
}

// newZiggurat finds the right end r by bisection.
func newZiggurat(alpha float64) *Ziggurat {
	z := &Ziggurat{alpha: alpha, m: int(math.Ceil(1 / alpha))}
	z.b = max(alpha-1/float64(z.m), 0)
	if m := math.Round(1 / alpha); 1/m == alpha {
		z.m, z.b = int(m), 0
	}
	spread := math.Sqrt(z.b)
	lo, hi := max(0.5, z.root(z.b+spread)), 16+z.b+float64(8*spread)
	for {
		mid := (lo + hi) / 2
		if mid <= lo || mid >= hi {
			break
		}
		if z.fill(mid) > 0 {
			lo = mid
		} else {
			hi = mid
		}
	}
	z.fill(hi)
	mode := z.root(z.b)
	z.x[256], z.left[256], z.f[256] = mode, mode, 1
	for i := range z.layers {
		z.layers[i] = simd.Layer{Left: z.left[i], Width: z.x[i] - z.left[i], Lo: z.left[i+1], Hi: z.x[i+1]}
	}
	if z.b == 0 { // no y is too small
		for i := range z.layers {
			z.layers[i].Lo = -1
		}
	}
	return z
}

// fill sets the layers for the right end r. It returns the upper end of the topmost layer
// minus one: zero for the correct r, positive for a smaller r.
func (z *Ziggurat) fill(r float64) float64 {
	base := z.density(r)
	v := float64(r*base) + z.tail(r)
	z.x[0], z.x[1] = v/base, r
	z.left[1] = z.leftEnd(-num.Log(base))
	for i := 1; ; i++ {
		z.f[i] = z.density(z.x[i])
		f := z.f[i] + v/(z.x[i]-z.left[i])
		if i == 255 || f >= 1 {
			return f - 1 + float64(255-i)
		}
		depth := -num.Log(f)
		z.x[i+1], z.left[i+1] = z.rightEnd(depth), z.leftEnd(depth)
	}
}

// lift returns b log(x/b) + b, which is log f + x, for the logarithm of x.
func (z *Ziggurat) lift(logX float64) float64 {
	if z.b == 0 {
		return 0
	}
	return float64(z.b*(logX-num.Log(z.b))) + z.b
}

// density returns f(y), where y^m may underflow.
func (z *Ziggurat) density(y float64) float64 { return num.Exp(z.lift(z.Log(y)) - simd.Power(y, z.m)) }

// Log returns the logarithm of x = y^m.
func (z *Ziggurat) Log(y float64) float64 { return float64(float64(z.m) * num.Log(y)) }

// root returns y = x^(1/m).
func (z *Ziggurat) root(x float64) float64 { return num.Exp(num.Log(x) / float64(z.m)) }

// rightEnd returns the y above the mode at which log f = -depth, by Newton's
// method from above for x - lift(x) = depth.
func (z *Ziggurat) rightEnd(depth float64) float64 {
	x := z.b + math.Sqrt(2*z.b*depth) + depth // Laurent and Massart, Ann. Stat. 28, 2000, (4.3)
	for z.b > 0 {
		next := x - (x-z.lift(num.Log(x))-depth)/(1-z.b/x)
		if !(next < x) {
			break
		}
		x = next
	}
	return z.root(x)
}

// leftEnd returns the y below the mode at which log f = -depth, zero for b = 0. It uses
// Newton's method from above for s = log(b/x), b (exp(-s) - 1 + s) = depth.
func (z *Ziggurat) leftEnd(depth float64) float64 {
	if z.b == 0 {
		return 0
	}
	s := 1 + depth/z.b
	for {
		e := num.Exp(-s)
		next := s - (e-1+s-depth/z.b)/(1-e)
		if !(next < s && next > 0) {
			break
		}
		s = next
	}
	return num.Exp((num.Log(z.b) - s) / float64(z.m))
}

// rate returns a lower bound on the decrease of log f per unit of x > x0, up to the factor dy/dx.
func (z *Ziggurat) rate(x0 float64) float64 { return min(1, 1-(z.alpha-1)/x0) }

// tail returns the integral of the density over y > r, by Simpson's rule in x - r^m.
func (z *Ziggurat) tail(r float64) float64 {
	rm, m := simd.Power(r, z.m), float64(z.m)
	integrand := func(x float64) float64 {
		logX := num.Log(rm + x)
		return num.Exp(-rm-x+float64((1/m-1)*logX)+z.lift(logX)) / m
	}
	const n = 4096
	h := 45.0 / n / z.rate(rm)
	sum := integrand(0) + integrand(float64(n*h))
	for i := 1; i < n; i++ {
		sum += float64(float64(2+2*(i%2)) * integrand(float64(float64(i)*h)))
	}
	return float64(sum * (h / 3))
}

// Draw returns Y and X = Y^m, a Gamma(alpha, 1) variable. X may underflow when Y does not.
func (z *Ziggurat) Draw(src *rand.PCG) (y, x float64) {
	for {
		word := src.Uint64()
		y, inside := simd.Point(&z.layers, word)
		if inside {
			return y, simd.Power(y, z.m)
		}
		if y, x, ok := z.edge(int(word&255), y, src); ok {
			return y, x
		}
	}
}

// edge decides the draws outside the inner rectangle of layer i.
func (z *Ziggurat) edge(i int, y float64, src *rand.PCG) (_, x float64, ok bool) {
	if i > 0 {
		height := z.f[i] + float64(num.Uniform(src)*(z.f[i+1]-z.f[i]))
		return y, simd.Power(y, z.m), height < z.density(y)
	}
	x0 := simd.Power(z.x[1], z.m)
	if y < z.x[1] { // left end of the lowest layer
		return y, simd.Power(y, z.m), float64(num.Uniform(src)*z.f[1]) < z.density(y)
	}
	// The tail x > x0 has density x^(alpha-1) exp(-x), dominated by a shifted exponential.
	rate := z.rate(x0)
	for {
		d := -num.Log(num.UniformOpen(src)) / rate
		x := x0 + d
		if num.Log(num.UniformOpen(src)) < float64((z.alpha-1)*num.Log(x/x0))-float64((1-rate)*d) {
			return z.root(x), x, true
		}
	}
}

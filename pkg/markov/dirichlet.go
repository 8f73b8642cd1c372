package markov

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"sync"

	"learncausal/pkg/num"
)

// Dirichlet is the prior of the paper's experiments: the rows of pi are
// independent, each Dirichlet(alpha, ..., alpha). It is made by [NewDirichlet].
type Dirichlet struct {
	S     int
	Alpha float64
	zig   *ziggurat // where alpha = 1/m for a small integer m
}

// NewDirichlet returns the prior with parameter alpha over S states,
// 2 <= S <= 255 and 0.001 <= alpha <= 1000.
func NewDirichlet(states int, alpha float64) (*Dirichlet, error) {
	if states < 2 || states > 255 {
		return nil, fmt.Errorf("markov: Dirichlet prior over %d states, want 2 to 255", states)
	}
	if !(alpha >= 0.001 && alpha <= 1000) {
		return nil, fmt.Errorf("markov: Dirichlet parameter %v, want 0.001 to 1000", alpha)
	}
	d := &Dirichlet{S: states, Alpha: alpha}
	// Up to m = 10 the smallest value, 2**-53m, is far from underflow.
	if m := math.Round(1 / alpha); m >= 1 && m <= 10 && 1/m == alpha {
		d.zig = ziggurats(int(m))
	}
	return d, nil
}

// States returns S.
func (d *Dirichlet) States() int { return d.S }

// String returns the prior in the notation of [ParsePrior].
func (d *Dirichlet) String() string {
	return "dirichlet(" + strconv.FormatFloat(d.Alpha, 'g', -1, 64) + ")"
}

// Draw implements [Prior]. Entries may be as small as the smallest positive
// float64, or zero below it; each row has an entry of at least 1/S. The
// stationary measure is that of the exact draw, also where entries underflow.
//
// A draw is quick where alpha is 1/m for an integer m <= 10, and where it is above
// one. Others go by logarithms, because entries may underflow, and take ten to
// thirty times as long.
func (d *Dirichlet) Draw(pi, mu []float64, src *rand.PCG) {
	s := d.S
	checkRoom(pi, mu, s)
	var scratch [maxStack * maxStack]float64
	a := scratch[:]
	if len(a) < s*s {
		a = make([]float64, s*s)
	}
	a = a[:s*s]
	if d.zig != nil || d.Alpha > 1 {
		for r := 0; r < s*s; r += s {
			d.DrawRow(pi[r:r+s], src)
		}
		if stationary(mu, pi, a) != nil {
			panic("markov: a matrix of positive entries is reducible")
		}
		return
	}
	for r := 0; r < s*s; r += s {
		row := a[r : r+s]
		d.logRow(row, src)
		for j, v := range row {
			pi[r+j] = num.Exp(v)
		}
	}
	if stationaryLog(mu, a) != nil {
		panic("markov: a matrix of positive entries is reducible")
	}
}

// DrawRow writes one Dirichlet(alpha, ..., alpha) vector, of any length, to row.
func (d *Dirichlet) DrawRow(row []float64, src *rand.PCG) {
	if d.zig == nil && d.Alpha <= 1 {
		d.logRow(row, src)
		for j, v := range row {
			row[j] = num.Exp(v)
		}
		return
	}
	sum := 0.0
	for j := range row {
		x := d.gamma(0, src)
		row[j] = x
		sum += x
	}
	inv := 1 / sum
	for j := range row {
		row[j] *= inv
	}
}

// logRow writes the logarithms of such a vector, which cannot underflow.
func (d *Dirichlet) logRow(row []float64, src *rand.PCG) {
	for j := range row {
		row[j] = logGamma(d.Alpha, src)
	}
	total := logSum(row)
	for j := range row {
		row[j] -= total
	}
}

// largeGamma returns a Gamma(alpha, 1) variable for alpha > 1, by the method of
// Marsaglia and Tsang (ACM TOMS 26, 2000), with their squeeze. Its value is at
// least (alpha - 1/3) 2^-159.
func largeGamma(alpha float64, src *rand.PCG) float64 {
	d := alpha - 1.0/3
	c := 1 / math.Sqrt(9*d)
	for {
		x := num.Normal(src)
		v := 1 + float64(c*x)
		if v <= 0 {
			continue
		}
		v = float64(v*v) * v
		u, x2 := num.UniformOpen(src), float64(x*x)
		if u < 1-float64(0.0331*float64(x2*x2)) ||
			num.Log(u) < float64(0.5*x2)+d-float64(d*v)+float64(d*num.Log(v)) {
			return float64(d * v)
		}
	}
}

// logGamma returns the logarithm of a Gamma(alpha, 1) variable: X = Y U^(1/alpha)
// with Y ~ Gamma(alpha+1), by the method of Marsaglia and Tsang (ACM TOMS 26, 2000).
func logGamma(alpha float64, src *rand.PCG) float64 {
	d := alpha + 1 - 1.0/3
	c := 1 / math.Sqrt(9*d)
	for {
		x := num.Normal(src)
		v := 1 + float64(c*x)
		if v <= 0 {
			continue
		}
		v = float64(v*v) * v
		logV := num.Log(v)
		if num.Log(num.UniformOpen(src)) < float64(0.5*float64(x*x))+d-float64(d*v)+float64(d*logV) {
			return num.Log(d) + logV + num.Log(num.UniformOpen(src))/alpha
		}
	}
}

// A ziggurat draws Gamma(1/m) variables for an integer m: Y = X^(1/m) has the
// decreasing density exp(-y^m), which is covered by 256 layers of equal area v
// (Marsaglia and Tsang, J. Stat. Softw. 5, 2000).
type ziggurat struct {
	m int
	x [257]float64 // right ends: x[0] = v/f(x[1]) > x[1] = r > ... > x[256] = 0
	f [257]float64 // exp(-x^m)
}

var ziggurats = func() func(m int) *ziggurat {
	var cache [11]func() *ziggurat
	for m := range cache {
		cache[m] = sync.OnceValue(func() *ziggurat { return newZiggurat(m) })
	}
	return func(m int) *ziggurat { return cache[m]() }
}()

// newZiggurat returns the ziggurat for Gamma(1/m), 1 <= m <= 10, whose right end
// r is found by bisection.
func newZiggurat(m int) *ziggurat {
	z := &ziggurat{m: m}
	lo, hi := 0.5, 16.0
	for range 100 {
		if mid := (lo + hi) / 2; z.fill(mid) > 0 {
			lo = mid
		} else {
			hi = mid
		}
	}
	z.fill(hi)
	z.x[256], z.f[256] = 0, 1
	return z
}

// fill sets the layers for the right end r, and returns the height that the
// topmost one ends at, less one: zero for the right r, positive for a lower one.
func (z *ziggurat) fill(r float64) float64 {
	v := float64(r*z.density(r)) + z.tail(r)
	z.x[0], z.x[1] = v/z.density(r), r
	for i := 1; ; i++ {
		z.f[i] = z.density(z.x[i])
		f := z.f[i] + v/z.x[i]
		if i == 255 || f >= 1 {
			return f - 1 + float64(255-i)
		}
		z.x[i+1] = num.Exp(num.Log(-num.Log(f)) / float64(z.m))
	}
}

// density returns exp(-y^m).
func (z *ziggurat) density(y float64) float64 { return num.Exp(-power(y, z.m)) }

// tail returns the integral of the density over y > r, by Simpson's rule in
// x = y^m - r^m, where the integrand is exp(-r^m-x) (r^m+x)^(1/m-1) / m.
func (z *ziggurat) tail(r float64) float64 {
	rm, m := power(r, z.m), float64(z.m)
	integrand := func(x float64) float64 {
		return num.Exp(-rm-x+float64((1/m-1)*num.Log(rm+x))) / m
	}
	const n, h = 4096, 45.0 / 4096
	sum := integrand(0) + integrand(n*h)
	for i := 1; i < n; i++ {
		sum += float64(float64(2+2*(i%2)) * integrand(float64(float64(i)*h)))
	}
	return float64(sum * (h / 3))
}

// power returns y^m.
func power(y float64, m int) float64 {
	if m == 10 {
		y2 := float64(y * y)
		y4 := float64(y2 * y2)
		return float64(float64(y4*y4) * y2)
	}
	p := 1.0
	for ; m > 0; m >>= 1 {
		if m&1 != 0 {
			p = float64(p * y)
		}
		y = float64(y * y)
	}
	return p
}

// gamma returns a Gamma(1/m, 1) variable.
func (z *ziggurat) gamma(src *rand.PCG) float64 {
	for {
		u := src.Uint64()
		i := u & 255
		y := float64(float64(u>>12)+0.5) * 0x1p-52 * z.x[i]
		if y < z.x[i+1] {
			return power(y, z.m)
		}
		if x, ok := z.edge(int(i), y, src); ok {
			return x
		}
	}
}

// edge decides the draws that fall outside the inner rectangle of layer i.
func (z *ziggurat) edge(i int, y float64, src *rand.PCG) (float64, bool) {
	if i > 0 {
		p := power(y, z.m)
		u := z.f[i] + float64(num.Uniform(src)*(z.f[i+1]-z.f[i]))
		return p, u < num.Exp(-p)
	}
	// The tail y > r: X = Y^m > r^m has density x^(1/m-1) exp(-x), dominated
	// by a shifted exponential.
	x0 := power(z.x[1], z.m)
	for {
		x := x0 - num.Log(num.UniformOpen(src))
		if num.Log(num.UniformOpen(src)) < float64((1-1/float64(z.m))*num.Log(x0/x)) {
			return x, true
		}
	}
}

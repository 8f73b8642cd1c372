// Package jax draws the random numbers of JAX 0.4.13, the last version for Python 3.8, under which the paper's
// authors saved their notebooks: keys, uniform, normal and gamma variables, and the sequences of their samplers of
// both tasks. Later versions of JAX draw others.
//
// Integers and uniform variables have the bits of JAX. The others are rounded to float32 after each operation, as in
// JAX, but from logarithms and exponentials of package num, so that they have the same bits on every machine; XLA's
// own differ in the last place. testdata/vectors.json has what JAX printed.
package jax

import (
	"fmt"
	"math"
	"math/bits"

	"learncausal/pkg/num"
)

// A Key determines random numbers. One key serves one draw: split it for more.
type Key [2]uint32

// NewKey returns the key of a seed, jax.random.PRNGKey(seed).
func NewKey(seed uint32) Key { return Key{0, seed} }

// block is the cipher Threefry-2x32 with 20 rounds (Salmon et al., Parallel random numbers: as easy as 1, 2, 3, 2011)
// of the counter (a, b).
func (k Key) block(a, b uint32) (uint32, uint32) {
	k0, k1, k2 := k[0], k[1], k[0]^k[1]^0x1bd11bda
	a, b = a+k0, b+k1
	a, b = even(a, b)
	a, b = a+k1, b+k2+1
	a, b = odd(a, b)
	a, b = a+k2, b+k0+2
	a, b = even(a, b)
	a, b = a+k0, b+k1+3
	a, b = odd(a, b)
	a, b = a+k1, b+k2+4
	a, b = even(a, b)
	return a + k2, b + k0 + 5
}

// even and odd are four rounds each.
func even(a, b uint32) (uint32, uint32) {
	a, b = a+b, a+b^bits.RotateLeft32(b, 13)
	a, b = a+b, a+b^bits.RotateLeft32(b, 15)
	a, b = a+b, a+b^bits.RotateLeft32(b, 26)
	return a + b, a + b ^ bits.RotateLeft32(b, 6)
}

func odd(a, b uint32) (uint32, uint32) {
	a, b = a+b, a+b^bits.RotateLeft32(b, 17)
	a, b = a+b, a+b^bits.RotateLeft32(b, 29)
	a, b = a+b, a+b^bits.RotateLeft32(b, 16)
	return a + b, a + b ^ bits.RotateLeft32(b, 24)
}

// word returns the i-th of n random words: JAX counts to n, adds a 0 if n is odd, and ciphers the first count of
// either half together, then the second ones, and so on.
func (k Key) word(n, i int) uint32 {
	half := (n + 1) / 2
	if i >= half {
		_, b := k.block(uint32(i-half), uint32(i))
		return b
	}
	a, _ := k.block(uint32(i), uint32((i+half)%n))
	return a
}

// Of returns key i of n, jax.random.split(k, n)[i]. It panics unless 0 <= i < n <= 2^30.
func (k Key) Of(n, i int) Key {
	if i < 0 || i >= n || n > 1<<30 {
		panic(fmt.Sprintf("jax: key %d of %d, want 0 <= i < n <= 2^30", i, n))
	}
	return Key{k.word(2*n, 2*i), k.word(2*n, 2*i+1)}
}

// Split returns both keys of jax.random.split(k).
func (k Key) Split() (first, second Key) {
	first[0], second[0] = k.block(0, 2)
	first[1], second[1] = k.block(1, 3)
	return first, second
}

// split3 returns the keys of jax.random.split(k, 3).
func (k Key) split3() (first, second, third Key) {
	first[0], second[1] = k.block(0, 3)
	first[1], third[0] = k.block(1, 4)
	second[0], third[1] = k.block(2, 5)
	return first, second, third
}

// Bits returns 32 random bits, jax.random.bits(k).
func (k Key) Bits() uint32 {
	a, _ := k.block(0, 0)
	return a
}

// Uniform returns a draw from {0, 1, ..., 2^23-1} / 2^23, jax.random.uniform(k).
func (k Key) Uniform() float32 { return uniform(k.Bits()) }

func uniform(bits uint32) float32 { return math.Float32frombits(bits>>9|0x3f800000) - 1 }

// Int returns a draw from 0..n-1, jax.random.randint(k, (), 0, n). It panics unless 0 < n < 2^16.
func (k Key) Int(n int) int {
	if n < 1 || n >= 1<<16 {
		panic(fmt.Sprintf("jax: a draw below %d, want 1 to 2^16-1", n))
	}
	high, low := k.Split()
	return below(n, high.Bits(), low.Bits())
}

// below returns the remainder of the number with the given halves, of 32 bits each, by n.
func below(n int, high, low uint32) int {
	span := uint32(n)
	power := (1 << 16) % span
	return int((high%span*(power*power%span) + low%span) % span)
}

// Choice returns an index with the probabilities of a law, jax.random.choice(k, len(law), p=law). It searches the
// running sums by bisection, which matters if a law has a negative entry.
func (k Key) Choice(law []float32) int {
	var stack [16]float32
	sums := append(stack[:0], law...)
	runningSums(sums)
	last := len(sums) - 1
	r := sums[last] * (1 - k.Uniform())
	low, high := 0, len(sums)
	for range bits.Len(uint(len(sums))) {
		if mid := (low + high) / 2; r <= sums[mid] {
			high = mid
		} else {
			low = mid
		}
	}
	return min(high, last)
}

// runningSums replaces x by its running sums, in the order of jax.lax.associative_scan: those of neighbouring pairs
// first.
func runningSums(x []float32) {
	if len(x) < 2 {
		return
	}
	var stack [16]float32
	pairs := stack[:0]
	for i := 1; i < len(x); i += 2 {
		pairs = append(pairs, x[i-1]+x[i])
	}
	runningSums(pairs)
	for i := len(x) - 1; i > 0; i-- {
		if i%2 == 1 {
			x[i] = pairs[i/2]
		} else {
			x[i] += pairs[i/2-1]
		}
	}
}

func log(x float32) float32 { return float32(num.Log(float64(x))) }

// exp returns e^x, with 0 in place of a subnormal number.
func exp(x float32) float32 {
	if y := float32(num.Exp(float64(x))); y >= 0x1p-126 {
		return y
	}
	return 0
}

// Normal returns entry i of jax.random.normal(k, (n,)), a standard normal variable: the quantile of a uniform one.
func (k Key) Normal(n, i int) float32 {
	const least = -1 + 0x1p-24 // of float32 above -1
	u := max(least, float32(uniform(k.word(n, i))*2)+least)
	return float32(math.Sqrt2) * inverseErf(u)
}

// The coefficients of M. Giles (Approximating the erfinv function, GPU Computing Gems, 2011), from the highest power.
var (
	central = [...]float64{
		2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087, -0.00125372503,
		-0.00417768164, 0.246640727, 1.50140941,
	}
	tail = [...]float64{
		-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773, -0.0076224613,
		0.00943887047, 1.00167406, 2.83297682,
	}
)

// inverseErf returns x with erf(x) = u, by Giles's approximation for single precision.
func inverseErf(u float32) float32 {
	x := float64(u)
	w, coefficients := -num.Log((1-x)*(1+x)), central
	if w < 5 {
		w -= 2.5
	} else {
		w, coefficients = math.Sqrt(w)-3, tail
	}
	p := 0.0
	for _, c := range coefficients {
		p = float64(p*w) + c
	}
	return float32(p * x)
}

// LogGamma returns the logarithm of a gamma variable of scale 1, jax.random.loggamma(k, alpha) for one alpha, by the
// method of Marsaglia and Tsang (ACM TOMS 26, 2000).
func (k Key) LogGamma(alpha float32) float32 { return k.Of(1, 0).logGamma(alpha) }

// logGamma is LogGamma of a key that is already split.
func (k Key) logGamma(alpha float32) float32 {
	boosted := alpha
	if alpha < 1 {
		boosted++
	}
	const third = float32(1. / 3)
	d := boosted - third
	c := third / float32(math.Sqrt(float64(d)))
	k, boost := k.Split()
	v := float32(1)
	for x, u := float32(0), float32(2); u >= 1-float32(0.0331*float32(x*x)) &&
		log(u) >= float32(x*0.5)+float32(d*(1-v+log(v))); {
		var normal, uniform Key
		k, normal, uniform = k.split3()
		for v = -1; v <= 0; {
			var own Key
			normal, own = normal.Split()
			x = own.Normal(1, 0)
			v = 1 + float32(x*c)
		}
		x *= x
		v *= float32(v * v)
		u = uniform.Uniform()
	}
	sum := log(d) + log(v)
	if alpha < 1 {
		sum += float32(log(boost.Uniform()) * float32(1/alpha))
	}
	return sum
}

// Dirichlet writes rows of s probabilities each to p, jax.random.dirichlet(k, jnp.full(s, alpha), [len(p)/s]).
func (k Key) Dirichlet(p []float32, s int, alpha float32) {
	for r := range len(p) / s {
		k.row(p[r*s:r*s+s], len(p), r, alpha)
	}
}

// row writes row r of the n entries of Dirichlet to p.
func (k Key) row(p []float32, n, r int, alpha float32) {
	most, sum := float32(math.Inf(-1)), float32(0)
	for i := range p {
		p[i] = k.Of(n, r*len(p)+i).logGamma(alpha)
		most = max(most, p[i])
	}
	for i, x := range p {
		p[i] = exp(x - most)
		sum += p[i]
	}
	for i := range p {
		p[i] /= sum
	}
}

package markov

import (
	"fmt"
	"math"
	"math/rand/v2"

	"learncausal/pkg/internal/sampler"
	"learncausal/pkg/num"
)

// DrawNext draws from the posterior of pi given transition counts and one further
// transition q -> s, for each s. With n(s'|s) = counts[s*S+s'], row s of mu, S x S, is
//
//	mu_pi,  pi(.|r) ~ Dirichlet(alpha + n(.|r) + 1[r = q] e_s), rows independent
//
// The S draws share their random numbers: one matrix of gamma variables, and one exponential
// variable that is added to entry (q, s). The time is proportional to the sum of the counts.
//
// It panics unless mu and counts have S*S entries, no count is negative, and q is in 0..S-1.
func (d *Dirichlet) DrawNext(mu []float64, counts []int, q int, src *rand.PCG) {
	s := d.S
	if len(mu) != s*s || len(counts) != s*s || q < 0 || q >= s {
		panic(fmt.Sprintf("markov: DrawNext of state %d with %d counts and %d entries for %d states",
			q, len(counts), len(mu), s))
	}
	for i, n := range counts {
		if n < 0 {
			panic(fmt.Sprintf("markov: DrawNext with %d transitions %d -> %d, want a nonnegative count", n, i/s, i%s))
		}
	}
	var scratch [maxStack * maxStack]float64
	a := room(scratch[:], s*s)
	z := d.zig()
	if d.Alpha < small {
		for i, n := range counts {
			y, x := z.Draw(src)
			if a[i] = z.Log(y); n > 0 {
				a[i] = num.Log(plusExponential(x, n, src))
			}
		}
		nextLog(mu, a, q, num.Log(-num.Log(num.UniformOpen(src))))
		return
	}
	for i, n := range counts {
		_, x := z.Draw(src)
		a[i] = plusExponential(x, n, src)
	}
	next(mu, a, q, -num.Log(num.UniformOpen(src)))
}

// plusExponential returns x plus n exponential variables.
func plusExponential(x float64, n int, src *rand.PCG) float64 {
	for ; n > 0; n -= 16 {
		p := 1.0
		for range min(n, 16) { // at least 2**-848
			p *= num.UniformOpen(src)
		}
		x -= num.Log(p)
	}
	return x
}

// next writes to row k of mu the stationary measure of the positive rates a with e added to entry (q, k). mu is
// NaN if a product of ratios of rates exceeds 2^1000, which for alpha >= 0.1 has a probability below 2^-90.
//
// Between two visits of q the chain enters some state j, at rate a[q][j] or more. The expected time spent in a
// state n then depends only on j. One elimination with q as the first state gives these times, and their sum is
// linear in row q.
func next(mu, a []float64, q int, e float64) {
	s := int(math.Sqrt(float64(len(a))))
	var scratch [2*maxStack*maxStack + 3*maxStack]float64
	work := room(scratch[:], 2*s*s+3*s)
	b, h, work := work[:s*s], work[s*s:2*s*s], work[2*s*s:]
	sums, base, weight := work[:s], work[s:2*s], work[2*s:3*s]
	copy(b, a)
	exchange(b, s, q)
	rowSums(sums, a)
	sums[0], sums[q] = sums[q], sums[0]
	sojourns(h, b, s)
	// base[n]: the time in n after a jump out of q, without e. weight[j]: the time of an
	// excursion into j, where the time in n is weighted by the sum of row n.
	for j := 1; j < s; j++ {
		for n := 1; n < s; n++ {
			base[n] += float64(b[j] * h[j*s+n])
			weight[j] += float64(h[j*s+n] * sums[n])
		}
	}
	home := sums[0] + e
	rest := home
	for n := 1; n < s; n++ {
		rest += float64(base[n] * sums[n])
	}
	for k := range s {
		inv := 1 / (rest + float64(e*weight[k]))
		u, to := h[k*s:k*s+s], mu[k*s:k*s+s]
		to[0] = float64(home * inv)
		for n := 1; n < s; n++ {
			to[n] = float64(float64((base[n]+float64(e*u[n]))*sums[n]) * inv)
		}
	}
	exchange(mu, s, q)
}

// exchange swaps the states 0 and q in the s x s matrix m.
func exchange(m []float64, s, q int) {
	for j := range s {
		m[j], m[q*s+j] = m[q*s+j], m[j]
	}
	for i := 0; i < s*s; i += s {
		m[i], m[i+q] = m[i+q], m[i]
	}
}

// sojourns writes to h[j*s+n], for j, n >= 1, the expected time in n between entering j and the
// next visit of state 0, under the s x s rates b. h must be zero. It overwrites rows 1..s-1 of b.
func sojourns(h, b []float64, s int) {
	for n := s - 1; n > 0; n-- {
		row := b[n*s : n*s+n]
		inv := 1 / sum(row)
		for i := 1; i < n; i++ {
			bypass(b[i*s:i*s+n+1], row, inv)
		}
		h[n*s+n] = 1
		for j := n; j < s; j++ {
			bypass(h[j*s:j*s+n+1], row, inv)
		}
	}
	for j := 1; j < s; j++ {
		u := h[j*s : j*s+s]
		for i := 1; i < s; i++ {
			v := u[i]
			for n := i + 1; n < s; n++ {
				u[n] += float64(v * b[i*s+n])
			}
		}
	}
}

// nextLog is next on logarithms of the rates and of e.
func nextLog(mu, a []float64, q int, logE float64) {
	s := int(math.Sqrt(float64(len(a))))
	b := make([]float64, len(a))
	for k := range s {
		copy(b, a)
		b[q*s+k] = sampler.LogAdd(b[q*s+k], logE)
		sampler.MustBeIrreducible(sampler.StationaryLog(mu[k*s:k*s+s], b))
	}
}

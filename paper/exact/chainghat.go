package exact

import "math/big"

// ChainGHat encloses ghat_ij of [Population.GHat] for one matrix over two states on the chain of t positions, with
// the query in the sequence: t rows, of which row i has i+1 entries. It takes half a second at t = 512.
//
// ghat_ij is a positive mean less 1, or less 2 for i = j = t-1. If n of the t-1 tokens before the query s are ones,
// muhat = (t-n-s, n+s)/t, and the mean is
//
//	sum_s E[1{x_j = s} h_s(x_i, n)],  h_s(y, n) = sum_b pi(b|s) (1{y = b} + eps)/(muhat(b) + eps)
//
// The law of x_j and of the ones up to j is summed forward, the mean of h_s given both backward. All terms are
// positive, so that rounding changes the mean by a factor within 1 +- (8t+40) 2^-53.
//
// It panics unless pi is a 2 x 2 transition matrix with a unique stationary measure, t >= 2 and eps > 0.
func ChainGHat(pi Matrix, t int, eps *big.Rat) [][]Range {
	atLeast("the length of a chain", t, 2)
	twoStates(pi, MustStationary(pi), t)
	positiveEps(eps)
	p, law := pi.Floats(), countsForward(pi, t-1)
	sums := make([][]float64, t)
	for i := range sums {
		sums[i] = make([]float64, i+1)
	}
	for s := range 2 {
		h := payoff(p[2*s:2*s+2], s, t, Float(eps))
		for i, ahead := range meansAhead(p, h, t-1) {
			countsBack(p, ahead, i, func(j int, u [2][]float64) { sums[i][j] += dotFloats(law[j][s], u[s]) })
		}
		countsBack(p, [2][]float64{h[s], h[s]}, t-2, func(j int, u [2][]float64) {
			sums[t-1][j] += dotFloats(law[j][s], u[s])
			if j == 0 {
				sums[t-1][t-1] += dotFloats(law[0][0], u[0]) + dotFloats(law[0][1], u[1])
			}
		})
	}
	off := float64(8*t+40) * 0x1p-53
	out := make([][]Range, t)
	for i, row := range sums {
		for j, v := range row {
			less := 1.0
			if j == t-1 {
				less = 2
			}
			out[i] = append(out[i], At(v).Mul(Range{1 - off, 1 + off}).Sub(At(less)))
		}
	}
	return out
}

// payoff returns h_s(y, n) at [y][n] for n < t, where law is pi(.|s).
func payoff(law []float64, s, t int, eps float64) (h [2][]float64) {
	for n := range t {
		muhat := [2]float64{float64(t-n-s) / float64(t), float64(n+s) / float64(t)}
		for y := range h {
			sum := 0.0
			for b, f := range muhat {
				hit := eps
				if y == b {
					hit++
				}
				sum += float64(law[b] * hit / (f + eps))
			}
			h[y] = append(h[y], sum)
		}
	}
	return h
}

// countsForward returns P(x_j = x, k ones among x_0, ..., x_j) at [j][x][k] for j < n.
func countsForward(pi Matrix, n int) [][2][]float64 {
	p, mu := pi.Floats(), MustStationary(pi).Floats()
	law := [][2][]float64{{{mu[0], 0}, {0, mu[1]}}}
	for j := 1; j < n; j++ {
		next := [2][]float64{make([]float64, j+2), make([]float64, j+2)}
		for k := range j + 1 {
			a, b := law[j-1][0][k], law[j-1][1][k]
			next[0][k] = float64(a*p[0]) + float64(b*p[2])
			next[1][k+1] = float64(a*p[1]) + float64(b*p[3])
		}
		law = append(law, next)
	}
	return law
}

// meansAhead returns for each i < n the mean of h(x_i, ones in all) given x_i = y and k ones up to i, at [i][y][k].
func meansAhead(p []float64, h [2][]float64, n int) [][2][]float64 {
	out := make([][2][]float64, n)
	for y := range 2 {
		countsBack(p, [2][]float64{h[y], h[y]}, n-1, func(i int, u [2][]float64) {
			out[i][y] = append([]float64(nil), u[y][:i+2]...)
		})
	}
	return out
}

// countsBack visits j = i, ..., 0 with the mean u of a function given x_j = x and k ones up to j, at [x][k]. It is
// f at j = i. The slices are reused.
func countsBack(p []float64, f [2][]float64, i int, visit func(j int, u [2][]float64)) {
	u := [2][]float64{append([]float64(nil), f[0]...), append([]float64(nil), f[1]...)}
	visit(i, u)
	for j := i - 1; j >= 0; j-- {
		for k := range j + 2 {
			a, b := u[0][k], u[1][k+1]
			u[0][k] = float64(p[0]*a) + float64(p[1]*b)
			u[1][k] = float64(p[2]*a) + float64(p[3]*b)
		}
		visit(j, u)
	}
}

// dotFloats returns the sum of a[k] b[k], where b may be longer.
func dotFloats(a, b []float64) float64 {
	sum := 0.0
	for k, x := range a {
		sum += float64(x * b[k])
	}
	return sum
}

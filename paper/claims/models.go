package claims

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"learncausal/paper/exact"
	"learncausal/pkg/markov"
)

// balanced returns a matrix over two states with trace 2 - tr(pi).
func balanced(pi exact.Matrix) exact.Matrix {
	return exact.WithTrace(exact.Rats("1/2 1/2; 1/4 3/4"), exact.Sub(exact.Int(2), pi.Trace()))
}

func randomTokens(r *rand.Rand, s, t int) []int {
	x := make([]int, t)
	for i := range x {
		x[i] = r.IntN(s)
	}
	return x
}

// tokenRows returns the matrix X of a sequence over s tokens, T x S.
func tokenRows(x []int, s int) exact.Matrix {
	rows := exact.Zero(len(x), s)
	for i, a := range x {
		rows[i][a].SetInt64(1)
	}
	return rows
}

// firstStream returns the residual stream of the disentangled transformer before the first layer, T x (S+T).
func firstStream(x []int, s int) exact.Matrix {
	return beside(tokenRows(x, s), exact.Diag(exact.Ones(len(x))))
}

// randomPattern returns a lower triangular stochastic matrix.
func randomPattern(r *rand.Rand, t int) exact.Matrix {
	pattern := exact.Zero(t, t)
	for i, row := range pattern {
		sum := int64(0)
		for j := range i + 1 {
			n := int64(1 + r.IntN(4))
			row[j].SetInt64(n)
			sum += n
		}
		for j := range i + 1 {
			row[j].Mul(row[j], exact.Frac(1, sum))
		}
	}
	return pattern
}

func rational(a *mat.Dense) exact.Matrix {
	rows, _ := a.Dims()
	return exact.FromFloats(a.RawMatrix().Data, rows)
}

// beside returns [a, b], the rows of a continued by the rows of b.
func beside(a, b exact.Matrix) exact.Matrix {
	out := make(exact.Matrix, len(a))
	for i := range a {
		out[i] = append(append([]*big.Rat(nil), a[i]...), b[i]...)
	}
	return out
}

// distance returns the largest difference of two entries.
func distance(p, q []float64) float64 {
	d := 0.0
	for a := range p {
		d = max(d, math.Abs(p[a]-q[a]))
	}
	return d
}

// unevenPrior returns the uniform prior over the relabelings of a matrix of trace one
// whose stationary measure is not uniform.
func unevenPrior() *markov.Finite {
	return mustOrbit(3, []float64{0.6, 0.3, 0.1, 0.2, 0.2, 0.6, 0.3, 0.5, 0.2})
}

// traceOneMatrix returns a random positive transition matrix of trace one with
// entries over den >= 2s, whose relabelings are a prior of constant mean.
func traceOneMatrix(r *rand.Rand, s, den int) exact.Matrix {
	diagonal, m := composition(r, s, den), exact.Zero(s, s)
	for a := range s {
		rest := composition(r, s-1, den-diagonal[a])
		for b, n := range slices.Insert(rest, a, diagonal[a]) {
			m[a][b].SetFrac64(int64(n), int64(den))
		}
	}
	return m
}

// composition returns n positive integers that sum to total.
func composition(r *rand.Rand, n, total int) []int {
	parts := slices.Repeat([]int{1}, n)
	for range total - n {
		parts[r.IntN(n)]++
	}
	return parts
}

// randomLaw returns a law on n values, of positive multiples of 1/den.
func randomLaw(r *rand.Rand, n, den int) exact.Vector {
	law := exact.Zero(1, n)[0]
	for k, parts := range composition(r, n, den) {
		law[k].SetFrac64(int64(parts), int64(den))
	}
	return law
}

// occurrences returns the number of positions of x with token s.
func occurrences(s int, x []int) int64 {
	n := int64(0)
	for _, v := range x {
		if v == s {
			n++
		}
	}
	return n
}

// smallIntegers returns a random matrix with entries from -3 to 3.
func smallIntegers(r *rand.Rand, rows, columns int) exact.Matrix {
	m := exact.Zero(rows, columns)
	for _, row := range m {
		for _, v := range row {
			v.SetInt64(int64(r.IntN(7) - 3))
		}
	}
	return m
}

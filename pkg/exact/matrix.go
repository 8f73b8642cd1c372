// Package exact has the quantities of the proofs in rational numbers, where
// nothing is rounded, and enclosures of those that are irrational. It is the
// second route to the floats of package theory, and decides the witnesses of
// package claims.
//
// No function changes its arguments, and results may share numbers with them:
// treat every *big.Rat as a constant.
package exact

import (
	"fmt"
	"math/big"
	"strings"
)

// A Vector has rational entries.
type Vector []*big.Rat

// A Matrix is a list of rows of equal length.
type Matrix [][]*big.Rat

// Rat returns the number that text stands for, as "3/10", "-2" or "0.3" do. It
// panics on anything else.
func Rat(text string) *big.Rat {
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		panic(fmt.Sprintf("exact: %q is not a rational number", text))
	}
	return r
}

// Frac returns a/b.
func Frac(a, b int64) *big.Rat { return big.NewRat(a, b) }

// Rats returns the matrix whose rows are split by ";" and whose entries by
// spaces, as in "1/2 1/2; 1/4 3/4". It panics where an entry is not a number.
func Rats(text string) Matrix {
	var m Matrix
	for row := range strings.SplitSeq(text, ";") {
		var r []*big.Rat
		for _, f := range strings.Fields(row) {
			r = append(r, Rat(f))
		}
		m = append(m, r)
	}
	return m
}

// FromFloats returns the rows x columns matrix of the exact values of the
// row-major x. It panics where an entry is not finite.
func FromFloats(x []float64, rows int) Matrix {
	m, n := make(Matrix, rows), len(x)/rows
	for i := range m {
		m[i] = make([]*big.Rat, n)
		for j := range m[i] {
			if m[i][j] = new(big.Rat).SetFloat64(x[i*n+j]); m[i][j] == nil {
				panic(fmt.Sprintf("exact: entry (%d, %d) is %v, want a finite number", i, j, x[i*n+j]))
			}
		}
	}
	return m
}

// Floats returns the nearest floats, row-major.
func (m Matrix) Floats() []float64 {
	var x []float64
	for _, row := range m {
		x = append(x, Vector(row).Floats()...)
	}
	return x
}

// Floats returns the nearest floats.
func (v Vector) Floats() []float64 {
	x := make([]float64, len(v))
	for i, r := range v {
		x[i], _ = r.Float64()
	}
	return x
}

// Strings returns the entries as "3/10".
func (m Matrix) Strings() [][]string {
	t := make([][]string, len(m))
	for i, row := range m {
		t[i] = Vector(row).Strings()
	}
	return t
}

// Strings returns the entries as "3/10".
func (v Vector) Strings() []string {
	t := make([]string, len(v))
	for i, r := range v {
		t[i] = r.RatString()
	}
	return t
}

// Zero returns the m x n matrix of zeros, whose entries may be set.
func Zero(m, n int) Matrix {
	z := make(Matrix, m)
	for i := range z {
		z[i] = make([]*big.Rat, n)
		for j := range z[i] {
			z[i][j] = new(big.Rat)
		}
	}
	return z
}

// Diag returns the diagonal matrix of v.
func Diag(v Vector) Matrix {
	d := Zero(len(v), len(v))
	for i := range v {
		d[i][i].Set(v[i])
	}
	return d
}

// Ones returns the vector of n ones.
func Ones(n int) Vector {
	v := make(Vector, n)
	for i := range v {
		v[i] = big.NewRat(1, 1)
	}
	return v
}

// T returns the transpose.
func (m Matrix) T() Matrix {
	t := Zero(len(m[0]), len(m))
	for i := range m {
		for j := range m[i] {
			t[j][i].Set(m[i][j])
		}
	}
	return t
}

// Mul returns m n.
func (m Matrix) Mul(n Matrix) Matrix {
	p := Zero(len(m), len(n[0]))
	for i := range m {
		for j := range n[0] {
			for k := range n {
				p[i][j].Add(p[i][j], mul(m[i][k], n[k][j]))
			}
		}
	}
	return p
}

// Sub returns m - n.
func (m Matrix) Sub(n Matrix) Matrix {
	d := Zero(len(m), len(m[0]))
	for i := range m {
		for j := range m[i] {
			d[i][j].Sub(m[i][j], n[i][j])
		}
	}
	return d
}

// Scale returns a m.
func (m Matrix) Scale(a *big.Rat) Matrix {
	d := Zero(len(m), len(m[0]))
	for i := range m {
		for j := range m[i] {
			d[i][j].Mul(a, m[i][j])
		}
	}
	return d
}

// Power returns m^k, the identity for k = 0.
func (m Matrix) Power(k int) Matrix {
	p := Diag(Ones(len(m)))
	for range k {
		p = p.Mul(m)
	}
	return p
}

// Trace returns the sum of the diagonal.
func (m Matrix) Trace() *big.Rat {
	t := new(big.Rat)
	for i := range m {
		t.Add(t, m[i][i])
	}
	return t
}

// Solve returns the x with m x = b, or false where m is singular.
func (m Matrix) Solve(b Vector) (Vector, bool) {
	a := m.Scale(Frac(1, 1))
	for i := range a {
		a[i] = append(a[i], new(big.Rat).Set(b[i]))
	}
	for n := range a {
		if !pivot(a, n, len(a)) {
			return nil, false
		}
		for i := range a {
			if i != n {
				reduce(a, i, n)
			}
		}
	}
	x := make(Vector, len(a))
	for i := range a {
		x[i] = new(big.Rat).Quo(a[i][len(a)], a[i][i])
	}
	return x, true
}

// Semidefinite reports whether the symmetric m has no negative eigenvalue.
func (m Matrix) Semidefinite() bool {
	a := m.Scale(Frac(1, 1))
	for n := range a {
		switch a[n][n].Sign() {
		case -1:
			return false
		case 0:
			// A zero on the diagonal of a semidefinite matrix has a zero row.
			for j := n + 1; j < len(a); j++ {
				if a[n][j].Sign() != 0 {
					return false
				}
			}
			continue
		}
		for i := n + 1; i < len(a); i++ {
			reduce(a, i, n)
		}
	}
	return true
}

// pivot moves a row with a nonzero entry in column n to place n; it reports
// false where there is none.
func pivot(a Matrix, n, rows int) bool {
	for i := n; i < rows; i++ {
		if a[i][n].Sign() != 0 {
			a[i], a[n] = a[n], a[i]
			return true
		}
	}
	return false
}

// reduce subtracts the multiple of row n from row i that clears column n.
func reduce(a Matrix, i, n int) {
	f := new(big.Rat).Quo(a[i][n], a[n][n])
	if f.Sign() == 0 {
		return
	}
	for j := range a[i] {
		a[i][j].Sub(a[i][j], mul(f, a[n][j]))
	}
}

func mul(a, b *big.Rat) *big.Rat { return new(big.Rat).Mul(a, b) }
func add(a, b *big.Rat) *big.Rat { return new(big.Rat).Add(a, b) }
func sub(a, b *big.Rat) *big.Rat { return new(big.Rat).Sub(a, b) }
func quo(a, b *big.Rat) *big.Rat { return new(big.Rat).Quo(a, b) }

// Float returns the nearest float.
func Float(x *big.Rat) float64 {
	f, _ := x.Float64()
	return f
}

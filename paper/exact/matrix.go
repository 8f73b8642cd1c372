// Package exact has the quantities of the proofs in rational numbers, where nothing is rounded, and
// enclosures of those that are irrational. It computes the quantities of package theory independently,
// and decides whether an instance breaks a statement.
//
//	pi := exact.Rats("7/10 3/10; 1/5 4/5")
//	mu := exact.MustStationary(pi) // 2/5 3/5
//	for x, p := range exact.Sequences(graph.Chain(5), pi) { ... }
//	exact.Point(exact.Rat("1/3")).Exp().AtMost(exact.Point(exact.Rat("7/5"))) // Certainly
//
// No function changes its arguments, and results may share numbers with them: treat every *big.Rat
// as a constant. None may be nil. Vectors and matrices whose sizes do not fit are a panic.
//
// It stands beside the ledger, not in pkg, because it exists to decide the statements of the ledger.
package exact

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
)

// A Vector has rational entries.
type Vector []*big.Rat

// A Matrix is a list of rows of equal length.
type Matrix [][]*big.Rat

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

// FromFloats returns the rows x columns matrix of the exact values of the row-major x. It panics
// where an entry is not finite, or unless rows is positive and divides the number of entries.
func FromFloats(x []float64, rows int) Matrix {
	if rows < 1 || len(x)%rows != 0 {
		panic(fmt.Sprintf("exact: %d entries in %d rows, want as many in each", len(x), rows))
	}
	n := len(x) / rows
	return build(rows, n, func(i, j int) *big.Rat {
		v := new(big.Rat).SetFloat64(x[i*n+j])
		if v == nil {
			panic(fmt.Sprintf("exact: entry (%d, %d) is %v, want a finite number", i, j, x[i*n+j]))
		}
		return v
	})
}

// build returns the m x n matrix with entry(i, j) at (i, j).
func build(m, n int, entry func(i, j int) *big.Rat) Matrix {
	out := make(Matrix, m)
	for i := range out {
		out[i] = entries(n, func(j int) *big.Rat { return entry(i, j) })
	}
	return out
}

// entries returns the vector of length n with entry(i) at i.
func entries(n int, entry func(i int) *big.Rat) Vector {
	out := make(Vector, n)
	for i := range out {
		out[i] = entry(i)
	}
	return out
}

// Floats returns the nearest floats, row-major.
func (m Matrix) Floats() []float64 { return Vector(slices.Concat(m...)).Floats() }

// Floats returns the nearest floats.
func (v Vector) Floats() []float64 {
	x := make([]float64, len(v))
	for i, r := range v {
		x[i] = Float(r)
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
	atLeast("the number of rows", m, 0)
	atLeast("the number of columns", n, 0)
	return build(m, n, func(_, _ int) *big.Rat { return new(big.Rat) })
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
	atLeast("the length of a vector", n, 0)
	return slices.Repeat(Vector{Int(1)}, n)
}

// Dot returns the sum over i of the products of the i-th entries of the vectors, which have the same length:
//
//	Dot(u)        sum_i u_i
//	Dot(u, v)     u.v
//	Dot(p, u, v)  sum_i p_i u_i v_i, the mean of u v for a probability vector p
//
// It panics if there is no vector.
func Dot(us ...Vector) *big.Rat {
	atLeast("the number of vectors", len(us), 1)
	for _, u := range us[1:] {
		sameLength(us[0], u)
	}
	sum := new(big.Rat)
	for i := range us[0] {
		x := us[0][i]
		for _, u := range us[1:] {
			x = Mul(x, u[i])
		}
		sum.Add(sum, x)
	}
	return sum
}

// Norm1 returns |u|_1 = sum_i |u_i|.
func Norm1(u Vector) *big.Rat {
	sum := new(big.Rat)
	for _, x := range u {
		sum.Add(sum, Abs(x))
	}
	return sum
}

// NormInf returns |u|_inf = max_i |u_i|, which is 0 if u is empty.
func NormInf(u Vector) *big.Rat {
	most := new(big.Rat)
	for _, x := range u {
		if x = Abs(x); x.Cmp(most) > 0 {
			most = x
		}
	}
	return most
}

// Jacobian returns J(p) u = (diag(p) - p p^T) u, the derivative along u of the softmax where its value is the
// probability vector p. Its i-th entry is p_i (u_i - p.u). Every positive rational p of sum one is the softmax
// of log p, so that statements about the softmax are decided in rational numbers.
func Jacobian(p, u Vector) Vector {
	mean := Dot(p, u)
	return entries(len(p), func(i int) *big.Rat { return Mul(p[i], Sub(u[i], mean)) })
}

// Outer returns u v^T.
func Outer(u, v Vector) Matrix {
	return build(len(u), len(v), func(i, j int) *big.Rat { return Mul(u[i], v[j]) })
}

// T returns the transpose.
func (m Matrix) T() Matrix {
	return build(m.columns(), len(m), func(i, j int) *big.Rat { return m[j][i] })
}

// Mul returns m n.
func (m Matrix) Mul(n Matrix) Matrix {
	if k := m.columns(); k != len(n) {
		panic(fmt.Sprintf("exact: a product of %d columns with %d rows", k, len(n)))
	}
	t := n.T()
	return build(len(m), len(t), func(i, j int) *big.Rat { return Dot(m[i], t[j]) })
}

// Sub returns m - n.
func (m Matrix) Sub(n Matrix) Matrix {
	k := m.columns()
	if l := n.columns(); len(n) != len(m) || l != k {
		panic(fmt.Sprintf("exact: a difference of %d x %d and %d x %d entries", len(m), k, len(n), l))
	}
	return build(len(m), k, func(i, j int) *big.Rat { return Sub(m[i][j], n[i][j]) })
}

// Scale returns a m.
func (m Matrix) Scale(a *big.Rat) Matrix {
	return build(len(m), m.columns(), func(i, j int) *big.Rat { return Mul(a, m[i][j]) })
}

// Power returns m^k, the identity for k = 0. It panics unless m is square and k is not negative.
func (m Matrix) Power(k int) Matrix {
	m.square()
	atLeast("an exponent", k, 0)
	p := Diag(Ones(len(m)))
	for range k {
		p = p.Mul(m)
	}
	return p
}

// Trace returns the sum of the diagonal.
func (m Matrix) Trace() *big.Rat {
	m.square()
	t := new(big.Rat)
	for i := range m {
		t.Add(t, m[i][i])
	}
	return t
}

// Solve returns the x with m x = b, or false where m is singular.
func (m Matrix) Solve(b Vector) (Vector, bool) {
	m.square()
	sameLength(m[0], b)
	a := m.Scale(Int(1))
	for i := range a {
		a[i] = append(a[i], new(big.Rat).Set(b[i]))
	}
	for n := range a {
		k := slices.IndexFunc(a[n:], func(row []*big.Rat) bool { return row[n].Sign() != 0 })
		if k < 0 {
			return nil, false
		}
		a[n], a[n+k] = a[n+k], a[n]
		for i := range a {
			if i != n {
				reduce(a, i, n)
			}
		}
	}
	return entries(len(a), func(i int) *big.Rat { return Quo(a[i][len(a)], a[i][i]) }), true
}

// Semidefinite reports whether the symmetric m has no negative eigenvalue. It panics unless m is symmetric.
func (m Matrix) Semidefinite() bool {
	m.square()
	for i := range m {
		for j := range i {
			if m[i][j].Cmp(m[j][i]) != 0 {
				panic(fmt.Sprintf("exact: entries (%d, %d) and (%d, %d) of a symmetric matrix differ", i, j, j, i))
			}
		}
	}
	a := m.Scale(Int(1))
	for n := range a {
		switch a[n][n].Sign() {
		case -1:
			return false
		case 0:
			// A zero on the diagonal of a semidefinite matrix has a zero row.
			if slices.ContainsFunc(a[n][n:], func(x *big.Rat) bool { return x.Sign() != 0 }) {
				return false
			}
			continue
		}
		for i := n + 1; i < len(a); i++ {
			reduce(a, i, n)
		}
	}
	return true
}

// reduce subtracts the multiple of row n from row i that clears column n.
func reduce(a Matrix, i, n int) {
	f := new(big.Rat).Quo(a[i][n], a[n][n])
	if f.Sign() == 0 {
		return
	}
	for j := range a[i] {
		a[i][j].Sub(a[i][j], Mul(f, a[n][j]))
	}
}

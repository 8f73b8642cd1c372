package exact

import (
	"fmt"
	"math/big"
)

// sameLength panics unless two vectors have the same length.
func sameLength(u, v Vector) {
	if len(u) != len(v) {
		panic(fmt.Sprintf("exact: vectors of %d and %d entries, want as many of each", len(u), len(v)))
	}
}

// columns returns the number of columns, and panics unless there is a row and all have as many entries.
func (m Matrix) columns() int {
	if len(m) == 0 {
		panic("exact: a matrix without rows")
	}
	for i, row := range m {
		if len(row) != len(m[0]) {
			panic(fmt.Sprintf("exact: a matrix with %d entries in row 0 and %d in row %d", len(m[0]), len(row), i))
		}
	}
	return len(m[0])
}

// square panics unless m has as many rows as columns.
func (m Matrix) square() {
	if n := m.columns(); n != len(m) {
		panic(fmt.Sprintf("exact: a matrix of %d rows and %d columns, want a square one", len(m), n))
	}
}

// positive returns the stationary measure of pi, and panics unless it is unique and
// positive, over two states or more.
func positive(pi Matrix) Vector {
	mu := MustStationary(pi)
	if len(mu) < 2 {
		panic(fmt.Sprintf("exact: a chain over %d states, want at least 2", len(mu)))
	}
	positiveLaw(mu)
	return mu
}

// positiveLaw panics unless all entries are positive.
func positiveLaw(q Vector) {
	for s, p := range q {
		if p.Sign() <= 0 {
			panic(fmt.Sprintf("exact: the probability of state %d is %v, want a positive one", s, p.RatString()))
		}
	}
}

// fraction panics unless x is in [0, 1].
func fraction(name string, x *big.Rat) {
	if x.Sign() < 0 || x.Cmp(Int(1)) > 0 {
		panic(fmt.Sprintf("exact: %s = %v, want a number in [0, 1]", name, x.RatString()))
	}
}

// checkExponent panics if e^x is too large or small a number to write down.
func checkExponent(x *big.Rat) {
	if x.Num().BitLen()-x.Denom().BitLen() > 16 {
		panic(fmt.Sprintf("exact: e^x of x = %.6g, want a number below 2^16", Float(x)))
	}
}

// atLeast panics unless n is least or more.
func atLeast(what string, n, least int) {
	if n < least {
		panic(fmt.Sprintf("exact: %s = %d, want at least %d", what, n, least))
	}
}

// positiveEps panics unless eps > 0.
func positiveEps(eps *big.Rat) {
	if eps.Sign() <= 0 {
		panic(fmt.Sprintf("exact: eps = %s, want a positive number", eps.RatString()))
	}
}

// index panics unless 0 <= i < n.
func index(name string, i, n int) {
	if i < 0 || i >= n {
		panic(fmt.Sprintf("exact: %s %d, want one in 0..%d", name, i, n-1))
	}
}

package exact

import (
	"fmt"
	"math/big"
)

// Rat returns the number that text stands for, as "3/10", "-2" or "0.3" do. It panics on anything else.
func Rat(text string) *big.Rat {
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		panic(fmt.Sprintf("exact: %q is not a rational number", text))
	}
	return r
}

// Frac returns a/b. It panics if b is zero.
func Frac(a, b int64) *big.Rat {
	if b == 0 {
		panic(fmt.Sprintf("exact: %d/0", a))
	}
	return big.NewRat(a, b)
}

// Int returns n.
func Int[N int | int64](n N) *big.Rat { return big.NewRat(int64(n), 1) }

// Add returns a + b as a new number.
func Add(a, b *big.Rat) *big.Rat {
	j, k := binary(a), binary(b)
	if j < 0 || k < 0 {
		return new(big.Rat).Add(a, b)
	}
	x, y := new(big.Int).Lsh(a.Num(), uint(max(k-j, 0))), new(big.Int).Lsh(b.Num(), uint(max(j-k, 0)))
	return dyadic(x.Add(x, y), max(j, k))
}

// Sub returns a - b as a new number.
func Sub(a, b *big.Rat) *big.Rat { return Add(a, new(big.Rat).Neg(b)) }

// Mul returns a b as a new number.
func Mul(a, b *big.Rat) *big.Rat {
	if j, k := binary(a), binary(b); j >= 0 && k >= 0 {
		return dyadic(new(big.Int).Mul(a.Num(), b.Num()), j+k)
	}
	return new(big.Rat).Mul(a, b)
}

// binary returns the k >= 0 for which the denominator of x is 2^k, or -1 if there is none.
func binary(x *big.Rat) int {
	if x.IsInt() {
		return 0
	}
	if k := x.Denom().BitLen() - 1; int(x.Denom().TrailingZeroBits()) == k {
		return k
	}
	return -1
}

// dyadic returns n/2^k for k >= 0. It writes the number in lowest terms, for which
// big.Rat would need a greatest common divisor, at ten times the cost.
func dyadic(n *big.Int, k int) *big.Rat {
	zeros := min(int(n.TrailingZeroBits()), k)
	if n.Sign() == 0 || zeros == k {
		return new(big.Rat).SetInt(n.Rsh(n, uint(k)))
	}
	x := big.NewRat(1, 2)
	x.Num().Rsh(n, uint(zeros))
	x.Denom().Lsh(big.NewInt(1), uint(k-zeros))
	return x
}

// Quo returns a / b as a new number. It panics if b is zero.
func Quo(a, b *big.Rat) *big.Rat {
	if b.Sign() == 0 {
		panic(fmt.Sprintf("exact: %v divided by zero", a.RatString()))
	}
	return new(big.Rat).Quo(a, b)
}

// Inv returns 1/a as a new number. It panics if a is zero.
func Inv(a *big.Rat) *big.Rat { return Quo(Int(1), a) }

// Ceil returns the least integer that is at least a, as a new number.
func Ceil(a *big.Rat) *big.Rat {
	q, m := new(big.Int).DivMod(a.Num(), a.Denom(), new(big.Int))
	if m.Sign() != 0 {
		q.Add(q, big.NewInt(1))
	}
	return new(big.Rat).SetInt(q)
}

// Abs returns |a| as a new number.
func Abs(a *big.Rat) *big.Rat { return new(big.Rat).Abs(a) }

// Pow returns x^k as a new number. It panics if k is negative.
func Pow(x *big.Rat, k int) *big.Rat {
	atLeast("an exponent", k, 0)
	p := Int(1)
	for range k {
		p.Mul(p, x)
	}
	return p
}

// Float returns the nearest float, which is infinite for a number beyond all.
func Float(x *big.Rat) float64 {
	f, _ := x.Float64()
	return f
}

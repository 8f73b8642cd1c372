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

// Add returns a + b as a new number.
func Add(a, b *big.Rat) *big.Rat { return new(big.Rat).Add(a, b) }

// Sub returns a - b as a new number.
func Sub(a, b *big.Rat) *big.Rat { return new(big.Rat).Sub(a, b) }

// Mul returns a b as a new number.
func Mul(a, b *big.Rat) *big.Rat { return new(big.Rat).Mul(a, b) }

// Quo returns a / b as a new number. It panics if b is zero.
func Quo(a, b *big.Rat) *big.Rat {
	if b.Sign() == 0 {
		panic(fmt.Sprintf("exact: %v divided by zero", a.RatString()))
	}
	return new(big.Rat).Quo(a, b)
}

// Abs returns |a| as a new number.
func Abs(a *big.Rat) *big.Rat { return new(big.Rat).Abs(a) }

// Pow returns x^k as a new number. It panics if k is negative.
func Pow(x *big.Rat, k int) *big.Rat {
	atLeast("an exponent", k, 0)
	p := Frac(1, 1)
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

package exact

import "math/big"

// A side is the side of a number on which its bounds lie: down at or below it, up at or
// above it. Each step of a bound rounds to its side. The bounds are binary numbers
// of 256 bits: rationals would look for a common divisor at each step.
type side big.RoundingMode

const (
	down = side(big.ToNegativeInf)
	up   = side(big.ToPositiveInf)
)

// other returns the other side.
func (s side) other() side { return down + up - s }

func (s side) zero() *big.Float {
	return new(big.Float).SetPrec(Bits + 56).SetMode(big.RoundingMode(s))
}

func (s side) bound(x *big.Rat) *big.Float    { return s.zero().SetRat(x) }
func (s side) add(x, y *big.Float) *big.Float { return s.zero().Add(x, y) }
func (s side) mul(x, y *big.Float) *big.Float { return s.zero().Mul(x, y) }
func (s side) quo(x, y *big.Float) *big.Float { return s.zero().Quo(x, y) }
func (s side) fraction(above, below int) *big.Float {
	return s.quo(big.NewFloat(float64(above)), big.NewFloat(float64(below)))
}

// power2 returns 2^k.
func power2(k int) *big.Rat {
	one := big.NewInt(1)
	return new(big.Rat).SetFrac(new(big.Int).Lsh(one, uint(max(k, 0))), new(big.Int).Lsh(one, uint(max(-k, 0))))
}

// end returns a bound of f(x) as a rational number of Bits bits, on its side of it.
func (s side) end(f func(side, *big.Rat) *big.Float, x *big.Rat) *big.Rat {
	r, _ := s.zero().SetPrec(Bits).Set(f(s, x)).Rat(nil)
	return r
}

// exp bounds e^x. For y = x/2^k in [0, 2^-7] it is 1 + y/1 (1 + y/2 (1 + ... y/26 r)),
// where the rest r is in [1, 2], squared k times. It panics if |x| reaches 2^17.
func (s side) exp(x *big.Rat) *big.Float {
	checkExponent(x)
	one := big.NewFloat(1)
	if x.Sign() < 0 {
		return s.quo(one, s.other().exp(Abs(x)))
	}
	k := max(x.Num().BitLen()-x.Denom().BitLen()+8, 0)
	y := s.bound(Mul(x, power2(-k)))
	sum := one
	if s == up {
		sum = big.NewFloat(2)
	}
	for n := 26; n > 0; n-- {
		sum = s.add(one, s.quo(s.mul(y, sum), big.NewFloat(float64(n))))
	}
	for range k {
		sum = s.mul(sum, sum)
	}
	return sum
}

// log bounds the logarithm of x = 2^k m with m in [1/2, 2], which is
// k log 2 + 2 artanh((m-1)/(m+1)), and log 2 = 2 artanh(1/3).
func (s side) log(x *big.Rat) *big.Float {
	k := x.Num().BitLen() - x.Denom().BitLen()
	m := Mul(x, power2(-k))
	sum := s.artanh(Quo(Sub(m, Int(1)), Add(m, Int(1))))
	of := s
	if k < 0 {
		of = s.other()
	}
	return s.add(sum, s.mul(big.NewFloat(float64(k)), of.artanh(Frac(1, 3))))
}

// artanh bounds 2 artanh(y) for |y| <= 1/3. For y >= 0 and with z = y^2 it is
// 2 y (1 + z (1/3 + z (1/5 + ...))) up to 70 terms; the tail is below 2^-219.
func (s side) artanh(y *big.Rat) *big.Float {
	if y.Sign() < 0 {
		b := s.other().artanh(Abs(y))
		return b.Neg(b)
	}
	v := s.bound(y)
	z, sum, tail := s.mul(v, v), s.zero(), -0x1p-219
	if s == up {
		tail = 0x1p-219
	}
	for n := 69; n >= 0; n-- {
		sum = s.add(s.fraction(1, 2*n+1), s.mul(z, sum))
	}
	return s.add(s.mul(s.add(v, v), sum), big.NewFloat(tail))
}

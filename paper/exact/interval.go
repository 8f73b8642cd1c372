package exact

import (
	"fmt"
	"math/big"
	"slices"
)

// An Interval encloses a real number between two rationals, Lo <= Hi. The operations return intervals that hold
// every result of numbers in their arguments; ends are rounded outward to about Bits bits.
type Interval struct{ Lo, Hi *big.Rat }

// Bits is the precision of the ends of an [Interval].
const Bits = 200

// Point returns the interval [x, x].
func Point(x *big.Rat) Interval { return Interval{x, x} }

// A Decision is the truth of an inequality between two enclosed numbers, if it is known.
type Decision int

const (
	Undecided    Decision = iota // the enclosures overlap
	Certainly                    // true for all numbers in them
	CertainlyNot                 // false for all numbers in them
)

// String returns the decision in words.
func (d Decision) String() string {
	names := [...]string{"undecided", "certainly", "certainly not"}
	if d < 0 || int(d) >= len(names) {
		return fmt.Sprintf("Decision(%d)", int(d))
	}
	return names[d]
}

// AtMost decides a <= b.
func (a Interval) AtMost(b Interval) Decision {
	switch {
	case a.Hi.Cmp(b.Lo) <= 0:
		return Certainly
	case a.Lo.Cmp(b.Hi) > 0:
		return CertainlyNot
	}
	return Undecided
}

// Contains reports whether x lies in a.
func (a Interval) Contains(x *big.Rat) bool { return a.Lo.Cmp(x) <= 0 && x.Cmp(a.Hi) <= 0 }

// Float returns the float nearest to the middle of a.
func (a Interval) Float() float64 { return Float(Quo(Add(a.Lo, a.Hi), Int(2))) }

// String returns the ends to 30 decimals.
func (a Interval) String() string {
	return "[" + a.Lo.FloatString(30) + ", " + a.Hi.FloatString(30) + "]"
}

// Add returns a + b.
func (a Interval) Add(b Interval) Interval { return outward(Add(a.Lo, b.Lo), Add(a.Hi, b.Hi)) }

// Sub returns a - b.
func (a Interval) Sub(b Interval) Interval { return outward(Sub(a.Lo, b.Hi), Sub(a.Hi, b.Lo)) }

// Mul returns a b.
func (a Interval) Mul(b Interval) Interval {
	if a.Lo.Sign() >= 0 && b.Lo.Sign() >= 0 {
		return outward(Mul(a.Lo, b.Lo), Mul(a.Hi, b.Hi))
	}
	return hull(Mul(a.Lo, b.Lo), Mul(a.Lo, b.Hi), Mul(a.Hi, b.Lo), Mul(a.Hi, b.Hi))
}

// Quo returns a / b. It panics if b holds zero.
func (a Interval) Quo(b Interval) Interval {
	if b.Lo.Sign() <= 0 && b.Hi.Sign() >= 0 {
		panic(fmt.Sprintf("exact: division by %v, which holds zero", b))
	}
	return hull(Quo(a.Lo, b.Lo), Quo(a.Lo, b.Hi), Quo(a.Hi, b.Lo), Quo(a.Hi, b.Hi))
}

// Exp returns e^a. It panics if |a| reaches 2^17.
func (a Interval) Exp() Interval { return Interval{down.end(side.exp, a.Lo), up.end(side.exp, a.Hi)} }

// Log returns the natural logarithm of a. It panics unless a is positive.
func (a Interval) Log() Interval {
	if a.Lo.Sign() <= 0 {
		panic(fmt.Sprintf("exact: logarithm of %v, want a positive interval", a))
	}
	return Interval{down.end(side.log, a.Lo), up.end(side.log, a.Hi)}
}

// Sqrt returns the square root of a. It panics if a holds a negative number.
func (a Interval) Sqrt() Interval {
	if a.Lo.Sign() < 0 {
		panic(fmt.Sprintf("exact: square root of %v", a))
	}
	lo, _ := sqrt(a.Lo)
	_, hi := sqrt(a.Hi)
	return outward(lo, hi)
}

// Abs returns |a|.
func (a Interval) Abs() Interval {
	switch {
	case a.Lo.Sign() >= 0:
		return a
	case a.Hi.Sign() <= 0:
		return Interval{Abs(a.Hi), Abs(a.Lo)}
	}
	return Interval{new(big.Rat), slices.MaxFunc(Vector{Abs(a.Lo), a.Hi}, (*big.Rat).Cmp)}
}

// Power returns x^exponent. It panics unless x is positive.
func Power(x, exponent *big.Rat) Interval {
	if x.Sign() <= 0 {
		panic(fmt.Sprintf("exact: a power of %v, want a positive number", x.RatString()))
	}
	if k := int(exponent.Num().Int64()); exponent.IsInt() && k >= 0 {
		return Point(Pow(x, k))
	} else if exponent.IsInt() {
		return Point(Quo(Int(1), Pow(x, -k)))
	}
	return Point(exponent).Mul(Point(x).Log()).Exp()
}

// Spread returns the difference of the largest and the least of the numbers. It panics if there are none.
func Spread(all ...Interval) Interval {
	atLeast("the number of intervals", len(all), 1)
	least, most := extremes(all)
	spread := most.Sub(least)
	if spread.Lo.Sign() < 0 {
		spread.Lo = new(big.Rat)
	}
	return spread
}

// extremes encloses the least and the largest of the numbers.
func extremes(all []Interval) (least, most Interval) {
	var lows, highs Vector
	for _, x := range all {
		lows, highs = append(lows, x.Lo), append(highs, x.Hi)
	}
	return Interval{slices.MinFunc(lows, (*big.Rat).Cmp), slices.MinFunc(highs, (*big.Rat).Cmp)},
		Interval{slices.MaxFunc(lows, (*big.Rat).Cmp), slices.MaxFunc(highs, (*big.Rat).Cmp)}
}

// hull returns the least interval with all of x, rounded outward.
func hull(x ...*big.Rat) Interval {
	return outward(slices.MinFunc(x, (*big.Rat).Cmp), slices.MaxFunc(x, (*big.Rat).Cmp))
}

// outward returns the interval [lo, hi] with its ends rounded outward.
func outward(lo, hi *big.Rat) Interval { return Interval{floor(lo), ceil(hi)} }

// ceil returns a number with at most Bits+1 significant bits at or above x.
func ceil(x *big.Rat) *big.Rat {
	down := floor(new(big.Rat).Neg(x))
	return down.Neg(down)
}

// floor returns a number with at most Bits+1 significant bits at or below x.
func floor(x *big.Rat) *big.Rat {
	if x.Sign() == 0 || x.Num().BitLen() <= Bits && x.Denom().BitLen() <= Bits {
		return x
	}
	shift := Bits - x.Num().BitLen() + x.Denom().BitLen()
	num, den := new(big.Int).Set(x.Num()), new(big.Int).Set(x.Denom())
	if shift >= 0 {
		num.Lsh(num, uint(shift))
	} else {
		den.Lsh(den, uint(-shift))
	}
	num.Div(num, den) // rounds towards minus infinity for a positive divisor
	return dyadic(num.Lsh(num, uint(max(-shift, 0))), max(shift, 0))
}

// sqrt returns numbers at or below and at or above the square root of x.
func sqrt(x *big.Rat) (lo, hi *big.Rat) {
	// sqrt(x) = sqrt(num den 4^k) / (den 2^k)
	n := new(big.Int).Mul(x.Num(), x.Denom())
	n.Lsh(n, 2*Bits)
	r := new(big.Int).Sqrt(n)
	den := new(big.Int).Lsh(x.Denom(), Bits)
	lo = new(big.Rat).SetFrac(r, den)
	if new(big.Int).Mul(r, r).Cmp(n) < 0 {
		r = new(big.Int).Add(r, big.NewInt(1))
	}
	return lo, new(big.Rat).SetFrac(r, den)
}

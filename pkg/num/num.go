// Package num has the arithmetic that must give the same bytes everywhere: elementary functions in plain Go,
// random streams addressed by their purpose, and means with standard errors.
//
//	src := num.Stream(seed, "test set", batch) // the same draws in any order of work
//	num.Softmax(p, scores)
//	loss := num.Average(losses) // loss.Mean, loss.StdErr
//
// Go may fuse x*y + z into one rounding on some processors, and math.Exp and math.Log have assembly bodies on
// others. Every product below that feeds a sum is therefore rounded explicitly, float64(x*y) + z, which the
// language specification guarantees never to be fused.
//
// Integers have 64 bits. The package does not compile for 32-bit processors, where the exponents and sizes of
// other packages would overflow.
package num

import (
	"fmt"
	"math"
)

const _ uint = 1 << 63 // the processor has 64 bits

const (
	ln2Hi = 6.93147180369123816490e-01
	ln2Lo = 1.90821492927058770002e-10
)

// Exp returns e**x with an error below one unit in the last place, and the same bits on every platform.
// Exp(NaN) is NaN, Exp(-Inf) is zero, and Exp of more than 709.78 is +Inf.
//
// The argument is reduced to |r| <= ln(2)/2 in two parts; exp(r) is the rational approximation of FreeBSD's
// e_exp.c (Sun Microsystems, 1993).
func Exp(x float64) float64 {
	const (
		overflow  = 7.09782712893383973096e+02
		underflow = -7.45133219101941108420e+02

		p1 = 1.66666666666666657415e-01
		p2 = -2.77777777770155933842e-03
		p3 = 6.61375632143793436117e-05
		p4 = -1.65339022054652515390e-06
		p5 = 4.13813679705723846039e-08
	)
	switch {
	case x > overflow:
		return math.Inf(1)
	case x < underflow:
		return 0
	case x != x:
		return x
	}
	k := int(float64(x*math.Log2E) + math.Copysign(0.5, x))
	hi := x - float64(float64(k)*ln2Hi)
	lo := float64(float64(k) * ln2Lo)
	r := hi - lo
	t := float64(r * r)
	c := r - float64(t*(p1+float64(t*(p2+float64(t*(p3+float64(t*(p4+float64(t*p5)))))))))
	y := 1 - ((lo - float64(r*c)/(2-c)) - hi)
	// y is in [0.7, 1.5], and k may be 1024 or -1075: half the exponent twice is in range,
	// and rounds once at most.
	return float64(y*pow2(k-k/2)) * pow2(k/2)
}

// pow2 returns 2**k for -1022 <= k <= 1023.
func pow2(k int) float64 { return math.Float64frombits(uint64(k+1023) << 52) }

// Log returns the natural logarithm of x with an error below one unit in the last place, and the same bits on
// every platform. Log(0) is -Inf, Log of a negative number and of NaN is NaN, Log(+Inf) is +Inf.
//
// The method is that of FreeBSD's e_log.c (Sun Microsystems, 1993).
func Log(x float64) float64 {
	const (
		l1 = 6.666666666666735130e-01
		l2 = 3.999999999940941908e-01
		l3 = 2.857142874366239149e-01
		l4 = 2.222219843214978396e-01
		l5 = 1.818357216161805012e-01
		l6 = 1.531383769920937332e-01
		l7 = 1.479819860511658591e-01
	)
	switch {
	case x != x || x > math.MaxFloat64:
		return x
	case x < 0:
		return math.NaN()
	case x == 0:
		return math.Inf(-1)
	}
	f1, ki := math.Frexp(x)
	if f1 < math.Sqrt2/2 {
		f1 *= 2
		ki--
	}
	f := f1 - 1
	k := float64(ki)
	s := f / (2 + f)
	s2 := float64(s * s)
	s4 := float64(s2 * s2)
	t1 := float64(s2 * (l1 + float64(s4*(l3+float64(s4*(l5+float64(s4*l7)))))))
	t2 := float64(s4 * (l2 + float64(s4*(l4+float64(s4*l6)))))
	r := t1 + t2
	hfsq := float64(float64(0.5*f) * f)
	return float64(k*ln2Hi) - ((hfsq - (float64(s*(hfsq+r)) + float64(k*ln2Lo))) - f)
}

// CosPi returns cos(pi x) for 0 <= x <= 1, with an error below 1e-15 and the
// same bits on every platform. It panics outside that range.
func CosPi(x float64) float64 {
	switch {
	case !(0 <= x && x <= 1):
		panic(fmt.Sprintf("num: CosPi of %v, want a number in [0, 1]", x))
	case x > 0.5:
		return -CosPi(1 - x)
	case x > 0.25:
		return sinTaylor(float64(math.Pi * (0.5 - x)))
	}
	// cos(2a) = 1 - 2 sin(a)^2
	s := sinTaylor(float64(math.Pi * float64(x/2)))
	return 1 - float64(2*float64(s*s))
}

// sinTaylor sums the series of the sine, |x| <= pi/4.
func sinTaylor(x float64) float64 {
	x2 := float64(x * x)
	sum := 0.0
	for n := 19; n >= 3; n -= 2 {
		sum = float64(-x2 / float64(n*(n-1)) * (1 + sum))
	}
	return x + float64(x*sum)
}

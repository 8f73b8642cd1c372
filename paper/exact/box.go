package exact

import (
	"fmt"
	"math"

	"learncausal/pkg/num"
)

// A Range encloses a real number between two floats, Lo <= Hi. The operations round outward, to the
// next float, and so hold every result of numbers in their arguments. It is the fast companion of
// [Interval], for a proof by cases over millions of boxes.
type Range struct{ Lo, Hi float64 }

// At returns the range of the float x alone.
func At(x float64) Range { return Range{x, x} }

// spread rounds the ends outward.
func spread(lo, hi float64) Range {
	if math.IsNaN(lo) || math.IsNaN(hi) {
		return Range{math.Inf(-1), math.Inf(1)}
	}
	return Range{math.Nextafter(lo, math.Inf(-1)), math.Nextafter(hi, math.Inf(1))}
}

// Add returns a + b.
func (a Range) Add(b Range) Range { return spread(a.Lo+b.Lo, a.Hi+b.Hi) }

// Sub returns a - b.
func (a Range) Sub(b Range) Range { return spread(a.Lo-b.Hi, a.Hi-b.Lo) }

// Mul returns a b.
func (a Range) Mul(b Range) Range {
	p, q, r, s := a.Lo*b.Lo, a.Lo*b.Hi, a.Hi*b.Lo, a.Hi*b.Hi
	return spread(min(p, q, r, s), max(p, q, r, s))
}

// Quo returns a / b, the whole line if b holds zero.
func (a Range) Quo(b Range) Range {
	if b.Lo <= 0 && b.Hi >= 0 {
		return Range{math.Inf(-1), math.Inf(1)}
	}
	p, q, r, s := a.Lo/b.Lo, a.Lo/b.Hi, a.Hi/b.Lo, a.Hi/b.Hi
	return spread(min(p, q, r, s), max(p, q, r, s))
}

// Pow returns a^k, which is not negative for an even k. It panics if k is negative.
func (a Range) Pow(k int) Range {
	atLeast("an exponent", k, 0)
	p := At(1)
	for range k {
		p = p.Mul(a)
	}
	if k%2 == 0 {
		p.Lo = max(p.Lo, 0)
	}
	return p
}

// Abs returns |a|.
func (a Range) Abs() Range {
	return Range{max(a.Lo, -a.Hi, 0), max(-a.Lo, a.Hi)}
}

// Min returns the smaller of a and b.
func (a Range) Min(b Range) Range { return Range{min(a.Lo, b.Lo), min(a.Hi, b.Hi)} }

// Max returns the larger of a and b.
func (a Range) Max(b Range) Range { return Range{max(a.Lo, b.Lo), max(a.Hi, b.Hi)} }

// Sqrt returns the square root of the part of a that is not negative. It panics if a is negative.
func (a Range) Sqrt() Range {
	if a.Hi < 0 {
		panic(fmt.Sprintf("exact: square root of %v", a))
	}
	r := spread(math.Sqrt(max(a.Lo, 0)), math.Sqrt(a.Hi))
	r.Lo = max(r.Lo, 0)
	return r
}

// Exp returns e^a. [num.Exp] errs by less than one unit in the last place, of which rounding outward adds two.
func (a Range) Exp() Range {
	r := spread(num.Exp(a.Lo), num.Exp(a.Hi))
	r = spread(r.Lo, r.Hi)
	r.Lo = max(r.Lo, 0)
	return r
}

// Cover decides a statement for all points of a box. decide says of a box whether the statement is
// certain at each of its points, or fails at one of them; a box of which it says neither is cut in
// half along its widest side. Cover returns the number of boxes, and the box that failed, or that
// was still undecided after as many boxes as most; nil if the statement is certain.
func Cover(box []Range, most int, decide func(box []Range) Decision) (boxes int, left []Range) {
	stack := [][]Range{box}
	for len(stack) > 0 {
		b := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		boxes++
		switch decide(b) {
		case Certainly:
			continue
		case CertainlyNot:
			return boxes, b
		}
		if boxes >= most {
			return boxes, b
		}
		k := 0
		for j, r := range b {
			if r.Hi-r.Lo > b[k].Hi-b[k].Lo {
				k = j
			}
		}
		middle := b[k].Lo + (b[k].Hi-b[k].Lo)/2
		low, high := append([]Range(nil), b...), append([]Range(nil), b...)
		low[k].Hi, high[k].Lo = middle, middle
		stack = append(stack, low, high)
	}
	return boxes, nil
}

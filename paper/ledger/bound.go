package ledger

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/big"
	"regexp"
	"slices"
	"strings"

	"learncausal/paper/exact"
)

// A Bound is a product of a constant and powers of symbols, as in 4 S^3 gamma^-6. A statement displays it once, as
//
//	\bound{4S^3\gamma^{-6}}    or    \bound[part]{4S^3\gamma^{-6}}
//
// with the part that it belongs to, if the statement has several. The checks of the claim receive the bounds from
// their [Env]. Their display, their values and the changes that [Claim.Resolution] makes follow from this one text.
type Bound struct {
	Part    string
	least   bool // the bound stands after >=
	c       *big.Rat
	written string // the constant as displayed, "1" if the display has none
	powers  []power
}

// A power is a symbol in LaTeX with its exponent.
type power struct {
	symbol   string
	exponent *big.Rat

	whole, half int     // exponent = whole + half/2 + rest, with half = -1, 0 or 1
	rest        float64 // zero unless the exponent has another denominator than 1 and 2
}

func newPower(symbol string, exponent *big.Rat) power {
	x := exact.Float(exponent)
	p := power{symbol: symbol, exponent: exponent, whole: int(x)}
	p.rest = x - float64(p.whole)
	if 2*p.rest == math.Trunc(2*p.rest) {
		p.half, p.rest = int(2*p.rest), 0
	}
	return p
}

// At has the values of the symbols of a Bound, by their LaTeX.
type At[N float64 | *big.Rat | exact.Interval] map[string]N

// Constant returns c.
func (b Bound) Constant() *big.Rat { return b.c }

// Exponent returns the exponent of a symbol, zero if the bound lacks it.
func (b Bound) Exponent(symbol string) *big.Rat {
	for _, p := range b.powers {
		if p.symbol == symbol {
			return p.exponent
		}
	}
	return new(big.Rat)
}

// Float returns the value of the bound. All half-integer exponents share one square root, which is a factor of the
// value from the first of them on.
func (b Bound) Float(at At[float64]) float64 {
	value, root := exact.Float(b.c), 1.
	for _, p := range b.powers {
		if x := valueOf(at, p.symbol); p.half > 0 {
			root *= x
		} else if p.half < 0 {
			root /= x
		}
	}
	root = math.Sqrt(root)
	for _, p := range b.powers {
		x := at[p.symbol]
		for range p.whole {
			value *= x
		}
		for range -p.whole {
			value /= x
		}
		if p.half != 0 {
			value, root = value*root, 1
		}
		if p.rest != 0 {
			value *= math.Pow(x, p.rest)
		}
	}
	return value
}

// Rat returns the value of the bound. It panics if an exponent is no integer.
func (b Bound) Rat(at At[*big.Rat]) *big.Rat {
	value := b.c
	for _, p := range b.powers {
		x, k := valueOf(at, p.symbol), int(p.exponent.Num().Int64())
		switch {
		case !p.exponent.IsInt():
			panic(fmt.Sprintf("ledger: %s^%s is irrational", p.symbol, p.exponent.RatString()))
		case k >= 0:
			value = exact.Mul(value, exact.Pow(x, k))
		case x.Sign() == 0:
			panic(errUndefined)
		default:
			value = exact.Quo(value, exact.Pow(x, -k))
		}
	}
	return value
}

// Enclose encloses the value of the bound for enclosed numbers >= 0.
func (b Bound) Enclose(at At[exact.Interval]) exact.Interval {
	value := exact.Point(b.c)
	for _, p := range b.powers {
		x, k := valueOf(at, p.symbol), p.exponent
		if p.half != 0 {
			k = exact.Mul(exact.Int(2), k)
		}
		lo, hi := powerOf(x.Lo, k), powerOf(x.Hi, k)
		if k.Sign() < 0 {
			lo, hi = hi, lo
		}
		factor := exact.Interval{Lo: lo.Lo, Hi: hi.Hi}
		if p.half != 0 {
			factor = factor.Sqrt()
		}
		value = value.Mul(factor)
	}
	return value
}

// powerOf encloses x^k for x >= 0.
func powerOf(x, k *big.Rat) exact.Interval {
	switch {
	case x.Sign() > 0:
		return exact.Power(x, k)
	case k.Sign() < 0:
		panic(errUndefined)
	case k.Sign() == 0:
		return exact.Point(exact.Int(1))
	}
	return exact.Point(x)
}

// errUndefined reports a negative power of zero.
var errUndefined = errors.New("ledger: a negative power of zero")

func valueOf[N float64 | *big.Rat | exact.Interval](at At[N], symbol string) N {
	x, ok := at[symbol]
	if !ok {
		panic(fmt.Sprintf("ledger: the check gives %s no value", symbol))
	}
	return x
}

// IsTimes reports whether the bound is a number times another.
func (b Bound) IsTimes(other Bound, number *big.Rat) bool {
	if len(b.powers) != len(other.powers) || b.c.Cmp(exact.Mul(number, other.c)) != 0 {
		return false
	}
	return !slices.ContainsFunc(b.powers, func(p power) bool { return p.exponent.Cmp(other.Exponent(p.symbol)) != 0 })
}

// Over returns the bound divided by another, in LaTeX. Equal powers of a symbol cancel.
func (b Bound) Over(latex string) Bound {
	other := MustBound(latex)
	b.c, b.powers = exact.Quo(b.c, other.c), slices.Clone(b.powers)
	for _, p := range other.powers {
		k := slices.IndexFunc(b.powers, func(q power) bool { return q.symbol == p.symbol })
		if k < 0 {
			k, b.powers = len(b.powers), append(b.powers, newPower(p.symbol, new(big.Rat)))
		}
		b.powers[k] = newPower(p.symbol, exact.Sub(b.powers[k].exponent, p.exponent))
	}
	b.powers = slices.DeleteFunc(b.powers, func(p power) bool { return p.exponent.Sign() == 0 })
	return b
}

// Without returns the bound without the powers of some symbols.
func (b Bound) Without(symbols ...string) Bound {
	b.powers = slices.DeleteFunc(slices.Clone(b.powers), func(p power) bool { return slices.Contains(symbols, p.symbol) })
	return b
}

// Squared returns the square of the bound.
func (b Bound) Squared() Bound {
	b.c = exact.Mul(b.c, b.c)
	b.powers = slices.Clone(b.powers)
	for i, p := range b.powers {
		b.powers[i] = newPower(p.symbol, exact.Mul(exact.Int(2), p.exponent))
	}
	return b
}

// times returns the bound with c times the constant.
func (b Bound) times(c *big.Rat) Bound {
	b.c = exact.Mul(b.c, c)
	return b
}

// raised returns the bound with a larger exponent of symbol k.
func (b Bound) raised(k int, by *big.Rat) Bound {
	b.powers = slices.Clone(b.powers)
	b.powers[k] = newPower(b.powers[k].symbol, exact.Add(b.powers[k].exponent, by))
	return b
}

var bounded = regexp.MustCompile(`\\bound(?:\[([^\]]*)\])?\{`)

// readBounds returns a statement without its commands \bound, and the bounds.
func readBounds(statement string) (plain string, bounds []Bound) {
	for {
		at := bounded.FindStringSubmatchIndex(statement)
		if at == nil {
			return plain + statement, bounds
		}
		inner, rest := braced(statement[at[1]-1:])
		b := MustBound(inner)
		if at[2] >= 0 {
			b.Part = statement[at[2]:at[3]]
		}
		relations := relation.FindAllString(statement[:at[0]], -1)
		b.least = relations != nil && relations[len(relations)-1] == `\ge`
		plain, statement, bounds = plain+statement[:at[0]]+inner, rest, append(bounds, b)
	}
}

// braced returns the text in the braces, brackets or bars with which s begins, and the rest.
func braced(s string) (inner, rest string) {
	depth := 0
	for i, r := range s {
		switch r {
		case '{', '(':
			depth++
		case '}', ')':
			depth--
		}
		if depth == 0 {
			return s[1:i], s[i+1:]
		}
	}
	panic(fmt.Sprintf("ledger: %q is not closed", s))
}

// MustBound reads a product in LaTeX: numbers, symbols with exponents, \frac, \sqrt, a slash before a divisor, and
// parentheses. A sum in parentheses or in a fraction is one symbol. It panics on other text.
func MustBound(latex string) Bound {
	b := Bound{c: exact.Int(1), written: "1"}
	b.read(latex, exact.Int(1))
	return b
}

var (
	ignored  = regexp.MustCompile(`^(?:\s|\\[,; ]|\\cdot\b)+`)
	digits   = regexp.MustCompile(`^\d+`)
	exponent = regexp.MustCompile(`^e\^(\d|\\[A-Za-z]+|[A-Za-z]|\{)`)
	// A symbol has a subscript and arguments: \mu_\pi(s), T_{\mathrm{eff}}, \max_lL_l, \log T, |I|.
	symbol = regexp.MustCompile(`^(?:\\max_l|\\bar )?(?:\\[A-Za-z]+|[A-Za-z]|\|[^|]*\||\\\|.*?\\\|)` +
		`(?:_(?:\{(?:[^{}]|\{[^{}]*\})*\}|\\[A-Za-z]+|[A-Za-z0-9]))?` + `(?:\((?:s'?|s'\\mid s|\\lambda|\\pi)\))?`)
	coefficient = regexp.MustCompile(`^(-?)(\d*)(.*)$`)
	relation    = regexp.MustCompile(`\\(ge|le)\b`)
	logarithm   = regexp.MustCompile(`^\\log(?:\^(\d+))?\s*`)
)

// read multiplies the bound by latex^times.
func (b *Bound) read(latex string, times *big.Rat) {
	sign := times
	for s := latex; ; {
		if s = s[len(ignored.FindString(s)):]; s == "" {
			return
		}
		if s[0] == '/' {
			sign, s = new(big.Rat).Neg(times), s[1:]
			continue
		}
		s, sign = b.readOne(s, sign), times
	}
}

// readOne multiplies the bound by the first factor of s to the power times, and returns the rest of s.
func (b *Bound) readOne(s string, times *big.Rat) (rest string) {
	switch {
	case strings.HasPrefix(s, `\frac`), strings.HasPrefix(s, `\tfrac`):
		above, rest := argument(s[strings.Index(s, "frac")+len("frac"):])
		below, rest := argument(rest)
		b.readGroup(above, times)
		b.readGroup(below, new(big.Rat).Neg(times))
		return rest
	case strings.HasPrefix(s, `\sqrt`):
		inner, rest := argument(s[len(`\sqrt`):])
		b.read(inner, exact.Quo(times, exact.Int(2)))
		return rest
	case s[0] == '(':
		inner, rest := braced(s)
		k, rest := readExponent(rest)
		b.readGroup(inner, exact.Mul(k, times))
		return rest
	case digits.MatchString(s):
		n := digits.FindString(s)
		b.readNumber(n, times)
		return s[len(n):]
	case exponent.MatchString(s):
		inner, rest := argument(s[2:])
		m := coefficient.FindStringSubmatch(inner)
		k := exact.Rat(m[1] + cmp.Or(m[2], "1"))
		b.powers = append(b.powers, newPower("e^"+m[3], exact.Mul(k, times)))
		return rest
	}
	k, name := exact.Int(1), ""
	if m := logarithm.FindStringSubmatch(s); m != nil {
		s, name = s[len(m[0]):], `\log `
		if m[1] != "" {
			k = exact.Rat(m[1])
		}
	}
	base := symbol.FindString(s)
	if name != "" && strings.HasPrefix(s, "(") {
		inner, _ := braced(s)
		base = "(" + inner + ")"
	}
	if base == "" {
		panic(fmt.Sprintf("ledger: %q begins with no factor", s))
	}
	up, rest := readExponent(s[len(base):])
	if up == nil { // an exponent in symbols, as in \lambda^d
		up, base = exact.Int(1), s[:len(s)-len(rest)]
	}
	b.powers = append(b.powers, newPower(name+base, exact.Mul(exact.Mul(k, up), times)))
	return rest
}

// readGroup multiplies the bound by a product, or by a sum as one symbol.
func (b *Bound) readGroup(inner string, times *big.Rat) {
	if isSum(inner) {
		b.powers = append(b.powers, newPower(inner, times))
		return
	}
	b.read(inner, times)
}

// isSum reports whether a plus or a minus stands outside of braces and parentheses.
func isSum(latex string) bool {
	depth := 0
	for _, r := range latex {
		switch r {
		case '{', '(':
			depth++
		case '}', ')':
			depth--
		case '+', '-':
			if depth == 0 {
				return true
			}
		}
	}
	return false
}

// readNumber multiplies the constant by n^times.
func (b *Bound) readNumber(n string, times *big.Rat) {
	x := exact.Rat(n)
	switch {
	case !times.IsInt():
		panic(fmt.Sprintf("ledger: a root of %s is irrational", n))
	case times.Sign() < 0:
		x = exact.Quo(exact.Int(1), x)
	}
	b.c = exact.Mul(b.c, exact.Pow(x, int(new(big.Int).Abs(times.Num()).Int64())))
	b.written = b.c.RatString()
}

// argument returns the argument of a command, in braces or one character or command, and the rest.
func argument(s string) (inner, rest string) {
	s = strings.TrimLeft(s, " ")
	if s[0] == '{' {
		return braced(s)
	}
	n := max(len(regexp.MustCompile(`^\\[A-Za-z]+`).FindString(s)), 1)
	return s[:n], s[n:]
}

// readExponent returns the exponent with which s begins, 1 if there is none and nil if it is no number, and the rest.
func readExponent(s string) (k *big.Rat, rest string) {
	if !strings.HasPrefix(s, "^") {
		return exact.Int(1), s
	}
	inner, rest := argument(s[1:])
	if m := regexp.MustCompile(`^(-?)\\frac(\d)(\d)$`).FindStringSubmatch(inner); m != nil {
		inner = m[1] + m[2] + "/" + m[3]
	}
	if k, ok := new(big.Rat).SetString(inner); ok {
		return k, rest
	}
	return nil, rest
}

// Bounds returns the bounds of the claim in the order of its statement, and Bound(k) the bound k.
func (e *Env) Bounds() []Bound { return e.bounds }

// Bound returns the bound k of [Env.Bounds].
func (e *Env) Bound(k int) Bound { return e.bounds[k] }

// With returns the check with other bounds, in LaTeX.
func (c Check) With(bounds ...string) Check {
	var other []Bound
	for _, latex := range bounds {
		other = append(other, MustBound(latex))
	}
	return func(e *Env, w *Worst) string { return c(e.with(other), w) }
}

// Repaired returns the check with the bounds of the correction.
func (c Check) Repaired() Check {
	return func(e *Env, w *Worst) string { return c(e.with(e.repaired), w) }
}

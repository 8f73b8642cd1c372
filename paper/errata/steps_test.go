package errata

import (
	"fmt"
	"io/fs"
	"math/big"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"learncausal/paper"
	"learncausal/paper/exact"
	"learncausal/paper/ledger"
)

// A quantity is positive. Its square is known where it is a product of square roots of rationals, and the
// quantity itself where it is rational; otherwise it is enclosed.
type quantity struct {
	rat, square *big.Rat
	in          exact.Interval
}

func rational(x *big.Rat) quantity { return quantity{x, exact.Mul(x, x), exact.Point(x)} }

func (a quantity) times(b quantity) quantity {
	out := quantity{in: a.in.Mul(b.in)}
	if a.rat != nil && b.rat != nil {
		return rational(exact.Mul(a.rat, b.rat))
	}
	if a.square != nil && b.square != nil {
		out.square = exact.Mul(a.square, b.square)
	}
	return out
}

func (a quantity) plus(b quantity, sign *big.Rat) quantity {
	if a.rat != nil && b.rat != nil {
		return rational(exact.Add(a.rat, exact.Mul(sign, b.rat)))
	}
	return quantity{in: a.in.Add(exact.Point(sign).Mul(b.in))}
}

// to returns the power of a number; the exponent is a multiple of 1/2 unless the quantity is rational.
func (a quantity) to(k *big.Rat) quantity {
	twice := exact.Mul(exact.Int(2), k)
	switch {
	case a.rat != nil && k.IsInt():
		return rational(power(a.rat, k))
	case a.rat != nil && twice.IsInt():
		return quantity{square: power(a.rat, twice), in: exact.Power(a.rat, k)}
	case a.square != nil && k.IsInt():
		return quantity{square: power(a.square, k), in: exact.Power(a.square, exact.Quo(k, exact.Int(2)))}
	}
	return quantity{in: exact.Interval{Lo: exact.Power(a.in.Lo, k).Lo, Hi: exact.Power(a.in.Hi, k).Hi}}
}

// power returns x^k for an integer k.
func power(x, k *big.Rat) *big.Rat {
	n := int(k.Num().Int64())
	if n < 0 {
		return exact.Inv(exact.Pow(x, -n))
	}
	return exact.Pow(x, n)
}

// holds decides a relation between two numbers.
func holds(a quantity, relation string, b quantity) bool {
	if a.square != nil && b.square != nil {
		return map[string]bool{
			`\le`: a.square.Cmp(b.square) <= 0, `\ge`: a.square.Cmp(b.square) >= 0, "<": a.square.Cmp(b.square) < 0,
			">": a.square.Cmp(b.square) > 0, "=": a.square.Cmp(b.square) == 0,
		}[relation]
	}
	below, above := a.in.Hi.Cmp(b.in.Lo) < 0, a.in.Lo.Cmp(b.in.Hi) > 0
	return below && (relation == `\le` || relation == "<") || above && (relation == `\ge` || relation == ">")
}

// A formula is what is left to read of a formula in LaTeX, with the values of its symbols.
type formula struct {
	rest []string
	at   map[string]quantity
}

var (
	spaces  = regexp.MustCompile(`\\[,;!]|\\q?quad\b|\\[Bb]igg?[lr]?\b|\\(left|right)\b`)
	letters = regexp.MustCompile(`\\[a-zA-Z]+(_\{[^{}]*\})?|\d+(\.\d+)?|[A-Za-z](_\{[^{}]*\})?|\S`)
)

func (f *formula) next() (token string) {
	if len(f.rest) > 0 {
		token, f.rest = f.rest[0], f.rest[1:]
	}
	return token
}

func (f *formula) sees(tokens ...string) bool {
	return len(f.rest) > 0 && slices.Contains(tokens, f.rest[0])
}

// sum reads terms with signs.
func (f *formula) sum() quantity {
	value := f.product()
	for f.sees("+", "-") {
		sign := exact.Int(1)
		if f.next() == "-" {
			sign = exact.Int(-1)
		}
		value = value.plus(f.product(), sign)
	}
	return value
}

// product reads factors up to a sign, a relation or the end of a group.
func (f *formula) product() quantity {
	value, up := f.power(), exact.Int(1)
	for len(f.rest) > 0 && !f.sees("+", "-", ")", "}", "]", `\le`, `\ge`, "<", ">", "=") {
		if f.sees(`\cdot`, "/") {
			if f.next() == "/" {
				up = exact.Int(-1)
			}
			continue
		}
		value, up = value.times(f.power().to(up)), exact.Int(1)
	}
	return value
}

// power reads a factor with its exponent.
func (f *formula) power() quantity {
	value := f.factor()
	if !f.sees("^") {
		return value
	}
	f.next()
	sign := exact.Int(1)
	k := f.argument(func() quantity {
		if f.sees("-") {
			f.next()
			sign = exact.Int(-1)
		}
		return f.sum()
	})
	return value.to(exact.Mul(sign, k.rat))
}

// argument reads a group in braces, or one digit or symbol.
func (f *formula) argument(read func() quantity) quantity {
	if !f.sees("{") {
		if digits := f.next(); len(digits) > 1 && digits[0] >= '0' && digits[0] <= '9' {
			f.rest = append([]string{digits[1:]}, f.rest...)
			return rational(exact.Rat(digits[:1]))
		} else {
			f.rest = append([]string{digits}, f.rest...)
		}
		return f.factor()
	}
	f.next()
	value := read()
	f.next()
	return value
}

func (f *formula) factor() quantity {
	switch token := f.next(); {
	case token == `\frac` || token == `\tfrac`:
		above := f.argument(f.sum)
		return above.times(f.argument(f.sum).to(exact.Int(-1)))
	case token == `\sqrt`:
		return f.argument(f.sum).to(exact.Frac(1, 2))
	case token == `\log`:
		return quantity{in: f.factor().in.Log()}
	case token == "(" || token == "{":
		value := f.sum()
		f.next()
		return value
	case token != "" && token[0] >= '0' && token[0] <= '9':
		return rational(exact.Rat(token))
	default:
		value, ok := f.at[token]
		if !ok {
			panic(fmt.Sprintf("%q has no value", token))
		}
		return value
	}
}

// decide decides the relations of a step. An equation for a symbol without a value, or for a symbol that an equation
// gave its value, gives it one.
func decide(step string, at map[string]quantity) error {
	f := &formula{letters.FindAllString(spaces.ReplaceAllString(step, " "), -1), at}
	if len(f.rest) > 2 && f.rest[1] == "=" && f.rest[0] != "S" && f.rest[0] != `\gamma` {
		name := f.next()
		f.next()
		at[name] = f.sum()
		return nil
	}
	left, relations := f.sum(), 0
	for ; len(f.rest) > 0; relations++ {
		relation := f.next()
		right := f.sum()
		if !holds(left, relation, right) {
			return fmt.Errorf("%v %s %v is not so", left.in, relation, right.in)
		}
		left = right
	}
	if relations == 0 {
		return fmt.Errorf("%s has no relation", step)
	}
	return nil
}

// steps returns the arguments of the commands \step of a proof.
func steps(proof string) (all []string) {
	for {
		_, rest, found := strings.Cut(proof, `\step{`)
		if !found {
			return all
		}
		depth, end := 1, 0
		for ; depth > 0; end++ {
			depth += strings.Count(rest[end:end+1], "{") - strings.Count(rest[end:end+1], "}")
		}
		all, proof = append(all, rest[:end-1]), rest[end:]
	}
}

// A constant is a number of two or more digits, or a fraction, with the powers of S and gamma behind it.
var (
	constants = regexp.MustCompile(`(?:\\t?frac\d\d|\\t?frac(?:\{\d+\}|\d)(?:\{\d+\}|\d)|\d+\.\d+|\d{2,})` +
		`(?:(?:S|\\gamma)(?:\^\{[-/\d]+\}|\^\d)?)*`)
	formulas = regexp.MustCompile(`(?s)\\\[(.*?)\\\]|\\begin\{align\*\}(.*?)\\end|\$(.*?)\$`)
	exponent = regexp.MustCompile(`(S|\\gamma|\d)?\^\{[^{}]*\}`)
	cited    = regexp.MustCompile(`\\prop\{([^{}]*)\}`)
)

// said returns the statement of a row and the steps of its proof, without blanks.
func said(t *testing.T, l *ledger.Ledger, id string) string {
	t.Helper()
	r := l.Find(id)
	if r == nil {
		t.Fatalf("no row has the id %s", id)
	}
	files, _ := fs.Glob(paper.Prose, "claims/*/"+id+".tex") // none, or one
	text := r.Statement
	for _, file := range files {
		b, _ := paper.Prose.ReadFile(file)
		text += ";" + strings.Join(steps(string(b)), ";")
	}
	return blanks.Replace(text)
}

var blanks = strings.NewReplacer(`\,`, "", " ", "", `11^\top`, "")

// The constants of two or more digits in a proof that has steps stand in a step, in the statement, or in the statement
// or a step of a row that the proof cites or rests on, with the same powers of S and gamma.
func TestConstantsOfProofsStandInSteps(t *testing.T) {
	l := stored(t)
	files, _ := fs.Glob(paper.Prose, "claims/*/*.tex") // the test below reads them
	for _, file := range files {
		id := strings.TrimSuffix(path.Base(file), ".tex")
		b, _ := paper.Prose.ReadFile(file)
		if steps(string(b)) == nil {
			continue
		}
		known := said(t, l, id)
		for _, other := range l.Find(id).Grounds() {
			known += said(t, l, other)
		}
		for _, m := range cited.FindAllStringSubmatch(string(b), -1) {
			known += said(t, l, m[1])
		}
		for _, m := range formulas.FindAllStringSubmatch(string(b), -1) {
			formula := exponent.ReplaceAllStringFunc(blanks.Replace(m[1]+m[2]+m[3]), func(power string) string {
				if power[0] == '^' {
					return "" // of another symbol
				}
				return power
			})
			for _, c := range constants.FindAllString(formula, -1) {
				if !strings.Contains(known, c) && regexp.MustCompile(`\d{2,}|\.`).MatchString(strings.TrimPrefix(c, `\frac`)) &&
					!regexp.MustCompile(`^\\t?frac\d\d`).MatchString(c) {
					t.Errorf("%s: %s stands in no step of %s", path.Base(file), c, formula)
				}
			}
		}
	}
}

// Each \step of a proof is a relation between constants, which is decided as it is displayed, for S = 2, 3 and 10 and
// gamma = 1, 1/2 and 1/100. K = ... gives a symbol its value for the rest of the proof.
func TestStepsOfProofsHold(t *testing.T) {
	files, err := fs.Glob(paper.Prose, "claims/*/*.tex")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, file := range files {
		b, err := paper.Prose.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range exact.Rats("2 3 10")[0] {
			for _, gamma := range exact.Rats("1 1/2 1/100")[0] {
				at := map[string]quantity{
					"S": rational(s), `\gamma`: rational(gamma), "e": {in: exact.Point(exact.Int(1)).Exp()},
				}
				for _, step := range steps(string(b)) {
					n++
					if err := decide(step, at); err != nil {
						t.Errorf("%s, S = %s, gamma = %s: %s: %v", path.Base(file), s.RatString(), gamma.RatString(), step, err)
					}
				}
			}
		}
	}
	if n < 9*25 {
		t.Errorf("%d steps are decided, want more", n/9)
	}
}

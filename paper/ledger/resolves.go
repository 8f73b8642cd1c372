package ledger

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"sort"
	"strings"

	"learncausal/paper/exact"
)

// The grids of Resolution: constants are multiplied or divided by a factor, and exponents are raised or lowered by a
// step. Exponents of T_eff and N have smaller steps.
var (
	factorGrid = exact.Vector(exact.Rats("101/100 51/50 21/20 11/10 5/4 3/2 2 3 5 10 100 1000")[0])
	stepGrid   = exact.Vector(exact.Rats("1 2 4")[0])
	rootGrid   = exact.Vector(exact.Rats("1/2 1 2 4")[0]) // of an exponent with the denominator 2
	lengthGrid = exact.Vector(exact.Rats("1/20 1/10 1/4 1/2 1 2")[0])
	// small are the symbols of numbers below 1. A smaller bound has larger exponents of them.
	small   = regexp.MustCompile(`^(\\(gamma|lambda|mu|pi|alpha|epsilon|delta)|1-|e\^-)`)
	lengths = regexp.MustCompile(`^(N|T_\{\\mathrm\{eff\}\})$`)
)

const notAtAll = "not at all"

// Resolution returns, for each bound of a claim that holds, the least change of each factor that the check refuses:
// "$4$: 25 %; $S^3$: 1" if it refuses 3.2 for 4, a quarter less, but no grid value nearer to 4, and S^2 for S^3. The
// factors of which it refuses no change are at the end, as "not at all: $S$".
//
// The changed bound goes through the check with the budget of a quick run. A change that the check refuses is followed
// by all larger ones; so Resolution searches the grid by bisection.
func (c Claim) Resolution(ctx context.Context) []string {
	var out []string
	bounds := NewEnv(ctx, c, true).bounds
	for k, b := range bounds {
		refused := func(changed Bound) bool {
			e := NewEnv(ctx, c, true)
			other := slices.Clone(bounds)
			other[k] = changed
			return c.Check.Refuses(e.with(other))
		}
		text := b.resolved(refused)
		if b.Part != "" {
			text = b.Part + ": " + text
		}
		out = append(out, text)
	}
	return out
}

// Refuses reports whether the statement fails. The check ends at its first witness, or where a bound is undefined.
func (c Check) Refuses(e *Env) (failed bool) {
	w := &Worst{first: true}
	defer func() {
		switch r := recover(); r {
		case nil, errUndefined:
		case errWitness:
			failed = true
		default:
			panic(r)
		}
	}()
	c(e, w)
	return w.Failed()
}

// errWitness ends a check at its first witness.
var errWitness = errors.New("ledger: a witness")

// resolved describes the least changes of the factors that are refused.
func (b Bound) resolved(refused func(Bound) bool) string {
	var parts []string
	least := leastRefused(factorGrid, b.least, false, func(f *big.Rat, up bool) bool {
		if !up {
			f = exact.Quo(exact.Int(1), f)
		}
		return refused(b.times(f))
	})
	if least != nil {
		parts = append(parts, fmt.Sprintf("$%s$: %s", b.written, factorText(least)))
	}
	var loosely []string
	if least == nil && (b.written != "1" || b.powers == nil) {
		loosely = append(loosely, "$"+b.written+"$")
	}
	loose := parts == nil
	for k, p := range b.powers {
		least := leastRefused(p.grid(), b.least != small.MatchString(p.symbol), loose, func(step *big.Rat, up bool) bool {
			if !up {
				step = new(big.Rat).Neg(step)
			}
			return refused(b.raised(k, step))
		})
		if least != nil {
			parts = append(parts, fmt.Sprintf("$%s$: %s", p, least.RatString()))
			continue
		}
		loosely = append(loosely, fmt.Sprintf("$%s$", p))
	}
	if loosely != nil {
		parts = append(parts, notAtAll+": "+strings.Join(loosely, ", "))
	}
	return strings.Join(parts, "; ")
}

// grid returns the steps of the exponent.
func (p power) grid() exact.Vector {
	switch {
	case lengths.MatchString(p.symbol):
		return lengthGrid
	case p.exponent.IsInt():
		return stepGrid
	}
	return rootGrid
}

// String returns the power in LaTeX.
func (p power) String() string {
	base := p.symbol
	if isSum(base) {
		base = "(" + base + ")"
	}
	k := p.exponent.RatString()
	if k == "1" {
		return base
	}
	if argument, ok := strings.CutPrefix(base, `\log `); ok {
		return `\log^{` + k + `}` + argument
	}
	if of, ok := strings.CutPrefix(base, "e^"); ok {
		return strings.Replace("e^{"+k+of+"}", "{-1", "{-", 1)
	}
	return base + "^{" + k + "}"
}

// factorText returns a factor below 2 as a change in percent.
func factorText(f *big.Rat) string {
	if percent := exact.Mul(exact.Int(100), exact.Sub(f, exact.Int(1))); f.Cmp(exact.Int(2)) < 0 {
		return percent.RatString() + " %"
	}
	return "×" + f.RatString()
}

// leastRefused returns the least change of the grid that is refused, or nil. The changes upwards are tried first if up,
// and the largest one before the least one if loose.
func leastRefused(grid exact.Vector, up, loose bool, refused func(change *big.Rat, up bool) bool) *big.Rat {
	last := len(grid) - 1
	if !loose && refused(grid[0], up) {
		return grid[0]
	}
	for _, up := range []bool{up, !up} {
		if refused(grid[last], up) {
			return grid[sort.Search(last, func(k int) bool { return refused(grid[k], up) })]
		}
	}
	return nil
}

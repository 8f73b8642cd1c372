package ledger

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"learncausal/paper/exact"
)

// The value of a product in LaTeX, in three arithmetics, against the same product in Go.
func TestBoundsHaveTheValuesOfTheirText(t *testing.T) {
	const s, g, teff, l = 3, 0.25, 16, 0.5
	for latex, want := range map[string]float64{
		`4S^3\gamma^{-6}`:                  4 * 27 * math.Pow(4, 6),
		`\frac14\gamma`:                    g / 4,
		`\frac{\gamma^2}{2S}`:              g * g / 6,
		`S/T_{\mathrm{eff}}`:               3. / 16,
		`11S^{5/2}\gamma^{-2}`:             11 * math.Pow(3, 2.5) * 16,
		`\sqrt{S\gamma}\,\lambda^d`:        math.Sqrt(0.75) * l,
		`(1-\lambda)S/(1+\lambda)`:         1.5,
		`\frac{1-\lambda}{1+\lambda}2`:     1,
		`\gamma^3/(4S^2)`:                  1. / 64 / 36,
		`e^{-2\beta}S`:                     3. / 16,
		`\frac{1-\lambda}{S(S-1)}`:         0.5 / 6,
		`\log^2T\,T_{\mathrm{eff}}^{-1/2}`: 1. / 4,
		`1`:                                1,
	} {
		b := MustBound(latex)
		at := At[float64]{
			"S": s, `\gamma`: g, `T_{\mathrm{eff}}`: teff, `\lambda^d`: l, `1-\lambda`: l, `1+\lambda`: 1, `e^\beta`: 4,
			`\log T`: 1, "S-1": 2,
		}
		enclosed := At[exact.Interval]{}
		for symbol, x := range at {
			enclosed[symbol] = exact.Point(new(big.Rat).SetFloat64(x))
		}
		in := b.Enclose(enclosed)
		if got := b.Float(at); math.Abs(got-want) > 1e-12*want || math.Abs(in.Float()-want) > 1e-12*want {
			t.Errorf("%s is %v, enclosed at %v, want %v", latex, got, in.Float(), want)
		}
		rats := At[*big.Rat]{}
		for symbol, x := range at {
			rats[symbol] = new(big.Rat).SetFloat64(x)
		}
		if got := exact.Float(b.Squared().Rat(rats)); math.Abs(got-want*want) > 1e-12*want*want {
			t.Errorf("the square of %s is %v, want %v", latex, got, want*want)
		}
		if one := b.Over(latex); len(one.powers) > 0 || one.Constant().Cmp(exact.Int(1)) != 0 {
			t.Errorf("%s over itself is %v", latex, one)
		}
	}
}

func TestBoundsRefuseSumsAndOpenBraces(t *testing.T) {
	for _, latex := range []string{`\sqrt2S`, `S+1`, `\frac{1`, `?`} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s is taken", latex)
				}
			}()
			MustBound(latex)
		}()
	}
}

// x <= 2 S^2 for all x <= 6 S and S <= 4: at S = 3 both sides are 18. The check does not see S = 1.
func TestResolutionIsTheLeastRefusedChange(t *testing.T) {
	c := Claim{Statement: `$x\le\bound{2S^2}+\bound[the rest]{N}$`, Check: func(e *Env, w *Worst) string {
		for s := int64(3); s <= 4; s++ {
			at := At[*big.Rat]{"S": exact.Int(s), "N": exact.Int(1)}
			w.AtMostRat(exact.Int(6*s), e.Bound(0).Rat(at), func() Instance { return nil })
		}
		return ""
	}}
	want := []string{"$2$: 1 %; $S^{2}$: 1", "the rest: not at all: $N$"}
	if got := c.Resolution(t.Context()); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	loose := c
	loose.Statement = `$x\le\bound{5S^2}+\bound{N}$`
	if got, want := loose.Resolution(t.Context())[0], "$5$: ×3; $S^{2}$: 1"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	plain, bounds := readBounds(c.Statement)
	if plain != `$x\le2S^2+N$` || len(bounds) != 2 || bounds[0].least || bounds[1].Part != "the rest" {
		t.Errorf("%s, %v", plain, bounds)
	}
}

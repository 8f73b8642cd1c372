package finitelength

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"sync"

	"learncausal/paper/exact"
	"learncausal/paper/ledger"
)

// Claims returns the steps of the proof that hold for every graph, and the stored theorems. The check of a theorem
// decides the inequalities that its proof needs.
func Claims() []ledger.Claim {
	all := lemmas()
	for k, t := range Theorems() {
		lead, two := sync.OnceValues(func() (lead, most exact.Range) { return t.Lead(t.Target) }), sync.OnceValue(t.stageTwo)
		check := func(change func(t *Theorem)) ledger.Check {
			other := t
			change(&other)
			return ledger.Decided(func(w *ledger.Worst) { other.decide(w, lead, two) })
		}
		prior := func(orbits ...exact.Matrix) ledger.Check {
			other := t
			other.Orbits = orbits
			return ledger.Decided(func(w *ledger.Worst) {
				other.decide(w, func() (lead, most exact.Range) { return other.Lead(t.Target) }, two)
			})
		}
		grandparent := func() (lead, most exact.Range) {
			return t.Lead(func(i int) int { return max(t.Target(i)-1, 0) })
		}
		tenth := exact.Frac(1, 10)
		all = append(all, ledger.Claim{
			ID: fmt.Sprintf("length-%d-%d", t.T, k/3+1), Number: "Proposition L5", Kind: ledger.Step, Title: t.String(),
			Section: "At lengths that can be run", Statement: t.statement(), Hypotheses: t.hypotheses(),
			OnPaper: []string{"L5"}, Check: check(func(*Theorem) {}),
			Faults: []ledger.Fault{
				ledger.Plant("beta_0 a hundred times larger",
					check(func(t *Theorem) { t.Beta0 = exact.Mul(exact.Int(100), t.Beta0) })),
				ledger.Plant("tau_1 a tenth", check(func(t *Theorem) { t.Time1 = exact.Mul(tenth, t.Time1) })),
				ledger.Plant("tau_2 a tenth", check(func(t *Theorem) { t.Time2 = exact.Mul(tenth, t.Time2) })),
				ledger.Plant("nine tenths of the excess",
					check(func(t *Theorem) { t.Excess = exact.Mul(exact.Frac(9, 10), t.Excess) })),
				ledger.Plant("the grandparent in place of the parent",
					ledger.Decided(func(w *ledger.Worst) { t.decide(w, grandparent, two) })),
				ledger.Plant("a prior whose mean is not uniform", prior(t.Orbits[0])),
				ledger.Plant("tokens that are independent",
					prior(exact.Rats("4/5 1/5; 4/5 1/5"), exact.Rats("1/5 4/5; 1/5 4/5"))),
			},
		})
	}
	return all
}

func (t Theorem) statement() string {
	return fmt.Sprintf(`$\mathcal S(\hat A^{(1)})_{i,i-1}\ge1-%s$ for $1<i<T$, and `+
		`$0\le L(\hat\theta)-L^*+\log(1+S\epsilon)\le %s$`, t.Alpha.RatString(), Decimal(t.Excess))
}

func (t Theorem) hypotheses() string {
	const text = `$0<\beta_0\le %s$; $\tau_1\eta_1\beta_0\ge %s$; $0<\eta_2\le4$; $\tau_2\eta_2\ge %s$; $\epsilon=%s$`
	return fmt.Sprintf(text, Decimal(t.Beta0), Decimal(t.Time1), Decimal(t.Time2), t.Eps.RatString())
}

// decide decides the inequalities that the proof needs of the enclosures of the leads and of stage 2.
func (t Theorem) decide(w *ledger.Worst, lead func() (lead, most exact.Range), two func() stageTwo) {
	at := func(inequality string) func() ledger.Instance {
		return func() ledger.Instance { return ledger.Instance{"of": t.String(), "inequality": inequality} }
	}
	whole := func(n int) exact.Interval { return exact.Point(exact.Int(n)) }
	of, most := lead()
	moved := exact.Point(exact.Mul(exact.Int(2), t.Beta0)).Exp().Sub(whole(1))
	w.AtMostInterval(moved.Mul(whole(4).Mul(interval(most)).Add(whole(9))), interval(of),
		at("(e^(2 beta_0) - 1)(4G + 3S + 3) <= Delta"))
	if w.Failed() {
		return
	}
	w.AtMostInterval(t.time1(interval(of)), exact.Point(t.Time1), at("4S/Delta (T^2 + T/alpha) log(T/alpha) <= Time1"))
	e := two()
	if beta := new(big.Rat).SetFloat64(e.beta); beta.Cmp(t.Reach) < 0 {
		w.AtMostInterval(exact.Point(t.Reach), exact.Point(beta), at("0 < -Delta_beta up to Reach"))
	}
	w.AtMostInterval(e.time, exact.Point(t.Time2), at("sum of width/growth + 4 <= Time2"))
	w.AtMostInterval(e.excess, exact.Point(t.Excess), at("excess + 2 beta alpha <= Excess"))
}

// A stageTwo has what bounds stage 2: how far beta is followed, in which time, and the excess at Reach.
type stageTwo struct {
	beta         float64
	time, excess exact.Interval
}

func (t Theorem) stageTwo() (s stageTwo) {
	s.beta, s.time = t.climb(exact.Float(t.Reach), new(big.Rat))
	s.excess = t.excess()
	return s
}

// Decimal returns two digits of a number in LaTeX, as 0.0034 or 3.9\cdot10^{8}.
func Decimal(x *big.Rat) string {
	digits, exponent, ok := strings.Cut(strconv.FormatFloat(exact.Float(x), 'g', 2, 64), "e")
	if !ok {
		return digits
	}
	return digits + `\cdot10^{` + strings.TrimLeft(exponent, "+0") + "}"
}

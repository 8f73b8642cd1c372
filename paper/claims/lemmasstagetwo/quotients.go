package lemmasstagetwo

import (
	"fmt"
	"math/big"
	"slices"

	"learncausal/paper/claims/instruments"
	"learncausal/paper/exact"
	"learncausal/paper/ledger"
	"learncausal/pkg/graph"
	"learncausal/pkg/task"
)

// The proofs of Lemmas 30 to 32 apply Lemma 28 (lem-compute-diffs) to E3, to
// E1/(E2 + epsilon) and to f, and display the result. This file decides each display on
// short sequences, for values of beta at which both sides are rational.

// A quotientUse is a displayed application of Lemma 28 (lem-compute-diffs),
//
//	|value - limit| <= (|value| inside + outside) / below
type quotientUse struct {
	quotient        func(exact.StageTwo) exact.Quotient
	inside, outside []errorTerm
}

// An errorTerm is e^(power beta) |E_n|, or e^(power beta) E_n if signed. E_0 is epsilon.
type errorTerm struct {
	n, power int
	signed   bool
	idle     bool // the inequality holds without this term: A1 has the same error, and |value| <= 1
}

func (t errorTerm) name() string {
	if t.n == 0 {
		return "epsilon"
	}
	return fmt.Sprintf("E_%d", t.n)
}

// A scene is an instance of stage 2 with its rows of roots.
type scene struct {
	exact.StageTwo
	roots instruments.RootRows
}

// quotientE3 is E3.
var quotientE3 = quotientUse{
	quotient: exact.StageTwo.E3,
	inside:   []errorTerm{{n: 1, power: 1, idle: true}, {n: 3}},
	outside:  []errorTerm{{n: 1, power: 1}, {n: 2}},
}

// quotientE3Printed has all errors inside, and E_2 and E_3 without absolute value.
var quotientE3Printed = quotientUse{
	quotient: quotientE3.quotient,
	inside:   []errorTerm{{n: 1, power: 1}, {n: 3, signed: true}, {n: 1, power: 1}, {n: 2, signed: true}},
}

// quotientE12 is E1/(E2 + epsilon).
var quotientE12 = quotientUse{
	quotient: exact.StageTwo.E12,
	inside:   []errorTerm{{n: 4, power: 1, idle: true}, {n: 5}, {n: 7}, {n: 0, power: 1}},
	outside:  []errorTerm{{n: 4, power: 1}, {n: 6}},
}

var quotientE12Printed = quotientUse{
	quotient: quotientE12.quotient,
	inside:   slices.Concat(quotientE12.inside, quotientE12.outside),
}

// quotientF is f.
var quotientF = quotientUse{
	quotient: exact.StageTwo.F,
	inside:   []errorTerm{{n: 1, power: 1}, {n: 3}},
	outside:  []errorTerm{{n: 4, power: 1}, {n: 5}, {n: 7}},
}

var quotientFPrinted = quotientUse{
	quotient: quotientF.quotient, inside: quotientF.outside, outside: quotientF.inside,
}

// displayFaults returns faults that leave out a term, and faults that leave out the factor e^beta of a term.
func displayFaults(use quotientUse) []ledger.Fault {
	var out []ledger.Fault
	alter := func(where string, terms []errorTerm, with func([]errorTerm) quotientUse) {
		for k, term := range terms {
			if term.idle {
				continue
			}
			left := slices.Delete(slices.Clone(terms), k, k+1)
			out = append(out, ledger.Plant(fmt.Sprintf("%s %s is left out", term.name(), where), displayedUse(with(left))))
			if term.power == 0 {
				continue
			}
			bare := slices.Clone(terms)
			bare[k].power = 0
			out = append(out, ledger.Plant(fmt.Sprintf("%s %s has no factor e^beta", term.name(), where),
				displayedUse(with(bare))))
		}
	}
	alter("beside the value", use.inside, func(t []errorTerm) quotientUse {
		return quotientUse{use.quotient, t, use.outside}
	})
	alter("in the rest", use.outside, func(t []errorTerm) quotientUse {
		return quotientUse{use.quotient, use.inside, t}
	})
	return append(out, ledger.Drop(quotientHypotheses, "beta < 0",
		displayedUseAt(use, exact.Frac(1, 2), exact.Frac(7, 8))))
}

// displayedUse decides the inequality for beta >= 0 on every sequence of short graphs.
func displayedUse(use quotientUse) ledger.Check {
	return displayedUseAt(use, exact.Int(1), exact.Frac(9, 8), exact.Frac(3, 2))
}

// displayedUseAt decides the inequality for the given values of exp(beta/denominator): first for the queries s
// = x_T, which belong to both readings of the loss, then for the other queries.
func displayedUseAt(use quotientUse, bases ...*big.Rat) ledger.Check {
	return func(e *ledger.Env, w *ledger.Worst) string {
		for _, inSequence := range []bool{true, false} {
			for _, c := range scenes(e, bases...) {
				if w.Failed() || e.Err() != nil {
					break
				}
				for x := range task.Sequences(len(c.Pi), c.Graph.T()) {
					c.X = x
					for pair := range task.Sequences(len(c.Pi), 2) {
						c.S, c.A = pair[0], pair[1]
						if (c.S == x[len(x)-1]) == inSequence {
							use.decide(w, c)
						}
					}
				}
			}
		}
		return ""
	}
}

// scenes returns the scenes, without sequence, query and token, for each graph, pi, beta
// and kind of rows of the roots.
func scenes(e *ledger.Env, bases ...*big.Rat) []scene {
	matrices := []exact.Matrix{
		exact.Rats("4/5 1/5; 2/5 3/5"),
		exact.Rats("1/2 3/8 1/8; 1/2 1/8 3/8; 1/2 1/8 3/8"),
		exact.Rats("1/5 4/5; 4/5 1/5"),
	}
	graphs := []*graph.Forest{
		graph.Chain(3), graph.Chain(4), graph.InContext(5), graph.MustNew(-1, 0, -1, 2, 2, -1),
	}
	var out []scene
	for k, g := range graphs[:e.Budget(4, 3)] {
		epsilon := []*big.Rat{exact.Frac(1, 1_000_000), exact.Int(10)}[k%2]
		for _, pi := range matrices {
			if len(pi) > 2 && g.T() > 4 { // too many sequences
				continue
			}
			for _, base := range bases {
				for _, roots := range []instruments.RootRows{
					instruments.RootsUniform, instruments.RootsOnThemself,
					instruments.RootsOnOne,
				} {
					out = append(out, scene{exact.NewStageTwo(g, pi, roots.Attend(g), base, epsilon), roots})
				}
			}
		}
	}
	return out
}

func isOne(x *big.Rat) bool { return x.Cmp(exact.Int(1)) == 0 }

// decide decides the inequality in one scene.
func (use quotientUse) decide(w *ledger.Worst, c scene) {
	q, e := use.quotient(c.StageTwo), c.Beta.Exp(exact.Int(1))
	w.UpTo(1).AtMostRat(exact.Abs(exact.Sub(q.Value, q.Limit)), use.bound(q, c.Errors(), e), func() ledger.Instance {
		in := ledger.Instance{
			"graph": c.Graph, "pi": c.Pi, "X": ledger.OneBased(c.X), "s": c.S + 1, "s'": c.A + 1,
			"value": q.Value, "limit": q.Limit,
		}
		if isOne(e) {
			in["beta"] = new(big.Rat)
		} else {
			in["exp(beta)"] = e
		}
		if slices.ContainsFunc(use.inside, func(t errorTerm) bool { return t.n == 0 }) {
			in["eps"] = c.Eps
		}
		if c.roots != instruments.RootsUniform {
			in["roots"] = string(c.roots)
		}
		return in
	})
}

// bound returns the right side for e = e^beta.
func (use quotientUse) bound(q exact.Quotient, errs [8]*big.Rat, e *big.Rat) *big.Rat {
	sum := func(terms []errorTerm) *big.Rat {
		total := new(big.Rat)
		for _, term := range terms {
			x := errs[term.n]
			if !term.signed {
				x = exact.Abs(x)
			}
			total.Add(total, exact.Mul(exact.Pow(e, term.power), x))
		}
		return total
	}
	return exact.Quo(exact.Add(exact.Mul(exact.Abs(q.Value), sum(use.inside)), sum(use.outside)), q.Below)
}

package claims

import (
	"fmt"
	"math/big"
	"slices"

	"learncausal/paper/exact"
	"learncausal/paper/ledger"
	"learncausal/pkg/graph"
	"learncausal/pkg/task"
)

// The proofs of Lemmas 30 to 32 apply Lemma 28 (lem-compute-diffs) once each, to
// E3, to E1/(E2 + epsilon) and to f, and display what it gives. Here each display
// is decided on short sequences at values of beta for which all is rational.

const quotientHypotheses = `$\beta\ge0$`

const quotientsTried = `all $X$ of short chains, in-context graphs and trees, both readings of the query; three $\pi$, one over three states; rows of roots uniform, on themselves, on position 1; rational values of $e^\beta$ from 1 to above 10^4`

var lemConcentrateE3StepQuotient = ledger.Claim{
	ID: "lem-concentrate-e3-step-quotient", Number: "Lemma 30", Kind: ledger.Step, Quick: true,
	Title:      "The displayed use of Lemma 28 (lem-compute-diffs) for E3",
	Statement:  `$|E^{(3)}_s(X)-\frac{A_2}{B_2}|\le|E^{(3)}_s(X)|\frac{(|e^\beta\mathcal E_1|+\mathcal E_3)+(|e^\beta\mathcal E_1|+\mathcal E_2)}{B_2}$`,
	Hypotheses: quotientHypotheses, Tried: quotientsTried,
	Uses: []string{"lem-compute-diffs"}, Corrected: "lem-concentrate-e3-step-quotient-corrected",
	Check: displayedUse(quotientE3Printed).Noted(bracketMisplaced),
	Repairs: []ledger.Repair{{
		What: "the factor |E3| at the errors of the denominator only, and absolute values", Check: displayedUse(quotientE3),
	}},
}

var lemConcentrateE3StepQuotientCorrected = ledger.Claim{
	ID: "lem-concentrate-e3-step-quotient-corrected", Number: "Lemma 30", Quick: true,
	Title:      "The displayed use of Lemma 28 (lem-compute-diffs) for E3, corrected",
	Statement:  `$|E^{(3)}_s(X)-\frac{A_2}{B_2}|\le\frac1{B_2}\big(|E^{(3)}_s(X)|(e^\beta|\mathcal E_1|+|\mathcal E_3|)+e^\beta|\mathcal E_1|+|\mathcal E_2|\big)$`,
	Hypotheses: quotientHypotheses, Tried: quotientsTried,
	Uses:   []string{"lem-compute-diffs"},
	Check:  displayedUse(quotientE3).Noted(trueForAll),
	Faults: spoiltUses(quotientE3),
}

const (
	bracketMisplaced = "A bracket in the wrong place: Lemma 28 (lem-compute-diffs) has the factor |A1/B1| at " +
		"|B1-B2| only. The next line, which bounds the factor by 1, follows from either form, so nothing is lost " +
		"but constants."
	trueForAll = "True for all: it is Lemma 28 (lem-compute-diffs), and (e^beta-1)|E| <= e^beta|E|."
)

// A quotientUse is a displayed use of Lemma 28 (lem-compute-diffs),
//
//	|value - limit| <= (|value| inside + outside) / below
type quotientUse struct {
	quotient        func(scene) quotient
	inside, outside []errorTerm
}

// A quotient has value, limit A2/B2, and B2.
type quotient struct{ value, limit, below *big.Rat }

// An errorTerm is e^(power beta) |E_n|, or without absolute value. E_0 is
// epsilon.
type errorTerm struct {
	n, power int
	signed   bool
	idle     bool // the inequality holds without it: A1 has this error too, and |value| <= 1
}

func (t errorTerm) name() string {
	if t.n == 0 {
		return "epsilon"
	}
	return fmt.Sprintf("E_%d", t.n)
}

// A scene is a sequence, a query s and a token s' = a. exp(beta z) is rational
// where z is a multiple of 1/denominator, as all scores and mu are:
// exp(beta/denominator) = base.
type scene struct {
	graph       *graph.Forest
	pi          exact.Matrix
	mu          exact.Vector
	roots       rootRows
	x           []int
	s, a        int
	denominator int64
	base        *big.Rat
	epsilon     *big.Rat
}

// rootRows are the rows of the roots of softmax(A1_*).
type rootRows string

const (
	rootsUniform    rootRows = "uniform"
	rootsOnThemself rootRows = "on themselves"
	rootsOnOne      rootRows = "on position 1"
)

// exp returns e^(beta z).
func (c scene) exp(z *big.Rat) *big.Rat {
	if isOne(c.base) {
		return c.base
	}
	k := exact.Mul(z, exact.Frac(c.denominator, 1))
	if !k.IsInt() {
		panic(fmt.Sprintf("claims: e^(beta %s) for multiples of 1/%d", z.RatString(), c.denominator))
	}
	return exact.Pow(c.base, int(k.Num().Int64()))
}

// score returns z~(X;s)_i.
func (c scene) score(i int) *big.Rat {
	at := i
	switch p := c.graph.Parent(i); {
	case p >= 0:
		at = p
	case c.roots == rootsUniform:
		return exact.Frac(occurrences(c.s, c.x[:i+1]), int64(i+1))
	case c.roots == rootsOnOne:
		at = 0
	}
	return indicator(c.x[at] == c.s)
}

// averages returns the means over i of e^(beta z), of that times z, and of both
// times 1{x_i = s'}, each by its definition.
func (c scene) averages() (v, vz, hit, hitZ *big.Rat) {
	v, vz, hit, hitZ = new(big.Rat), new(big.Rat), new(big.Rat), new(big.Rat)
	t := exact.Frac(int64(c.graph.T()), 1)
	for i, x := range c.x {
		z := c.score(i)
		e := exact.Quo(c.exp(z), t)
		v.Add(v, e)
		vz.Add(vz, exact.Mul(e, z))
		if x == c.a {
			hit.Add(hit, e)
			hitZ.Add(hitZ, exact.Mul(e, z))
		}
	}
	return v, vz, hit, hitZ
}

// errors returns epsilon and E_1, ..., E_7 as the proofs define them.
func (c scene) errors() [8]*big.Rat {
	var sum [8]*big.Rat
	for n := range sum {
		sum[n] = new(big.Rat)
	}
	add := func(n int, value, limit *big.Rat) {
		sum[n].Add(sum[n], exact.Quo(exact.Sub(value, limit), exact.Frac(int64(c.graph.T()), 1)))
	}
	mu, to := c.mu[c.s], c.mu[c.a]
	em := c.exp(mu)
	for i, x := range c.x {
		hit := indicator(x == c.a)
		if p := c.graph.Parent(i); p >= 0 {
			parent := indicator(c.x[p] == c.s)
			add(1, parent, mu)
			add(4, exact.Mul(parent, hit), exact.Mul(mu, c.pi[c.s][c.a]))
			add(5, hit, to)
			continue
		}
		z := c.score(i)
		e := c.exp(z)
		add(2, exact.Mul(e, z), exact.Mul(em, mu))
		add(3, e, em)
		add(6, exact.Mul(exact.Mul(e, z), hit), exact.Mul(exact.Mul(em, mu), to))
		add(7, exact.Mul(e, hit), exact.Mul(em, to))
	}
	sum[0] = c.epsilon
	return sum
}

// r returns the share of roots.
func (c scene) r() *big.Rat { return exact.Frac(int64(len(c.graph.Roots())), int64(c.graph.T())) }

// limits returns the numerator and the denominator of the limit for the hits of
// a token with pi(s'|s) = p and mu(s') = to; of E3 both are one. The denominators are the numerator and the denominator of the
// limit of f.
func (c scene) limits(r, p, to *big.Rat) (above, below *big.Rat) {
	one := exact.Frac(1, 1)
	mu, e, rest := c.mu[c.s], c.exp(one), exact.Sub(one, r)
	roots := exact.Mul(exact.Mul(r, c.exp(mu)), to)
	above = exact.Add(exact.Mul(exact.Mul(rest, e), exact.Mul(mu, p)), exact.Mul(roots, mu))
	below = exact.Add(exact.Add(
		exact.Mul(exact.Mul(rest, exact.Sub(e, one)), exact.Mul(mu, p)), exact.Mul(rest, to)), roots)
	return above, below
}

// quotientE3 is E3.
var quotientE3 = quotientUse{
	quotient: func(c scene) quotient {
		one := exact.Frac(1, 1)
		v, vz, _, _ := c.averages()
		above, below := c.limits(c.r(), one, one)
		return quotient{exact.Quo(vz, v), exact.Quo(above, below), below}
	},
	inside:  []errorTerm{{n: 1, power: 1, idle: true}, {n: 3}},
	outside: []errorTerm{{n: 1, power: 1}, {n: 2}},
}

// quotientE3Printed has all inside, and E_2 and E_3 without their absolute value.
var quotientE3Printed = quotientUse{
	quotient: quotientE3.quotient,
	inside:   []errorTerm{{n: 1, power: 1}, {n: 3, signed: true}, {n: 1, power: 1}, {n: 2, signed: true}},
}

// quotientE12 is E1/(E2 + epsilon).
var quotientE12 = quotientUse{
	quotient: func(c scene) quotient {
		v, _, hit, hitZ := c.averages()
		above, below := c.limits(c.r(), c.pi[c.s][c.a], c.mu[c.a])
		value := exact.Quo(exact.Quo(hitZ, v), exact.Add(exact.Quo(hit, v), c.epsilon))
		return quotient{value, exact.Quo(above, below), below}
	},
	inside:  []errorTerm{{n: 4, power: 1, idle: true}, {n: 5}, {n: 7}, {n: 0, power: 1}},
	outside: []errorTerm{{n: 4, power: 1}, {n: 6}},
}

var quotientE12Printed = quotientUse{
	quotient: quotientE12.quotient,
	inside:   slices.Concat(quotientE12.inside, quotientE12.outside),
}

// quotientF is f.
var quotientF = quotientUse{
	quotient: func(c scene) quotient {
		one := exact.Frac(1, 1)
		v, _, hit, _ := c.averages()
		_, above := c.limits(c.r(), c.pi[c.s][c.a], c.mu[c.a])
		_, below := c.limits(c.r(), one, one)
		return quotient{exact.Quo(hit, v), exact.Quo(above, below), below}
	},
	inside:  []errorTerm{{n: 1, power: 1}, {n: 3}},
	outside: []errorTerm{{n: 4, power: 1}, {n: 5}, {n: 7}},
}

var quotientFPrinted = quotientUse{
	quotient: quotientF.quotient, inside: quotientF.outside, outside: quotientF.inside,
}

// spoiltUses returns a fault for each of the terms left out, and one for each
// without its e^beta.
func spoiltUses(use quotientUse) []ledger.Fault {
	var out []ledger.Fault
	spoil := func(where string, terms []errorTerm, with func([]errorTerm) quotientUse) {
		for k, term := range terms {
			if term.idle {
				continue
			}
			left := slices.Delete(slices.Clone(terms), k, k+1)
			out = append(out, ledger.Fault{
				What: fmt.Sprintf("%s %s is left out", term.name(), where), Check: displayedUse(with(left)),
			})
			if term.power == 0 {
				continue
			}
			bare := slices.Clone(terms)
			bare[k].power = 0
			out = append(out, ledger.Fault{
				What:  fmt.Sprintf("%s %s has no factor e^beta", term.name(), where),
				Check: displayedUse(with(bare)),
			})
		}
	}
	spoil("beside the value", use.inside, func(t []errorTerm) quotientUse { return quotientUse{use.quotient, t, use.outside} })
	spoil("in the rest", use.outside, func(t []errorTerm) quotientUse { return quotientUse{use.quotient, use.inside, t} })
	return append(out, ledger.Fault{
		What: "beta < 0", Drops: quotientHypotheses, Check: displayedUseAt(use, exact.Frac(1, 2), exact.Frac(7, 8)),
	})
}

// displayedUse decides such a use on every sequence of short graphs, first where
// s is the token of the query, which serves both readings of the loss, then where
// it is apart.
func displayedUse(use quotientUse) ledger.Check { return displayedUseAt(use, basesTried...) }

func displayedUseAt(use quotientUse, bases ...*big.Rat) ledger.Check {
	return func(e *ledger.Env) ledger.Finding {
		var w ledger.Worst
		for _, reading := range []string{"s = x_T, as in both readings", "query apart"} {
			for _, c := range scenes(e, bases...) {
				if w.Failed() || e.Err() != nil {
					break
				}
				for x := range task.Sequences(len(c.pi), c.graph.T()) {
					c.x = x
					for pair := range task.Sequences(len(c.pi), 2) {
						c.s, c.a = pair[0], pair[1]
						if (c.s == x[len(x)-1]) == (reading != "query apart") {
							use.decide(&w, c)
						}
					}
				}
			}
		}
		return w.Finding("")
	}
}

// basesTried are values of exp(beta/n), where mu and the scores are multiples of
// 1/n.
var basesTried = []*big.Rat{exact.Frac(1, 1), exact.Frac(9, 8), exact.Frac(3, 2)}

// scenes returns graph, pi, rows of roots and beta of all sequences tried.
func scenes(e *ledger.Env, bases ...*big.Rat) []scene {
	kernels := []exact.Matrix{
		exact.Rats("4/5 1/5; 2/5 3/5"), exact.Rats("1/2 3/8 1/8; 1/2 1/8 3/8; 1/2 1/8 3/8"), exact.Rats("1/5 4/5; 4/5 1/5"),
	}
	graphs := []*graph.Forest{
		graph.Chain(3), graph.Chain(4), graph.InContext(5), graph.MustNew(-1, 0, -1, 2, 2, -1),
	}
	var out []scene
	for k, g := range graphs[:e.Budget(4, 3)] {
		epsilon := []*big.Rat{exact.Frac(1, 1_000_000), exact.Frac(10, 1)}[k%2]
		for _, pi := range kernels {
			mu := exact.MustStationary(pi)
			for _, base := range bases {
				for _, roots := range []rootRows{rootsUniform, rootsOnThemself, rootsOnOne} {
					d := int64(1)
					for _, m := range mu {
						d = leastMultiple(d, m.Denom().Int64())
					}
					for _, i := range g.Roots() {
						if roots == rootsUniform {
							d = leastMultiple(d, int64(i+1))
						}
					}
					if len(pi) > 2 && g.T() > 4 { // too many sequences
						continue
					}
					out = append(out, scene{graph: g, pi: pi, mu: mu, roots: roots, denominator: d, base: base, epsilon: epsilon})
				}
			}
		}
	}
	return out
}

func isOne(x *big.Rat) bool { return x.Cmp(exact.Frac(1, 1)) == 0 }

func leastMultiple(a, b int64) int64 {
	return new(big.Int).Div(big.NewInt(a*b), new(big.Int).GCD(nil, nil, big.NewInt(a), big.NewInt(b))).Int64()
}

// decide decides the use on one sequence.
func (use quotientUse) decide(w *ledger.Worst, c scene) {
	q, e := use.quotient(c), c.exp(exact.Frac(1, 1))
	w.AtMostRat(exact.Abs(exact.Sub(q.value, q.limit)), use.bound(q, c.errors(), e), func() ledger.Instance {
		// Whether s is the token of the query is seen from X.
		in := ledger.Instance{
			"graph": c.graph, "pi": c.pi, "X": ledger.OneBased(c.x), "s": c.s + 1, "s'": c.a + 1, "value": q.value, "limit": q.limit,
		}
		if isOne(e) {
			in["beta"] = new(big.Rat)
		} else {
			in["exp(beta)"] = e
		}
		if slices.ContainsFunc(use.inside, func(t errorTerm) bool { return t.n == 0 }) {
			in["eps"] = c.epsilon
		}
		if c.roots != rootsUniform {
			in["roots"] = string(c.roots)
		}
		return in
	})
}

// bound returns the right side, for e = e^beta.
func (use quotientUse) bound(q quotient, errs [8]*big.Rat, e *big.Rat) *big.Rat {
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
	return exact.Quo(exact.Add(exact.Mul(exact.Abs(q.value), sum(use.inside)), sum(use.outside)), q.below)
}

func indicator(b bool) *big.Rat { return exact.Frac(int64(unit(b)), 1) }

// occurrences returns how often token s occurs in x.
func occurrences(s int, x []int) int64 {
	n := int64(0)
	for _, v := range x {
		if v == s {
			n++
		}
	}
	return n
}

var lemConcentrateE12StepQuotient = ledger.Claim{
	ID: "lem-concentrate-e12-step-quotient", Number: "Lemma 31", Kind: ledger.Step, Quick: true,
	Title:      "The displayed use of Lemma 28 (lem-compute-diffs) for E1/E2",
	Statement:  `with $q=E^{(1)}/(E^{(2)}+\epsilon)$: $|q-A_2/B_2|\le\frac{|q|}{B_2}\big((e^\beta|\mathcal E_4|+|\mathcal E_5|+|\mathcal E_7|+e^\beta\epsilon)+e^\beta|\mathcal E_4|+|\mathcal E_6|\big)$`,
	Hypotheses: quotientHypotheses, Tried: quotientsTried,
	Uses: []string{"lem-compute-diffs"}, Corrected: "lem-concentrate-e12-step-quotient-corrected",
	Check: displayedUse(quotientE12Printed).Noted(bracketMisplaced),
	Repairs: []ledger.Repair{{
		What: "the factor |q| at the errors of the denominator only", Check: displayedUse(quotientE12),
	}},
}

var lemConcentrateE12StepQuotientCorrected = ledger.Claim{
	ID: "lem-concentrate-e12-step-quotient-corrected", Number: "Lemma 31", Quick: true,
	Title:      "The displayed use of Lemma 28 (lem-compute-diffs) for E1/E2, corrected",
	Statement:  `with $q=E^{(1)}/(E^{(2)}+\epsilon)$: $|q-A_2/B_2|\le\frac1{B_2}\big(|q|(e^\beta|\mathcal E_4|+|\mathcal E_5|+|\mathcal E_7|+e^\beta\epsilon)+e^\beta|\mathcal E_4|+|\mathcal E_6|\big)$`,
	Hypotheses: quotientHypotheses, Tried: quotientsTried,
	Uses:   []string{"lem-compute-diffs"},
	Check:  displayedUse(quotientE12).Noted(trueForAll),
	Faults: spoiltUses(quotientE12),
}

var lemFToPiStepQuotient = ledger.Claim{
	ID: "lem-f-to-pi-step-quotient", Number: "Lemma 32", Kind: ledger.Step, Quick: true,
	Title:      "The displayed use of Lemma 28 (lem-compute-diffs) for f",
	Statement:  `$|f-\frac{A_2}{B_2}|\le\frac{|f|(e^\beta|\mathcal E_4|+|\mathcal E_5|+|\mathcal E_7|)+e^\beta|\mathcal E_1|+|\mathcal E_3|}{B_2}$ for $f=\delta_{s'}(X)^\top\mathcal S(\beta\tilde z(X;s))$`,
	Hypotheses: quotientHypotheses, Tried: quotientsTried,
	Uses: []string{"lem-compute-diffs"}, Corrected: "lem-f-to-pi-step-quotient-corrected",
	Check: displayedUse(quotientFPrinted).Noted("The two differences are exchanged: Lemma 28 (lem-compute-diffs) " +
		"has |f| at the errors of the denominator (1 and 3), not at those of the numerator (4, 5, 7). The next " +
		"line, which bounds |f| by 1, follows from either form."),
	Repairs: []ledger.Repair{{What: "the two differences exchanged", Check: displayedUse(quotientF)}},
}

var lemFToPiStepQuotientCorrected = ledger.Claim{
	ID: "lem-f-to-pi-step-quotient-corrected", Number: "Lemma 32", Quick: true,
	Title:      "The displayed use of Lemma 28 (lem-compute-diffs) for f, corrected",
	Statement:  `$|f-\frac{A_2}{B_2}|\le\frac1{B_2}\big(|f|(e^\beta|\mathcal E_1|+|\mathcal E_3|)+e^\beta|\mathcal E_4|+|\mathcal E_5|+|\mathcal E_7|\big)$ for $f=\delta_{s'}(X)^\top\mathcal S(\beta\tilde z(X;s))$`,
	Hypotheses: quotientHypotheses, Tried: quotientsTried,
	Uses:   []string{"lem-compute-diffs"},
	Check:  displayedUse(quotientF).Noted(trueForAll),
	Faults: spoiltUses(quotientF),
}

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

// The proofs of Lemmas 30 to 32 apply Lemma 28 (lem-compute-diffs) to E3, to
// E1/(E2 + epsilon) and to f, and display the result. This file decides each display on
// short sequences, for values of beta at which both sides are rational.

// A quotientUse is a displayed application of Lemma 28 (lem-compute-diffs),
//
//	|value - limit| <= (|value| inside + outside) / below
type quotientUse struct {
	quotient        func(scene) quotient
	inside, outside []errorTerm
}

// A quotient is A1/B1 with its limit A2/B2; below is B2.
type quotient struct{ value, limit, below *big.Rat }

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

// A scene is a sequence with a query s and a token s' = a. base is exp(beta/denominator).
// All scores and mu are multiples of 1/denominator, so exp(beta z) is rational.
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

// rootRows describes the rows of softmax(A1_*) that belong to roots.
type rootRows string

const (
	rootsUniform    rootRows = "uniform"
	rootsOnThemself rootRows = "on themselves"
	rootsOnOne      rootRows = "on position 1"
)

// exp returns e^(beta z). It panics unless z is a multiple of 1/denominator.
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

// averages returns the means over i of e^(beta z_i), e^(beta z_i) z_i,
// e^(beta z_i) 1{x_i = s'} and e^(beta z_i) z_i 1{x_i = s'}.
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

// errors returns epsilon and the errors E_1, ..., E_7 of the proofs.
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

// r returns the fraction of roots.
func (c scene) r() *big.Rat { return exact.Frac(int64(len(c.graph.Roots())), int64(c.graph.T())) }

// limits returns numerator and denominator of the limit in eq. (39) for a root fraction r,
// pi(s'|s) = p and mu(s') = to, as [theory.E12Terms] does in floats up to a factor e^beta.
// With p = to = 1 it is eq. (40). The limit of f is the quotient of the two denominators.
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

// quotientE3Printed has all errors inside, and E_2 and E_3 without absolute value.
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

// displayFaults returns faults that leave out a term, and faults that leave out the
// factor e^beta of a term.
func displayFaults(use quotientUse) []ledger.Fault {
	var out []ledger.Fault
	alter := func(where string, terms []errorTerm, with func([]errorTerm) quotientUse) {
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
	alter("beside the value", use.inside, func(t []errorTerm) quotientUse {
		return quotientUse{use.quotient, t, use.outside}
	})
	alter("in the rest", use.outside, func(t []errorTerm) quotientUse {
		return quotientUse{use.quotient, use.inside, t}
	})
	return append(out, ledger.Fault{
		What: "beta < 0", Drops: quotientHypotheses, Check: displayedUseAt(use, exact.Frac(1, 2), exact.Frac(7, 8)),
	})
}

// displayedUse decides the inequality for beta >= 0 on every sequence of short graphs.
func displayedUse(use quotientUse) ledger.Check {
	return displayedUseAt(use, exact.Frac(1, 1), exact.Frac(9, 8), exact.Frac(3, 2))
}

// displayedUseAt decides the inequality for the given values of exp(beta/denominator):
// first for the queries s = x_T, which belong to both readings of the loss, then for the
// other queries.
func displayedUseAt(use quotientUse, bases ...*big.Rat) ledger.Check {
	return func(e *ledger.Env) ledger.Finding {
		var w ledger.Worst
		for _, inSequence := range []bool{true, false} {
			for _, c := range scenes(e, bases...) {
				if w.Failed() || e.Err() != nil {
					break
				}
				for x := range task.Sequences(len(c.pi), c.graph.T()) {
					c.x = x
					for pair := range task.Sequences(len(c.pi), 2) {
						c.s, c.a = pair[0], pair[1]
						if (c.s == x[len(x)-1]) == inSequence {
							use.decide(&w, c)
						}
					}
				}
			}
		}
		return w.Finding("")
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
		epsilon := []*big.Rat{exact.Frac(1, 1_000_000), exact.Frac(10, 1)}[k%2]
		for _, pi := range matrices {
			if len(pi) > 2 && g.T() > 4 { // too many sequences
				continue
			}
			mu := exact.MustStationary(pi)
			for _, base := range bases {
				for _, roots := range []rootRows{rootsUniform, rootsOnThemself, rootsOnOne} {
					c := scene{graph: g, pi: pi, mu: mu, roots: roots, base: base, epsilon: epsilon, denominator: 1}
					for _, m := range mu {
						c.denominator = leastMultiple(c.denominator, m.Denom().Int64())
					}
					for _, i := range g.Roots() {
						if roots == rootsUniform {
							c.denominator = leastMultiple(c.denominator, int64(i+1))
						}
					}
					out = append(out, c)
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

// decide decides the inequality in one scene.
func (use quotientUse) decide(w *ledger.Worst, c scene) {
	q, e := use.quotient(c), c.exp(exact.Frac(1, 1))
	w.AtMostRat(exact.Abs(exact.Sub(q.value, q.limit)), use.bound(q, c.errors(), e), func() ledger.Instance {
		in := ledger.Instance{
			"graph": c.graph, "pi": c.pi, "X": ledger.OneBased(c.x), "s": c.s + 1, "s'": c.a + 1,
			"value": q.value, "limit": q.limit,
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

// bound returns the right side for e = e^beta.
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

// occurrences returns the number of positions of x with token s.
func occurrences(s int, x []int) int64 {
	n := int64(0)
	for _, v := range x {
		if v == s {
			n++
		}
	}
	return n
}

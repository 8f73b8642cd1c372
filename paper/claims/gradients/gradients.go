// Package gradients is Appendix D, on the loss and its gradients. The identities
// are decided in rationals on small populations, by sums over all sequences.
package gradients

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"

	"learncausal/paper/claims/instruments"
	"learncausal/paper/exact"
	"learncausal/paper/ledger"
	"learncausal/pkg/graph"
	"learncausal/pkg/theory"
)

// Section lists the claims in the order of the paper.
var Section = ledger.Section{Title: "Gradient Computations", Claims: []ledger.Claim{
	eqLossRewrite, lemPopGrads,
}}

const (
	positiveEps      = `$\epsilon>0$`
	triedPopulations = `populations of one or two chains over 2 or 3 states on random forests with 2 to 4 positions, summed over all sequences in rationals`
)

var spareEps = []ledger.Spare{ledger.Spared(positiveEps, "the logarithm asks for it where the prediction is 0")}

var eqLossRewrite = ledger.Claim{
	ID: "eq-loss-rewrite", Number: "Appendix D.2", Title: "The loss as a sum over the queried token",
	Statement:  `$L(\theta) = -\frac1S\,\mathbb{E}_{\pi,X}\big[\sum_{s,s'}\pi(s'\mid s)\log(f_\theta(X;s)_{s'}+\epsilon)\big]$ with $f_\theta(X;s) = X^\top\mathcal{S}(\mathcal{S}(A^{(1)})XA^{(2)}e_s)$ and $X$ a whole sequence of the task`,
	Hypotheses: positiveEps, Tried: triedPopulations,
	Defect: ledger.Boundary,
	Check: lossRewrite(theory.QueryApart,
		instruments.PerState).Noted("With A1 = A2 = 0 the prediction is the mean of the " +
		"tokens. The sum over s is right if the last row of X is e_s (query in sequence); with a last row of its own " +
		"(query apart) one position of T differs, a change of order 1/T, except in what is special about position T."),
	Correction: &ledger.Claim{
		ID:         "eq-loss-rewrite-corrected",
		Title:      "The loss as a sum over the queried token, whose row X then holds",
		Statement:  `$L(\theta) = -\frac1S\,\mathbb{E}_\pi\big[\sum_{s,s'}\pi(s'\mid s)\,\mathbb{E}_X[\log(f_\theta(X;s)_{s'}+\epsilon)\mid s_T=s]\big]$ with $f_\theta(X;s) = X^\top\mathcal{S}(\mathcal{S}(A^{(1)})XA^{(2)}e_s)$: the last row of $X$ is $e_s$ in the term of $s$`,
		Hypotheses: positiveEps, Tried: triedPopulations + `, for all $\theta$ and $\epsilon$ at once`,
		Check: lossRewrite(theory.QueryInSequence,
			instruments.PerState).Noted("Holds term by term, whatever stands for the " +
			"logarithm: the query is uniform and the other tokens do not depend on it."),
		Faults: []ledger.Fault{
			ledger.Plant("X keeps its own last row", lossRewrite(theory.QueryApart, instruments.PerState)),
			ledger.Plant("the factor 1/S is left out", lossRewrite(theory.QueryInSequence, instruments.Undivided)),
		},
		Spare: spareEps,
	},
}

// A population is a uniform prior over matrices and a graph, so small that all sequences can be summed over.
type population struct {
	graph *graph.Forest
	kind  string // "prior", or "orbits" if the prior is over the relabelings of the matrices
	prior []exact.Matrix
}

func (p population) instance() ledger.Instance {
	return ledger.Instance{"graph": p.graph, "S": len(p.prior[0]), "T": p.graph.T(), p.kind: p.prior}
}

// populations returns populations of two simple chains over two states on two and three positions, which stand
// for their relabelings, a prior of Assumption 1, and n random populations.
func populations(e *ledger.Env, n int) []population {
	var out []population
	for t := 2; t <= 3; t++ {
		for den := 3; den <= 4; den++ {
			for pi := range exact.Positive(2, den) {
				if second := instruments.Balanced(pi); instruments.BothBullets.Square(pi).Sign() > 0 &&
					instruments.BothBullets.Square(second).Sign() > 0 {
					out = append(out, population{graph.Chain(t), "orbits", []exact.Matrix{pi, second}})
				}
			}
		}
	}
	for k := range n {
		src := e.Stream("populations", uint64(k))
		r := rand.New(src)
		s, t := 2+k%2, 2+r.IntN(3)
		prior := make([]exact.Matrix, 1+r.IntN(2))
		for b := range prior {
			x := make([]float64, s*s)
			for i := range x {
				x[i] = 2 * r.NormFloat64()
			}
			prior[b] = exact.Round(ledger.Kernel(x, s, 0.02), s, 30)
		}
		out = append(out, population{graph.Random(t, 0.3, src), "prior", prior})
	}
	return out
}

// sequences calls visit with every pi and X of the population and their probability. The slice is reused.
func (p population) sequences(visit func(weight *big.Rat, pi exact.Matrix, x []int)) {
	share := exact.Frac(1, int64(len(p.prior)))
	for _, pi := range p.prior {
		for x, q := range exact.Sequences(p.graph, pi) {
			visit(exact.Mul(share, q), pi, x)
		}
	}
}

// queries calls visit with every (pi, X, s) in the sum of the rewritten loss, and
// the weight of the term without 1/S.
func (p population) queries(reading theory.Reading, visit func(weight *big.Rat, pi exact.Matrix, x []int, s int)) {
	p.sequences(func(weight *big.Rat, pi exact.Matrix, x []int) {
		x = slices.Clone(x)
		for s := range pi {
			if reading == theory.QueryInSequence {
				x[len(x)-1] = s
			}
			visit(weight, pi, x, s)
		}
	})
}

// logTerms holds the terms of a loss, one for each X and s.
type logTerms map[string]logTerm

// A logTerm holds the coefficients of -log(f(X;s)_{s'} + eps), one for each s'.
type logTerm struct {
	x   []int
	row exact.Vector
}

// add adds weight times row to the coefficients of X and s.
func (l logTerms) add(x []int, s int, weight *big.Rat, row exact.Vector) {
	key := fmt.Sprint(x, s)
	if _, ok := l[key]; !ok {
		l[key] = logTerm{slices.Clone(x), exact.Zero(1, len(row))[0]}
	}
	for a, p := range row {
		l[key].row[a].Add(l[key].row[a], exact.Mul(weight, p))
	}
}

// byCount returns the sums of the coefficients by the number of s' in X, 0 to T. At
// A1 = A2 = 0 the prediction is that number over T.
func (l logTerms) byCount(t int) exact.Vector {
	sum := exact.Zero(1, t+1)[0]
	for _, term := range l {
		for a, q := range term.row {
			count := instruments.Occurrences(a, term.x)
			sum[count].Add(sum[count], q)
		}
	}
	return sum
}

// atZero encloses the loss at A1 = A2 = 0 with eps = 1/T: the sum of the
// coefficients by count times -log((count + 1)/T).
func atZero(byCount exact.Vector) exact.Interval {
	sum := exact.Point(new(big.Rat))
	for count, q := range byCount {
		value := exact.Point(exact.Frac(int64(count+1), int64(len(byCount)-1))).Log()
		sum = sum.Sub(exact.Point(q).Mul(value))
	}
	return sum
}

// lossRewrite decides the rewritten loss with the last row of X as read. If each logarithm has the same
// coefficient on both sides, they are equal for all theta and eps; else the losses at A1 = A2 = 0 are compared.
func lossRewrite(reading theory.Reading, divisor func(s int) *big.Rat) ledger.Check {
	return func(e *ledger.Env, w *ledger.Worst) string {
		for _, p := range populations(e, e.Budget(30, 8)) {
			defined, rewritten := logTerms{}, logTerms{}
			p.sequences(func(weight *big.Rat, pi exact.Matrix, x []int) {
				s := x[len(x)-1]
				defined.add(x, s, weight, pi[s])
			})
			p.queries(reading, func(weight *big.Rat, pi exact.Matrix, x []int, s int) {
				rewritten.add(x, s, exact.Quo(weight, divisor(len(pi))), pi[s])
			})
			compareLosses(w, p, defined, rewritten)
			if w.Failed() {
				break
			}
		}
		return ""
	}
}

// compareLosses decides whether two losses are equal, or counts the instance if
// equal values at A1 = A2 = 0 leave that open.
func compareLosses(w *ledger.Worst, p population, defined, rewritten logTerms) {
	same := len(defined) == len(rewritten)
	for key, term := range defined {
		same = same && slices.EqualFunc(term.row, rewritten[key].row, func(a, b *big.Rat) bool { return a.Cmp(b) == 0 })
	}
	if same {
		w.EqualRat("the coefficient of every logarithm", new(big.Rat), new(big.Rat), p.instance)
		return
	}
	left, right := defined.byCount(p.graph.T()), rewritten.byCount(p.graph.T())
	l, r := atZero(left), atZero(right)
	if l.AtMost(r) != exact.CertainlyNot && r.AtMost(l) != exact.CertainlyNot {
		w.Enclosures++
		return
	}
	w.Fail(ledger.Witness{
		Equation: "the loss and the sum over s, to nine decimals", LHS: instruments.NineDecimals(l),
		RHS: instruments.NineDecimals(r),
		Instance: p.instance().With("eps", exact.Frac(1, int64(p.graph.T()))).
			// of -log(k/T + eps), k = 0, ..., T, at A1 = A2 = 0
			With("coefficients of the loss", left).With("coefficients of the sum", right),
	})
}

var lemPopGrads = ledger.Claim{
	ID: "lem-pop-grads", Number: "Lemma 4", Title: "Population gradients",
	Statement:  `$\nabla_{A^{(1)}_i}L = -\frac1S J(\mathcal{S}(A^{(1)}_i))\,G_i$ with $G_i = \sum_{s,s'}\mathbb{E}[w\,\delta_{s'}^\top J(v)e_i\cdot X_{\le i}A^{(2)}e_s]$, and $\nabla_{A^{(2)}}L = -\frac1S\sum_{s,s'}G_{s,s'}$ with $G_{s,s'} = \mathbb{E}[w\,X^\top\mathcal{S}(A^{(1)})^\top J(v)\delta_{s'}e_s^\top]$, where $w=\pi(s'\mid s)/(f_{s'}+\epsilon)$`,
	Parts:      []string{"first layer", "second layer"},
	Hypotheses: positiveEps,
	Tried:      triedPopulations + `, in both readings of the loss, each with its own expectation; with random rational attention in both layers`,
	Uses:       []string{"eq-loss-rewrite", "lem-rewrite-tf"},
	RestsOn:    []string{"eq-loss-rewrite-corrected", "lem-rewrite-tf"},
	Check:      populationGradients(1, 1),
	Faults: []ledger.Fault{
		ledger.PlantIn("first layer", "J(v) without its rank-one part", populationGradients(0, 1)),
		ledger.PlantIn("second layer", "J(v) without its rank-one part", populationGradients(1, 0)),
	},
	Spare: spareEps,
}

// populationGradients compares the printed gradients with the derivatives of the loss along each coordinate, by
// the chain rule. Random rational laws p and v stand for the attention of the first layer and, for every X and
// s, of the second: the derivative of a softmax is J of its value times the derivative of the scores, whatever
// the value. In the printed gradient of A1, J(v) has its rank-one part times first; in the gradient of A2,
// times second.
func populationGradients(first, second int64) ledger.Check {
	return func(e *ledger.Env, w *ledger.Worst) string {
		all := populations(e, e.Budget(24, 6))
		for k, p := range all {
			reading := theory.Reading(k / 2 % 2)
			g := newGradients(rand.New(e.Stream("attention", uint64(k))), p)
			p.queries(reading, func(weight *big.Rat, pi exact.Matrix, x []int, s int) {
				g.addQuery(weight, pi, x, s, first, second)
			})
			at := func() ledger.Instance { return p.instance().With("reading", reading.String()) }
			for i, row := range g.attention {
				right := exact.Jacobian(row[:i+1], g.inner[i][:i+1])
				w.EqualMatrix(fmt.Sprintf("row %d of the gradient of A1, times -S", i+1),
					exact.Matrix{g.one[i][:i+1]}, exact.Matrix{right}, at)
			}
			w.EqualMatrix("the gradient of A2, times -S", g.two, g.outer, at)
		}
		w.Instances = ledger.Instances{Rationals: len(all)}
		return "The chain rule, in both readings; decided in rationals for whatever attention the two " +
			"layers have. (The 1/S belongs to the sum over s.)"
	}
}

// gradients holds -S times the derivatives of a loss.
type gradients struct {
	r            *rand.Rand
	attention    exact.Matrix // first layer, T x T
	a2           exact.Matrix // S x S
	eps          *big.Rat
	one, two     exact.Matrix // derivatives in A1 and A2 by the chain rule
	inner, outer exact.Matrix // sums of the lemma: rows G_i, and sum of G_{s,s'}
}

func newGradients(r *rand.Rand, p population) gradients {
	s, t := len(p.prior[0]), p.graph.T()
	return gradients{
		r: r, attention: instruments.RandomPattern(r, t), a2: instruments.SmallIntegers(r, s, s),
		eps: exact.Frac(1, int64(2+r.IntN(5))),
		one: exact.Zero(t, t), two: exact.Zero(s, s), inner: exact.Zero(t, t), outer: exact.Zero(s, s),
	}
}

// addQuery adds the terms of one X and s.
func (g gradients) addQuery(weight *big.Rat, pi exact.Matrix, x []int, s int, first, second int64) {
	t := len(x)
	v := exact.Vector(instruments.RandomPattern(g.r, t)[t-1])
	for a := range pi {
		f := new(big.Rat)
		for i := range t {
			f.Add(f, exact.Mul(v[i], exact.Indicator(x[i] == a)))
		}
		c := exact.Mul(weight, exact.Quo(pi[s][a], exact.Add(f, g.eps)))
		spread := func(i int, rankOne int64) *big.Rat { // c (J(v) delta_a)_i
			off := exact.Sub(exact.Indicator(x[i] == a), exact.Mul(exact.Int(rankOne), f))
			return exact.Mul(c, exact.Mul(v[i], off))
		}
		for i := range t {
			for j := range i + 1 {
				g.inner[i][j].Add(g.inner[i][j], exact.Mul(spread(i, first), g.a2[x[j]][s]))
				to := g.outer[x[j]][s]
				to.Add(to, exact.Mul(spread(i, second), g.attention[i][j]))
			}
		}
		g.addDerivatives(exact.Mul(weight, pi[s][a]), v, x, s, a)
	}
}

// addDerivatives adds p times the derivatives of log(f_a + eps) along the entries of A1 and A2.
func (g gradients) addDerivatives(p *big.Rat, v exact.Vector, x []int, s, a int) {
	t, below := len(x), g.eps
	for i, q := range v {
		below = exact.Add(below, exact.Mul(q, exact.Indicator(x[i] == a)))
	}
	c := exact.Quo(p, below)
	add := func(to *big.Rat, scores exact.Vector) { // scores: their derivatives
		moved := exact.Jacobian(v, scores)
		for i := range t {
			to.Add(to, exact.Mul(c, exact.Mul(moved[i], exact.Indicator(x[i] == a))))
		}
	}
	for i := range t {
		for k := range i + 1 {
			scores := exact.Zero(1, t)[0]
			for j := range i + 1 { // d S(A1)_{ij} / d A1_{ik} = S_ij (1{j=k} - S_ik)
				d := exact.Mul(g.attention[i][j], exact.Sub(exact.Indicator(j == k), g.attention[i][k]))
				scores[i].Add(scores[i], exact.Mul(d, g.a2[x[j]][s]))
			}
			add(g.one[i][k], scores)
		}
	}
	for b := range g.a2 {
		scores := exact.Zero(1, t)[0]
		for i := range t {
			for j := range i + 1 {
				scores[i].Add(scores[i], exact.Mul(g.attention[i][j], exact.Indicator(x[j] == b)))
			}
		}
		add(g.two[b][s], scores)
	}
}

package concentration

import (
	"fmt"
	"iter"
	"math"
	"math/big"
	"slices"

	"gonum.org/v1/gonum/mat"

	"learncausal/paper/claims/instruments"
	"learncausal/paper/exact"
	"learncausal/paper/ledger"
	"learncausal/pkg/graph"
	"learncausal/pkg/theory"
)

// forestsUpTo returns all forests with 2 to most positions.
func forestsUpTo(most int) (out []*graph.Forest) {
	for t := 2; t <= most; t++ {
		out = slices.AppendSeq(out, graph.All(t))
	}
	return out
}

// fractions returns 1/den, ..., (den-1)/den.
func fractions(den int64) (out exact.Vector) {
	for k := int64(1); k < den; k++ {
		out = append(out, exact.Frac(k, den))
	}
	return out
}

// mostLeaves returns max_l L_l.
func mostLeaves(g *graph.Forest) int { return int(math.Round(float64(g.T()) / g.TEff())) }

// countByDistance returns the number of positions at each distance from i, and the number of leaves among them.
func countByDistance(g *graph.Forest, i int) (count []int, leaves int) {
	count = make([]int, g.T())
	for j := range count {
		if d := g.Distance(i, j); d >= 0 {
			count[d]++
			if !slices.Contains(g.Parents(), j) {
				leaves++
			}
		}
	}
	return count, leaves
}

// pairsByDistance returns the number of pairs of positions of a tree at each
// distance, and the number of its leaves.
func pairsByDistance(g *graph.Forest, tree []int) (count []int, leaves int) {
	count = make([]int, len(tree))
	for _, i := range tree {
		at, l := countByDistance(g, i)
		leaves = l
		for k := range count {
			count[k] += at[k]
		}
	}
	return count, leaves
}

// sumWithout returns the sum of lambda^d(i,j) over the positions other than out.
func sumWithout(g *graph.Forest, lambda *big.Rat, out int) *big.Rat {
	sum := new(big.Rat)
	for i, j := range instruments.Pairs(g.T()) {
		if d := g.Distance(i, j); d >= 0 && i != out && j != out {
			sum.Add(sum, exact.Pow(lambda, d))
		}
	}
	return sum
}

// A varianceBound is the claim that the variance of the share of counted positions in I is at most the first bound
// of the statement, which has the factor scaleOfVariance. The mean of that share must be mean.
type varianceBound struct {
	// counted depends on the states of the parent, -1 for a root, and of the position.
	counted  func(parent, own, s, s2 int) bool
	eligible func(g *graph.Forest, i int) bool // whether I may hold i
	states   func(n int) iter.Seq2[int, int]   // s and s'
	mean     func(varianceTerms) *big.Rat      // of one position
	lambda   lambdaFunc
	reason   string // why the bound is true, for a note
}

// scaleOfVariance is the factor of the bounds that depends on the forest.
const scaleOfVariance = `T^2/(T_{\mathrm{eff}}(\lambda)|I|^2)`

// withLambda returns the bound with another lambda.
func (q varianceBound) withLambda(lambda lambdaFunc) varianceBound {
	q.lambda = lambda
	return q
}

// among returns the bound for the subsets of other positions.
func (q varianceBound) among(eligible func(*graph.Forest, int) bool) varianceBound {
	q.eligible = eligible
	return q
}

// check checks the mean and the bound of the variance.
func (q varianceBound) check(e *ledger.Env, w *ledger.Worst) string {
	q.search(e, w)
	return q.note(w)
}

// note is instruments.SearchNote for a varianceBound.
func (q varianceBound) note(w *ledger.Worst) string {
	return instruments.SearchNote(w, fmt.Sprintf(", the left side at most %.3g of the right. %s", 1-w.Margin(), q.reason))
}

// A lambdaFunc returns lambda given S and the least entry of pi.
type lambdaFunc func(states int, least *big.Rat) *big.Rat

// varianceTerms are mu(s), mu(s'), pi(s'|s), lambda, and T_eff(lambda), T and |I|.
type varianceTerms struct{ mu, mu2, p, lambda, teff, t, n *big.Rat }

// in returns the value of a bound.
func (a varianceTerms) in(bound ledger.Bound) *big.Rat {
	return bound.Rat(ledger.At[*big.Rat]{
		`\mu_\pi(s)`: a.mu, `\pi(s'\mid s)`: a.p, `\lambda`: a.lambda,
		`T_{\mathrm{eff}}(\lambda)`: a.teff, "T": a.t, "T-1": exact.Sub(a.t, exact.Int(1)), "|I|": a.n,
	})
}

// lambdaOf returns lambda = 1 - gamma/S, with the largest gamma of the floor.
func lambdaOf(_ int, least *big.Rat) *big.Rat { return exact.Sub(exact.Int(1), least) }

// lambdaOfOne is lambda = 1 - 1/S, as if gamma = 1 for every chain.
func lambdaOfOne(states int, _ *big.Rat) *big.Rat { return exact.Frac(int64(states-1), int64(states)) }

// oneState returns the n states as s, with an unused s' = 0.
func oneState(n int) iter.Seq2[int, int] { return instruments.Places(n, 1) }

func beforeQuery(g *graph.Forest, i int) bool { return i < g.T()-1 }

func anyPosition(*graph.Forest, int) bool { return true }

func hasParent(g *graph.Forest, i int) bool { return g.Parent(i) != graph.Root }

// A positionSet is a forest and a subset I of its positions.
type positionSet struct {
	instruments.FamilyMember
	name string
	has  []bool
}

// positionSets returns each graph with all eligible positions, every other one, and the leaves as I.
func (q varianceBound) positionSets(members []instruments.FamilyMember) []positionSet {
	var out []positionSet
	for _, m := range members {
		n, leaves := m.Graph.T(), m.Graph.Leaves()
		all, odd, leaf := make([]bool, n), make([]bool, n), make([]bool, n)
		for i := range n {
			if q.eligible(m.Graph, i) {
				all[i], odd[i], leaf[i] = true, i%2 == 1, slices.Contains(leaves, i)
			}
		}
		out = append(out, positionSet{m, "all positions", all}, positionSet{m, "every other position", odd},
			positionSet{m, "the leaves", leaf})
	}
	return out
}

// size returns |I|.
func (in positionSet) size() *big.Rat {
	n := int64(0)
	for _, has := range in.has {
		n += int64(instruments.Indicator(has))
	}
	return exact.Int(n)
}

// weightOf returns the weight of the sum over I for s and s'.
func (q varianceBound) weightOf(in positionSet, s, s2 int) func(i, parent, own int) int {
	return func(i, parent, own int) int {
		if in.has[i] && q.counted(parent, own, s, s2) {
			return 1
		}
		return 0
	}
}

// A varianceCase is an instance of a varianceBound, with its sides in floats.
type varianceCase struct {
	instruments.LeastSlack
	in    positionSet
	s, s2 int
}

// tightest returns the case of least slack for the chain.
func (q varianceBound) tightest(c *theory.Chain, among []positionSet, factor ledger.Bound) varianceCase {
	var best varianceCase
	rat := func(x float64) *big.Rat { return new(big.Rat).SetFloat64(x) }
	least := mat.Min(c.Pi)
	lambda := q.lambda(c.S, rat(least))
	for _, in := range among {
		t, teff := in.Graph.T(), in.Graph.TEffLambda(exact.Float(lambda))
		scale := float64(t*t) / teff
		for s, s2 := range q.states(c.S) {
			_, v := c.MomentsOfSum(in.Graph, q.weightOf(in, s, s2))
			terms := varianceTerms{
				rat(c.Mu[s]), rat(c.Mu[s2]), rat(c.Pi.At(s, s2)), lambda, rat(teff), exact.Int(t), in.size(),
			}
			if best.Take(v, scale*exact.Float(terms.in(factor))) {
				best.in, best.s, best.s2 = in, s, s2
			}
		}
	}
	return best
}

// decide decides mean and bound of a case in rational numbers.
func (q varianceBound) decide(w *ledger.Worst, pi exact.Matrix, in positionSet, s, s2 int, factor ledger.Bound) {
	mu, least := exact.MustStationary(pi), slices.MinFunc(slices.Concat(pi...), (*big.Rat).Cmp)
	lambda, t := q.lambda(len(pi), least), exact.Int(in.Graph.T())
	mean, variance := exact.MomentsOfSum(pi, in.Graph, q.weightOf(in, s, s2))
	terms := varianceTerms{mu[s], mu[s2], pi[s][s2], lambda, exact.TEffLambda(in.Graph, lambda), t, in.size()}
	at := func() ledger.Instance {
		i := ledger.Instance{
			"S": len(pi), "pi": pi, "T": in.Graph.T(), "I": in.name, "s": s + 1, "s'": s2 + 1, "lambda": lambda,
		}
		if in.Graph.T() > 16 {
			return i.With("family", in.Family)
		}
		return i.With("graph", in.Graph)
	}
	share := q.mean(terms)
	if want := exact.Mul(terms.n, share); mean.Cmp(want) != 0 {
		w.EqualRat("the mean of the sum", mean, want, at)
	}
	most := exact.Float(exact.Mul(exact.Pow(terms.n, 2), exact.Mul(share, exact.Sub(exact.Int(1), share))))
	scale := exact.Quo(exact.Mul(t, t), terms.teff)
	w.UpTo(most).AtMostRat(variance, exact.Mul(scale, terms.in(factor)), at)
}

// rationalChains returns the chains on which the variances are decided: a sticky and a nearly swapping one;
// three states with an unequal measure that is not reversible; independent tokens with a light state of 1/50 or
// 1/1000; and two light states, one of which leads to the other.
func rationalChains() []exact.Matrix {
	return []exact.Matrix{
		exact.Rats("9/10 1/10; 1/5 4/5"), exact.Rats("1/4 3/4; 7/10 3/10"),
		exact.Rats("3/5 3/10 1/10; 1/10 1/2 2/5; 1/4 1/20 7/10"),
		exact.Rats("1/50 49/50; 1/50 49/50"), exact.Rats("1/1000 999/1000; 1/1000 999/1000"),
		exact.Rats("1/50 24/25 1/50; 1/50 1/50 24/25; 1/50 1/50 24/25"),
	}
}

// largeMembers returns the larger forests on which the variances are decided. Roots
// alone and a star show the constants.
func largeMembers(e *ledger.Env) []instruments.FamilyMember {
	return []instruments.FamilyMember{
		{Family: "chain", Graph: graph.Chain(2)},
		{Family: "roots only", Graph: instruments.RootsOnly(200)},
		{Family: "star", Graph: graph.Star(200)},
		{Family: "chain", Graph: graph.Chain(e.Budget(64, 24))},
		{Family: "spider", Graph: graph.Spider(e.Budget(64, 24), 6)},
	}
}

// allSets returns the forests, small and large, with the subsets on which the bound is decided.
func (q varianceBound) allSets(e *ledger.Env) []positionSet {
	out := q.positionSets(instruments.FamilyMembers(e, 12))
	for k, in := range q.positionSets(largeMembers(e)) {
		if k%3 == 0 { // all positions
			out = append(out, in)
		}
	}
	return out
}

// search decides the bound on rational chains and forests. It also searches in floats
// for a worse chain on small forests, and decides the bound for that chain.
func (q varianceBound) search(e *ledger.Env, w *ledger.Worst) {
	factor := e.Bound(0).Over(scaleOfVariance)
	for _, pi := range rationalChains() {
		for _, in := range q.allSets(e) {
			for s, s2 := range q.states(len(pi)) {
				if e.Err() == nil && slices.Contains(in.has, true) {
					q.decide(w, pi, in, s, s2, factor)
				}
			}
		}
	}
	small := q.positionSets(instruments.FamilyMembers(e, 8))
	for _, s := range []int{2, 3} {
		chain := func(x []float64) *theory.Chain { return theory.MustChain(ledger.Kernel(x, s, 2e-2), s) }
		starts := e.KernelStarts(3, s, 0)
		x, _ := e.Attack(func(x []float64) float64 {
			worst := q.tightest(chain(x), small, factor)
			return ledger.Slack(worst.LHS, worst.RHS)
		}, starts[:e.Budget(len(starts), 5)], e.Budget(800, 100))
		if x == nil || w.Failed() { // nil if interrupted
			break
		}
		at := q.tightest(chain(x), small, factor)
		ledger.Simplest(chain(x).Pi.RawMatrix().Data, s, func(pi exact.Matrix) bool {
			if positive(pi) {
				q.decide(w, pi, at.in, at.s, at.s2, factor)
			}
			return w.Failed()
		})
	}
}

// positive reports whether all entries are positive.
func positive(pi exact.Matrix) bool {
	return !slices.ContainsFunc(slices.Concat(pi...), func(x *big.Rat) bool { return x.Sign() == 0 })
}

// positiveChain reports whether pi has a unique stationary measure and it is positive.
func positiveChain(pi exact.Matrix) bool {
	_, err := theory.NewChain(pi.Floats(), len(pi))
	return err == nil
}

// enclosedLambda returns rational bounds of lambda(pi) at a relative distance of 2e-9,
// and false if lambda(pi) is zero or too small for them.
func enclosedLambda(pi exact.Matrix) (exact.Interval, bool) {
	at := theory.MustChain(pi.Floats(), len(pi)).Lambda()
	if at < instruments.LeastGamma {
		return exact.Point(new(big.Rat)), false
	}
	near := func(x float64) *big.Rat { return new(big.Rat).SetFloat64(x) }
	lambda := exact.Interval{Lo: near(at * (1 - 1e-9)), Hi: near(at * (1 + 1e-9))}
	return lambda, exact.LambdaAtMost(pi, lambda.Hi) && !exact.LambdaAtMost(pi, lambda.Lo)
}

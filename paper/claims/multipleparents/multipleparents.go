// Package multipleparents is Section 6, on graphs with several parents, which states Construction 2, and the appendix
// with its proof.
package multipleparents

import (
	"iter"
	"math/big"
	"math/rand/v2"
	"slices"

	"learncausal/paper/claims/instruments"
	"learncausal/paper/exact"
	"learncausal/paper/ledger"
	"learncausal/pkg/graph"
	"learncausal/pkg/model"
	"learncausal/pkg/num"
	"learncausal/pkg/task"
)

// Section is Section 6, Construction the appendix.
var (
	Section = ledger.Section{
		Title: "Causal Graphs with Multiple Parents", Claims: []ledger.Claim{constructMulti},
	}
	Construction = ledger.Section{
		Title: "Multiple Parents Construction", Claims: []ledger.Claim{constructMultiLimit, constructMultiScales},
	}
)

var constructMulti = ledger.Claim{
	ID: "construct-multi", Number: "Construction 2",
	Title: "Construction 2 approximates the empirical transition of k parents", Slow: true,
	Statement: `the limit $\beta_1\to\infty$, and then $\beta_2\to\infty$, of the construction with $k$ heads satisfies $f(s_{1:T})_{s'} \approx \hat\pi_{s_{1:T}}(s'\mid s_{p(T+1)_1},\dots,s_{p(T+1)_k})$: ` +
		`if $M\ge1$ positions $i<T$ that have parents have pairwise disjoint sets of parents, $\mathbb E\|f-\hat\pi\|_\infty\le\mathbb E\frac{1+k_0}{1+k_0+n}\le\frac{S^k(1+1/a)}{a^kM}$, ` +
		`both zero where $\hat\pi$ is not defined, with $n$ the number of $i<T$ whose parents carry the tokens of the parents of $T+1$, in order, and $k_0$ the number of roots $i<T$ with $s_1=\dots=s_i=s_{p(T+1)_\ell}$ for all $\ell$`,
	Parts:      []string{shareOfVotes, boundOfVotes},
	Hypotheses: `each token has each value with probability at least $a>0$ given those before it; ` + disjointSets,
	Tried: multiTried + `, as sums over sequences; from samples at $T\approx2048$ on the 3-gram with $S=2,3$, the 4-gram, $p(i)=\{\lfloor (i-1)/2\rfloor, i-1\}$, ` +
		`and a pair before a star; at $T=9005$ where the parents of $T+1$ have rare tokens`,
	Uses: []string{"construct-multi-step-limit"}, OnPaper: []string{"construct-multi"},
	Check: ledger.Check(votes{1, 1, 1, disjointParents}.check).Noted("Task 2 with k = 1 draws its roots uniformly, and " +
		"Task 1 from mu: it generalizes Task 1 for uniform mu alone. "),
	Faults: []ledger.Fault{
		ledger.PlantIn(shareOfVotes, "1/(1+n) for (1+k0)/(1+k0+n)", votes{0, 1, 1, disjointParents}.check),
		ledger.PlantIn(boundOfVotes, "M^2 for M", votes{1, 2, 1, disjointParents}.check),
		ledger.PlantIn(boundOfVotes, "1 for a^k", votes{1, 1, 0, disjointParents}.check),
		ledger.Drop(disjointSets, "M counts all positions with parents", votes{1, 1, 1, func(parents [][]int) (m int) {
			for _, ps := range parents {
				m += min(len(ps), 1)
			}
			return m
		}}.check),
	},
	Spare: []ledger.Spare{
		ledger.Spared(`each token has each value with probability at least $a>0$ given those before it`, "at zero the bound says nothing"),
	},
}

// The parts and a hypothesis of construct-multi.
const (
	shareOfVotes = "the distance and the share of the other votes"
	boundOfVotes = "the bound of the share"
	disjointSets = `the sets of parents of the $M$ positions are disjoint`
)

// votes is construct-multi's statement on the mean of |f - pihat|_inf, where f is the
// exact limit of Construction 2.
type votes struct {
	first int64                     // 1 where k0 counts
	m, a  int                       // powers of M and of a^k in the bound
	count func(parents [][]int) int // M, of the positions before T
}

// disjointParents counts positions, from the last to the first, whose sets of parents are
// disjoint from the sets of parents counted before.
func disjointParents(parents [][]int) (m int) {
	used := map[int]bool{}
	for _, ps := range slices.Backward(parents) {
		if len(ps) > 0 && !slices.ContainsFunc(ps, func(q int) bool { return used[q] }) {
			m++
			for _, q := range ps {
				used[q] = true
			}
		}
	}
	return m
}

func mustDAG(parents [][]int) *graph.DAG {
	g, err := graph.NewDAG(parents)
	if err != nil {
		panic("multipleparents: " + err.Error())
	}
	return g
}

// check decides both parts by sums over the sequences of small graphs, and compares means
// of samples of long sequences with the bound.
func (c votes) check(e *ledger.Env, w *ledger.Worst) string {
	for g, s := range multiGraphs() {
		if w.Failed() || e.Err() != nil {
			break
		}
		c.decide(w, g, s)
	}
	if !w.Holds() {
		return ""
	}
	var samples ledger.Worst
	for _, in := range []struct {
		name     string
		s, draws int
		g        *graph.DAG
		pi       exact.Matrix
	}{
		{"3-gram", 2, 200, graph.NGram(2048, 2), transitionTensor(2, 2)},
		{"3-gram", 3, 200, graph.NGram(2048, 2), transitionTensor(3, 2)},
		{"4-gram", 2, 200, graph.NGram(2048, 3), transitionTensor(2, 3)},
		{"halves", 2, 200, graph.Halves(2048), transitionTensor(2, 2)},
		{"a pair before a star", 2, 400, pairsBehind(1, 2040), exact.Rats("1/2 1/2; 1/2 1/2; 1/2 1/2; 1/2 1/2")},
		{"rare tokens", 2, 1600, pairsBehind(3000, 6000), exact.Rats("29/30 1/30; 29/30 1/30; 29/30 1/30; 29/30 1/30")},
	} {
		if samples.Failed() || e.Err() != nil {
			break
		}
		r, parents, pi := rand.New(e.Stream(in.name, uint64(in.s))), in.g.Parents(), in.pi.Floats()
		k, share := model.ConstructionTwo(in.g, in.s), make([]float64, in.draws)
		for i := range share {
			if x := drawSequence(r, parents[:in.g.T()], pi, in.s); k.Matches(x) != nil {
				share[i] = exact.Float(c.shareOf(parents, x))
			}
		}
		mean := num.Average(share)
		samples.UpTo(1).Sampled(mean.Mean-4*mean.StdErr, exact.Float(c.bound(parents, in.s, in.pi)), func() ledger.Instance {
			return ledger.Instance{"graph": in.name, "S": in.s, "T": in.g.T(), "mean": mean.Mean}
		})
	}
	w.Include(&samples)
	return "Proved. On n-grams and on halves M is of order T. On a graph with few such positions the difference " +
		"may stay, as in Construction 1 (construct-single). A mean of a sample counts against the bound at four " +
		"standard errors."
}

// pairsBehind returns a graph of 6 roots, n positions with the first two roots as parents, m with pairs of the
// n or of the last two roots as parents, and the query; the target has the other two roots.
func pairsBehind(m, n int) *graph.DAG {
	parents := make([][]int, 6, 8+m+n)
	for range n {
		parents = append(parents, []int{0, 1})
	}
	for i := range m {
		parents = append(parents, []int{4 + 2*i, 5 + 2*i})
	}
	return mustDAG(append(parents, nil, []int{2, 3}))
}

// decide decides both parts by sums over all sequences. Only the bound enters the margin,
// since the first part is nearly an equality for the smallest graphs.
func (c votes) decide(w *ledger.Worst, g *graph.DAG, s int) {
	parents, last := g.Parents(), g.T()
	pi := transitionTensor(s, len(parents[last]))
	k := model.ConstructionTwo(g, s)
	far, share := new(big.Rat), new(big.Rat)
	for x := range task.Sequences(s, last) {
		counted := k.Matches(x)
		if counted == nil {
			continue
		}
		p := exact.Int(1)
		for i, ps := range parents[:last] {
			q := exact.Frac(1, int64(s))
			if ps != nil {
				q = pi[tokensRow(ps, x, s)][x[i]]
			}
			p = exact.Mul(p, q)
		}
		off := instruments.ExactShares(k.Attended(x), x, s).Sub(instruments.ExactShares(counted, x, s))[0]
		far.Add(far, exact.Mul(p, exact.NormInf(off)))
		share.Add(share, exact.Mul(p, c.shareOf(parents, x)))
	}
	at := func() ledger.Instance { return ledger.Instance{"S": s, "parents of 1..T+1": parentLists(g), "pi": pi} }
	if far.Cmp(share) > 0 {
		w.Fail(ledger.Witness{Instance: at(), LHS: far, RHS: share})
	}
	if bound := c.bound(parents, s, pi); bound != nil {
		w.UpTo(1).AtMostRat(share, bound, at)
	}
}

// shareOf returns (1+k0)/(1+k0+n), the share of the votes that pihat does not count.
func (c votes) shareOf(parents [][]int, x []int) *big.Rat {
	n := len(matchesAndLast(parents, x)) - 1
	k0 := c.first * int64(len(matchesAndFirstRoots(parents, x))-1-n)
	return exact.Frac(1+k0, 1+k0+int64(n))
}

// bound returns S^k (1+1/a) / (a^k M), or nil if M is zero.
func (c votes) bound(parents [][]int, s int, pi exact.Matrix) *big.Rat {
	t, least := len(parents)-1, exact.Frac(1, int64(s))
	for _, row := range pi {
		least = slices.MinFunc(append(row[:s:s], least), (*big.Rat).Cmp)
	}
	m, k := c.count(parents[:t-1]), len(parents[t])
	if m == 0 {
		return nil
	}
	tokens := exact.Mul(exact.Pow(exact.Int(s), k), exact.Quo(exact.Add(least, exact.Int(1)), least))
	return exact.Quo(tokens, exact.Mul(exact.Pow(least, k*c.a), exact.Pow(exact.Int(m), c.m)))
}

// drawSequence draws the tokens of positions with the given parents: roots uniformly, others
// from the row of pi, of s entries, with the index of tokensRow.
func drawSequence(r *rand.Rand, parents [][]int, pi []float64, s int) []int {
	x := make([]int, len(parents))
	for i, ps := range parents {
		x[i] = r.IntN(s)
		if ps == nil {
			continue
		}
		row := pi[s*tokensRow(ps, x, s):]
		x[i] = 0
		for u := r.Float64() - row[0]; u >= 0 && x[i] < s-1; u -= row[x[i]] {
			x[i]++
		}
	}
	return x
}

// tokensRow returns the number whose digits to the base s are the tokens of the positions.
func tokensRow(positions, x []int, s int) int {
	row := 0
	for _, q := range positions {
		row = s*row + x[q]
	}
	return row
}

// transitionTensor returns transitions from k parents over s tokens, s^k rows. Each row
// is proportional to a rotation of 1, 2, ..., s.
func transitionTensor(s, k int) exact.Matrix {
	rows := 1
	for range k {
		rows *= s
	}
	pi := exact.Zero(rows, s)
	for r, row := range pi {
		for a := range row {
			row[a].SetFrac64(int64((a+r+r/s)%s+1), int64(s*(s+1)/2))
		}
	}
	return pi
}

var constructMultiLimit = ledger.Claim{
	ID: "construct-multi-step-limit", Number: "Construction 2", Kind: ledger.Step,
	Title:      "Construction 2, its exact limit",
	Statement:  `as $\beta_1\to\infty$, and then $\beta_2\to\infty$: $f_{s'} \approx \frac{\mathbf 1(s_T=s')+\sum_{i<T}\mathbf 1(s_i=s')m_i}{1+\sum_{i<T}m_i}$ with $m_i=\prod_\ell\mathbf 1(s_{p(i)_\ell}=s_{p(T+1)_\ell})$, up to the votes of some first roots (the footnote): exactly, $k_0$ more votes for $s_1$, $k_0$ the roots $i<T$ with $s_1=\dots=s_i=s_{p(T+1)_\ell}$ for all $\ell$; hence $|f-\hat\pi| \le (1+k_0)/(1+k_0+n)$, $n=\sum_{i<T}m_i$`,
	Parts:      []string{"the votes", "the bound"},
	Hypotheses: sameNumberOfParents,
	Tried:      multiTried + `; compared with the dense transformer at $\beta_1=200$, $\beta_2=10^4$`,
	Check:      multipleParentsLimit(matchesAndFirstRoots, 1),
	Faults: []ledger.Fault{
		ledger.PlantIn("the votes", "the votes of the roots left out, an equality for the sign of approximation",
			multipleParentsLimit(matchesAndLast, 1)),
		ledger.PlantIn("the bound", "k0/(1+k0+n) for (1+k0)/(1+k0+n)", multipleParentsLimit(matchesAndFirstRoots, 0)),
	},
	Spare: sameNumberSpare,
}

const sameNumberOfParents = `each position has no parents or $k$, the target $k$`

var sameNumberSpare = []ledger.Spare{
	ledger.Spared(sameNumberOfParents, "Construction 2 is defined for these graphs only"),
}

const multiTried = `all sequences; all graphs with two or three parents with $S=2$, $T\le5$, with $S=3$ or in every order of the parents $T\le4$; the 3-gram, the 4-gram and $p(i)=\{\lfloor (i-1)/2\rfloor, i-1\}$ with $S=2$, $T=8$`

// matchesAndLast returns the positions before T-1 whose parents have the same tokens as
// the target's parents, and T-1.
func matchesAndLast(parents [][]int, x []int) []int {
	last := len(x) - 1
	var m []int
	for i, ps := range parents[:last] {
		match := len(ps) > 0
		for l, q := range ps {
			match = match && x[q] == x[parents[last+1][l]]
		}
		if match {
			m = append(m, i)
		}
	}
	return append(m, last)
}

// matchesAndFirstRoots adds the roots i < T-1 with x_0 = ... = x_i equal to each
// parent of the target, and so returns all positions attended to in the limit.
func matchesAndFirstRoots(parents [][]int, x []int) []int {
	m, last := matchesAndLast(parents, x), len(x)-1
	for _, q := range parents[last+1] {
		if x[q] != x[0] {
			return m
		}
	}
	for i := 0; i < last && x[i] == x[0]; i++ {
		if len(parents[i]) == 0 {
			m = append(m, i)
		}
	}
	return m
}

// multiGraphs yields the graphs and numbers of tokens of multiTried.
func multiGraphs() iter.Seq2[*graph.DAG, int] {
	return func(yield func(*graph.DAG, int) bool) {
		for _, c := range []struct{ t, k, most int }{
			{2, 2, 3}, {3, 2, 3}, {3, 3, 3}, {4, 2, 3}, {4, 3, 3}, {5, 2, 2}, {5, 3, 2},
		} {
			for s := 2; s <= c.most; s++ {
				for _, g := range uniformGraphs(c.t, c.k, c.t < 5) {
					if !yield(g, s) {
						return
					}
				}
			}
		}
		for _, g := range []*graph.DAG{graph.NGram(8, 2), graph.NGram(8, 3), graph.Halves(8)} {
			if !yield(g, 2) {
				return
			}
		}
	}
}

// parentLists returns the parents of the positions and the target, from 1.
func parentLists(g *graph.DAG) [][]int {
	out := g.Parents()
	for i, ps := range out {
		out[i] = ledger.OneBased(ps)
	}
	return out
}

// multipleParentsLimit compares three laws: the laws of x_i over the positions of limit
// and over the positions of largest score, and the output of the dense transformer of
// Construction 2. The bound of the distance to pihat is (own+k0)/(1+k0+n).
func multipleParentsLimit(limit func(parents [][]int, x []int) []int, own int) ledger.Check {
	return func(e *ledger.Env, w *ledger.Worst) string {
		var dense ledger.Worst
		for g, s := range multiGraphs() {
			if e.Err() != nil || w.Failed() || dense.Failed() {
				break
			}
			t, parents := g.T(), g.Parents()
			k := model.ConstructionTwo(g, s)
			weights := k.Weights(instruments.BetaOne, instruments.BetaTwo)
			for x := range task.Sequences(s, t) {
				said, attended := limit(parents, x), k.Attended(x)
				at := func() ledger.Instance {
					return ledger.Instance{
						"S": s, "T": t, "parents of 1..T+1": parentLists(g), "s": ledger.OneBased(x),
						"said to be attended": ledger.OneBased(said),
						"f":                   instruments.ExactShares(attended, x, s)[0],
						"said to be":          instruments.ExactShares(said, x, s)[0],
					}
				}
				dense.Equal(weights.Linear(x).RawRowView(t-1), instruments.Shares(attended, x, s), instruments.ScaleTolerance, at)
				w.EqualMatrix("", instruments.ExactShares(attended, x, s), instruments.ExactShares(said, x, s), at)
				if counted := k.Matches(x); counted != nil {
					off := instruments.ExactShares(attended, x, s).Sub(instruments.ExactShares(counted, x, s))[0]
					bound := exact.Frac(int64(len(said)-len(counted)-1+own), int64(len(said)))
					w.AtMostRat(exact.NormInf(off), bound, at)
				}
			}
		}
		return instruments.LimitNote(&dense, w, "T matches itself always, and is counted once whether or not its own "+
			"parents match: its row of the first layer serves T+1. (Misprints: the displayed attention lacks the "+
			"mask, and A_k stands for each A_l of the second layer.) The limit is a fraction of denominator at most "+
			"T, so a deviation below rounding decides it.")
	}
}

var constructMultiScales = ledger.Claim{
	ID: "construct-multi-step-scales", Number: "Construction 2", Kind: ledger.Step,
	Title: "Construction 2 at finite scales", Slow: true,
	Statement:  `for all $\beta_1,\beta_2>0$: $|f-f_\infty| \le k\beta_2(T-1)e^{-\beta_1} + (T-1)e^{-\beta_2/(T-1)}$ with $f_\infty$ the exact limit; against $\hat\pi$ the share of the attended positions that it does not count is added`,
	Parts:      []string{"against the limit", "against the empirical transition"},
	Hypotheses: `$\beta_1,\beta_2>0$; ` + sameNumberOfParents,
	Tried:      multiTried + `; $(\beta_1,\beta_2/(T-1))=(8,2),(10,5),(12,8)$`,
	Uses:       []string{"construct-multi-step-limit"},
	RestsOn:    []string{"construct-multi-step-limit", "construct-single-step-scales"},
	Check:      multipleParentsScales(func(t float64) float64 { return 1 / (t - 1) }, 0),
	Faults: []ledger.Fault{
		ledger.PlantIn("against the limit", `e^(-beta2) in place of e^(-beta2/(T-1))`,
			multipleParentsScales(func(float64) float64 { return 1 }, 0)),
		ledger.PlantIn("against the empirical transition", "half of the share that does not count",
			multipleParentsScales(func(t float64) float64 { return 1 / (t - 1) }, 0.5)),
	},
	Spare: append(sameNumberSpare,
		ledger.Spared(`$\beta_1,\beta_2>0$`, "they are scales of attention; at zero the bound exceeds one")),
}

// multipleParentsScales compares Construction 2 at finite scales with the bound. In the first layer a head puts
// at most (T-1) e^-beta1 on the wrong positions. So the scores are off by at most 2 k beta2 (T-1) e^-beta1, and
// the weights by half as much in total variation. The largest score is beta2 k, the next at most beta2 (k -
// gap(T)), gap(T) = 1/(T-1). Against pihat, 1-dropped of the share of uncounted positions is added.
func multipleParentsScales(gap func(t float64) float64, dropped float64) ledger.Check {
	return func(e *ledger.Env, w *ledger.Worst) string {
		c := instruments.Scales{Worst: w, Dropped: dropped}
		for g, s := range multiGraphs() {
			if c.Failed() || e.Err() != nil {
				break
			}
			n, heads := float64(g.T()-1), float64(len(g.Parents()[g.T()]))
			bound := func(beta1, beta2 float64) float64 {
				return heads*beta2*n*num.Exp(-beta1) + n*num.Exp(-beta2*gap(float64(g.T())))
			}
			in := ledger.Instance{"parents of 1..T+1": parentLists(g)}
			c.Compare(model.ConstructionTwo(g, s), s, g.T(), n, bound, in)
		}
		return c.Note()
	}
}

// uniformGraphs returns all graphs on t positions and a target in which each position has k parents or none,
// and the target k. Parents stand in ascending order, or in every order if ordered.
func uniformGraphs(t, k int, ordered bool) []*graph.DAG {
	var choose func(n int, chosen []int) [][]int
	choose = func(n int, chosen []int) [][]int {
		if len(chosen) == k {
			return [][]int{slices.Clone(chosen)}
		}
		var out [][]int
		for a := range n {
			if slices.Contains(chosen, a) || !ordered && len(chosen) > 0 && a < chosen[len(chosen)-1] {
				continue
			}
			out = append(out, choose(n, append(chosen, a))...)
		}
		return out
	}
	all := [][][]int{{}}
	for i := range t + 1 {
		var next [][][]int
		for _, p := range all {
			if i < t {
				next = append(next, append(p[:i:i], nil))
			}
			for _, q := range choose(i, nil) {
				next = append(next, append(p[:i:i], q))
			}
		}
		all = next
	}
	graphs := make([]*graph.DAG, len(all))
	for i, p := range all {
		graphs[i] = mustDAG(p)
	}
	return graphs
}

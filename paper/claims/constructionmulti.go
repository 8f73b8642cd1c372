package claims

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"learncausal/pkg/graph"
	"learncausal/pkg/model"
	"learncausal/pkg/task"
)

// multiClaims are the claims about Construction 2.
func multiClaims() []Claim {
	return []Claim{
		{
			ID: "construct-multi", Title: "Construction 2 approximates the empirical transition of k parents", Section: "Causal Graphs with Multiple Parents",
			Statement:  `the limit of the two-layer construction with $k$ heads satisfies $f(s_{1:T})_{s'} \approx \hat\pi_{s_{1:T}}(s'\mid s_{p(T+1)_1},\dots,s_{p(T+1)_k})$: the difference falls like $1/T$`,
			Hypotheses: `$\hat\pi$ is defined; $T=32,\dots,1024$; the 3-gram and $p(i)=\{\lfloor (i-1)/2\rfloor, i-1\}$ with $S=2$ and $S=3$, the 4-gram with $S=2$`,
			Uses:       []string{"construct-multi-step-limit"},
			Check:      func(e *Env) Finding { return multiTrend(e, false) },
			Fault:      "the heads of the query attend to the parents of T, not of T+1",
			Faulty:     func(e *Env) Finding { return multiTrend(e, true) },
		},
		{
			ID: "construct-multi-step-limit", Title: "Construction 2, its exact limit", Section: "Multiple Parents Construction", Quick: true,
			Statement:  `as $\beta_1,\beta_2\to\infty$: $f_{s'} \approx \frac{\mathbf 1(s_T=s')+\sum_{i<T}\mathbf 1(s_i=s')m_i}{1+\sum_{i<T}m_i}$ with $m_i=\prod_\ell\mathbf 1(s_{p(i)_\ell}=s_{p(T+1)_\ell})$, up to the votes of some first roots (the footnote): exactly, $k_0$ more votes for $s_1$, $k_0$ the roots $i<T$ with $s_1=\dots=s_i=s_{p(T+1)_\ell}$ for all $\ell$; hence $|f-\hat\pi| \le (1+k_0)/(1+k_0+n)$, $n=\sum_{i<T}m_i$`,
			Hypotheses: multiHypotheses + `; compared with the dense transformer at $\beta_1=200$, $\beta_2=10^4$`,
			Check:      func(e *Env) Finding { return multiLimit(e, true) },
			Fault:      "the votes of the roots left out, an equality for the sign of approximation",
			Faulty:     func(e *Env) Finding { return multiLimit(e, false) },
		},
		checked(Claim{
			ID: "construct-multi-step-scales", Title: "Construction 2 at finite scales", Section: "Multiple Parents Construction",
			Statement:  `for all $\beta_1,\beta_2>0$: $|f-f_\infty| \le k\beta_2(T-1)e^{-\beta_1} + (T-1)e^{-\beta_2/(T-1)}$ with $f_\infty$ the exact limit; against $\hat\pi$ the share of the attended positions that it does not count is added`,
			Hypotheses: multiHypotheses + `; $(\beta_1,\beta_2/(T-1))=(8,2),(10,5),(12,8)$`,
			Uses:       []string{"construct-multi-step-limit"},
			Fault:      `e^(-beta2) in place of e^(-beta2/(T-1))`,
		}, multiScales),
	}
}

const multiHypotheses = `all sequences; all graphs with two or three parents with $S=2$, $T\le5$, with $S=3$ or in every order of the parents $T\le4$; the 3-gram, the 4-gram and $p(i)=\{\lfloor (i-1)/2\rfloor, i-1\}$ with $S=2$, $T=8$`

// paperLists returns the parents of the nodes 1-based.
func paperLists(g *graph.DAG) [][]int {
	out := g.Parents()
	for i, ps := range out {
		out[i] = ints(ps)
	}
	return out
}

// limitTwo returns the positions that the query is said to attend to in
// Construction 2: the matches before T-1; T-1 itself; and if roots, the roots
// i < T-1 with x_0 = ... = x_i equal to each parent of the target.
func limitTwo(parents [][]int, x []int, roots bool) []int {
	last := len(x) - 1
	target := parents[last+1]
	var m []int
	same := true
	for _, q := range target {
		same = same && x[q] == x[0]
	}
	for i, ps := range parents[:last] {
		same = same && x[i] == x[0]
		match := len(ps) > 0
		for l, q := range ps {
			match = match && x[q] == x[target[l]]
		}
		if match || roots && same && len(ps) == 0 {
			m = append(m, i)
		}
	}
	return append(m, last)
}

// eachMulti calls f with the graphs and the numbers of tokens of multiHypotheses,
// until it returns false.
func eachMulti(f func(g *graph.DAG, s int) bool) {
	for t := 2; t <= 5; t++ {
		for k := 2; k <= min(t, 3); k++ {
			for s := 2; s <= 3; s++ {
				if t == 5 && s == 3 {
					continue
				}
				for _, g := range uniformGraphs(t, k, t < 5) {
					if !f(g, s) {
						return
					}
				}
			}
		}
	}
	for _, g := range []*graph.DAG{graph.NGram(8, 2), graph.NGram(8, 3), graph.Halves(8)} {
		if !f(g, 2) {
			return
		}
	}
}

// multiLimit compares the dense transformer of Construction 2 with its limit.
func multiLimit(e *Env, roots bool) Finding {
	c := comparison{tol: 1e-9}
	eachMulti(func(g *graph.DAG, s int) bool {
		t, parents := g.T(), g.Parents()
		k := model.ConstructionTwo(g, s)
		w := k.Weights(betaOne, betaTwo)
		for x := range task.Sequences(s, t) {
			at := limitTwo(parents, x, roots)
			c.equal(w.Linear(x).RawRowView(t-1), shares(at, x, s), func() Instance {
				return Instance{
					"S": s, "T": t, "parents of 1..T+1": paperLists(g), "s": ints(x), "said to be attended": ints(at),
					"f": fractions(k.Attended(x), x, s), "said to be": fractions(at, x, s),
				}
			})
		}
		return c.worst <= c.tol && e.Err() == nil
	})
	return c.finding(Exact, "T matches itself always, and is counted once whether or not its own parents match: its row of the first layer serves T+1. (Misprints: the displayed attention lacks the mask, and A_k stands for each A_l of the second layer.) The limit is a fraction of denominator at most T, so a deviation below rounding decides it.")
}

// multiScales compares Construction 2 at finite scales with the bound. In the
// first layer a head puts at most (T-1) e^-beta1 elsewhere than it should, so the
// scores are off by at most 2 k beta2 (T-1) e^-beta1, and weights by half of that in
// total variation; the largest score is k, the next at most k - 1/(T-1).
func multiScales(e *Env, faulty bool) Finding {
	var c scales
	eachMulti(func(g *graph.DAG, s int) bool {
		t, k := g.T(), model.ConstructionTwo(g, s)
		n, heads := float64(t-1), float64(len(g.Parents()[t]))
		gap := 1 / n
		if faulty {
			gap = 1
		}
		for _, beta := range [][2]float64{{8, 2 * n}, {10, 5 * n}, {12, 8 * n}} {
			w := k.Weights(beta[0], beta[1])
			bound := heads*beta[1]*n*math.Exp(-beta[0]) + n*math.Exp(-beta[1]*gap)
			for x := range task.Sequences(s, t) {
				c.compare(w, x, k.Attended(x), k.Matches(x), bound, func() Instance {
					return Instance{"S": s, "T": t, "parents of 1..T+1": paperLists(g), "s": ints(x), "beta1": beta[0], "beta2": beta[1]}
				})
			}
		}
		return !c.broken && e.Err() == nil
	})
	return c.finding()
}

// uniformGraphs returns all graphs on t positions and a target in which each
// position has k parents or none, the target k, in ascending order or in all.
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
		graphs[i] = dag(p)
	}
	return graphs
}

func dag(parents [][]int) *graph.DAG {
	g, err := graph.NewDAG(parents)
	if err != nil {
		panic("claims: " + err.Error())
	}
	return g
}

// multiTrend draws sequences of Task 2 and fits the mean of |f - pihat|_inf, f the
// exact limit of Construction 2, against T.
func multiTrend(e *Env, wrong bool) Finding {
	draws := e.Budget(1500, 300)
	lengths := []int{32, 64, 128, 256, 512, 1024}
	errors, undefined := map[string][]float64{}, map[string]float64{}
	var names []string
	for _, c := range []struct {
		name  string
		s     int
		graph func(t int) *graph.DAG
	}{
		{"3-gram", 2, func(t int) *graph.DAG { return graph.NGram(t, 2) }},
		{"halves", 2, graph.Halves},
		{"4-gram", 2, func(t int) *graph.DAG { return graph.NGram(t, 3) }},
		{"3-gram", 3, func(t int) *graph.DAG { return graph.NGram(t, 2) }},
		{"halves", 3, graph.Halves},
	} {
		name := fmt.Sprintf("%s, S = %d", c.name, c.s)
		names = append(names, name)
		for _, t := range lengths {
			p := c.graph(t).Parents()
			meant := model.ConstructionTwo(c.graph(t), c.s)
			built := meant
			if wrong {
				built = model.ConstructionTwo(dag(append(p[:t:t], p[t-1])), c.s)
			}
			r := rand.New(e.Stream(name, uint64(t)))
			pi := unevenTensor(c.s, len(p[t]))
			sum, defined := 0.0, 0
			x := make([]int, t)
			for range draws {
				for i := range x {
					x[i] = r.IntN(c.s)
					if p[i] != nil {
						row := 0
						for _, q := range p[i] {
							row = c.s*row + x[q]
						}
						x[i] = 0
						for u := r.Float64() - pi[row][0]; u >= 0 && x[i] < c.s-1; u -= pi[row][x[i]] {
							x[i]++
						}
					}
				}
				if m := meant.Matches(x); m != nil {
					defined++
					sum += distance(shares(built.Attended(x), x, c.s), shares(m, x, c.s))
				}
			}
			errors[name] = append(errors[name], sum/float64(defined))
			undefined[name] = 1 - float64(defined)/float64(draws)
		}
	}
	return decay(lengths, names, errors, undefined, draws)
}

// unevenTensor returns transitions from k parents over s tokens, row by row, with
// entries in proportion to 1, 2, ..., s, begun at a place that the row decides.
func unevenTensor(s, k int) [][]float64 {
	rows := 1
	for range k {
		rows *= s
	}
	pi := make([][]float64, rows)
	for r := range pi {
		pi[r] = make([]float64, s)
		for a := range s {
			pi[r][a] = float64((a+r+r/s)%s+1) / float64(s*(s+1)/2)
		}
	}
	return pi
}

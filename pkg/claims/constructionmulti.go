package claims

import (
	"math/rand/v2"

	"learncausal/pkg/model"
)

// multiClaims are the claims about Construction 2.
func multiClaims() []Claim {
	return []Claim{
		{
			ID: "construct-multi", Title: "Construction 2 approximates the empirical transition of k parents", Section: "Causal Graphs with Multiple Parents",
			Statement:  `the limit of the two-layer construction with $k$ heads satisfies $f(s_{1:T})_{s'} \approx \hat\pi_{s_{1:T}}(s'\mid s_{p(T+1)_1},\dots,s_{p(T+1)_k})$: the difference falls like $1/T$`,
			Hypotheses: `$\hat\pi$ is defined; two parents, $S=2$, $T=16,\dots,512$, on the 3-gram and on $p(i)=\{\lfloor (i-1)/2\rfloor, i-1\}$`,
			Uses:       []string{"construct-multi-step-limit"},
			Check:      func(e *Env) Finding { return multiTrend(e, false) },
			Fault:      "the heads of the query attend to the parents of T, not of T+1",
			Faulty:     func(e *Env) Finding { return multiTrend(e, true) },
		},
		{
			ID: "construct-multi-step-limit", Title: "Construction 2, its exact limit", Section: "Multiple Parents Construction", Quick: true,
			Statement:  `as $\beta_1,\beta_2\to\infty$: $f_{s'} \approx \frac{\mathbf 1(s_T=s')+\sum_{i<T}\mathbf 1(s_i=s',\,s_{p(i)_\ell}=s_{p(T+1)_\ell}\forall\ell)}{1+\sum_{j<T}\mathbf 1(s_{p(j)_\ell}=s_{p(T+1)_\ell}\forall\ell)}$ up to the votes of some first roots (the footnote): exactly, $k_0$ more votes for $s_1$, $k_0$ the roots $i<T$ with $s_1=\dots=s_i=s_{p(T+1)_\ell}$ for all $\ell$; hence $|f-\hat\pi| \le (1+k_0)/(1+k_0+n)$, $n$ the matching positions before $T$`,
			Hypotheses: `two parents, $S=2$, graphs with $T\le5$, all sequences; compared with the dense transformer at $\beta_1=200$, $\beta_2=10^4$`,
			Check:      func(e *Env) Finding { return multiLimit(e, true) },
			Fault:      "the votes of the roots left out, an equality for the sign of approximation",
			Faulty:     func(e *Env) Finding { return multiLimit(e, false) },
		},
	}
}

// A parentTable lists the parents of the positions 0..T of Task 2, T+1 of them,
// the last for the target; a root has none, all others equally many.
type parentTable [][]int

func (p parentTable) T() int { return len(p) - 1 }

// heads returns k, the number of parents of a position that has any.
func (p parentTable) heads() int { return len(p[p.T()]) }

// paperLists returns the parents 1-based.
func (p parentTable) paperLists() [][]int {
	out := make([][]int, len(p))
	for i, q := range p {
		out[i] = ints(q)
	}
	return out
}

// matches tells whether the parents of i have the values of the target's.
func (p parentTable) matches(x []int, i int) bool {
	for l, q := range p[i] {
		if x[q] != x[p[p.T()][l]] {
			return false
		}
	}
	return len(p[i]) > 0
}

// empirical returns the positions 0..T-1 that enter the empirical transition.
func (p parentTable) empirical(x []int) []int {
	var m []int
	for i := range x {
		if p.matches(x, i) {
			m = append(m, i)
		}
	}
	return m
}

// limit returns the positions that the query attends to in Construction 2 as
// beta1 -> inf and then beta2 -> inf: the matches before T-1; T-1 itself; and if
// roots, the roots i < T-1 with x_0 = ... = x_i equal to each parent of the
// target.
func (p parentTable) limit(x []int, roots bool) []int {
	t := p.T()
	var m []int
	same := true
	for _, q := range p[t] {
		same = same && x[q] == x[0]
	}
	for i := range t - 1 {
		same = same && x[i] == x[0]
		if p.matches(x, i) || roots && same && len(p[i]) == 0 {
			m = append(m, i)
		}
	}
	return append(m, t-1)
}

// construct returns the dense transformer of Construction 2 over s tokens.
func (p parentTable) construct(s int) *model.Weights {
	t, k := p.T(), p.heads()
	w := model.NewWeights(s, t, k, 1)
	d := s + t
	d1 := (k + 1) * d
	for l := range k {
		for i := range t {
			from := p[i]
			if i == t-1 {
				from = p[t]
			}
			if len(from) > 0 {
				w.A[0][l][(s+i)*d+s+from[l]] = betaOne
			}
		}
		for a := range s {
			w.A[1][0][((l+1)*d+a)*d1+(l+1)*d+a] = betaTwo
		}
	}
	for a := range s {
		w.W[(d1+a)*s+a] = 1
	}
	return w
}

// multiLimit compares the dense transformer of Construction 2 with its limit
// for all two-parent graphs and sequences of two tokens up to T = 5.
func multiLimit(e *Env, roots bool) Finding {
	const s = 2
	c := comparison{tol: 1e-9}
	for t := 2; t <= 5; t++ {
		for _, p := range twoParents(t) {
			if c.worst > c.tol && c.instance["T"] != t {
				break
			}
			w := p.construct(s)
			sequences(s, t, func(x []int) bool {
				at := p.limit(x, roots)
				c.equal(w.Linear(x).RawRowView(t-1), shares(at, x, s), func() Instance {
					return Instance{
						"S": s, "T": t, "parents of 1..T+1": p.paperLists(), "s": ints(x), "said to be attended": ints(at),
						"f": fractions(p.limit(x, true), x, s), "said to be": fractions(at, x, s),
					}
				})
				return true
			})
		}
	}
	return c.finding(Exact, "T matches itself always, and is counted once whether or not its own parents match: its row of the first layer serves T+1.")
}

// twoParents returns all graphs on t positions and a target in which each
// position has two parents or none, the target two.
func twoParents(t int) []parentTable {
	all := []parentTable{{}}
	for i := range t + 1 {
		var next []parentTable
		for _, p := range all {
			if i < t {
				next = append(next, append(p[:i:i], nil))
			}
			for b := range i {
				for a := range b {
					next = append(next, append(p[:i:i], []int{a, b}))
				}
			}
		}
		all = next
	}
	return all
}

// multiTrend draws sequences of Task 2 with k = 2 and fits the mean of
// |f - pihat|_inf, f the exact limit of Construction 2, against T.
func multiTrend(e *Env, wrong bool) Finding {
	const s = 2
	pi := [][]float64{{0.8, 0.2}, {0.3, 0.7}, {0.55, 0.45}, {0.25, 0.75}} // by 2 a + b
	draws := e.Budget(2000, 300)
	lengths := []int{16, 32, 64, 128, 256, 512}
	names := []string{"3-gram", "halves"}
	errors, undefined := map[string][]float64{}, map[string]float64{}
	for k, name := range names {
		for _, t := range lengths {
			p := make(parentTable, t+1)
			for i := 2; i <= t; i++ {
				if k == 0 {
					p[i] = []int{i - 2, i - 1}
				} else if j := i / 2; j >= 1 && j-1 < i-1 {
					p[i] = []int{j - 1, i - 1} // floor((i-1)/2) and i-1, 1-based
				}
			}
			built := p
			if wrong {
				built = append(p[:t:t], p[t-1])
			}
			r := rand.New(e.Stream(name, uint64(t)))
			sum, defined := 0.0, 0
			x := make([]int, t)
			for range draws {
				for i := range x {
					q := []float64{0.5, 0.5}
					if p[i] != nil {
						q = pi[2*x[p[i][0]]+x[p[i][1]]]
					}
					x[i] = int(unit(r.Float64() >= q[0]))
				}
				if m := p.empirical(x); m != nil {
					defined++
					sum += distance(shares(built.limit(x, true), x, s), shares(m, x, s))
				}
			}
			errors[name] = append(errors[name], sum/float64(defined))
			undefined[name] = 1 - float64(defined)/float64(draws)
		}
	}
	return decay(lengths, names, errors, undefined, draws)
}

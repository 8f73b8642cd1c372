package claims

import (
	"fmt"
	"math"

	"learncausal/pkg/graph"
	"learncausal/pkg/model"
	"learncausal/pkg/task"
)

const sectionConstruction = "What does the Transformer Learn?"

func constructionClaims() []Claim {
	return append([]Claim{
		{
			ID: "construct-single", Title: "Construction 1 approximates the empirical transition", Section: sectionConstruction,
			Statement:  `the limit $\beta_1,\beta_2\to\infty$ of the construction satisfies $f(s_{1:T})_{s'} \approx \hat\pi_{s_{1:T}}(s'\mid s_T)$: the difference falls like $1/T$`,
			Hypotheses: `$s_T$ is the value of some parent, so that $\hat\pi$ is defined; $T=16,\dots,512$ on chain, in-context graph, binary tree, star, spider`,
			Uses:       []string{"construct-single-step-limit"},
			Check:      func(e *Env) Finding { return singleTrend(e, false) },
			Fault:      "the first attention follows another graph",
			Faulty:     func(e *Env) Finding { return singleTrend(e, true) },
		},
		{
			ID: "construct-single-step-limit", Title: "Construction 1, its limit as the proof states it", Section: sectionConstruction, Quick: true,
			Statement:  `as $\beta_1,\beta_2\to\infty$ the query attends equally to the $i$ with $s_{p(i)}=s_T$ and to no others, so $f = \hat\pi_{s_{1:T}}(\cdot\mid s_T)$`,
			Hypotheses: `some $i$ has $s_{p(i)}=s_T$`,
			Corrected:  "construct-single-step-limit-corrected",
			Check:      func(e *Env) Finding { return singleLimit(e, printedLimit) },
			Fault:      "parent and child exchanged",
			Faulty:     func(e *Env) Finding { return singleLimit(e, childLimit) },
		},
		{
			ID: "construct-single-step-limit-corrected", Title: "Construction 1, its exact limit", Section: sectionConstruction, Quick: true,
			Statement:  `$f = (n\hat\pi + k e_{s_T})/(n+k)$, with $n$ the positions whose parent equals $s_T$ and $k$ the roots $i$ with $s_1=\dots=s_i=s_T$, so $|f-\hat\pi| \le k/(n+k)$; for $n+k=0$ the query attends to the roots with the largest share of $s_T$ before them, $T$ included`,
			Hypotheses: `all forests with $T\le5$ and all sequences over two and three tokens; compared with the dense transformer at $\beta_1=200$, $\beta_2=10^4$`,
			Check:      func(e *Env) Finding { return singleLimit(e, exactLimit) },
			Fault:      "of the roots, only position 1 counted",
			Faulty:     func(e *Env) Finding { return singleLimit(e, firstRootLimit) },
		},
		{
			ID: "construct-single-step-stream", Title: "Construction 1, the residual stream of the query", Section: sectionConstruction, Quick: true,
			Statement:  `the last block of $h^{(2)}_T$ is $\tilde x_T$`,
			Hypotheses: `some $i$ has $s_{p(i)}=s_T \ne s_1$, so that the limit is as stated`,
			Corrected:  "construct-single-step-stream-corrected",
			Check:      func(e *Env) Finding { return singleStream(e, 0) },
			Fault:      "the second block for the last",
			Faulty:     func(e *Env) Finding { return singleStream(e, 2) },
		},
		{
			ID: "construct-single-step-stream-corrected", Title: "Construction 1, the last block of the stream", Section: sectionConstruction, Quick: true,
			Statement:  `the last block of $h^{(2)}_T$ is the mean of $\tilde x_{p(i)}$ over the attended $i$; its token part is $e_{s_T}$, its position part is not $e_T$`,
			Hypotheses: `some $i$ has $s_{p(i)}=s_T \ne s_1$`,
			Check:      func(e *Env) Finding { return singleStream(e, 1) },
			Fault:      "the second block for the last",
			Faulty:     func(e *Env) Finding { return singleStream(e, 2) },
		},
		checked(Claim{
			ID: "construct-single-step-scales", Title: "Construction 1 at finite scales", Section: sectionConstruction, Quick: true,
			Statement:  `for all $\beta_1,\beta_2>0$: $|f-f_\infty| \le \frac12\beta_2(T-2)e^{-\beta_1} + (T-1)e^{-\beta_2/(T(T-1))}$ with $f_\infty$ the exact limit; against $\hat\pi$ the share $k/(n+k)$ is added`,
			Hypotheses: `all forests with $T\le5$ and all sequences over two and three tokens; $(\beta_1,\beta_2/(T(T-1)))=(8,2),(10,5),(12,8)$`,
			Uses:       []string{"construct-single-step-limit-corrected"},
			Fault:      `e^(-beta2) in place of e^(-beta2/(T(T-1)))`,
		}, singleScales),
	}, multiClaims()...)
}

// shares returns the law of x_i for i uniform on the positions.
func shares(positions, x []int, s int) []float64 {
	f := make([]float64, s)
	for _, i := range positions {
		f[x[i]]++
	}
	for a := range f {
		f[a] /= float64(len(positions))
	}
	return f
}

// These return the positions that the query is said to attend to, nil where
// that says nothing.
func printedLimit(g *graph.Forest, x []int) []int {
	var m []int
	for i := range x {
		if p := g.Parent(i); p != graph.Root && x[p] == x[len(x)-1] {
			m = append(m, i)
		}
	}
	return m
}

func childLimit(g *graph.Forest, x []int) []int {
	var m []int
	for i := range x {
		if p := g.Parent(i); p != graph.Root && x[i] == x[len(x)-1] {
			m = append(m, p)
		}
	}
	return m
}

func exactLimit(g *graph.Forest, x []int) []int {
	m, query := printedLimit(g, x), x[len(x)-1]
	same := true
	for i := range x {
		same = same && x[i] == query
		if same && g.Parent(i) == graph.Root {
			m = append(m, i)
		}
	}
	if m != nil {
		return m
	}
	// The maximum is below 1, at roots.
	num, den, seen := 0, 1, 0
	for i := range x {
		seen += int(unit(x[i] == query))
		if g.Parent(i) != graph.Root {
			continue
		}
		switch diff := seen*den - num*(i+1); {
		case diff > 0:
			m, num, den = []int{i}, seen, i+1
		case diff == 0:
			m = append(m, i)
		}
	}
	return m
}

func firstRootLimit(g *graph.Forest, x []int) []int {
	m := printedLimit(g, x)
	if m != nil && x[0] == x[len(x)-1] {
		m = append(m, 0)
	}
	return m
}

// Scales of the constructions at which what is left of the softmax is below
// rounding: the scores of two roots differ by at least 1/T^2.
const betaOne, betaTwo = 200, 1e4

// singleLimit compares the dense transformer, on all forests and sequences up
// to T = 5, with the law of x_i over the positions that limit names.
func singleLimit(e *Env, limit func(*graph.Forest, []int) []int) Finding {
	c := comparison{tol: 1e-9}
	for _, st := range [][2]int{{2, 2}, {2, 3}, {2, 4}, {2, 5}, {3, 4}, {3, 5}}[:e.Budget(6, 4)] {
		s, t := st[0], st[1]
		for g := range graph.All(t) {
			if e.Err() != nil || c.worst > c.tol && c.instance["T"] != t {
				continue
			}
			k := model.ConstructionOne(g, s)
			w := k.Weights(betaOne, betaTwo)
			for x := range task.Sequences(s, t) {
				at := limit(g, x)
				if at == nil {
					continue
				}
				dense := w.Linear(x).RawRowView(t - 1)
				c.equal(dense, shares(at, x, s), func() Instance {
					return Instance{
						"S": s, "T": t, "graph": parentList(g), "s": ints(x),
						"attended": ints(k.Attended(x)), "said to be attended": ints(at),
						"f": fractions(k.Attended(x), x, s), "said to be": fractions(at, x, s),
					}
				})
			}
		}
	}
	f := c.finding(Exact, "For each sequence the limit is a fraction of denominator at most T, so that a deviation below rounding decides it; how near finite scales come to it is construct-single-step-scales.")
	if f.Verdict == Fails {
		f.Note = "Position 1 is a root, attends to itself and scores 1 when s_1 = s_T; so does every root behind a constant prefix. It adds a vote for s_T, at most a share k/(n+k): Construction 1, which says approximately, survives. (The displayed score also carries beta_2 twice.)"
	}
	return f
}

// singleScales compares Construction 1 at finite scales with the bound. In the
// first layer a position with a parent puts at most (T-2) e^-beta1 elsewhere, so
// its score is off by at most beta2 (T-2) e^-beta1, and weights by half of that in
// total variation; scores are fractions of denominator at most T times beta2, so the
// largest exceeds the others by beta2/(T(T-1)).
func singleScales(e *Env, faulty bool) Finding {
	var c scales
	for _, st := range [][2]int{{2, 2}, {2, 3}, {2, 4}, {2, 5}, {3, 4}, {3, 5}}[:e.Budget(6, 5)] {
		s, t := st[0], st[1]
		n := float64(t)
		pairs := n * (n - 1)
		gap := 1 / pairs
		if faulty {
			gap = 1
		}
		for g := range graph.All(t) {
			if e.Err() != nil || c.broken {
				continue
			}
			k := model.ConstructionOne(g, s)
			for _, beta := range [][2]float64{{8, 2 * pairs}, {10, 5 * pairs}, {12, 8 * pairs}} {
				w := k.Weights(beta[0], beta[1])
				bound := beta[1]*(n-2)*math.Exp(-beta[0])/2 + (n-1)*math.Exp(-beta[1]*gap)
				for x := range task.Sequences(s, t) {
					c.compare(w, x, k.Attended(x), k.Matches(x), bound, func() Instance {
						return Instance{"S": s, "T": t, "graph": parentList(g), "s": ints(x), "beta1": beta[0], "beta2": beta[1]}
					})
				}
			}
		}
	}
	return c.finding()
}

// A scales keeps the worst instance of the bounds on a construction at finite
// scales.
type scales struct {
	n        int
	broken   bool
	margin   float64
	lhs, rhs float64
	largest  float64 // deviation from the limit
	instance Instance
}

// compare compares the output for x with the law of x_i over the attended
// positions, and over those that count in the empirical transition, if any. What
// rounding does to the output is less than 1e-12, as scores are below 1000.
func (c *scales) compare(w *model.Weights, x, attended, counted []int, bound float64, instance func() Instance) {
	f := w.Linear(x).RawRowView(len(x) - 1)
	take := func(lhs, rhs float64) {
		if m := Slack(lhs, rhs); c.n == 0 || m < c.margin {
			c.margin, c.lhs, c.rhs, c.instance = m, lhs, rhs, instance()
		}
		c.n++
		c.broken = c.broken || lhs+1e-12 > rhs
	}
	deviation := distance(f, shares(attended, x, w.S))
	c.largest = max(c.largest, deviation)
	take(deviation, bound)
	if counted != nil {
		take(distance(f, shares(counted, x, w.S)), bound+1-float64(len(counted))/float64(len(attended)))
	}
}

func (c *scales) finding() Finding {
	f := Finding{Tier: Exact, Verdict: Holds, LHS: c.lhs, RHS: c.rhs, Margin: c.margin, Instance: c.instance, Instances: c.n}
	if c.broken {
		f.Verdict, f.Witness = Fails, c.instance
		return f
	}
	f.Note = fmt.Sprintf("True for all: the first term is the first layer's leak, by way of the scores, the second is what the other positions weigh. Evaluated by enumeration, with the rounding error below the margins; largest |f − f_∞| %.2g.", c.largest)
	return f
}

// fractions writes the law of x_i over the positions.
func fractions(positions, x []int, s int) []string {
	out := make([]string, s)
	for a, p := range shares(positions, x, s) {
		out[a] = fmt.Sprintf("%d/%d", int(math.Round(p*float64(len(positions)))), len(positions))
	}
	return out
}

// singleStream compares a block of the query's last residual stream: as
// printed (0), corrected (1), or the second block with the corrected value (2).
func singleStream(e *Env, version int) Finding {
	const s = 2
	c := comparison{tol: 1e-9}
	for t := 3; t <= e.Budget(5, 4); t++ {
		d := s + t
		for g := range graph.All(t) {
			w := model.ConstructionOne(g, s).Weights(betaOne, betaTwo)
			for x := range task.Sequences(s, t) {
				at := printedLimit(g, x)
				if at == nil || x[0] == x[t-1] || c.worst > c.tol && c.instance["T"] != t {
					continue
				}
				want := make([]float64, d)
				if version == 0 {
					want[x[t-1]], want[s+t-1] = 1, 1
				} else {
					for _, i := range at {
						p := g.Parent(i)
						want[x[p]] += 1 / float64(len(at))
						want[s+p] += 1 / float64(len(at))
					}
				}
				block := w.Stream(x).RawRowView(t - 1)[3*d:]
				if version == 2 {
					block = w.Stream(x).RawRowView(t - 1)[d : 2*d]
				}
				c.equal(block, want, func() Instance {
					return Instance{"S": s, "T": t, "graph": parentList(g), "s": ints(x), "attended": ints(at), "block": decimals(rounded(block), d)[0], "said to be": decimals(want, d)[0]}
				})
			}
		}
	}
	f := c.finding(Exact, "The second layer copies the stream of the attended positions, whose second block is their parents'.")
	if version == 0 {
		f.Note = "The second attention copies what the attended positions copied, their parents: tokens s_T, but their own positions. A slip without consequence, as W_O does not read this block."
	}
	return f
}

// rounded returns the vector to 9 decimals.
func rounded(v []float64) []float64 {
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = math.Round(x*1e9) / 1e9
	}
	return out
}

// singleTrend draws sequences and fits the mean of |f - pihat|_inf, f the exact
// limit of Construction 1, against T. wrong builds it for another graph.
func singleTrend(e *Env, wrong bool) Finding {
	prior := unevenPrior()
	draws := e.Budget(2000, 300)
	lengths := []int{16, 32, 64, 128, 256, 512}
	errors, undefined := map[string][]float64{}, map[string]float64{}
	var names []string
	for _, t := range lengths {
		for _, n := range e.families(t)[:5] {
			if e.Err() != nil {
				return Finding{Tier: ConsistentWith, Verdict: Open}
			}
			k := task.Task{Graph: n.Graph, Prior: prior}
			b := k.NewBatch(draws)
			task.NewSampler(k).Fill(b, e.Stream(n.Name, uint64(t)))
			meant := model.ConstructionOne(n.Graph, 3)
			built := meant
			if wrong {
				built = model.ConstructionOne(graph.Grow(t, func(i int) int { return i / 3 }), 3)
			}
			sum, defined := 0.0, 0
			for r := range draws {
				x, _ := b.Seq(r)
				m := meant.Matches(x)
				if m == nil {
					continue
				}
				defined++
				sum += distance(shares(built.Attended(x), x, 3), shares(m, x, 3))
			}
			if t == lengths[0] {
				names = append(names, n.Name)
			}
			errors[n.Name] = append(errors[n.Name], sum/float64(defined))
			undefined[n.Name] = 1 - float64(defined)/float64(draws)
		}
	}
	return decay(lengths, names, errors, undefined, draws)
}

// distance returns the largest difference of two entries.
func distance(p, q []float64) float64 {
	d := 0.0
	for a := range p {
		d = max(d, math.Abs(p[a]-q[a]))
	}
	return d
}

// decay is Consistent if each error falls with an exponent of at most -0.7, its
// interval included: the claimed -1, but for logarithms and small T.
func decay(lengths []int, names []string, errors map[string][]float64, undefined map[string]float64, draws int) Finding {
	f := Finding{Tier: ConsistentWith, Verdict: Consistent, LHS: math.Inf(-1), RHS: -0.7, Instances: draws * len(lengths) * len(names), Seed: Seed}
	ts := make([]float64, len(lengths))
	for i, t := range lengths {
		ts[i] = float64(t)
	}
	for _, name := range names {
		slope, half := trend(ts, errors[name])
		f.Note += fmt.Sprintf("%s: exponent %.2f ± %.2f, %.1e at T = %d, undefined in %.2g of the draws. ", name, slope, half, errors[name][len(ts)-1], lengths[len(ts)-1], undefined[name])
		if slope+half > f.LHS {
			f.LHS = slope + half
			f.Instance = Instance{"graph": name, "T": lengths, "error": decimals(errors[name], len(ts))[0]}
		}
	}
	f.Margin = Slack(f.LHS, f.RHS)
	if f.Margin < 0 {
		f.Verdict, f.Witness = Inconsistent, f.Instance
	}
	return f
}

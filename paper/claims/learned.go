package claims

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"

	"learncausal/pkg/exact"
	"learncausal/pkg/graph"
	"learncausal/pkg/ledger"
	"learncausal/pkg/markov"
	"learncausal/pkg/model"
	"learncausal/pkg/num"
	"learncausal/pkg/task"
	"learncausal/pkg/theory"
)

// learned is the section on what the transformer learns: Construction 1, and the
// reduced model.
var learned = ledger.Section{Title: "What does the Transformer Learn?", Claims: []ledger.Claim{
	constructSingle, constructSingleLimit, constructSingleLimitCorrected,
	constructSingleStream, constructSingleStreamCorrected, constructSingleScales, lemRewriteTF,
}}

var constructSingle = ledger.Claim{
	ID: "construct-single", Number: "Construction 1", Title: "Construction 1 approximates the empirical transition",
	Statement:  `the limit $\beta_1,\beta_2\to\infty$ of the construction satisfies $f(s_{1:T})_{s'} \approx \hat\pi_{s_{1:T}}(s'\mid s_T)$: the difference falls like $1/T$`,
	Hypotheses: `$s_T$ is the value of some parent, so that $\hat\pi$ is defined; $T=16,\dots,512$ on chain, in-context graph, binary tree, star, spider`,
	Uses:       []string{"construct-single-step-limit"},
	Check:      singleParentTrend(func(g *graph.Forest) *graph.Forest { return g }),
	Faults: []ledger.Fault{{
		What: "the first attention follows another graph",
		Check: singleParentTrend(func(g *graph.Forest) *graph.Forest {
			return graph.Grow(g.T(), func(i int) int { return i / 3 })
		}),
	}},
}

// singleParentTrend draws sequences and fits the mean of |f - pihat|_inf, f the
// exact limit of Construction 1 for the graph that built returns, against T.
func singleParentTrend(built func(g *graph.Forest) *graph.Forest) ledger.Check {
	return func(e *ledger.Env) ledger.Finding {
		prior := unevenPrior()
		d := decays{draws: e.Budget(2000, 300), lengths: []int{16, 32, 64, 128, 256, 512}}
		for _, name := range []string{"chain", "in-context", "star", "binary tree", "spider"} {
			var means []deviation
			for _, t := range d.lengths {
				if e.Err() != nil {
					return ledger.Finding{Tier: ledger.ConsistentWith, Verdict: ledger.Open}
				}
				g := graph.FamilyNamed(name).New(t)
				k := task.Task{Graph: g, Prior: prior}
				b := k.NewBatch(d.draws)
				task.NewSampler(k).Fill(b, e.Stream(name, uint64(t)))
				meant, other := model.ConstructionOne(g, 3), model.ConstructionOne(built(g), 3)
				var mean deviation
				for r := range d.draws {
					x, _ := b.Seq(r)
					mean.add(other.Attended(x), meant.Matches(x), x, 3)
				}
				means = append(means, mean)
			}
			d.add(name, means)
		}
		return d.finding()
	}
}

// A deviation is the mean over sequences of |f - pihat|_inf, where pihat is
// defined.
type deviation struct {
	sum            float64
	defined, drawn int
}

// add takes a sequence over s tokens: the positions that f averages over, and
// those that count in pihat, nil where it is not defined.
func (d *deviation) add(attended, counted, x []int, s int) {
	d.drawn++
	if counted != nil {
		d.defined++
		d.sum += distance(shares(attended, x, s), shares(counted, x, s))
	}
}

// decays are the deviations of several graphs by length.
type decays struct {
	draws   int
	lengths []int
	worst   ledger.Finding
	any     bool
	note    string
	graphs  int
}

// add takes the deviations of a graph, and fits their exponent.
func (d *decays) add(name string, means []deviation) {
	var fit ledger.Trend
	for i, m := range means {
		fit.Add(float64(d.lengths[i]), m.sum/float64(m.defined))
	}
	last := len(means) - 1
	exponent, half := fit.Exponent()
	d.note += fmt.Sprintf("%s: exponent %.2f ± %.2f, %.1e at T = %d, undefined in %.2g of the draws. ", name,
		exponent, half, fit.Y[last], d.lengths[last], 1-float64(means[last].defined)/float64(means[last].drawn))
	d.graphs++
	if !d.any || !(exponent+half <= d.worst.LHS) {
		d.any, d.worst.LHS = true, exponent+half
		d.worst.Instance = ledger.Instance{"graph": name, "T": d.lengths, "error": fit.Y}
	}
}

// finding is Consistent if each deviation falls with an exponent of at most -0.7,
// its interval included: the claimed -1, but for logarithms and small T.
func (d *decays) finding() ledger.Finding {
	f := d.worst
	f.Tier, f.Verdict, f.RHS, f.Note = ledger.ConsistentWith, ledger.Consistent, -0.7, d.note
	f.Instances = d.draws * len(d.lengths) * d.graphs
	if f.Margin = ledger.Slack(f.LHS, f.RHS); !(f.Margin >= 0) {
		f.Verdict, f.Witness = ledger.Inconsistent, &ledger.Witness{Instance: f.Instance}
	}
	return f
}

// shares returns the law of x_i over s tokens for i uniform on the positions.
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

// exactShares is shares in rationals, as a matrix of one row.
func exactShares(positions, x []int, s int) exact.Matrix {
	f := exact.Zero(1, s)
	for _, i := range positions {
		f[0][x[i]].Add(f[0][x[i]], exact.Frac(1, int64(len(positions))))
	}
	return f
}

// distance returns the largest difference of two entries.
func distance(p, q []float64) float64 {
	d := 0.0
	for a := range p {
		d = max(d, math.Abs(p[a]-q[a]))
	}
	return d
}

var constructSingleLimit = ledger.Claim{
	ID: "construct-single-step-limit", Number: "Construction 1", Kind: ledger.Step, Title: "Construction 1, its limit as the proof states it", Quick: true,
	Statement:  `as $\beta_1,\beta_2\to\infty$ the query attends equally to the $i$ with $s_{p(i)}=s_T$ and to no others, so $f = \hat\pi_{s_{1:T}}(\cdot\mid s_T)$`,
	Hypotheses: `some $i$ has $s_{p(i)}=s_T$`,
	Corrected:  "construct-single-step-limit-corrected",
	Check: func(e *ledger.Env) ledger.Finding {
		f := singleParentLimit(childrenOfMatches)(e)
		if f.Failed() {
			f.Note = "Position 1 is a root, attends to itself and scores 1 when s_1 = s_T; so does every root behind a constant prefix. It adds a vote for s_T, at most a share k/(n+k): Construction 1, which says approximately, survives. (The displayed score also carries beta_2 twice.)"
		}
		return f
	},
	Faults: []ledger.Fault{{What: "parent and child exchanged", Check: singleParentLimit(parentsOfMatches)}},
}

var constructSingleLimitCorrected = ledger.Claim{
	ID: "construct-single-step-limit-corrected", Number: "Construction 1", Title: "Construction 1, its exact limit", Quick: true,
	Statement:  `$f = (n\hat\pi + k e_{s_T})/(n+k)$, with $n$ the positions whose parent equals $s_T$ and $k$ the roots $i$ with $s_1=\dots=s_i=s_T$, so $|f-\hat\pi| \le k/(n+k)$; for $n+k=0$ the query attends to the roots with the largest share of $s_T$ before them, $T$ included`,
	Hypotheses: `all forests with $T\le5$ and all sequences over two and three tokens; compared with the dense transformer at $\beta_1=200$, $\beta_2=10^4$`,
	Check:      singleParentLimit(childrenAndFirstRoots),
	Faults:     []ledger.Fault{{What: "of the roots, only position 1 counted", Check: singleParentLimit(childrenAndPositionOne)}},
}

// childrenOfMatches returns the positions whose parent holds the query's token;
// these and the next three say what the query attends to in the limit, nil where
// they say nothing.
func childrenOfMatches(g *graph.Forest, x []int) []int {
	var m []int
	for i := range x {
		if p := g.Parent(i); p != graph.Root && x[p] == x[len(x)-1] {
			m = append(m, i)
		}
	}
	return m
}

// parentsOfMatches returns the parents of the positions that hold the query's
// token.
func parentsOfMatches(g *graph.Forest, x []int) []int {
	var m []int
	for i := range x {
		if p := g.Parent(i); p != graph.Root && x[i] == x[len(x)-1] {
			m = append(m, p)
		}
	}
	return m
}

// childrenAndFirstRoots adds the roots behind which the sequence is constant; if
// there are none of either, it returns the roots with the largest share of the
// query's token up to them.
func childrenAndFirstRoots(g *graph.Forest, x []int) []int {
	m, query := childrenOfMatches(g, x), x[len(x)-1]
	for i := 0; i < len(x) && x[i] == query; i++ {
		if g.Parent(i) == graph.Root {
			m = append(m, i)
		}
	}
	if m != nil {
		return m
	}
	matches, of, seen := 0, 1, 0 // the largest share is matches/of, below one
	for i := range x {
		if x[i] == query {
			seen++
		}
		if g.Parent(i) != graph.Root {
			continue
		}
		switch more := seen*of - matches*(i+1); {
		case more > 0:
			m, matches, of = []int{i}, seen, i+1
		case more == 0:
			m = append(m, i)
		}
	}
	return m
}

// childrenAndPositionOne adds position 1 alone.
func childrenAndPositionOne(g *graph.Forest, x []int) []int {
	m := childrenOfMatches(g, x)
	if m != nil && x[0] == x[len(x)-1] {
		m = append(m, 0)
	}
	return m
}

// Scales of the constructions at which what is left of the softmax is below
// rounding: the scores of two roots differ by at least 1/T^2.
const (
	betaOne, betaTwo = 200, 1e4
	scaleTolerance   = 1e-9
)

// smallSizes are S and T of the constructions' enumerations, by rising T.
var smallSizes = [][2]int{{2, 2}, {2, 3}, {2, 4}, {2, 5}, {3, 4}, {3, 5}}

// singleParentLimit compares, on all forests and sequences up to T = 5, the law
// of x_i over the positions that limit names with the one over the positions of
// largest score, and that one with the output of the dense transformer.
func singleParentLimit(limit func(*graph.Forest, []int) []int) ledger.Check {
	return func(e *ledger.Env) ledger.Finding {
		var dense, law ledger.Worst
		for _, st := range smallSizes[:e.Budget(6, 4)] {
			s, t := st[0], st[1]
			for g := range graph.All(t) {
				if e.Err() != nil || law.Failed() || dense.Failed() {
					break
				}
				k := model.ConstructionOne(g, s)
				w := k.Weights(betaOne, betaTwo)
				for x := range task.Sequences(s, t) {
					said, attended := limit(g, x), k.Attended(x)
					if said == nil {
						continue
					}
					at := func() ledger.Instance {
						return ledger.Instance{
							"S": s, "T": t, "graph": g, "X": ledger.OneBased(x),
							"attended": ledger.OneBased(attended), "said to be attended": ledger.OneBased(said),
						}
					}
					dense.Equal(w.Linear(x).RawRowView(t-1), shares(attended, x, s), scaleTolerance, at)
					law.EqualMatrix("", exactShares(attended, x, s), exactShares(said, x, s), at)
				}
			}
		}
		return limitFinding(&dense, &law, "For each sequence the limit is a fraction of denominator at most T, so that a deviation below rounding decides it; how near finite scales come to it is Construction 1 (construct-single-step-scales).")
	}
}

// limitFinding is that of law, unless the dense transformer differs from the law
// over the positions of largest score.
func limitFinding(dense, law *ledger.Worst, note string) ledger.Finding {
	if dense.Failed() {
		return dense.Finding("The dense transformer does not attend to the positions of largest score.")
	}
	f := law.Finding(note)
	if f.Verdict == ledger.Holds {
		f.Note = dense.Finding(note).Note // with the largest deviation
	}
	return f
}

var constructSingleStream = ledger.Claim{
	ID: "construct-single-step-stream", Number: "Construction 1", Kind: ledger.Step, Title: "Construction 1, the residual stream of the query", Quick: true,
	Statement:  `the last block of $h^{(2)}_T$ is $\tilde x_T$`,
	Hypotheses: `some $i$ has $s_{p(i)}=s_T \ne s_1$, so that the limit is as stated`,
	Corrected:  "construct-single-step-stream-corrected",
	Check: func(e *ledger.Env) ledger.Finding {
		f := queryStream(lastBlock, queryItself)(e)
		f.Note = "The second attention copies what the attended positions copied, their parents: tokens s_T, but their own positions. A slip without consequence, as W_O does not read this block."
		return f
	},
	Faults: []ledger.Fault{{What: "the second block for the last", Check: queryStream(secondBlock, parentsOfAttended)}},
}

var constructSingleStreamCorrected = ledger.Claim{
	ID: "construct-single-step-stream-corrected", Number: "Construction 1", Title: "Construction 1, the last block of the stream", Quick: true,
	Statement:  `the last block of $h^{(2)}_T$ is the mean of $\tilde x_{p(i)}$ over the attended $i$; its token part is $e_{s_T}$, its position part is not $e_T$`,
	Hypotheses: `some $i$ has $s_{p(i)}=s_T \ne s_1$`,
	Check:      queryStream(lastBlock, parentsOfAttended),
	Faults:     []ledger.Fault{{What: "the second block for the last", Check: queryStream(secondBlock, parentsOfAttended)}},
}

// The blocks of the query's last residual stream, each of width S+T, that a
// check looks at.
const (
	secondBlock = 1
	lastBlock   = 3
)

// queryItself returns x~_T, parentsOfAttended the mean of x~_p(i) over the
// attended positions.
func queryItself(g *graph.Forest, x, attended []int, s int) exact.Vector {
	want := exact.Zero(1, s+len(x))[0]
	want[x[len(x)-1]].SetInt64(1)
	want[s+len(x)-1].SetInt64(1)
	return want
}

func parentsOfAttended(g *graph.Forest, x, attended []int, s int) exact.Vector {
	want, share := exact.Zero(1, s+len(x))[0], exact.Frac(1, int64(len(attended)))
	for _, i := range attended {
		p := g.Parent(i)
		want[x[p]].Add(want[x[p]], share)
		want[s+p].Add(want[s+p], share)
	}
	return want
}

// nearestShare returns the fraction of denominator at most t that is nearest to v,
// which is the limit of an entry: v is off it by less than scaleTolerance.
func nearestShare(v float64, t int) *big.Rat {
	best := new(big.Rat)
	for den := 1; den <= t; den++ {
		q := exact.Frac(int64(math.Round(v*float64(den))), int64(den))
		if math.Abs(exact.Float(q)-v) < math.Abs(exact.Float(best)-v) {
			best = q
		}
	}
	if math.Abs(exact.Float(best)-v) > scaleTolerance {
		panic(fmt.Sprintf("claims: %v is no limit of a construction on %d positions", v, t))
	}
	return best
}

// queryStream compares a block of the query's last residual stream, whose limit
// has entries with denominators of at most T, with what it is said to be.
func queryStream(block int, said func(g *graph.Forest, x, attended []int, s int) exact.Vector) ledger.Check {
	return func(e *ledger.Env) ledger.Finding {
		const s = 2
		var w ledger.Worst
		for t := 3; t <= e.Budget(5, 4); t++ {
			d := s + t
			for g := range graph.All(t) {
				weights := model.ConstructionOne(g, s).Weights(betaOne, betaTwo)
				for x := range task.Sequences(s, t) {
					at := childrenOfMatches(g, x)
					if at == nil || x[0] == x[t-1] || w.Failed() {
						continue
					}
					want := said(g, x, at, s)
					seen := weights.Stream(x).RawRowView(t - 1)[block*d : (block+1)*d]
					in := func() ledger.Instance {
						return ledger.Instance{
							"S": s, "T": t, "graph": g, "X": ledger.OneBased(x), "attended": ledger.OneBased(at),
						}
					}
					limit := exact.Zero(1, d)
					for c, v := range seen {
						limit[0][c] = nearestShare(v, t)
					}
					w.EqualMatrix("the block in the limit", limit, exact.Matrix{want}, in)
				}
			}
		}
		return w.Finding("The second layer copies the stream of the attended positions, whose second block is their parents'.")
	}
}

var constructSingleScales = ledger.Claim{
	ID: "construct-single-step-scales", Number: "Construction 1", Kind: ledger.Step, Title: "Construction 1 at finite scales", Quick: true,
	Statement:  `for all $\beta_1,\beta_2>0$: $|f-f_\infty| \le \frac12\beta_2(T-2)e^{-\beta_1} + (T-1)e^{-\beta_2/(T(T-1))}$ with $f_\infty$ the exact limit; against $\hat\pi$ the share $k/(n+k)$ is added`,
	Hypotheses: `all forests with $T\le5$ and all sequences over two and three tokens; $(\beta_1,\beta_2/(T(T-1)))=(8,2),(10,5),(12,8)$`,
	Uses:       []string{"construct-single-step-limit-corrected"},
	Check:      singleParentScales(func(t float64) float64 { return 1 / (t * (t - 1)) }),
	Faults: []ledger.Fault{{
		What:  `e^(-beta2) in place of e^(-beta2/(T(T-1)))`,
		Check: singleParentScales(func(float64) float64 { return 1 }),
	}},
}

// singleParentScales compares Construction 1 at finite scales with the bound. In
// the first layer a position with a parent puts at most (T-2) e^-beta1 elsewhere,
// so its score is off by at most beta2 (T-2) e^-beta1, and weights by half of that
// in total variation; scores are fractions of denominator at most T times beta2,
// so the largest exceeds the others by beta2 gap(T), gap(T) = 1/(T(T-1)).
func singleParentScales(gap func(t float64) float64) ledger.Check {
	return func(e *ledger.Env) ledger.Finding {
		var c scales
		for _, st := range smallSizes[:e.Budget(6, 5)] {
			s, t := st[0], st[1]
			n := float64(t)
			unit := n * (n - 1)
			for g := range graph.All(t) {
				if e.Err() != nil || c.Failed() {
					continue
				}
				k := model.ConstructionOne(g, s)
				for _, beta := range [][2]float64{{8, 2 * unit}, {10, 5 * unit}, {12, 8 * unit}} {
					w := k.Weights(beta[0], beta[1])
					bound := beta[1]*(n-2)*num.Exp(-beta[0])/2 + (n-1)*num.Exp(-beta[1]*gap(n))
					for x := range task.Sequences(s, t) {
						c.compare(w, x, k.Attended(x), k.Matches(x), bound, func() ledger.Instance {
							return ledger.Instance{"S": s, "T": t, "graph": g, "s": ledger.OneBased(x), "beta1": beta[0], "beta2": beta[1]}
						})
					}
				}
			}
		}
		return c.finding()
	}
}

// A scales keeps the worst instance of the bounds on a construction at finite
// scales.
type scales struct {
	ledger.Worst
	largest float64 // deviation from the limit
}

// compare compares the output for x with the law of x_i over the attended
// positions, and over those that count in the empirical transition, if any. What
// rounding does to the output is less than 1e-12, as scores are below 1000.
func (c *scales) compare(w *model.Weights, x, attended, counted []int, bound float64, at func() ledger.Instance) {
	const rounding = 1e-12
	f := w.Linear(x).RawRowView(len(x) - 1)
	far := distance(f, shares(attended, x, w.S))
	c.largest = max(c.largest, far)
	c.AtMostRounded(far, bound, rounding, at)
	if counted != nil {
		uncounted := 1 - float64(len(counted))/float64(len(attended))
		c.AtMostRounded(distance(f, shares(counted, x, w.S)), bound+uncounted, rounding, at)
	}
}

func (c *scales) finding() ledger.Finding {
	return c.Finding(fmt.Sprintf("True for all: the first term is the first layer's leak, by way of the scores, the second is what the other positions weigh. Evaluated by enumeration, with the rounding error below the margins; largest |f − f_∞| %.2g.", c.largest))
}

var lemRewriteTF = ledger.Claim{
	ID: "lem-rewrite-tf", Number: "Lemma 1", Title: "The sparse transformer is the reduced model", Quick: true,
	Statement:  `with $\tilde A^{(1)},\tilde A^{(2)},\tilde W_O$ of the sparsity pattern, $\widetilde{\mathrm{TF}}_{\tilde\theta}(s_{1:T}) = X^\top\mathcal S(\mathcal S(\mathrm{MASK}(A^{(1)}))X{A^{(2)}}^\top x_T)$`,
	Hypotheses: `any $A^{(1)} \in \mathbb R^{T\times T}$, $A^{(2)} \in \mathbb R^{S\times S}$, not symmetric`,
	Uses:       []string{"def-attention-row"},
	Check:      reducedModel(transposed),
	Faults: []ledger.Fault{{
		What:  "the second attention matrix for its transpose",
		Check: reducedModel(func(a2 []float64, s int) []float64 { return a2 }),
	}},
}

// transposed returns the transpose of an s x s matrix, row-major.
func transposed(a []float64, s int) []float64 {
	out := make([]float64, s*s)
	for i := range a {
		out[i%s*s+i/s] = a[i]
	}
	return out
}

// reducedModel compares the dense transformer at random A1 and A2 with the
// reduced model, which holds the transpose of the paper's A2: key(A2).
func reducedModel(key func(a2 []float64, s int) []float64) ledger.Check {
	return func(e *ledger.Env) ledger.Finding {
		r := rand.New(e.Stream("weights"))
		var w ledger.Worst
		for range e.Budget(300, 60) {
			s, t := 1+r.IntN(4), 1+r.IntN(6)
			a1, a2, x := make([]float64, t*t), make([]float64, s*s), make([]int, t)
			for i := range a1 {
				a1[i] = 3 * r.NormFloat64()
			}
			for i := range a2 {
				a2[i] = 3 * r.NormFloat64()
			}
			for i := range x {
				x[i] = r.IntN(s)
			}
			m := &theory.Reduced{S: s, T: t, A1: a1, A2: key(a2, s)}
			full := sparse(s, t, a1, a2).Linear(x).RawRowView(t - 1)
			reduced, _, _ := m.Predict(x, x[t-1])
			w.Equal(full, reduced, 1e-12, func() ledger.Instance {
				return ledger.Instance{"S": s, "T": t, "s": ledger.OneBased(x), "A1": ledger.Grid(a1, t), "A2": ledger.Grid(a2, s)}
			})
		}
		return w.Finding("The query reads the token block of h_T, the key the token block of the first attention, so the score of position j is x_T^T A2 (S(A1)X)_j; W_O reads the third block. (The proof writes h^(T) for h_T^(1) and the transpose of W_O for W_O.)")
	}
}

// sparse returns the two-layer transformer of the sparsity pattern, eq. (5), with
// the paper's A1 (T x T) and A2 (S x S, its row for the query), row-major.
func sparse(s, t int, a1, a2 []float64) *model.Weights {
	w := model.NewWeights(s, t, 1, 1)
	d := s + t
	for i := range t {
		copy(w.A[0][0][(s+i)*d+s:], a1[i*t:i*t+t])
	}
	for a := range s {
		copy(w.A[1][0][a*2*d+d:], a2[a*s:a*s+s])
		w.W[(2*d+a)*s+a] = 1
	}
	return w
}

// unevenPrior is uniform over the relabelings of a matrix of trace one whose
// stationary measure is not uniform.
func unevenPrior() *markov.Finite {
	return mustOrbit(3, []float64{0.6, 0.3, 0.1, 0.2, 0.2, 0.6, 0.3, 0.5, 0.2})
}

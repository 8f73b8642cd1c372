package claims

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"sort"

	"gonum.org/v1/gonum/mat"

	"learncausal/paper/exact"
	"learncausal/paper/ledger"
	"learncausal/pkg/graph"
	"learncausal/pkg/markov"
	"learncausal/pkg/num"
	"learncausal/pkg/task"
	"learncausal/pkg/theory"
)

// proofSketch is the section that sketches the proof: the oracle algorithm, the
// idealized gradient, and informal statements that later lemmas make precise.
var proofSketch = ledger.Section{Title: "Proof Sketch", Claims: []ledger.Claim{
	lemDPI, algOracle, algOracleCorrected, remChowLiu,
	eqGParentChi2, eqGAMGM, eqGRootZero, eqGRootZeroCorrected,
	lemGradientInformal, lemGradientInformalCorrected,
	eqA2Form, eqA2FormCorrected, eqFPointwise, eqFPointwiseCorrected,
}}

// The hypotheses of lem-dpi.
const (
	convexF   = `$f$ convex`
	zeroAtOne = `$f(1)=0$`
	markovWYZ = `$W\to Y\to Z$ a Markov chain`
)

var lemDPI = ledger.Claim{
	ID: "lem-dpi", Number: "Lemma 2", Title: "Data processing inequality", Quick: true,
	Statement:  `$I_f(W;Z) \le I_f(Y;Z)$`,
	Hypotheses: convexF + `; ` + zeroAtOne + `; ` + markovWYZ,
	Tried:      `random chains of rational laws, four $f$; a search over laws of two and three values, seven $f$`,
	Check:      processing(throughY, exact.Frac(1, 1), ratDivergences),
	Faults: []ledger.Fault{
		{What: "9/10 of the right side", Check: processing(throughY, exact.Frac(9, 10), ratDivergences)},
		{What: "Z depends on W as well", Drops: markovWYZ, Check: processing(throughBoth, exact.Frac(1, 1), nil)},
		{What: "f(z) = -(z-1)^2", Drops: convexF, Check: processing(throughY, exact.Frac(1, 1), []ratDivergence{
			{name: "-(z-1)^2", f: func(z *big.Rat) *big.Rat { return new(big.Rat).Neg(ratStrict[0].f(z)) }},
		})},
	},
	Spare: []ledger.Spare{{Hypothesis: zeroAtOne, Why: "f(1) is added to both sides"}},
}

// processing decides I_f(W;Z) <= factor I_f(Y;Z) on rational chains for the given
// divergences, and searches among all laws for one on which it fails, factor
// being one.
func processing(r route, factor *big.Rat, fs []ratDivergence) ledger.Check {
	return func(e *ledger.Env) ledger.Finding {
		w := attackDataProcessing(e, r)
		dataProcessingInRationals(e, w, factor, fs)
		return w.Finding("P(z|w)/P(z) is the mean of P(z|y)/P(z) under P(y|w): Jensen.")
	}
}

// A route says on what Z depends: on how many rows its law has, and which of them
// belongs to w and y.
type route struct {
	rows func(nw, ny int) int
	row  func(w, y, nw int) int
}

var (
	throughY = route{
		rows: func(nw, ny int) int { return ny },
		row:  func(w, y, nw int) int { return y },
	}
	throughBoth = route{
		rows: func(nw, ny int) int { return ny * nw },
		row:  func(w, y, nw int) int { return y*nw + w },
	}
)

// A threeLaw is the law of W, Y and Z.
type threeLaw struct {
	nw, ny, nz int
	p, y, z    []float64 // P(w), P(y|w), P(z|...) row by row
	route      route
}

// lawAt reads the law of a point x of a search, row by row the softmax of its
// parameters.
func lawAt(x []float64, nw, ny, nz int, r route) threeLaw {
	rows := func(n, of int) []float64 {
		out := make([]float64, n*of)
		for row := range slices.Chunk(out, of) {
			for k := range row {
				row[k] = max(-30, min(30, x[k]))
			}
			num.Softmax(row, row)
			x = x[of:]
		}
		return out
	}
	return threeLaw{nw, ny, nz, rows(1, nw), rows(nw, ny), rows(r.rows(nw, ny), nz), r}
}

// informations returns I_f(W;Z) and I_f(Y;Z).
func (c threeLaw) informations(f theory.Divergence) (wz, yz float64) {
	jw, jy := make([]float64, c.nw*c.nz), make([]float64, c.ny*c.nz)
	for w := range c.nw {
		for y := range c.ny {
			for z := range c.nz {
				q := c.p[w] * c.y[w*c.ny+y] * c.z[c.route.row(w, y, c.nw)*c.nz+z]
				jw[w*c.nz+z] += q
				jy[y*c.nz+z] += q
			}
		}
	}
	return mutual(f, jw, c.nz), mutual(f, jy, c.nz)
}

// mutual returns D_f of a joint law with n columns from the product of its
// marginals.
func mutual(f theory.Divergence, joint []float64, n int) float64 {
	u, v := make([]float64, len(joint)/n), make([]float64, n)
	for k, q := range joint {
		u[k/n] += q
		v[k%n] += q
	}
	product := make([]float64, len(joint))
	for k := range product {
		product[k] = u[k/n] * v[k%n]
	}
	return f.Between(joint, product)
}

// attackDataProcessing searches for a law that breaks the inequality for one of
// the divergences by more than rounding.
func attackDataProcessing(e *ledger.Env, r route) *ledger.Worst {
	const rounding = 1e-9
	w := new(ledger.Worst)
	for _, d := range theory.Divergences() {
		for _, n := range [][3]int{{2, 2, 2}, {3, 2, 3}, {3, 3, 3}}[:e.Budget(3, 1)] {
			if e.Err() != nil {
				return w
			}
			law := func(x []float64) threeLaw { return lawAt(x, n[0], n[1], n[2], r) }
			best, _, evals := e.Attack(func(x []float64) float64 {
				wz, yz := law(x).informations(d)
				if math.IsInf(yz, 1) || yz < 1e-4 {
					return math.Inf(1) // where the difference is rounding
				}
				return ledger.Slack(wz, yz)
			}, e.Starts(4, n[0]+n[0]*n[1]+r.rows(n[0], n[1])*n[2]), e.Budget(3000, 400))
			if w.Instances += evals; best == nil {
				continue
			}
			c := law(best)
			at := func() ledger.Instance {
				return ledger.Instance{"f": d.Name, "P(w)": c.p, "P(y|w)": ledger.Grid(c.y, n[1]), "P(z|...)": ledger.Grid(c.z, n[2])}
			}
			wz, yz := c.informations(d)
			w.Keep(wz, yz, at)
			if ledger.Slack(wz, yz) < -rounding {
				w.Fail(ledger.Witness{Instance: at()})
			}
		}
	}
	return w
}

// dataProcessingInRationals decides the inequality on random Markov chains, some
// of which have W determine Y.
func dataProcessingInRationals(e *ledger.Env, w *ledger.Worst, factor *big.Rat, fs []ratDivergence) {
	r := rand.New(e.Stream("chains"))
	for range e.Budget(300, 60) {
		y, z := positiveMatrix(r, 3, 3+r.IntN(9)), positiveMatrix(r, 3, 3+r.IntN(9))
		if r.IntN(8) == 0 {
			y = exact.Diag(exact.Ones(3))
		}
		p := randomLaw(r, 3, 9)
		for _, d := range fs {
			wz, yz := d.processed(p, y, z)
			yz = exact.Mul(factor, yz)
			w.Instances++
			if wz.Cmp(yz) > 0 {
				w.Fail(ledger.Witness{
					Instance: ledger.Instance{"f": d.name, "P(w)": p, "P(y|w)": y, "P(z|y)": z}, LHS: wz, RHS: yz,
				})
			}
		}
	}
}

// processed returns I_f(W;Z) and I_f(Y;Z) for P(w), P(y|w) and P(z|y).
func (d ratDivergence) processed(p exact.Vector, y, z exact.Matrix) (wz, yz *big.Rat) {
	law := exact.Matrix{p}.Mul(y)[0]
	return d.mutual(exact.Diag(p).Mul(y).Mul(z)), d.mutual(exact.Diag(law).Mul(z))
}

// randomLaw returns a law on n values, of positive multiples of 1/den.
func randomLaw(r *rand.Rand, n, den int) exact.Vector {
	law := zeros(n)
	for k, parts := range composition(r, n, den) {
		law[k].SetFrac64(int64(parts), int64(den))
	}
	return law
}

// positiveMatrix returns a random transition matrix with positive entries that
// are multiples of 1/den.
func positiveMatrix(r *rand.Rand, s, den int) exact.Matrix {
	m := make(exact.Matrix, s)
	for a := range m {
		m[a] = randomLaw(r, s, den)
	}
	return m
}

var algOracle = ledger.Claim{
	ID: "alg-oracle", Number: "Algorithm 2", Title: "The oracle algorithm, for any information measure", Quick: true,
	Statement:  `Algorithm 2 returns $\mathcal G$ from the informations $I_f(s_i;s_j\mid\pi)$`,
	Hypotheses: `$f$ convex; $f(1)=0$; assumption 1`,
	Tried:      `all forests with $T\le5$; $\chi^2$, total variation and two hinges`,
	Uses:       []string{"lem-dpi"}, Corrected: "alg-oracle-corrected",
	Check: func(e *ledger.Env) ledger.Finding {
		f := oracleClaim{fs: ratDivergences}.check(e)
		if f.Failed() {
			f.Note = "Every ratio pi(s'|s)/mu(s') is below the kink of f, so each information is 0 and no edge is found; lhs and rhs count edges. " + tieNote()
		}
		return f
	},
	Repairs: []ledger.Repair{{What: "f strictly convex at 1", Check: oracleClaim{fs: ratStrict}.check}},
}

// The hypotheses of alg-oracle-corrected.
const (
	strictF    = `$D_f(P\|Q)=0$ only for $P=Q$`
	positivePi = `$\pi>0$ almost surely`
	memory     = `$\pi$ does not mix in one step, with positive probability`
)

var algOracleCorrected = ledger.Claim{
	ID: "alg-oracle-corrected", Number: "Algorithm 2", Title: "The oracle algorithm, for divergences that see dependence", Quick: true,
	Statement:  `Algorithm 2 returns $\mathcal G$ from the informations $I_f(s_i;s_j\mid\pi)$ for $f$ that are strictly convex at 1`,
	Hypotheses: strictF + `; ` + positivePi + `; ` + memory,
	Tried:      `exactly for $\chi^2$ and total variation on all forests with $T\le5$; in floats for six strictly convex $f$ on random forests with $T\le12$`,
	Uses:       []string{"lem-dpi", "lem-contraction"},
	// The inequality is strict and has no constant: the sides are the runner-up and the parent where they
	// are nearest among random chains.
	Check: oracleClaim{fs: ratStrict, also: oracleInFloats}.check,
	Faults: []ledger.Fault{
		{What: "edges from an information of 1/10 on", Check: oracleClaim{fs: ratStrict, above: exact.Frac(1, 10)}.check},
		{What: "a hinge among the divergences", Drops: strictF, Check: oracleClaim{fs: ratDivergences}.check},
		{What: "a chain in which a child tells the row of its parent", Drops: positivePi, Check: oracleClaim{
			fs: ratStrict, priors: [][]exact.Matrix{{tie}},
		}.check},
		{What: "independent tokens", Drops: memory, Check: oracleClaim{
			fs: ratStrict, priors: [][]exact.Matrix{{exact.Rats("1/2 1/2; 1/2 1/2")}},
		}.check},
	},
}

// An oracleClaim is that Algorithm 2 finds all forests up to T = 5.
type oracleClaim struct {
	fs     []ratDivergence
	above  *big.Rat         // least information for an edge; 0 if nil
	priors [][]exact.Matrix // beside those that satisfy all of assumption 1
	also   func(e *ledger.Env, r *rand.Rand) *ledger.Worst
}

const oracleNote = "I_f(s_i;s_j) <= alpha(K) I_f(s_i;s_p(i)) with K the law of s_j given s_p(i), a positive matrix, so alpha(K) < 1; and I_f(s_i;s_p(i)) > 0."

func (q oracleClaim) check(e *ledger.Env) ledger.Finding {
	r := rand.New(e.Stream("priors"))
	w := q.inRationals(e, r)
	if w.Failed() || q.also == nil {
		return w.Finding(oracleNote)
	}
	return q.also(e, r).Finding(oracleNote).Counting(w.Finding(""))
}

// A ratDivergence is an f-divergence with rational values.
type ratDivergence struct {
	name  string
	f     func(z *big.Rat) *big.Rat
	hinge *big.Rat // f(z) = max(z - hinge, 0); nil for another
}

func ratHinge(name string, k *big.Rat) ratDivergence {
	return ratDivergence{name, func(z *big.Rat) *big.Rat {
		if d := exact.Sub(z, k); d.Sign() > 0 {
			return d
		}
		return new(big.Rat)
	}, k}
}

// ratDivergences are the two that are strictly convex at 1, and two hinges.
var (
	ratDivergences = append(slices.Clone(ratStrict), ratHinges...)
	ratHinges      = []ratDivergence{ratHinge("max(z-3/2, 0)", big.NewRat(3, 2)), ratHinge("max(z-2, 0)", big.NewRat(2, 1))}
)

// ratStrict are strictly convex at 1.
var ratStrict = []ratDivergence{
	{name: "(z-1)^2", f: func(z *big.Rat) *big.Rat { d := exact.Sub(z, exact.Frac(1, 1)); return exact.Mul(d, d) }},
	{name: "|z-1|/2", f: func(z *big.Rat) *big.Rat {
		return exact.Quo(exact.Abs(exact.Sub(z, exact.Frac(1, 1))), exact.Frac(2, 1))
	}},
}

// mutual returns D_f of the joint law from the product of its marginals.
func (d ratDivergence) mutual(joint exact.Matrix) *big.Rat {
	u, v := zeros(len(joint)), zeros(len(joint[0]))
	for a, row := range joint {
		for b, q := range row {
			u[a].Add(u[a], q)
			v[b].Add(v[b], q)
		}
	}
	sum := new(big.Rat)
	for a, row := range joint {
		for b, q := range row {
			if product := exact.Mul(u[a], v[b]); product.Sign() > 0 {
				sum.Add(sum, exact.Mul(product, d.f(exact.Quo(q, product))))
			}
		}
	}
	return sum
}

// informations returns I_f(s_i; s_j | pi) for j < i < T-1, pi uniform on the
// matrices, which stand for their orbits.
func (d ratDivergence) informations(g *graph.Forest, pis []exact.Matrix) [][]*big.Rat {
	table := make([][]*big.Rat, g.T()-1)
	for i := range table {
		for j := range i {
			sum := new(big.Rat)
			for _, pi := range pis {
				sum.Add(sum, d.mutual(exact.Joint(pi, g, i, j)))
			}
			table[i] = append(table[i], sum.Quo(sum, big.NewRat(int64(len(pis)), 1)))
		}
	}
	return table
}

// oracleParents runs Algorithm 2 with edges for informations above a number; of
// equal maxima the last counts, the worst case for an earlier parent.
func oracleParents(info [][]*big.Rat, above *big.Rat) []int {
	parents := make([]int, len(info)+1)
	for i := range parents {
		parents[i] = graph.Root
	}
	for i, row := range info {
		best := above
		for j, v := range row {
			if v.Cmp(above) > 0 && v.Cmp(best) >= 0 {
				parents[i], best = j, v
			}
		}
	}
	return parents
}

// symmetricPairs are priors over two states that satisfy all of assumption 1:
// the matrices with a and with 1-a on the diagonal, alike likely.
func symmetricPairs() [][]exact.Matrix {
	var out [][]exact.Matrix
	for den := int64(3); den <= 8; den++ {
		for n := den/2 + 1; n < den; n++ {
			a, b := big.NewRat(n, den), big.NewRat(den-n, den)
			out = append(out, []exact.Matrix{{{a, b}, {b, a}}, {{b, a}, {a, b}}})
		}
	}
	return out
}

// tie is an irreducible and aperiodic chain in which a state's child tells
// which row the state has.
var tie = exact.Rats("1/2 0 1/2; 1/2 0 1/2; 0 1 0")

// tieNote tells of the tie, if it is one.
func tieNote() string {
	for _, d := range ratDivergences {
		if info := d.informations(graph.Star(4), []exact.Matrix{tie}); info[2][0].Cmp(info[2][1]) != 0 {
			return ""
		}
	}
	return fmt.Sprintf("Positivity matters as well: for the irreducible and aperiodic rows %v the informations of position 3 with its parent 1 and its sibling 2 tie for every f, as the sibling's value tells the parent's row.", tie.Strings())
}

// oraclePriors returns priors that satisfy all of Assumption 1 with gamma = 1/10.
func oraclePriors(e *ledger.Env, r *rand.Rand, gamma *big.Rat) [][]exact.Matrix {
	priors := symmetricPairs()
	for range e.Budget(4, 2) {
		if pi := traceOneMatrix(r, 3, 6+r.IntN(10)); exact.CheckGamma(pi, gamma) == nil {
			priors = append(priors, []exact.Matrix{pi})
		}
	}
	for _, pi := range slices.Concat(priors...) {
		if err := exact.CheckGamma(pi, gamma); err != nil {
			panic("claims: " + err.Error()) // the priors are made to satisfy it
		}
	}
	return priors
}

// inRationals runs the algorithm on all forests up to T = 5.
func (q oracleClaim) inRationals(e *ledger.Env, r *rand.Rand) *ledger.Worst {
	w, gamma, above := new(ledger.Worst), exact.Frac(1, 10), new(big.Rat)
	if q.above != nil {
		above = q.above
	}
	priors := slices.Concat(q.priors, oraclePriors(e, r, gamma))
	for t := 2; t <= e.Budget(5, 4); t++ {
		for _, d := range q.fs {
			for _, prior := range priors {
				for g := range graph.All(t) {
					if w.Failed() || e.Err() != nil {
						return w
					}
					got := oracleParents(d.informations(g, prior), above)
					found, edges := edgesFound(got, g)
					w.EqualRat("", exact.Frac(found, 1), exact.Frac(edges, 1), func() ledger.Instance {
						in := ledger.Instance{"gamma": gamma, "graph": g, "orbits": prior, "output": ledger.OneBased(got)}
						if d.hinge == nil {
							return in.With("f", d.name)
						}
						return in.With("hinge", d.hinge)
					})
				}
			}
		}
	}
	return w
}

// edgesFound returns how many edges of g are among the given parents, less those
// that are not in g; and how many g has.
func edgesFound(parents []int, g *graph.Forest) (found, edges int64) {
	for i, p := range parents {
		if q := g.Parent(i); q != graph.Root {
			edges++
			if p == q {
				found++
			}
		} else if p != graph.Root {
			found--
		}
	}
	return found, edges
}

// oracleInFloats runs the algorithm on random forests, for the divergences that
// are strictly convex at 1, and keeps the least lead of a parent.
func oracleInFloats(e *ledger.Env, r *rand.Rand) *ledger.Worst {
	w := new(ledger.Worst)
	for k := range e.Budget(40, 6) {
		g := graph.Random(4+r.IntN(9), 0.3, e.Stream("forest", uint64(k)))
		pi := theory.MustChain(traceOneMatrix(r, 3, 12+r.IntN(10)).Floats(), 3)
		for _, d := range []theory.Divergence{
			theory.ChiSquared, theory.KullbackLeibler, theory.ReverseKL, theory.TotalVariation, theory.Hellinger, theory.JensenShannon,
		} {
			w.Instances++
			info := make([]float64, g.T()*g.T())
			for k := range info {
				info[k] = pi.Information(d, g, k/g.T(), k%g.T())
			}
			at := ledger.Instance{"f": d.Name, "graph": g, "pi": ledger.Grid(pi.Pi.RawMatrix().Data, 3)}
			if got := theory.Oracle(mat.NewDense(g.T(), g.T(), info), make([]float64, g.T())); got.String() != g.String() {
				w.Fail(ledger.Witness{Instance: at.With("output", got)})
			}
			for _, edge := range g.Edges() {
				p, i := edge[0], edge[1]
				for j := range i {
					if j != p {
						w.Keep(info[i*g.T()+j], info[i*g.T()+p], func() ledger.Instance { return at.With("i", i+1).With("j", j+1) })
					}
				}
			}
		}
	}
	return w
}

// fromForest is the hypothesis of rem-chow-liu.
const fromForest = `the informations are those of sequences from a forest`

var remChowLiu = ledger.Claim{
	ID: "rem-chow-liu", Number: "Section 5.1.1", Title: "The oracle's forest has maximal weight", Quick: true,
	Statement:  `the edges $(p(i)\to i)$, $p(i)=\arg\max_{j<i} I_f(s_i;s_j\mid\pi)$, form a spanning forest of maximal total weight $I_f(s_i;s_j\mid\pi)$`,
	Hypotheses: fromForest,
	Tried:      `all forests with $T\le5$, random $\pi$ and the tie of alg-oracle; $\chi^2$, total variation, hinges`,
	Uses:       []string{"lem-dpi"},
	Check:      maximalWeight(func(i, j int) bool { return j < i }, ratDivergence.informations),
	Faults: []ledger.Fault{
		{What: "the maximum over later positions too", Check: maximalWeight(func(i, j int) bool { return j != i }, ratDivergence.informations)},
		{What: "the table 1; 5 5; 0 0 0", Drops: fromForest, Check: maximalWeight(
			func(i, j int) bool { return j < i },
			func(ratDivergence, *graph.Forest, []exact.Matrix) [][]*big.Rat {
				zero := new(big.Rat)
				return [][]*big.Rat{{}, {exact.Frac(1, 1)}, {exact.Frac(5, 1), exact.Frac(5, 1)}, {zero, zero, zero}}
			})},
	},
}

// maximalWeight compares the weight of the forest in which each position takes
// the best of those that it may have as a parent with that of Kruskal's.
func maximalWeight(
	mayBeParent func(i, j int) bool, informations func(ratDivergence, *graph.Forest, []exact.Matrix) [][]*big.Rat,
) ledger.Check {
	return func(e *ledger.Env) ledger.Finding {
		var w ledger.Worst
		r := rand.New(e.Stream("matrices"))
		pis := []exact.Matrix{tie, exact.Rats("3/4 1/4; 1/4 3/4")}
		for k := range e.Budget(8, 2) {
			pis = append(pis, traceOneMatrix(r, 3+k%2, 8+r.IntN(8)))
		}
		for t := 3; t <= e.Budget(5, 4); t++ {
			for _, pi := range pis {
				for _, d := range ratDivergences {
					for g := range graph.All(t) {
						if w.Failed() || e.Err() != nil {
							break
						}
						info := informations(d, g, []exact.Matrix{pi})
						w.EqualRat("", greedyWeight(info, mayBeParent), kruskal(info), func() ledger.Instance {
							return ledger.Instance{"f": d.name, "graph": g, "pi": pi}
						})
					}
				}
			}
		}
		return w.Finding("Equal as rationals, ties and vanishing weights included: each edge on the path between two positions weighs at least as much as they do.")
	}
}

// greedyWeight returns the sum over positions of the largest information with one
// that may be the parent.
func greedyWeight(info [][]*big.Rat, mayBeParent func(i, j int) bool) *big.Rat {
	sum := new(big.Rat)
	for i := range info {
		best := new(big.Rat)
		for j := range info {
			if !mayBeParent(i, j) {
				continue
			}
			if v := info[max(i, j)][min(i, j)]; v.Cmp(best) > 0 {
				best = v
			}
		}
		sum.Add(sum, best)
	}
	return sum
}

// kruskal returns the weight of the heaviest forest.
func kruskal(info [][]*big.Rat) *big.Rat {
	type pair struct{ i, j int }
	var pairs []pair
	tree := make([]int, len(info))
	for i := range info {
		tree[i] = i
		for j := range i {
			pairs = append(pairs, pair{i, j})
		}
	}
	sort.SliceStable(pairs, func(a, b int) bool {
		return info[pairs[a].i][pairs[a].j].Cmp(info[pairs[b].i][pairs[b].j]) > 0
	})
	sum := new(big.Rat)
	for _, p := range pairs {
		from, to := tree[p.i], tree[p.j]
		if from == to {
			continue
		}
		sum.Add(sum, info[p.i][p.j])
		for k := range tree {
			if tree[k] == from {
				tree[k] = to
			}
		}
	}
	return sum
}

// The parts and the hypothesis of eq-g-parent-chi2.
const (
	gIsSum     = "g is the sum"
	sumIsInfo  = "the sum is the information"
	positiveMu = `$\mu_\pi>0$`
)

var eqGParentChi2 = ledger.Claim{
	ID: "eq-g-parent-chi2", Number: "eq. (24)", Title: "The idealized gradient at the parent is an information", Quick: true,
	Statement:  `$g_{i,p(i)} = \mathbb E_\pi[\sum_{s,s'}\pi(s'\mid s)^2\mu_\pi(s)^2/(\mu_\pi(s')\mu_\pi(s))-1] = I_{\chi^2}(s_i;s_{p(i)}\mid\pi)$`,
	Parts:      []string{gIsSum, sumIsInfo},
	Hypotheses: positiveMu,
	Tried:      `random positive $\pi$, $S=2,3,4$, on a chain and on a tree`,
	Check:      informationWithAncestor(1, 1),
	Faults: []ledger.Fault{
		{What: "g at the parent's parent", Part: gIsSum, Check: informationWithAncestor(2, 1)},
		{What: "the information with the parent's parent", Part: sumIsInfo, Check: informationWithAncestor(1, 2)},
	},
	Spare: []ledger.Spare{{Hypothesis: positiveMu, Why: "the formulas divide by it"}},
}

// informationWithAncestor compares g, the displayed sum and the information of a
// position and its ancestors so many steps above.
func informationWithAncestor(ofG, ofInformation int) ledger.Check {
	return func(e *ledger.Env) ledger.Finding {
		var w ledger.Worst
		r := rand.New(e.Stream("matrices"))
		for k := range e.Budget(60, 15) {
			g := []*graph.Forest{graph.Chain(5), graph.MustNew(graph.Root, 0, 1, 1, graph.Root)}[k%2]
			pi := positiveMatrix(r, 2+k%3, 6+r.IntN(12))
			up := []int{3, g.Parent(3), g.Parent(g.Parent(3))}
			info := exact.ChiSquaredInformation(exact.Joint(pi, g, 3, up[ofInformation]))
			sum := exact.FrobeniusSquared(pi)
			left := exact.Matrix{{exact.G(pi, g, 3, up[ofG]), sum}}
			w.EqualMatrix("g = the sum, and the sum = I", left, exact.Matrix{{sum, info}}, func() ledger.Instance {
				return ledger.Instance{"graph": g, "i": 4, "pi": pi}
			})
		}
		return w.Finding("Equal as rationals for each pi: P[s_i=s', s_p(i)=s] = mu(s) pi(s'|s).")
	}
}

var eqGAMGM = ledger.Claim{
	ID: "eq-g-amgm", Number: "eq. (25)", Title: "The idealized gradient below two informations", Quick: true,
	Statement:  `$g_{i,j} \le \tfrac12 I_{\chi^2}(s_i;s_{p(i)}\mid\pi) + \tfrac12 I_{\chi^2}(s_i;s_j\mid\pi)$`,
	Hypotheses: `$p(i)\ne\emptyset$`,
	Tried:      `$j\le i$, $j=i$ included, on random forests, and by a search over $\pi$ with $S=2,3$`,
	Uses:       []string{"eq-g-parent-chi2"},
	Check:      twoInformations(big.NewRat(1, 2)),
	Faults:     []ledger.Fault{{What: "9/20 for the second 1/2", Check: twoInformations(big.NewRat(9, 20))}},
	Spare:      []ledger.Spare{{Hypothesis: `$p(i)\ne\emptyset$`, Why: "there is no s_p(i) else"}},
}

// twoInformations checks the bound with the given weight of the second
// information, exactly on random matrices, and attacks it in floats for j other
// than p(i), where it is an equality.
func twoInformations(second *big.Rat) ledger.Check {
	return func(e *ledger.Env) ledger.Finding {
		decided := twoInformationsInRationals(e, second)
		if decided.Failed() {
			return decided.Finding("")
		}
		w := new(ledger.Worst)
		g := graph.MustNew(graph.Root, 0, 1, 1, graph.Root)
		weight := exact.Float(second)
		for _, j := range []int{0, 2, 3} { // grandparent, sibling, itself; i is position 4
			for s := 2; s <= e.Budget(3, 2); s++ {
				sides := func(x []float64) (lhs, rhs float64, c *theory.Chain) {
					c = theory.MustChain(ledger.Kernel(x, s, 0.01), s)
					if c.FrobeniusSquared() < 1e-3 {
						return 0, math.Inf(1), c // both sides vanish
					}
					lhs, rhs = twoInformationsInFloats(c, g, 3, j, weight)
					return lhs, rhs, c
				}
				best, _, evals := e.Attack(func(x []float64) float64 {
					lhs, rhs, _ := sides(x)
					return slackBelow(lhs, rhs)
				}, e.KernelStarts(2, s, 0), e.Budget(1500, 300))
				w.Instances += evals
				lhs, rhs, c := sides(best)
				w.Keep(lhs, rhs, func() ledger.Instance {
					return ledger.Instance{"graph": g, "pi": ledger.Grid(c.Pi.RawMatrix().Data, s), "i": 4, "j": j + 1}
				})
			}
		}
		return w.Finding(fmt.Sprintf("No counterexample found in %d instances. Proof, for each pi: g = sum mu mu' a b with a = pi/mu'-1 and b = P/(mu mu')-1, and 2ab <= a^2+b^2; equality at j = p(i).",
			w.Instances+decided.Instances)).Counting(decided.Finding(""))
	}
}

// slackBelow is the slack of lhs <= rhs, +Inf where rhs is, outside of the
// hypotheses.
func slackBelow(lhs, rhs float64) float64 {
	if math.IsInf(rhs, 1) {
		return rhs
	}
	return ledger.Slack(lhs, rhs)
}

// twoInformationSides returns g_ij, and half of the parent's information plus the
// weighted second one.
func twoInformationSides(pi exact.Matrix, g *graph.Forest, i, j int, second *big.Rat) (lhs, rhs *big.Rat) {
	half := exact.Quo(exact.FrobeniusSquared(pi), exact.Frac(2, 1))
	other := exact.ChiSquaredInformation(exact.Joint(pi, g, i, j))
	return exact.G(pi, g, i, j), exact.Add(half, exact.Mul(second, other))
}

// twoInformationsInFloats returns the same in floats.
func twoInformationsInFloats(c *theory.Chain, g *graph.Forest, i, j int, second float64) (lhs, rhs float64) {
	return c.G(g, i, j), c.FrobeniusSquared()/2 + second*c.Information(theory.ChiSquared, g, i, j)
}

func twoInformationsInRationals(e *ledger.Env, second *big.Rat) *ledger.Worst {
	w, r := new(ledger.Worst), rand.New(e.Stream("matrices"))
	for k := range e.Budget(12, 4) {
		pi := positiveMatrix(r, 2+k%2, 6+r.IntN(12))
		g := graph.Random(6, 0.2, e.Stream("forest", uint64(k)))
		for i, p := range g.Parents() {
			for j := 0; j <= i && p != graph.Root; j++ {
				lhs, rhs := twoInformationSides(pi, g, i, j, second)
				w.AtMostRat(lhs, rhs, func() ledger.Instance {
					return ledger.Instance{"graph": g, "pi": pi, "i": i + 1, "j": j + 1}
				})
			}
		}
	}
	return w
}

var eqGRootZero = ledger.Claim{
	ID: "eq-g-root-zero", Number: "eq. (27)", Title: "The idealized gradient of a root", Quick: true,
	Statement:  `$g_{i,j}=0$ for all roots $i$, $T$ included, and all $j\le i$`,
	Hypotheses: `assumption 1`,
	Tried:      `relabelings of a matrix of trace one with small denominators, in-context graph on 3 positions`,
	Corrected:  "eq-g-root-zero-corrected",
	Check: smallestRootRow(everyEntry).Noted(
		"s_T is uniform, not of law mu: g_TT = E[1/S sum_s pi(s|s)/mu(s)] - 1, which is 0 for uniform mu but not in general (here gamma = 1/10 is admitted). For j < T, and for the other roots, the sum is 0."),
	Repairs: []ledger.Repair{{What: "(T,T) left out", Check: smallestRootRow(butLast)}},
}

// smallestRootRow decides g_ij = 0 for the entries asked for of the smallest graph
// with a root behind an edge, 1 -> 2 and the query, and the simplest matrices.
func smallestRootRow(asked func(i, j, last int) bool) ledger.Check {
	return func(*ledger.Env) ledger.Finding {
		var w ledger.Worst
		gamma := exact.Frac(1, 10)
		ledger.SmallestKernel(3, 6, func(pi exact.Matrix) bool {
			if pi.Trace().Cmp(exact.Frac(1, 1)) == 0 && exact.CheckGamma(pi, gamma) == nil {
				idealRootRows(&w, pi, graph.InContext(3), func(i, j int) bool { return asked(i, j, 2) })
			}
			return w.Failed() || w.Instances > 100
		})
		return w.Finding("")
	}
}

// The parts of eq-g-root-zero-corrected.
const (
	gVanishes = "g_ij = 0"
	gOfQuery  = "g_TT"
)

var eqGRootZeroCorrected = ledger.Claim{
	ID: "eq-g-root-zero-corrected", Number: "eq. (27)", Title: "The idealized gradient of a root, the query apart", Quick: true,
	Statement:  `$g_{i,j}=0$ for roots $i$ and $j\le i$ but for $g_{T,T} = \mathbb E_\pi[\tfrac1S\sum_s\pi(s\mid s)/\mu_\pi(s)]-1$; $g_{i,i}=0$ needs the constant mean`,
	Parts:      []string{gVanishes, gOfQuery},
	Hypotheses: meanOfPi,
	Tried:      `relabelings of random matrices of trace one, $S=3,4$, on in-context graphs and random forests; $g_{T,T}$ by its definition, over all sequences of 3 tokens`,
	Check:      idealRoots(exact.Frac(1, 1), butLast, traceOneMatrix),
	Faults: []ledger.Fault{
		{What: "(T,T) among them", Part: gVanishes, Check: idealRoots(exact.Frac(1, 1), everyEntry, traceOneMatrix)},
		{What: "without 1/S", Part: gOfQuery, Check: idealRoots(exact.Frac(3, 1), butLast, traceOneMatrix)},
		{What: "matrices of any trace", Drops: meanOfPi, Check: idealRoots(exact.Frac(1, 1), butLast, positiveMatrix)},
	},
}

// butLast and everyEntry are the entries (i, j) of the row of a root of which
// something is asked, last being that of the query.
func butLast(i, j, last int) bool { return i != last || j != last }

func everyEntry(int, int, int) bool { return true }

// idealRoots decides g_ij = 0 for the entries asked of, and compares g_TT, by its
// definition, with the formula times factor.
func idealRoots(factor *big.Rat, asked func(i, j, last int) bool, draw func(r *rand.Rand, s, den int) exact.Matrix) ledger.Check {
	return func(e *ledger.Env) ledger.Finding {
		var w ledger.Worst
		r := rand.New(e.Stream("matrices"))
		for k := range e.Budget(20, 6) {
			pi := draw(r, 3+k%2, 8+r.IntN(10))
			for _, g := range []*graph.Forest{graph.Random(6, 0.5, e.Stream("forest", uint64(k))), graph.InContext(5)} {
				last := g.T() - 1
				idealRootRows(&w, pi, g, func(i, j int) bool { return asked(i, j, last) })
			}
			defined, formula := gOfLast(pi)
			w.EqualRat("g_TT", defined, exact.Sub(exact.Mul(factor, formula), exact.Frac(1, 1)), func() ledger.Instance {
				return ledger.Instance{"orbits": []exact.Matrix{pi}}
			})
		}
		return w.Finding("Roots other than T are independent of the earlier positions and have the law mu; g_ii is the mean trace minus 1.")
	}
}

// gOfLast returns g_TT(pi) = sum_{s,s'} pi(s'|s)/mu(s') P[s_T = s', s_T = s] - 1 as
// a sum over sequences, and 1/S sum_s pi(s|s)/mu(s).
func gOfLast(pi exact.Matrix) (defined, formula *big.Rat) {
	mu := exact.MustStationary(pi)
	defined, formula = exact.Frac(-1, 1), new(big.Rat)
	for x, p := range exact.Sequences(graph.Chain(3), pi) {
		defined.Add(defined, exact.Mul(p, exact.Quo(pi[x[2]][x[2]], mu[x[2]])))
	}
	for s, m := range mu {
		formula.Add(formula, exact.Quo(pi[s][s], m))
	}
	return defined, formula.Quo(formula, exact.Frac(int64(len(pi)), 1))
}

// idealRootRows decides g_ij = 0 for the roots i of a graph and the entries asked
// for, with the prior uniform over the relabelings of pi, under which g is
// invariant.
func idealRootRows(w *ledger.Worst, pi exact.Matrix, g *graph.Forest, asked func(i, j int) bool) {
	for _, i := range g.Roots() {
		for j := range i + 1 {
			if w.Failed() || !asked(i, j) {
				continue
			}
			w.EqualRat("g_ij = 0", exact.G(pi, g, i, j), new(big.Rat), func() ledger.Instance {
				return ledger.Instance{"graph": g, "orbits": []exact.Matrix{pi}, "i": i + 1, "j": j + 1}
			})
		}
	}
}

var lemGradientInformal = ledger.Claim{
	ID: "lem-gradient-informal", Number: "Lemma 3", Title: "The gradient of stage 1 is the idealized one", Quick: true,
	Statement:  `$\nabla_{A^{(1)}_i}L = -\frac{\beta_0}{ST}J(\mathcal S(A^{(1)}_i))(g_i + O(T_{\mathrm{eff}}^{-1/2}))$ for all $i$, $T$ included`,
	Hypotheses: `assumption 1; $\epsilon=T_{\mathrm{eff}}^{-1/2}$; $L$ as defined, with $s_T$ the query and the last row of $X$`,
	Tried:      `in-context graphs, $T=3^6$ to $3^{90}$, $\beta_0=T^{-2}$, every $A^{(1)}$; modulo constants, which $J$ annihilates; $C=1$, $100$ and $10^4$`,
	Uses:       []string{"lem-pop-grads", "lem-nonzero-beta", "lem-concentration-a1"}, Corrected: "lem-gradient-informal-corrected",
	Check: idealRow{row: queryRole}.check(candidateConstants...).Noted(
		"Entry (T,T) tends not to g_TT but to S g_TT, because x_T = s. The witness has a lower bound of the distance to g_T and C/sqrt(T_eff)."),
	Repairs: []ledger.Repair{
		{What: "rows other than T", Check: idealRow{row: ownChild}.check(candidateConstants...)},
		{What: "S g_TT for g_TT", Check: idealRow{row: queryRole, last: 3}.check(candidateConstants...)},
	},
}

// An idealRow is the claim |g*_i - g_i|_inf <= C T^(-rate) for a row of the
// in-context graph, true if it is and false if it is not even modulo constants,
// with the factor last for the row of g, which in row T is that of g_TT alone. What is left out is as in Lemma 3
// (lem-gradient-informal).
type idealRow struct {
	row     int
	last    int64                        // 1
	rate    *big.Rat                     // 1/2
	reading theory.Reading               // QueryInSequence
	eps     func(root *big.Rat) *big.Rat // T_eff^(-1/2)
	pi      exact.Matrix                 // pullAway
}

func (q idealRow) check(constants ...*big.Rat) ledger.Check {
	return decided(func(w *ledger.Worst) { q.decide(w, constants...) })
}

func (q idealRow) decide(w *ledger.Worst, constants ...*big.Rat) {
	if q.eps == nil {
		q.eps = inverse
	}
	if q.pi == nil {
		q.pi = pullAway
	}
	at := func(root *big.Rat) longStageOne { return newLongStageOne(root, q.eps(root), q.reading, q.pi) }
	order{
		lhs: func(root *big.Rat) exact.Interval {
			c := at(root)
			return c.distance(q.row, func(i, j int) *big.Rat { return exact.Mul(exact.Frac(max(q.last, 1), 1), c.g(i, j)) })
		},
		rhs: func(root *big.Rat) exact.Interval { return decayAt(root, q.rate) },
		at: func(root *big.Rat) ledger.Instance {
			return at(root).instance(q.row)
		},
	}.decide(w, rootsOfT(), constants...)
}

// The parts of lem-gradient-informal-corrected.
const (
	allEntries  = "all entries but (T,T)"
	apartToo    = "the query apart"
	lastEntry   = "S g_TT"
	smallEps    = `$\epsilon=T_{\mathrm{eff}}^{-1/2}$`
	floorOfPi   = `$\pi\ge\gamma/S$`
	meanOfPi    = `$\mathbb{E}_\pi[\pi]=\frac1S1_S1_S^\top$`
	rateInFault = "T_eff^(-.65) for T_eff^(-1/2)"
)

var lemGradientInformalCorrected = ledger.Claim{
	ID: "lem-gradient-informal-corrected", Number: "Lemma 3", Title: "The gradient of stage 1 is the idealized one, the query apart", Quick: true,
	Statement:  `For $\beta_0\le T_{\mathrm{eff}}^{-3/2}$, $\nabla_{A^{(1)}_i}L=-\frac{\beta_0}{ST}J(\mathcal S(A^{(1)}_i))g^*_i$ with $|g^*_{i,j}-g_{i,j}|\le35S^3\gamma^{-2}T_{\mathrm{eff}}^{-1/2}$ for all $(i,j)\ne(T,T)$, and with the query apart from $X$ for all $(i,j)$; as defined, $|g^*_{T,T}-S\,g_{T,T}|\le35S^4\gamma^{-2}T_{\mathrm{eff}}^{-1/2}$`,
	Parts:      []string{allEntries, apartToo, lastEntry},
	Hypotheses: floorOfPi + `; ` + meanOfPi + `; ` + smallEps,
	Tried:      `enclosed on in-context graphs, $T=3^6$ to $3^{90}$, $\beta_0=T^{-2}$, every $A^{(1)}$; in the limit $\beta_0\to0$ on chains, stars and spiders up to $T=512$`,
	Uses:       []string{"lem-pop-grads", "lem-nonzero-beta", "lem-concentration-a1-corrected"},
	// The constant 35 S^3/gamma^2 adds the worst cases of Lemmas 23 and 24, each at the least mu.
	Check: idealGradients(idealRow{row: ownRoot}, idealRow{row: queryRole, reading: theory.QueryApart}, 3),
	Faults: []ledger.Fault{
		{What: rateInFault, Part: allEntries, Check: idealGradients(
			idealRow{row: ownRoot, rate: exact.Frac(13, 20)}, idealRow{row: queryRole, reading: theory.QueryApart}, 3)},
		{What: rateInFault, Part: apartToo, Check: idealGradients(
			idealRow{row: ownRoot}, idealRow{row: queryRole, reading: theory.QueryApart, rate: exact.Frac(13, 20)}, 3)},
		{What: "S g_TT without the query in the sequence", Part: apartToo, Check: idealGradients(
			idealRow{row: ownRoot}, idealRow{row: queryRole, reading: theory.QueryApart, last: 3}, 3)},
		{What: "(S-1) g_TT", Part: lastEntry, Check: idealGradients(
			idealRow{row: ownRoot}, idealRow{row: queryRole, reading: theory.QueryApart}, 2)},
		{What: "eps = 1/10", Drops: smallEps, Check: idealGradients(idealRow{
			row: ownChild, eps: func(*big.Rat) *big.Rat { return exact.Frac(1, 10) },
		}, idealRow{row: queryRole, reading: theory.QueryApart}, 3)},
		{What: "a prior of mean trace 27/20", Drops: meanOfPi, Check: idealGradients(
			idealRow{row: queryRole, pi: offTrace, last: 3}, idealRow{row: queryRole, reading: theory.QueryApart}, 3)},
		{What: "gamma = 9/10 for a matrix with entries far below 3/10", Drops: floorOfPi, Check: idealRow{
			row: ownRoot, pi: lightThird,
		}.check(exact.Frac(35*27*100, 81))},
	},
}

// offTrace has the trace 27/20, and lightThird a state that is rare.
var (
	offTrace   = exact.Rats("9/10 1/20 1/20; 1/5 2/5 2/5; 1/5 3/4 1/20")
	lightThird = exact.Rats("1/4 74999/100000 1/100000; 74999/100000 1/4 1/100000; 1/4 1/4 1/2")
)

// idealGradients decides the three parts: the row of in for a query in the
// sequence beside that of a child, the row of apart, and the limit last g_TT.
func idealGradients(in, apart idealRow, last int64) ledger.Check {
	return func(e *ledger.Env) ledger.Finding {
		var w ledger.Worst
		s := int64(len(pullAway))
		constant := gradientConstant(pullAway, 3)
		for _, q := range []idealRow{in, {row: ownChild}, apart} {
			q.decide(&w, constant)
		}
		idealRow{row: queryRole, last: last}.decide(&w, exact.Mul(constant, exact.Frac(s, 1)))
		for _, reading := range []theory.Reading{theory.QueryInSequence, theory.QueryApart} {
			for _, family := range []string{"chain", "star", "spider"} {
				gapsOf(e, &w, reading, family)
			}
		}
		return w.Finding("Enclosed with the constants of the proof; the enclosures refuse T_eff^(-.65).")
	}
}

// gapsOf decides |ghat - g| <= 35 S^3/(gamma^2 sqrt(T_eff)) for the rows but the
// last on graphs of a family, in floats.
func gapsOf(e *ledger.Env, w *ledger.Worst, reading theory.Reading, family string) {
	prior := unevenPrior()
	gamma := theory.Gamma(prior)
	for _, t := range []int{16, 64, 256}[:e.Budget(3, 2)] {
		g := graph.FamilyNamed(family).New(t)
		w.AtMostRounded(distanceToIdeal(g, prior, reading), gradientBound(3, gamma, g.TEff(), 3), gradientRounding, func() ledger.Instance {
			return ledger.Instance{"prior": prior.String(), "graph": family, "T": t, "reading": reading.String()}
		})
	}
}

// distanceToIdeal returns the largest |ghat_ij - g_ij| but for i = j = T.
func distanceToIdeal(g *graph.Forest, prior *markov.Finite, reading theory.Reading) float64 {
	ghat, err := theory.GHat(g, prior, 1/math.Sqrt(g.TEff()), reading)
	if err != nil {
		panic("claims: " + err.Error())
	}
	last := g.T()*g.T() - 1
	return distance(ghat.RawMatrix().Data[:last], theory.G(prior, g).RawMatrix().Data[:last])
}

// symmetricPrior is the hypothesis of the rows on the form of A2.
const symmetricPrior = `$\sigma^{-1}\pi\sigma\overset d=\pi$ for all permutations $\sigma$`

var eqA2Form = ledger.Claim{
	ID: "eq-a2-form", Number: "Section 5.2", Title: "The second attention matrix in stage 2, as the sketch writes it", Quick: true,
	Statement:  `$A^{(2)} = \beta I_S + \frac{\beta-\beta_0}{S}1_S1_S^\top$ throughout stage 2`,
	Hypotheses: symmetricPrior,
	Tried:      `one step from $\beta_0=0$ on a chain of three positions`,
	Corrected:  "eq-a2-form-corrected",
	Check: secondMatrix(1, symmetricPair).Noted(
		"A misprint of the sign: columns of A2 keep the sum beta_0 because 1^T G2 = 0, while the printed form has the column sum 2 beta - beta_0. The appendix has the minus sign, Lemma 9 (lem-a2-sym). "),
	Repairs: []ledger.Repair{{What: "minus for plus", Check: secondMatrix(-1, symmetricPair)}},
}

var eqA2FormCorrected = ledger.Claim{
	ID: "eq-a2-form-corrected", Number: "Section 5.2", Title: "The second attention matrix in stage 2", Quick: true,
	Statement:  `$A^{(2)} = \beta I_S - \frac{\beta-\beta_0}{S}1_S1_S^\top$ throughout stage 2`,
	Hypotheses: symmetricPrior,
	Tried:      `each step that starts from such a matrix: $e^{\beta/2}=1,\frac32,3$ on chains and in-context graphs, $S=2,3$, attention in halves, both readings`,
	Uses:       []string{"lem-pop-grads"},
	Check:      secondMatrix(-1, symmetricPair),
	Faults: []ledger.Fault{
		{What: "twice the all-ones term", Check: secondMatrix(-2, symmetricPair)},
		{What: "one matrix and none of its relabelings", Drops: symmetricPrior, Check: secondMatrix(-1, []exact.Matrix{exact.Rats("2/3 1/3; 1/6 5/6")})},
	},
}

// symmetricPair is a prior over two states that satisfies assumption 1.
var symmetricPair = []exact.Matrix{exact.Rats("2/3 1/3; 1/3 2/3"), exact.Rats("1/3 2/3; 2/3 1/3")}

// secondMatrix decides A2 = beta I + ones (beta-beta0)/S 1 1^T, where beta is the
// difference of its diagonal and its other entries: for one step from beta0 = 0,
// and for the steps from every matrix of that form, in which
//
//	G2 = g (I + ones/S 1 1^T)
//
// as adding a constant to a column of A2 changes neither v nor G2.
func secondMatrix(ones int64, prior []exact.Matrix) ledger.Check {
	return func(*ledger.Env) ledger.Finding {
		var w ledger.Worst
		firstStepOfSecondMatrix(&w, ones, prior)
		eps := exact.Frac(1, 10)
		rows := []exact.Matrix{
			exact.Rats("1 0 0; 1 0 0; 0 0 1"), exact.Rats("1 0 0 0; 1/2 1/2 0 0; 0 1/2 1/2 0; 0 1 0 0"),
		}
		for k, g := range []*graph.Forest{graph.Chain(3), graph.InContext(4)} {
			for _, half := range []*big.Rat{exact.Frac(1, 1), exact.Frac(3, 2), exact.Frac(3, 1)} {
				for _, reading := range []theory.Reading{theory.QueryInSequence, theory.QueryApart} {
					stepOfSecondMatrix(&w, exactG2(g, prior, rows[k], half, eps, reading), ones)
				}
			}
		}
		stepOfSecondMatrix(&w, exactG2(graph.Chain(3), relabelings(pullAway), rows[0], exact.Frac(3, 2), eps, theory.QueryInSequence), ones)
		return w.Finding("Columns of the gradient sum to zero, 1^T G2 = 0 because J(v)1 = 0, and a symmetric prior leaves two numbers.")
	}
}

// stepOfSecondMatrix decides G2 = g (I + ones/S 1 1^T).
func stepOfSecondMatrix(w *ledger.Worst, g2 exact.Matrix, ones int64) {
	if w.Failed() {
		return
	}
	s := int64(len(g2))
	g := exact.Sub(g2[0][0], g2[0][1])
	said := exact.Zero(len(g2), len(g2))
	for a := range said {
		for b := range said {
			said[a][b] = exact.Mul(g, exact.Add(exact.Frac(int64(unit(a == b)), 1), exact.Frac(ones, s)))
		}
	}
	w.EqualMatrix("G2", g2, said, func() ledger.Instance { return ledger.Instance{"S": int(s), "G2": g2} })
}

// firstStepOfSecondMatrix takes one step of size 1 from A2 = 0, where the second
// attention is uniform and all is rational.
func firstStepOfSecondMatrix(w *ledger.Worst, ones int64, prior []exact.Matrix) {
	g, attention := graph.Chain(3), exact.Rats("1 0 0; 1 0 0; 0 0 1")
	eps := exact.Frac(1, 10)
	a2 := exactG2(g, prior, attention, exact.Frac(1, 1), eps, theory.QueryInSequence).Scale(exact.Frac(-1, 1))
	beta := exact.Sub(a2[0][0], a2[0][1])
	said := exact.Mul(beta, exact.Frac(ones, 2))
	w.EqualRat("A2[row,column] after one step of size 1 from A2 = 0", a2[0][1], said, func() ledger.Instance {
		return ledger.Instance{
			"S": 2, "graph": g, "prior": prior, "softmax(A1)": attention, "eps": eps, "A2": a2, "beta": beta,
			"row": 1, "column": 2,
		}
	})
}

var eqFPointwise = ledger.Claim{
	ID: "eq-f-pointwise", Number: "eq. (29)", Title: "The trained model's error on every sequence", Quick: true,
	Statement:  `$|f_{\hat\theta}(X;s)_{s'}-\pi(s'\mid s)| \le \exp(-\Theta(\beta))$ for every $X$, $s$, $s'$`,
	Hypotheses: `$\mathcal S(A^{(1)})$ as at the end of stage 1; $A^{(2)}=\beta I$ up to a multiple of $1_S1_S^\top$; $\pi>0$`,
	Tried:      `a constant sequence on a chain; $\exp(-c\beta)$ with $c=1$, $1/100$ and $10^{-4}$, at $\beta=4/c$`,
	Uses:       []string{"lem-f-to-pi"}, Corrected: "eq-f-pointwise-corrected",
	Check: errorOnSequence(graph.Chain(3), []int{0, 0, 0}).Noted(
		"On a constant sequence the prediction is its token, whatever theta: the error is 1 - pi(1|1) for every beta, and such sequences have positive probability. The lemma that is cited bounds the mean square. The witness has the error and an upper bound of exp(-c beta)."),
	Repairs: []ledger.Repair{{
		What:  "a sequence whose transitions have the frequencies of pi",
		Check: errorOnSequence(graph.InContext(13), []int{1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 1, 0}),
	}},
}

// errorOnSequence decides |f(X;s)_{s'} - pi(s'|s)| <= exp(-c beta) at beta = 4/c,
// for s = s' = 1, pi = (2/3,1/3;1/3,2/3) and the attention to which stage 1 leads.
// It fails if it does for each c.
func errorOnSequence(g *graph.Forest, x []int) ledger.Check {
	return func(*ledger.Env) ledger.Finding {
		var w ledger.Worst
		pi := exact.Rats("2/3 1/3; 1/3 2/3")
		bound := exact.Point(exact.Frac(-4, 1)).Exp()
		for _, beta := range []int64{4, 400, 40000} {
			off := idealPredictionEnclosed(g, x, 0, exact.Frac(beta, 1)).Sub(exact.Point(pi[0][0])).Abs()
			at := func() ledger.Instance {
				return ledger.Instance{
					"graph": g, "pi": pi, "X": ledger.OneBased(x), "s": 1, "s'": 1, "c": exact.Frac(4, beta), "beta": int(beta),
				}
			}
			w = ledger.Worst{Instances: w.Instances}
			if off.AtMost(bound) != exact.CertainlyNot {
				w.AtMostInterval(off, bound, at)
				break
			}
			lhs, rhs := between(off, bound)
			w.AtMostRat(lhs, rhs, at)
		}
		return w.Finding("")
	}
}

// idealPredictionEnclosed encloses f(X;s)_s, with weights e^(beta (z_i-1)).
func idealPredictionEnclosed(g *graph.Forest, x []int, s int, beta *big.Rat) exact.Interval {
	f, total := exact.Point(new(big.Rat)), exact.Point(new(big.Rat))
	for i, z := range idealScores(g, x, s) {
		weight := exact.Point(exact.Mul(beta, exact.Sub(z, exact.Frac(1, 1)))).Exp()
		if total = total.Add(weight); x[i] == s {
			f = f.Add(weight)
		}
	}
	return f.Quo(total)
}

// idealScores returns z_i, what position i attends to that is s: its parent, or if
// it is a root evenly what precedes it.
func idealScores(g *graph.Forest, x []int, s int) []*big.Rat {
	z := make([]*big.Rat, len(x))
	var seen int64
	for i, a := range x {
		seen += int64(unit(a == s))
		z[i] = exact.Frac(seen, int64(i+1))
		if p := g.Parent(i); p != graph.Root {
			z[i] = exact.Frac(int64(unit(x[p] == s)), 1)
		}
	}
	return z
}

// idealPrediction returns f(X;s) of the reduced model
// whose first layer encodes the graph: positions with a parent attend to it,
// roots evenly to what precedes them.
func idealPrediction(g *graph.Forest, x []int, s, states int, beta float64) []float64 {
	f, total, seen := make([]float64, states), 0.0, 0
	for i, a := range x {
		seen += int(unit(a == s))
		z := float64(seen) / float64(i+1)
		if p := g.Parent(i); p != graph.Root {
			z = unit(x[p] == s)
		}
		w := num.Exp(beta * (z - 1))
		f[a] += w
		total += w
	}
	for a := range f {
		f[a] /= total
	}
	return f
}

var eqFPointwiseCorrected = ledger.Claim{
	ID: "eq-f-pointwise-corrected", Number: "eq. (29)", Title: "The trained model's error in mean square",
	Statement:  `$\mathbb E_X|f_{\hat\theta}(X;s)-\pi(\cdot\mid s)|^2 \le T_{\mathrm{eff}}^{-c}$, $c>0$, for $\beta=\tfrac12\log T_{\mathrm{eff}}$`,
	Hypotheses: `$\mathcal S(A^{(1)})$ as at the end of stage 1`,
	Tried:      `$c=3/10$; $T=16,\dots,4096$ on chain, in-context graph and spider, 1000 sequences each`,
	Uses:       []string{"lem-f-to-pi"},
	Check:      meanSquareError(0.5, idealPrediction),
	Faults: []ledger.Fault{
		{What: "beta = 1/8 log T_eff", Check: meanSquareError(0.125, idealPrediction)},
		{What: "children attend evenly to what precedes them", Drops: `$\mathcal S(A^{(1)})$ as at the end of stage 1`, Check: meanSquareError(0.5,
			func(g *graph.Forest, x []int, s, states int, beta float64) []float64 {
				return idealPrediction(graph.Grow(g.T(), func(int) int { return graph.Root }), x, s, states, beta)
			})},
	},
}

// meanSquareError draws sequences and fits E|f - pi|^2 against T_eff^(-3/10), with
// beta = rate log T_eff. What falls like 1/T_eff, as the variance does, is near
// the rival -5/4 and not below it.
func meanSquareError(rate float64, predict func(g *graph.Forest, x []int, s, states int, beta float64) []float64) ledger.Check {
	return func(e *ledger.Env) ledger.Finding {
		var fs []ledger.Finding
		draws, lengths := e.Budget(1000, 400), []int{16, 32, 64, 128, 256, 512, 1024, 2048, 4096}[:e.Budget(9, 6)]
		for _, family := range []string{"chain", "in-context", "spider"} {
			d := ledger.Trend{Claimed: -0.3, Rival: -1.25}
			for _, t := range lengths {
				if e.Err() != nil {
					return ledger.Finding{Tier: ledger.ConsistentWith, Verdict: ledger.Open}
				}
				k := task.Task{Graph: graph.FamilyNamed(family).New(t), Prior: unevenPrior()}
				beta := rate * num.Log(k.Graph.TEff())
				d.Add(k.Graph.TEff(), squareError(k, draws, e.Stream(family, uint64(t)), func(x []int) []float64 {
					return predict(k.Graph, x, x[len(x)-1], k.Prior.States(), beta)
				}))
			}
			f := d.Finding()
			f.Instance, f.Instances = ledger.Instance{"graph": family, "T": lengths, "mean square": d.Y}, draws*len(lengths)
			f.Note = family + ": " + f.Note
			fs = append(fs, f)
		}
		f := ledger.Weakest(fs...)
		f.Note += " Proved from Lemma 32 (lem-f-to-pi), which holds with constants, for c = min(1/16, gamma/4) and T_eff above log^8 T, so from T = 2 10^11 on at best; below that it is a trend of samples: no more than consistent."
		return f
	}
}

// squareError returns the mean over draws of |f(X; s_T) - pi(.|s_T)|^2.
func squareError(k task.Task, draws int, src *rand.PCG, f func(x []int) []float64) float64 {
	b := k.NewBatch(draws)
	task.NewSampler(k).Fill(b, src)
	sum := 0.0
	for r := range draws {
		x, y := b.Seq(r)
		for a, p := range f(x) {
			sum += float64((p - y[a]) * (p - y[a]))
		}
	}
	return sum / float64(draws)
}

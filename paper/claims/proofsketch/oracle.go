package proofsketch

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"learncausal/paper/claims/instruments"
	"learncausal/paper/exact"
	"learncausal/paper/ledger"
	"learncausal/pkg/graph"
	"learncausal/pkg/num"
	"learncausal/pkg/theory"
)

// This file has Section 5.1.1 of the proof sketch: the data processing inequality, the
// oracle of Algorithm 2, and its forest.

var lemDPI = ledger.Claim{
	ID: "lem-dpi", Number: "Lemma 2", Title: "Data processing inequality",
	Statement:  `$I_f(W;Z) \le I_f(Y;Z)$`,
	Hypotheses: `$f$ convex; $f(1)=0$; $W\to Y\to Z$ a Markov chain`,
	Tried:      `random chains of rational laws, four $f$; a search over laws of two and three values, seven $f$`,
	Check:      processing(throughY, exact.Int(1), ratDivergences),
	Faults: []ledger.Fault{
		ledger.Plant("9/10 of the right side", processing(throughY, exact.Frac(9, 10), ratDivergences)),
		ledger.Drop(`$W\to Y\to Z$ a Markov chain`, "Z depends on W as well", processing(throughBoth, exact.Int(1), nil)),
		ledger.Drop(`$f$ convex`, "f(z) = -(z-1)^2", processing(throughY, exact.Int(1), []ratDivergence{
			{name: "-(z-1)^2", f: func(z *big.Rat) *big.Rat { return new(big.Rat).Neg(ratStrict[0].f(z)) }},
		})),
	},
	Spare: []ledger.Spare{ledger.Spared(`$f(1)=0$`, "f(1) is added to both sides")},
}

// processing decides I_f(W;Z) <= factor I_f(Y;Z) on rational Markov chains for the given
// divergences, and searches all laws for a counterexample with factor one.
func processing(r route, factor *big.Rat, fs []ratDivergence) ledger.Check {
	return func(e *ledger.Env, w *ledger.Worst) string {
		attackDataProcessing(e, w, r)
		dataProcessingInRationals(e, w, factor, fs)
		return "P(z|w)/P(z) is the mean of P(z|y)/P(z) under P(y|w): Jensen."
	}
}

// A route returns how many of the nw values of W the law of Z distinguishes; 1 is a Markov chain.
type route func(nw int) int

func throughY(int) int { return 1 }

func throughBoth(nw int) int { return nw }

// A threeLaw is a joint law of W, Y and Z.
type threeLaw struct {
	nw, ny, nz int
	p, y, z    []float64 // P(w), P(y|w), P(z|...) row by row
	classesOfW int       // Z depends on y and w mod classesOfW
}

// lawAt returns the law for the parameters x of a search: each row is a softmax.
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
	return threeLaw{nw, ny, nz, rows(1, nw), rows(nw, ny), rows(ny*r(nw), nz), r(nw)}
}

// informations returns I_f(W;Z) and I_f(Y;Z).
func (c threeLaw) informations(f theory.Divergence) (wz, yz float64) {
	jw, jy := make([]float64, c.nw*c.nz), make([]float64, c.ny*c.nz)
	for w := range c.nw {
		for y := range c.ny {
			for z := range c.nz {
				q := float64(c.p[w] * c.y[w*c.ny+y] * c.z[(y*c.classesOfW+w%c.classesOfW)*c.nz+z])
				jw[w*c.nz+z] += q
				jy[y*c.nz+z] += q
			}
		}
	}
	return mutual(f, jw, c.nz), mutual(f, jy, c.nz)
}

// mutual returns D_f between a joint law with n columns and the product of its marginals.
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

// attackDataProcessing searches for a law that violates the inequality for one of the
// divergences by more than rounding.
func attackDataProcessing(e *ledger.Env, w *ledger.Worst, r route) {
	const rounding = 1e-9
	for _, d := range theory.Divergences() {
		for _, n := range [][3]int{{2, 2, 2}, {3, 2, 3}, {3, 3, 3}}[:e.Budget(3, 1)] {
			if e.Err() != nil {
				return
			}
			law := func(x []float64) threeLaw { return lawAt(x, n[0], n[1], n[2], r) }
			at := func(x []float64) ledger.Instance {
				c := law(x)
				return ledger.Instance{
					"f": d.Name, "P(w)": c.p, "P(y|w)": ledger.Grid(c.y, n[1]), "P(z|...)": ledger.Grid(c.z, n[2]),
				}
			}
			x, wz, yz := e.Search(w, func(x []float64) (wz, yz float64) {
				if wz, yz = law(x).informations(d); yz < 1e-4 { // where the difference is rounding
					return 0, math.Inf(1)
				}
				return wz, yz
			}, e.Starts(4, n[0]+n[0]*n[1]+n[1]*r(n[0])*n[2]), e.Budget(3000, 400), at)
			if x != nil && ledger.Slack(wz, yz) < -rounding {
				w.Fail(ledger.Witness{Instance: at(x)})
			}
		}
	}
}

// dataProcessingInRationals decides the inequality on random Markov chains. In some of them W determines Y.
func dataProcessingInRationals(e *ledger.Env, w *ledger.Worst, factor *big.Rat, fs []ratDivergence) {
	r := rand.New(e.Stream("chains"))
	for range e.Budget(300, 60) {
		y, z := positiveMatrix(r, 3, 3+r.IntN(9)), positiveMatrix(r, 3, 3+r.IntN(9))
		if r.IntN(8) == 0 {
			y = exact.Diag(exact.Ones(3))
		}
		p := instruments.RandomLaw(r, 3, 9)
		for _, d := range fs {
			wz, yz := d.processed(p, y, z)
			yz = exact.Mul(factor, yz)
			w.Rationals++
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

// positiveMatrix returns a random transition matrix with positive entries that are multiples of 1/den.
func positiveMatrix(r *rand.Rand, s, den int) exact.Matrix {
	m := make(exact.Matrix, s)
	for a := range m {
		m[a] = instruments.RandomLaw(r, s, den)
	}
	return m
}

var algOracle = ledger.Claim{
	ID: "alg-oracle", Number: "Algorithm 2", Title: "The oracle algorithm, for any information measure",
	Statement:  `Algorithm 2 returns $\mathcal G$ from the informations $I_f(s_i;s_j\mid\pi)$`,
	Hypotheses: `$f$ convex; $f(1)=0$; assumption 1`,
	Tried:      `all forests with $T\le5$; $\chi^2$, total variation and two hinges`,
	Uses:       []string{"lem-dpi"}, Defect: ledger.Missing,
	Check: func(e *ledger.Env, w *ledger.Worst) string {
		note := oracleClaim{fs: ratDivergences}.check(e, w)
		if w.Failed() {
			note = "Every ratio pi(s'|s)/mu(s') is below the kink of f, so each information is 0 and no edge is " +
				"found; lhs and rhs count edges. " + tieNote()
		}
		return note
	},
	Correction: &ledger.Claim{
		ID: "alg-oracle-corrected", Title: "The oracle algorithm, for divergences that see dependence",
		Statement: `Algorithm 2 returns $\mathcal G$ from the informations $I_f(s_i;s_j\mid\pi)$ for $f$ that are ` +
			`strictly convex at 1`,
		Hypotheses: `$D_f(P\|Q)=0$ only for $P=Q$; $\pi>0$ almost surely, and the informations are finite, as they are under Assumption 1; $\pi$ does not mix in one step, with ` +
			`positive probability`,
		Tried: `exactly for $\chi^2$ and total variation on all forests with $T\le5$; in floats for six strictly ` +
			`convex $f$ on random forests with $T\le12$`,
		Uses: []string{"lem-dpi", "lem-contraction"},
		// The inequality is strict and has no constant. The sides are the informations of the
		// parent and of the best other position, where they are closest among random chains.
		Check: oracleClaim{fs: ratStrict, also: oracleInFloats}.check,
		Faults: []ledger.Fault{
			ledger.Plant("edges from an information of 1/10 on", oracleClaim{fs: ratStrict, above: exact.Frac(1, 10)}.check),
			ledger.Drop(`$D_f(P\|Q)=0$ only for $P=Q$`, "a hinge among the divergences", oracleClaim{fs: ratDivergences}.check),
			ledger.Drop(`$\pi>0$ almost surely, and the informations are finite, as they are under Assumption 1`, "a chain in which a child tells the row of its parent",
				oracleClaim{fs: ratStrict, priors: [][]exact.Matrix{{tie}}}.check),
			ledger.Drop(`$\pi$ does not mix in one step, with positive probability`, "independent tokens",
				oracleClaim{fs: ratStrict, priors: [][]exact.Matrix{{exact.Rats("1/2 1/2; 1/2 1/2")}}}.check),
		},
	},
}

// An oracleClaim is the claim that Algorithm 2 recovers all forests up to T = 5.
type oracleClaim struct {
	fs     []ratDivergence
	above  *big.Rat         // an edge needs a larger information; nil for 0
	priors [][]exact.Matrix // in addition to priors that satisfy Assumption 1
	also   func(e *ledger.Env, w *ledger.Worst, r *rand.Rand)
}

func (q oracleClaim) check(e *ledger.Env, w *ledger.Worst) string {
	const note = "I_f(s_i;s_j) <= alpha(K) I_f(s_i;s_p(i)) with K the law of s_j given s_p(i), a positive matrix, " +
		"so alpha(K) < 1; and I_f(s_i;s_p(i)) > 0."
	r := rand.New(e.Stream("priors"))
	if q.inRationals(e, w, r); q.also != nil && !w.Failed() {
		floats := new(ledger.Worst)
		q.also(e, floats, r)
		floats.Include(w)
		*w = *floats
	}
	return note
}

// A ratDivergence is an f-divergence with rational values.
type ratDivergence struct {
	name  string
	f     func(z *big.Rat) *big.Rat
	hinge *big.Rat // f(z) = max(z - hinge, 0); nil for other f
}

func ratHinge(name, hinge string) ratDivergence {
	k := exact.Rat(hinge)
	return ratDivergence{name, func(z *big.Rat) *big.Rat {
		if d := exact.Sub(z, k); d.Sign() > 0 {
			return d
		}
		return new(big.Rat)
	}, k}
}

// ratStrict are strictly convex at 1; ratHinges are not.
var (
	ratStrict = []ratDivergence{
		{name: "(z-1)^2", f: func(z *big.Rat) *big.Rat { return exact.Pow(exact.Sub(z, exact.Int(1)), 2) }},
		{name: "|z-1|/2", f: func(z *big.Rat) *big.Rat {
			return exact.Quo(exact.Abs(exact.Sub(z, exact.Int(1))), exact.Int(2))
		}},
	}
	ratHinges      = []ratDivergence{ratHinge("max(z-3/2, 0)", "3/2"), ratHinge("max(z-2, 0)", "2")}
	ratDivergences = append(slices.Clone(ratStrict), ratHinges...)
)

// mutual returns D_f between the joint law and the product of its marginals.
func (d ratDivergence) mutual(joint exact.Matrix) *big.Rat {
	u, v := exact.Zero(1, len(joint))[0], exact.Zero(1, len(joint[0]))[0]
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

// informations returns I_f(s_i; s_j | pi) for j < i < T-1, where pi is uniform on the orbits of the matrices.
func (d ratDivergence) informations(g *graph.Forest, pis []exact.Matrix) [][]*big.Rat {
	table := make([][]*big.Rat, g.T()-1)
	for i := range table {
		for j := range i {
			sum := new(big.Rat)
			for _, pi := range pis {
				sum.Add(sum, d.mutual(exact.Joint(pi, g, i, j)))
			}
			table[i] = append(table[i], sum.Quo(sum, exact.Int(len(pis))))
		}
	}
	return table
}

// oracleParents runs Algorithm 2 with edges for informations larger than above. Of equal
// maxima it takes the last one, the worst case for an earlier parent.
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

// symmetricPairs returns priors over two states that satisfy Assumption 1: uniform on
// the matrices with a and with 1-a on the diagonal.
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

// tie is an irreducible and aperiodic chain in which the child of a state determines the row of the state.
var tie = exact.Rats("1/2 0 1/2; 1/2 0 1/2; 0 1 0")

// tieNote describes the tie, or is empty if there is none.
func tieNote() string {
	for _, d := range ratDivergences {
		if info := d.informations(graph.Star(4), []exact.Matrix{tie}); info[2][0].Cmp(info[2][1]) != 0 {
			return ""
		}
	}
	return fmt.Sprintf("Positivity matters as well: for the irreducible and aperiodic rows %v the informations of "+
		"position 3 with its parent 1 and its sibling 2 tie for every f, as the sibling's value tells the parent's row.",
		tie.Strings())
}

// oraclePriors returns priors that satisfy Assumption 1 with the given gamma.
func oraclePriors(e *ledger.Env, r *rand.Rand, gamma *big.Rat) [][]exact.Matrix {
	priors := symmetricPairs()
	for range e.Budget(4, 2) {
		if pi := instruments.TraceOneMatrix(r, 3, 6+r.IntN(10)); exact.CheckGamma(pi, gamma) == nil {
			priors = append(priors, []exact.Matrix{pi})
		}
	}
	for _, pi := range slices.Concat(priors...) {
		if err := exact.CheckGamma(pi, gamma); err != nil {
			panic("proofsketch: " + err.Error()) // the priors are made to satisfy it
		}
	}
	return priors
}

// inRationals runs the algorithm on all forests up to T = 5.
func (q oracleClaim) inRationals(e *ledger.Env, w *ledger.Worst, r *rand.Rand) {
	gamma, above := exact.Frac(1, 10), new(big.Rat)
	if q.above != nil {
		above = q.above
	}
	priors := slices.Concat(q.priors, oraclePriors(e, r, gamma))
	for t := 2; t <= e.Budget(5, 4); t++ {
		for _, d := range q.fs {
			for _, prior := range priors {
				for g := range graph.All(t) {
					if w.Failed() || e.Err() != nil {
						return
					}
					got := oracleParents(d.informations(g, prior), above)
					found, edges := edgesFound(got, g)
					w.EqualRat("", exact.Int(found), exact.Int(edges), func() ledger.Instance {
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
}

// edgesFound returns the number of edges of g among the given parents, minus the number
// of edges at roots of g, and the number of edges of g.
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

// oracleInFloats runs the algorithm on random forests, for divergences that are strictly
// convex at 1, and keeps the instance in which a parent's information leads by least.
func oracleInFloats(e *ledger.Env, w *ledger.Worst, r *rand.Rand) {
	for k := range e.Budget(40, 6) {
		g := graph.Random(4+r.IntN(9), 0.3, e.Stream("forest", uint64(k)))
		pi := theory.MustChain(instruments.TraceOneMatrix(r, 3, 12+r.IntN(10)).Floats(), 3)
		for _, d := range []theory.Divergence{
			theory.ChiSquared, theory.KullbackLeibler, theory.ReverseKL,
			theory.TotalVariation, theory.Hellinger, theory.JensenShannon,
		} {
			w.Floats++
			info := make([]float64, g.T()*g.T())
			for k := range info {
				info[k] = pi.Information(d, g, k/g.T(), k%g.T())
			}
			at := ledger.Instance{"f": d.Name, "graph": g, "pi": ledger.Grid(pi.Pi.RawMatrix().Data, 3)}
			got := theory.Oracle(mat.NewDense(g.T(), g.T(), info), make([]float64, g.T()))
			if got.String() != g.String() {
				w.Fail(ledger.Witness{Instance: at.With("output", got)})
			}
			for _, edge := range g.Edges() {
				p, i := edge[0], edge[1]
				for j := range i {
					if j != p {
						w.Keep(info[i*g.T()+j], info[i*g.T()+p], func() ledger.Instance {
							return at.With("i", i+1).With("j", j+1)
						})
					}
				}
			}
		}
	}
}

var remChowLiu = ledger.Claim{
	ID: "rem-chow-liu", Number: "Section 5.1.1", Title: "The oracle's forest has maximal weight",
	Statement: `the edges $(p(i)\to i)$, $p(i)=\arg\max_{j<i} I_f(s_i;s_j\mid\pi)$, form a spanning forest of ` +
		`maximal total weight $I_f(s_i;s_j\mid\pi)$`,
	Hypotheses: `the informations are those of sequences from a forest`,
	Tried:      `all forests with $T\le5$, random $\pi$ and the tie of alg-oracle; $\chi^2$, total variation, hinges`,
	Uses:       []string{"lem-dpi"},
	Check:      maximalWeight(isEarlier, ratDivergence.informations),
	Faults: []ledger.Fault{
		ledger.Plant("the maximum over later positions too",
			maximalWeight(func(j, i int) bool { return j != i }, ratDivergence.informations)),
		ledger.Drop(`the informations are those of sequences from a forest`, "the table 1; 5 5; 0 0 0",
			maximalWeight(isEarlier, func(ratDivergence, *graph.Forest, []exact.Matrix) [][]*big.Rat {
				return [][]*big.Rat{{}, exact.Rats("1")[0], exact.Rats("5 5")[0], exact.Rats("0 0 0")[0]}
			})),
	},
}

func isEarlier(j, i int) bool { return j < i }

// maximalWeight compares the weight of Kruskal's forest with the weight of the forest in
// which each position i has the parent of largest information among the j allowed.
func maximalWeight(
	allowed func(j, i int) bool, informations func(ratDivergence, *graph.Forest, []exact.Matrix) [][]*big.Rat,
) ledger.Check {
	return func(e *ledger.Env, w *ledger.Worst) string {
		r := rand.New(e.Stream("matrices"))
		pis := []exact.Matrix{tie, exact.Rats("3/4 1/4; 1/4 3/4")}
		for k := range e.Budget(8, 2) {
			pis = append(pis, instruments.TraceOneMatrix(r, 3+k%2, 8+r.IntN(8)))
		}
		for t := 3; t <= e.Budget(5, 4); t++ {
			for _, pi := range pis {
				for _, d := range ratDivergences {
					for g := range graph.All(t) {
						if w.Failed() || e.Err() != nil {
							break
						}
						info := informations(d, g, []exact.Matrix{pi})
						w.EqualRat("", greedyWeight(info, allowed), kruskal(info), func() ledger.Instance {
							return ledger.Instance{"f": d.name, "graph": g, "pi": pi}
						})
					}
				}
			}
		}
		return "Equal as rationals, ties and vanishing weights included: each edge on the path between two " +
			"positions weighs at least as much as they do."
	}
}

// greedyWeight returns the sum over positions of the largest information with an allowed parent.
func greedyWeight(info [][]*big.Rat, allowed func(j, i int) bool) *big.Rat {
	sum := new(big.Rat)
	for i := range info {
		best := new(big.Rat)
		for j := range info {
			if allowed(j, i) && info[max(i, j)][min(i, j)].Cmp(best) > 0 {
				best = info[max(i, j)][min(i, j)]
			}
		}
		sum.Add(sum, best)
	}
	return sum
}

// kruskal returns the weight of the heaviest forest, by Kruskal's algorithm.
func kruskal(info [][]*big.Rat) *big.Rat {
	type pair struct{ i, j int }
	var pairs []pair
	tree := make([]int, len(info))
	for i := range info {
		tree[i] = i
		for j := range i {
			pairs = append(pairs, pair{i: i, j: j})
		}
	}
	slices.SortStableFunc(pairs, func(p, q pair) int { return info[q.i][q.j].Cmp(info[p.i][p.j]) })
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

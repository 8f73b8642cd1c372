package claims

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"sort"

	"learncausal/pkg/exact"
	"learncausal/pkg/graph"
	"learncausal/pkg/num"
	"learncausal/pkg/theory"
)

const sectionSketch = "Proof Sketch"

func sketchClaims() []Claim {
	return append([]Claim{
		{
			ID: "lem-dpi", Title: "Data processing inequality", Section: sectionSketch, Quick: true,
			Statement:  `$I_f(W;Z) \le I_f(Y;Z)$`,
			Hypotheses: `$f$ convex, $f(1)=0$; $W\to Y\to Z$ a Markov chain`,
			Check:      func(e *Env) Finding { return dataProcessingAttack(e, true) },
			Fault:      "Z depends on W as well",
			Faulty:     func(e *Env) Finding { return dataProcessingAttack(e, false) },
		},
		{
			ID: "alg-oracle", Title: "The oracle algorithm, for any information measure", Section: sectionSketch, Quick: true,
			Statement:  `Algorithm 2 returns $\mathcal G$ from the informations $I_f(s_i;s_j\mid\pi)$`,
			Hypotheses: `$f$ convex, $f(1)=0$; the prior satisfies all of assumption 1`,
			Uses:       []string{"lem-dpi"}, Corrected: "alg-oracle-corrected",
			Check:  func(e *Env) Finding { return oracle(e, ratDivergences, false) },
			Fault:  "hinges only",
			Faulty: func(e *Env) Finding { return oracle(e, ratDivergences[2:], false) },
		},
		{
			ID: "alg-oracle-corrected", Title: "The oracle algorithm, for divergences that see dependence", Section: sectionSketch, Quick: true,
			Statement:  `Algorithm 2 returns $\mathcal G$ if $f$ is strictly convex at 1 ($D_f(P\|Q)=0$ only for $P=Q$), $\pi>0$ almost surely, and $\pi$ does not mix in one step with positive probability`,
			Hypotheses: `assumption 1; exactly for $\chi^2$ and total variation on all forests with $T\le5$, in floats for all six strictly convex $f$ on random forests with $T\le12$`,
			Uses:       []string{"lem-dpi", "lem-contraction"},
			Check:      func(e *Env) Finding { return oracle(e, ratDivergences[:2], true) },
			Fault:      "a hinge among the divergences",
			Faulty:     func(e *Env) Finding { return oracle(e, ratDivergences, true) },
		},
		{
			ID: "rem-chow-liu", Title: "The oracle's forest has maximal weight", Section: sectionSketch, Quick: true,
			Statement:  `the edges $(p(i)\to i)$, $p(i)=\arg\max_{j<i} I_f(s_i;s_j\mid\pi)$, form a spanning forest of maximal total weight $I_f(s_i;s_j\mid\pi)$`,
			Hypotheses: `sequences from a forest; all forests with $T\le5$, random $\pi$ and the tie of alg-oracle; $f$: $\chi^2$, total variation, hinges`,
			Uses:       []string{"lem-dpi", "alg-oracle"},
			Check:      func(e *Env) Finding { return chowLiu(e, false) },
			Fault:      "the maximum over later positions too",
			Faulty:     func(e *Env) Finding { return chowLiu(e, true) },
		},
		{
			ID: "eq-g-parent-chi2", Title: "The idealized gradient at the parent is an information", Section: sectionSketch, Quick: true,
			Statement:  `$g_{i,p(i)} = \mathbb E_\pi[\sum_{s,s'}\pi(s'\mid s)^2\mu_\pi(s)^2/(\mu_\pi(s')\mu_\pi(s))-1] = I_{\chi^2}(s_i;s_{p(i)}\mid\pi)$`,
			Hypotheses: `any $\pi$ with positive stationary measure`,
			Check:      func(e *Env) Finding { return parentInformation(e, 1) },
			Fault:      "the information with the parent's parent",
			Faulty:     func(e *Env) Finding { return parentInformation(e, 2) },
		},
		{
			ID: "eq-g-amgm", Title: "The idealized gradient below two informations", Section: sectionSketch, Quick: true,
			Statement:  `$g_{i,j} \le \tfrac12 I_{\chi^2}(s_i;s_{p(i)}\mid\pi) + \tfrac12 I_{\chi^2}(s_i;s_j\mid\pi)$`,
			Hypotheses: `$i$ not a root, $j\le i$, $j=i$ included`,
			Uses:       []string{"eq-g-parent-chi2"},
			Check:      func(e *Env) Finding { return twoInformations(e, big.NewRat(1, 2)) },
			Fault:      "the second half left out",
			Faulty:     func(e *Env) Finding { return twoInformations(e, new(big.Rat)) },
		},
		{
			ID: "eq-g-root-zero", Title: "The idealized gradient of a root", Section: sectionSketch, Quick: true,
			Statement:  `$g_{i,j}=0$ for all roots $i$, $T$ included, and all $j\le i$`,
			Hypotheses: `the prior satisfies all of assumption 1`,
			Corrected:  "eq-g-root-zero-corrected",
			Check:      func(e *Env) Finding { return rootGradient(e, rootAll) },
			Fault:      "priors whose trace does not average to one",
			Faulty:     func(e *Env) Finding { return rootGradient(e, rootTrace) },
		},
		{
			ID: "eq-g-root-zero-corrected", Title: "The idealized gradient of a root, the query apart", Section: sectionSketch, Quick: true,
			Statement:  `$g_{i,j}=0$ for roots $i$ and $j\le i$ but for $g_{T,T} = \mathbb E_\pi[\tfrac1S\sum_s\pi(s\mid s)/\mu_\pi(s)]-1$; $g_{i,i}=0$ needs the constant mean`,
			Hypotheses: `the prior satisfies all of assumption 1`,
			Check:      func(e *Env) Finding { return rootGradient(e, rootNotQuery) },
			Fault:      "priors whose trace does not average to one",
			Faulty:     func(e *Env) Finding { return rootGradient(e, rootTrace) },
		},
	}, informalClaims()...)
}

// A threeChain is the law of w -> y -> z; direct says that z depends on w too.
type threeChain struct {
	nw, ny, nz int
	p, y, z    []float64 // P(w), P(y|w), P(z|y) or P(z|y,w) at (y*nw+w)*nz
	direct     bool
}

func newThreeChain(x []float64, nw, ny, nz int, direct bool) threeChain {
	c := threeChain{nw: nw, ny: ny, nz: nz, direct: direct}
	rows := func(n, of int) []float64 {
		out := make([]float64, 0, n*of)
		for range n {
			v := make([]float64, of)
			sum := 0.0
			for k := range v {
				v[k] = num.Exp(max(-30, min(30, x[k])))
				sum += v[k]
			}
			x = x[of:]
			for k := range v {
				out = append(out, v[k]/sum)
			}
		}
		return out
	}
	c.p, c.y = rows(1, nw), rows(nw, ny)
	if direct {
		c.z = rows(ny*nw, nz)
	} else {
		c.z = rows(ny, nz)
	}
	return c
}

// dimension returns the number of parameters of a chain.
func dimension(nw, ny, nz int, direct bool) int {
	n := nw + nw*ny + ny*nz
	if direct {
		n += ny * (nw - 1) * nz
	}
	return n
}

// informations returns I_f(W;Z) and I_f(Y;Z).
func (c threeChain) informations(f theory.Divergence) (wz, yz float64) {
	jw, jy := make([]float64, c.nw*c.nz), make([]float64, c.ny*c.nz)
	for w := range c.nw {
		for y := range c.ny {
			for z := range c.nz {
				k := y
				if c.direct {
					k = y*c.nw + w
				}
				q := c.p[w] * c.y[w*c.ny+y] * c.z[k*c.nz+z]
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

// dataProcessingAttack searches for a chain, Markov or not, that breaks the
// inequality for one of the divergences.
func dataProcessingAttack(e *Env, markov bool) Finding {
	f := Finding{Tier: Exact, Verdict: Holds, Margin: math.Inf(1), Seed: Seed}
	for _, d := range theory.Divergences() {
		for _, n := range [][3]int{{2, 2, 2}, {3, 2, 3}, {3, 3, 3}}[:e.Budget(3, 1)] {
			if e.Err() != nil {
				break
			}
			dim := dimension(n[0], n[1], n[2], !markov)
			value := func(x []float64) float64 {
				wz, yz := newThreeChain(x, n[0], n[1], n[2], !markov).informations(d)
				if math.IsInf(yz, 1) || yz < 1e-4 {
					return math.Inf(1) // where the difference is rounding
				}
				return Slack(wz, yz)
			}
			best, v, evals := e.Attack(value, e.Starts(4, dim), e.Budget(3000, 400))
			f.Instances += evals
			if best != nil && v < f.Margin {
				c := newThreeChain(best, n[0], n[1], n[2], !markov)
				f.LHS, f.RHS = c.informations(d)
				f.Margin = v
				f.Instance = Instance{"f": d.Name, "P(w)": decimals(c.p, n[0])[0], "P(y|w)": decimals(c.y, n[1]), "P(z|...)": decimals(c.z, n[2])}
			}
		}
	}
	r := rand.New(e.Stream("chains"))
	for range e.Budget(300, 60) {
		if !markov {
			break
		}
		y, z := positiveMatrix(r, 3, 3+r.IntN(9)), positiveMatrix(r, 3, 3+r.IntN(9))
		p := exact.Zero(1, 3)[0]
		for k, n := range composition(r, 3, 9) {
			p[k].SetFrac64(int64(n), 9)
		}
		wy := exact.Diag(p).Mul(y)
		law := exact.Zero(3, 3) // of Y, on the diagonal
		for w := range wy {
			for k := range law {
				law[k][k].Add(law[k][k], wy[w][k])
			}
		}
		for _, d := range ratDivergences {
			f.Instances++
			if wz, yz := d.mutual(wy.Mul(z)), d.mutual(law.Mul(z)); wz.Cmp(yz) > 0 {
				f.LHS, f.RHS, f.Margin = ratFloat(wz), ratFloat(yz), -1
				f.Instance = Instance{"f": d.name, "P(w)": exact.Vector(p).Strings(), "P(y|w)": y.Strings(), "P(z|y)": z.Strings()}
			}
		}
	}
	f.Note = fmt.Sprintf("No counterexample found in %d instances, part of them rational; smallest relative slack %.0e, at chains where W determines Y. Proof: P(z|w)/P(z) is the mean of P(z|y)/P(z) under P(y|w); apply Jensen to f, multiply by P(w)P(z) and sum.", f.Instances, f.Margin)
	switch {
	case f.Margin < -1e-9:
		f.Verdict, f.Witness = Fails, f.Instance
		f.Note = ""
	case f.Margin < 0:
		f.Margin = 0 // equality, up to rounding
	}
	return f
}

// A ratDivergence is an f-divergence with rational values.
type ratDivergence struct {
	name string
	f    func(z *big.Rat) *big.Rat
}

func ratHinge(name string, k *big.Rat) ratDivergence {
	return ratDivergence{name, func(z *big.Rat) *big.Rat {
		if d := new(big.Rat).Sub(z, k); d.Sign() > 0 {
			return d
		}
		return new(big.Rat)
	}}
}

// ratDivergences starts with the two that are strictly convex at 1.
var ratDivergences = []ratDivergence{
	{"(z-1)^2", func(z *big.Rat) *big.Rat { d := new(big.Rat).Sub(z, big.NewRat(1, 1)); return d.Mul(d, d) }},
	{"|z-1|/2", func(z *big.Rat) *big.Rat {
		d := new(big.Rat).Sub(z, big.NewRat(1, 1))
		return d.Mul(d.Abs(d), big.NewRat(1, 2))
	}},
	ratHinge("max(z-3/2, 0)", big.NewRat(3, 2)),
	ratHinge("max(z-2, 0)", big.NewRat(2, 1)),
}

// mutual returns D_f of the joint law from the product of its marginals.
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
			if product := new(big.Rat).Mul(u[a], v[b]); product.Sign() > 0 {
				sum.Add(sum, new(big.Rat).Mul(product, d.f(new(big.Rat).Quo(q, product))))
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

// oracleParents runs Algorithm 2; of equal maxima the last counts, the worst
// case for an earlier parent.
func oracleParents(info [][]*big.Rat) []int {
	parents := make([]int, len(info)+1)
	for i := range parents {
		parents[i] = graph.Root
	}
	for i, row := range info {
		best := new(big.Rat)
		for j, v := range row {
			if v.Sign() > 0 && v.Cmp(best) >= 0 {
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

// oracle runs the algorithm exactly on all forests up to T = 5, and if floats
// says so also for each strictly convex divergence of package theory.
func oracle(e *Env, fs []ratDivergence, floats bool) Finding {
	f := Finding{Tier: Exact, Verdict: Holds, Seed: Seed}
	r := rand.New(e.Stream("priors"))
	priors := symmetricPairs()
	for range e.Budget(4, 2) {
		pi := traceOneMatrix(r, 3, 6+r.IntN(10))
		if exact.FrobeniusSquared(pi).Sign() > 0 {
			priors = append(priors, []exact.Matrix{pi})
		}
	}
	for t := 2; t <= e.Budget(5, 4); t++ {
		for _, d := range fs {
			for _, prior := range priors {
				allForests(t, func(g *graph.Forest) {
					if f.Verdict == Fails || e.Err() != nil {
						return
					}
					f.Instances++
					info := d.informations(g, prior)
					got := oracleParents(info)
					if fmt.Sprint(got) == fmt.Sprint(g.Parents()) {
						return
					}
					var matrices [][][]string
					for _, pi := range prior {
						matrices = append(matrices, pi.Strings())
					}
					f.Verdict, f.Margin = Fails, -1
					f.Instance = Instance{"f": d.name, "graph": parentList(g), "prior, uniform on": matrices, "output": fmt.Sprint(ints(got))}
					f.Witness = f.Instance
				})
			}
		}
	}
	if f.Verdict == Fails {
		f.RHS = 1
		f.Note = "Every ratio pi(s'|s)/mu(s') is below the kink of f, so each information is 0 and no edge is found; lhs and rhs count edges. Positivity matters as well: "
		g := forest(4, func(int) int { return 0 })
		equal := true
		for _, d := range ratDivergences {
			info := d.informations(g, []exact.Matrix{tie})
			equal = equal && info[2][0].Cmp(info[2][1]) == 0
		}
		f.Note += fmt.Sprintf("for the irreducible and aperiodic rows %v the informations of position 3 with its parent 1 and its sibling 2 tie (%v) for every f, as the sibling's value tells the parent's row.", tie.Strings(), equal)
		return f
	}
	f.Note = "I_f(s_i;s_j) <= alpha(K) I_f(s_i;s_p(i)) with K the law of s_j given s_p(i), a positive matrix, so alpha(K) < 1; and I_f(s_i;s_p(i)) > 0."
	if floats {
		gap, graphs := math.Inf(1), 0
		for k := range e.Budget(40, 6) {
			g := graph.Random(4+r.IntN(9), 0.3, e.Stream("forest", uint64(k)))
			pi := theory.MustChain(traceOneMatrix(r, 3, 12+r.IntN(10)).Floats(), 3)
			for _, d := range theory.Divergences()[:6] {
				graphs++
				info := make([]float64, g.T()*g.T())
				for i := range g.T() {
					for j := range g.T() {
						info[i*g.T()+j] = pi.Information(d, g, i, j)
					}
				}
				got := theory.Oracle(info, make([]float64, g.T()))
				if got.String() != g.String() {
					f.Verdict, f.Margin, f.Witness = Fails, -1, Instance{"f": d.Name, "graph": parentList(g), "pi": decimals(pi.Pi, 3), "output": parentList(got)}
					return f
				}
				for i := range g.T() {
					for j := range i {
						if p := g.Parent(i); p != graph.Root && j != p {
							if m := Slack(info[i*g.T()+j], info[i*g.T()+p]); m < gap {
								gap, f.LHS, f.RHS = m, info[i*g.T()+j], info[i*g.T()+p]
								f.Instance = Instance{"f": d.Name, "graph": parentList(g), "pi": decimals(pi.Pi, 3), "i": i + 1, "j": j + 1}
							}
						}
					}
				}
			}
		}
		f.Instances += graphs
		f.Margin = gap
	}
	return f
}

// traceOneMatrix returns a random positive transition matrix of trace one,
// whose relabelings are a prior of constant mean.
func traceOneMatrix(r *rand.Rand, s, den int) exact.Matrix {
	m := exact.Zero(s, s)
	for k, n := range traceOne(r, s, den) {
		m[k/s][k%s].SetFrac64(int64(n), int64(den))
	}
	return m
}

// chowLiu compares the weight of the oracle's forest with that of Kruskal's,
// exactly. later lets a parent come after its child.
func chowLiu(e *Env, later bool) Finding {
	f := Finding{Tier: Exact, Verdict: Holds, Seed: Seed}
	r := rand.New(e.Stream("matrices"))
	pis := []exact.Matrix{tie, exact.Rats("3/4 1/4; 1/4 3/4")}
	for k := range e.Budget(8, 2) {
		pis = append(pis, traceOneMatrix(r, 3+k%2, 8+r.IntN(8)))
	}
	for t := 3; t <= e.Budget(5, 4); t++ {
		for _, pi := range pis {
			for _, d := range ratDivergences {
				allForests(t, func(g *graph.Forest) {
					if f.Verdict == Fails || e.Err() != nil {
						return
					}
					f.Instances++
					info := d.informations(g, []exact.Matrix{pi})
					sum := new(big.Rat)
					for i := range info {
						best := new(big.Rat)
						for j := range len(info) {
							if j < i && info[i][j].Cmp(best) > 0 {
								best = info[i][j]
							}
							if later && j > i && info[j][i].Cmp(best) > 0 {
								best = info[j][i]
							}
						}
						sum.Add(sum, best)
					}
					heaviest := kruskal(info)
					if f.Instance == nil || sum.Cmp(heaviest) != 0 {
						f.LHS, f.RHS = ratFloat(sum), ratFloat(heaviest)
						f.Instance = Instance{"f": d.name, "graph": parentList(g), "pi": pi.Strings(), "weight": sum.RatString(), "largest": heaviest.RatString()}
					}
					if sum.Cmp(heaviest) != 0 {
						f.Verdict, f.Margin, f.Witness = Fails, Deviation(f.LHS, f.RHS), f.Instance
					}
				})
			}
		}
	}
	f.Note = "Equal as rationals, ties and vanishing weights included, so also where the oracle's edges are not those of the graph. Proof: by data processing each edge on the path between two positions weighs at least as much as they do (cycle property)."
	return f
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

// parentInformation compares g_{i,p(i)} with the displayed sum and with the
// information of two positions at a distance, all in rationals.
func parentInformation(e *Env, distance int) Finding {
	c := comparison{}
	r := rand.New(e.Stream("matrices"))
	g := graph.Chain(5)
	for k := range e.Budget(60, 15) {
		pi := positiveMatrix(r, 2+k%3, 6+r.IntN(12))
		ideal, info, sum := exact.G(pi, g, 3, 2), exact.ChiSquaredInformation(exact.Joint(pi, g, 3, 3-distance)), exact.FrobeniusSquared(pi)
		lhs, rhs := []float64{ratFloat(ideal), ratFloat(sum)}, []float64{ratFloat(info), ratFloat(info)}
		// Equal rationals have equal floats; different ones may, too.
		if (ideal.Cmp(info) == 0 && sum.Cmp(info) == 0) != (lhs[0] == rhs[0] && lhs[1] == rhs[1]) {
			lhs[0] = math.Nextafter(rhs[0], 2)
		}
		c.equal(lhs, rhs, func() Instance { return Instance{"graph": parentList(g), "i": 4, "pi": pi.Strings()} })
	}
	f := c.finding(Exact, "Equal as rationals for each pi: P[s_i=s', s_p(i)=s] = mu(s) pi(s'|s).")
	f.Seed = Seed
	return f
}

// positiveMatrix returns a random transition matrix with positive entries that
// are multiples of 1/den.
func positiveMatrix(r *rand.Rand, s, den int) exact.Matrix {
	m := exact.Zero(s, s)
	for _, row := range m {
		for j, n := range composition(r, s, den) {
			row[j].SetFrac64(int64(n), int64(den))
		}
	}
	return m
}

// twoInformations checks the bound with the given weight of the second
// information, exactly on random matrices, and attacks it in floats for j other
// than p(i), where it is an equality.
func twoInformations(e *Env, second *big.Rat) Finding {
	f := Finding{Tier: Exact, Verdict: Holds, Margin: math.Inf(1), Seed: Seed}
	r := rand.New(e.Stream("matrices"))
	bound := func(pi exact.Matrix, g *graph.Forest, i, j int) *big.Rat {
		half := exact.FrobeniusSquared(pi)
		half.Mul(half, big.NewRat(1, 2))
		return half.Add(half, new(big.Rat).Mul(second, exact.ChiSquaredInformation(exact.Joint(pi, g, i, j))))
	}
	for k := range e.Budget(12, 4) {
		pi := positiveMatrix(r, 2+k%2, 6+r.IntN(12))
		g := graph.Random(6, 0.2, e.Stream("forest", uint64(k)))
		for i := range g.T() {
			for j := 0; j <= i && g.Parent(i) != graph.Root; j++ {
				lhs, rhs := exact.G(pi, g, i, j), bound(pi, g, i, j)
				f.Instances++
				if lhs.Cmp(rhs) > 0 && f.Verdict == Holds {
					f.Verdict, f.LHS, f.RHS = Fails, ratFloat(lhs), ratFloat(rhs)
					f.Margin = Slack(f.LHS, f.RHS)
					f.Instance = Instance{"graph": parentList(g), "pi": pi.Strings(), "i": i + 1, "j": j + 1}
					f.Witness = f.Instance
				}
			}
		}
	}
	if f.Verdict == Fails {
		return f
	}
	g := mustGraph(graph.Root, 0, 1, 1, graph.Root)
	for _, j := range []int{0, 2, 3} { // grandparent, sibling, itself; i is position 4
		for s := 2; s <= e.Budget(3, 2); s++ {
			value := func(x []float64) float64 {
				c := theory.MustChain(kernel(x, s, 0.01), s)
				ip := c.FrobeniusSquared()
				if ip < 1e-3 {
					return math.Inf(1) // both sides vanish
				}
				return Slack(c.G(g, 3, j), ip/2+c.Information(theory.ChiSquared, g, 3, j)/2)
			}
			best, v, evals := e.Attack(value, e.kernelStarts(2, s, 0), e.Budget(1500, 300))
			f.Instances += evals
			if v < f.Margin {
				c := theory.MustChain(kernel(best, s, 0.01), s)
				f.Margin, f.LHS, f.RHS = v, c.G(g, 3, j), c.FrobeniusSquared()/2+c.Information(theory.ChiSquared, g, 3, j)/2
				f.Instance = Instance{"graph": parentList(g), "pi": decimals(c.Pi, s), "i": 4, "j": j + 1}
			}
		}
	}
	f.Note = fmt.Sprintf("No counterexample found in %d instances. Proof, for each pi: g = sum mu mu' a b with a = pi/mu'-1 and b = P/(mu mu')-1, and 2ab <= a^2+b^2; equality at j = p(i).", f.Instances)
	if f.Margin < -1e-12 {
		f.Verdict, f.Witness = Fails, f.Instance
	}
	return f
}

// mustGraph returns the forest with the given parents.
func mustGraph(parents ...int) *graph.Forest {
	g, err := graph.New(parents)
	if err != nil {
		panic("claims: " + err.Error())
	}
	return g
}

// Which pairs and priors rootGradient goes over.
const (
	rootAll      = iota
	rootNotQuery // without (T, T)
	rootTrace    // priors that are not of constant mean
)

// rootGradient computes g_ij for the roots of small forests exactly, for priors
// uniform over the relabelings of one matrix, under which it is invariant.
func rootGradient(e *Env, which int) Finding {
	f := Finding{Tier: Exact, Verdict: Holds, Seed: Seed}
	r := rand.New(e.Stream("matrices"))
	check := func(pi exact.Matrix, g *graph.Forest) {
		last := g.T() - 1
		for _, i := range g.Roots() {
			for j := range i + 1 {
				if f.Verdict == Fails || which == rootNotQuery && i == last && j == last {
					continue
				}
				f.Instances++
				v := exact.G(pi, g, i, j)
				if f.Instance == nil || v.Sign() != 0 {
					f.LHS = ratFloat(v)
					f.Instance = Instance{"graph": parentList(g), "pi, and its relabelings": pi.Strings(), "i": i + 1, "j": j + 1, "g_ij": v.RatString()}
				}
				if v.Sign() != 0 {
					f.Verdict, f.Margin, f.Witness = Fails, Deviation(f.LHS, 0), f.Instance
				}
			}
		}
	}
	small := graph.InContext(3) // 1 -> 2 and the query
	switch which {
	case rootAll:
		smallestKernel(3, 6, func(pi exact.Matrix) bool {
			if pi.Trace().Cmp(big.NewRat(1, 1)) == 0 && exact.CheckGamma(pi, big.NewRat(1, 10)) == nil {
				check(pi, small)
			}
			return f.Verdict == Fails
		})
	case rootNotQuery:
		for k := range e.Budget(20, 6) {
			check(traceOneMatrix(r, 3+k%2, 8+r.IntN(10)), graph.Random(6, 0.5, e.Stream("forest", uint64(k))))
			check(traceOneMatrix(r, 3+k%2, 8+r.IntN(10)), graph.InContext(5))
		}
	case rootTrace:
		for range 5 {
			check(positiveMatrix(r, 3, 7+r.IntN(10)), graph.InContext(5))
		}
	}
	f.Note = "Roots other than T are independent of the earlier positions and have the law mu; g_ii is the mean trace minus 1."
	if f.Verdict == Fails && which == rootAll {
		f.Note = "s_T is uniform, not of law mu: g_TT = E[1/S sum_s pi(s|s)/mu(s)] - 1, which is 0 for uniform mu but not in general (here gamma = 1/10 is admitted). For j < T, and for the other roots, the sum is 0. So the query's own row of the first layer is not left alone in stage 1."
	}
	return f
}

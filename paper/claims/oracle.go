package claims

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"sort"

	"learncausal/pkg/exact"
	"learncausal/pkg/graph"
	"learncausal/pkg/theory"
)

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
		if exact.CheckGamma(pi, big.NewRat(1, 10)) == nil {
			priors = append(priors, []exact.Matrix{pi})
		}
	}
	gamma := big.NewRat(1, 10)
	for _, prior := range priors {
		for _, pi := range prior {
			if err := exact.CheckGamma(pi, gamma); err != nil {
				panic("claims: " + err.Error()) // the priors are made to satisfy it
			}
		}
	}
	for t := 2; t <= e.Budget(5, 4); t++ {
		for _, d := range fs {
			for _, prior := range priors {
				for g := range graph.All(t) {
					if f.Verdict == Fails || e.Err() != nil {
						continue
					}
					f.Instances++
					info := d.informations(g, prior)
					got := oracleParents(info)
					if fmt.Sprint(got) == fmt.Sprint(g.Parents()) {
						continue
					}
					var matrices [][][]string
					for _, pi := range prior {
						matrices = append(matrices, pi.Strings())
					}
					f.Verdict, f.Margin = Fails, -1
					f.Instance = Instance{"f": d.name, "gamma": gamma.RatString(), "graph": parentList(g), "prior, uniform on": matrices, "output": fmt.Sprint(ints(got))}
					f.Witness = f.Instance
				}
			}
		}
	}
	if f.Verdict == Fails {
		f.RHS = 1
		f.Note = "Every ratio pi(s'|s)/mu(s') is below the kink of f, so each information is 0 and no edge is found; lhs and rhs count edges. "
		g := graph.Star(4)
		equal := true
		for _, d := range ratDivergences {
			info := d.informations(g, []exact.Matrix{tie})
			equal = equal && info[2][0].Cmp(info[2][1]) == 0
		}
		if equal {
			f.Note += fmt.Sprintf("Positivity matters as well: for the irreducible and aperiodic rows %v the informations of position 3 with its parent 1 and its sibling 2 tie for every f, as the sibling's value tells the parent's row.", tie.Strings())
		}
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
				for g := range graph.All(t) {
					if f.Verdict == Fails || e.Err() != nil {
						continue
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
						f.LHS, f.RHS = exact.Float(sum), exact.Float(heaviest)
						f.Instance = Instance{"f": d.name, "graph": parentList(g), "pi": pi.Strings(), "weight": sum.RatString(), "largest": heaviest.RatString()}
					}
					if sum.Cmp(heaviest) != 0 {
						f.Verdict, f.Margin, f.Witness = Fails, Deviation(f.LHS, f.RHS), f.Instance
					}
				}
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

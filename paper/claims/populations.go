package claims

import (
	"math/big"

	"gonum.org/v1/gonum/stat/combin"

	"learncausal/paper/exact"
	"learncausal/paper/ledger"
	"learncausal/pkg/graph"
	"learncausal/pkg/markov"
	"learncausal/pkg/theory"
)

// A smallPopulation is a model with a prior and a graph so small that all sequences
// can be summed over.
type smallPopulation struct {
	graph *graph.Forest
	prior *markov.Finite
	model *theory.Reduced
	eps   float64
}

func (p smallPopulation) instance() ledger.Instance {
	return ledger.Instance{"graph": p.graph, "S": p.model.S, "T": p.model.T, "prior": p.prior.String(), "eps": p.eps}
}

// newSmallPopulation returns the population with A2 = beta I and the rows of A1, each
// up to the diagonal, one after the other.
func newSmallPopulation(g *graph.Forest, prior *markov.Finite, eps, beta float64, rows []float64) smallPopulation {
	m := theory.NewReduced(prior.States(), g.T(), beta)
	for i := range m.T {
		rows = rows[copy(m.A1.RawRowView(i)[:i+1], rows):]
	}
	return smallPopulation{g, prior, m, eps}
}

// gradients returns the population gradient of the loss.
func (p smallPopulation) gradients(reading theory.Reading) *theory.Population {
	population, err := theory.NewPopulation(p.graph, p.prior, p.eps, reading)
	if err != nil {
		panic("claims: " + err.Error())
	}
	return population
}

// exactGHat returns row i of ghat in rationals by the sum over all sequences,
// averaged over the matrices.
func exactGHat(g *graph.Forest, i int, eps *big.Rat, reading theory.Reading, pis ...exact.Matrix) exact.Vector {
	row := zeros(i + 1)
	for _, pi := range pis {
		s, t := len(pi), g.T()
		for x, p := range exact.Sequences(g, pi) {
			weight := exact.Quo(p, exact.Frac(int64(len(pis)), 1))
			for a := range s {
				share := weight
				if reading == theory.QueryInSequence {
					if x[t-1] != a {
						continue
					}
					share = exact.Mul(weight, exact.Frac(int64(s), 1)) // E[ . | s_T = a]
				}
				sum := meanExcess(x, i, pi[a], eps)
				for j := range row {
					if x[j] == a {
						row[j].Add(row[j], exact.Mul(share, sum))
					}
				}
			}
		}
	}
	return row
}

// meanExcess returns sum_b law(b) (1{x_i = b} - muhat(b))/(muhat(b) + eps), where
// muhat(b) is the frequency of b in x.
func meanExcess(x []int, i int, law exact.Vector, eps *big.Rat) *big.Rat {
	sum := new(big.Rat)
	for b, p := range law {
		frequency := exact.Frac(occurrences(b, x), int64(len(x)))
		excess := exact.Sub(indicator(x[i] == b), frequency)
		sum.Add(sum, exact.Quo(exact.Mul(p, excess), exact.Add(frequency, eps)))
	}
	return sum
}

// exactG2 returns G2 of Lemma 4 (lem-pop-grads), 1/S included, for a uniform prior
// over the matrices, by enumeration. The attention, T x T, has entries in {0, 1/2, 1},
// so that exp(beta z) is a power of half = exp(beta/2).
func exactG2(
	g *graph.Forest, prior []exact.Matrix, attention exact.Matrix, half, eps *big.Rat, reading theory.Reading,
) exact.Matrix {
	s, t := len(prior[0]), g.T()
	g2 := exact.Zero(s, s)
	for _, pi := range prior {
		for x, p := range exact.Sequences(g, pi) {
			share := exact.Quo(p, exact.Frac(int64(len(prior)), 1))
			if reading == theory.QueryApart {
				share = exact.Quo(share, exact.Frac(int64(s), 1))
			}
			z := exact.Zero(t, s)
			for i := range t {
				for j := range i + 1 {
					z[i][x[j]].Add(z[i][x[j]], attention[i][j])
				}
			}
			for query := range s {
				if reading == theory.QueryInSequence && query != x[t-1] {
					continue
				}
				for a, v := range queryGradient(x, z, query, pi[query], half, eps) {
					g2[a][query].Sub(g2[a][query], exact.Mul(share, v))
				}
			}
		}
	}
	return g2
}

// queryGradient returns, for each a, with v_i proportional to exp(beta z_i(query)),
//
//	sum_s' law(s')/(f(s')+eps) sum_i z_i(a) v_i (x_{i,s'} - f(s'))
func queryGradient(x []int, z exact.Matrix, query int, law exact.Vector, half, eps *big.Rat) exact.Vector {
	v, total := make(exact.Vector, len(x)), new(big.Rat)
	for i := range v {
		halves := exact.Mul(z[i][query], exact.Frac(2, 1))
		v[i] = exact.Pow(half, int(halves.Num().Int64()))
		total.Add(total, v[i])
	}
	f := zeros(len(law))
	for i := range v {
		v[i] = exact.Quo(v[i], total)
		f[x[i]].Add(f[x[i]], v[i])
	}
	c := make(exact.Vector, len(law))
	for a := range c {
		c[a] = exact.Quo(law[a], exact.Add(f[a], eps))
	}
	mean := exact.Dot(c, f)
	out := zeros(len(law))
	for a := range out {
		for i := range v {
			out[a].Add(out[a], exact.Mul(exact.Mul(z[i][a], v[i]), exact.Sub(c[x[i]], mean)))
		}
	}
	return out
}

// relabelings returns sigma^-1 pi sigma for all permutations sigma of the states.
func relabelings(pi exact.Matrix) []exact.Matrix {
	var out []exact.Matrix
	s := len(pi)
	for _, sigma := range combin.Permutations(s, s) {
		m := exact.Zero(s, s)
		for a := range s {
			for b := range s {
				m[sigma[a]][sigma[b]] = pi[a][b]
			}
		}
		out = append(out, m)
	}
	return out
}

// orbits returns the relabelings of all the bases.
func orbits(bases ...exact.Matrix) []exact.Matrix {
	var out []exact.Matrix
	for _, pi := range bases {
		out = append(out, relabelings(pi)...)
	}
	return out
}

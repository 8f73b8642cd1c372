package claims

import (
	"math/big"

	"learncausal/pkg/exact"
	"learncausal/pkg/graph"
	"learncausal/pkg/theory"
)

// exactGHat returns row i of ghat in rationals by the sum over all sequences,
// averaged over the given matrices.
func exactGHat(g *graph.Forest, i int, eps *big.Rat, reading theory.Reading, pis ...exact.Matrix) exact.Vector {
	row := exact.Zero(1, i+1)[0]
	for _, pi := range pis {
		s, t := len(pi), g.T()
		for x, p := range exact.Sequences(g, pi) {
			weight := exact.Quo(p, exact.Frac(int64(len(pis)), 1))
			frequency := exact.Zero(1, s)[0]
			for _, a := range x {
				frequency[a].Add(frequency[a], exact.Frac(1, int64(t)))
			}
			for a := range s {
				share := weight
				if reading == theory.QueryInSequence {
					if x[t-1] != a {
						continue
					}
					share = exact.Mul(weight, exact.Frac(int64(s), 1)) // E[ . | s_T = a]
				}
				sum := new(big.Rat)
				for b, f := range frequency {
					excess := exact.Sub(exact.Frac(int64(unit(x[i] == b)), 1), f)
					sum.Add(sum, exact.Quo(exact.Mul(pi[a][b], excess), exact.Add(f, eps)))
				}
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

package finitelength

import (
	"fmt"
	"math"
	"testing"

	"learncausal/paper/exact"
)

func priors() map[string][]exact.Matrix {
	return map[string][]exact.Matrix{
		"A": {exact.Rats("4/5 1/5; 2/5 3/5"), exact.Rats("1/5 4/5; 3/5 2/5")},
		"B": {exact.Rats("9/10 1/10; 1/10 9/10"), exact.Rats("1/10 9/10; 9/10 1/10")},
		"C": {exact.Rats("9/10 1/10; 3/10 7/10"), exact.Rats("1/10 9/10; 7/10 3/10")},
	}
}

func TestProto(t *testing.T) {
	for name, bases := range priors() {
		for _, n := range []int{3, 4, 5, 6, 8, 16, 64, 512} {
			eps := exact.Frac(1, int64(math.Sqrt(float64(n))))
			var mean [][]float64
			for _, b := range bases {
				for i, row := range exact.ChainGHat(b, n, eps) {
					if len(mean) <= i {
						mean = append(mean, make([]float64, i+1))
					}
					for j, v := range row {
						mean[i][j] += v.Lo / float64(len(bases))
					}
				}
			}
			lead, at, G := math.Inf(1), 0, 0.0
			var ql float64
			for i := 1; i < n; i++ {
				p := i - 1
				if i == n-1 {
					p = i
				}
				l := math.Inf(1)
				for j, v := range mean[i] {
					if j != p {
						l = min(l, mean[i][p]-v)
					}
				}
				if i == n-1 {
					ql = l
				}
				if l < lead {
					lead, at = l, i
				}
				G = max(G, mean[i][p])
			}
			fmt.Printf("%s T=%d lead %.4f at row %d, query %.4f, G %.4f beta0<=%.5f\n", name, n, lead, at+1, ql, G, math.Log(1+lead/(4*G+9))/2)
			if n < 8 {
				continue
			}
			e := exact.Float(eps)
			for _, beta := range []float64{0, 1, 2, 2.5, 3, 3.5, 4, 5, 6, 8} {
				w := math.Exp(-beta)
				var P, N, E float64
				for _, b := range bases {
					pi := b.Floats()
					f := func(which int) float64 {
						return exact.PairMean(b, exact.MustStationary(b), n-1, func(p exact.Pairs) float64 {
							sum := 0.0
							for s := range 2 {
								m := [2]float64{float64(p.N[s][0]), float64(p.N[s][1])}
								k := [2]float64{float64(p.N[1-s][0]), float64(p.N[1-s][1])}
								if p.First == s {
									m[s]++
								} else {
									k[1-s]++
								}
								m[s]++
								W := m[0] + m[1] + w*(k[0]+k[1])
								for to := range 2 {
									d := m[to] + w*k[to]
									switch which {
									case 0:
										sum += pi[2*s+to] * m[to] * k[1-to] / W / (d + e*W) / 2
									case 1:
										sum += pi[2*s+to] * k[to] * m[1-to] / W / (d + e*W) / 2
									default:
										sum += pi[2*s+to] * math.Log(pi[2*s+to]*(1+2*e)/(d/W+e)) / 2
									}
								}
							}
							return sum
						}, 1e-10).Float()
					}
					P += f(0) / float64(len(bases))
					N += f(1) / float64(len(bases))
					E += f(2) / float64(len(bases))
				}
				fmt.Printf("   beta %.1f P %.4f N %.4f ratio %.3f F %.2e excess %.5f\n", beta, P, N, N/P, w*(P-N), E)
			}
		}
	}
}

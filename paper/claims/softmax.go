package claims

import (
	"math"
	"math/big"

	"learncausal/paper/exact"
	"learncausal/paper/ledger"
	"learncausal/pkg/num"
	"learncausal/pkg/task"
)

// A softmaxPair is two softmaxes with exp(z) = base and exp(z') = base times the
// factors, which are the powers -1, 0 and 1 of one number.
type softmaxPair struct {
	base, factors exact.Vector
	u             exact.Vector   // difference of the softmaxes
	distance      exact.Interval // |z-z'|_inf
}

// softmaxPairs visits softmax pairs on two to four positions.
func softmaxPairs(visit func(softmaxPair)) {
	one, steps := exact.Frac(1, 1), exact.Vector(exact.Rats("51/50 2 9")[0])
	var logs []exact.Interval
	for _, t := range steps {
		logs = append(logs, logOf(t))
	}
	for n := 2; n <= 4; n++ {
		for heavy := range exact.Grid(n, 1) {
			if n == 4 && exact.Dot(heavy).Sign() > 0 {
				continue
			}
			for powers := range exact.Grid(n, 2) {
				for k, t := range steps {
					p := softmaxPair{distance: exact.Point(new(big.Rat))}
					for i := range n {
						p.base = append(p.base, exact.Add(one, exact.Mul(exact.Frac(2, 1), heavy[i])))
						p.factors = append(p.factors, []*big.Rat{inverse(t), one, t}[powers[i].Num().Int64()])
						if p.factors[i] != one {
							p.distance = logs[k]
						}
					}
					first, second := weighted(p.base, exact.Ones(n)), weighted(p.base, p.factors)
					p.u = minusScaled(second, one, first)
					visit(p)
				}
			}
		}
	}
}

// weighted returns the probability vector proportional to the products.
func weighted(a, b exact.Vector) (out exact.Vector) {
	for i := range a {
		out = append(out, exact.Quo(exact.Mul(a[i], b[i]), exact.Dot(a, b)))
	}
	return out
}

// instance describes the pair.
func (p softmaxPair) instance() ledger.Instance {
	return ledger.Instance{"exp(z')": p.base, "exp(z-z')": p.factors, "u": p.u}
}

// deltas visits |delta^T u| for every delta in {0, 1}^T.
func (p softmaxPair) deltas(visit func(sum *big.Rat)) {
	for delta := range exact.Grid(len(p.u), 1) {
		visit(exact.Abs(exact.Dot(delta, p.u)))
	}
}

// normalized returns the weights divided by their sum: the softmax of their logarithms.
func normalized(weights exact.Vector) exact.Vector {
	return weighted(weights, exact.Ones(len(weights)))
}

// entrywise returns the product u o w.
func entrywise(u, w exact.Vector) exact.Vector {
	product := make(exact.Vector, len(u))
	for i := range u {
		product[i] = exact.Mul(u[i], w[i])
	}
	return product
}

// minusScaled returns u - c v.
func minusScaled(u exact.Vector, c *big.Rat, v exact.Vector) exact.Vector {
	out := make(exact.Vector, len(u))
	for i := range u {
		out[i] = exact.Sub(u[i], exact.Mul(c, v[i]))
	}
	return out
}

// A dual is a dual number x + d t with t^2 = 0.
type dual struct{ x, d *big.Rat }

func (a dual) add(b dual) dual { return dual{exact.Add(a.x, b.x), exact.Add(a.d, b.d)} }

func (a dual) mul(b dual) dual {
	return dual{exact.Mul(a.x, b.x), exact.Add(exact.Mul(a.x, b.d), exact.Mul(a.d, b.x))}
}

func (a dual) quo(b dual) dual {
	x := exact.Quo(a.x, b.x)
	return dual{x, exact.Quo(exact.Sub(a.d, exact.Mul(x, b.d)), b.x)}
}

// tokenGroups has the tokens of a sequence in groups of equal score z and equal token:
// the weight of each group under softmax(beta z) and its score. The gradients of q at
// the tokens of a group have the same sign, so groups suffice for the l1 norm.
type tokenGroups struct {
	beta, epsilon   *big.Rat
	weights, scores exact.Vector
}

// groupHits marks the groups whose token is s'.
var groupHits = []bool{true, true, false, false}

// gridOfGroups yields groups with weights, scores, beta and epsilon of several orders.
func gridOfGroups(yield func(tokenGroups) bool) {
	zero, half, one := new(big.Rat), exact.Frac(1, 2), exact.Frac(1, 1)
	sizes := []*big.Rat{exact.Frac(1, 1), exact.Frac(30, 1), exact.Frac(1000, 1)}
	allScores := []exact.Vector{{one, zero, one, zero}, {half, zero, one, zero}, {one, one, one, zero}}
	betas := []*big.Rat{zero, exact.Frac(1, 100), one, exact.Frac(5, 1), exact.Frac(200, 1)}
	epsilons := []*big.Rat{exact.Frac(1, 1000000), exact.Frac(1, 2)}
	for k := range task.Sequences(3, 4) {
		p := normalized(exact.Vector{sizes[k[0]], sizes[k[1]], sizes[k[2]], sizes[k[3]]})
		for n := range len(allScores) * len(betas) * len(epsilons) {
			z, beta, epsilon := allScores[n/10], betas[n/2%5], epsilons[n%2]
			if !yield(tokenGroups{beta, epsilon, p, z}) {
				return
			}
		}
	}
}

// scoreGradient returns |grad q(z)|_1 by dual numbers from the definition of q,
// with dp_j/dz_k = beta p_j (1{j=k} - p_k).
func (g tokenGroups) scoreGradient() *big.Rat {
	norm := new(big.Rat)
	for k, pk := range g.weights {
		zero := new(big.Rat)
		hits, hitScores, scores := dual{zero, zero}, dual{zero, zero}, dual{zero, zero}
		for j, pj := range g.weights {
			p := dual{pj, exact.Mul(g.beta, exact.Mul(pj, exact.Sub(indicator(j == k), pk)))}
			pz := p.mul(dual{g.scores[j], indicator(j == k)})
			scores = scores.add(pz)
			if groupHits[j] {
				hits, hitScores = hits.add(p), hitScores.add(pz)
			}
		}
		above := hitScores.add(dual{exact.Frac(-1, 1), zero}.mul(hits.mul(scores)))
		norm.Add(norm, exact.Abs(above.quo(hits.add(dual{g.epsilon, zero})).d))
	}
	return norm
}

// groupsAt returns beta, epsilon, weights and scores at a point x of a search: the
// logarithms of beta and epsilon, four logits of scores, four logarithms of weights.
func groupsAt(x []float64) (beta, epsilon float64, p, z []float64) {
	p, z = make([]float64, 4), make([]float64, 4)
	total := 0.0
	for k := range p {
		z[k], p[k] = sigmoid(x[2+k]), num.Exp(max(min(x[6+k], 20), -20))
		total += p[k]
	}
	for k := range p {
		p[k] /= total
	}
	return num.Exp(max(min(x[0], 8), -20)), num.Exp(max(min(x[1], 3), -30)), p, z
}

// roundedGroups returns the groups at x with small denominators.
func roundedGroups(x []float64) tokenGroups {
	near := func(x float64) *big.Rat { return exact.Frac(int64(math.Ceil(x*1e6)), 1000000) }
	beta, epsilon, p, z := groupsAt(x)
	g := tokenGroups{beta: near(beta), epsilon: near(epsilon)}
	for k := range p {
		g.weights = append(g.weights, near(max(p[k], 1e-6)))
		g.scores = append(g.scores, exact.Frac(int64(math.Round(z[k]*1e6)), 1000000))
	}
	g.weights = normalized(g.weights)
	return g
}

// scoreGradientFloat returns |grad q(z)|_1 in floats, for groups with weights p and scores
// z. With m the weight of the hits and kappa = m/(m+eps),
//
//	q       = kappa (E_hit z - E z)
//	grad q  = kappa (p_hit (1 + beta (z - E_hit z)) - p (1 + beta (z - E z)))
//	          + beta kappa (1-kappa) (E_hit z - E z) (p_hit - p)
//
// where p_hit is p conditioned on the hits.
func scoreGradientFloat(beta, epsilon float64, p, z []float64) float64 {
	m, eh, ez := 0.0, 0.0, 0.0
	for k := range p {
		ez += float64(p[k] * z[k])
		if groupHits[k] {
			m += p[k]
			eh += float64(p[k] * z[k])
		}
	}
	eh /= m
	kappa := m / (m + epsilon)
	norm := 0.0
	for k := range p {
		ph := 0.0
		if groupHits[k] {
			ph = p[k] / m
		}
		d := float64(kappa*(float64(ph*(1+float64(beta*(z[k]-eh))))-float64(p[k]*(1+float64(beta*(z[k]-ez)))))) +
			float64(float64(beta*float64(kappa*(1-kappa)))*float64((eh-ez)*(ph-p[k])))
		norm += math.Abs(d)
	}
	return norm
}

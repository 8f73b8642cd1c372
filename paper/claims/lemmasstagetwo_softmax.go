package claims

import (
	"math"
	"math/big"

	"learncausal/paper/exact"
	"learncausal/pkg/num"
	"learncausal/pkg/task"
)

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
	zero, half, one := new(big.Rat), exact.Frac(1, 2), exact.Int(1)
	sizes := []*big.Rat{exact.Int(1), exact.Int(30), exact.Int(1000)}
	allScores := []exact.Vector{{one, zero, one, zero}, {half, zero, one, zero}, {one, one, one, zero}}
	betas := []*big.Rat{zero, exact.Frac(1, 100), one, exact.Int(5), exact.Int(200)}
	epsilons := []*big.Rat{exact.Frac(1, 1000000), exact.Frac(1, 2)}
	for k := range task.Sequences(3, 4) {
		p := exact.Normalized(exact.Vector{sizes[k[0]], sizes[k[1]], sizes[k[2]], sizes[k[3]]})
		for n := range len(allScores) * len(betas) * len(epsilons) {
			z, beta, epsilon := allScores[n/10], betas[n/2%5], epsilons[n%2]
			if !yield(tokenGroups{beta, epsilon, p, z}) {
				return
			}
		}
	}
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
	g.weights = exact.Normalized(g.weights)
	return g
}

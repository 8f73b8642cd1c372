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
	one, steps := exact.Int(1), exact.Vector(exact.Rats("51/50 2 9")[0])
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
						p.base = append(p.base, exact.Add(one, exact.Mul(exact.Int(2), heavy[i])))
						p.factors = append(p.factors, []*big.Rat{inverse(t), one, t}[powers[i].Num().Int64()])
						if p.factors[i] != one {
							p.distance = logs[k]
						}
					}
					first, second := exact.Normalized(p.base), exact.Normalized(exact.Hadamard(p.base, p.factors))
					p.u = exact.SubScaled(second, one, first)
					visit(p)
				}
			}
		}
	}
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

// atMost encloses a bound in terms of |z-z'|_inf.
func (p softmaxPair) atMost(bound ledger.Bound) exact.Interval {
	return bound.Enclose(ledger.At[exact.Interval]{`\|z-z'\|_\infty`: p.distance})
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

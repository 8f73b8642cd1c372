package claims

import (
	"math/big"

	"learncausal/paper/exact"
	"learncausal/paper/ledger"
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
						p.factors = append(p.factors, []*big.Rat{exact.Inv(t), one, t}[powers[i].Num().Int64()])
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

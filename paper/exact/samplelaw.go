package exact

import (
	"math"
	"math/big"
	"math/bits"
	"slices"

	"gonum.org/v1/gonum/dsp/fourier"

	"learncausal/pkg/graph"
)

// A SampleLaw is the law of one sample: a few different rational values and their probabilities.
type SampleLaw struct {
	Values, Weights Vector
}

// add adds to the probability of a value.
func (l *SampleLaw) add(value, p *big.Rat) {
	for k, v := range l.Values {
		if v.Cmp(value) == 0 {
			l.Weights[k] = Add(l.Weights[k], p)
			return
		}
	}
	l.Values, l.Weights = append(l.Values, value), append(l.Weights, p)
}

// mean returns E f(V).
func (l SampleLaw) mean(f func(v *big.Rat) *big.Rat) *big.Rat {
	sameLength(l.Values, l.Weights)
	sum := new(big.Rat)
	for k, v := range l.Values {
		sum.Add(sum, Mul(l.Weights[k], f(v)))
	}
	return sum
}

// Moment returns E V^p.
func (l SampleLaw) Moment(p int) *big.Rat {
	return l.mean(func(v *big.Rat) *big.Rat { return Pow(v, p) })
}

// Absolute returns E |V|^p.
func (l SampleLaw) Absolute(p int) *big.Rat {
	return l.mean(func(v *big.Rat) *big.Rat { return Pow(Abs(v), p) })
}

// Central returns E (V - E V)^p.
func (l SampleLaw) Central(p int) *big.Rat {
	mean := l.Moment(1)
	return l.mean(func(v *big.Rat) *big.Rat { return Pow(Sub(v, mean), p) })
}

// Tail returns the probability that the distance of the mean of n independent samples from its
// expectation is at least far, up to TailRounding. It raises the Fourier transform of the law to
// the n-th power. It panics unless n >= 1 and there is a weight for each value.
func (l SampleLaw) Tail(n int, far float64) float64 {
	atLeast("the number of samples", n, 1)
	atLeast("the number of values", len(l.Values), 1)
	sameLength(l.Values, l.Weights)
	least, step, single := l.lattice()
	width := 0
	for place := range single {
		width = max(width, place)
	}
	law := make([]complex128, 1<<bits.Len(uint(width*n)))
	for place, p := range single {
		law[place] = complex(p, 0)
	}
	transform := fourier.NewCmplxFFT(len(law))
	coefficients := transform.Coefficients(nil, law)
	for k, c := range coefficients {
		power := complex128(1)
		for m := n; m > 0; m >>= 1 {
			if m&1 == 1 {
				power *= c
			}
			c *= c
		}
		coefficients[k] = power
	}
	sum, mean := 0.0, Float(l.Moment(1))
	for at, p := range transform.Sequence(nil, coefficients) {
		if value := Float(least) + float64(at)*Float(step)/float64(n); math.Abs(value-mean) >= far {
			sum += real(p) / float64(len(law))
		}
	}
	return sum
}

// TailRounding bounds the error of [SampleLaw.Tail] for n up to 10^5: log2 n squarings of numbers
// of modulus 1 at most, and two transforms.
const TailRounding = 1e-9

// lattice returns the least value and the step such that the values are least plus
// whole multiples of step, and the probabilities by multiple.
func (l SampleLaw) lattice() (least, step *big.Rat, law map[int]float64) {
	least = slices.MinFunc(l.Values, (*big.Rat).Cmp)
	num, den := new(big.Int), big.NewInt(1)
	for _, v := range l.Values {
		den.Mul(den, new(big.Int).Quo(v.Denom(), new(big.Int).GCD(nil, nil, den, v.Denom())))
	}
	whole := func(v *big.Rat) *big.Int {
		return new(big.Int).Set(Mul(Sub(v, least), new(big.Rat).SetInt(den)).Num())
	}
	for _, v := range l.Values {
		num.GCD(nil, nil, num, whole(v))
	}
	if num.Sign() == 0 { // a single value
		num.SetInt64(1)
	}
	law = map[int]float64{}
	for k, v := range l.Values {
		law[int(new(big.Int).Quo(whole(v), num).Int64())] = Float(l.Weights[k])
	}
	return least, new(big.Rat).SetFrac(num, den), law
}

// GradientLaw returns the law of Z_ij, the gradient of stage 1 of one sample as Lemma 33
// (thm-finite-stage1) has it, by enumeration:
//
//	Z_ij = S 1{s_j = s_T} sum_b pi(b|s_T) (1{s_i = b} - muhat(b))/(muhat(b) + eps)
//
// It panics unless i and j are positions and eps > 0.
func GradientLaw(g *graph.Forest, i, j int, eps *big.Rat, pi Matrix) (law SampleLaw) {
	index("position", i, g.T())
	index("position", j, g.T())
	positiveEps(eps)
	s := Int(len(pi))
	for x, p := range Sequences(g, pi) {
		query := x[len(x)-1]
		z := Mul(s, meanExcess(x, i, pi[query], eps))
		law.add(Mul(z, Indicator(x[j] == query)), new(big.Rat).Set(p))
	}
	return law
}

// SecondGradientLaw returns the law of entry (s, q) of minus the gradient of one sample's loss in
// A2 at beta0 = 0. Children attend to their parents, roots to all positions up to themselves.
func SecondGradientLaw(g *graph.Forest, s, q int, eps *big.Rat, pi Matrix) (law SampleLaw) {
	pi.square()
	index("state", s, len(pi))
	index("state", q, len(pi))
	positiveEps(eps)
	t := g.T()
	for x, p := range Sequences(g, pi) {
		sum := new(big.Rat)
		if x[t-1] == q {
			z := entries(t, func(i int) *big.Rat { // attention to tokens s
				if p := g.Parent(i); p != graph.Root {
					return Indicator(x[p] == s)
				}
				return frequency(s, x[:i+1])
			})
			for b := range pi {
				f := frequency(b, x)
				hits := entries(t, func(i int) *big.Rat { return Indicator(x[i] == b) })
				covariance := Quo(Sub(Dot(z, hits), Mul(f, Dot(z))), Int(t))
				sum.Add(sum, Quo(Mul(pi[q][b], covariance), Add(f, eps)))
			}
		}
		law.add(sum, new(big.Rat).Set(p))
	}
	return law
}

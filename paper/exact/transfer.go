package exact

import (
	"fmt"
	"iter"
	"math"
	"math/big"
)

// Pairs are the counts of a sequence s_1, ..., s_t over two states: N[s][s'] is
// the number of i < t with s_i = s and s_{i+1} = s'. First and Last are its ends.
type Pairs struct {
	N           [2][2]int
	First, Last int
}

// States returns the number of i <= t with s_i = 0, and with s_i = 1.
func (p Pairs) States() [2]int {
	n := [2]int{p.N[0][0] + p.N[0][1], p.N[1][0] + p.N[1][1]}
	n[p.Last]++
	return n
}

// pairCounts returns the law of the pair counts of a chain s_1, ..., s_t over two states with transition matrix
// pi, whose row is the current state, and s_1 drawn from start: all counts of positive probability, in O(t^2)
// terms. With k0 runs of state 0 and k1 of state 1, which alternate,
//
//	P = start(s_1) C(n00+k0-1, k0-1) C(n11+k1-1, k1-1) prod pi(s'|s)^N[s][s']
//
// Each probability is off by at most pairCountsError(t) of itself, and 1e-300. It panics unless pi is a 2 x 2
// transition matrix, start a law, and t >= 1.
func pairCounts(pi Matrix, start Vector, t int) iter.Seq2[Pairs, float64] {
	twoStates(pi, start, t)
	p := pi.Floats()
	stay, leave, first := [2]float64{p[0], p[3]}, [2]float64{p[1], p[2]}, start.Floats()
	return func(yield func(Pairs, float64) bool) {
		for c := range runCounts(t) {
			most := t - c.runs[0] - c.runs[1]
			a, b := runLaw(c.runs[0], most, stay[0], leave[0]), runLaw(c.runs[1], most, stay[1], leave[1])
			rest := first[c.first]
			if c.runs[1-c.last] > 0 { // the last run of the other state is left too
				rest *= leave[1-c.last]
			}
			for n := range most + 1 {
				if q := a[n].times(b[most-n]) * rest; q > 0 && !yield(c.pairs(n, t), q) {
					return
				}
			}
		}
	}
}

// pairCountsError returns the largest relative error of a probability of pairCounts: less
// than 4 roundings for each of the t states.
func pairCountsError(t int) float64 { return float64(5*t+20) * 0x1p-53 }

// PairMean encloses the expectation of h over the pair counts of a chain of t >= 1 states with the
// 2 x 2 transition matrix pi and a first state drawn from start. h returns floats that are off by
// at most within. It panics where these are not finite. It takes a second at t = 10^4.
func PairMean(pi Matrix, start Vector, t int, h func(Pairs) float64, within float64) Interval {
	if !(within >= 0) || math.IsInf(within, 0) {
		panic(fmt.Sprintf("exact: values off by at most %v", within))
	}
	sum, next, term := new(big.Float).SetPrec(120), new(big.Float).SetPrec(120), new(big.Float)
	size, terms := 0.0, 0
	for in, p := range pairCounts(pi, start, t) {
		v := h(in)
		if math.IsNaN(v) || math.IsInf(v, 0) {
			panic(fmt.Sprintf("exact: the mean of %v at %+v", v, in))
		}
		sum, next = next.Add(sum, term.SetFloat64(p*v)), sum
		size += p * math.Abs(v)
		terms++
	}
	// 1e-300 for each term that underflows; the products, in floats, lose 2^-53 of
	// each, the sum of 120 bits next to nothing.
	slack := (pairCountsError(t)+0x1p-52)*size*1.001 + within*1.001 + float64(terms)*1e-290
	mean, _ := sum.Rat(nil)
	half := FromFloats([]float64{slack}, 1)[0][0]
	return outward(Sub(mean, half), Add(mean, half))
}

// twoStates panics unless pi and start are a chain over two states, and t positive.
func twoStates(pi Matrix, start Vector, t int) {
	if err := CheckRows(pi); err != nil {
		panic(err.Error())
	}
	one := Int(1)
	if len(pi) != 2 || len(start) != 2 || Dot(start).Cmp(one) != 0 || start[0].Sign() < 0 || start[1].Sign() < 0 {
		panic(fmt.Sprintf("exact: a chain over %d states begun at %v, want two and a law", len(pi), start.Strings()))
	}
	atLeast("the length of a chain", t, 1)
}

// A runCount says how many runs of either state a sequence has, and its ends.
type runCount struct {
	runs        [2]int
	first, last int
}

// runCounts returns the run counts of all sequences of length t.
func runCounts(t int) iter.Seq[runCount] {
	return func(yield func(runCount) bool) {
		for k := 0; 2*k <= t; k++ {
			all := []runCount{
				{[2]int{k, k}, 0, 1},
				{[2]int{k, k}, 1, 0},
				{[2]int{k + 1, k}, 0, 0},
				{[2]int{k, k + 1}, 1, 1},
			}
			for _, c := range all {
				if n := c.runs[0] + c.runs[1]; n >= 1 && n <= t && !yield(c) {
					return
				}
			}
		}
	}
}

// pairs returns the counts of a sequence of length t with n pairs 0, 0.
func (c runCount) pairs(n, t int) Pairs {
	in := Pairs{First: c.first, Last: c.last}
	in.N[0][0], in.N[1][1] = n, t-c.runs[0]-c.runs[1]-n
	in.N[0][1], in.N[1][0] = c.runs[0], c.runs[1]
	in.N[c.last][1-c.last]--
	return in
}

// A scaled number is m 2^e, with m in a range where nothing underflows.
type scaled struct {
	m float64
	e int
}

func (x scaled) by(f float64) scaled {
	x.m *= f
	if x.m > 0 && x.m < 0x1p-400 {
		return scaled{x.m * 0x1p400, x.e - 400}
	}
	if x.m > 0x1p400 {
		return scaled{x.m * 0x1p-400, x.e + 400}
	}
	return x
}

func (x scaled) times(y scaled) float64 { return math.Ldexp(x.m*y.m, x.e+y.e) }

// runLaw returns C(n+runs-1, runs-1) stay^n leave^(runs-1) for n = 0, ..., most,
// the weight of the runs of one state without the step that leaves the last.
func runLaw(runs, most int, stay, leave float64) []scaled {
	out := make([]scaled, most+1)
	x := scaled{1, 0}
	for range runs - 1 {
		x = x.by(leave)
	}
	out[0] = x
	for n := range most {
		x = x.by(stay * (float64(n+runs) / float64(n+1)))
		out[n+1] = x
	}
	return out
}

package exact

import (
	"iter"
	"math"
	"math/big"
	"testing"

	"learncausal/pkg/task"
)

// byEnumeration returns the law of the pair counts by summing over sequences.
func byEnumeration(pi Matrix, start Vector, t int) map[Pairs]*big.Rat {
	law := map[Pairs]*big.Rat{}
	for x := range task.Sequences(2, t) {
		p, in := start[x[0]], Pairs{First: x[0], Last: x[t-1]}
		for i := 1; i < t; i++ {
			p = Mul(p, pi[x[i-1]][x[i]])
			in.N[x[i-1]][x[i]]++
		}
		if p.Sign() == 0 {
			continue
		}
		if law[in] == nil {
			law[in] = new(big.Rat)
		}
		law[in].Add(law[in], p)
	}
	return law
}

func TestPairCountsEqualTheCountsOfSequences(t *testing.T) {
	for _, c := range []struct {
		pi    Matrix
		start Vector
	}{
		{Rats("7/10 3/10; 1/5 4/5"), Rats("2/5 3/5")[0]},
		{Rats("1/3 2/3; 9/10 1/10"), Rats("1 0")[0]},
		{Rats("0 1; 1/2 1/2"), Rats("1/7 6/7")[0]},
	} {
		for n := 1; n <= 9; n++ {
			want, seen := byEnumeration(c.pi, c.start, n), 0
			for in, p := range PairCounts(c.pi, c.start, n) {
				seen++
				if want[in] == nil || p.Cmp(want[in]) != 0 {
					t.Fatalf("t = %d, %+v: probability %v, want %v", n, in, p, want[in])
				}
				if s := in.States(); s[0]+s[1] != n || s[in.First] == 0 {
					t.Fatalf("t = %d, %+v: %d states", n, in, s)
				}
			}
			if seen != len(want) {
				t.Errorf("t = %d: %d counts, want %d", n, seen, len(want))
			}
			seen = 0
			for in, p := range pairCounts(c.pi, c.start, n) {
				seen++
				if q := Float(want[in]); math.Abs(p-q) > pairCountsError(n)*q {
					t.Fatalf("t = %d, %+v: probability %v, want %v", n, in, p, q)
				}
			}
			if seen != len(want) {
				t.Errorf("t = %d in floats: %d counts, want %d", n, seen, len(want))
			}
		}
	}
}

// At lengths where single factors underflow, the probabilities sum to one, and the
// mean count of a pair of a stationary chain is (t-1) mu(s) pi(s'|s).
func TestPairMeansOfLongChains(t *testing.T) {
	pi := Rats("1/10 9/10; 1/50 49/50")
	mu := MustStationary(pi)
	for _, n := range []int{60, 700, 2500} {
		sum := PairMean(pi, mu, n, func(Pairs) float64 { return 1 }, 0)
		if !sum.Contains(one) || sum.AtMost(Point(Rat("1.000000001"))) != Certainly {
			t.Errorf("t = %d: the sum of all is %v", n, sum)
		}
		for s := range 2 {
			for u := range 2 {
				mean := PairMean(pi, mu, n, func(p Pairs) float64 { return float64(p.N[s][u]) }, 0)
				want := Mul(Int(n-1), Mul(mu[s], pi[s][u]))
				if !mean.Contains(want) {
					t.Errorf("t = %d: the mean of N[%d][%d] is %v, want %v", n, s, u, mean, want)
				}
			}
		}
	}
	// Where the ways to arrange the runs are beyond floating point.
	half := Rats("1/2 1/2; 1/2 1/2")
	if sum := PairMean(half, MustStationary(half), 3600, func(Pairs) float64 { return 1 }, 0); !sum.Contains(one) ||
		sum.AtMost(Point(Rat("1.000000001"))) != Certainly {
		t.Errorf("t = 3600: the sum of all is %v", sum)
	}
	// The slack contains each of its parts: the roundings and the errors of the values.
	for _, within := range []float64{0, 1e-9, 0.5} {
		for _, h := range []float64{3, -3} {
			sum := PairMean(pi, mu, 60, func(Pairs) float64 { return h }, within)
			width, least := Float(Sub(sum.Hi, sum.Lo)), 2*(3*(pairCountsError(60)+0x1p-52)+within)
			if width < least || width > 1.01*least {
				t.Errorf("the mean of %v, within %v, is %v, want it %v wide or little more", h, within, sum, least)
			}
		}
	}
	// At t = 60 the rational law agrees.
	want := new(big.Rat)
	for in, p := range PairCounts(pi, mu, 60) {
		want.Add(want, Mul(p, Frac(1, int64(1+in.N[0][1]))))
	}
	got := PairMean(pi, mu, 60, func(p Pairs) float64 { return 1 / float64(1+p.N[0][1]) }, 0x1p-53)
	if !got.Contains(want) || got.AtMost(Point(Add(want, Rat("1e-12")))) != Certainly {
		t.Errorf("the mean of 1/(1+N[0][1]) is %v, want %v", got, Float(want))
	}
}

// PairCounts is pairCounts in rational numbers: the law of the pair counts of a chain s_1, ..., s_t over two
// states with transition matrix pi, whose row is the current state, and s_1 drawn
// from start: all counts of positive probability, in O(t^2) terms. With k0 runs of
// state 0 and k1 of state 1, which alternate,
//
//	P = start(s_1) C(n00+k0-1, k0-1) C(n11+k1-1, k1-1) prod pi(s'|s)^N[s][s']
//
// It panics unless pi is a 2 x 2 transition matrix, start a law, and t >= 1.
func PairCounts(pi Matrix, start Vector, t int) iter.Seq2[Pairs, *big.Rat] {
	twoStates(pi, start, t)
	power := func(s, next int) []*big.Rat {
		all := []*big.Rat{Int(1)}
		for range t {
			all = append(all, Mul(all[len(all)-1], pi[s][next]))
		}
		return all
	}
	stay, leave := [2][]*big.Rat{power(0, 0), power(1, 1)}, [2][]*big.Rat{power(0, 1), power(1, 0)}
	return func(yield func(Pairs, *big.Rat) bool) {
		for c := range runCounts(t) {
			ways := new(big.Int)
			for n := range t - c.runs[0] - c.runs[1] + 1 {
				in := c.pairs(n, t)
				ways.Mul(arrangements(in.N[0][0], c.runs[0]), arrangements(in.N[1][1], c.runs[1]))
				p := Mul(start[in.First], new(big.Rat).SetInt(ways))
				p = Mul(Mul(p, stay[0][in.N[0][0]]), leave[0][in.N[0][1]])
				p = Mul(Mul(p, stay[1][in.N[1][1]]), leave[1][in.N[1][0]])
				if p.Sign() > 0 && !yield(in, p) {
					return
				}
			}
		}
	}
}

// arrangements returns the number of ways to spread n further places over the runs.
func arrangements(n, runs int) *big.Int {
	if runs == 0 {
		return big.NewInt(int64(1 - min(n, 1)))
	}
	return new(big.Int).Binomial(int64(n+runs-1), int64(runs-1))
}

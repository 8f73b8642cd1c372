// Package finitelength has Theorem 1 (thm-main) at given lengths with numbers: what Algorithm 1 does on chains over
// two states, bounded by enclosures. The statements are ours. figures/supplement.pdf proves them in a section of its
// own, and tools/witness.py decides the stored ones again.
package finitelength

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"strings"

	"learncausal/paper/exact"
	"learncausal/pkg/num"
)

// A Theorem is a statement on the chain 1 -> 2 -> ... -> T-1 with the query T in the sequence. The prior is uniform
// over the relabelings of matrices over two states. For all 0 < beta_0 <= Beta0 and 0 < eta_2 <= 4, and all eta_1 and
// times with
//
//	tau_1 eta_1 beta_0 >= Time1,  tau_2 eta_2 >= Time2
//
// Algorithm 1 ends with attention of at least 1 - Alpha of each row i > 1 on its target, which is the parent i-1, or
// the query itself for the row of the query; and L - L* + log(1 + S Eps), a mean of divergences, is in [0, Excess].
type Theorem struct {
	Orbits       []exact.Matrix
	T            int
	Eps, Alpha   *big.Rat
	Beta0        *big.Rat
	Time1, Time2 *big.Rat
	Reach        *big.Rat // stage 2 passes this beta, a multiple of 1/128
	Excess       *big.Rat
}

//go:embed theorems.json
var stored []byte

// Theorems returns the stored theorems: two priors, each at T = 16, 64 and 512.
func Theorems() (all []Theorem) {
	if err := json.Unmarshal(stored, &all); err != nil {
		panic("finitelength: theorems.json: " + err.Error()) // it is embedded
	}
	return all
}

// New returns the theorem at eps = 1/floor(sqrt(T)) and alpha = 1/(1000 T), with two digits of the best numbers that
// its proof gives. Reach is where the growth of beta can no longer be bounded by 1/2000. There is an error if there is
// no lead in stage 1, or no such growth at beta = 0. It takes some seconds at t = 512. It panics unless t >= 3, and the
// matrices are over two states, each with a unique stationary measure.
func New(t int, orbits ...exact.Matrix) (Theorem, error) {
	if t < 3 || len(orbits) == 0 {
		panic(fmt.Sprintf("finitelength: T = %d and %d matrices, want at least 3 and 1", t, len(orbits)))
	}
	th := Theorem{Orbits: orbits, T: t}
	th.Eps, th.Alpha = exact.Frac(1, int64(math.Sqrt(float64(t)))), exact.Frac(1, int64(1000*t))
	lead, most := th.Lead(th.Target)
	if lead.Lo <= 0 {
		return th, fmt.Errorf("finitelength: %v: the least lead is in [%v, %v], want a positive one", th, lead.Lo, lead.Hi)
	}
	th.Beta0 = twoDigits(new(big.Rat).SetFloat64(math.Log1p(lead.Lo/(4*most.Hi+9))/2), 0)
	th.Time1 = twoDigits(th.time1(interval(lead)).Hi, 1)
	reach, time := th.climb(8, exact.Frac(1, 2000))
	if reach == 0 {
		return th, fmt.Errorf("finitelength: %v: no bound on the growth of beta at 0", th)
	}
	th.Reach = new(big.Rat).SetFloat64(reach)
	th.Time2, th.Excess = twoDigits(time.Hi, 1), twoDigits(th.excess().Hi, 1)
	return th, nil
}

// twoDigits returns x > 0 rounded to two digits, down and plus the given number of units.
func twoDigits(x *big.Rat, units int64) *big.Rat {
	unit := exact.Power(exact.Int(10), exact.Int(int(math.Floor(math.Log10(exact.Float(x))))-1)).Lo
	n := exact.Quo(x, unit)
	return exact.Mul(unit, new(big.Rat).SetInt(new(big.Int).Add(new(big.Int).Div(n.Num(), n.Denom()), big.NewInt(units))))
}

// Rows returns the rows of the first matrix, as "9/10 1/10; 1/10 9/10".
func (t Theorem) Rows() string {
	var rows []string
	for _, row := range t.Orbits[0] {
		rows = append(rows, strings.Join(exact.Vector(row).Strings(), " "))
	}
	return strings.Join(rows, "; ")
}

// String returns the prior and the length, "9/10 1/10; 1/10 9/10 and 1 more, T = 64".
func (t Theorem) String() string {
	return fmt.Sprintf("%s and %d more, T = %d", t.Rows(), len(t.Orbits)-1, t.T)
}

// Guess encloses the mean divergence of the uniform distribution from pi(.|s).
func (t Theorem) Guess() exact.Interval {
	return t.mean(func(law []float64, _ votes) float64 {
		return float64(law[0]*num.Log(2*law[0])) + float64(law[1]*num.Log(2*law[1]))
	}, 1e-14)
}

// Target returns the position to which row i > 0 turns: the parent, or the query itself. Positions are 0-based.
func (t Theorem) Target(i int) int {
	if i == t.T-1 {
		return i
	}
	return i - 1
}

// GHat encloses the mean of ghat over the prior: t rows, of which row i has i+1 entries.
func (t Theorem) GHat() [][]exact.Range {
	sum := exact.ChainGHat(t.Orbits[0], t.T, t.Eps)
	for _, pi := range t.Orbits[1:] {
		for i, row := range exact.ChainGHat(pi, t.T, t.Eps) {
			for j, v := range row {
				sum[i][j] = sum[i][j].Add(v)
			}
		}
	}
	for _, row := range sum {
		for j, v := range row {
			row[j] = v.Quo(exact.At(float64(len(t.Orbits))))
		}
	}
	return sum
}

// Lead encloses Delta, the least of the leads ghat_{i,p} - max_{j != p} ghat_ij of the rows i > 0, each of its target
// p, and G, the largest ghat_{i,p}.
func (t Theorem) Lead(target func(i int) int) (lead, most exact.Range) {
	lead, most = exact.At(math.Inf(1)), exact.At(math.Inf(-1))
	for i, row := range t.GHat() {
		for j, v := range row {
			if i > 0 && j != target(i) {
				lead = lead.Min(row[target(i)].Sub(v))
				most = most.Max(row[target(i)])
			}
		}
	}
	return lead, most
}

// time1 encloses 4S/Delta (T^2 + T/alpha) log(T/alpha).
func (t Theorem) time1(lead exact.Interval) exact.Interval {
	over := exact.Quo(exact.Int(t.T), t.Alpha)
	both := exact.Mul(exact.Int(8), exact.Add(exact.Int(t.T*t.T), over))
	return exact.Point(both).Mul(exact.Point(over).Log()).Quo(lead)
}

// votes count the positions with either token: with are those whose target has the token of the query.
type votes struct{ with, without [2]float64 }

// votesFor returns the votes of a chain of T-1 states with pair counts p for the query s.
func votesFor(p exact.Pairs, s int) (v votes) {
	for b := range 2 {
		v.with[b], v.without[b] = float64(p.N[s][b]), float64(p.N[1-s][b])
	}
	v.with[s]++ // the query
	if p.First == s {
		v.with[s]++ // position 1 attends to itself
	} else {
		v.without[1-s]++
	}
	return v
}

// weights returns the weight of each token, and of both, where a position without has the weight zero = e^-beta.
func (v votes) weights(zero float64) (of [2]float64, total float64) {
	for b := range of {
		of[b] = v.with[b] + float64(zero*v.without[b])
	}
	return of, of[0] + of[1]
}

// mean encloses the mean over the prior and the queries s of E[h(pi(.|s), votes)], where h is off by at most within.
func (t Theorem) mean(h func(law []float64, v votes) float64, within float64) exact.Interval {
	sum := exact.Point(new(big.Rat))
	for _, pi := range t.Orbits {
		p := pi.Floats()
		sum = sum.Add(exact.PairMean(pi, exact.MustStationary(pi), t.T-1, func(c exact.Pairs) float64 {
			return (h(p[:2], votesFor(c, 0)) + h(p[2:], votesFor(c, 1))) / 2
		}, within))
	}
	return sum.Quo(exact.Point(exact.Int(len(t.Orbits))))
}

// ExcessAt encloses L - L* + log(1 + S eps) at beta with each row on its target.
func (t Theorem) ExcessAt(beta float64) exact.Interval {
	zero, eps := num.Exp(-beta), exact.Float(t.Eps)
	return t.mean(func(law []float64, v votes) float64 {
		of, total := v.weights(zero)
		sum := 0.0
		for b, p := range law {
			sum += float64(p * num.Log(p*(1+2*eps)/(of[b]/total+eps)))
		}
		return sum
	}, 1e-12) // two logarithms of quotients with a few roundings each
}

// forces encloses the two parts of e^beta (-Delta_beta) at beta with each row on its target. With n_b = with_b +
// e^-beta without_b, W = n_0 + n_1 and c for the other token than b,
//
//	gain = 1/2 sum_s E sum_b pi(b|s) with_b without_c/(W (n_b + eps W)),  loss = the same with without_b with_c
//
// Both grow with beta, over h by at most a factor e^(2h).
func (t Theorem) forces(beta float64) (gain, loss exact.Interval) {
	zero, eps := num.Exp(-beta), exact.Float(t.Eps)
	part := func(of func(v votes, b int) float64) exact.Interval {
		return t.mean(func(law []float64, v votes) float64 {
			n, total := v.weights(zero)
			sum := 0.0
			for b, p := range law {
				sum += float64(p * of(v, b) / (total * (n[b] + float64(eps*total))))
			}
			return sum
		}, 1e-14*(float64(t.T)+1/zero)) // fewer than 20 roundings of terms of at most that size
	}
	return part(func(v votes, b int) float64 { return float64(v.with[b] * v.without[1-b]) }),
		part(func(v votes, b int) float64 { return float64(v.without[b] * v.with[1-b]) })
}

// climb follows beta from 0 by slices [beta, end], on each of which -Delta_beta is at least a number that it encloses,
//
//	growth = e^-end (gain - e^(2 (end - beta)) loss) - (2 + end) Alpha
//
// where the last term bounds the effect of rows that are on their targets up to Alpha (lem-compare-shift-sharp). It
// ends at reach, or before a slice with growth of at most least, and encloses the sum of width/growth + 4, a bound on
// tau_2 eta_2.
func (t Theorem) climb(reach float64, least *big.Rat) (beta float64, time exact.Interval) {
	for time = exact.Point(new(big.Rat)); beta < reach; {
		gain, loss := t.forces(beta)
		width := math.Floor(128*num.Log(gain.Float()/loss.Float())/3) / 128
		width = min(max(width, 1./128), 0.25, reach-beta)
		end, wide := new(big.Rat).SetFloat64(beta+width), new(big.Rat).SetFloat64(width)
		growth := gain.Sub(exact.Point(exact.Mul(exact.Int(2), wide)).Exp().Mul(loss))
		growth = exact.Point(new(big.Rat).Neg(end)).Exp().Mul(growth)
		growth = growth.Sub(exact.Point(exact.Mul(t.Alpha, exact.Add(exact.Int(2), end))))
		if growth.Lo.Cmp(least) <= 0 {
			return beta, time
		}
		time = time.Add(exact.Point(exact.Add(exact.Int(4), exact.Quo(wide, growth.Lo))))
		beta += width
	}
	return beta, time
}

// excess encloses the excess at Reach and adds the 2 beta alpha by which it may be larger where rows are on their
// targets up to alpha.
func (t Theorem) excess() exact.Interval {
	apart := exact.Point(exact.Mul(exact.Mul(exact.Int(2), t.Reach), t.Alpha))
	return t.ExcessAt(exact.Float(t.Reach)).Add(apart)
}

func interval(r exact.Range) exact.Interval {
	return exact.Interval{Lo: new(big.Rat).SetFloat64(r.Lo), Hi: new(big.Rat).SetFloat64(r.Hi)}
}

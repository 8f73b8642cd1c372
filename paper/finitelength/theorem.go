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
	Reach        int // stage 2 passes this beta
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
// its proof gives. There is an error if it gives none: no lead in stage 1, or no growth of beta up to reach. It takes
// some seconds at t = 512. It panics unless t >= 3, reach >= 1, and the matrices are over two states, each with a
// unique stationary measure.
func New(t, reach int, orbits ...exact.Matrix) (Theorem, error) {
	if t < 3 || reach < 1 || len(orbits) == 0 {
		panic(fmt.Sprintf("finitelength: T = %d, beta to %d, %d matrices, want at least 3, 1 and 1", t, reach, len(orbits)))
	}
	th := Theorem{Orbits: orbits, T: t, Reach: reach}
	th.Eps, th.Alpha = exact.Frac(1, int64(math.Sqrt(float64(t)))), exact.Frac(1, int64(1000*t))
	lead, most := th.Lead(th.Target)
	if lead.Lo <= 0 {
		return th, fmt.Errorf("finitelength: %v: the least lead is in [%v, %v], want a positive one", th, lead.Lo, lead.Hi)
	}
	th.Beta0 = twoDigits(new(big.Rat).SetFloat64(math.Log1p(lead.Lo/(4*most.Hi+9))/2), 0)
	th.Time1 = twoDigits(th.time1(interval(lead)).Hi, 1)
	e := th.Enclose()
	time, ok := th.time2(e.Growth)
	if !ok {
		return th, fmt.Errorf("finitelength: %v: no bound on the growth of beta up to %d", th, reach)
	}
	th.Time2, th.Excess = twoDigits(time.Hi, 1), twoDigits(th.excess(e.Excess).Hi, 1)
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

// time2 encloses the sum over the slices of width/growth + 4, unless the growth on one is not positive.
func (t Theorem) time2(growth []exact.Interval) (time exact.Interval, ok bool) {
	time = exact.Point(exact.Int(4 * len(growth)))
	for k, s := range t.slices() {
		if growth[k].Lo.Sign() <= 0 {
			return time, false
		}
		time = time.Add(exact.Point(exact.Quo(new(big.Rat).SetFloat64(s.Hi-s.Lo), growth[k].Lo)))
	}
	return time, true
}

// excess adds the 2 beta alpha by which a divergence may be larger where rows attend to their targets up to alpha.
func (t Theorem) excess(atTargets exact.Interval) exact.Interval {
	return atTargets.Add(exact.Point(exact.Mul(exact.Int(2*t.Reach), t.Alpha)))
}

// slices returns the intervals of beta on which the growth is bounded: 8 from 0 to 1 and from 1 to 2, and twice as
// many in each unit that follows, up to Reach.
func (t Theorem) slices() (all []exact.Range) {
	for unit := range t.Reach {
		width := 1 / float64(int(4)<<max(unit, 1))
		for b := float64(unit); b < float64(unit+1); b += width {
			all = append(all, exact.Range{Lo: b, Hi: b + width})
		}
	}
	return all
}

// Votes count the positions with either token: with are those whose target has the token of the query.
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

// growth encloses a number that is at most -Delta_beta for all beta in the slice, with each row on its target up to
// Alpha. With n_b = with_b + e^-beta without_b, W = n_0 + n_1 and c for the other token than b,
//
//	e^beta (-Delta_beta) = 1/2 sum_s E sum_b pi(b|s) (with_b without_c - without_b with_c)/(W (n_b + eps W))
//
// at the targets. Both parts grow with beta, by at most a factor e^(2 width). Alpha changes -Delta_beta by at most
// (2 + beta) Alpha (lem-compare-shift-sharp).
func (t Theorem) growth(slice exact.Range) exact.Interval {
	zero, eps, grown := num.Exp(-slice.Lo), exact.Float(t.Eps), num.Exp(2*(slice.Hi-slice.Lo))
	at := t.mean(func(law []float64, v votes) float64 {
		of, total := v.weights(zero)
		sum := 0.0
		for b, p := range law {
			less := float64(grown * v.without[b] * v.with[1-b])
			sum += float64(p * (float64(v.with[b]*v.without[1-b]) - less) / (total * (of[b] + float64(eps*total))))
		}
		return sum
	}, 1e-14*(float64(t.T)+grown/zero)) // fewer than 20 roundings of terms of at most that size
	end := new(big.Rat).SetFloat64(slice.Hi)
	apart := exact.Mul(t.Alpha, exact.Add(exact.Int(2), end))
	return exact.Point(end.Neg(end)).Exp().Mul(at).Sub(exact.Point(apart))
}

// An Enclosure is of what stage 2 does at the targets.
type Enclosure struct {
	Growth []exact.Interval // on each slice a number below -Delta_beta
	Excess exact.Interval   // at Reach
}

// Enclose computes it, in some seconds at T = 512.
func (t Theorem) Enclose() (e Enclosure) {
	for _, s := range t.slices() {
		e.Growth = append(e.Growth, t.growth(s))
	}
	e.Excess = t.ExcessAt(float64(t.Reach))
	return e
}

func interval(r exact.Range) exact.Interval {
	return exact.Interval{Lo: new(big.Rat).SetFloat64(r.Lo), Hi: new(big.Rat).SetFloat64(r.Hi)}
}

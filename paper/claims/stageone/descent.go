package stageone

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"

	"learncausal/paper/claims/instruments"
	"learncausal/paper/exact"
	"learncausal/paper/ledger"
	"learncausal/pkg/num"
	"learncausal/pkg/theory"
)

// A parentTime is a bound on the number of steps of size eta = eta1 beta0/T after
// which a row has attention 1-alpha at a position that leads by delta.
type parentTime struct {
	closed  func(t, alpha *big.Rat) exact.Interval   // eta delta times the number, for small eta
	steps   func(n, alpha, etaDelta float64) float64 // the number
	alphas  []int                                    // powers of 1/T, zero for alpha = 1/2
	watched int                                      // position whose attention must not fall; the leader is 0
	other   float64                                  // gradient at position 1, in units of the gradient at the leader
}

func (q parentTime) watching(position int) parentTime {
	q.watched = position
	return q
}

func (q parentTime) competing(gradient float64) parentTime {
	q.other = gradient
	return q
}

// changed applies a function to the number of steps.
func (q parentTime) changed(change func(steps float64) float64) parentTime {
	steps := q.steps
	q.steps = func(n, alpha, etaDelta float64) float64 { return change(steps(n, alpha, etaDelta)) }
	return q
}

// printedTime is 2 (T^ofT + alpha^-ofAlpha) log(T/alpha)/(eta delta).
func printedTime(ofT, ofAlpha *big.Rat) parentTime {
	return parentTime{
		closed: func(t, alpha *big.Rat) exact.Interval {
			sum := exact.Power(t, ofT).Add(exact.Power(exact.Inv(alpha), ofAlpha))
			return exact.Point(exact.Int(2)).Mul(sum).Mul(exact.Point(exact.Quo(t, alpha)).Log())
		},
		steps: func(n, alpha, etaDelta float64) float64 {
			sum := math.Pow(n, exact.Float(ofT)) + math.Pow(alpha, -exact.Float(ofAlpha))
			return 2 * sum * num.Log(n/alpha) / etaDelta
		},
		alphas: []int{0, 1, 2},
	}
}

// timeOfLemma8 is the time of lem-a1-dynamics.
var timeOfLemma8 = printedTime(exact.Int(1), exact.Int(1))

// sharpTime is e^(rate eta delta) (share (1/alpha + i) + logs log(i/alpha))/(eta delta).
func sharpTime(share float64, logs int64, rate float64) parentTime {
	return parentTime{
		closed: func(t, alpha *big.Rat) exact.Interval {
			sum := exact.Mul(new(big.Rat).SetFloat64(share), exact.Add(exact.Inv(alpha), t))
			return exact.Point(sum).Add(exact.Point(exact.Int(logs)).Mul(exact.Point(exact.Quo(t, alpha)).Log()))
		},
		steps: func(n, alpha, etaDelta float64) float64 {
			return num.Exp(min(rate*etaDelta, 100)) * (share*(1/alpha+n) + float64(logs)*num.Log(n/alpha)) / etaDelta
		},
		alphas: []int{0, 1, 2},
	}
}

// timeToEnd is 8 T^ofT log T/(eta delta), for alpha = T^-ofAlpha.
func timeToEnd(ofT *big.Rat, ofAlpha int) parentTime {
	return parentTime{
		closed: func(t, _ *big.Rat) exact.Interval {
			return exact.Point(exact.Int(8)).Mul(exact.Power(t, ofT)).Mul(exact.Point(t).Log())
		},
		steps: func(n, _, etaDelta float64) float64 {
			return 8 * math.Pow(n, exact.Float(ofT)) * num.Log(n) / etaDelta
		},
		alphas: []int{ofAlpha},
	}
}

func (q parentTime) check(e *ledger.Env, w *ledger.Worst) string {
	for _, k := range q.alphas {
		q.closedForm(w, k)
	}
	q.attack(e, w)
	q.onFamilies(e, w)
	return ""
}

// alphaOf returns T^-power, or 1/2 if power is zero.
func alphaOf(t *big.Rat, power int) *big.Rat {
	if power == 0 {
		return exact.Frac(1, 2)
	}
	return exact.Inv(exact.Pow(t, power))
}

// closedForm decides the bound for a row of T positions of which one leads. Its time
// in small steps is (T-1)/(T delta) exact.LeaderTime.
func (q parentTime) closedForm(w *ledger.Worst, power int) {
	instruments.Order{
		LHS: func(root *big.Rat) exact.Interval {
			t := exact.Pow(root, 2)
			return exact.Point(exact.Sub(exact.Int(1), exact.Inv(t))).Mul(exact.LeaderTime(t, alphaOf(t, power)))
		},
		RHS: func(root *big.Rat) exact.Interval {
			t := exact.Pow(root, 2)
			return q.closed(t, alphaOf(t, power))
		},
		At: func(root *big.Rat) ledger.Instance {
			t := exact.Pow(root, 2)
			return ledger.Instance{"i": t, "gradient": "delta at one position, else 0", "alpha": alphaOf(t, power)}
		},
	}.Decide(w, fewRootsOfT(), exact.Int(1))
}

// timeRounding exceeds the effect of rounding. S_p grows by more than 1e-9 in each step. Errors of 1e-16 in a
// step grow by a factor of at most i in all, the derivative of the last log(S_p/(1-S_p)) in the first.
const timeRounding = 1e-10

// attack follows rows whose leader is position 0 and leads by one, or by random
// amounts in each step. It compares the last step at which S_0 < 1-alpha with the
// bound, and checks that the watched attention never falls.
func (q parentTime) attack(e *ledger.Env, w *ledger.Worst) {
	r := rand.New(e.Stream("gradients"))
	for _, n := range []int{2, 3, 10, 100, 1000}[:e.Budget(5, 4)] {
		for _, etaDelta := range []float64{0.1, 1, 10, 100, 10000} {
			for _, k := range q.alphas {
				alpha, _ := alphaOf(exact.Int(n), k).Float64()
				if w.Failed() || (float64(n)+1/alpha)/etaDelta > 2000 {
					continue
				}
				for _, spread := range []float64{0, 1, 10} {
					last, fell := q.follow(n, etaDelta, alpha, func(h []float64) {
						for j := range h {
							h[j] = -spread * r.Float64()
						}
						h[0], h[1] = 1, q.other
					})
					at := func() ledger.Instance {
						return ledger.Instance{"i": n, "eta delta": etaDelta, "alpha": alpha, "random": spread}
					}
					w.AtMostRounded(last, q.steps(float64(n), alpha, etaDelta), timeRounding, at)
					w.AtMostRounded(fell, 0, timeRounding, at)
				}
			}
		}
	}
}

// follow moves a row of n positions from A = 0 by eta delta J(S) h, with h set by
// force in each step. It returns the last number of steps after which S_0 < 1-alpha,
// -1 if there is none, and the largest fall of the watched attention in a step.
func (q parentTime) follow(n int, etaDelta, alpha float64, force func(h []float64)) (last, fell float64) {
	a, p, h := make([]float64, n), make([]float64, n), make([]float64, n)
	num.Softmax(p, a)
	most := min(2*q.steps(float64(n), alpha, etaDelta)+10, 6000) // no bound is above
	for fell = -1; p[0] < 1-alpha && last < most; last++ {
		force(h)
		before := p[q.watched]
		for j, v := range theory.Jacobian(p, h) {
			a[j] += float64(etaDelta * v)
		}
		num.Softmax(p, a)
		fell = max(fell, before-p[q.watched])
	}
	return last - 1, fell
}

// onFamilies decides the bound for rows of graphs of several families in the limit
// beta0 -> 0. The lead delta of a row is the least over its entries.
func (q parentTime) onFamilies(e *ledger.Env, w *ledger.Worst) {
	instruments.EachStageOne(e, trendFamilies, func(c *instruments.FirstStage) {
		if w.Failed() || c.T > e.Budget(512, 64) {
			return
		}
		for _, i := range c.SampledChildren(2) {
			q.decideRow(w, c, i)
		}
	})
}

// decideRow decides the bound for row i.
func (q parentTime) decideRow(w *ledger.Worst, c *instruments.FirstStage, i int) {
	row, p := slices.Clone(c.Row(i)), c.Graph.Parent(i)
	row[0], row[p] = row[p], row[0]
	delta := row[0] - slices.Max(row[1:])
	alpha, n := 1/float64(c.T), float64(len(row))
	last, _ := q.follow(len(row), 1, alpha, func(h []float64) { floats.ScaleTo(h, 1/delta, row) })
	w.AtMostRounded(last, q.steps(n, alpha, 1), timeRounding, func() ledger.Instance {
		return c.Instance().With("i", i+1).With("alpha", alpha).With("S delta", delta)
	})
}

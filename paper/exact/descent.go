package exact

import (
	"fmt"
	"math/big"
)

// A number is a ratio or an [Interval].
type number[N any] interface {
	Add(N) N
	Sub(N) N
	Mul(N) N
	Quo(N) N
}

// A ratio is a rational number.
type ratio struct{ x *big.Rat }

func (a ratio) Add(b ratio) ratio { return ratio{Add(a.x, b.x)} }
func (a ratio) Sub(b ratio) ratio { return ratio{Sub(a.x, b.x)} }
func (a ratio) Mul(b ratio) ratio { return ratio{Mul(a.x, b.x)} }
func (a ratio) Quo(b ratio) ratio { return ratio{Quo(a.x, b.x)} }

func ratios(v Vector) []ratio {
	out := make([]ratio, len(v))
	for i, x := range v {
		out[i] = ratio{x}
	}
	return out
}

// pull returns w = J(v) X c of Lemma 4 (lem-pop-grads) and the prediction f = X^T v, for v in
// proportion to the weights and c(s') = law(s')/(f(s') + eps).
func pull[N number[N]](x []int, weights, law []N, eps N) (w, f []N) {
	zero := eps.Sub(eps)
	total, mean := zero, zero
	w, f, c := make([]N, len(x)), make([]N, len(law)), make([]N, len(law))
	for a := range f {
		f[a] = zero
	}
	for i, v := range weights {
		total, f[x[i]] = total.Add(v), f[x[i]].Add(v)
	}
	for a := range f {
		f[a] = f[a].Quo(total)
		c[a] = law[a].Quo(f[a].Add(eps))
		mean = mean.Add(c[a].Mul(f[a]))
	}
	for a := range c {
		c[a] = c[a].Sub(mean).Quo(total)
	}
	for i, v := range weights {
		w[i] = v.Mul(c[x[i]])
	}
	return w, f
}

// A Descent is Algorithm 1 with the loop of stage 2 begun at tau1+1 (alg-training-corrected): Tau1 steps
// on A1 from zero at A2 = Beta0 I, then Tau2 steps on A2, with the exact gradients of the population loss.
type Descent struct {
	Population
	Beta0, Rate1, Rate2 *big.Rat
	Tau1, Tau2          int
}

// A Model encloses theta. Row i of A1 has i+1 entries, A2 is S x S.
type Model struct{ A1, A2 [][]Interval }

// Run encloses theta after 0, 1, ..., Tau1+Tau2 steps. Each step widens the enclosure by a factor, so
// the 200 bits of an [Interval] serve some hundred steps. It panics as [Population.GHat] does, and unless
// Beta0 and the rates are positive and the times not negative.
func (d Descent) Run() []Model {
	d.check()
	for _, x := range []*big.Rat{d.Beta0, d.Rate1, d.Rate2} {
		if x.Sign() <= 0 {
			panic(fmt.Sprintf("exact: Algorithm 1 at %s, want positive numbers", x.RatString()))
		}
	}
	atLeast("tau1", d.Tau1, 0)
	atLeast("tau2", d.Tau2, 0)
	s := len(d.Pis[0])
	m := Model{triangle(d.Graph.T()), enclosed(Diag(Ones(s)).Scale(d.Beta0))}
	path, terms := []Model{m}, d.terms()
	for t := range d.Tau1 + d.Tau2 {
		if g := m.gradient(terms); t < d.Tau1 {
			m.A1 = descend(m.A1, d.Rate1, g.A1)
		} else {
			m.A2 = descend(m.A2, d.Rate2, g.A2)
		}
		path = append(path, m)
	}
	return path
}

// descend returns x - rate gradient.
func descend(x [][]Interval, rate *big.Rat, gradient [][]Interval) [][]Interval {
	out := make([][]Interval, len(x))
	for i, row := range x {
		for j, v := range row {
			out[i] = append(out[i], v.Sub(Point(rate).Mul(gradient[i][j])))
		}
	}
	return out
}

// triangle returns the lower triangle of a t x t matrix of zeros.
func triangle(t int) [][]Interval {
	rows := enclosed(Zero(t, t))
	for i := range rows {
		rows[i] = rows[i][:i+1]
	}
	return rows
}

// enclosed returns the rows as intervals with binary ends.
func enclosed(rows Matrix) [][]Interval {
	out := make([][]Interval, len(rows))
	for i, row := range rows {
		for _, x := range row {
			out[i] = append(out[i], Interval{down.end(side.bound, x), up.end(side.bound, x)})
		}
	}
	return out
}

// A term is an outcome with its law, and eps, as intervals.
type term struct {
	outcome
	law, eps []Interval
}

func (p Population) terms() (all []term) {
	for _, o := range p.outcomes() {
		rows := enclosed(Matrix{o.law, {p.Eps}})
		all = append(all, term{o, rows[0], rows[1]})
	}
	return all
}

// Attention encloses the rows of softmax(A1).
func (m Model) Attention() [][]Interval {
	out := make([][]Interval, len(m.A1))
	for i, row := range m.A1 {
		sum := Point(new(big.Rat))
		for _, x := range row {
			out[i] = append(out[i], x.Exp())
			sum = sum.Add(out[i][len(out[i])-1])
		}
		for j, v := range out[i] {
			out[i][j] = v.Quo(sum)
		}
	}
	return out
}

// pull returns w and f for an outcome.
func (m Model) pull(o term, attention [][]Interval) (w, f []Interval) {
	weights := make([]Interval, len(o.x))
	for i, row := range attention {
		score := Point(new(big.Rat))
		for j, a := range row {
			score = score.Add(a.Mul(m.A2[o.x[j]][o.query]))
		}
		weights[i] = score.Exp()
	}
	return pull(o.x, weights, o.law, o.eps[0])
}

// gradient encloses the gradients of the loss in A1, whose row i is -J(softmax(A1_i)) E[w_i X_{<=i} A2 e_s],
// and in A2, -E[X^T softmax(A1)^T w e_s^T].
func (m Model) gradient(terms []term) Model {
	attention := m.Attention()
	g := Model{triangle(len(m.A1)), enclosed(Zero(len(m.A2), len(m.A2)))}
	for _, o := range terms {
		w, _ := m.pull(o, attention)
		for i, row := range attention {
			for j, a := range row {
				one, two := &g.A1[i][j], &g.A2[o.x[j]][o.query]
				*one = one.Sub(w[i].Mul(m.A2[o.x[j]][o.query]))
				*two = two.Sub(w[i].Mul(a))
			}
		}
	}
	for i, row := range g.A1 {
		mean := Point(new(big.Rat))
		for j, a := range attention[i] {
			mean = mean.Add(a.Mul(row[j]))
		}
		for j, a := range attention[i] {
			row[j] = a.Mul(row[j].Sub(mean))
		}
	}
	return g
}

// Excess encloses L - L* + log(1 + S eps) of the model, which is not negative.
func (p Population) Excess(m Model) Interval {
	s := int64(len(m.A2))
	shift := Add(Int(1), Mul(Int(s), p.Eps))
	sum, attention := Point(shift).Log(), m.Attention()
	for _, o := range p.terms() {
		_, f := m.pull(o, attention)
		for a, q := range o.law {
			sum = sum.Sub(q.Mul(f[a].Add(o.eps[0]).Log()))
		}
	}
	for _, pi := range p.Pis {
		for _, row := range pi {
			for _, q := range row {
				if q.Sign() > 0 {
					share := Quo(q, Int(s*int64(len(p.Pis))))
					sum = sum.Add(Point(share).Mul(Point(q).Log()))
				}
			}
		}
	}
	return sum
}

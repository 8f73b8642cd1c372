package theory

import (
	"errors"
	"math"
	"testing"

	"learncausal/internal/property"
	"learncausal/pkg/graph"
	"learncausal/pkg/markov"
	"learncausal/pkg/task"
)

func must[V any](v V, err error) V {
	if err != nil {
		panic(err)
	}
	return v
}

func orbit3() *markov.Finite {
	return must(markov.NewOrbit(3, []float64{0.5, 0.3, 0.2, 0.1, 0.2, 0.7, 0.3, 0.4, 0.3}))
}

func orbit2() *markov.Finite {
	return must(markov.NewOrbit(2, []float64{0.7, 0.3, 0.1, 0.9}, []float64{0.3, 0.7, 0.9, 0.1}))
}

// bruteForce sums the loss and the gradient of each sequence over the prior and
// over task.Enumerate.
func bruteForce(p *Population, m *Reduced) (loss float64, grad *Reduced) {
	grad = NewReduced(m.S, m.T, 0)
	for k, pi := range p.Prior.Pi {
		for x, prob := range must(task.Task{Graph: p.Graph, Prior: p.Prior}.Enumerate(pi, p.Prior.Mu[k])) {
			for s := range m.S {
				weight := prob * p.Prior.Weight[k]
				if p.Reading == QueryApart {
					weight /= float64(m.S)
				} else if s != x[m.T-1] {
					continue
				}
				g := NewReduced(m.S, m.T, 0)
				loss += weight * m.Loss(x, s, pi[s*m.S:s*m.S+m.S], p.Eps, g)
				for i, v := range raw(g.A1) {
					raw(grad.A1)[i] += weight * v
				}
				for i, v := range raw(g.A2) {
					raw(grad.A2)[i] += weight * v
				}
			}
		}
	}
	return loss, grad
}

func TestPopulationEqualsBruteForce(t *testing.T) {
	for _, reading := range []Reading{QueryInSequence, QueryApart} {
		for _, c := range []struct {
			g     *graph.Forest
			prior *markov.Finite
		}{
			{graph.MustNew(-1, 0, 0, 1, -1, -1), orbit2()},
			{graph.MustNew(-1, -1, 1, 0, -1), orbit3()},
			{graph.Chain(5), &markov.Finite{Pi: orbit3().Pi[1:3], Mu: orbit3().Mu[1:3], Weight: []float64{0.25, 0.75}}},
		} {
			p := must(NewPopulation(c.g, c.prior, 0.3, reading))
			m := randomReduced(c.prior.States(), c.g.T(), 1.5, 3)
			symmetric := randomReduced(c.prior.States(), c.g.T(), 1.5, 4)
			for i := range raw(symmetric.A2) {
				raw(symmetric.A2)[i] = -0.5
				if i%(m.S+1) == 0 {
					raw(symmetric.A2)[i] = 2
				}
			}
			for _, m := range []*Reduced{m, symmetric} {
				g := p.Gradient(m)
				loss, grad := bruteForce(p, m)
				alone, gap := p.Loss(m)
				if alone != g.Loss || gap != g.Gap {
					t.Errorf("%v, %v: Loss returns %v, %v and Gradient %v, %v", c.g, reading, alone, gap, g.Loss, g.Gap)
				}
				if d := math.Abs(g.Loss - loss); d > 1e-13 {
					t.Errorf("%v, %v: loss deviates by %g", c.g, reading, d)
				}
				if d := distance(raw(g.G1), raw(grad.A1)); d > 1e-13 {
					t.Errorf("%v, %v: G1 deviates by %g", c.g, reading, d)
				}
				if d := distance(raw(g.G2), raw(grad.A2)); d > 1e-13 {
					t.Errorf("%v, %v: G2 deviates by %g", c.g, reading, d)
				}
			}
		}
	}
}

func TestPopulationGradientIsTheDerivative(t *testing.T) {
	g := graph.MustNew(-1, 0, 1, 1, -1, 4, -1)
	p := must(NewPopulation(g, orbit2(), 0.2, QueryApart))
	m := randomReduced(2, 7, 1, 5)
	grad := p.Gradient(m)
	loss := func() float64 { l, _ := p.Loss(m); return l }
	d1, d2 := differences(raw(m.A1), 1e-5, loss), differences(raw(m.A2), 1e-5, loss)
	if d := distance(raw(grad.G1), d1); d > 1e-9 {
		t.Errorf("G1 deviates from the differences of L by %g", d)
	}
	if d := distance(raw(grad.G2), d2); d > 1e-9 {
		t.Errorf("G2 deviates from the differences of L by %g", d)
	}
}

// eq. (33), and the closed form of ghat in counts of tokens.
func TestGStarIsThePreconditionedGradient(t *testing.T) {
	g := graph.MustNew(-1, 0, 1, -1, 2, -1)
	const n, s, beta0 = 6, 2, 0.37
	for _, reading := range []Reading{QueryInSequence, QueryApart} {
		p := must(NewPopulation(g, orbit2(), 0.25, reading))
		m := randomReduced(s, n, 1, 6)
		copy(raw(m.A2), []float64{beta0, 0, 0, beta0})
		grad, a := p.Gradient(m), raw(m.Attention())
		for i := range n {
			mean := 0.0
			for j := range i + 1 {
				mean += a[i*n+j] * raw(grad.GStar)[i*n+j]
			}
			for j := range i + 1 {
				want := -beta0 / (s * n) * a[i*n+j] * (raw(grad.GStar)[i*n+j] - mean)
				if d := math.Abs(raw(grad.G1)[i*n+j] - want); d > 1e-15 {
					t.Errorf("%v: G1[%d][%d] deviates by %g", reading, i, j, d)
				}
			}
		}
		clear(raw(m.A2))
		ghat := raw(p.Gradient(m).GStar)
		want := make([]float64, n*n)
		p.Each(m, func(o Outcome) {
			weight, pi, x, q := o.Weight, o.Pi, o.X, o.S
			for b := range s {
				muhat := 0.0
				for _, a := range x {
					if a == b {
						muhat += 1. / n
					}
				}
				for i, a := range x {
					d := -muhat
					if a == b {
						d++
					}
					for j := range i + 1 {
						if x[j] == q {
							want[i*n+j] += s * weight * pi[q*s+b] * d / (muhat + p.Eps)
						}
					}
				}
			}
		})
		if d := distance(ghat, want); d > 1e-13 {
			t.Errorf("%v: ghat deviates from its closed form by %g", reading, d)
		}
	}
}

func TestErrorsOfThePredictions(t *testing.T) {
	prior := &markov.Finite{Pi: orbit2().Pi[:1], Mu: orbit2().Mu[:1], Weight: []float64{1}}
	p := must(NewPopulation(graph.Chain(4), prior, 0.5, QueryInSequence))
	square := p.Errors(NewReduced(2, 4, 0))
	// f is the frequency of s' in x, which has the query as its last token.
	want := make([]float64, 4)
	for x, prob := range must(task.Task{Graph: p.Graph, Prior: prior}.Enumerate(prior.Pi[0], prior.Mu[0])) {
		for b := range 2 {
			n := 0.0
			for _, a := range x {
				if a == b {
					n++
				}
			}
			at := x[3]*2 + b
			d := n/4 - prior.Pi[0][at]
			want[at] += 2 * prob * d * d
		}
	}
	if d := distance(raw(square), want); d > 1e-15 {
		t.Errorf("mean squares deviate by %g", d)
	}
}

func TestPopulationRefuses(t *testing.T) {
	_, err := NewPopulation(graph.Chain(25), orbit2(), 0.1, QueryApart)
	property.Mentions(t, err, "2^25 sequences are too many")
	said := property.Refused(t, "theory", func() { NewReduced(2, 3, 1).Predict([]int{0, 2, 1}, 0) })
	property.Mentions(t, errors.New(said), "token 2 at position 1")
}

// A token of probability zero has no part in the loss, though the model be sure of that.
func TestCrossEntropyOfAnImpossibleToken(t *testing.T) {
	var loss, gap float64
	new(Population).tally(&loss, &gap)(Outcome{Weight: 1, Pi: []float64{1, 0}, F: []float64{1, 0}})
	if loss != 0 || gap != 0 {
		t.Errorf("loss %v and gap %v, want 0", loss, gap)
	}
}

// A prior is averaged by orbits only where A2 and the weights are symmetric.
func TestBrokenSymmetriesAreSummed(t *testing.T) {
	g := graph.MustNew(-1, 0, 0, -1, 1, -1)
	for _, broken := range []int{0, 1, 4, 7} {
		p := must(NewPopulation(g, orbit3(), 0.1, QueryInSequence))
		m := NewReduced(3, g.T(), 1.5)
		raw(m.A2)[broken] += 0.7
		want, _ := bruteForce(p, m)
		if got, _ := p.Loss(m); math.Abs(got-want) > 1e-13 {
			t.Errorf("entry %d of A2 is another: loss %v, want %v", broken, got, want)
		}
	}
	uneven := orbit2()
	uneven.Weight[0] += 0.01
	uneven.Weight[1] -= 0.01
	p, m := must(NewPopulation(g, uneven, 0.1, QueryInSequence)), NewReduced(2, g.T(), 1.5)
	want, grad := bruteForce(p, m)
	got := p.Gradient(m)
	if math.Abs(got.Loss-want) > 1e-13 || distance(raw(got.G1), raw(grad.A1)) > 1e-13 ||
		distance(raw(got.G2), raw(grad.A2)) > 1e-13 {
		t.Errorf("uneven weights: %+v, want the loss %v and %+v", got, want, grad)
	}
}

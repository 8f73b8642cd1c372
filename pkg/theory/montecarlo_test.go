package theory

import (
	"math"
	"reflect"
	"testing"

	"learncausal/pkg/graph"
	"learncausal/pkg/markov"
	"learncausal/pkg/num"

	"gonum.org/v1/gonum/mat"
)

// Against exact sums over all sequences. There are 2 readings x 3 attentions x
// 2 betas x 7 estimates for a prior over two states and 12 for two over three, each allowed
// six standard errors: a false alarm has a probability below 1000 x 2e-9 for normal
// errors. The seed is preset. Where the exact value is zero so are the samples.
func TestMonteCarloAgreesWithEnumeration(t *testing.T) {
	agreesWithEnumeration(t, must(markov.NewOrbit(2, []float64{0.8, 0.2, 0.4, 0.6})), 2)
	agreesWithEnumeration(t, orbit3(), 3)
	agreesWithEnumeration(t, uneven(), 3)
}

func agreesWithEnumeration(t *testing.T, prior *markov.Finite, s int) {
	t.Helper()
	g := graph.MustNew(-1, 0, -1, 1, 1, -1)
	const n, eps = 6, 0.3
	random := randomReduced(s, n, 1, 8).Attention()
	limit, mixed := mat.NewDense(n, n, nil), mat.NewDense(n, n, nil)
	given, roots := make([][]float64, n), make([][]float64, n)
	for i := range n {
		given[i] = random.RawRowView(i)[:i+1]
		if p := g.Parent(i); p >= 0 {
			limit.Set(i, p, 1)
			mixed.Set(i, p, 1)
			continue
		}
		roots[i] = given[i]
		for j := range i + 1 {
			limit.Set(i, j, 1/float64(i+1))
			mixed.Set(i, j, random.At(i, j))
		}
	}
	betas := []float64{0, 2.5}
	for _, reading := range []Reading{QueryInSequence, QueryApart} {
		for _, a := range []struct {
			rows  [][]float64
			dense *mat.Dense
		}{{nil, limit}, {roots, mixed}, {given, random}} {
			mc := MonteCarlo{Graph: g, Prior: prior, Rows: a.rows, Eps: eps, Reading: reading, Samples: 20000, Seed: 1}
			got := mc.Run(betas)
			p := must(NewPopulation(g, prior, eps, reading))
			for k, beta := range betas {
				m := NewReduced(s, n, beta)
				for i, q := range raw(a.dense) {
					raw(m.A1)[i] = math.Log(max(q, 1e-300))
				}
				exact, square := p.Gradient(m), p.Errors(m)
				check := func(name string, e num.Estimate, want float64) {
					if d := math.Abs(e.Mean - want); !(d <= 6*e.StdErr+1e-12) {
						t.Errorf("%v, beta=%v, %s: %+v, want %v", reading, beta, name, e, want)
					}
				}
				check("Delta_beta", got[k].DeltaBeta, exact.DeltaBeta)
				check("gap", got[k].Gap, exact.Gap)
				check("-Delta_beta - ghat", got[k].Ideal, -exact.DeltaBeta-GHatBeta(prior, g, beta))
				for i := range s * s {
					check("square", got[k].Square[i], raw(square)[i])
				}
			}
		}
	}
}

func TestMonteCarloDoesNotDependOnWorkers(t *testing.T) {
	mc := MonteCarlo{Graph: graph.InContext(40), Prior: orbit3(), Eps: 0.1, Samples: 300, Seed: 7, Workers: 1}
	one := mc.Run([]float64{0.5, 1})
	mc.Workers = 3
	if !reflect.DeepEqual(one, mc.Run([]float64{0.5, 1})) {
		t.Error("three workers give another result than one")
	}
	mc.Seed = 8
	if reflect.DeepEqual(one, mc.Run([]float64{0.5, 1})) {
		t.Error("two seeds give the same result")
	}
}

func TestRMSIsTheRootOfTheMeanSquare(t *testing.T) {
	at := StageTwo{Square: []num.Estimate{{Mean: 1}, {Mean: 4}, {Mean: 9}, {Mean: 2}}}
	if got := at.RMS(); got != 2 {
		t.Errorf("got %v, want 2", got)
	}
}

// The limits of E3 and of E1/E2 as eqs. (39) and (40) print them.
func TestLimitsAsPrinted(t *testing.T) {
	c := must(NewChain(orbit3().Pi[0], 3))
	for _, r := range []float64{0, 0.4, 1} {
		for _, beta := range []float64{0, 1, 5} {
			e := math.Exp(beta)
			for s, mu := range c.Mu {
				em := math.Exp(beta * mu)
				limit := func(p, m float64) float64 {
					return ((1-r)*e*mu*p + r*em*mu*m) / ((1-r)*(e-1)*mu*p + (1-r)*m + r*em*m)
				}
				if got := c.E3Limit(s, r, beta); !agree(got, limit(1, 1), 1e-12) {
					t.Errorf("r=%v, beta=%v: the limit of E3 is %v, want %v", r, beta, got, limit(1, 1))
				}
				for b, m := range c.Mu {
					if got, want := c.E12Limit(s, b, r, beta), limit(c.Pi.At(s, b), m); !agree(got, want, 1e-12) {
						t.Errorf("r=%v, beta=%v: the limit of E1/E2 is %v, want %v", r, beta, got, want)
					}
				}
			}
		}
	}
}

// Where all samples are equal up to a rotation of three states, an estimate is the population's
// number to rounding: one token before the query under a circulant matrix, and a cycle along a chain.
// Values for pairs of states are summed over the rotations.
func TestSamplesWithoutChance(t *testing.T) {
	for n, pi := range map[int][]float64{
		2: {0.5, 0.3, 0.2, 0.2, 0.5, 0.3, 0.3, 0.2, 0.5}, 5: {0, 1, 0, 0, 0, 1, 1, 0, 0},
	} {
		const eps, beta = 0.1, 1.5
		g := graph.Chain(n)
		prior := &markov.Finite{Pi: [][]float64{pi}, Mu: [][]float64{{1. / 3, 1. / 3, 1. / 3}}, Weight: []float64{1}}
		m, rows := NewReduced(3, n, beta), make([][]float64, n)
		for k := range n * n {
			raw(m.A1)[k] = 2 * math.Sin(float64(k+1))
		}
		for i := range rows {
			rows[i] = m.Attention().RawRowView(i)[:i+1]
		}
		got := MonteCarlo{Graph: g, Prior: prior, Rows: rows, Eps: eps, Samples: 4, Seed: 1}.Run([]float64{beta})[0]
		p := must(NewPopulation(g, prior, eps, QueryInSequence))
		grad := p.Gradient(m)
		square := p.Errors(m)
		check := func(what string, got, want float64) {
			if !agree(got, want, 1e-9) {
				t.Errorf("T=%d: %s is %v, want %v", n, what, got, want)
			}
		}
		check("Delta_beta", got.DeltaBeta.Mean, grad.DeltaBeta)
		check("the gap", got.Gap.Mean, grad.Gap)
		check("-Delta_beta - ghat", got.Ideal.Mean, -grad.DeltaBeta-GHatBeta(prior, g, beta))
		for k := range 3 {
			sampled, exact := 0.0, 0.0
			for s := range 3 {
				sampled, exact = sampled+got.Square[s*3+(s+k)%3].Mean, exact+square.At(s, (s+k)%3)
			}
			check("the square of an error", sampled, exact)
		}
	}
}

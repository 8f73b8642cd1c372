package theory

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"learncausal/internal/property"
	"learncausal/pkg/graph"
	"learncausal/pkg/markov"
	"learncausal/pkg/num"
	"learncausal/pkg/task"
)

// uneven is a prior of two matrices over three states, of which one is three times as likely
// and the other one has a zero.
func uneven() *markov.Finite {
	p := must(markov.NewFinite(3,
		[]float64{0.6, 0.3, 0.1, 0.1, 0.6, 0.3, 0.3, 0.1, 0.6},
		[]float64{0, 0.9, 0.1, 0.2, 0.2, 0.6, 0.7, 0.1, 0.2}))
	return &markov.Finite{Pi: p.Pi, Mu: p.Mu, Weight: []float64{0.75, 0.25}}
}

// Each matrix counts by its own weight, on every route.
func TestWeightsOfAPriorWeighItsMatrices(t *testing.T) {
	prior, g := uneven(), graph.MustNew(-1, 0, 1, -1, -1)
	one := func(k int) *markov.Finite {
		return &markov.Finite{Pi: prior.Pi[k : k+1], Mu: prior.Mu[k : k+1], Weight: []float64{1}}
	}
	mixed := func(name string, f func(p *markov.Finite) []float64) {
		t.Helper()
		all, first, second := f(prior), f(one(0)), f(one(1))
		for i, v := range all {
			if want := 0.75*first[i] + 0.25*second[i]; !agree(v, want, 1e-12) {
				t.Errorf("%s, entry %d: %v, want %v", name, i, v, want)
			}
		}
		if slices.Equal(first, second) {
			t.Errorf("%s: the two matrices give the same", name)
		}
	}
	mixed("Mean", func(p *markov.Finite) []float64 {
		return []float64{Mean(p, func(c *Chain) float64 { return c.Pi.At(0, 0) + c.Mu[1] })}
	})
	mixed("GHat", func(p *markov.Finite) []float64 { return raw(must(GHat(g, p, 0.3, QueryApart))) })
	mixed("G", func(p *markov.Finite) []float64 { return raw(G(p, g)) })
	mixed("Loss", func(p *markov.Finite) []float64 {
		loss, _ := must(NewPopulation(g, p, 0.3, QueryApart)).Loss(NewReduced(3, 5, 1))
		return []float64{loss}
	})
	// The relabelings of a matrix, of which one has another weight, are no symmetric prior.
	orbit := orbit3()
	if c := orbits(orbit); c == nil || len(c.Pi) != 1 || !agree(c.Weight[0], 1, 1e-15) {
		t.Errorf("%d classes of an orbit", len(c.Pi))
	}
	spoilt := slices.Clone(orbit.Weight)
	spoilt[0], spoilt[1] = spoilt[0]/2, spoilt[1]+spoilt[0]/2
	if orbits(&markov.Finite{Pi: orbit.Pi, Mu: orbit.Mu, Weight: spoilt}) != nil {
		t.Error("a prior with uneven relabelings is symmetric")
	}
	two := &markov.Finite{Pi: slices.Concat(orbit.Pi, orbit.Pi[:1]), Mu: slices.Concat(orbit.Mu, orbit.Mu[:1])}
	two.Weight = append(slices.Clone(orbit.Weight), orbit.Weight[0]) // a matrix twice
	two.Weight[0] /= 2
	two.Weight[len(two.Weight)-1] /= 2
	if c := orbits(two); c == nil || len(c.Pi) != 1 || !agree(c.Weight[0], 1, 1e-15) {
		t.Errorf("an orbit with a matrix in two parts: %+v", c)
	}
}

// A step that leaves the finite numbers is found at every entry and on both sides, and the
// error names the step and its stage.
func TestDivergenceIsNamed(t *testing.T) {
	for i := range 3 {
		for _, far := range []float64{math.MaxFloat64, -math.MaxFloat64} {
			x, grad := make([]float64, 3), make([]float64, 3)
			x[i], grad[i] = far, -far
			if descend(mat.NewDense(1, 3, x), mat.NewDense(1, 3, grad), 2) {
				t.Errorf("%v passes as finite", x)
			}
		}
	}
	constant := func(n int, v float64) Stage {
		return func(*Reduced, *mat.Dense) (*mat.Dense, float64, float64) {
			return mat.NewDense(n, n, slices.Repeat([]float64{v}, n*n)), 0, 0
		}
	}
	set := Settings{Beta0: 1, Rate1: 1, Rate2: 1, Tau1: 2, Tau2: 2}
	for want, stages := range map[string][2]Stage{
		"step 1, of stage 1": {constant(3, math.Inf(1)), constant(2, 0)},
		"step 3, of stage 2": {constant(3, 0), constant(2, math.Inf(1))},
	} {
		_, err := Algorithm1(set, graph.Chain(3), 2, stages[0], stages[1])
		property.Mentions(t, err, want)
	}
	for _, f := range []func(){
		func() { descend(mat.NewDense(1, 2, nil), mat.NewDense(1, 1, nil), 1) },
		func() { LimitStage(mat.NewDense(2, 2, nil), 1)(NewReduced(2, 3, 1), nil) },
	} {
		if property.Refused(t, "theory", f) == "" {
			t.Error("a gradient of another size is accepted")
		}
	}
}

// Means and standard errors by the samples themselves, in blocks and for any workers.
func TestMonteCarloIsTheMeanOfItsSamples(t *testing.T) {
	const s = 3
	betas := []float64{0.5, 2}
	c := MonteCarlo{
		Graph: graph.MustNew(-1, 0, -1, 1, -1), Prior: uneven(), Eps: 0.3, Samples: 2*block + 7, Seed: 5,
		Workers: 2,
	}
	var samples [][]float64
	d := newDraw(&c, betas)
	for b := 0; len(samples) < c.Samples; b++ {
		src := num.Stream(c.Seed, "theory/montecarlo", uint64(b))
		for range min(block, c.Samples-len(samples)) {
			d.sample(src)
			d.evaluate()
			samples = append(samples, slices.Clone(d.values))
		}
	}
	estimate := func(i int) num.Estimate {
		x := make([]float64, len(samples))
		for k := range x {
			x[k] = samples[k][i]
		}
		return num.Average(x)
	}
	at := 0
	for k, got := range c.Run(betas) {
		all := slices.Concat([]num.Estimate{got.DeltaBeta, got.Gap, got.Ideal}, got.Square)
		if len(got.Square) != s*s || got.Beta != betas[k] {
			t.Errorf("%d entries at beta = %v", len(got.Square), got.Beta)
		}
		for _, e := range all {
			if want := estimate(at); !agree(e.Mean, want.Mean, 1e-12) || !agree(e.StdErr, want.StdErr, 1e-12) {
				t.Errorf("value %d is %+v, want %+v", at, e, want)
			}
			at++
		}
	}
	if at != len(d.values) {
		t.Errorf("%d values, want %d", at, len(d.values))
	}
}

// By hand: for p = 0 the limit is r mu / ((1-r) e^(-beta mu) + r), also where its parts are too
// small for floating point.
func TestLimitsWhereTermsUnderflow(t *testing.T) {
	const mu, to, r = 0.001, 0.5, 0.25
	for _, beta := range []float64{300, 600, 650, 667, 668, 690, 700} {
		want := r * mu / ((1-r)*math.Exp(-beta*mu) + r)
		if got := e12Limit(0, mu, to, r, beta); !agree(got, want, 1e-10) {
			t.Errorf("beta = %v: %v, want %v", beta, got, want)
		}
	}
	for _, c := range [][6]float64{ // p, mu, to, r, beta, want
		{0.3, mu, to, 1, 1e4, mu},
		{0, mu, to, 0, 1e4, 0},
		{0, mu, to, 0, 1, 0},
		{0.3, mu, to, 0.5, 1e4, 1},
		{0.3, mu, to, 1, 10, mu},
	} {
		if got := e12Limit(c[0], c[1], c[2], c[3], c[4]); !agree(got, c[5], 1e-12) {
			t.Errorf("%v: %v", c, got)
		}
	}
}

// Weights of the second layer that overflow by themselves are no limit to the prediction.
func TestLossOfASharpModel(t *testing.T) {
	p := must(NewPopulation(graph.Chain(4), uneven(), 0.3, QueryApart))
	m := NewReduced(3, 4, 1)
	for _, all := range []float64{1000, -1000} {
		for i := range raw(m.A2) {
			raw(m.A2)[i] = all + 100*float64(i*i%7)
		}
		sum := 0.0
		p.Each(m, func(o Outcome) {
			if f, _, _ := m.Predict(o.X, o.S); !(distance(o.F, f) < 1e-12) {
				t.Fatalf("the prediction for %v is %v, want %v", o.X, o.F, f)
			}
			sum += o.Weight
		})
		if !agree(sum, 1, 1e-12) {
			t.Errorf("the weights sum to %v", sum)
		}
	}
	raw(m.A2)[3] = raw(m.A2)[0] + 800
	if loss, _ := p.Loss(m); !math.IsNaN(loss) {
		t.Errorf("with entries of A2 that far apart the loss is %v", loss)
	}
}

// By hand, over three states: a table, a model and its rows.
func TestModelsAreReadAsTheyAre(t *testing.T) {
	m := NewReduced(3, 3, 0)
	copy(raw(m.A2), []float64{3, 1, 2, 1, 6, 0, 0, 2, 9})
	if got := m.Beta(); got != 6-1 {
		t.Errorf("beta is %v, want the mean of the diagonal minus the mean off it, 5", got)
	}
	two := TableStage([]StageTwo{
		{Beta: 1, DeltaBeta: num.Estimate{Mean: -1}, Gap: num.Estimate{Mean: 5}},
		{Beta: 3, DeltaBeta: num.Estimate{Mean: -3}, Gap: num.Estimate{Mean: 1}},
	})
	for beta, want := range map[float64]float64{0: 5, 1: 5, 1.5: 4, 2: 3, 3: 1, 7: 1} {
		if _, _, gap := two(NewReduced(3, 3, beta), nil); !agree(gap, want, 1e-12) {
			t.Errorf("at beta = %v the gap is %v, want %v", beta, gap, want)
		}
	}
	attention := mat.NewDense(3, 3, []float64{1, 0, 0, 0.25, 0.75, 0, 0.25, 0.25, 0.5})
	rows := m.Rows(graph.MustNew(-1, -1, -1), attention)
	if rows[1].Drift != 0.25 || rows[1].Other != 0.75 || rows[2].Other != 0.5 {
		t.Errorf("%+v", rows)
	}
	info := mat.NewDense(4, 4, nil)
	info.Set(3, 1, math.NaN()) // of the query, which is not read
	if said := property.Refused(t, "theory", func() { Oracle(info, make([]float64, 4)) }); said != "" {
		t.Errorf("panic %q", said)
	}
	tk := task.Task{Graph: graph.Chain(3), Prior: uneven()}
	sample := newSample(tk, 1, 50, num.Stream(1, "sample"))
	if info := sample.information(ChiSquared); info.At(2, 0) == 0 || info.At(2, 0) != info.At(0, 2) {
		t.Errorf("the information of the query with the first position is %v and %v", info.At(2, 0), info.At(0, 2))
	}
	c := MonteCarlo{Graph: graph.Chain(6), Prior: uneven(), Eps: 0.3, Samples: 8, Workers: 1}
	if e := c.Run([]float64{700})[0]; !isFinite(e.DeltaBeta.Mean, e.Gap.Mean, e.Ideal.Mean, e.RMS()) {
		t.Errorf("at beta = 700: %+v", e)
	}
}

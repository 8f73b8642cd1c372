package task

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"testing"

	"learncausal/internal/property"
	"learncausal/pkg/graph"
	"learncausal/pkg/markov"
	"learncausal/pkg/num"
)

func newBayes(t testing.TB, tk Task, draws int) *Bayes {
	t.Helper()
	b, err := NewBayes(tk, draws)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func sequence(k, states, length int) []int {
	x := make([]int, length)
	for i := range x {
		x[length-1-i] = k % states
		k /= states
	}
	return x
}

// alpha = 0.05 takes the logarithmic path, 0.7 the general gamma sampler. Each
// bound of 6 standard errors fails with probability 2e-9.
func TestBayesIsThePosteriorMean(t *testing.T) {
	for _, prior := range []string{"dirichlet(0.05)", "dirichlet(0.1)", "dirichlet(0.7)", "dirichlet(1)"} {
		tk := newTask(t, prior, 2, -1, 0, -1, 1)
		p, want := integrate(t, tk)
		total := 0.0
		for _, q := range p {
			total += q
		}
		if math.Abs(total-1) > 1e-8 {
			t.Fatalf("%s: the quadrature is wrong by %.1g", prior, total-1)
		}
		b, src := newBayes(t, tk, 4000), num.Stream(1, "posterior")
		var e Prediction
		for k := range want {
			x := sequence(k, 2, 5)
			b.Predict(&e, x, src)
			if d := math.Abs(e.F[0] - want[k]); d > 6*e.StdErr[0]+1e-8 || e.StdErr[0] > 0.03 {
				t.Errorf("%s, %v: %.5f +- %.5f, want %.5f", prior, x, e.F[0], e.StdErr[0], want[k])
			}
		}
	}
}

// Over many repetitions with few draws, the stated standard error is the spread of F, and
// the stated bias is the mean error of the logarithm of F.
func TestBayesStatesItsError(t *testing.T) {
	tk := newTask(t, "dirichlet(0.1)", 2, -1, -1, -1, -1)
	_, exact := integrate(t, tk)
	const draws, times = 40, 10000
	b, src := newBayes(t, tk, draws), num.Stream(2, "posterior")
	x := []int{0, 1, 1, 1, 0}
	var e Prediction
	for s, truth := range []float64{exact[index(x, 2)], 1 - exact[index(x, 2)]} {
		y := []float64{0, 0}
		y[s] = 1
		plain, corrected := make([]float64, times), make([]float64, times)
		spread, stated := 0.0, 0.0
		for i := range times {
			b.Predict(&e, x, src)
			plain[i] = LogLoss(y, e.F)
			corrected[i] = e.Loss(y)
			spread += (e.F[s] - truth) * (e.F[s] - truth) / times
			stated += e.StdErr[s] * e.StdErr[s] / times
		}
		// The estimated variance is itself too small at 40 heavy-tailed weights.
		if r := math.Sqrt(stated / spread); r < 0.8 || r > 1.1 {
			t.Errorf("entry %d: stated standard errors are %.3f of the true ones", s, r)
		}
		uncorrected := num.Average(plain)
		bias := uncorrected.Mean + math.Log(truth)
		if s == 0 && math.Abs(bias) < 10*uncorrected.StdErr { // the bias of entry 1 cancels
			t.Errorf("entry %d: bias %.5f +- %.5f is too small for a test", s, bias, uncorrected.StdErr)
		}
		rest := num.Average(corrected)
		left := rest.Mean + math.Log(truth)
		if math.Abs(left) > 0.2*math.Abs(bias)+5*rest.StdErr {
			t.Errorf("entry %d: bias %.5f is corrected to %.5f +- %.5f", s, bias, left, rest.StdErr)
		}
	}
}

const twoMatrices = "orbit(0.6 0.3 0.1; 0.2 0.1 0.7; 0.45 0.25 0.3 | 0.1 0.9 0; 0 0.2 0.8; 0.7 0 0.3)"

func TestBayesUnderAFinitePriorIsTheFiniteSum(t *testing.T) {
	for _, uniform := range []bool{false, true} {
		t.Run(fmt.Sprintf("uniform roots=%v", uniform), func(t *testing.T) { testFiniteSum(t, uniform) })
	}
}

func testFiniteSum(t *testing.T, uniform bool) {
	tk := newTask(t, twoMatrices, 3, -1, 0, -1, 1)
	tk.UniformRoots = uniform
	prior := &markov.Finite{Pi: tk.Prior.(*markov.Finite).Pi, Mu: tk.Prior.(*markov.Finite).Mu}
	for k, n := 0, len(prior.Pi); k < n; k++ { // one is likelier than the one before
		prior.Weight = append(prior.Weight, float64(2*(k+1))/float64(n*(n+1)))
	}
	tk.Prior = prior
	p, f, entropy := make([]float64, 243), make([][3]float64, 243), make([]float64, 243)
	for m, pi := range prior.Pi {
		for k, q := range law(t, tk, pi, prior.Mu[m]) {
			p[k] += prior.Weight[m] * q
			for s, v := range pi[k%3*3 : k%3*3+3] {
				f[k][s] += prior.Weight[m] * q * v
			}
		}
	}
	b, risk := newBayes(t, tk, 2), 0.0
	e := Prediction{F: make([]float64, 3), StdErr: []float64{1, 2, 3}, Bias: []float64{1, 2, 3}}
	for k := range p {
		b.Predict(&e, sequence(k, 3, 5), nil)
		for s, v := range e.F {
			if math.Abs(v-f[k][s]/p[k]) > 1e-14 {
				t.Fatalf("sequence %d: fhat(%d) = %v, want %v", k, s, v, f[k][s]/p[k])
			}
			entropy[k] -= v * math.Log(v)
		}
		risk += p[k] * entropy[k]
	}
	if slices.Max(e.StdErr) != 0 || slices.Max(e.Bias) != 0 {
		t.Errorf("errors of a finite sum: %+v", e)
	}
	// A batch has the exact risk, within 5 standard errors.
	batch := tk.NewBatch(20000)
	tk.NewSampler().Fill(batch, num.Stream(3, "batch"))
	r, err := BayesRisk(t.Context(), tk, batch, 2, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(r.Mean-risk) > 5*r.StdErr || r.Bias != 0 || !math.IsInf(r.ESS, 1) {
		t.Errorf("risk %v +- %v on a batch, want %v", r.Mean, r.StdErr, risk)
	}
}

// Uniform roots do not tell of the matrix: the posterior mean is that given the edges, without error.
func TestBayesIgnoresUniformRoots(t *testing.T) {
	tk := newTask(t, "dirichlet(0.1)", 3, -1, 0, -1, 1)
	tk.UniformRoots = true
	b := newBayes(t, tk, 7)
	var e Prediction
	for k := range 243 {
		x, want := sequence(k, 3, 5), make([]float64, 3)
		PosteriorGivenEdges(want, tk.Graph, 0.1, x)
		b.Predict(&e, x, num.Stream(1, "roots"))
		if property.MaxDiff(e.F, want) > 1e-15 || slices.Max(e.StdErr) > 1e-9 || math.Abs(e.ESS-7) > 1e-9 {
			t.Fatalf("sequence %v: %+v, want %v", x, e, want)
		}
	}
}

// The value is pinned: it is the same on every platform.
func TestBayesRiskDoesNotDependOnWorkers(t *testing.T) {
	tk := newTask(t, "dirichlet(0.1)", 10, -1, 0, -1, 1, 3, -1, 5)
	b := tk.NewBatch(60)
	tk.NewSampler().Fill(b, num.Stream(4, "batch"))
	var first *Risk
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, workers := range []int{1, 2, 7} {
		runtime.GOMAXPROCS(workers)
		r, err := BayesRisk(t.Context(), tk, b, 50, 1, nil)
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = r
		}
		if !slices.Equal(r.Loss, first.Loss) || r.Mean != first.Mean || r.Bias != first.Bias || r.ESS != first.ESS {
			t.Errorf("%d workers: %v, one: %v", workers, r.Mean, first.Mean)
		}
	}
	if want := 1.8348382160051988; first.Mean != want {
		t.Errorf("risk %v, want %v", first.Mean, want)
	}
}

// A finite prior has no underflow at any length: of two matrices a sequence of five thousand
// tokens is more than e^2500 times as likely under one as under the other.
func TestBayesOfALongSequenceUnderAFinitePrior(t *testing.T) {
	tk := Task{Graph: graph.Chain(5000)}
	finite, err := markov.NewFinite(2, []float64{0.9, 0.1, 0.1, 0.9}, []float64{0.5, 0.5, 0.5, 0.5})
	if err != nil {
		t.Fatal(err)
	}
	tk.Prior = finite
	var e Prediction
	for i, want := range []float64{0.9, 0.5} {
		x := make([]int, 5000) // one token over and over, then two of each in turn
		for k := range x {
			x[k] = i * (k / 2 % 2)
		}
		newBayes(t, tk, 2).Predict(&e, x, nil)
		if got := e.F[x[4999]]; !(math.Abs(got-want) < 1e-12) {
			t.Errorf("the last token comes again with %v, want %v", got, want)
		}
	}
}

// By hand: two draws, and a state that has no weight in either.
func TestEstimateByHand(t *testing.T) {
	for _, c := range []struct {
		draws [2][]float64
		want  Prediction
	}{
		{
			[2][]float64{{0.5, 0.25}, {0.5, 0.75}},
			Prediction{[]float64{0.5, 0.5}, []float64{0.125, 0.125}, []float64{-0.03125, 0.09375}, 1 / 0.53125},
		},
		{[2][]float64{{0.5, 0}, {0.5, 0}}, Prediction{[]float64{1, 0}, []float64{0, 0}, []float64{0, 0}, 2}},
		{[2][]float64{{0, 0}, {0, 0}}, Prediction{[]float64{0.5, 0.5}, []float64{0, 0}, []float64{0, 0}, 0}},
	} {
		e := Prediction{[]float64{0.5, 0.5}, []float64{7, 7}, []float64{7, 7}, 7}
		sums := newWeightSums(make([]float64, 6))
		for _, w := range c.draws {
			sums.add(w, []int{-3, -3}, e.F)
		}
		e.estimate(sums, 2)
		got, want := slices.Concat(e.F, e.StdErr, e.Bias, []float64{e.ESS}),
			slices.Concat(c.want.F, c.want.StdErr, c.want.Bias, []float64{c.want.ESS})
		for i := range want {
			if !(math.Abs(got[i]-want[i]) < 1e-15) {
				t.Fatalf("draws of the weights %v give %+v, want %+v", c.draws, e, c.want)
			}
		}
	}
}

func TestTooFewDrawsAreTheError(t *testing.T) {
	many := newTask(t, "dirichlet(0.01)", 10, slices.Repeat([]int{-1}, 3000)...)
	b := many.NewBatch(1)
	for i := range b.X {
		b.X[i] = i % 10
	}
	copy(b.Y, slices.Repeat([]float64{0.1}, 10))
	_, err := BayesRisk(t.Context(), many, b, 2, 1, nil)
	if property.Mentions(t, err, "more draws than 2 for 3000 roots"); !errors.Is(err, ErrDraws) {
		t.Errorf("error %v", err)
	}
}

func TestBayesRiskRefuses(t *testing.T) {
	tk := newTask(t, "finite(0 1; 0.5 0.5)", 2, -1, 0)
	stopped, cancel := context.WithCancel(t.Context())
	cancel()
	for want, c := range map[string]struct {
		ctx   context.Context
		x     []int
		y     []float64
		draws int
	}{
		"sequence 0 is NaN":                   {t.Context(), []int{0, 0, 0}, []float64{0.5, 0.5}, 2},
		"sequence 0 is +Inf":                  {t.Context(), []int{0, 1, 0}, []float64{0.5, 0.5}, 2},
		"a batch for S=2, T=4, want S=2, T=3": {t.Context(), []int{1, 1, 1, 1}, []float64{0, 1}, 2},
		"token 2 at position 1":               {t.Context(), []int{0, 2, 1}, []float64{0, 1}, 2},
		"draws":                               {t.Context(), []int{1, 1, 1}, []float64{0, 1}, 1},
		"context canceled":                    {stopped, []int{1, 1, 1}, []float64{0, 1}, 2},
	} {
		predicted := func() { t.Errorf("%s: a sequence was predicted", want) }
		_, err := BayesRisk(c.ctx, tk, &Batch{T: len(c.x), S: 2, X: c.x, Y: c.y}, c.draws, 1, predicted)
		if property.Mentions(t, err, want); errors.Is(err, ErrDraws) {
			t.Errorf("%s: more draws would help", want)
		}
	}
	r, err := BayesRisk(t.Context(), tk, &Batch{T: 3, S: 2, X: []int{0, 1, 0}, Y: []float64{0, 1}}, 2, 1, nil)
	if err != nil || r.Mean != 0 {
		t.Errorf("a certain target: %+v, %v", r, err)
	}
}

func TestUnknownPriorsHaveNoBayesPredictor(t *testing.T) {
	tk := newTask(t, "dirichlet(0.1)", 2, -1)
	tk.Prior = struct{ markov.Prior }{tk.Prior}
	if _, err := NewBayes(tk, 10); err == nil {
		t.Error("an unknown prior is accepted")
	}
}

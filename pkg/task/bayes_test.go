package task

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strings"
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
		seen := false // the roots matter
		for k := range want {
			x := sequence(k, 2, 5)
			b.Predict(&e, x, src)
			if d := math.Abs(e.F[0] - want[k]); d > 6*e.StdErr[0]+1e-8 || e.StdErr[0] > 0.03 {
				t.Errorf("%s, %v: %.5f +- %.5f, want %.5f", prior, x, e.F[0], e.StdErr[0], want[k])
			}
			if math.Abs(e.F[0]+e.F[1]-1) > 1e-14 {
				t.Errorf("%s, %v: F sums to %v", prior, x, e.F[0]+e.F[1])
			}
			PosteriorGivenEdges(e.F, tk.Graph, tk.Prior.(*markov.Dirichlet).Alpha, x)
			seen = seen || math.Abs(e.F[0]-want[k]) > 10*e.StdErr[0]+0.01
		}
		if !seen {
			t.Errorf("%s: PosteriorGivenEdges passes for Bayes", prior)
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
	p, f := make([]float64, 243), make([][3]float64, 243)
	joint := make([][]float64, len(prior.Pi))
	for m, pi := range prior.Pi {
		joint[m] = law(t, tk, pi, prior.Mu[m])
		for k, q := range joint[m] {
			p[k] += prior.Weight[m] * q
			for s := range 3 {
				f[k][s] += prior.Weight[m] * q * pi[k%3*3+s]
			}
		}
	}
	// risk is the exact log-loss of a predictor.
	risk := func(predict func(fhat []float64, k int)) float64 {
		sum, fhat := 0.0, make([]float64, 3)
		for k := range p {
			predict(fhat, k)
			for m, pi := range prior.Pi {
				if joint[m][k] > 0 {
					sum += prior.Weight[m] * joint[m][k] * LogLoss(pi[k%3*3:k%3*3+3], fhat)
				}
			}
		}
		return sum
	}
	b := newBayes(t, tk, 2)
	e := Prediction{F: make([]float64, 3), StdErr: []float64{1, 2, 3}, Bias: []float64{1, 2, 3}}
	bayes := func(fhat []float64, k int) {
		b.Predict(&e, sequence(k, 3, 5), nil)
		copy(fhat, e.F)
	}
	fhat := make([]float64, 3)
	for k := range p {
		bayes(fhat, k)
		for s, v := range fhat {
			if math.Abs(v-f[k][s]/p[k]) > 1e-14 {
				t.Fatalf("sequence %d: fhat(%d) = %v, want %v", k, s, v, f[k][s]/p[k])
			}
		}
	}
	least := risk(bayes)
	for name, other := range map[string]func([]float64, int){
		"PosteriorGivenEdges": func(fhat []float64, k int) { PosteriorGivenEdges(fhat, tk.Graph, 0.5, sequence(k, 3, 5)) },
		"ReleasedFormula":     func(fhat []float64, k int) { ReleasedFormula(fhat, tk.Graph, 0.5, sequence(k, 3, 5)) },
	} {
		if r := risk(other); r <= least {
			t.Errorf("%s has risk %v, below %v of Bayes", name, r, least)
		}
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, size := range []float64{1e-3, 1e-2, 0.1, 1} {
		for range 5 {
			r := risk(func(fhat []float64, k int) {
				bayes(fhat, k)
				sum := 0.0
				for s := range fhat {
					fhat[s] *= math.Exp(size * rnd.NormFloat64())
					sum += fhat[s]
				}
				for s := range fhat {
					fhat[s] /= sum
				}
			})
			if r <= least {
				t.Errorf("a perturbation of size %v has risk %v, below %v of Bayes", size, r, least)
			}
		}
	}
	// A batch has the same risk, within 5 standard errors.
	batch := tk.NewBatch(20000)
	NewSampler(tk).Fill(batch, num.Stream(3, "batch"))
	r, err := BayesRisk(t.Context(), tk, batch, 2, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	if slices.Max(e.StdErr) != 0 || slices.Max(e.Bias) != 0 {
		t.Errorf("errors of a finite sum: %+v", e)
	}
	if math.Abs(r.Mean-least) > 5*r.StdErr || r.Bias != 0 || !math.IsInf(r.ESS, 1) {
		t.Errorf("risk %v +- %v on a batch, want %v", r.Mean, r.StdErr, least)
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
	NewSampler(tk).Fill(b, num.Stream(4, "batch"))
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

// Roots are informative about pi: on the in-context graph, where half of the positions are
// roots, leaving them out costs far more than the noise of 2,000 sequences. A
// z-score of 4.9 has false-alarm probability 1e-6.
func TestBayesIsBelowThePosteriorGivenEdges(t *testing.T) {
	parents := graph.InContext(20).Parents()
	tk := newTask(t, "dirichlet(0.1)", 3, parents[:19]...)
	b := tk.NewBatch(2000)
	NewSampler(tk).Fill(b, num.Stream(5, "batch"))
	r, err := BayesRisk(t.Context(), tk, b, 200, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	edges := Losses(b, func(f []float64, x []int) { PosteriorGivenEdges(f, tk.Graph, 0.1, x) })
	if d := PairedDifference(edges, r.Loss); d.Z() < 4.9 {
		t.Errorf("PosteriorGivenEdges is %.4f +- %.4f above Bayes", d.Mean, d.StdErr)
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

func BenchmarkBayesS10(b *testing.B) { benchmarkBayes(b, 10) }
func BenchmarkBayesS3(b *testing.B)  { benchmarkBayes(b, 3) }

// One operation is one draw, on the in-context graph at T=20.
func benchmarkBayes(b *testing.B, states int) {
	prior, err := markov.NewDirichlet(states, 0.1)
	if err != nil {
		b.Fatal(err)
	}
	tk := Task{Graph: graph.InContext(20), Prior: prior}
	batch := tk.NewBatch(1)
	src := num.Stream(1, "bench")
	NewSampler(tk).Fill(batch, src)
	bayes := newBayes(b, tk, max(2, b.N))
	var e Prediction
	b.ResetTimer()
	x, _ := batch.Seq(0)
	bayes.Predict(&e, x, src)
}

// By hand: weights in units of the largest power of two so far, under probabilities of a half.
func TestSumsOfWeightsByHand(t *testing.T) {
	half, m := []float64{0.5, 0.5}, newWeightSums(make([]float64, 6))
	for _, c := range []struct {
		w                 []float64
		exponent          []int
		topMean           int
		mean, square      float64
		top               []int
		a, squares, cross []float64
	}{
		{ // the power of a weight that is zero does not count
			[]float64{0.5, 0},
			[]int{-5000, 0},
			-5000, 0.25, 0.0625,
			[]int{-5000, math.MinInt32},
			[]float64{0.5, 0},
			[]float64{0.25, 0},
			[]float64{0.125, 0},
		},
		{ // 1/4 of the sums, and 1/16 of the sums of squares
			[]float64{0.5, 0.75},
			[]int{-4998, -5001},
			-4998, 0.359375, 0.092041015625,
			[]int{-4998, -5001},
			[]float64{0.625, 0.75},
			[]float64{0.265625, 0.5625},
			[]float64{0.15625, 0.22265625},
		},
		{
			[]float64{0, 0},
			[]int{7, 7},
			-4998, 0.359375, 0.092041015625,
			[]int{-4998, -5001},
			[]float64{0.625, 0.75},
			[]float64{0.265625, 0.5625},
			[]float64{0.15625, 0.22265625},
		},
		{
			[]float64{0.5, 0.5},
			[]int{-5000, -5001},
			-4998, 0.453125, 0.100830078125,
			[]int{-4998, -5001},
			[]float64{0.75, 1.25},
			[]float64{0.28125, 0.8125},
			[]float64{0.16796875, 0.26953125},
		},
	} {
		m.add(c.w, c.exponent, half)
		want := weightSums{top: c.top, a: c.a, a2: c.squares, cross: c.cross, topMean: c.topMean, mean: c.mean, square: c.square}
		if !reflect.DeepEqual(*m, want) {
			t.Errorf("after %v by 2^%v the sums are %+v, want %+v", c.w, c.exponent, *m, want)
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
		got, want := slices.Concat(e.F, e.StdErr, e.Bias, []float64{e.ESS}), slices.Concat(c.want.F, c.want.StdErr, c.want.Bias, []float64{c.want.ESS})
		for i := range want {
			if !(math.Abs(got[i]-want[i]) < 1e-15) {
				t.Fatalf("draws of the weights %v give %+v, want %+v", c.draws, e, c.want)
			}
		}
	}
}

func TestTooFewDrawsAreTheError(t *testing.T) {
	// drawn is a batch of a sequence that goes through the tokens, with a uniform target.
	drawn := func(tk Task, token func(i int) int) *Batch {
		b := tk.NewBatch(1)
		for i := range b.X {
			b.X[i] = token(i)
		}
		for s := range b.Y {
			b.Y[s] = 1 / float64(b.S)
		}
		return b
	}
	many := newTask(t, "dirichlet(0.01)", 10, slices.Repeat([]int{-1}, 3000)...)
	_, err := BayesRisk(t.Context(), many, drawn(many, func(i int) int { return i % 10 }), 2, 1, nil)
	if !errors.Is(err, ErrDraws) || !strings.Contains(err.Error(), "more draws than 2 for 3000 roots") {
		t.Errorf("error %v", err)
	}
	finite := newTask(t, "orbit(0 1; 1 0)", 2, -1, 0)
	_, err = BayesRisk(t.Context(), finite, drawn(finite, func(int) int { return 0 }), 2, 1, nil)
	if err == nil || errors.Is(err, ErrDraws) {
		t.Errorf("a sequence that no chain gives: error %v", err)
	}
}

func TestBayesRiskRefuses(t *testing.T) {
	tk := newTask(t, "finite(0 1; 0.5 0.5)", 2, -1, 0)
	stopped, cancel := context.WithCancel(t.Context())
	cancel()
	for name, c := range map[string]struct {
		ctx   context.Context
		b     *Batch
		draws int
		want  string
	}{
		"probability zero":           {t.Context(), &Batch{T: 3, S: 2, X: []int{0, 0, 0}, Y: []float64{0.5, 0.5}}, 2, "sequence 0 is NaN"},
		"target of probability zero": {t.Context(), &Batch{T: 3, S: 2, X: []int{0, 1, 0}, Y: []float64{0.5, 0.5}}, 2, "sequence 0 is +Inf"},
		"another length":             {t.Context(), &Batch{T: 4, S: 2, X: []int{1, 1, 1, 1}, Y: []float64{0, 1}}, 2, "a batch for S=2, T=4, want S=2, T=3"},
		"one draw":                   {t.Context(), &Batch{T: 3, S: 2, X: []int{1, 1, 1}, Y: []float64{0, 1}}, 1, "draws"},
		"a stop":                     {stopped, &Batch{T: 3, S: 2, X: []int{1, 1, 1}, Y: []float64{0, 1}}, 2, "context canceled"},
	} {
		predicted := func() { t.Errorf("%s: a sequence was predicted", name) }
		if _, err := BayesRisk(c.ctx, tk, c.b, c.draws, 1, predicted); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
	if r, err := BayesRisk(t.Context(), tk, &Batch{T: 3, S: 2, X: []int{0, 1, 0}, Y: []float64{0, 1}}, 2, 1, nil); err != nil || r.Mean != 0 {
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

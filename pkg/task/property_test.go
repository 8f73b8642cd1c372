package task

import (
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"gonum.org/v1/gonum/floats"
	"pgregory.net/rapid"

	"learncausal/internal/property"
	"learncausal/pkg/graph"
	"learncausal/pkg/markov"
	"learncausal/pkg/num"
)

func TestProperties(t *testing.T) {
	property.Test(t, property.Table{
		"Task.NewBatch Multi.NewBatch Chain.NewBatch Batch.Len Batch.Seq": batches,
		"NewSampler Sampler.Fill":                                          samplers,
		"NewMultiSampler MultiSampler.Fill":                                multiSamplers,
		"CheckEnumerable Sequences Task.Enumerate":                         enumerations,
		"PosteriorGivenEdges ReleasedFormula":                              edgePredictors,
		"LogLoss PairedDifference Losses":                                  losses,
		"NewBayes Bayes.Predict Bayes.PredictIn Prediction.Loss BayesRisk": bayesPredictors,
		"Multi.Probability Multi.Posterior Multi.Given":                    multiPredictors,
	})
}

// drawTask draws a task on at most 6 positions and 4 states.
func drawTask(t *rapid.T) Task {
	s := rapid.IntRange(2, 4).Draw(t, "S")
	length := rapid.IntRange(2, 6).Draw(t, "T")
	g := graph.Grow(length, func(i int) int { return rapid.IntRange(graph.Root, i-1).Draw(t, "parent") })
	if rapid.Bool().Draw(t, "finite") {
		p, err := markov.NewFinite(s, property.Kernel(s).Draw(t, "pi"), property.Kernel(s).Draw(t, "pi"))
		if err != nil {
			t.Fatal(err)
		}
		return Task{g, p, rapid.Bool().Draw(t, "uniform roots")}
	}
	p, err := markov.NewDirichlet(s, rapid.SampledFrom([]float64{0.01, 0.1, 0.3, 1, 2}).Draw(t, "alpha"))
	if err != nil {
		t.Fatal(err)
	}
	return Task{g, p, rapid.Bool().Draw(t, "uniform roots")}
}

// drawMulti draws a task with several parents on at most 6 positions.
func drawMulti(t *rapid.T) Multi {
	length := rapid.IntRange(1, 6).Draw(t, "T")
	k := rapid.IntRange(1, min(length, 3)).Draw(t, "k")
	p, err := markov.NewDirichlet(rapid.IntRange(2, 3).Draw(t, "S"),
		rapid.SampledFrom([]float64{0.1, 1, 5}).Draw(t, "alpha"))
	if err != nil {
		t.Fatal(err)
	}
	return Multi{graph.NGram(length, k), p, rapid.Bool().Draw(t, "uniform roots")}
}

// tokens draws a sequence for T positions and S states, valid or not.
func tokens(t *rapid.T, length, s int) (x []int, right bool) {
	x = rapid.SliceOfN(rapid.IntRange(0, s-1), length, length).Draw(t, "x")
	switch rapid.SampledFrom([]string{"right", "right", "token", "length"}).Draw(t, "kind") {
	case "token":
		x[rapid.IntRange(0, length-1).Draw(t, "at")] = rapid.SampledFrom([]int{-1, s, math.MinInt, math.MaxInt}).Draw(t,
			"token")
		return x, false
	case "length":
		return x[1:], false
	}
	return x, true
}

func refused(t *rapid.T, f func()) string { return property.Refused(t, "task", f) }

// checkLaw fails unless p is a probability vector.
func checkLaw(t *rapid.T, p []float64) {
	sum := 0.0
	for _, v := range p {
		if !(v >= 0) {
			t.Fatalf("%v is no law", p)
		}
		sum += v
	}
	if !property.Near(sum, 1, 1e-12) {
		t.Fatalf("%v sums to %v", p, sum)
	}
}

func batches(t *rapid.T) {
	tk, multi := drawTask(t), drawMulti(t)
	n, k := rapid.IntRange(-2, 3).Draw(t, "n"), property.Int().Draw(t, "k")
	for _, make := range []func() *Batch{
		func() *Batch { return tk.NewBatch(n) }, func() *Batch { return multi.NewBatch(n) },
		func() *Batch { return Chain{T: 3, Prior: tk.Prior}.NewBatch(n) },
	} {
		var b *Batch
		if !property.Decide(t, n >= 0, refused(t, func() { b = make() })) {
			continue
		}
		if b.Len() != n {
			t.Fatalf("%d sequences, want %d", b.Len(), n)
		}
		var x []int
		var y []float64
		if property.Decide(t, k >= 0 && k < n, refused(t, func() { x, y = b.Seq(k) })) && (len(x) != b.T || len(y) != b.S) {
			t.Fatalf("sequence %v with target %v of a batch for S=%d, T=%d", x, y, b.S, b.T)
		}
	}
}

// checkFilled fails unless every sequence is one over S states with a law.
func checkFilled(t *rapid.T, b *Batch) {
	for k := range b.Len() {
		x, y := b.Seq(k)
		checkTokens(x, b.T, b.S)
		checkLaw(t, y)
	}
}

func samplers(t *rapid.T) {
	tk, other := drawTask(t), drawTask(t)
	b := other.NewBatch(3)
	right := tk.Graph.T() == other.Graph.T() && tk.Prior.States() == other.Prior.States()
	if property.Decide(t, right, refused(t, func() { NewSampler(tk).Fill(b, num.Stream(1, "property")) })) {
		checkFilled(t, b)
	}
}

func multiSamplers(t *rapid.T) {
	tk, other := drawMulti(t), drawMulti(t)
	b := other.NewBatch(3)
	m, err := NewMultiSampler(tk)
	if err != nil {
		t.Fatal(err)
	}
	right := tk.Graph.T() == other.Graph.T() && tk.Prior.S == other.Prior.S
	if property.Decide(t, right, refused(t, func() { m.Fill(b, num.Stream(1, "property")) })) {
		checkFilled(t, b)
	}
	k := rapid.IntRange(1, 40).Draw(t, "parents")
	_, err = NewMultiSampler(Multi{Graph: graph.NGram(k, k), Prior: tk.Prior})
	rows := math.Pow(float64(tk.Prior.S), float64(k))
	property.Decide(t, rows+1 <= 1<<20, property.Said(t, "task", err))
}

func enumerations(t *rapid.T) {
	s, length := property.Int().Draw(t, "s"), property.Int().Draw(t, "t")
	right := s >= 1 && length >= 0 && float64(length)*math.Log(float64(s)) <= math.Log(MaxEnumerate)+1e-9
	property.Decide(t, right, property.Said(t, "task", CheckEnumerable(s, length)))
	if s < 1 || length < 0 || math.Pow(float64(s), float64(length)) < 5000 && length < 100 {
		n := 0
		refusal := refused(t, func() {
			for range Sequences(s, length) {
				n++
			}
		})
		if property.Decide(t, s >= 1 && length >= 0, refusal) && right &&
			n != int(math.Round(math.Pow(float64(s), float64(length)))) {
			t.Fatalf("%d sequences of %d tokens below %d", n, length, s)
		}
	}
	tk := drawTask(t)
	states := tk.Prior.States()
	pi, mu := make([]float64, states*states), make([]float64, states)
	tk.Prior.Draw(pi, mu, num.Stream(1, "property"))
	pi = pi[rapid.IntRange(0, 1).Draw(t, "fewer"):]
	total := 0.0
	refusal := refused(t, func() {
		all, err := tk.Enumerate(pi, mu)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range all {
			total += p
		}
	})
	if property.Decide(t, len(pi) == states*states, refusal) && !property.Near(total, 1, 1e-12) {
		t.Fatalf("all sequences have probability %v", total)
	}
}

func edgePredictors(t *rapid.T) {
	tk := drawTask(t)
	s, length := tk.Prior.States(), tk.Graph.T()
	x, right := tokens(t, length, s)
	counts := make([]int, s*s)
	if property.Decide(t, right, refused(t, func() { edgeCounts(counts, tk.Graph, x) })) {
		for a := range s {
			for b := range s {
				n := 0
				for i, p := range tk.Graph.Parents() {
					if p >= 0 && x[p] == a && x[i] == b {
						n++
					}
				}
				if counts[a*s+b] != n {
					t.Fatalf("%v on %v: %d edges %d -> %d, want %d", x, tk.Graph, counts[a*s+b], a, b, n)
				}
			}
		}
	}
	alpha := property.Float().Draw(t, "alpha")
	right = right && alpha > 0 && !math.IsInf(alpha, 0)
	f, released := make([]float64, s), make([]float64, s)
	property.Decide(t, right, refused(t, func() { ReleasedFormula(released, tk.Graph, alpha, x) }))
	if !property.Decide(t, right, refused(t, func() { PosteriorGivenEdges(f, tk.Graph, alpha, x) })) || alpha > 1e6 {
		return
	}
	checkLaw(t, f)
	checkLaw(t, released)
	q, n := x[length-1], 0.0
	for _, c := range counts[q*s : q*s+s] {
		n += float64(c)
	}
	for a, p := range f {
		if want := (alpha + float64(counts[q*s+a])) / (float64(s)*alpha + n); !property.Near(p, want, 1e-14) {
			t.Fatalf("fhat(%d) is %v, want %v", a, p, want)
		}
	}
}

func losses(t *rapid.T) {
	n := rapid.IntRange(1, 4).Draw(t, "S")
	y, f := property.Law(n).Draw(t, "y"), property.Law(rapid.IntRange(1, 4).Draw(t, "S'")).Draw(t, "f")
	var got float64
	if property.Decide(t, len(y) == len(f), refused(t, func() { got = LogLoss(y, f) })) {
		want := 0.0
		for i, p := range y {
			if p > 0 {
				want -= p * math.Log(f[i])
			}
		}
		if !property.Near(got, want, 1e-13) {
			t.Fatalf("loss of %v against %v is %v, want %v", f, y, got, want)
		}
	}
	a, b := rapid.SliceOf(rapid.Float64Range(-9, 9)).Draw(t, "a"), rapid.SliceOf(rapid.Float64Range(-9, 9)).Draw(t, "b")
	if property.Decide(t, len(a) == len(b), refused(t, func() { got = PairedDifference(a, b).Mean })) && len(a) > 0 {
		if want := num.Average(a).Mean - num.Average(b).Mean; !property.Near(got, want, 1e-12) {
			t.Fatalf("the mean difference is %v, want %v", got, want)
		}
	}
	tk := drawTask(t)
	batch := tk.NewBatch(rapid.IntRange(0, 3).Draw(t, "n"))
	NewSampler(tk).Fill(batch, num.Stream(1, "property"))
	for k, loss := range Losses(batch, func(f []float64, _ []int) { copy(f, slices.Repeat([]float64{0.5}, len(f))) }) {
		if _, y := batch.Seq(k); !property.Near(loss, LogLoss(y, slices.Repeat([]float64{0.5}, len(y))), 1e-15) {
			t.Fatalf("loss %d is %v", k, loss)
		}
	}
}

func bayesPredictors(t *rapid.T) {
	tk := drawTask(t)
	s := tk.Prior.States()
	draws := rapid.OneOf(rapid.IntRange(-1, 20), rapid.SampledFrom([]int{math.MinInt, math.MaxInt})).Draw(t, "draws")
	bayes, err := NewBayes(tk, draws)
	if !property.Decide(t, draws >= 2, property.Said(t, "task", err)) || draws > 20 {
		return
	}
	x, right := tokens(t, tk.Graph.T(), s)
	var e Prediction
	if property.Decide(t, right, refused(t, func() { bayes.Predict(&e, x, num.Stream(1, "property")) })) {
		checkLaw(t, e.F)
		for j, f := range e.F {
			if !(e.StdErr[j] >= 0 && e.StdErr[j] < 2 && math.Abs(e.Bias[j]) < 2 && e.ESS >= 0) || f > 1 {
				t.Fatalf("prediction %+v", e)
			}
		}
		y := make([]float64, s+rapid.IntRange(0, 1).Draw(t, "more"))
		y[0] = 1
		var loss float64
		if property.Decide(t, len(y) == s, refused(t, func() { loss = e.Loss(y) })) &&
			!property.Near(loss, -math.Log(e.F[0])-e.Bias[0], 1e-12) {
			t.Fatalf("loss %v of %+v", loss, e)
		}
	}
	batch := tk.NewBatch(3)
	NewSampler(tk).Fill(batch, num.Stream(2, "property"))
	right = true
	switch rapid.SampledFrom([]string{"right", "token", "states", "length"}).Draw(t, "kind") {
	case "token":
		batch.X[rapid.IntRange(0, len(batch.X)-1).Draw(t, "at")] = rapid.SampledFrom([]int{-1, s}).Draw(t, "token")
		right = false
	case "states":
		batch.S++
		right = false
	case "length":
		batch.T++
		right = false
	}
	var predicted atomic.Int64
	r, err := BayesRisk(t.Context(), tk, batch, draws, 1, func() { predicted.Add(1) })
	if n := int(predicted.Load()); err == nil && n != batch.Len() {
		t.Fatalf("%d calls for %d sequences", n, batch.Len())
	}
	if err != nil && strings.Contains(err.Error(), "is +Inf") {
		return // a target that few draws of a small alpha cannot see
	}
	if property.Decide(t, right, property.Said(t, "task", err)) &&
		!(r.Mean > -2 && r.Mean < 1000 && r.ESS >= 0 && r.StdErr >= 0) {
		t.Fatalf("risk %+v", r)
	}
}

func multiPredictors(t *rapid.T) {
	tk := drawMulti(t)
	s, length := tk.Prior.S, tk.Graph.T()
	x, right := tokens(t, length, s)
	pi := Tensors{}
	for _, ps := range tk.Graph.Parents() {
		if k := len(ps); pi[k] == nil {
			for range int(math.Pow(float64(s), float64(k))) {
				pi[k] = append(pi[k], property.Law(s).Draw(t, "row")...)
			}
		}
	}
	k := len(tk.Graph.Parents()[length])
	sized := rapid.Bool().Draw(t, "sized")
	if !sized {
		pi[k] = pi[k][1:]
	}
	var p float64
	var y []float64
	if property.Decide(t, right && sized, refused(t, func() { p, y = tk.Probability(pi, x) })) {
		checkLaw(t, y)
		if !(p >= 0 && p <= 1+1e-12) {
			t.Fatalf("probability %v", p)
		}
	}
	f, one := make([]float64, s+rapid.IntRange(-1, 1).Draw(t, "more")), make([]float64, s)
	m := rapid.IntRange(-1, k).Draw(t, "m")
	if property.Decide(t, right && m >= 0 && m < k, refused(t, func() { tk.Given(one, x, m) })) {
		checkLaw(t, one)
	}
	if !property.Decide(t, right && len(f) == s, refused(t, func() { tk.Posterior(f, x) })) {
		return
	}
	checkLaw(t, f)
	alpha, n, counts := tk.Prior.Alpha, 0.0, make([]float64, s)
	for i := k; i < length; i++ { // the n-gram's contexts
		if slices.Equal(x[i-k:i], x[length-k:]) {
			counts[x[i]]++
			n++
		}
	}
	for a := range f {
		if want := (alpha + counts[a]) / (float64(s)*alpha + n); !property.Near(f[a], want, 1e-13) {
			t.Fatalf("posterior %v, want %v at %d", f, want, a)
		}
	}
}

// With thousands of roots a weight is beyond floating point, but not its logarithm.
func TestBayesOfLongSequences(t *testing.T) {
	prior, err := markov.NewDirichlet(10, 0.1)
	if err != nil {
		t.Fatal(err)
	}
	g := graph.Grow(5000, func(i int) int {
		if i%5 == 1 {
			return i - 1
		}
		return graph.Root
	})
	tk := Task{Graph: g, Prior: prior}
	b, bayes := tk.NewBatch(4), newBayes(t, tk, longDraws)
	NewSampler(tk).Fill(b, num.Stream(1, "long"))
	large, small := 0.0, 0.0
	for k := range b.Len() {
		x, _ := b.Seq(k)
		x = slices.Clone(x)
		if k == 3 { // 0 leads to 1, and 1 to itself, but most roots are 0
			for i := range x {
				x[i] = min(i%5, 1) * max(2-i%5, 0) // 0 1 0 0 0
				if i%10 == 5 {
					x[i] = 1
				}
			}
		}
		var e Prediction
		bayes.Predict(&e, x, num.Stream(2, "long"))
		// log sum over draws of the weight of each continuation
		counts, mu, src := make([]int, 100), make([]float64, 100), num.Stream(2, "long")
		edgeCounts(counts, g, x)
		logs := make([][longDraws]float64, 10)
		for d := range longDraws {
			prior.DrawNext(mu, counts, x[len(x)-1], src)
			for j := range 10 {
				for _, r := range g.Roots()[:len(g.Roots())-1] {
					logs[j][d] += math.Log(10 * mu[j*10+x[r]])
				}
			}
		}
		given := make([]float64, 10)
		PosteriorGivenEdges(given, g, 0.1, x)
		top := checkLong(t, e, given, logs)
		large, small = max(large, top), min(small, top)
	}
	if large < 710 || small > -745 {
		t.Errorf("the largest weights are from e^%.0f to e^%.0f, within floating point", small, large)
	}
}

const longDraws = 32

// checkLong compares a prediction with the estimate from the logarithms of the weights of each
// continuation and draw, and returns the largest of them.
func checkLong(t *testing.T, e Prediction, given []float64, logs [][longDraws]float64) (top float64) {
	t.Helper()
	top = math.Inf(-1)
	for j := range logs {
		top = max(top, slices.Max(logs[j][:]))
	}
	var w [longDraws]float64
	for d := range longDraws {
		for j, f := range given {
			w[d] += f * math.Exp(logs[j][d]-top)
		}
	}
	// relative returns n times the sum of u v over the product of their sums, less one.
	relative := func(u, v []float64) float64 { return longDraws*floats.Dot(u, v)/(floats.Sum(u)*floats.Sum(v)) - 1 }
	variance := relative(w[:], w[:])
	for j, f := range e.F {
		p, own := make([]float64, longDraws), slices.Max(logs[j][:])
		for d, l := range logs[j] {
			p[d] = math.Exp(l - own)
		}
		want := given[j] * math.Exp(own-top) * floats.Sum(p) / floats.Sum(w[:])
		vj, cj := relative(p, p), relative(p, w[:])
		stderr := want * math.Sqrt(max(0, vj+variance-2*cj)/(longDraws-1))
		bias := (vj - variance) / (2 * (longDraws - 1))
		near := property.Near(f, want, 1e-9) && property.Near(e.StdErr[j], stderr, 1e-9)
		if !near || !property.Near(e.Bias[j], bias, 1e-9) {
			t.Errorf("%+v, want fhat(%d) = %v +- %v, bias %v", e, j, want, stderr, bias)
		}
	}
	if ess := longDraws / (variance + 1); !property.Near(e.ESS, ess, 1e-9) {
		t.Errorf("%v effective draws, want %v", e.ESS, ess)
	}
	return top
}

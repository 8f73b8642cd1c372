package task

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"learncausal/internal/property"
	"learncausal/pkg/graph"
	"learncausal/pkg/markov"
	"learncausal/pkg/num"
)

// reference is a case file of the authors' code; see its "conventions".
type reference struct {
	S, T      int
	Parents   []int
	Pi        [][]float64
	Expected  struct{ Mu, Joint []float64 }
	Posterior posteriorCases
	Graphs    []struct {
		Parents   []int
		Posterior posteriorCases
	}
}

type posteriorCases struct {
	Alpha float64
	Cases []struct {
		X             []int
		PosteriorMean []float64 `json:"posterior_mean"`
		Released      []float64 `json:"authors_code_bayes_WRONG_FOR_ROOTS"`
	}
}

func readReference(t *testing.T, name string) (r reference) {
	t.Helper()
	raw, err := os.ReadFile("testdata/" + name)
	if err == nil {
		err = json.Unmarshal(raw, &r)
	}
	if err != nil {
		t.Fatal(name, err)
	}
	return r
}

// newTask appends the query to parents.
func newTask(t *testing.T, prior string, states int, parents ...int) Task {
	t.Helper()
	p, err := markov.ParsePrior(prior, states)
	if err != nil {
		t.Fatal(err)
	}
	g, err := graph.New(append(parents[:len(parents):len(parents)], graph.Root))
	if err != nil {
		t.Fatal(err)
	}
	return Task{Graph: g, Prior: p}
}

// law returns the probabilities of all sequences in lexicographic order.
func law(t *testing.T, tk Task, pi, mu []float64) (p []float64) {
	t.Helper()
	all, err := tk.Enumerate(pi, mu)
	if err != nil {
		t.Fatal(err)
	}
	for x, q := range all {
		if index(x, tk.Prior.States()) != len(p) {
			t.Fatalf("sequence %v comes as number %d", x, len(p))
		}
		p = append(p, q)
	}
	return p
}

func index(x []int, states int) (k int) {
	for _, v := range x {
		k = k*states + v
	}
	return k
}

func TestEnumerateAgreesWithReference(t *testing.T) {
	for _, name := range []string{"task-tree-s2t5.json", "task-tree-s3t5.json"} {
		r := readReference(t, name)
		pi, mu := slices.Concat(r.Pi...), make([]float64, r.S)
		if err := markov.Stationary(mu, pi); err != nil {
			t.Fatal(err)
		}
		p := law(t, newTask(t, "dirichlet(1)", r.S, r.Parents...), pi, mu)
		if len(p) != len(r.Expected.Joint) {
			t.Fatalf("%s: %d sequences, want %d", name, len(p), len(r.Expected.Joint))
		}
		for k, want := range r.Expected.Joint {
			if !(math.Abs(p[k]/want-1) <= 4e-15) {
				t.Errorf("%s, sequence %d: %v, want %v", name, k, p[k], want)
			}
		}
	}
}

func TestEnumerateStopsAndRefuses(t *testing.T) {
	if err := CheckEnumerable(1, math.MaxInt); err != nil { // one sequence, and said at once
		t.Error(err)
	}
	for s, want := range map[int]bool{1 << 24: true, 1<<24 + 1: false} {
		if err := CheckEnumerable(s, 1); (err == nil) != want {
			t.Errorf("%d sequences: %v", s, err)
		}
	}
	tk := newTask(t, "dirichlet(1)", 2, -1, 0)
	all, err := tk.Enumerate([]float64{.5, .5, .5, .5}, []float64{.5, .5})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // the iterator restarts
		n := 0
		for range all {
			if n++; n == 3 {
				break
			}
		}
		if n != 3 {
			t.Errorf("%d sequences before the break, want 3", n)
		}
	}
	tk.Graph = graph.Chain(25)
	_, err = tk.Enumerate(make([]float64, 4), make([]float64, 2))
	property.Mentions(t, err, "2^25 sequences are too many")
	said := property.Refused(t, "task", func() { _, _ = tk.Enumerate(make([]float64, 4), make([]float64, 3)) })
	property.Mentions(t, errors.New(said), "and 3 of its stationary measure for 2 states")
}

// chiSquare returns Pearson's statistic over its quantile at false-alarm
// probability 1e-6. Cells with fewer than 10 expected counts are taken together.
func chiSquare(count, p []float64) float64 {
	n := 0.0
	for _, c := range count {
		n += c
	}
	stat, df, restCount, restP := 0.0, -1.0, 0.0, 0.0
	for k, c := range count {
		if n*p[k] < 10 {
			restCount, restP = restCount+c, restP+p[k]
			continue
		}
		stat += (c - n*p[k]) * (c - n*p[k]) / (n * p[k])
		df++
	}
	if n*restP >= 10 {
		stat += (restCount - n*restP) * (restCount - n*restP) / (n * restP)
		df++
	} else if restCount > 100 {
		return math.Inf(1)
	}
	return stat / distuv.ChiSquared{K: df}.Quantile(1-1e-6)
}

// Under a finite prior the law of (x, y) is a finite sum.
func TestSamplerHasTheEnumeratedLaw(t *testing.T) {
	for _, uniform := range []bool{false, true} {
		t.Run(fmt.Sprintf("uniform roots=%v", uniform), func(t *testing.T) { testEnumeratedLaw(t, uniform) })
	}
}

func testEnumeratedLaw(t *testing.T, uniform bool) {
	tk := newTask(t, "orbit(0.6 0.3 0.1; 0.2 0.1 0.7; 0.45 0.25 0.3)", 3, -1, 0, -1, 1)
	tk.UniformRoots = uniform
	prior := tk.Prior.(*markov.Finite)
	b := tk.NewBatch(200000)
	tk.NewSampler().Fill(b, num.Stream(1, "law"))
	type cell struct { // a sequence with a target
		x int
		y [3]float64
	}
	cells := map[cell]int{}
	var p []float64
	for k, pi := range prior.Pi {
		all, err := tk.Enumerate(pi, prior.Mu[k])
		if err != nil {
			t.Fatal(err)
		}
		for x, q := range all {
			c := cell{index(x, 3), [3]float64(pi[x[4]*3 : x[4]*3+3])}
			if _, ok := cells[c]; !ok {
				cells[c], p = len(p), append(p, 0)
			}
			p[cells[c]] += prior.Weight[k] * q
		}
	}
	count := make([]float64, len(p))
	for k := range b.Len() {
		x, y := b.Seq(k)
		i, ok := cells[cell{index(x, 3), [3]float64(y)}]
		if !ok {
			t.Fatalf("sequence %v with target %v has probability zero", x, y)
		}
		count[i]++
	}
	if r := chiSquare(count, p); r > 1 {
		t.Errorf("chi-square statistic is %.2f of its 1-1e-6 quantile", r)
	}
}

// Under the Dirichlet prior on two states the law of x is a double integral.
func TestSamplerHasTheDirichletLaw(t *testing.T) {
	for _, prior := range []string{"dirichlet(0.1)", "dirichlet(0.7)"} {
		tk := newTask(t, prior, 2, -1, 0, -1, 1)
		b := tk.NewBatch(200000)
		tk.NewSampler().Fill(b, num.Stream(2, "law"))
		count := make([]float64, 32)
		for k := range b.Len() {
			x, _ := b.Seq(k)
			count[index(x, 2)]++
		}
		p, _ := integrate(t, tk)
		if r := chiSquare(count, p); r > 1 {
			t.Errorf("%s: chi-square statistic is %.2f of its 1-1e-6 quantile", prior, r)
		}
	}
}

// integrate returns P(x) and E[pi(0|q) | x] for every sequence of a task on two
// states with a Dirichlet prior.
//
// With pi(1|0) = 1/(1+exp(-z)), and pi(0|1) likewise, the Beta density becomes
// one with exponential tails, analytic where |Im z| < pi, for which the
// trapezoidal rule at step h has an error of exp(-2 pi^2/h).
func integrate(t *testing.T, tk Task) (p, fhat []float64) {
	alpha := tk.Prior.(*markov.Dirichlet).Alpha
	n := 1 << tk.Graph.T()
	p, fhat = make([]float64, n), make([]float64, n)
	const h = 0.75
	steps := int(20 / alpha / h)
	norm, up, down := 0.0, make([]float64, 2*steps+1), make([]float64, 2*steps+1)
	weight := make([]float64, 2*steps+1)
	for i := range weight {
		z := h * float64(i-steps)
		up[i], down[i] = 1/(1+math.Exp(-z)), 1/(1+math.Exp(z))
		weight[i] = math.Pow(up[i]*down[i], alpha)
		norm += weight[i]
	}
	pi, mu := make([]float64, 4), make([]float64, 2)
	all, err := tk.Enumerate(pi, mu)
	if err != nil {
		t.Fatal(err)
	}
	for i, w0 := range weight {
		for j, w1 := range weight {
			w := w0 * w1 / (norm * norm)
			pi[0], pi[1], pi[2], pi[3] = down[i], up[i], up[j], down[j]
			mu[0], mu[1] = up[j]/(up[i]+up[j]), up[i]/(up[i]+up[j])
			for x, q := range all {
				k := index(x, 2)
				p[k] += w * q
				fhat[k] += w * q * pi[2*x[len(x)-1]]
			}
		}
	}
	for k := range fhat {
		fhat[k] /= p[k]
	}
	return p, fhat
}

func TestSequencesAreLexicographicAndStop(t *testing.T) {
	last, n := []int{-1, -1, -1}, 0
	for x, from := range Sequences(2, 3) {
		want := 0
		for x[want] == last[want] {
			want++
		}
		if from != want || slices.Compare(x, last) <= 0 {
			t.Errorf("%v after %v: the first change is at %d, want %d", x, last, from, want)
		}
		copy(last, x)
		n++
	}
	if n != 8 {
		t.Errorf("%d sequences, want 8", n)
	}
	for range Sequences(3, 2) {
		break
	}
}

package task

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"learncausal/internal/property"
	"learncausal/pkg/graph"
	"learncausal/pkg/markov"
	"learncausal/pkg/num"
)

// On every forest of 4 positions and every sequence over 2 states, by counting edges.
func TestEdgePredictorCountsEdges(t *testing.T) {
	const s, n, alpha = 2, 4, 0.3
	for g := range graph.All(n) {
		for x := range Sequences(s, n) {
			counts, want := make([]int, s*s), make([]int, s*s)
			for i, p := range g.Parents() {
				if p >= 0 {
					want[x[p]*s+x[i]]++
				}
			}
			if edgeCounts(counts, g, x); !slices.Equal(counts, want) {
				t.Fatalf("%v on %v: edges %v, want %v", x, g, counts, want)
			}
			f, row := make([]float64, s), want[x[n-1]*s:][:s]
			PosteriorGivenEdges(f, g, alpha, x)
			for a, p := range f {
				w := (alpha + float64(row[a])) / (s*alpha + float64(row[0]+row[1]))
				if !property.Near(p, w, 1e-14) {
					t.Fatalf("%v on %v: %v, want %v at %d", x, g, f, w, a)
				}
			}
		}
	}
}

// On every sequence of an n-gram task, by counting its contexts.
func TestPosteriorCountsContexts(t *testing.T) {
	d, err := markov.NewDirichlet(2, 0.7)
	if err != nil {
		t.Fatal(err)
	}
	for k := 1; k <= 3; k++ {
		tk, f := Multi{Graph: graph.NGram(6, k), Prior: d}, make([]float64, 2)
		for x := range Sequences(2, 6) {
			n, counts := 0.0, make([]float64, 2)
			for i := k; i < 6; i++ {
				if slices.Equal(x[i-k:i], x[6-k:]) {
					counts[x[i]]++
					n++
				}
			}
			tk.Posterior(f, x)
			for a := range f {
				if want := (0.7 + counts[a]) / (1.4 + n); !property.Near(f[a], want, 1e-14) {
					t.Fatalf("%v with %d parents: %v, want %v at %d", x, k, f, want, a)
				}
			}
		}
	}
}

func TestSequencesAreAll(t *testing.T) {
	for s := 1; s <= 3; s++ {
		for n := range 5 {
			seen := map[string]bool{}
			for x := range Sequences(s, n) {
				seen[string(digits(x))] = true
			}
			if want := int(math.Pow(float64(s), float64(n))); len(seen) != want {
				t.Errorf("%d sequences of %d tokens below %d, want %d", len(seen), n, s, want)
			}
		}
	}
}

func digits(x []int) (b []byte) {
	for _, a := range x {
		b = append(b, byte('0'+a))
	}
	return b
}

func TestWrongArgumentsAreRefused(t *testing.T) {
	d, err := markov.NewDirichlet(2, 1)
	if err != nil {
		t.Fatal(err)
	}
	tk, multi := Task{Graph: graph.Chain(4), Prior: d}, Multi{Graph: graph.NGram(4, 2), Prior: d}
	two, b, src := make([]float64, 2), tk.NewBatch(1), rand.NewPCG(1, 1)
	property.Refuses(t, "task", map[string]func(){
		"a batch of -1":              func() { multi.NewBatch(-1) },
		"sequence 1 of 1":            func() { b.Seq(1) },
		"sequence -1":                func() { b.Seq(-1) },
		"a batch of another task":    func() { Task{Graph: graph.Chain(5), Prior: d}.NewSampler().Fill(b, src) },
		"sequences of -1":            func() { Sequences(2, -1) },
		"sequences over 0":           func() { Sequences(0, 2) },
		"a token 2 of 2":             func() { PosteriorGivenEdges(two, tk.Graph, 1, []int{0, 2, 0, 0}) },
		"a token -1":                 func() { PosteriorGivenEdges(two, tk.Graph, 1, []int{0, -1, 0, 0}) },
		"three tokens of 4":          func() { PosteriorGivenEdges(two, tk.Graph, 1, []int{0, 1, 0}) },
		"five tokens of 4":           func() { PosteriorGivenEdges(two, tk.Graph, 1, make([]int, 5)) },
		"alpha 0":                    func() { PosteriorGivenEdges(two, tk.Graph, 0, make([]int, 4)) },
		"alpha infinite":             func() { PosteriorGivenEdges(two, tk.Graph, math.Inf(1), make([]int, 4)) },
		"a loss of 2 against 3":      func() { LogLoss(two, make([]float64, 3)) },
		"a difference of 2 and 1":    func() { PairedDifference(two, two[:1]) },
		"a prediction of 1":          func() { multi.Posterior(two[:1], make([]int, 4)) },
		"parent 2 of 2":              func() { multi.GivenParents(two, make([]int, 4), 2) },
		"parent -1":                  func() { multi.GivenParents(two, make([]int, 4), -1) },
		"a tensor of another size":   func() { multi.Probability(Tensors{0: two, 1: two, 2: two}, make([]int, 4)) },
		"an enumeration of no room":  func() { _, _ = tk.Enumerate(two, two) },
		"a target of another length": func() { (&Prediction{F: two}).Loss(make([]float64, 3)) },
	})
	for _, size := range [][2]int{{0, 1}, {2, -1}, {2, 400}} {
		if err := CheckEnumerable(size[0], size[1]); err == nil {
			t.Errorf("sequences of %d tokens over %d are enumerable", size[1], size[0])
		}
	}
	if err := (Multi{Graph: graph.NGram(30, 30), Prior: d}).Validate(); err == nil {
		t.Error("a tensor of 2^30 rows is sampled")
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
	tk.NewSampler().Fill(b, num.Stream(1, "long"))
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

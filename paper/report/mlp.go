package report

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"learncausal/pkg/runs"
	"learncausal/pkg/train"
)

// MLPSeeds is the number of seeds for each graph of the standard transformer with
// "trained" or "fixed" embeddings.
var MLPSeeds = map[string]int{"trained": 3, "fixed": 3}

// mlpLossSequences is how many test sequences the losses are compared on.
const mlpLossSequences = 1 << 12

// MLPSpec returns the released code's setting for the standard transformer with
// MLPs on the graph of e: width 30, 2^12 steps of AdamW on 1024 fresh sequences
// each, embeddings "trained" as the code has them, or "fixed" as the paper says.
func (e SingleParent) MLPSpec(embeddings string, seed int) train.Spec {
	s := e.Spec()
	s.Steps, s.Every, s.Seed = 1<<12, 1<<5, uint64(seed)
	s.Model = train.MLP{Width: 30, FixedEmbeddings: embeddings == "fixed"}
	s.Optimiser = train.AdamW{Rate: 0.01, Schedule: train.Cosine, Decay: 2e-4}
	return s
}

// MLPSpecs returns the specification of every run of Figure 8: those with
// trained embeddings first, seed by seed, in the order of SingleParents.
func MLPSpecs() []train.Spec {
	var specs []train.Spec
	for _, embeddings := range []string{"trained", "fixed"} {
		for seed := range MLPSeeds[embeddings] {
			for _, e := range SingleParents() {
				specs = append(specs, e.MLPSpec(embeddings, seed))
			}
		}
	}
	return specs
}

// An MLPResult is what the runs of the standard transformer on one graph come to.
type MLPResult struct {
	SingleParent
	Embeddings string
	Runs       []*runs.Run // by seed
	Seeds      []MLPAttention
	Losses     []*Losses // all on the same test sequences
}

// MLPAttention is the first layer of one run, averaged over 1024 test sequences.
type MLPAttention struct {
	P       [][]float64 // T x T
	Parents float64     // mean attention on the parent, over the edges
	Least   float64     // the smallest of them
	Found   int         // edges whose row is largest at the parent
	Missed  []int       // the children of the others
	Edges   int
	Query   float64 // of the query on itself
	OnRoots float64 // of the query on the other roots

	// The roots but position 0 and the query, at which there is no choice or no
	// sequence to come.
	Roots         int
	First         float64 // their mean attention on the first token; NaN without roots
	Uniform       float64 // what it would be if they attended to all alike
	Largest       int     // roots whose row is largest at the first token
	Barren        float64 // their mean attention on positions that are nobody's parent
	UniformBarren float64
	LargestBarren int // roots whose row is largest at one of these
}

func (e SingleParent) mlpAttention(p [][]float64) MLPAttention {
	a := MLPAttention{P: p, Least: 1}
	n := e.Graph.T() - 1
	barren := make([]float64, n+1)
	for _, j := range e.Graph.Leaves() {
		barren[j] = 1
	}
	a.Query = p[n][n]
	for i, row := range p[:n] {
		j := e.Graph.Parent(i)
		if j < 0 {
			a.OnRoots += p[n][i]
		}
		switch {
		case j >= 0:
			a.Edges++
			a.Parents += row[j]
			a.Least = min(a.Least, row[j])
			if floats.MaxIdx(row) == j {
				a.Found++
			} else {
				a.Missed = append(a.Missed, i)
			}
		case i > 0:
			a.Roots++
			a.First += row[0]
			a.Uniform += 1 / float64(i+1)
			a.Barren += floats.Dot(row[:i+1], barren[:i+1])
			a.UniformBarren += floats.Sum(barren[:i+1]) / float64(i+1)
			at := floats.MaxIdx(row)
			if at == 0 {
				a.Largest++
			}
			a.LargestBarren += int(barren[at])
		}
	}
	a.Parents /= float64(a.Edges)
	for _, v := range []*float64{&a.First, &a.Uniform, &a.Barren, &a.UniformBarren} {
		*v /= float64(a.Roots)
	}
	return a
}

// LoadMLP loads or trains the runs of Figure 8: a result for each graph with
// trained embeddings, then for each graph with fixed ones.
func LoadMLP(ctx context.Context, get Getter) ([]*MLPResult, error) {
	var all []*MLPResult
	for _, embeddings := range []string{"trained", "fixed"} {
		for _, e := range SingleParents() {
			m := &MLPResult{SingleParent: e, Embeddings: embeddings}
			for seed := range MLPSeeds[embeddings] {
				r, err := get(ctx, e.MLPSpec(embeddings, seed))
				if err != nil {
					return nil, err
				}
				m.Runs = append(m.Runs, r)
				m.Seeds = append(m.Seeds, e.mlpAttention(r.Spec.MeanAttention(r.Final.Weights)[0]))
			}
			all = append(all, m)
		}
	}
	return all, nil
}

// CompareMLPLosses fills in the losses of the results, all runs on a graph on the
// test sequences of seed 0. They are new to every run, and Bayes, which is slow,
// predicts them once.
func CompareMLPLosses(ms []*MLPResult) error {
	n := len(SingleParents())
	for i := range n {
		var rs []*runs.Run
		for _, m := range []*MLPResult{ms[i], ms[i+n]} {
			for _, r := range m.Runs {
				same := *r
				same.Spec.Seed = 0
				rs = append(rs, &same)
			}
		}
		all, err := CompareAllLosses(rs, mlpLossSequences, LossDraws)
		if err != nil {
			return err
		}
		k := len(ms[i].Runs)
		ms[i].Losses, ms[i+n].Losses = all[:k], all[k:]
	}
	return nil
}

// A sample is a quantity over the seeds.
type sample struct {
	N           int
	Mean        float64
	StdDev      float64 // of one run, 0 for N = 1
	Least, Most float64
}

func newSample(v []float64) sample {
	s := sample{N: len(v), Mean: v[0], Least: floats.Min(v), Most: floats.Max(v)}
	if s.N > 1 {
		s.Mean, s.StdDev = stat.MeanStdDev(v, nil)
	}
	return s
}

// stdErr returns the standard error of the mean.
func (s sample) stdErr() float64 { return s.StdDev / math.Sqrt(float64(s.N)) }

// oneMore returns the two-sided p-value of v as the value of one more run,
// Student's t with N-1 degrees of freedom, and 1 for N = 1:
//
//	t = (v - Mean) / (StdDev sqrt(1 + 1/N))
func (s sample) oneMore(v float64) float64 {
	if s.N == 1 {
		return 1
	}
	t := math.Abs(v-s.Mean) / (s.StdDev * math.Sqrt(1+1/float64(s.N)))
	return 2 * distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(s.N - 1)}.Survival(t)
}

// over returns a quantity of the average attention over the seeds.
func (m *MLPResult) over(f func(MLPAttention) float64) sample {
	var v []float64
	for _, a := range m.Seeds {
		v = append(v, f(a))
	}
	return newSample(v)
}

// overLosses returns a mean loss over the seeds, and its standard error as an
// estimate for all seeds and sequences:
//
//	sqrt(StdDev^2 / N + e^2),  e the mean over the seeds of f's StdErr
//
// As the seeds share their test sequences, their mean has at most the standard
// error e from these.
func (m *MLPResult) overLosses(f func(*Losses) Estimate) (sample, float64) {
	var v, e []float64
	for _, l := range m.Losses {
		v, e = append(v, f(l).Mean), append(e, f(l).StdErr)
	}
	s := newSample(v)
	return s, math.Hypot(s.stdErr(), stat.Mean(e, nil))
}

// complete returns the number of seeds in which every edge is found.
func (m *MLPResult) complete() int {
	n := 0
	for _, a := range m.Seeds {
		if a.Found == a.Edges {
			n++
		}
	}
	return n
}

// onFirst returns the number of seeds in which the roots attend to the first
// token: most rows are largest there, and the mean is above the uniform one.
func (m *MLPResult) onFirst() int {
	n := 0
	for _, a := range m.Seeds {
		if 2*a.Largest > a.Roots && a.First > a.Uniform {
			n++
		}
	}
	return n
}

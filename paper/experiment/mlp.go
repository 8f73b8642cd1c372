package experiment

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"learncausal/pkg/graph"
	"learncausal/pkg/num"
	"learncausal/pkg/runs"
	"learncausal/pkg/train"
)

// Figure8 is the name of the sweep of twenty seeds of Figure 8.
const Figure8 = "figure-8"

// mlpSeeds is the number of seeds for each graph and each of the [mlpKinds] whose weights are stored.
const mlpSeeds = 3

// mlpLossSequences is the number of test sequences on which the losses are compared.
const mlpLossSequences = 1 << 12

// mlpKinds returns the kinds of the standard transformer: "trained" and "fixed" embeddings in the
// architecture of the released code, and "residual", the architecture and the fixed embeddings of the text.
func mlpKinds() []string { return []string{"trained", "fixed", "residual"} }

// mlpSpec returns the released code's setting on the graph of s: width 30, 2^12 steps of AdamW
// on 1024 fresh sequences each, with one of the [mlpKinds].
func (s SingleParent) mlpSpec(kind string, seed int) train.Spec {
	spec := s.Spec()
	spec.Steps, spec.Every, spec.Seed = 1<<12, 1<<5, uint64(seed)
	spec.Model = train.MLP{Width: 30, FixedEmbeddings: kind != "trained", Residual: kind == "residual"}
	spec.Optimiser = train.AdamW{Rate: 0.01, Schedule: train.Cosine, Decay: 2e-4}
	return spec
}

// mlpSpecs returns the specifications by kind, by seed and by the order of SingleParents.
func mlpSpecs() []train.Spec {
	var specs []train.Spec
	for _, kind := range mlpKinds() {
		for seed := range mlpSeeds {
			for _, s := range SingleParents() {
				specs = append(specs, s.mlpSpec(kind, seed))
			}
		}
	}
	return specs
}

// An MLPResult has the runs of the standard transformer on one graph.
type MLPResult struct {
	SingleParent
	Kind     string      // of [mlpKinds]
	Runs     []*runs.Run // by seed
	Seeds    []MLPAttention
	Losses   []*Losses  // by seed, all on the same test sequences; set by [MLPLosses]
	Outcomes []*Outcome // of the sweep [Figure8], by seed
}

// ID returns for instance "mlp-chain-trained".
func (m *MLPResult) ID() string { return "mlp-" + m.Name + "-" + m.Kind }

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

	// Roots is the number of roots other than position 0, which sees itself only, and the query.
	Roots         int
	First         float64 // their mean attention on the first token; NaN without roots
	Uniform       float64 // the value of First for uniform attention
	Largest       int     // roots whose row is largest at the first token
	Leaves        float64 // their mean attention on leaves
	UniformLeaves float64 // the value of Leaves for uniform attention
	LargestLeaves int     // roots whose row is largest at a leaf
}

// newMLPAttention measures the average first-layer attention p on the graph g.
func newMLPAttention(g *graph.Forest, p [][]float64) MLPAttention {
	a := MLPAttention{P: p, Least: 1}
	n := g.T() - 1
	leaf := make([]float64, n+1)
	for _, j := range g.Leaves() {
		leaf[j] = 1
	}
	a.Query = p[n][n]
	for i, row := range p[:n] {
		j := g.Parent(i)
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
			a.Leaves += floats.Dot(row[:i+1], leaf[:i+1])
			a.UniformLeaves += floats.Sum(leaf[:i+1]) / float64(i+1)
			at := floats.MaxIdx(row)
			if at == 0 {
				a.Largest++
			}
			a.LargestLeaves += int(leaf[at])
		}
	}
	a.Parents /= float64(a.Edges)
	for _, v := range []*float64{&a.First, &a.Uniform, &a.Leaves, &a.UniformLeaves} {
		*v /= float64(a.Roots)
	}
	return a
}

// LoadMLP loads or trains the runs of Figure 8 on the graphs of the settings: a
// result for each kind and graph.
func LoadMLP(ctx context.Context, get Getter, settings ...SingleParent) ([]*MLPResult, error) {
	outcomes, err := Outcomes(Figure8)
	if err != nil {
		return nil, err
	}
	var all []*MLPResult
	for _, kind := range mlpKinds() {
		for _, s := range settings {
			m := &MLPResult{SingleParent: s, Kind: kind}
			for seed := range mlpSeeds {
				r, err := get(ctx, s.mlpSpec(kind, seed))
				if err != nil {
					return nil, err
				}
				m.Runs = append(m.Runs, r)
				p := r.Spec.MeanAttention(r.Final.Weights)[0]
				rows := slices.Collect(slices.Chunk(p.RawMatrix().Data, s.Graph.T()))
				m.Seeds = append(m.Seeds, newMLPAttention(s.Graph, rows))
			}
			for _, o := range outcomes {
				parents := o.Spec.Task.(train.Task1).Parents
				if o.Spec.Model == m.Runs[0].Spec.Model && slices.Equal(parents, s.Graph.Parents()) {
					m.Outcomes = append(m.Outcomes, o)
				}
			}
			all = append(all, m)
		}
	}
	return all, nil
}

// MLPLosses returns the results with their losses on the test sequences of seed 0, on which no
// run was trained and for which the Bayes losses are stored.
func MLPLosses(ctx context.Context, ms []*MLPResult) ([]*MLPResult, error) {
	return each(ctx, ms, func(ctx context.Context, m *MLPResult) (*MLPResult, error) {
		var rs []*runs.Run
		for _, r := range m.Runs {
			same := *r
			same.Spec.Seed = 0
			rs = append(rs, &same)
		}
		with := *m
		var err error
		with.Losses, err = compareLosses(ctx, mlpLossSequences, lossDraws, rs...)
		return &with, err
	})
}

// A Sample summarises a quantity over the seeds.
type Sample struct {
	N           int
	Mean        float64
	StdDev      float64 // of one run, 0 for N = 1
	Least, Most float64
}

// NewSample summarises the values of the seeds.
func NewSample(v []float64) Sample {
	s := Sample{N: len(v), Mean: v[0], Least: floats.Min(v), Most: floats.Max(v)}
	if s.N > 1 {
		s.Mean, s.StdDev = stat.MeanStdDev(v, nil)
	}
	return s
}

// StdErr returns the standard error of the mean.
func (s Sample) StdErr() float64 { return s.StdDev / math.Sqrt(float64(s.N)) }

// PValue returns the two-sided p-value of v as the value of one more run,
// Student's t with N-1 degrees of freedom, and 1 for N = 1:
//
//	t = (v - Mean) / (StdDev sqrt(1 + 1/N))
func (s Sample) PValue(v float64) float64 {
	if s.N == 1 {
		return 1
	}
	t := math.Abs(v-s.Mean) / (s.StdDev * math.Sqrt(1+1/float64(s.N)))
	return 2 * distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(s.N - 1)}.Survival(t)
}

// Over summarises a quantity f of the average attention over the seeds.
func (m *MLPResult) Over(f func(MLPAttention) float64) Sample {
	return NewSample(mapped(m.Seeds, f))
}

// Ends summarises a quantity of the last evaluation over the [MLPResult.Outcomes].
func (m *MLPResult) Ends(f func(OutcomePoint) Number) Sample {
	return NewSample(mapped(m.Outcomes, func(o *Outcome) float64 { return float64(f(o.End())) }))
}

// OverLosses summarises a mean loss over the seeds, and returns its standard error as
// an estimate for all seeds and sequences,
//
//	sqrt(StdDev^2 / N + e^2),  e the mean over the seeds of f's StdErr
//
// The seeds share their test sequences, so that averaging over seeds does not reduce e.
func (m *MLPResult) OverLosses(f func(*Losses) num.Estimate) (Sample, float64) {
	var v, e []float64
	for _, l := range m.Losses {
		v, e = append(v, f(l).Mean), append(e, f(l).StdErr)
	}
	s := NewSample(v)
	return s, math.Hypot(s.StdErr(), stat.Mean(e, nil))
}

// Complete returns the number of seeds in which every edge is found.
func (m *MLPResult) Complete() int {
	return count(m.Seeds, func(a MLPAttention) bool { return a.Found == a.Edges })
}

// OnFirst returns the number of seeds in which the roots attend to the first
// token: most of their rows are largest there, and First exceeds Uniform.
func (m *MLPResult) OnFirst() int {
	return count(m.Seeds, func(a MLPAttention) bool { return 2*a.Largest > a.Roots && a.First > a.Uniform })
}

// EarlierSibling reports whether the parent of position i has a child before it.
func (s SingleParent) EarlierSibling(i int) bool {
	return slices.Contains(s.Graph.Parents()[:i], s.Graph.Parent(i))
}

// Missed returns the number of edges that are not found, over all runs, and the
// number of these whose parent has an earlier child.
func Missed(ms []*MLPResult) (missed, siblings int) {
	for _, m := range ms {
		for _, a := range m.Seeds {
			for _, i := range a.Missed {
				missed++
				if m.EarlierSibling(i) {
					siblings++
				}
			}
		}
	}
	return missed, siblings
}

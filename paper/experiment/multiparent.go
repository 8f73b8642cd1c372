package experiment

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/combin"

	"learncausal/pkg/graph"
	"learncausal/pkg/num"
	"learncausal/pkg/runs"
	"learncausal/pkg/task"
	"learncausal/pkg/train"
)

// A MultiParent is one of the settings of Figures 5 and 7.
type MultiParent struct {
	Name    string // trigram, halves or fourgram; with -printed in the printed setting
	Title   string
	Short   string // for tables
	Graph   *graph.DAG
	Parents []string // names of the parents, in the order of their lists; positions are counted from 1
	Seeds   int      // number of runs with weights

	// Printed selects the setting that the paper prints in place of the setting of the released code.
	Printed bool
}

// MultiSequences is the number of test sequences on which a run is compared with the reference predictors.
const MultiSequences = 1 << 14

// MultiParents returns the settings of Figure 7, in its order, in the version of the released code.
func MultiParents() []MultiParent {
	// The released code counts i from 0, so that floor(i/2) is (i-1)/2 rounded down.
	return []MultiParent{
		{
			Name: "trigram", Title: "3-gram", Short: "3-gram",
			Graph: graph.NGram(32, 2), Parents: []string{"i − 2", "i − 1"}, Seeds: 3,
		},
		{
			Name: "halves", Title: "i − 1 and ⌊i/2⌋", Short: "halves",
			Graph: graph.Halves(32), Parents: []string{"⌊i/2⌋", "i − 1"}, Seeds: 4,
		},
		{
			Name: "fourgram", Title: "4-gram", Short: "4-gram",
			Graph: graph.NGram(32, 3), Parents: []string{"i − 3", "i − 2", "i − 1"}, Seeds: 1,
		},
	}
}

// InPrint returns the setting that the paper prints for the same graph, with one run. The
// 4-gram has runs in the sweep several-parents only, without weights.
func (m MultiParent) InPrint() MultiParent {
	m.Name, m.Short, m.Seeds, m.Printed = m.Name+"-printed", m.Short+", printed", 1, true
	if len(m.Parents) > 2 {
		m.Seeds = 0
	}
	return m
}

// PrintedParents returns the printed settings of Figure 7 that have runs.
func PrintedParents() []MultiParent {
	var ms []MultiParent
	for _, m := range MultiParents() {
		if m = m.InPrint(); m.Seeds > 0 {
			ms = append(ms, m)
		}
	}
	return ms
}

// MultiParentNamed returns the setting of a name, such as halves or halves-printed.
func MultiParentNamed(name string) (MultiParent, error) {
	all := append(MultiParents(), PrintedParents()...)
	return named("setting of Figure 7", all, func(m MultiParent) string { return m.Name }, name)
}

// Spec returns the setting of the released code with one head for each parent: S = 5, alpha = 0.1, roots that
// share a Dirichlet law, 2^16 steps of AdamW from attention matrices of standard deviation 1e-4. The printed
// setting has alpha = 1, uniform roots, k heads in the second layer, a standard deviation of 0.01 and no weight
// decay; it borrows the schedule of the code.
func (m MultiParent) Spec(seed int) train.Spec {
	k := len(m.Parents)
	s := train.Spec{
		Task:      train.Task2{Parents: m.Graph.Parents(), States: 5, Prior: "dirichlet(0.1)"},
		Model:     train.Disentangled{Heads: [2]int{k, 1}, Init: 1e-4},
		Optimiser: train.AdamW{Rate: 0.01, Schedule: train.Cosine, Decay: 1e-4},
		Batch:     1024, Steps: 1 << 16, Seed: uint64(seed), Test: 1 << 16, Every: 1 << 9,
	}
	if m.Printed {
		s.Task = train.Task2{Parents: m.Graph.Parents(), States: 5, Prior: "dirichlet(1)", UniformRoots: true}
		s.Model = train.Disentangled{Heads: [2]int{k, k}, Init: 0.01}
		s.Optimiser = train.AdamW{Rate: 0.01, Schedule: train.Cosine}
	}
	return s
}

// multiSpecs returns the specification of every run in the settings, ordered by seed.
func multiSpecs(ms []MultiParent) []train.Spec {
	var specs []train.Spec
	for seed := 0; slices.ContainsFunc(ms, func(m MultiParent) bool { return seed < m.Seeds }); seed++ {
		for _, m := range ms {
			if seed < m.Seeds {
				specs = append(specs, m.Spec(seed))
			}
		}
	}
	return specs
}

// A MultiResult has the runs in a setting of Figures 5 and 7.
type MultiResult struct {
	MultiParent
	Runs []*MultiRun // by seed
}

// LoadMulti loads or trains the runs in the settings.
func LoadMulti(ctx context.Context, get Getter, settings ...MultiParent) ([]MultiResult, error) {
	return each(ctx, settings, func(ctx context.Context, m MultiParent) (MultiResult, error) {
		rs, err := each(ctx, multiSpecs([]MultiParent{m}), func(ctx context.Context, s train.Spec) (*MultiRun, error) {
			r, err := get(ctx, s)
			if err != nil {
				return nil, err
			}
			return NewMultiRun(m.Graph, r), nil
		})
		return MultiResult{m, rs}, err
	})
}

// SplitSeeds returns the number of runs whose heads split the parents.
func (m MultiResult) SplitSeeds() int { return count(m.Runs, (*MultiRun).HasSplit) }

// Outside returns the largest Outside of the runs.
func (m MultiResult) Outside() float64 { return slices.Max(mapped(m.Runs, (*MultiRun).Outside)) }

// A MultiRun is a run on a graph with k parents, its k heads matched with the k places in the lists of parents.
type MultiRun struct {
	Graph *graph.DAG
	Run   *runs.Run
	// Head[l] is the head matched with the parents p(i)_l: the assignment with
	// the largest mean attention over the nodes.
	Head []int
	// Attention[l][i] is the attention S(A1)_{i,p(i)_l} of Head[l], 0 for a root. At the last
	// position, p(i)_l is the parent l of the label.
	Attention [][]float64
	// OnSequences is Attention with S(h0 A1 h0^T), averaged over test sequences, in
	// place of the softmax of the position block.
	OnSequences [][]float64
	// Nodes are the positions with parents, except the last one. At those in Split each head has over half of
	// its attention on its own parent; at those in Swapped, for a different assignment.
	Nodes, Split, Swapped []int
	Losses                *Losses // set by [MultiLosses]
}

// NewMultiRun matches the heads of a run with the parents of its graph.
func NewMultiRun(g *graph.DAG, r *runs.Run) *MultiRun {
	p, parents, last := r.Final.Disentangled().PositionAttentions(), g.Parents(), g.T()-1
	m := &MultiRun{Graph: g, Run: r}
	for i, ps := range parents[:last] {
		if len(ps) > 0 {
			m.Nodes = append(m.Nodes, i)
		}
	}
	orders := combin.Permutations(len(p), len(p))
	on := func(head []int) (sum float64) {
		for _, i := range m.Nodes {
			for l, j := range parents[i] {
				sum += p[head[l]].At(i, j)
			}
		}
		return sum
	}
	m.Head = slices.MaxFunc(orders, func(a, b []int) int { return cmp.Compare(on(a), on(b)) })
	parents[last] = parents[last+1]
	m.Attention = m.onParents(p, parents[:last+1])
	m.OnSequences = m.onParents(r.Spec.MeanAttention(r.Final.Weights), parents[:last+1])
	for _, i := range m.Nodes {
		split := func(head []int) bool {
			for l, j := range parents[i] {
				if p[head[l]].At(i, j) <= 0.5 {
					return false
				}
			}
			return true
		}
		if split(m.Head) {
			m.Split = append(m.Split, i)
		} else if slices.ContainsFunc(orders, split) {
			m.Swapped = append(m.Swapped, i)
		}
	}
	return m
}

// onParents returns for each matched head, with attentions p, the attention of each
// position on its parent, 0 for a root.
func (m *MultiRun) onParents(p []*mat.Dense, parents [][]int) (rows [][]float64) {
	for l, h := range m.Head {
		row := make([]float64, len(parents))
		for i, ps := range parents {
			if len(ps) > 0 {
				row[i] = p[h].At(i, ps[l])
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// On returns the mean over the nodes of a row of Attention or OnSequences.
func (m *MultiRun) On(row []float64) float64 {
	sum := 0.0
	for _, i := range m.Nodes {
		sum += row[i]
	}
	return sum / float64(len(m.Nodes))
}

// MeanAttention returns the mean over nodes and heads of Attention or OnSequences.
func (m *MultiRun) MeanAttention(rows [][]float64) float64 {
	sum := 0.0
	for _, row := range rows {
		sum += m.On(row)
	}
	return sum / float64(len(rows))
}

// SplitShare is the least share of the nodes in Split at which the heads of a run
// count as having split the parents.
const SplitShare = 0.9

// HasSplit reports whether each head attends to one parent, as in the paper, at a
// share of at least SplitShare of the nodes.
func (m *MultiRun) HasSplit() bool {
	return float64(len(m.Split)) >= SplitShare*float64(len(m.Nodes))
}

// MultiLosses returns the results with the losses of every run.
func MultiLosses(ctx context.Context, ms []MultiResult) ([]MultiResult, error) {
	return each(ctx, ms, func(ctx context.Context, m MultiResult) (MultiResult, error) {
		rs, err := each(ctx, m.Runs, func(ctx context.Context, r *MultiRun) (*MultiRun, error) {
			with := *r
			var err error
			with.Losses, err = r.compare(ctx, MultiSequences)
			return &with, err
		})
		return MultiResult{m.MultiParent, rs}, err
	})
}

// compare evaluates the run on the first n of its test sequences.
func (m *MultiRun) compare(ctx context.Context, n int) (*Losses, error) {
	several, ok := m.Run.Spec.Task.(train.Task2)
	if !ok {
		return nil, fmt.Errorf("experiment: run %s is of a %T, want Task 2", m.Run.Address, m.Run.Spec.Task)
	}
	tk, err := several.New()
	if err != nil {
		return nil, err
	}
	b, err := testSequences(m.Run.Spec, n)
	if err != nil {
		return nil, err
	}
	trained, err := modelLosses(ctx, m.Run, b)
	if err != nil {
		return nil, err
	}
	edges := task.Losses(b, tk.Posterior)
	l := &Losses{
		Sequences: n, Model: num.Average(trained), Edges: num.Average(edges),
		ModelLessEdges: task.PairedDifference(trained, edges),
	}
	for k := range m.Head {
		one := task.Losses(b, func(f []float64, x []int) { tk.Given(f, x, k) })
		l.OneParent = append(l.OneParent, num.Average(one))
	}
	return l, nil
}

// Extremes returns the least and the largest entry of the position block of the head matched
// with parent l, and the largest magnitude outside of the block.
func (m *MultiRun) Extremes(l int) (least, most, outside float64) {
	w := m.Run.Final.Disentangled()
	d := w.S + w.T
	for k, v := range w.A[0][m.Head[l]].RawMatrix().Data {
		if k/d >= w.S && k%d >= w.S {
			least, most = min(least, v), max(most, v)
		} else {
			outside = max(outside, math.Abs(v))
		}
	}
	return least, most, outside
}

// Outside returns the largest magnitude outside the position-position blocks of
// the first layer over the largest inside.
func (m *MultiRun) Outside() float64 {
	in, out := 0.0, 0.0
	for l := range m.Head {
		least, most, o := m.Extremes(l)
		in, out = max(in, -least, most), max(out, o)
	}
	return out / in
}

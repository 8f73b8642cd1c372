package report

import (
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/stat/combin"

	"learncausal/pkg/figure"
	"learncausal/pkg/graph"
	"learncausal/pkg/num"
	"learncausal/pkg/runs"
	"learncausal/pkg/task"
	"learncausal/pkg/train"
)

// A MultiParent is one of the experiments of Figures 5 and 7.
type MultiParent struct {
	ID    string // trigram, halves or fourgram
	Title figure.Label
	Short string // for tables
	Graph *graph.DAG
	Names []figure.Label // of the parents, in the order of their lists; positions are counted from 1
	Seeds int            // number of runs

	// Printed tells that the runs are in the setting that the paper prints, not in
	// that of the released code.
	Printed bool
}

// MultiSequences is the number of test sequences on which a run is compared with
// the reference predictors.
const MultiSequences = 1 << 14

// MultiParents returns the experiments of Figure 7, in its order.
func MultiParents() []MultiParent {
	before := func(k int) figure.Label {
		return figure.Label{Text: fmt.Sprintf("i − %d", k), TeX: fmt.Sprintf("$i-%d$", k)}
	}
	// The fonts of the screen have no floor brackets. With i counted from 0, as the
	// released code does, these are the parents (i-1)/2, rounded down.
	half := figure.Label{Text: "floor(i/2)", TeX: `$\lfloor i/2\rfloor$`}
	return []MultiParent{
		{ID: "trigram", Title: figure.Text("3-gram"), Short: "3-gram", Graph: graph.NGram(32, 2), Names: []figure.Label{before(2), before(1)}, Seeds: 3},
		{ID: "halves", Title: figure.Label{Text: "i − 1 and floor(i/2)", TeX: `$i-1$ and $\lfloor i/2\rfloor$`}, Short: "halves", Graph: graph.Halves(32), Names: []figure.Label{half, before(1)}, Seeds: 4},
		{ID: "fourgram", Title: figure.Text("4-gram"), Short: "4-gram", Graph: graph.NGram(32, 3), Names: []figure.Label{before(3), before(2), before(1)}, Seeds: 1},
	}
}

// PrintedParents returns the experiments of Figure 7 in the setting that the
// paper prints: one run each with two parents. That of the 4-gram, with three
// heads in both layers, takes hours.
func PrintedParents() []MultiParent {
	ms := MultiParents()
	for i := range ms {
		m := &ms[i]
		m.ID, m.Short, m.Seeds, m.Printed = m.ID+"-printed", m.Short+", printed", 1, true
		if len(m.Names) > 2 {
			m.Seeds = 0
		}
	}
	return ms
}

// Spec returns the setting of the released code with one head for each parent:
// S = 5, alpha = 0.1, roots that share a Dirichlet law, 2^16 steps of AdamW from
// attention matrices of standard deviation 1e-4. The printed setting differs in
// alpha = 1, uniform roots, k heads in the second layer as well, a standard
// deviation of 0.01 and no weight decay; the paper says nothing of a schedule, and
// has that of the code here.
func (m MultiParent) Spec(seed int) train.Spec {
	k, err := m.Graph.Uniform()
	if err != nil {
		panic(err)
	}
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

// MultiSpecs returns the specification of every run on graphs with several
// parents: the first seed of each graph first, the printed setting last.
func MultiSpecs() []train.Spec {
	var specs []train.Spec
	add := func(ms []MultiParent) {
		most := 0
		for _, m := range ms {
			most = max(most, m.Seeds)
		}
		for seed := range most {
			for _, m := range ms {
				if seed < m.Seeds {
					specs = append(specs, m.Spec(seed))
				}
			}
		}
	}
	add(MultiParents())
	add(PrintedParents())
	return specs
}

// LoadMulti loads or trains the runs of Figures 5 and 7, by graph and seed, and
// compares them with the reference predictors.
func LoadMulti(ctx context.Context, get Getter) ([][]*MultiRun, error) {
	return loadMulti(ctx, get, MultiParents())
}

// LoadPrinted is LoadMulti for the setting that the paper prints.
func LoadPrinted(ctx context.Context, get Getter) ([][]*MultiRun, error) {
	return loadMulti(ctx, get, PrintedParents())
}

func loadMulti(ctx context.Context, get Getter, ms []MultiParent) ([][]*MultiRun, error) {
	all := make([][]*MultiRun, len(ms))
	for i, m := range ms {
		for seed := range m.Seeds {
			r, err := get(ctx, m.Spec(seed))
			if err != nil {
				return nil, err
			}
			mr := NewMultiRun(m, r)
			if mr.Losses, err = mr.compare(MultiSequences); err != nil {
				return nil, err
			}
			all[i] = append(all[i], mr)
		}
	}
	return all, nil
}

// A MultiRun is a run on a graph with k parents, its k heads matched with the k
// places in the lists of parents.
type MultiRun struct {
	Of  MultiParent
	Run *runs.Run
	// Head[l] is the head matched with the parents p(i)_l: the assignment with
	// the largest mean attention over the nodes.
	Head []int
	// Attention[l][i] is the attention S(A1)_{i,p(i)_l} of Head[l], 0 for a
	// root. In the last position it is that on the parent l of the label, which
	// Construction 2 puts there.
	Attention [][]float64
	// OnSequences is Attention with that of whole sequences, S(h0 A1 h0^T),
	// averaged over test sequences, in the place of its position block.
	OnSequences [][]float64
	// Nodes are the positions with parents, the last one not included. At
	// those of Split each head has more than half of its attention on its own
	// parent; at those of Swapped this holds for another assignment.
	Nodes, Split, Swapped []int
	Losses                *MultiLosses // as the Load functions find it
}

// NewMultiRun matches the heads of a run with the parents of its graph.
func NewMultiRun(m MultiParent, r *runs.Run) *MultiRun {
	p, parents := r.Final.Disentangled().PositionAttentions(), m.Graph.Parents()
	last := m.Graph.T() - 1
	out := &MultiRun{Of: m, Run: r}
	for i, ps := range parents[:last] {
		if len(ps) > 0 {
			out.Nodes = append(out.Nodes, i)
		}
	}
	all, best := combin.Permutations(len(p), len(p)), -1.0
	for _, head := range all {
		sum := 0.0
		for _, i := range out.Nodes {
			for l, j := range parents[i] {
				sum += p[head[l]][i][j]
			}
		}
		if sum > best {
			best, out.Head = sum, head
		}
	}
	parents[last] = parents[last+1]
	onParents := func(p [][][]float64) (rows [][]float64) {
		for l, h := range out.Head {
			row := make([]float64, last+1)
			for i, ps := range parents[:last+1] {
				if len(ps) > 0 {
					row[i] = p[h][i][ps[l]]
				}
			}
			rows = append(rows, row)
		}
		return rows
	}
	out.Attention = onParents(p)
	out.OnSequences = onParents(r.Spec.MeanAttention(r.Final.Weights))
	split := func(i int, head []int) bool {
		for l, j := range parents[i] {
			if p[head[l]][i][j] <= 0.5 {
				return false
			}
		}
		return true
	}
	for _, i := range out.Nodes {
		if split(i, out.Head) {
			out.Split = append(out.Split, i)
			continue
		}
		if slices.ContainsFunc(all, func(head []int) bool { return split(i, head) }) {
			out.Swapped = append(out.Swapped, i)
		}
	}
	return out
}

// On returns the mean over the nodes of a row of Attention or OnSequences.
func (m *MultiRun) On(row []float64) float64 {
	sum := 0.0
	for _, i := range m.Nodes {
		sum += row[i]
	}
	return sum / float64(len(m.Nodes))
}

// Agreement returns the mean over nodes and heads of Attention or OnSequences.
func (m *MultiRun) Agreement(rows [][]float64) float64 {
	sum := 0.0
	for _, row := range rows {
		sum += m.On(row)
	}
	return sum / float64(len(rows))
}

// SplitShare is the share of the nodes from which on the heads of a run are said
// to have split the parents.
const SplitShare = 0.9

// HasSplit tells whether each head keeps to one parent, as the paper has it, at
// SplitShare of the nodes.
func (m *MultiRun) HasSplit() bool {
	return float64(len(m.Split)) >= SplitShare*float64(len(m.Nodes))
}

// MultiLosses are the mean log-losses, in nats, of a model and of the predictors
// that it is measured against, on the same test sequences.
type MultiLosses struct {
	Sequences      int
	Model          Estimate
	Edges          Estimate   // posterior mean given the edges, the Bayes predictor
	OneParent      []Estimate // posterior mean that compares parent l only
	ModelLessEdges Estimate   // paired difference
}

// compare evaluates the run on the first n of its test sequences.
func (m *MultiRun) compare(n int) (*MultiLosses, error) {
	spec := m.Run.Spec
	spec.Test = n
	several, ok := spec.Task.(train.Task2)
	if !ok {
		return nil, fmt.Errorf("report: run %s is of a %T, want one of Task 2", m.Run.Address, spec.Task)
	}
	tk, err := several.New()
	if err != nil {
		return nil, err
	}
	b, err := spec.TestSet()
	if err != nil {
		return nil, err
	}
	trained, edges := modelLosses(m.Run, b), task.Losses(b, tk.Posterior)
	l := &MultiLosses{Sequences: n, Model: num.Average(trained), Edges: num.Average(edges), ModelLessEdges: task.PairedDifference(trained, edges)}
	for k := range m.Head {
		l.OneParent = append(l.OneParent, num.Average(task.Losses(b, func(f []float64, x []int) { tk.OneParent(f, x, k) })))
	}
	return l, nil
}

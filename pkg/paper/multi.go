package paper

import (
	"context"
	"fmt"
	"slices"

	"learncausal/pkg/figure"
	"learncausal/pkg/graph"
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
	Names []figure.Label // of the parents, in the order of their lists; positions are counted from 0
	Seeds int            // number of runs
}

// MultiSequences is the number of test sequences on which a run is compared with
// the reference predictors.
const MultiSequences = 1 << 14

// MultiParents returns the experiments of Figure 7, in its order.
func MultiParents() []MultiParent {
	before := func(k int) figure.Label {
		return figure.Label{Text: fmt.Sprintf("i − %d", k), TeX: fmt.Sprintf("$i-%d$", k)}
	}
	// The fonts of the screen have no floor brackets.
	half := figure.Label{Text: "(i − 1)/2", TeX: `$\lfloor (i-1)/2\rfloor$`}
	return []MultiParent{
		{"trigram", figure.Text("3-gram"), "3-gram", graph.NGram(32, 2), []figure.Label{before(2), before(1)}, 1},
		{"halves", figure.Label{Text: "i − 1 and (i − 1)/2", TeX: `$i-1$ and $\lfloor (i-1)/2\rfloor$`}, "halves", graph.Halves(32), []figure.Label{half, before(1)}, 1},
		{"fourgram", figure.Text("4-gram"), "4-gram", graph.NGram(32, 3), []figure.Label{before(3), before(2), before(1)}, 1},
	}
}

// Spec returns the setting of the released code with one head for each parent:
// S = 5, alpha = 0.1, 2^16 steps of AdamW from attention matrices of standard
// deviation 1e-4. The paper states alpha = 1 and a standard deviation of 0.01,
// and no weight decay.
func (m MultiParent) Spec(seed int) train.Spec {
	k, err := m.Graph.Uniform()
	if err != nil {
		panic(err)
	}
	return train.Spec{
		Nodes: m.Graph.Parents(), States: 5, Prior: "dirichlet(0.1)", Roots: "dirichlet", Heads: k,
		Batch: 1024, Steps: 1 << 16, Rate: 0.01, Schedule: "cosine", Optimiser: "adamw", Decay: 1e-4, Init: 1e-4,
		Seed: uint64(seed), Test: 1 << 16, Every: 1 << 9,
	}
}

// MultiSpecs returns the specification of every run on graphs with several
// parents, the first seed of each graph first.
func MultiSpecs() []train.Spec {
	var specs []train.Spec
	for seed := range maxMultiSeeds() {
		for _, m := range MultiParents() {
			if seed < m.Seeds {
				specs = append(specs, m.Spec(seed))
			}
		}
	}
	return specs
}

func maxMultiSeeds() int {
	n := 0
	for _, m := range MultiParents() {
		n = max(n, m.Seeds)
	}
	return n
}

// LoadMulti loads or trains the runs of Figures 5 and 7, by graph and seed, and
// compares them with the reference predictors.
func LoadMulti(ctx context.Context, get Getter) ([][]*MultiRun, error) {
	var all [][]*MultiRun
	for _, m := range MultiParents() {
		var rs []*MultiRun
		for seed := range m.Seeds {
			r, err := get(ctx, m.Spec(seed))
			if err != nil {
				return nil, err
			}
			mr := NewMultiRun(m, r)
			if mr.Losses, err = mr.compare(MultiSequences); err != nil {
				return nil, err
			}
			rs = append(rs, mr)
		}
		all = append(all, rs)
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
	// Nodes are the positions with parents, the last one not included. At
	// those of Split each head has more than half of its attention on its own
	// parent; at those of Swapped this holds for another assignment.
	Nodes, Split, Swapped []int
	Losses                *MultiLosses // as LoadMulti finds it
}

// NewMultiRun matches the heads of a run with the parents of its graph.
func NewMultiRun(m MultiParent, r *runs.Run) *MultiRun {
	p, parents := r.Final.Weights.PositionAttentions(), m.Graph.Parents()
	last := m.Graph.T() - 1
	out := &MultiRun{Of: m, Run: r}
	for i, ps := range parents[:last] {
		if len(ps) > 0 {
			out.Nodes = append(out.Nodes, i)
		}
	}
	all, best := permutations(len(p)), -1.0
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
	for l, h := range out.Head {
		row := make([]float64, last+1)
		for i, ps := range parents[:last+1] {
			if len(ps) > 0 {
				row[i] = p[h][i][ps[l]]
			}
		}
		out.Attention = append(out.Attention, row)
	}
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

// permutations returns all orders of 0, ..., n-1, the identity first.
func permutations(n int) [][]int {
	if n == 0 {
		return [][]int{nil}
	}
	var all [][]int
	for at := n - 1; at >= 0; at-- {
		for _, p := range permutations(n - 1) {
			q := append(append(append([]int(nil), p[:at]...), n-1), p[at:]...)
			all = append(all, q)
		}
	}
	return all
}

// On returns the mean over the nodes of the attention that the head matched
// with parent l has on it.
func (m *MultiRun) On(l int) float64 {
	sum := 0.0
	for _, i := range m.Nodes {
		sum += m.Attention[l][i]
	}
	return sum / float64(len(m.Nodes))
}

// Agreement returns the mean of On over the heads.
func (m *MultiRun) Agreement() float64 {
	sum := 0.0
	for l := range m.Head {
		sum += m.On(l)
	}
	return sum / float64(len(m.Head))
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
	tk, err := spec.Multi()
	if err != nil {
		return nil, err
	}
	b, err := spec.TestSet()
	if err != nil {
		return nil, err
	}
	e := spec.NewEngine()
	e.Load(m.Run.Final.Weights)
	pass := e.NewPass()
	trained := make([]float64, n)
	for i := range n {
		x, y := b.Seq(i)
		trained[i] = pass.Loss(x, y, nil)
	}
	edges := task.Losses(b, tk.Posterior)
	l := &MultiLosses{Sequences: n, Model: mean(trained), Edges: mean(edges), ModelLessEdges: paired(trained, edges)}
	for k := range m.Head {
		l.OneParent = append(l.OneParent, mean(task.Losses(b, func(f []float64, x []int) { tk.OneParent(f, x, k) })))
	}
	return l, nil
}

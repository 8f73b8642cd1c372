package experiment

import (
	"context"

	"gonum.org/v1/gonum/floats"

	"learncausal/pkg/graph"
	"learncausal/pkg/model"
	"learncausal/pkg/num"
	"learncausal/pkg/runs"
	"learncausal/pkg/train"
)

// RandomGraph returns the random causal graph of Figures 6 and 8, as the authors' released seed draws it.
func RandomGraph() *graph.Forest {
	return graph.MustNew(-1, -1, 1, -1, -1, 4, -1, 5, 3, 4, 8, 6, 1, 3, 5, -1, 6, 1, 3, -1)
}

// SingleParent is one of the three settings of Figures 2 and 6.
type SingleParent struct {
	Name  string // chain, icl or random
	Title string
	Graph *graph.Forest
}

// SingleParents returns the settings of Figure 6, in its order.
func SingleParents() []SingleParent {
	return []SingleParent{
		{"chain", "Markov chain", graph.Chain(20)},
		{"icl", "In-context learning", graph.InContext(20)},
		{"random", "Random causal graph", RandomGraph()},
	}
}

// SingleParentNamed returns the setting of a name: chain, icl or random.
func SingleParentNamed(name string) (SingleParent, error) {
	return named("setting of Figure 6", SingleParents(), func(s SingleParent) string { return s.Name }, name)
}

// Spec returns the authors' setting: S=10, T=20, rows Dirichlet(0.1), 2^17 steps on 1024 fresh
// sequences each, learning rate 1 with cosine decay, zero initialisation, 2^16 test sequences.
func (s SingleParent) Spec() train.Spec {
	return train.Spec{
		Task:      train.Task1{Parents: s.Graph.Parents(), States: 10, Prior: "dirichlet(0.1)"},
		Model:     train.Disentangled{Heads: [2]int{1, 1}},
		Optimiser: train.SGD{Rate: 1, Schedule: train.Cosine},
		Batch:     1024, Steps: 1 << 17, Test: 1 << 16, Every: 1 << 10,
	}
}

// A SingleRun is the run of one of the settings of Figures 2 and 6.
type SingleRun struct {
	SingleParent
	Run    *runs.Run
	Losses *Losses // set by [SingleParentLosses]
}

// LoadSingleParents loads or trains the runs of the settings.
func LoadSingleParents(ctx context.Context, get Getter, settings ...SingleParent) ([]SingleRun, error) {
	return each(ctx, settings, func(ctx context.Context, s SingleParent) (SingleRun, error) {
		r, err := get(ctx, s.Spec())
		return SingleRun{SingleParent: s, Run: r}, err
	})
}

// Weights returns the trained weights.
func (r SingleRun) Weights() *model.Weights { return r.Run.Final.Disentangled() }

// Recovered returns the number of edges p(i) -> i with argmax_j S(A1)_ij = p(i), and the number of all edges.
func (r SingleRun) Recovered() (found, edges int) {
	attention := r.Weights().PositionAttention()
	for _, e := range r.Graph.Edges() {
		if floats.MaxIdx(attention.RawRowView(e[1])) == e[0] {
			found++
		}
	}
	return found, len(r.Graph.Edges())
}

// Sparsity returns the sparsity pattern of the trained weights.
func (r SingleRun) Sparsity() Sparsity { return measureSparsity(r.Weights(), r.Graph) }

// TestLoss returns the loss of the final model on all its test sequences.
func (r SingleRun) TestLoss(ctx context.Context) (num.Estimate, error) {
	b, err := r.Run.Spec.TestSet()
	if err != nil {
		return num.Estimate{}, err
	}
	losses, err := modelLosses(ctx, r.Run, b)
	if err != nil {
		return num.Estimate{}, err
	}
	return num.Average(losses), nil
}

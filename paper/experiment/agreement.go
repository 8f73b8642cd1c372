package experiment

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"learncausal/internal/engine"
	"learncausal/pkg/markov"
	"learncausal/pkg/model"
	"learncausal/pkg/num"
	"learncausal/pkg/runs"
	"learncausal/pkg/task"
	"learncausal/pkg/train"
)

// An Agreement compares a trained model with the construction of its graph in the
// exact limit, on test sequences of the run. TV is the total-variation distance
// 1/2 sum |p - q|, averaged over the sequences.
type Agreement struct {
	Name      string // such as chain, many-graphs or trigram-seed-0
	Title     string
	Runs      []string
	Sequences int

	First   float64      // mean attention of the first layer on the parents, heads as matched
	Matched num.Estimate // share of the sequences for which the empirical transition is defined
	// On these: overlap 1 - TV of the query's attention in the second layer and the
	// construction's.
	Second    num.Estimate
	Limit     num.Estimate // on these: TV of the predictions and the construction's limit
	All       num.Estimate // the same on all sequences
	Posterior num.Estimate // on all: TV of the predictions and the posterior mean given the edges
}

// AgreementSequences is the number of test sequences of a comparison.
const AgreementSequences = 1 << 11

// compareConstruction compares a run with the construction of its graph on the
// first n of its test sequences: Construction 1 for a run of Task 1, Construction
// 2 for one of Task 2.
func compareConstruction(ctx context.Context, r *runs.Run, n int, name, title string) (*Agreement, error) {
	spec := r.Spec
	spec.Test = n
	b, err := spec.TestSet()
	if err != nil {
		return nil, err
	}
	switch of := spec.Task.(type) {
	case train.Task1:
		tk, err := of.New()
		if err != nil {
			return nil, err
		}
		prior, ok := tk.Prior.(*markov.Dirichlet)
		if !ok {
			return nil, fmt.Errorf("experiment: the posterior mean is that of a Dirichlet prior, not of %s", of.Prior)
		}
		a, err := agreement(ctx, model.ConstructionOne(tk.Graph, prior.S), r, b, func(f []float64, x []int) {
			task.PosteriorGivenEdges(f, tk.Graph, prior.Alpha, x)
		})
		if err != nil {
			return nil, err
		}
		a.Name, a.Title, a.First = name, title, spec.Attention(r.Final.Weights)
		return a, nil
	case train.Task2:
		tk, err := of.New()
		if err != nil {
			return nil, err
		}
		a, err := agreement(ctx, model.ConstructionTwo(tk.Graph, tk.Prior.S), r, b, tk.Posterior)
		if err != nil {
			return nil, err
		}
		m := NewMultiRun(tk.Graph, r)
		a.Name, a.Title, a.First = name, title, m.MeanAttention(m.Attention)
		return a, nil
	}
	return nil, fmt.Errorf("experiment: no construction for a %T", spec.Task)
}

// agreement compares on the sequences of a batch; names and First are left to the caller.
func agreement(
	ctx context.Context, c *model.Construction, r *runs.Run, b *task.Batch, posterior func(f []float64, x []int),
) (*Agreement, error) {
	w := r.Final.Disentangled()
	pass := engine.New(w).NewPass()
	f, g := make([]float64, b.S), make([]float64, b.S)
	uniform := make([]float64, b.T)
	var matched, second, limit, all, post []float64
	for k := range b.Len() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		x, y := b.Seq(k)
		pass.Loss(x, y, nil)
		c.Limit(f, x)
		distance := totalVariation(pass.Predictions(), f)
		all = append(all, distance)
		posterior(g, x)
		post = append(post, totalVariation(pass.Predictions(), g))
		if !c.Empirical(g, x) {
			matched = append(matched, 0)
			continue
		}
		matched = append(matched, 1)
		limit = append(limit, distance)
		clear(uniform)
		at := c.Attended(x)
		for _, i := range at {
			uniform[i] = 1 / float64(len(at))
		}
		second = append(second, 1-totalVariation(QueryAttention(w, x), uniform))
	}
	return &Agreement{
		Runs: []string{r.Address}, Sequences: b.Len(),
		Matched: num.Average(matched), Second: num.Average(second), Limit: num.Average(limit),
		All: num.Average(all), Posterior: num.Average(post),
	}, nil
}

func totalVariation(p, q []float64) float64 {
	sum := 0.0
	for a := range p {
		sum += math.Abs(p[a] - q[a])
	}
	return sum / 2
}

// QueryAttention returns the attention of the last position in the second layer
// of a disentangled transformer, S(h1 A2^T h1_{T-1}), on the sequence x.
func QueryAttention(w *model.Weights, x []int) []float64 {
	first := &model.Weights{S: w.S, T: w.T, A: w.A[:1]}
	h := first.Stream(x)
	_, d := h.Dims()
	var q, score mat.VecDense
	q.MulVec(mat.NewDense(d, d, w.A[1][0]).T(), h.RowView(w.T-1))
	score.MulVec(h, &q)
	p := score.RawVector().Data
	num.Softmax(p, p)
	return p
}

// SingleParentAgreements compares the runs of Figure 6 with their constructions.
func SingleParentAgreements(ctx context.Context, rs []SingleRun) ([]*Agreement, error) {
	return each(ctx, rs, func(ctx context.Context, r SingleRun) (*Agreement, error) {
		return compareConstruction(ctx, r.Run, AgreementSequences, r.Name, r.Title)
	})
}

// ManyGraphsAgreement compares the runs on the 20 graphs with their constructions, and
// returns the mean over the graphs.
func ManyGraphsAgreement(ctx context.Context, rs []*runs.Run) ([]*Agreement, error) {
	graphs, err := each(ctx, rs, func(ctx context.Context, r *runs.Run) (*Agreement, error) {
		return compareConstruction(ctx, r, AgreementSequences/8, "", "") // only their mean is named
	})
	if err != nil {
		return nil, err
	}
	mean := averaged(graphs)
	mean.Name, mean.Title = "many-graphs", fmt.Sprintf("%d random, S = 3", len(graphs))
	return []*Agreement{mean}, nil
}

// MultiParentAgreements compares the runs with several parents with their
// constructions.
func MultiParentAgreements(ctx context.Context, ms []MultiResult) ([]*Agreement, error) {
	all, err := each(ctx, ms, func(ctx context.Context, m MultiResult) ([]*Agreement, error) {
		return each(ctx, m.Runs, func(ctx context.Context, r *MultiRun) (*Agreement, error) {
			seed := r.Run.Spec.Seed
			name, title := fmt.Sprintf("%s-seed-%d", m.Name, seed), fmt.Sprintf("%s, seed %d", m.Short, seed)
			return compareConstruction(ctx, r.Run, AgreementSequences, name, title)
		})
	})
	return slices.Concat(all...), err
}

// averaged returns the mean of comparisons on equally many sequences.
func averaged(as []*Agreement) *Agreement {
	out := &Agreement{}
	n := float64(len(as))
	average := func(of func(*Agreement) num.Estimate) num.Estimate {
		var e num.Estimate
		for _, a := range as {
			e.Mean += of(a).Mean / n
			e.StdErr += of(a).StdErr * of(a).StdErr
		}
		e.StdErr = math.Sqrt(e.StdErr) / n
		return e
	}
	for _, a := range as {
		out.Runs = append(out.Runs, a.Runs...)
		out.Sequences += a.Sequences
		out.First += a.First / n
	}
	out.Matched = average(func(a *Agreement) num.Estimate { return a.Matched })
	out.Second = average(func(a *Agreement) num.Estimate { return a.Second })
	out.Limit = average(func(a *Agreement) num.Estimate { return a.Limit })
	out.All = average(func(a *Agreement) num.Estimate { return a.All })
	out.Posterior = average(func(a *Agreement) num.Estimate { return a.Posterior })
	return out
}

package figures

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"learncausal/internal/engine"
	"learncausal/paper/trial"
	"learncausal/pkg/graph"
	"learncausal/pkg/model"
	"learncausal/pkg/num"
	"learncausal/pkg/runs"
	"learncausal/pkg/task"
	"learncausal/pkg/train"
)

// An Agreement compares a trained model with the construction of its graph in the exact limit, on test
// sequences of the run. TV is the total-variation distance 1/2 sum |p - q|, averaged over the sequences.
type Agreement struct {
	Name      string // such as chain, many-graphs or trigram-seed-0
	Title     string
	Runs      []string
	Sequences int

	First   float64      // mean attention of the first layer on the parents, heads as matched
	Matched num.Estimate // share of the sequences for which the empirical transition is defined
	// Second is 1 - TV of the query's attentions in the second layer, on the matched sequences.
	Second    num.Estimate
	Limit     num.Estimate // TV of the predictions and the construction's limit, on the matched sequences
	All       num.Estimate // the same on all sequences
	Posterior num.Estimate // TV of the predictions and the posterior mean given the edges, on all sequences
}

// agreementSequences is the number of test sequences of a comparison.
const agreementSequences = 1 << 11

// compareConstruction compares a run with Construction 1 or 2 of its graph, by its task, on the
// first n of its test sequences.
func compareConstruction(ctx context.Context, r *runs.Run, n int, name, title string) (*Agreement, error) {
	spec := r.Spec
	b, err := trial.TestSequences(spec, n)
	if err != nil {
		return nil, err
	}
	posterior, err := trial.EdgesPredictor(spec)
	if err != nil {
		return nil, err
	}
	var c *model.Construction
	var first float64
	switch of := spec.Task.(type) {
	case train.Task1:
		c, first = model.ConstructionOne(graph.MustNew(of.Parents...), of.States), spec.Attention(r.Final.Weights)
	case train.Task2:
		tk, err := of.New()
		if err != nil {
			return nil, err
		}
		m := NewMultiRun(tk.Graph, r)
		c, first = model.ConstructionTwo(tk.Graph, of.States), m.MeanAttention(m.Attention)
	}
	a, err := agreement(ctx, c, r, b, posterior)
	if err != nil {
		return nil, err
	}
	a.Name, a.Title, a.First = name, title, first
	return a, nil
}

// agreement compares a run with its construction on the sequences of a batch. The
// caller sets Name, Title and First.
func agreement(
	ctx context.Context, c *model.Construction, r *runs.Run, b *task.Batch, posterior trial.Predictor,
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

func totalVariation(p, q []float64) float64 { return floats.Distance(p, q, 1) / 2 }

// QueryAttention returns the attention of the last position in the second layer
// of a disentangled transformer, S(h1 A2^T h1_{T-1}), on the sequence x.
func QueryAttention(w *model.Weights, x []int) []float64 {
	first := &model.Weights{S: w.S, T: w.T, A: w.A[:1]}
	h := first.Stream(x)
	var q, score mat.VecDense
	q.MulVec(w.A[1][0].T(), h.RowView(w.T-1))
	score.MulVec(h, &q)
	p := score.RawVector().Data
	num.Softmax(p, p)
	return p
}

// Agreements compares the runs of Figure 6, on the 20 graphs and with several parents with
// their constructions. The 20 graphs have one Agreement, their mean.
func Agreements(
	ctx context.Context, singles []SingleRun, many []*runs.Run, multis []MultiResult,
) ([]*Agreement, error) {
	type comparison struct {
		run         *runs.Run
		sequences   int
		name, title string
	}
	var all []comparison
	for _, r := range singles {
		all = append(all, comparison{r.Run, agreementSequences, r.Name, r.Title})
	}
	for _, r := range many {
		all = append(all, comparison{run: r, sequences: agreementSequences / 8})
	}
	for _, m := range multis {
		for _, r := range m.Runs {
			seed := r.Run.Spec.Seed
			name, title := fmt.Sprintf("%s-seed-%d", m.Name, seed), fmt.Sprintf("%s, seed %d", m.Short, seed)
			all = append(all, comparison{r.Run, agreementSequences, name, title})
		}
	}
	out, err := trial.Each(ctx, all, func(ctx context.Context, c comparison) (*Agreement, error) {
		return compareConstruction(ctx, c.run, c.sequences, c.name, c.title)
	})
	if err != nil {
		return nil, err
	}
	i, j := len(singles), len(singles)+len(many)
	mean := averaged(out[i:j])
	mean.Name, mean.Title = "many-graphs", fmt.Sprintf("%d random, S = 3", len(many))
	return slices.Replace(out, i, j, mean), nil
}

// averaged returns the mean of comparisons on equally many sequences.
func averaged(as []*Agreement) *Agreement {
	out := &Agreement{}
	n := float64(len(as))
	estimates := func(a *Agreement) []*num.Estimate {
		return []*num.Estimate{&a.Matched, &a.Second, &a.Limit, &a.All, &a.Posterior}
	}
	for _, a := range as {
		out.Runs = append(out.Runs, a.Runs...)
		out.Sequences += a.Sequences
		out.First += a.First / n
		for k, e := range estimates(out) {
			of := estimates(a)[k]
			e.Mean += of.Mean / n
			e.StdErr += of.StdErr * of.StdErr
		}
	}
	for _, e := range estimates(out) {
		e.StdErr = math.Sqrt(e.StdErr) / n
	}
	return out
}

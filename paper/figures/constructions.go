package figures

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"learncausal/internal/figure"
	"learncausal/internal/runs"
	"learncausal/paper/trial"
	"learncausal/pkg/graph"
	"learncausal/pkg/model"
	"learncausal/pkg/num"
	"learncausal/pkg/task"
	"learncausal/pkg/train"
)

// A ConstructionError has mean total-variation distances over all S^T sequences, with equal weights.
type ConstructionError struct {
	Finite  float64 // between the construction at finite scales and its exact limit
	Largest float64 // the largest of these distances, in place of their mean
	Limit   float64 // between the limit and the empirical transition, over the sequences where it is defined
	Total   float64 // between the construction at finite scales and the empirical transition
}

// ConstructionErrors enumerates all sequences, with beta1 = beta2 = beta.
func ConstructionErrors(c *model.Construction, beta float64) ConstructionError {
	var e ConstructionError
	w := c.Weights(beta, beta)
	limit, empirical := make([]float64, c.S), make([]float64, c.S)
	n, defined := 0.0, 0.0
	for x := range task.Sequences(c.S, w.T) {
		f := w.Linear(x).RawRowView(w.T - 1)
		c.Limit(limit, x)
		distance := totalVariation(f, limit)
		e.Finite += distance
		e.Largest = max(e.Largest, distance)
		n++
		if c.Empirical(empirical, x) {
			e.Limit += totalVariation(limit, empirical)
			e.Total += totalVariation(f, empirical)
			defined++
		}
	}
	return ConstructionError{e.Finite / n, e.Largest, e.Limit / defined, e.Total / defined}
}

// constructionErrorFigure draws the distance of both constructions from the empirical
// transition, by scale and length.
func constructionErrorFigure() *figure.Figure {
	var betas []float64
	for b := 1.0; b < 33; b *= math.Sqrt2 {
		betas = append(betas, b)
	}
	const states = 2
	var row []figure.Panel
	for _, k := range []struct {
		title string
		of    func(t int) *model.Construction
	}{
		{"Construction 1, chain", func(t int) *model.Construction { return model.ConstructionOne(graph.Chain(t), states) }},
		{"Construction 2, 3-gram", func(t int) *model.Construction {
			return model.ConstructionTwo(graph.NGram(t, 2), states)
		}},
	} {
		a := &figure.Axes{
			Title: figure.Text(k.title), Ends: true,
			X: figure.Axis{Label: figure.Label{Text: "Scale β", TeX: `Scale $\beta$`}, Log: true},
			Y: figure.Axis{Label: figure.Text("Mean total variation"), Min: 0, Max: 0.4},
		}
		for _, t := range []int{6, 8, 10} {
			s := figure.Series{Label: lengthLabel(t), X: betas}
			for _, b := range betas {
				s.Y = append(s.Y, ConstructionErrors(k.of(t), b).Total)
			}
			a.Series = append(a.Series, s)
		}
		row = append(row, a)
	}
	return figure.OneRow(figure.TwoColumns,
		"Error against the scale for two constructions and three lengths: each curve falls until a scale of "+
			"about 10 and is flat from there, the lower the longer the sequence.",
		`Error of the constructions against the empirical transition, by the scale `+
			`$\beta_1=\beta_2=\beta$: total-variation distance averaged over all sequences of `+inWords(states)+` tokens for which `+
			`it is defined, by enumeration. What remains as $\beta$ grows is the distance of the exact limit: `+
			`roots, and in Construction 2 the query itself, are counted along.`, row...)
}

func agreementTable(as []*Agreement) *figure.Table {
	many := as[slices.IndexFunc(as, func(a *Agreement) bool { return a.Name == "many-graphs" })]
	t := figure.NewTable(
		fmt.Sprintf(`Trained against constructed, with standard errors over %d test sequences (%d on the `+
			`random graphs together). Layer 1: mean attention on the parents. Matched: share of the sequences in `+
			`which some parent has the query's token, so that the empirical transition is defined. On these: `+
			`overlap of the query's attention in layer 2 with the construction's, and total-variation distance of `+
			`the trained prediction to the construction's exact limit. On all sequences: the same distance, and `+
			`that to the posterior mean given the edges.`, as[0].Sequences, many.Sequences),
		"Graph", "Layer 1", "Matched", "Layer 2", "To limit", "all", "To posterior")
	pm := func(e num.Estimate) figure.Cell { return figure.PlusMinus(e.Mean, e.StdErr, 3) }
	for _, a := range as {
		t.Add(a.Title, a.First, a.Matched.Mean, pm(a.Second), pm(a.Limit), pm(a.All), pm(a.Posterior))
	}
	return t
}

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
	p := train.NewPredictor(w)
	f, g := make([]float64, b.S), make([]float64, b.S)
	uniform := make([]float64, b.T)
	var matched, second, limit, all, post []float64
	for k := range b.Len() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		x, _ := b.Seq(k)
		predicted, _ := p.Predict(x, nil)
		c.Limit(f, x)
		distance := totalVariation(predicted, f)
		all = append(all, distance)
		posterior(g, x)
		post = append(post, totalVariation(predicted, g))
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

// agreements compares the runs of Figure 6, on the 20 graphs and with several parents with
// their constructions. The 20 graphs have one Agreement, their mean.
func agreements(ctx context.Context, r *Results) ([]*Agreement, error) {
	return once(r, "agreements", func() ([]*Agreement, error) {
		singles, err1 := SingleRuns(ctx, r)
		many, err2 := manyRuns(ctx, r)
		multis, err3 := multiRuns(ctx, r)
		if err := errors.Join(err1, err2, err3); err != nil {
			return nil, err
		}
		return newAgreements(ctx, singles, many, multis)
	})
}

func newAgreements(
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

package figures

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"learncausal/internal/figure"
	"learncausal/internal/runs"
	"learncausal/paper/trial"
	"learncausal/pkg/graph"
	"learncausal/pkg/model"
	"learncausal/pkg/num"
	"learncausal/pkg/train"
)

// constructionErrorFigure draws the distance of both constructions from the empirical
// transition, by scale and length.
func constructionErrorFigure() *figure.Figure {
	var betas []float64
	for b := 1.0; b < 33; b *= math.Sqrt2 {
		betas = append(betas, b)
	}
	const states = 2
	var row []*figure.Panel
	for _, k := range []struct {
		title string
		of    func(t int) *model.Construction
	}{
		{"Construction 1, chain", func(t int) *model.Construction { return model.ConstructionOne(graph.Chain(t), states) }},
		{"Construction 2, 3-gram", func(t int) *model.Construction {
			return model.ConstructionTwo(graph.NGram(t, 2), states)
		}},
	} {
		a := figure.New(k.title).Axes(`Scale $\beta$`, "Mean total variation").YRange(0, 0.4)
		a.Log(&a.X)
		for i, t := range []int{6, 8, 10} {
			var y []float64
			for _, b := range betas {
				y = append(y, trial.ConstructionErrors(k.of(t), b).Total)
			}
			a.Curve(i, lengthLabel(t), betas, y)
		}
		a.Ends()
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

func agreementTable(as []*trial.Agreement) *figure.Table {
	many := as[slices.IndexFunc(as, func(a *trial.Agreement) bool { return a.Name == "many-graphs" })]
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

// agreementSequences is the number of test sequences of a comparison.
const agreementSequences = 1 << 11

// compareConstruction compares a run with Construction 1 or 2 of its graph, by its task, on the
// first n of its test sequences.
func compareConstruction(ctx context.Context, r *runs.Run, n int, name, title string) (*trial.Agreement, error) {
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
	a, err := trial.Agree(ctx, c, r, b, posterior)
	if err != nil {
		return nil, err
	}
	a.Name, a.Title, a.First = name, title, first
	return a, nil
}

// agreements compares the runs of Figure 6, on the 20 graphs and with several parents with
// their constructions. The 20 graphs have one Agreement, their mean.
func agreements(ctx context.Context, r *Results) ([]*trial.Agreement, error) {
	return once(r, "agreements", func() ([]*trial.Agreement, error) {
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
) ([]*trial.Agreement, error) {
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
	out, err := trial.Each(ctx, all, func(ctx context.Context, c comparison) (*trial.Agreement, error) {
		return compareConstruction(ctx, c.run, c.sequences, c.name, c.title)
	})
	if err != nil {
		return nil, err
	}
	i, j := len(singles), len(singles)+len(many)
	mean := trial.MeanAgreement(out[i:j])
	mean.Name, mean.Title = "many-graphs", fmt.Sprintf("%d random, S = 3", len(many))
	return slices.Replace(out, i, j, mean), nil
}

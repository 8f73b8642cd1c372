package figures

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"learncausal/internal/figure"
	"learncausal/internal/names"
	"learncausal/paper/account"
	"learncausal/paper/ledger"
)

// An Output is a figure, a table or a list of numbers. Export writes its files and returns their paths.
type Output interface {
	Export(dir string) (paths []string, err error)
}

// An Entry of the registry is an [Output] with its id.
type Entry struct {
	ID      string // its files are ID.png, ...
	Title   string
	Formats []string // extensions of its files
	Draw    func(ctx context.Context, r *Results) (Output, error)
}

// entry returns an Entry. Draw sets the id of a figure or table, and the title of a figure.
func entry[O Output](id, title string, draw source[O]) Entry {
	e := Entry{ID: id, Title: title, Formats: []string{"tex", "csv"}}
	switch any(*new(O)).(type) {
	case *figure.Figure:
		e.Formats = []string{"png", "pdf", "tex", "csv"}
	case figure.Numbers:
		e.Formats = []string{"tex"}
	case account.Files:
		e.Formats = []string{"tex", "csv", "json", "dot"}
	case account.Document:
		e.Formats = []string{"tex", "pdf"}
	case account.Style:
		e.Formats = []string{"sty"}
	}
	e.Draw = func(ctx context.Context, r *Results) (Output, error) {
		out, err := draw(ctx, r)
		if err != nil {
			return nil, fmt.Errorf("figures: %s: %w", id, err)
		}
		switch o := Output(out).(type) {
		case *figure.Figure:
			o.ID, o.Title = id, title
		case *figure.Table:
			o.ID = id
		}
		return out, nil
	}
	return e
}

// drawing marks a figure without data, which has no CSV.
func drawing(e Entry) Entry {
	e.Formats = e.Formats[:3]
	return e
}

// Entries returns the registry: figures, tables and lists, each in the order of the
// document that shows them all.
func Entries() []Entry { return slices.Concat(figures(), tables(), lists()) }

// figures, tables and lists are three functions, so that a program that draws one figure does not link the tables.
func figures() []Entry {
	return []Entry{
		entry("fig-graph-example", "The paper's example of a causal graph (Figure 1)", alone(graphExample)),

		drawing(entry("fig-worked-example", "The prediction by hand, in three steps", alone(workedExample))),
		drawing(entry("fig-stream", "The residual stream and which blocks each matrix reads", alone(streamDiagram))),

		entry("fig-induction-head", "Weights after training on the in-context-learning graph (Figure 2)",
			tried(SingleRuns, inductionHead)),
		entry("fig-single-parent", "Adjacency and attention matrices of three graphs (Figure 6)",
			then(SingleRuns, singleParentFigure)),

		entry("fig-many-graphs", "Attention on the parent by position, on 20 graphs (Figure 9)",
			then(comparison, manyGraphsFigure)),
		entry("fig-many-graphs-by-graph", "Mean attention on the parents by graph", then(comparison, byGraphFigure)),

		entry("fig-single-parent-loss", "Test loss along training on three graphs",
			then(SingleParentLosses, lossFigure)),

		entry("fig-multi-parent", "Attention of each head on graphs with several parents (Figure 5)",
			then(multiRuns, headsFigure)),
		entry("fig-multi-parent-full", "All first-layer weights on graphs with several parents (Figure 7)",
			then(multiRuns, headWeightsFigure)),
		entry("fig-multi-parent-printed", "Attention of each head in the setting that the paper prints",
			then(printedRuns, printedHeadsFigure)),

		entry("fig-mlp", "First-layer attention of the transformer with MLPs (Figure 8)",
			then(mlpRuns, mlpFigure)),

		drawing(entry("fig-forward-pass", "Forward pass of Construction 1 on a sequence (Figure 3)",
			alone(forwardPassFigure))),
		entry("fig-construction-error", "Error of the constructions by scale and length",
			alone(constructionErrorFigure)),

		entry("fig-proof-sketch", "Why descent finds the parent (Figure 4)", alone(proofSketch)),
		entry("fig-gij", "Idealized gradient beside the adjacency matrix, four graphs", alone(gradientMap)),
		entry("fig-stage-one", "Stage 1 of Algorithm 1 on a random graph", stageOneFigure),
		entry("fig-ghat-beta", "Force on beta in stage 2", then(Algorithms, gHatBetaFigure)),
		entry("fig-beta-growth", "Growth of beta in stage 2", then(Algorithms, betaGrowthFigure)),
		entry("fig-why-it-stops", "Error and force against beta in stage 2", then(Algorithms, whyItStopsFigure)),
		entry("fig-loss-gap", "Excess loss after Algorithm 1 by effective length",
			then(LossGaps, lossGapFigure)),
		entry("fig-ood", "Error on a transition matrix outside of the prior",
			then(OutOfDistribution, oodFigure)),
		entry("fig-finite-samples", "Gradient of stage 1 from samples", finiteSampleFigure),
		entry("fig-sample-size", "Sequences with which stage 1 finds every parent", sampleSizeFigure),

		entry("fig-one-draw", "The mean over the 20 graphs that one run of each gives",
			then(bothEnsembles, oneDrawFigure)),
		entry("fig-stages", "Losses along training on two n-grams, between those of shorter contexts",
			stagesFigure),
		entry("fig-certified-model", "Two trained models on every sequence, beyond the paper", certifiedModelFigure),
		entry("fig-lengths", "Theorem 1 at given lengths", lengthsFigure),
		entry("fig-joint", "Joint training against what might predict it", then(joint, jointFigure)),

		drawing(entry("fig-covariance-paths", "Two positions and their common ancestor", alone(covariancePaths))),
		drawing(entry("fig-headline", "The ledger by section", then(fullLedger, account.Bars))),
		drawing(entry("fig-ledger", "Margin of every statement", then(fullLedger, account.Margins))),
	}
}

func tables() []Entry {
	return []Entry{
		entry("tab-single-parent-blocks", "Blocks of the trained weights against their targets",
			then(SingleRuns, blocksTable)),
		entry("tab-single-parent-losses", "Losses on three graphs beside the reference predictors",
			then(SingleParentLosses, lossTable)),
		entry("tab-many-graphs", "Mean attention on the parents of the 20 graphs", then(comparison, manyGraphsTable)),
		entry("tab-many-graphs-printed", "The printed runs on the 20 graphs, replayed on their sequences",
			then(replays, printedTable)),
		entry("tab-many-graphs-losses", "Losses on the 20 graphs beside the reference predictors",
			then(ManyGraphsLosses, manyGraphsLossTable)),
		entry("tab-unlearned-edges", "Edges that some run on the 20 graphs did not learn",
			then(comparison, unlearnedTable)),
		entry("tab-multi-parent", "Runs with several parents: attention and losses", then(multiLosses, multiTable)),
		entry("tab-mlp", "Average first-layer attention of the transformer with MLPs", then(mlpRuns, mlpTable)),
		entry("tab-mlp-losses", "Losses of the transformer with MLPs beside the reference predictors",
			then(MLPLosses, mlpLossTable)),
		entry("tab-joint", "Joint training and Algorithm 1 on families of graphs", then(joint, jointTable)),
		entry("tab-joint-predicts", "What predicts joint training", then(joint, predictTable)),
		entry("tab-constructions", "Trained models against the constructions", then(agreements, agreementTable)),
	}
}

// lists are the ledger and its erratum, the summary, and the numbers.
func lists() []Entry {
	return []Entry{
		entry("claims", "The ledger of all statements", ledgerFiles),
		entry("errata", "A letter: corrections proposed for the paper", then(fullLedger, account.Letter)),
		entry("supplement", "Witnesses and proofs for the letter", then(fullLedger, account.Supplement)),
		entry("ledger", "Verdicts in the margin of a LaTeX document", marginStyle),
		entry("summary", "What the paper says of its figures and numbers, with verdicts", summary()),
		entry("values", "The numbers of the summary and of the tables as LaTeX macros", numbers),
	}
}

// fullLedger returns the stored ledger: running all checks takes minutes.
func fullLedger(_ context.Context, r *Results) (*ledger.Ledger, error) {
	return once(r, "ledger", account.Stored)
}

func ledgerFiles(ctx context.Context, r *Results) (account.Files, error) {
	l, err := fullLedger(ctx, r)
	if err != nil {
		return account.Files{}, err
	}
	return account.NewFiles(l)
}

func marginStyle(ctx context.Context, r *Results) (account.Style, error) {
	l, err1 := fullLedger(ctx, r)
	s, err2 := r.Summary(ctx, "num-avg-attn", "num-avg-attn-sd")
	if err := errors.Join(err1, err2); err != nil {
		return "", err
	}
	return account.NewStyle(l, s.Numbers())
}

// Select returns the entries of ids. An id may pick panels of a figure, as in fig-mlp:a,d.
func Select(ids ...string) ([]Entry, error) {
	all := Entries()
	var entries []Entry
	for _, id := range ids {
		id, letters, picked := strings.Cut(id, ":")
		e, err := find("nothing", all, id)
		if err != nil {
			return nil, err
		}
		if picked {
			e = e.Pick(letters)
		}
		entries = append(entries, e)
	}
	return entries, nil
}

// find returns the entry of an id. The error for an unknown id begins with prefix and lists similar ids.
func find(prefix string, entries []Entry, id string) (Entry, error) {
	if i := slices.IndexFunc(entries, func(e Entry) bool { return e.ID == id }); i >= 0 {
		return entries[i], nil
	}
	ids := mapped(entries, func(e Entry) string { return e.ID })
	return Entry{}, fmt.Errorf("figures: %s has the id %q; near it: %s (paper list shows all)",
		prefix, id, strings.Join(names.Nearest(id, ids), ", "))
}

// numbers returns the numbers of the summary that belong to no figure, the counts of the ledger, and the numbers of
// the tables.
func numbers(ctx context.Context, r *Results) (ns figure.Numbers, err error) {
	s, err1 := r.Summary(ctx)
	l, err2 := fullLedger(ctx, r)
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	ns = append(s.Numbers(), account.Numbers(l)...)
	for _, e := range tables() {
		t, err := r.Table(ctx, e.ID)
		if err != nil {
			return nil, err
		}
		ns = append(ns, t.Numbers()...)
	}
	return ns, nil
}

// rowGroups returns the rows of the summary: each group with its notebook, what makes its runs again, and the ids of
// its rows, where these are few. Times are those of one core in environment.md.
func rowGroups() []rowGroup {
	const (
		cell    = "a cell"
		single  = "train: 3 runs, 15 min"
		several = "train: 10 runs, 1.5 h"
		mlp     = "train: 27 runs, 25 min"
	)
	return []rowGroup{
		{"01-task", cell, []string{"fig-graph-example"}, alone(exampleRows)},
		{"03-single-parent", single, []string{"fig-induction-head", "fig-single-parent"}, then(SingleRuns, weightRows)},
		{"03-single-parent", "sweep single-parent: 9 runs, 45 min", []string{"fig-single-parent"}, variedRows},
		{"02-model", cell, []string{"fig-forward-pass"}, alone(forwardPassRows)},
		{"05-information", cell, []string{"fig-proof-sketch"}, alone(sketchRows)},
		{
			"11-several-parents", "sweep several-parents: 45 runs, 7 h",
			[]string{"fig-multi-parent", "fig-multi-parent-printed"},
			splitRows,
		},
		{"11-several-parents", several, []string{"fig-multi-parent-full"}, then(multiRuns, outsideRows)},
		{"12-standard-transformer", "sweep figure-8: 200 runs, 2.5 h", []string{"fig-mlp"}, then(mlpRuns, mlpRows)},
		{"12-standard-transformer", "sweep figure-8-printed: 1 run, 2 min", []string{"fig-mlp"}, mlpReplayRows},
		{
			"04-many-graphs", "sweep figure-9: 1000 runs, 8 h",
			[]string{"fig-many-graphs", "num-avg-attn", "num-avg-attn-sd"},
			then(comparison, comparisonRows),
		},
		{"04-many-graphs", "sweep figure-9-printed: 20 runs, 40 min", []string{"num-avg-attn"}, then(replays, printedRows)},
		{
			"04-many-graphs", "sweep figure-9-seeds: 40 runs, 75 min",
			[]string{"num-avg-attn"},
			then(bothEnsembles, releasedRows),
		},
		{"03-single-parent", single, nil, then(singleFinalLosses, finalLossRows)},
		{"11-several-parents", several, nil, then(multiFinalLosses, finalLossRows)},
		{"12-standard-transformer", mlp, nil, then(mlpFinalLosses, finalLossRows)},
		{"n1-known-mechanisms", "train: 2 runs, 1 min", nil, certifiedRows},
	}
}

package figures

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"learncausal/internal/figure"
	"learncausal/paper/ledger"
)

// An Output is a figure, a table or a list of numbers. Export writes its files and returns their paths.
type Output interface {
	Export(dir string) (paths []string, err error)
}

// An Entry of the registry is an [Output] with its id.
type Entry struct {
	ID    string // its files are ID.png, ...
	Title string
	Draw  func(ctx context.Context, r *Results) (Output, error)
}

// Formats returns the extensions of its files.
func (e Entry) Formats() []string {
	switch {
	case strings.HasPrefix(e.ID, "fig-"):
		return []string{"png", "svg", "pdf", "tex"}
	case e.ID == "numbers":
		return []string{"json", "tex"}
	case e.ID == "claims":
		return []string{"tex", "csv", "json", "dot"}
	case e.ID == "errata", e.ID == "supplement":
		return []string{"tex", "pdf"}
	case e.ID == "ledger":
		return []string{"sty"}
	}
	return []string{"tex", "csv"}
}

// entry returns an Entry. Draw sets the id of a figure or table, and title and alternative text of a figure.
func entry[O Output](id, title string, draw source[O]) Entry {
	return Entry{id, title, func(ctx context.Context, r *Results) (Output, error) {
		out, err := draw(ctx, r)
		if err != nil {
			return nil, fmt.Errorf("figures: %s: %w", id, err)
		}
		switch o := Output(out).(type) {
		case *figure.Figure:
			o.ID, o.Title, o.Alt = id, title, alts()[id]
		case *figure.Table:
			o.ID = id
		}
		return out, nil
	}}
}

// Entries returns the registry: figures, tables and lists, each in the order of the
// document that shows them all.
func Entries() []Entry { return slices.Concat(withNarrow(figures()), tables(), lists()) }

// figures, tables and lists are separate, so that the linker leaves out the code of the
// others in a program that draws a figure.
func figures() []Entry {
	return []Entry{
		entry("fig-graph-example", "The paper's example of a causal graph (Figure 1)", alone(graphExample)),

		entry("fig-worked-example", "The prediction by hand, in three steps", alone(workedExample)),
		entry("fig-stream", "The residual stream and which blocks each matrix reads", alone(streamDiagram)),

		entry("fig-induction-head", "Weights after training on the in-context-learning graph (Figure 2)",
			thenTry(singleRuns, allWeights("icl"))),
		entry("fig-single-parent", "Adjacency and attention matrices of three graphs (Figure 6)",
			then(singleRuns, singleParentFigure)),

		entry("fig-many-graphs", "Attention on the parent by position, on 20 graphs (Figure 9)",
			then(comparison, manyGraphsFigure)),
		entry("fig-many-graphs-by-graph", "Mean attention on the parents by graph", then(comparison, byGraphFigure)),

		entry("fig-single-parent-loss", "Test loss along training on three graphs", then(singleLosses, lossFigure)),
		entry("fig-single-parent-chain", "All weights of the run on the Markov chain",
			thenTry(singleRuns, allWeights("chain"))),
		entry("fig-single-parent-random", "All weights of the run on the random graph",
			thenTry(singleRuns, allWeights("random"))),

		entry("fig-multi-parent", "Attention of each head on graphs with several parents (Figure 5)",
			then(multiRuns, headsFigure)),
		entry("fig-multi-parent-full", "All first-layer weights on graphs with several parents (Figure 7)",
			then(multiRuns, headWeightsFigure)),
		entry("fig-multi-parent-printed", "Attention of each head in the setting that the paper prints",
			then(printedRuns, printedHeadsFigure)),

		entry("fig-mlp", "First-layer attention of the transformer with MLPs (Figure 8)", then(mlpRuns, mlpFigure)),

		entry("fig-forward-pass", "Forward pass of Construction 1 on a sequence (Figure 3)",
			alone(forwardPass(forwardPassTokens))),
		entry("fig-forward-pass-roots", "Forward pass of Construction 1 where a root is attended to",
			alone(forwardPass(forwardPassRoots))),
		entry("fig-construction-error", "Error of the constructions by scale and length", alone(constructionErrorFigure)),

		entry("fig-proof-sketch", "Why descent finds the parent (Figure 4)", alone(proofSketch)),
		entry("fig-gij", "Idealized gradient beside the adjacency matrix, four graphs", alone(gradientMap)),
		entry("fig-stage-one", "Stage 1 of Algorithm 1 on a random graph", stageOneOnRandomGraph),
		entry("fig-ghat-beta", "Force on beta in stage 2", then(sweep, gHatBetaFigure)),
		entry("fig-beta-growth", "Growth of beta in stage 2", then(sweep, betaGrowthFigure)),
		entry("fig-why-it-stops", "Error and force against beta in stage 2", then(sweep, whyItStopsFigure)),
		entry("fig-loss-gap", "Excess loss after Algorithm 1 by effective length", then(lossGap, lossGapFigure)),
		entry("fig-ood", "Error on a transition matrix outside of the prior", then(ood, oodFigure)),
		entry("fig-finite-samples", "Gradient of stage 1 from samples", finiteSampleFigure),
		entry("fig-sample-size", "Sequences with which stage 1 finds every parent", sampleSizeFigure),

		entry("fig-one-draw", "The mean over the 20 graphs that one run of each gives", then(comparison, oneDrawFigure)),
		entry("fig-stages", "Losses along training on two n-grams, between those of shorter contexts",
			then(stages, stagesFigure)),
		entry("fig-joint", "Joint training against what might predict it", then(joint, jointFigure)),

		entry("fig-covariance-paths", "Two positions and their common ancestor", alone(covariancePaths)),
		entry("fig-headline", "The ledger in numbers", then(fullLedger, headlineFigure)),
		entry("fig-ledger", "Margin of every statement", then(fullLedger, ledgerFigure)),
		entry("fig-claims-graph", "Which statement's proof uses which", then(fullLedger, dependencyFigure)),
	}
}

func tables() []Entry {
	return []Entry{
		entry("tab-single-parent-blocks", "Blocks of the trained weights against their targets",
			then(singleRuns, blocksTable)),
		entry("tab-single-parent-losses", "Losses on three graphs beside the reference predictors",
			then(singleLosses, lossTable)),
		entry("tab-many-graphs", "Mean attention on the parents of the 20 graphs", then(comparison, manyGraphsTable)),
		entry("tab-many-graphs-losses", "Losses on the 20 graphs beside the reference predictors",
			then(manyGraphsLosses, manyGraphsLossTable)),
		entry("tab-unlearned-edges", "Edges that some run on the 20 graphs did not learn",
			then(comparison, unlearnedTable)),
		entry("tab-multi-parent", "Runs with several parents: attention and losses", then(allMultiLosses, multiTable)),
		entry("tab-mlp", "Average first-layer attention of the transformer with MLPs", then(mlpRuns, mlpTable)),
		entry("tab-mlp-losses", "Losses of the transformer with MLPs beside the reference predictors",
			then(mlpLosses, mlpLossTable)),
		entry("tab-joint", "Joint training and Algorithm 1 on families of graphs", then(joint, jointTable)),
		entry("tab-joint-predicts", "What predicts joint training", then(joint, predictTable)),
		entry("tab-constructions", "Trained models against the constructions", then(agreements, agreementTable)),
	}
}

// lists are the ledger and its erratum, the summary, and the numbers.
func lists() []Entry {
	return []Entry{
		entry("claims", "The ledger of all statements", thenTry(fullLedger, newLedgerFiles)),
		entry("errata", "The erratum, a letter: what is false, and what holds instead", thenTry(fullLedger, newLetter)),
		entry("supplement", "Witnesses and proofs for the erratum", thenTry(fullLedger, newSupplement)),
		entry("ledger", "Verdicts in the margin of a LaTeX document", newMargin),
		entry("summary", "What the paper says of its figures and numbers, with verdicts", summary()),
		entry("numbers", "Every number that is quoted in prose, as JSON and as LaTeX macros", numbers()),
	}
}

// Select returns the entries of ids.
func Select(ids ...string) ([]Entry, error) {
	all := Entries()
	var entries []Entry
	for _, id := range ids {
		e, err := find("nothing", all, id)
		if err != nil {
			return nil, err
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
	var ids []string
	for _, e := range entries {
		ids = append(ids, e.ID)
	}
	return Entry{}, fmt.Errorf("figures: %s has the id %q; near it: %s (paper list shows all)",
		prefix, id, strings.Join(ledger.Nearest(id, ids), ", "))
}

// numbers returns the source of all numbers that are quoted in prose.
func numbers() source[figure.Numbers] {
	return joined(
		then(singleRuns, blockNumbers), then(singleLosses, singleLossNumbers),
		then(comparison, comparisonNumbers), then(finalLosses, finalLossNumbers),
		then(allMultiLosses, multiNumbers), then(mlpLosses, mlpNumbers),
		then(agreements, agreementNumbers), then(lossGap, lossGapNumbers), then(ood, oodNumbers),
		then(joint, jointNumbers), then(fullLedger, ledgerNumbers),
	)
}

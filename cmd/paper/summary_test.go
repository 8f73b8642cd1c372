package main

import (
	"strings"
	"testing"

	"learncausal/internal/figure"
	"learncausal/paper/figures"
)

func summary() *figures.Summary {
	row := func(figureNumber int, id, verdict string) figures.Row {
		return figures.Row{
			Figure: figureNumber, ID: id, What: "mean attention on the parents of the twenty graphs, over all seeds",
			Paper: "0.837 ± 0.054 over five seeds", Ours: figure.PlusMinus(0.8312345, 0.0123, 4),
			Interval: "0.823 to 0.839 over 5 seeds", Verdict: verdict,
		}
	}
	return &figures.Summary{Rows: []figures.Row{
		row(9, "fig-many-graphs", "reproduced"), row(9, "num-avg-attn", "reproduced"),
		row(8, "fig-mlp", "differs: some of the seeds miss an edge that has an earlier sibling"),
		row(0, "chain-loss-final", "not stated; ours is higher by 0.003"),
	}}
}

func TestResultsAreNamedWithTheirReasons(t *testing.T) {
	lines := resultLines(summary())
	for _, want := range []string{
		"num-avg-attn\treproduced\tmean attention on the parents of the twenty graphs, over all seeds: " +
			"0.8312 ± 0.0123; the paper: 0.837 ± 0.054 over five seeds\n",
		"fig-mlp\tdiffers\t", "; some of the seeds miss an edge that has an earlier sibling\n",
	} {
		if !strings.Contains(lines, want) {
			t.Errorf("no %q in\n%s", want, lines)
		}
	}
}

func TestWidthOfThePageIsCOLUMNS(t *testing.T) {
	t.Setenv("COLUMNS", "77")
	if got := pageWidth(nil); got != 77 {
		t.Errorf("%d, want 77", got)
	}
	t.Setenv("COLUMNS", "")
	if got := pageWidth(&strings.Builder{}); got != widest {
		t.Errorf("%d, want %d", got, widest)
	}
}

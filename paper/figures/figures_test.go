package figures

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat"

	"learncausal/internal/figure"
	"learncausal/paper/ledger"
	"learncausal/pkg/graph"
	"learncausal/pkg/model"
)

// shared are the results that tests share, which change none of them.
var shared = New(stored)

// registered returns a figure of the registry.
func registered(t *testing.T, id string) *figure.Figure {
	t.Helper()
	f, err := shared.Figure(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// In Figure 4 no mark hides another.
func TestMarksOfTheProofSketchStandApart(t *testing.T) {
	seen := map[[2]float64]bool{}
	for _, s := range registered(t, "fig-proof-sketch").Rows[1][0].(*figure.Axes).Series {
		for k, x := range s.X {
			if at := [2]float64{x, s.Y[k]}; seen[at] {
				t.Errorf("two marks at %v", at)
			} else {
				seen[at] = true
			}
		}
	}
	if len(seen) == 0 {
		t.Error("no marks")
	}
}

// Figure 5 shows the median seed, which is not one that fails where most do not.
func TestFigure5ShowsTheMedianSeed(t *testing.T) {
	all, err := multiRuns(t.Context(), shared)
	if err != nil {
		t.Fatal(err)
	}
	f := headsFigure(all)
	for k, m := range all {
		r := median(m)
		below, above := 0, 0
		on := r.MeanAttention(r.Attention)
		for _, other := range m.Runs {
			switch a := other.MeanAttention(other.Attention); {
			case a < on:
				below++
			case a > on:
				above++
			}
		}
		if n := len(m.Runs); below > n/2 || above > n/2 || 2*m.SplitSeeds() > n && !r.HasSplit() {
			t.Errorf("%s: %d seeds below the one shown, %d above, which has split: %v", m.Name, below, above, r.HasSplit())
		}
		for l := range r.Head {
			title := f.Rows[k][1+l].Heading().Text
			if want := fmt.Sprintf("%.2f", r.On(r.Attention[l])); !strings.HasSuffix(title, want) {
				t.Errorf("%s: head %d stands under %q, want %s", m.Name, l, title, want)
			}
		}
		// The rows have equal heights.
		for _, p := range f.Rows[k][:1+len(r.Head)] {
			if rows := len(p.(*figure.Matrix).Values); rows != 32 {
				t.Errorf("%s: a matrix of %d rows", m.Name, rows)
			}
		}
	}
	if strings.Contains(f.Caption, "seeds only") {
		t.Errorf("the caption tells of a seed that fails: %s", f.Caption)
	}
	sharing := *all[1].Runs[0]
	sharing.Split = nil
	all = slices.Clone(all)
	all[1].Runs = append([]*MultiRun{&sharing}, all[1].Runs[1:]...)
	if caption := headsFigure(all).Caption; !strings.Contains(caption, "in 3 of 4 seeds only") {
		t.Errorf("the caption does not tell of the seed that fails: %s", caption)
	}
}

// Figure 7 takes from each row of the position block its mean, and nothing else.
func TestRowsOfThePositionBlockAreCentred(t *testing.T) {
	w := model.NewWeights(2, 4, 1, 1)
	a := w.A[0][0].RawMatrix().Data
	for k := range a {
		a[k] = math.Sin(float64(k))
	}
	before := slices.Clone(a)
	for i, row := range centred(w, w.A[0][0]) {
		for j, v := range row {
			seen := i >= 2 && j >= 2 && j <= i
			if seen && math.Abs(v-row[2]-(before[6*i+j]-before[6*i+2])) > 1e-12 || !seen && v != before[6*i+j] {
				t.Errorf("entry (%d, %d) is %v, was %v", i, j, v, before[6*i+j])
			}
		}
		if i >= 2 && math.Abs(stat.Mean(row[2:i+1], nil)) > 1e-12 {
			t.Errorf("row %d has the mean %v", i, stat.Mean(row[2:i+1], nil))
		}
	}
	if !slices.Equal(a, before) {
		t.Error("the weights have changed")
	}
}

// Figure 6 has one scale: the largest magnitude of each matrix is 1.
func TestFigure6HasOneScale(t *testing.T) {
	for i, row := range registered(t, "fig-single-parent").Rows {
		for j, p := range row {
			m := p.(*figure.Matrix)
			largest := 0.0
			for _, values := range m.Values {
				for _, v := range values {
					largest = max(largest, math.Abs(v))
				}
			}
			if math.Abs(largest-1) > 1e-12 || m.Scale.Min != -1 || m.Scale.Max != 1 {
				t.Errorf("panel (%d, %d): largest %v on a scale of %v to %v", i, j, largest, m.Scale.Min, m.Scale.Max)
			}
		}
	}
}

// Positions count from 1 in Figure 9 as everywhere: the first with a parent is the
// second.
func TestFigure9CountsFromOne(t *testing.T) {
	for _, s := range registered(t, "fig-many-graphs").Rows[0][0].(*figure.Axes).Series {
		if first := math.Round(s.X[0]); first != 2 {
			t.Errorf("%s starts at position %v, want 2", s.Label.Text, first)
		}
	}
}

// In every panel of curves, series of different colours differ in marks or dashes too.
func TestColoursNeverStandAlone(t *testing.T) {
	sweep := smallSweep(t)
	for k, f := range []*figure.Figure{
		gHatBetaFigure(sweep), betaGrowthFigure(sweep), whyItStopsFigure(sweep), proofSketch(),
	} {
		for _, row := range f.Rows {
			for _, p := range row {
				a, ok := p.(*figure.Axes)
				if !ok {
					continue
				}
				colour := map[[2]any]int{}
				for _, s := range a.Series {
					style := [2]any{s.Points, s.Mark}
					if c, ok := colour[style]; ok && c != s.Color {
						t.Errorf("figure %d: %s has the style of another colour", k, s.Label.Text)
					}
					colour[style] = s.Color
				}
			}
		}
	}
	ink := map[int]bool{}
	for _, v := range verdictOrder {
		if ink[verdictMark[v]] {
			t.Errorf("%s has the mark of another verdict", v)
		}
		ink[verdictMark[v]] = true
	}
}

// A legend of the ledger has no verdict that is nowhere.
func TestLegendHasTheVerdictsThatOccur(t *testing.T) {
	rows := make([]ledger.Row, 2)
	rows[0].Verdict, rows[1].Verdict = ledger.Fails, ledger.Holds
	l := &ledger.Ledger{Rows: rows}
	if got := verdictsOf(l); !slices.Equal(got, []ledger.Verdict{ledger.Holds, ledger.Fails}) {
		t.Errorf("%v", got)
	}
}

// No point of the excess loss is on the frame.
func TestPointsOfTheLossGapAreInsideOfTheFrame(t *testing.T) {
	at := []Scaling{{Family: Family{Title: "Star"}, TEff: []float64{1.07, 1.14}, Value: []float64{0.28, 0.28}}}
	for _, p := range lossGapFigure(LossGap{ToEnd: at, Stopped: at}).Rows[0] {
		if a := p.(*figure.Axes); math.Log10(1.07/a.X.Min) < 0.05 {
			t.Errorf("a point at 1.07 on an axis from %v", a.X.Min)
		}
	}
}

// The worked example ends with the empirical estimate, and so does Figure 3.
func TestWorkedExampleIsTheEstimate(t *testing.T) {
	want := make([]float64, 3)
	if !model.ConstructionOne(graph.Figure1(), 3).Empirical(want, forwardPassTokens) {
		t.Fatal("no estimate")
	}
	counts, kept := workedCounts(graph.Figure1(), forwardPassTokens)
	for a, c := range counts {
		if got := float64(c) / float64(kept); got != want[a] {
			t.Errorf("token %d: %v, want %v", a, got, want[a])
		}
	}
	if _, err := registered(t, "fig-worked-example").PNG(); err != nil {
		t.Error(err)
	}
}

// The pictures without data are drawn in all formats.
func TestDiagramsAreDrawn(t *testing.T) {
	for _, id := range []string{"fig-stream", "fig-covariance-paths", "fig-headline"} {
		f := registered(t, id)
		if _, err := f.SVG(); err != nil {
			t.Error(err)
		}
		if _, err := f.TeX(); err != nil {
			t.Error(err)
		}
		if f.Caption == "" {
			t.Errorf("%s has no caption", id)
		}
	}
}

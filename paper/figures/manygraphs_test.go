package figures

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"learncausal/internal/runs"
	"learncausal/paper/trial"
	"learncausal/pkg/train"

	"gonum.org/v1/gonum/floats"
)

func TestEverySpecIsValidAndDistinct(t *testing.T) {
	for i, s := range Specs() {
		if err := s.Validate(); err != nil {
			t.Errorf("spec %d: %v", i, err)
		}
	}
	if n, want := len(Specs()), 3+20+8+2+27+8+3; n != want {
		t.Errorf("%d specs, want %d", n, want)
	}
}

// Sweep and store have equal curves and attentions for the runs that are in both.
func TestSweepsHaveTheStoredRuns(t *testing.T) {
	compared := 0
	for _, name := range []string{Figure9, "several-parents"} {
		all, err := trial.Outcomes(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range all {
			isOf := func(s train.Spec) bool { return runs.Address(s) == o.Address }
			if !slices.ContainsFunc(Specs(), isOf) {
				continue
			}
			r, err := stored(t.Context(), o.Spec)
			if err != nil {
				t.Fatal(err)
			}
			want, err := trial.NewOutcome(t.Context(), r, trial.Comparisons{})
			if err != nil {
				t.Fatal(err)
			}
			o.Bayes = nil
			if !reflect.DeepEqual(o, want) {
				t.Errorf("%s: run %s is not as it is stored", name, o.Address)
			}
			compared++
		}
	}
	if compared != 30 {
		t.Errorf("%d runs are in the store and in a sweep, want 30", compared)
	}
}

// The first seed of the sweep has the stored runs.
func TestComparisonHasTheStoredRuns(t *testing.T) {
	c, err := LoadComparison(Figure9)
	if err != nil {
		t.Fatal(err)
	}
	for k, g := range c.Graphs {
		r, err := stored(t.Context(), ManyGraphsSpec(g.Graph, 0))
		if err != nil {
			t.Fatal(err)
		}
		on := r.Final.Disentangled().PositionAttention()
		for i := range g.Graph.T() {
			got := c.Edge[k][0][i]
			if p := g.Graph.Parent(i); p < 0 && !math.IsNaN(got) || p >= 0 && got != on.At(i, p) {
				t.Errorf("%s, position %d: attention %v", g.Name, i, got)
			}
		}
		for e, p := range r.Curve {
			if c.Steps[e] != p.Step || c.Along[k][0][e] != p.Attention {
				t.Errorf("%s, step %d: attention %v, want %v", g.Name, p.Step, c.Along[k][0][e], p.Attention)
			}
		}
		if c.Mean[k][0] != r.Curve[len(r.Curve)-1].Attention {
			t.Errorf("%s: mean %v", g.Name, c.Mean[k][0])
		}
	}
	if c.Seeds() < 5 || len(c.Variance().OneRuns) != c.Seeds() {
		t.Errorf("%d seeds", c.Seeds())
	}
}

func TestGraphsWithUnequalSeedsAreRefused(t *testing.T) {
	all, err := trial.Outcomes(Figure9)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := newComparison(Figure9, all[1:]); err == nil || !strings.Contains(err.Error(), "graph-") {
		t.Errorf("a run less: error %v", err)
	}
	all[3].Diverged = "it did"
	if _, err := newComparison(Figure9, all); err == nil || !strings.Contains(err.Error(), all[3].Address) {
		t.Errorf("a run that diverged: error %v", err)
	}
}

func TestCorrelationWithTheEndAlongTraining(t *testing.T) {
	s := comparisonOf(nil, []float64{0.9, 0.7, 0.8})
	s.Steps = []int{0, 1, 2, 3}
	s.Along = [][][]float64{{{0.1, 0.2, 0.5, 0.9}, {0.1, 0.4, 0.4, 0.7}, {0.1, 0.3, 0.3, 0.8}}}
	got := s.WithEnd(0)
	if !math.IsNaN(got[0]) || !floats.EqualApprox(got[1:], []float64{-1, 0.5, 1}, 1e-12) {
		t.Errorf("%v, want NaN, -1, 1/2, 1", got)
	}
}

// comparisonOf has a graph for each list of runs, and what the authors printed.
func comparisonOf(printed []float64, mean ...[]float64) *Comparison {
	return &Comparison{Mean: mean, Printed: printed}
}

func TestOneDraw(t *testing.T) {
	for _, c := range []struct {
		name         string
		printed      []float64
		share        float64 // of the four means that are at least the printed one
		below, above []int
	}{
		{"below all", []float64{0.1, 0.1}, 1, []int{0, 1}, nil},
		{"above all", []float64{0.9, 0.9}, 0, nil, []int{0, 1}},
		{"among them", []float64{0.25, 0.55}, 0.75, nil, nil}, // 0.4 is above 0.35 alone
		{"one of each", []float64{0.3, 0.61}, 0, nil, []int{1}},
	} {
		s := comparisonOf(c.printed, []float64{0.2, 0.3}, []float64{0.5, 0.6})
		d := s.OneDraw(40_000)
		// Five standard errors: a false alarm in two of a million.
		if math.Abs(d.Above-c.share) > 5*0.5/200 {
			t.Errorf("%s: %v of the draws are above, want %v", c.name, d.Above, c.share)
		}
		if a := s.Replication(); !slices.Equal(a.Below, c.below) || !slices.Equal(a.Above, c.above) {
			t.Errorf("%s: outside are %v and %v", c.name, a.Below, a.Above)
		}
		if !slices.IsSorted(d.Draws) || math.Abs(d.Draws[0]-0.35) > 1e-12 || math.Abs(d.Draws[39_999]-0.45) > 1e-12 {
			t.Errorf("%s: draws from %v to %v", c.name, d.Draws[0], d.Draws[39_999])
		}
	}
}

// Runs of two ensembles on two graphs: means 0.5 and 0.2 against 0.25 and 0.55; the pooled variance of the other one is
// (0.005 + 0.005)/2, over 2 graphs and 1 and 2 runs.
func TestLessHasTheErrorOfBothEnsembles(t *testing.T) {
	other := comparisonOf([]float64{0, 0}, []float64{0.2, 0.3}, []float64{0.5, 0.6})
	d := comparisonOf(nil, []float64{0.5}, []float64{0.2}).Less(other)
	if math.Abs(d.Mean+0.05) > 1e-12 || math.Abs(d.StdErr-math.Sqrt(0.005*1.5/2)) > 1e-12 {
		t.Errorf("%+v, want -0.05 ± %v", d, math.Sqrt(0.005*1.5/2))
	}
}

func TestFailsCountsRunsBelowAHalf(t *testing.T) {
	if n := (Edge{Ours: []float64{0.49, 0.5, 0.51, 0.1}}).Fails(); n != 2 {
		t.Errorf("%d", n)
	}
}

func TestBegunIsTwiceTheMedian(t *testing.T) {
	if got := (Edge{Ours: []float64{0.12, 0.30, 0.1, 0.11, 0.22, 0.8}}).Begun(); !slices.Equal(got, []int{1, 5}) {
		t.Errorf("%v, want seeds 1 and 5: the lower median is 0.12", got)
	}
	if got := (Edge{Ours: []float64{0.7, 0.8, 0.9}}).Begun(); got != nil {
		t.Errorf("%v of an edge that all learn", got)
	}
}

func TestRarestIsLearntBySome(t *testing.T) {
	c, err := LoadComparison(Figure9)
	if err != nil {
		t.Fatal(err)
	}
	got := c.Rarest()
	if got.Graph != 18 || got.Parent != 2 || got.Child != 18 {
		t.Errorf("graph %d, %d -> %d", got.Graph, got.Parent, got.Child)
	}
	// Without the authors' run and without the runs that learn it, it is none of these.
	for k := range c.Edge[18] {
		c.Edge[18][k][18] = 0.1
	}
	c.Graphs[18].OneMinusAttention[18] = 0.9
	if other := c.Rarest(); other.Graph == 18 {
		t.Errorf("an edge that no run learns: %+v", other)
	}
}

package task

import (
	"math"
	"testing"

	"learncausal/pkg/graph"
	"learncausal/pkg/num"
)

func TestEdgePredictorsAgreeWithReference(t *testing.T) {
	for _, name := range []string{"task-tree-s2t5.json", "task-tree-s3t5.json", "task-posterior-s10t20.json"} {
		r := readReference(t, name)
		if r.Graphs == nil {
			r.Graphs = append(r.Graphs, struct {
				Parents   []int
				Posterior posteriorCases
			}{r.Parents, r.Posterior})
		}
		wrapped := 0
		for _, c := range r.Graphs {
			g, err := graph.New(append(c.Parents, graph.Root))
			if err != nil {
				t.Fatal(err)
			}
			a, b := make([]float64, r.S), make([]float64, r.S)
			for _, p := range c.Posterior.Cases {
				PosteriorGivenEdges(a, g, c.Posterior.Alpha, p.X)
				ReleasedFormula(b, g, c.Posterior.Alpha, p.X)
				for s := range a {
					if math.Abs(a[s]-p.PosteriorMean[s]) > 1e-15 {
						t.Errorf("%s, %v: PosteriorGivenEdges(%d) = %v, want %v", name, p.X, s, a[s], p.PosteriorMean[s])
					}
					if math.Abs(b[s]-p.Released[s]) > 1e-15 {
						t.Errorf("%s, %v: ReleasedFormula(%d) = %v, want %v", name, p.X, s, b[s], p.Released[s])
					}
				}
				if math.Abs(a[0]-b[0]) > 1e-3 {
					wrapped++
				}
			}
		}
		if wrapped == 0 {
			t.Errorf("%s tells the two predictors nowhere apart", name)
		}
	}
}

func TestLogLossOfZeroTerms(t *testing.T) {
	if l := LogLoss([]float64{0, 1}, []float64{0, 1}); l != 0 {
		t.Errorf("loss of a sure and right prediction is %v, want 0", l)
	}
	if l := LogLoss([]float64{0.5, 0.5}, []float64{0, 1}); !math.IsInf(l, 1) {
		t.Errorf("loss of an excluded outcome is %v, want +Inf", l)
	}
}

// The chain at S=10, T=20, alpha=0.1: 1.778 as released and 1.766 corrected, on
// 20,000 sequences of another sampler. Two such means differ by more than
// 4.9 sqrt(2) standard errors with probability 1e-6.
func TestDashedLineOfTheChain(t *testing.T) {
	parents := graph.Chain(20).Parents()
	tk := newTask(t, "dirichlet(0.1)", 10, parents[:19]...)
	b := tk.NewBatch(20000)
	tk.NewSampler().Fill(b, num.Stream(1, "dashed line"))
	edges := Losses(b, func(f []float64, x []int) { PosteriorGivenEdges(f, tk.Graph, 0.1, x) })
	released := Losses(b, func(f []float64, x []int) { ReleasedFormula(f, tk.Graph, 0.1, x) })
	for _, c := range []struct {
		name string
		loss []float64
		want float64
	}{{"PosteriorGivenEdges", edges, 1.766}, {"ReleasedFormula", released, 1.778}} {
		risk := num.Average(c.loss)
		if math.Abs(risk.Mean-c.want) > 4.9*math.Sqrt2*risk.StdErr {
			t.Errorf("%s: risk %.4f +- %.4f, want %v", c.name, risk.Mean, risk.StdErr, c.want)
		}
	}
	// The difference is known far better than either.
	if d := PairedDifference(released, edges); math.Abs(d.Mean-0.012) > 4.9*math.Sqrt2*d.StdErr+0.0005 || d.Z() < 4.9 {
		t.Errorf("the index wrap costs %.4f +- %.4f, want 0.012", d.Mean, d.StdErr)
	}
}

func TestEdgesOverOneStateAreCounted(t *testing.T) {
	counts := []int{7}
	if edgeCounts(counts, graph.Chain(4), make([]int, 4)); counts[0] != 2 {
		t.Errorf("%d edges of a chain of three and the query, want 2", counts[0])
	}
}

package theory

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"learncausal/pkg/graph"
	"learncausal/pkg/num"
)

// settings returns Algorithm 1 with h = 2 (see Settings).
func settings(s, t int, beta0 float64, tau1, tau2 int) Settings {
	return Settings{Beta0: beta0, Rate1: 2 * float64(s*t) / beta0, Rate2: 1, Tau1: tau1, Tau2: tau2}
}

// families returns one graph of each family on t positions, the paper's two
// examples first.
func families(t int) []*graph.Forest {
	return []*graph.Forest{
		graph.Chain(t), graph.InContext(t), graph.BinaryTree(t), graph.Star(t), graph.Spider(t, 3),
		graph.Random(t, 0.5, num.Stream(1, "families")),
	}
}

func TestAlgorithmLearnsTheGraphAndThePrediction(t *testing.T) {
	for _, g := range families(8) {
		p := must(NewPopulation(g, orbit2(), 1/math.Sqrt(g.TEff()), QueryApart))
		one, two := p.Stages()
		set := settings(2, 8, 1e-3, 400, 40)
		tr := must(Algorithm1(set, g, 2, one, two))
		attention := raw(tr.Final.Attention())
		for _, e := range g.Edges() {
			if a := attention[e[1]*8+e[0]]; a < 0.75 {
				t.Errorf("%v: position %d pays %v attention to its parent", g, e[1], a)
			}
		}
		first, last := tr.Points[0], tr.Points[len(tr.Points)-1]
		if !(last.Loss < first.Loss) || !(last.Beta > 0.2) {
			t.Errorf("%v: loss from %v to %v, beta from %v to %v", g, first.Loss, last.Loss, first.Beta, last.Beta)
		}
		again := must(Algorithm1(set, g, 2, one, two))
		if !slices.Equal(raw(again.Final.A1), raw(tr.Final.A1)) || !slices.Equal(raw(again.Final.A2), raw(tr.Final.A2)) {
			t.Errorf("%v: two runs differ", g)
		}
	}
}

// The limit is the exact stage to first order in beta0: halving beta0 halves
// the difference of the attention.
func TestLimitStageIsFirstOrder(t *testing.T) {
	g := families(8)[5]
	p := must(NewPopulation(g, orbit2(), 0.5, QueryApart))
	ghat := must(GHat(g, orbit2(), 0.5, QueryApart))
	apart := func(ghat *mat.Dense, beta0 float64) float64 {
		one, two := p.Stages()
		set := settings(2, 8, beta0, 30, 0)
		exact := must(Algorithm1(set, g, 2, one, two))
		limit := must(Algorithm1(set, g, 2, LimitStage(ghat, beta0), two))
		return distance(raw(exact.Final.Attention()), raw(limit.Final.Attention()))
	}
	large, small := apart(ghat, 0.02), apart(ghat, 0.01)
	if ratio := large / small; !(small < 1e-2 && ratio > 1.8 && ratio < 2.2) {
		t.Errorf("differences %g and %g, ratio %g", large, small, ratio)
	}
}

// Both loops by hand: tau1 steps of A1 at beta0, then tau2 of A2, the first of
// them from the end of stage 1.
func TestAlgorithmTakesItsSteps(t *testing.T) {
	g := graph.Chain(6)
	p := must(NewPopulation(g, orbit2(), 0.4, QueryApart))
	one, two := p.Stages()
	set := settings(2, 6, 0.1, 5, 3)
	tr := must(Algorithm1(set, g, 2, one, two))
	m := NewReduced(2, 6, 0.1)
	betas := []float64{}
	for range 5 {
		betas = append(betas, m.Beta())
		for k, v := range raw(p.Gradient(m).G1) {
			raw(m.A1)[k] -= float64(set.Rate1 * v)
		}
	}
	betas = append(betas, m.Beta()) // the end of stage 1
	for range 3 {
		betas = append(betas, m.Beta())
		for k, v := range raw(p.Gradient(m).G2) {
			raw(m.A2)[k] -= float64(set.Rate2 * v)
		}
	}
	betas = append(betas, m.Beta())
	if tr.Tau1 != 5 || tr.Tau2 != 3 || len(tr.Points) != len(betas) {
		t.Fatalf("%d and %d steps, %d points, want 5, 3 and %d", tr.Tau1, tr.Tau2, len(tr.Points), len(betas))
	}
	if !slices.Equal(raw(tr.Final.A1), raw(m.A1)) || !slices.Equal(raw(tr.Final.A2), raw(m.A2)) {
		t.Errorf("ends at A1 = %v, A2 = %v, want %v and %v", raw(tr.Final.A1), raw(tr.Final.A2), raw(m.A1), raw(m.A2))
	}
	for k, at := range []int{0, 1, 2, 3, 4, 5, 5, 6, 7, 8} {
		if q := tr.Points[k]; q.Step != at || q.Stage != 1+k/6 || q.Beta != betas[k] {
			t.Errorf("point %d: stage %d, step %d, beta = %v, want step %d, %v", k, q.Stage, q.Step, q.Beta, at, betas[k])
		}
	}
}

func TestStagesStopEarly(t *testing.T) {
	g := graph.InContext(8)
	p := must(NewPopulation(g, orbit2(), 0.4, QueryApart))
	_, two := p.Stages()
	set := settings(2, 8, 1e-3, 10000, 10000)
	set.Alpha, set.BetaStar, set.Every = 1./8, 0.8, 1<<20
	tr := must(Algorithm1(set, g, 2, LimitStage(must(GHat(g, orbit2(), 0.4, QueryApart)), set.Beta0), two))
	if !tr.Early[0] || !tr.Early[1] || tr.Tau1 == 10000 || tr.Tau2 == 10000 || len(tr.Points) != 4 {
		t.Fatalf("tau1 = %d, tau2 = %d, %v, %d points", tr.Tau1, tr.Tau2, tr.Early, len(tr.Points))
	}
	for i, r := range tr.Points[1].Rows {
		if g.Parent(i) >= 0 && r.Parent < 7./8 {
			t.Errorf("row %d: %+v at the end of stage 1", i, r)
		}
	}
	if last := tr.Points[3]; last.Beta < 0.8 || last.Step != tr.Tau1+tr.Tau2 {
		t.Errorf("the end of stage 2 is %d, beta = %v", last.Step, last.Beta)
	}
	set.Tau1 = tr.Tau1 - 1
	tr = must(Algorithm1(set, g, 2, LimitStage(must(GHat(g, orbit2(), 0.4, QueryApart)), set.Beta0), two))
	if tr.Early[0] {
		t.Error("one step fewer is as good")
	}
}

// At its nodes the table is the sampled stage; half way between them it misses
// by the curvature, of the order of the square of the step.
func TestTableStageInterpolates(t *testing.T) {
	g := families(8)[0]
	c := MonteCarlo{Graph: g, Prior: orbit2(), Eps: 0.4, Reading: QueryApart, Samples: 64, Seed: 1}
	table := TableStage(c.Run([]float64{0, 0.25, 0.5, 0.75, 1}))
	at := func(beta float64) (float64, float64) {
		m := NewReduced(2, 8, beta)
		got, _, _ := table(m, nil)
		return got.At(0, 0), 0.5 * c.Run([]float64{beta})[0].DeltaBeta.Mean
	}
	if got, want := at(0.5); math.Abs(got-want) > 1e-15 {
		t.Errorf("at a node: %v, want %v", got, want)
	}
	got, want := at(0.625)
	if d := math.Abs(got - want); !(d < 2e-3*math.Abs(want)) {
		t.Errorf("between two nodes: %v, want %v", got, want)
	}
	if got, _ := at(7); got != 0.5*c.Run([]float64{1})[0].DeltaBeta.Mean {
		t.Errorf("beyond the table: %v", got)
	}
}

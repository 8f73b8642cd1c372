package claims

import (
	"fmt"
	"math/big"

	"learncausal/pkg/exact"
	"learncausal/pkg/graph"
	"learncausal/pkg/ledger"
	"learncausal/pkg/markov"
	"learncausal/pkg/theory"
)

// The old forms of dynamics.go, for sections that still use them.

type stageOne struct {
	namedGraph
	*firstStage
}

func newStageOne(g namedGraph, prior *markov.Finite) *stageOne {
	family := graph.Family{Name: g.Name, New: func(int) *graph.Forest { return g.Graph }}
	return &stageOne{g, newFirstStage(family, g.Graph.T(), prior)}
}

func (c *stageOne) instance() Instance { return Instance(c.firstStage.instance()) }

func stageOneTime(prior *markov.Finite) float64 { return stageOneTimeConstant(prior) }

var (
	trainedPriors = stageTwoPriors
	pullPrior     = queryPullPrior
	mostOf        = largestMean
)

// A tendency is a claimed bound y <~ x^claimed with the values seen.
type tendency struct {
	x, y    []float64
	claimed float64
}

func oldFinding(f ledger.Finding) Finding {
	return Finding{
		Tier: Tier(f.Tier), Verdict: Verdict(f.Verdict), LHS: f.LHS, RHS: f.RHS, Margin: f.Margin,
		Instance: Instance(f.Instance), Instances: f.Instances, Note: f.Note,
	}
}

func (d tendency) finding() Finding {
	return oldFinding(ledger.Trend{X: d.x, Y: d.y, Claimed: d.claimed}.Finding())
}

// worst returns the finding of least margin, and counts all instances.
func worst(fs ...Finding) Finding {
	w, n := fs[0], 0
	for _, f := range fs {
		n += f.Instances
		if f.Margin < w.Margin {
			w = f
		}
	}
	w.Instances = n
	return w
}

type spoil = flaw

const (
	sound     = asTrained
	toItself  = childrenOnThemselves
	firstRoot = rootsOnFirst
)

type run struct {
	*stageOne
	second *secondStage
	gamma  float64
	rows   [][]float64
	Full   []theory.StageTwo
	Star   []theory.StageTwo
}

func growingGraph(family string, t int) namedGraph {
	return namedGraph{family, graph.FamilyNamed(family).New(t)}
}

func (e *Env) trained(g namedGraph, prior *markov.Finite, fault spoil) *run {
	r := trainedOn(e.Env, g.Name, g.Graph.T(), prior, fault)
	return newRun(r)
}

func newRun(r *secondStage) *run {
	one := &stageOne{namedGraph{r.family, r.graph}, r.firstStage}
	return &run{one, r, r.gamma, r.attention, r.full, r.star}
}

func (r *run) betaStarIndex(constant float64) int {
	return betaIndex(r.second.atBetaStar(constant).Beta)
}

func betaGrid() []float64 { return stageTwoBetas }

func (e *Env) trainedSizes() []int { return stageTwoSizes(e.Env) }

func (e *Env) overRuns(claimed float64, fault spoil, families []string, value func(*run) float64) Finding {
	return oldFinding(trendOverRuns(e.Env, claimed, fault, func(r *secondStage) float64 { return value(newRun(r)) }))
}

func roundedTo3(x []float64) []string {
	out := make([]string, len(x))
	for i, v := range x {
		out[i] = fmt.Sprintf("%.3g", v)
	}
	return out
}

func qPow(x *big.Rat, n int) *big.Rat { return exact.Pow(x, n) }

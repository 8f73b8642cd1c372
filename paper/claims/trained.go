package claims

import (
	"fmt"
	"math"
	"sync"

	"learncausal/pkg/graph"
	"learncausal/pkg/markov"
	"learncausal/pkg/num"
	"learncausal/pkg/theory"
)

// trainedPriors are the priors of the trends of stage 2, both symmetric with
// constant mean: one over two states with gamma = 2/5, and one over three under
// which early roots are drawn to themselves in stage 1, with gamma = 3/20.
var trainedPriors = sync.OnceValue(func() []*markov.Finite {
	a, err := markov.NewOrbit(2, []float64{0.8, 0.2, 0.4, 0.6}, []float64{0.2, 0.8, 0.6, 0.4})
	if err != nil {
		panic("claims: " + err.Error())
	}
	return []*markov.Finite{a, stageOnePriors()[0]}
})

// pullPrior is symmetric with constant mean and has
// g_TT = 1/S E sum_s pi(s|s)/mu(s) - 1 = 0.285, so that the query's row of A1 is
// drawn to the query.
var pullPrior = sync.OnceValue(func() *markov.Finite {
	p, err := markov.NewOrbit(2, []float64{0.9, 0.1, 0.5, 0.5}, []float64{0.1, 0.9, 0.5, 0.5})
	if err != nil {
		panic("claims: " + err.Error())
	}
	return p
})

// growing are the families whose T_eff grows with T like a power.
var growing = []string{"chain", "in-context", "spider"}

// growingGraph is the member of one of the growing families on t positions, or
// a random forest, in which T_eff is bounded. It does not depend on the claim, so
// that rows share what is computed for it.
func growingGraph(family string, t int) namedGraph {
	switch family {
	case "chain":
		return namedGraph{family, graph.Chain(t)}
	case "in-context":
		return namedGraph{family, graph.InContext(t)}
	case "spider":
		legs := int(math.Sqrt(float64(t)))
		return namedGraph{family, graph.Spider(t, legs)}
	}
	return namedGraph{family, graph.Random(t, 0.3, num.Stream(Seed, "claims/trained", uint64(t)))}
}

// stageOneTime is the C of tau1 = C T^2 log T / (eta1 beta0): twice what the
// rows of chain and in-context graph need on 32 positions.
func stageOneTime(prior *markov.Finite) float64 {
	return 2 * stageOneConstant([]*stageOne{newStageOne(growingGraph("chain", 32), prior), newStageOne(growingGraph("in-context", 32), prior)})
}

// A run is the state after stage 1 with what stage 2 does from there.
type run struct {
	*stageOne
	rows  [][]float64 // softmax(A1), row i of length i+1
	gamma float64

	Full []theory.StageTwo // by grid(), with A1
	Star []theory.StageTwo // the same with A1_*
}

// A spoil is a planted fault of stage 1.
type spoil int

const (
	sound     spoil = iota
	toItself        // position i attends to i in place of p(i)
	tooShort        // stage 1 ends after a tenth of its time
	firstRoot       // roots attend to position 1
)

type trainedKey struct {
	graph, prior string
	fault        spoil
	quick        bool
}

var trainedRuns sync.Map // trainedKey to func() *run

// betaGrid are the beta at which each run is evaluated: 0, 1/4, ..., 8.
func betaGrid() []float64 {
	g := make([]float64, 33)
	for k := range g {
		g[k] = float64(k) / 4
	}
	return g
}

// trained returns stage 1 to first order in beta0 at time tau1, followed row by
// row, and stage 2 from samples. Both are computed once per process.
func (e *Env) trained(g namedGraph, prior *markov.Finite, fault spoil) *run {
	key := trainedKey{g.Graph.String(), prior.String(), fault, e.Budget(0, 1) == 1}
	once, _ := trainedRuns.LoadOrStore(key, sync.OnceValue(func() *run {
		r := &run{stageOne: newStageOne(g, prior)}
		r.gamma = min(theory.Gamma(prior), 1-theory.RootFraction(g.Graph))
		n := float64(r.t)
		end := stageOneTime(prior) * n * num.Log(n)
		if fault == tooShort {
			end /= 10
		}
		star := make([][]float64, r.t)
		r.rows = make([][]float64, r.t)
		for i := range r.rows {
			_, r.rows[i] = flow(r.scaled(i, 1), end, nil)
			child := g.Graph.Parent(i) >= 0
			if fault == toItself && child || fault == firstRoot && !child {
				clear(r.rows[i])
				r.rows[i][i*int(unit(child))] = 1
			}
			if !child {
				star[i] = r.rows[i]
			}
		}
		mc := theory.MonteCarlo{
			Graph: g.Graph, Prior: prior, Eps: 1 / math.Sqrt(r.teff), Reading: theory.QueryInSequence,
			Small: math.Pow(r.gamma, 3) / (4 * float64(r.s*r.s)), Samples: e.Budget(500, 200), Seed: Seed, Workers: 1,
		}
		mc.Rows = r.rows
		r.Full = mc.Run(betaGrid())
		mc.Rows = star
		r.Star = mc.Run(betaGrid())
		return r
	}))
	return once.(func() *run)()
}

// trainedSizes are the T of the trends of stage 2.
func (e *Env) trainedSizes() []int { return []int{16, 32, 64, 128, 256, 512}[:e.Budget(6, 3)] }

// overRuns fits value against T_eff over each growing family and prior and
// returns the finding with the least margin.
func (e *Env) overRuns(claimed float64, fault spoil, families []string, value func(*run) float64) Finding {
	var fs []Finding
	low, high := math.Inf(1), math.Inf(-1)
	for _, prior := range trainedPriors() {
		for _, family := range families {
			d := tendency{claimed: claimed}
			var last *run
			for _, t := range e.trainedSizes() {
				if e.Err() != nil {
					return Finding{}
				}
				last = e.trained(growingGraph(family, t), prior, fault)
				d.x, d.y = append(d.x, last.teff), append(d.y, value(last))
			}
			f := d.finding()
			low, high = min(low, f.LHS), max(high, f.LHS)
			f.Instance = last.instance()
			f.Instance["values"] = roundedTo3(d.y)
			fs = append(fs, f)
		}
	}
	f := worst(fs...)
	f.Seed = Seed
	f.Note = fmt.Sprintf("Exponents in T_eff from %.2f to %.2f over %d families of graphs and 2 priors, T = %d to %d.", low, high, len(families), e.trainedSizes()[0], e.trainedSizes()[len(e.trainedSizes())-1])
	return f
}

func roundedTo3(x []float64) []string {
	out := make([]string, len(x))
	for i, v := range x {
		out[i] = fmt.Sprintf("%.3g", v)
	}
	return out
}

// betaStarIndex is the index in betaGrid of the first beta at or above beta*,
// exp(beta*) = constant T_eff^(1/12) log^(-1/6) T.
func (r *run) betaStarIndex(constant float64) int {
	b := theory.BetaStar(constant, r.teff, r.t)
	return min(max(int(math.Ceil(4*b)), 0), 32)
}

// mostOf returns the largest mean of the estimates.
func mostOf(es []theory.Estimate) float64 {
	most := 0.0
	for _, e := range es {
		most = max(most, e.Mean)
	}
	return most
}

// stageTwoLower finds up to which beta -Delta_beta exceeds
// gamma^8 S^-6 e^(-2 beta)/4 by three standard errors, as the constant C in
// exp(beta) = C T_eff^(1/12) log^(-1/6) T, cut at 100. The claim is that some C
// does for all T, so that the largest one does not fall.
func stageTwoLower(e *Env, fault spoil) Finding {
	least, quotient := math.Inf(1), math.Inf(1)
	f := e.overRuns(0, fault, growing, func(r *run) float64 {
		constant := 0.0
		for _, at := range r.Full {
			bound := math.Pow(r.gamma, 8) * math.Pow(float64(r.s), -6) * num.Exp(-2*at.Beta) / 4
			if at.Beta == 0 {
				quotient = min(quotient, -at.DeltaBeta.Mean/bound)
			}
			if !(-at.DeltaBeta.Mean-3*at.DeltaBeta.StdErr > bound) {
				break
			}
			constant = num.Exp(at.Beta - theory.BetaStar(1, r.teff, r.t))
		}
		constant = min(constant, 100)
		least = min(least, constant)
		return 1 / max(constant, 1e-3)
	})
	f.Note += fmt.Sprintf(" LHS and values are those of 1/C, C being the constant in exp(beta*), cut at 100 (where runs reach the cut their values are equal by construction); the least C is %.3g. At beta = 0, -Delta_beta is at least %.3g times the bound.", least, quotient)
	if least < 0.1 {
		f.Verdict, f.Margin = Inconsistent, -1
		f.Note += " Some graph has no growth at all."
	}
	return f
}

// stageTwoDynamics runs beta(t+1) = beta(t) - eta2 Delta_beta with Delta_beta
// interpolated between the beta of the grid, and fits
// tau2 eta2 / (e^(2 beta*) beta*) against T_eff; beta* belongs to C = 2, 8.
func stageTwoDynamics(e *Env, fault spoil) Finding {
	overshoot, most, never := 0.0, 0.0, false
	f := e.overRuns(0, fault, growing, func(r *run) float64 {
		value := 0.0
		for _, constant := range []float64{2, 8} {
			target := theory.BetaStar(constant, r.teff, r.t)
			for _, rate := range []float64{1, 0.25} {
				beta, steps := math.Pow(r.teff, -1.5), 0
				limit := int(1e4 / rate)
				for ; beta < target && steps < limit; steps++ {
					k := min(int(4*beta), 31)
					w := 4*beta - float64(k)
					beta -= float64(rate * (float64((1-w)*r.Full[k].DeltaBeta.Mean) + float64(w*r.Full[k+1].DeltaBeta.Mean)))
					beta = max(beta, 0)
				}
				never = never || beta < target
				overshoot = max(overshoot, beta-target)
				value = max(value, float64(steps)*rate/(num.Exp(2*target)*target))
			}
		}
		most = max(most, value)
		return value
	})
	f.Note += fmt.Sprintf(" tau2 eta2 <= %.3g e^(2 beta*) beta* for C = 2, 8 and eta2 = 1, 1/4; the largest overshoot beyond beta* is %.3g.", most, overshoot)
	if never || overshoot > 1 {
		f.Verdict, f.Margin = Inconsistent, -1
		f.Note += " Some run does not reach beta*, or leaps by more than one."
	}
	return f
}

func growthClaims() []Claim {
	hypotheses := `$A^{(1)}$ after $\tau_1$ of stage 1 at $\beta_0\to0$, $\epsilon=T_{\mathrm{eff}}^{-1/2}$; chains, in-context graphs, spiders; two priors; query in sequence`
	return []Claim{
		{
			ID: "thm-stage2-lower", Title: "beta grows", Section: stageTwoSection,
			Statement:  `$-\Delta_\beta(\theta)\ge\frac14\gamma^8S^{-6}e^{-2\beta}$ for $e^\beta\le C_{\gamma,S}T_{\mathrm{eff}}^{1/12}\log^{-1/6}T$`,
			Hypotheses: hypotheses,
			Uses:       []string{"cor-stage1-parents", "lem-compare-shift", "lem-concentrate-e3", "lem-concentrate-e12", "lem-bound-ghat"},
			Check:      func(e *Env) Finding { return stageTwoLower(e, sound) },
			Fault:      "positions with a parent attend to themselves",
			Faulty:     func(e *Env) Finding { return stageTwoLower(e, toItself) },
		},
		{
			ID: "lem-a2-dynamics", Title: "Stage 2 reaches beta*", Section: stageTwoSection,
			Statement:  `$\beta^*\le\beta(\tau_1+\tau_2)\le1+\beta^*$ for some $\tau_2\lesssim e^{2\beta^*}\beta^*\eta_2^{-1}$`,
			Hypotheses: `$\eta_2\le1$; $\Delta_\beta$ interpolated between multiples of $1/4$; ` + hypotheses,
			Uses:       []string{"thm-stage2-upper", "thm-stage2-lower"},
			Check:      func(e *Env) Finding { return stageTwoDynamics(e, sound) },
			Fault:      "positions with a parent attend to themselves",
			Faulty:     func(e *Env) Finding { return stageTwoDynamics(e, toItself) },
		},
	}
}

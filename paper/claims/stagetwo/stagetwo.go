// Package stagetwo is the appendix on the gradient of A2 and on the growth of beta in
// stage 2. Lemma 11 is in idealizedgradient.go.
package stagetwo

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"

	"learncausal/paper/claims/instruments"
	"learncausal/paper/exact"
	"learncausal/paper/ledger"
	"learncausal/pkg/graph"
	"learncausal/pkg/num"
	"learncausal/pkg/theory"
)

// Section lists the claims in the order of the paper.
var Section = ledger.Section{Title: "Gradient of A2 (Stage 2)", Claims: []ledger.Claim{
	lemA2Sym, thmStageTwoUpper, thmStageTwoUpperSharp, thmStageTwoLower,
	lemBoundGHat, lemBoundGHatSharp, lemBoundGHatStepSecond, lemBoundGHatStepLast,
	lemA2Dynamics,
}}

var lemA2Sym = ledger.Claim{
	ID: "lem-a2-sym", Number: "Lemma 9", Title: "A2 keeps one degree of freedom",
	Statement:  `$A^{(2)}=\beta_0I_S+\beta\,(I_S-\tfrac1S1_S1_S^\top)$ for all time`,
	Hypotheses: `$P_\pi$ symmetric; $A^{(2)}(0)=\beta_0I_S$`,
	Tried:      `$A^{(1)}$ with entries in $\{0,\frac12,1\}$, three graphs and priors, both readings of the query`,
	Uses:       []string{"lem-pop-grads", "assume-prior-remark"}, RestsOn: []string{"lem-pop-grads"},
	// that the prior is symmetric is a hypothesis
	Check: oneDegreeOfFreedom(exact.Orbits, 1),
	Faults: []ledger.Fault{
		ledger.Drop(`$P_\pi$ symmetric`, "the prior is one matrix without its relabelings",
			oneDegreeOfFreedom(func(bases ...exact.Matrix) []exact.Matrix { return bases[len(bases)-1:] }, 1)),
		ledger.Plant("1 1^T/(S+1) for 1 1^T/S", oneDegreeOfFreedom(exact.Orbits, 0)),
	},
	Spare: []ledger.Spare{
		ledger.Spared(`$A^{(2)}(0)=\beta_0I_S$`, "only says where A2 starts; from a I + b 1 1^T it keeps that form"),
	},
}

// A smallStage is stage 2 on a small graph in rational numbers, as beta is a multiple of 2 log 2 or 2
// log(3/2). Each row of the attention is the mean of two positions.
type smallStage struct {
	Graph     *graph.Forest  `at:"graph"`
	Prior     []exact.Matrix `at:"prior"`
	Attention exact.Matrix   `at:"softmax(A1)"`
	Half      *big.Rat       `at:"exp(beta/2)"`
	Eps       *big.Rat       `at:"epsilon"`
	Reading   theory.Reading `at:"reading"`
}

// gradients calls decide with G2 in both readings, under the uniform prior on the matrices.
func (x smallStage) gradients(matrices []exact.Matrix, decide func(x smallStage, g2 exact.Matrix)) {
	for _, x.Reading = range bothReadings {
		decide(x, instruments.ExactPopulation(x.Graph, x.Eps, x.Reading, matrices...).G2(x.Attention, x.Half))
	}
}

var bothReadings = []theory.Reading{theory.QueryApart, theory.QueryInSequence}

// oneDegreeOfFreedom compares G2 with the multiple of I - 1 1^T/(S+1-less) that has the same first entry. The function
// prior returns the matrices over which the prior is uniform.
func oneDegreeOfFreedom(prior func(bases ...exact.Matrix) []exact.Matrix, less int64) ledger.Check {
	two, three := exact.Int(2), big.NewRat(3, 2)
	cases := []smallStage{
		{Graph: graph.MustNew(-1, 0, 1, -1), Prior: stack("7/10 3/10; 2/5 3/5", "3/10 7/10; 3/5 2/5"), Half: two},
		{Graph: graph.MustNew(-1, 0, -1, 2, -1), Prior: stack("9/10 1/10; 1/2 1/2", "1/10 9/10; 1/2 1/2"), Half: three},
		{Graph: graph.MustNew(-1, 0, 0, -1), Prior: stack("1/2 3/10 1/5; 3/5 1/5 1/5; 3/10 2/5 3/10"), Half: two},
	}
	return func(e *ledger.Env, w *ledger.Worst) string {
		r := rand.New(e.Stream("attention"))
		for _, x := range cases[:e.Budget(3, 2)] {
			x.Attention, x.Eps = twoHeads(r, x.Graph.T()), big.NewRat(1, 10)
			x.gradients(prior(x.Prior...), func(x smallStage, g2 exact.Matrix) {
				for a, b := range instruments.Pairs(len(g2)) {
					want := g2[0][0]
					if a != b {
						want = exact.Quo(want, exact.Int(less-int64(len(g2))))
					}
					w.EqualRat("", g2[a][b], want, ledger.Of(x, "entry", []int{a + 1, b + 1}))
				}
			})
		}
		return "Equal as rational numbers in both readings of the loss. Proof: relabeling all tokens by sigma " +
			"leaves the law of (pi, X, s) in place and conjugates A2 by sigma, so G2 commutes with Sym(S) and is a I + b 1 " +
			"1^T; 1^T G2 = 0 as J(v) 1 = 0. Symmetry of the prior is all that is needed, not its mean."
	}
}

func stack(matrices ...string) (all []exact.Matrix) {
	for _, m := range matrices {
		all = append(all, exact.Rats(m))
	}
	return all
}

// twoHeads returns a random attention matrix over t positions. Each row is the mean of two positions.
func twoHeads(r *rand.Rand, t int) exact.Matrix {
	attention := exact.Zero(t, t)
	for i, row := range attention {
		for range 2 {
			j := r.IntN(i + 1)
			row[j] = exact.Add(row[j], big.NewRat(1, 2))
		}
	}
	return attention
}

var thmStageTwoUpper = ledger.Claim{
	ID: "thm-stage2-upper", Number: "Lemma 10", Title: "The growth of beta is bounded",
	Statement:  `$-\Delta_\beta(\theta)\le\bound{\tfrac1{S-1}}\le1$`,
	Hypotheses: growthForm + `; $\beta\ge0$; $\epsilon>0$`, Tried: upperTried,
	Uses:    []string{"lem-pop-grads", "eq-loss-rewrite"},
	OnPaper: []string{"thm-stage2-upper-sharp"},
	Check: growthAtMost(2, oneAndThree...).Noted("Proof: q_s' = kappa (E[z | s'] - E z) <= 1 as 0 <= z <= 1, " +
		"and the rows of pi sum to one. The 1 is the best for all S, of all beta: it is 1 - 1/S for beta >= 0 " +
		"(thm-stage2-upper-sharp)."),
	Spare: []ledger.Spare{
		ledger.Spared(growthForm, "the bound holds for whatever attention v; this only makes Delta_beta the change of beta"),
		ledger.Spared(`$\beta\ge0$`, "true for all beta"),
		ledger.Spared(`$\epsilon>0$`, "true at epsilon = 0 too, where f is positive"),
	},
}

var thmStageTwoUpperSharp = ledger.Claim{
	ID: "thm-stage2-upper-sharp", Number: "Lemma 10", Kind: ledger.Step,
	Title:      "The growth of beta is bounded, with the best constant",
	Statement:  `$-\Delta_\beta(\theta)\le\bound{\tfrac1S}$`,
	Hypotheses: growthForm + `; $\beta\ge0$; $\epsilon>0$`, Tried: upperTried + `, ten times round`,
	Uses: []string{"lem-pop-grads", "eq-loss-rewrite-corrected"},
	Check: growthAtMost(10, oneAndThree...).Noted("Proof: (S-1) times the growth is at most the mean over s of " +
		"1 - E z, and E z grows with beta from its value at 0, where the mean over s is at least 1/S. No constant below " +
		"1/S will do: on a cycle of states it is approached."),
	Faults: []ledger.Fault{ledger.Drop(`$\beta\ge0$`, "beta < 0", growthAtMost(10, big.NewRat(1, 3)))},
	Spare: []ledger.Spare{
		ledger.Spared(growthForm, "this only makes Delta_beta the change of beta; of the attention it asks for "+
			"exp(beta z), up to a factor"),
		ledger.Spared(`$\epsilon>0$`, "true at epsilon = 0 too, where f is positive"),
	},
}

const (
	growthForm = `$A^{(2)}=\beta I_S-(\beta-\beta_0)\tfrac1S1_S1_S^\top$`
	upperTried = `in rationals small graphs with random attention and prior, and the cycle over $S=2,3,5,20$ states`
)

// oneAndThree are the values of exp(beta) on the cycles.
var oneAndThree = []*big.Rat{exact.Int(1), exact.Int(3)}

// growthAtMost decides that -Delta_beta is at most the bound in rationals, on small graphs with
// random attention and on cycles of states with the given rounds and exp(beta).
func growthAtMost(rounds int, expBetas ...*big.Rat) ledger.Check {
	return func(e *ledger.Env, w *ledger.Worst) string {
		most := func(states int) *big.Rat { // (S-1) times the bound
			s, less := exact.Int(states), exact.Int(states-1)
			return exact.Mul(less, e.Bound(0).Rat(ledger.At[*big.Rat]{"S": s, "S-1": less}))
		}
		x := cycle{
			Graph: "chain", Pi: "s -> s+1", Attention: "on the parents, the query on itself", Eps: big.NewRat(1, 10000),
		}
		for _, x.S = range []int{2, 3, 5, 20} {
			for _, x.Reading = range bothReadings {
				for _, x.ExpBeta = range expBetas {
					x.T = rounds*x.S + 1
					w.AtMostRat(x.growth(), most(x.S), ledger.Of(x))
				}
			}
		}
		r := rand.New(e.Stream("attention"))
		for k := range e.Budget(12, 4) {
			x := smallStage{
				Graph: []*graph.Forest{graph.Chain(4), graph.MustNew(-1, 0, 0, -1), graph.MustNew(-1, -1, 0, -1)}[k%3],
				Prior: exact.Orbits([][]exact.Matrix{
					stack("19/20 1/20; 1/20 19/20", "1/20 19/20; 19/20 1/20"), stack("9/10 1/10; 1/2 1/2"),
				}[k%2]...),
				Eps: big.NewRat(1, 1000),
			}
			x.Attention, x.Half = twoHeads(r, x.Graph.T()), exact.Int(1+r.IntN(3))
			x.gradients(x.Prior, func(x smallStage, g2 exact.Matrix) {
				w.AtMostRat(exact.Sub(new(big.Rat), g2.Trace()), most(2), ledger.Of(x)) // tr G2 = (S-1) Delta_beta
			})
		}
		return ""
	}
}

// A cycle is stage 2 under the matrix s -> s+1 on a chain of T-1 positions and the query. Children attend to their
// parents, roots to themselves. Only x_1 and x_T are random; by symmetry x_1 = 0.
type cycle struct {
	S         int            `at:"S"`
	T         int            `at:"T"`
	Graph     string         `at:"graph"`
	Pi        string         `at:"pi"`
	Attention string         `at:"softmax(A1)"`
	ExpBeta   *big.Rat       `at:"exp(beta)"`
	Eps       *big.Rat       `at:"epsilon"`
	Reading   theory.Reading `at:"reading"`
}

// growth returns -(S-1) Delta_beta.
func (x cycle) growth() *big.Rat {
	sum, more := new(big.Rat), exact.Sub(x.ExpBeta, exact.Int(1))
	for last, query := range instruments.Pairs(x.S) {
		share := exact.Inv(exact.Int(x.S * x.S))
		if x.Reading == theory.QueryInSequence {
			if query != last {
				continue
			}
			share = exact.Inv(exact.Int(x.S))
		}
		looks, hits, both := 0, 0, 0 // positions that attend to the query's token, that have its successor, and both
		for i := range x.T {
			token, seen := i%x.S, (i+x.S-1)%x.S
			switch i {
			case 0:
				seen = 0
			case x.T - 1:
				token, seen = last, last
			}
			look, hit := seen == query, token == (query+1)%x.S
			looks, hits, both = looks+count(look), hits+count(hit), both+count(look && hit)
		}
		total := exact.Add(exact.Int(x.T), exact.Mul(more, exact.Int(looks)))
		f := exact.Quo(exact.Add(exact.Int(hits), exact.Mul(more, exact.Int(both))), total)
		above := exact.Quo(exact.Mul(x.ExpBeta, exact.Sub(exact.Int(both), exact.Mul(f, exact.Int(looks)))), total)
		sum.Add(sum, exact.Mul(share, exact.Quo(above, exact.Add(f, x.Eps))))
	}
	return sum
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}

var thmStageTwoLower = ledger.Claim{
	ID: "thm-stage2-lower", Number: "Lemma 10", Title: "beta grows",
	Statement: `$-\Delta_\beta(\theta)\ge\bound[the bound]{\frac14\gamma^8S^{-6}e^{-2\beta}}$ for $A^{(2)}=\beta I_S-(\beta-\beta_0)\frac1S1_S1_S^\top$ with $0<\beta_0\le T_{\mathrm{eff}}^{-3/2}$, $\beta\ge0$ and $e^\beta\le C_{\gamma,S}T_{\mathrm{eff}}^{1/12}\log^{-1/6}T$, ` +
		fmt.Sprintf(`$C_{\gamma,S}=\gamma^{9/2}S^{-7/2}/%d$`, instruments.GrowthConstant),
	Parts:      []string{"the bound", "the range of beta"},
	Hypotheses: instruments.GrowthHypotheses,
	Tried:      `chains and in-context graphs with $T=3^{120}$, $3^{300}$ and $3^{600}$, two $\pi$, and 200 random ones with $3^{600}$: the growth is enclosed by $\hat g$ and the bounds of Lemmas 30 and 31 with constants; with $C=2$, enclosed on chains with the rows of $A^{(1)}_*$, $T=32$ and $128$, and $256$ for one of three priors over two states; query in sequence`,
	Uses: []string{
		"cor-stage1-parents", "lem-compare-shift", "lem-concentrate-e3", "lem-concentrate-e12", "lem-bound-ghat",
	},
	RestsOn: []string{
		"lem-compare-z-corrected", "lem-compare-shift-sharp", "lem-concentrate-e3", "lem-concentrate-e12",
		"lem-bound-ghat", "lem-teff-leaves-corrected",
	},
	OnPaper: []string{"thm-stage2-lower"},
	// The bound is half of Lemma 11 (lem-bound-ghat), whose tightness is 0.002.
	Check: lowerGrowth,
	Faults: []ledger.Fault{
		ledger.PlantIn("the range of beta", "T_eff^(1/2) for T_eff^(1/12)",
			growthOfChains(0.5, longChains(32, 128)...)),
		ledger.Drop(instruments.GrowthPrior, "a chain that mixes in one step", growthOfChains(1./12,
			instruments.LongChain{Bases: []exact.Matrix{exact.Rats("1/2 1/2; 1/2 1/2")}, T: 32, Eps: 1 / math.Sqrt(32)})),
		ledger.Drop(instruments.GrowthRows, "positions with a parent attend to themselves",
			growthOfSpoilt(func(c *instruments.LongChain) { c.Astray = true })),
		ledger.Drop(instruments.GrowthEps, "epsilon = 10^4", growthOfSpoilt(func(c *instruments.LongChain) { c.Eps = 1e4 })),
	},
}

// growthOfSpoilt decides the bound on chains with a planted fault.
func growthOfSpoilt(spoil func(c *instruments.LongChain)) ledger.Check {
	chains := longChains(32, 128)
	for i := range chains {
		spoil(&chains[i])
	}
	return growthOfChains(1./12, chains...)
}

// leastGrowth returns the bound of Lemma 10 (thm-stage2-lower).
func leastGrowth(e *ledger.Env, gamma, beta float64, s int) float64 {
	return e.Bound(0).Float(ledger.At[float64]{`\gamma`: gamma, "S": float64(s), `e^\beta`: num.Exp(beta)})
}

// betasUpTo returns 0, beta*/2 and beta* = log(2 T_eff^power log^(-1/6) T).
func betasUpTo(power, teff float64, t int) []float64 {
	most := math.Log(2) + power*math.Log(teff) - math.Log(math.Log(float64(t)))/6
	return []float64{0, most / 2, most}
}

// lowerGrowth decides the bound at the lengths of its C, and with C = 2 on chains that can be summed over.
func lowerGrowth(e *ledger.Env, w *ledger.Worst) string {
	farGrowth(120, 300, 600)(e, w)
	chains := longChains(32, 128)
	if longest := longChains(256); e.Budget(1, 0) > 0 {
		chains = append(chains, longest[len(longest)-1])
	}
	var near ledger.Worst
	growthOfChains(1./12, chains...)(e, &near)
	w.Include(&near)
	return w.IfHolds("With this C a beta >= 0 is in " +
		"the range from T = 10^51 on at gamma = 2/5, S = 2. At the lengths of the sums C = 2 serves too; with T_eff^(1/2) " +
		"it does not, for under the third prior epsilon alone lets beta fall beyond a multiple of T_eff^(1/2). " +
		instruments.RootsUnresolved)
}

// growthOfChains encloses the growth on the chains, and decides that it is at least
// the bound for beta up to beta* with T_eff^power.
func growthOfChains(power float64, chains ...instruments.LongChain) ledger.Check {
	return func(e *ledger.Env, w *ledger.Worst) string {
		for _, c := range chains {
			for _, beta := range betasUpTo(power, float64(c.T), c.T) {
				if w.Failed() || e.Err() != nil {
					break
				}
				least := exact.Point(new(big.Rat).SetFloat64(leastGrowth(e, c.Gamma(), beta, 2)))
				w.AtMostInterval(least, c.Growth(beta), func() ledger.Instance { return c.Instance(beta) })
			}
		}
		return ""
	}
}

// The parts and hypotheses of lem-a2-dynamics.
const (
	timeOfBeta  = "the time"
	leapOfBeta  = "no leap"
	growthBelow = `$-\Delta_\beta\ge ce^{-2\beta}$ for $0\le\beta\le\beta^*$`
	growthAbove = `$-\Delta_\beta\le1$ for $\beta\ge0$`
	smallRate   = `$0<\eta_2\le1$`
)

var lemA2Dynamics = ledger.Claim{
	ID: "lem-a2-dynamics", Number: "Lemma 12", Title: "Stage 2 reaches beta*",
	Statement:  `If $\beta(\tau_1)=\beta_0<\beta^*$, then $\beta^*\le\beta(\tau_1+\tau_2)\le1+\beta^*$ for some $\tau_2\lesssim e^{2\beta^*}\beta^*\eta_2^{-1}$`,
	Hypotheses: `the hypotheses of Lemma 10 (thm-stage2-lower); ` + smallRate,
	Tried:      `chains with $T=10^{54}$ and $181501\cdot10^{45}$, $S=2$, $\gamma=\frac25$, $\eta_2=1$; $C=1$, $100$ and $10^4$`,
	Uses:       []string{"thm-stage2-upper", "thm-stage2-lower"}, Defect: ledger.Boundary,
	Check: oneStep("1e54 181501e45").Noted("Where beta0 < beta*, stage 2 takes a step, and beta* may be as " +
		"small as you like: the bound is then below every positive number. With beta* >= 1/2 the lemma is true."),
	Correction: &ledger.Claim{
		ID: "lem-a2-dynamics-corrected", Title: "Stage 2 reaches beta*, and rounds up its time",
		Statement:  `If $\beta(\tau_1)=\beta_0$ with $0\le\beta_0<\beta^*$, then $\beta^*\le\beta(\tau_1+\tau_2)\le1+\beta^*$ for some $\tau_2\le1+(e^{2\beta^*}-1)/(2c\,\eta_2)$, where $c=\frac14\gamma^8S^{-6}$ by Lemma 10`,
		Parts:      []string{timeOfBeta, leapOfBeta},
		Hypotheses: growthBelow + "; " + growthAbove + "; " + smallRate,
		Tried:      `growth equal to its lower bound, to one, at random between them, and equal to $\hat g$ under two priors; $c$ from $1/200$, $\eta_2$ from $1/8$, $\beta^*$ up to $3$`,
		Uses:       []string{"thm-stage2-upper", "thm-stage2-lower"},
		Check:      betaClimb{timeOfClimb, 1, 1, 1, bothRates}.check,
		Faults: []ledger.Fault{
			ledger.PlantIn(timeOfBeta, "no factor e^(2 beta*)", betaClimb{
				func(target float64) float64 { return target }, 1, 1, 1, bothRates,
			}.check),
			ledger.PlantIn(timeOfBeta, "e^beta* for e^(2 beta*)", betaClimb{math.Expm1, 1, 1, 1, bothRates}.check),
			ledger.PlantIn(leapOfBeta, "9/10 for 1 above beta*", betaClimb{timeOfClimb, 0.9, 1, 1, bothRates}.check),
			ledger.Drop(growthBelow, "growth of 1/4 of that", betaClimb{timeOfClimb, 1, 0.25, 1, bothRates}.check),
			ledger.Drop(growthAbove, "growth of 2", betaClimb{timeOfClimb, 1, 1, 2, bothRates}.check),
			ledger.Drop(smallRate, "eta2 = 2", betaClimb{timeOfClimb, 1, 1, 1, []float64{2}}.check),
		},
	},
}

// oneStep decides 1 <= C e^(2 beta*) beta*/eta2 on chains of several lengths T, with beta0 = T^(-2) < beta*, eta2 = 1,
// S = 2 and gamma = 2/5.
func oneStep(lengths string) ledger.Check {
	return ledger.Decided(func(w *ledger.Worst) {
		s, gamma := exact.Int(2), exact.Frac(2, 5)
		instruments.Order{
			LHS: func(t *big.Rat) exact.Interval {
				begins := exact.Point(exact.Inv(exact.Pow(t, 2))).AtMost(endOfClimb(s, gamma, t))
				return exact.Point(exact.Indicator(begins == exact.Certainly))
			},
			RHS: func(t *big.Rat) exact.Interval {
				end := endOfClimb(s, gamma, t)
				return end.Add(end).Exp().Mul(end)
			},
			At: func(t *big.Rat) ledger.Instance {
				return ledger.Instance{"S": 2, "gamma": gamma, "T": t, "beta0": exact.Inv(exact.Pow(t, 2)), "eta2": exact.Int(1)}
			},
		}.Decide(w, exact.Rats(lengths)[0], instruments.CandidateConstants...)
	})
}

// endOfClimb encloses beta* of a chain: e^(12 beta*) = C^12 T/log^2 T, C = gamma^(9/2) S^(-7/2)/10.
func endOfClimb(s, gamma, t *big.Rat) exact.Interval {
	range12 := exact.Quo(exact.Pow(gamma, 54), exact.Mul(exact.Pow(s, 42), exact.Pow(exact.Int(10), 12)))
	log := exact.Point(t).Log()
	return exact.Point(exact.Mul(range12, t)).Quo(log.Mul(log)).Log().Quo(exact.Point(exact.Int(12)))
}

// A betaClimb is the claim that beta exceeds beta* after at most 1 + time/(c eta2)
// steps, by at most leap, if its growth is from least c e^(-2 beta) to most.
type betaClimb struct {
	time              func(target float64) float64
	leap, least, most float64
	rates             []float64 // values of eta2
}

// bothRates are the values of eta2 that are tried.
var bothRates = []float64{1, 0.125}

func (q betaClimb) check(e *ledger.Env, w *ledger.Worst) string {
	r := rand.New(e.Stream("growth"))
	for _, c := range []float64{0.5, 0.05, 0.005} {
		least := func(beta float64) float64 { return q.least * c * num.Exp(-2*beta) }
		q.climb(w, "least", c, least)
		q.climb(w, "most", c, func(float64) float64 { return q.most })
		q.climb(w, "random", c, func(beta float64) float64 {
			return least(beta) + float64(r.Float64()*(q.most-least(beta)))
		})
	}
	for _, prior := range instruments.StageTwoPriors() {
		ghat := func(beta float64) float64 { // at r = 1/2
			return theory.Mean(prior, func(c *theory.Chain) float64 { return c.GHatBeta(0.5, beta) })
		}
		least := math.Inf(1) // ghat e^(2 beta) is smooth, and the grid fine enough
		for k := range 400 {
			beta := float64(k) / 100
			least = min(least, ghat(beta)*num.Exp(2*beta))
		}
		q.climb(w, "ghat of "+prior.String(), 0.99*least, ghat)
	}
	return "As e^(2 beta) grows by at least 2 c eta2 in a step. The factor beta* is not needed; least " +
		"growth takes nearly this time."
}

// timeOfClimb is (e^(2 beta*) - 1)/2.
func timeOfClimb(target float64) float64 { return math.Expm1(2*target) / 2 }

// climb runs beta(t+1) = beta(t) + eta2 growth(beta(t)) from zero to several beta*, and
// compares the number of steps and the leap. The rounding of beta in 10^5 steps is
// below 1e-9; where it could change the number of steps, that number is off by one.
func (q betaClimb) climb(w *ledger.Worst, name string, c float64, growth func(float64) float64) {
	for _, target := range []float64{0.03, 0.5, 1, 2, 3} {
		for _, rate := range q.rates {
			x := struct {
				Growth string  `at:"growth"`
				C      float64 `at:"c"`
				Rate   float64 `at:"eta2"`
				Target float64 `at:"beta*"`
				Steps  int     `at:"tau2"`
				Beta   float64 `at:"beta"`
			}{name, c, rate, target, 0, 0}
			bound, before := q.time(target)/(c*rate), 0.0
			for x.Beta < target && float64(x.Steps) < 10*bound+10 { // by then it has failed
				before, x.Beta, x.Steps = x.Beta, x.Beta+float64(rate*growth(x.Beta)), x.Steps+1
			}
			const rounding = 1e-9
			close := target-before < rounding || x.Beta-target < rounding && x.Beta >= target
			w.AtMostRounded(float64(x.Steps-1), bound, instruments.Indicator(close), ledger.Of(x))
			w.AtMostRounded(x.Beta, target+q.leap, rounding, ledger.Of(x))
		}
	}
}

// longChains returns chains of the given lengths under three priors over two states,
// symmetric with constant mean: the prior of the trends, one with the largest gamma,
// and one under which eps > 0 slows the growth of beta.
func longChains(lengths ...int) []instruments.LongChain {
	var out []instruments.LongChain
	for _, bases := range [][]exact.Matrix{
		{exact.Rats("4/5 1/5; 2/5 3/5"), exact.Rats("1/5 4/5; 3/5 2/5")},
		{exact.Rats("293/1000 707/1000; 707/1000 293/1000"), exact.Rats("707/1000 293/1000; 293/1000 707/1000")},
		{exact.Rats("5/6 1/6; 2/3 1/3"), exact.Rats("5/12 7/12; 7/12 5/12")},
	} {
		for _, t := range lengths {
			out = append(out, instruments.LongChain{Bases: bases, T: t, Eps: 1 / math.Sqrt(float64(t))})
		}
	}
	return out
}

// farGrowth decides that the growth of beta is at least the bound, at beta = 0, beta*/2 and beta*, where
// e^(beta*) = gamma^(9/2) S^(-7/2) T_eff^(1/12) log^(-1/6) T/10 is at least one.
func farGrowth(powers ...int) ledger.Check {
	return func(e *ledger.Env, w *ledger.Worst) string {
		drawn := instruments.DrawFarLengths(e.Stream("far"), e.Budget(200, 10), slices.Max(powers))
		for _, c := range append(instruments.FarLengths(powers...), drawn...) {
			q, _, betas := c.Ends()
			for _, part := range []float64{0, 0.5, 1} {
				if beta := part * betas[0]; betas[0] >= 0 {
					least := leastGrowth(e, q.Gamma, beta, len(c.Pi))
					w.AtMostInterval(instruments.Around(least, least), c.Growth(beta), func() ledger.Instance {
						return c.Instance().With("beta", beta)
					})
				}
			}
		}
		return ""
	}
}

package claims

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"

	"learncausal/pkg/exact"
	"learncausal/pkg/graph"
	"learncausal/pkg/ledger"
	"learncausal/pkg/markov"
	"learncausal/pkg/num"
	"learncausal/pkg/task"
	"learncausal/pkg/theory"
)

// finiteSample is Appendix I: both stages with the gradients of N sequences in
// place of the population's.
var finiteSample = ledger.Section{Title: "Finite Sample Analysis", Claims: []ledger.Claim{
	thmFiniteStage1, thmFiniteStage1StepMean, thmFiniteStage1StepMeanCorrected,
	thmFiniteStage1StepUnion, thmFiniteStage1StepUnionCorrected, thmFiniteStage1StepNaive,
	thmFiniteStage2, thmFiniteStage2StepExponent, thmFiniteStage2StepExponentCorrected,
	thmFiniteStage2Step1, thmFiniteStage2Step1Corrected, thmFiniteStage2Step2, thmFiniteStage2Step3,
	claimSampleSize,
}}

// keepOrFail takes the worst point that a search in floats has found. The sides
// are sums of at most a few hundred products, so that an excess above 1e-9 of
// them is not rounding, and the statement fails.
func keepOrFail(w *ledger.Worst, lhs, rhs float64, at func() ledger.Instance) {
	w.Keep(lhs, rhs, at)
	if ledger.Slack(lhs, rhs) < -1e-9 {
		w.Fail(ledger.Witness{Instance: at()})
	}
}

// unlessBroken returns the finding with a note that tells of no counterexample,
// where there is none.
func unlessBroken(f ledger.Finding, note string) ledger.Finding {
	if f.Verdict == ledger.Holds {
		f.Note = note
	}
	return f
}

var thmFiniteStage1 = ledger.Claim{
	ID: "thm-finite-stage1", Number: "Lemma 33", Title: "Finite samples: the gradient of stage 1",
	Statement:  `For every $\delta>0$, with probability $1-\delta$: $\|\hat g^{\mathrm{emp}}_i-\hat g_i\|_\infty \le C_{\gamma,S}\log(T/\delta)/\sqrt N$`,
	Hypotheses: `query in sequence (the samples are); $\epsilon=T_{\mathrm{eff}}^{-1/2}$; the largest error over all $i,j$, its maximum over 8 samples ($\delta\approx1/8$), against $N$ and against $T$`,
	Uses: []string{
		"cor-muhat", "thm-finite-stage1-step-union", "thm-finite-stage1-step-naive", "thm-finite-stage1-step-mean",
	},
	Check:  empiricalGradient(0.5),
	Faults: []ledger.Fault{{What: "the rate 1/N", Check: empiricalGradient(1)}},
}

// empiricalGradient fits the largest error of ghat^emp, over all entries and 8
// samples, against N at T = 32 and against T at N = 2048; N^-rate is claimed.
func empiricalGradient(rate float64) ledger.Check {
	return func(e *ledger.Env) ledger.Finding {
		prior, least := stageOnePriors()[0], 0.0
		var fs []ledger.Finding
		for _, family := range []string{"in-context", "spider"} {
			byN, byT := ledger.Trend{Claimed: -rate, Rival: -rate - 0.25}, ledger.Trend{Claimed: 0, Rival: -0.25}
			// scaled divides an error by log(8T)/sqrt(N), and keeps the largest quotient.
			scaled := func(v float64, t, n int) float64 {
				v *= math.Sqrt(float64(n)) / num.Log(8*float64(t))
				least = max(least, v)
				return v
			}
			c := newFirstStage(graph.FamilyNamed(family), 32, prior)
			for _, n := range []int{64, 256, 1024, 4096, 16384}[:e.Budget(5, 4)] {
				v := c.errorOfSamples(e, n)
				byN.Add(float64(n), v)
				scaled(v, 32, n)
			}
			f := byN.Finding()
			f.Instance = c.instance()
			f.Note = fmt.Sprintf("Against N at T = 32: %s", f.Note)
			for _, t := range []int{16, 32, 64, 128}[:e.Budget(4, 3)] {
				n := e.Budget(2048, 512)
				c = newFirstStage(graph.FamilyNamed(family), t, prior)
				byT.Add(float64(t), scaled(c.errorOfSamples(e, n), t, n)*damping(prior, c.teff))
			}
			g := byT.Finding()
			g.Instance = c.instance()
			g.Note = fmt.Sprintf("After division by log(8T)/sqrt(N) and min mu/(min mu+eps), which tends to 1, "+
				"against T: %s", g.Note)
			fs = append(fs, f, g)
		}
		f := ledger.Weakest(fs...)
		f.Note += fmt.Sprintf(" Against N at T = 32 on the in-context graph: exponent %.3f. Least constant %.3g. "+
			"The gradient meant is that of query in sequence; see Lemma 33 (thm-finite-stage1-step-mean). "+
			"Hoeffding's inequality is meant for the complement of the event, and the binomial tail needs N of "+
			"order T_eff at least, or a log T/delta that is larger still.", fs[0].LHS, least)
		return f
	}
}

// errorOfSamples returns the largest error of an entry of ghat^emp over 8 samples
// of n sequences.
func (c *firstStage) errorOfSamples(e *ledger.Env, n int) float64 {
	most := 0.0
	for k := range 8 {
		src := e.Stream(c.family, uint64(c.t), uint64(n), uint64(k))
		emp := theory.EmpiricalGHat(task.Task{Graph: c.graph, Prior: c.prior}, 1/math.Sqrt(c.teff), n, src)
		for i, v := range emp {
			most = max(most, math.Abs(v-c.ghat[i]))
		}
	}
	return most
}

// damping returns (mu + eps)/mu for the lightest state: what eps takes off
// 1/(muhat + eps) at finite T, a factor that tends to 1.
func damping(prior *markov.Finite, teff float64) float64 {
	least := 1.0
	for _, mu := range prior.Mu {
		least = min(least, slices.Min(mu))
	}
	return 1 + 1/(math.Sqrt(teff)*least)
}

var thmFiniteStage1StepMean = ledger.Claim{
	ID: "thm-finite-stage1-step-mean", Number: "Lemma 33", Kind: ledger.Step, Quick: true,
	Title:      "The mean of the empirical gradient",
	Statement:  `$\mathbb{E}\,\hat g^{\mathrm{emp}}_{i,j} = \hat g_{i,j} = \sum_{s,s'}\mathbb{E}_{\pi,X}\big[\frac{\pi(s'\mid s)}{\hat\mu_X(s')+\epsilon}(x_{i,s'}-\hat\mu_X(s'))x_{j,s}\big]$`,
	Hypotheses: `query apart: $X$ is a whole sequence with a last row of its own, as $\hat g$ is printed`,
	Uses:       []string{"eq-loss-rewrite"}, Corrected: "thm-finite-stage1-step-mean-corrected",
	Check: empiricalMean(theory.QueryApart, numberOfStates).Noted("The samples carry the query as last token, " +
		"ghat as printed does not: the entries of row and column T differ by a factor and the others by order 1/T. " +
		"So the empirical gradient does not tend to ghat as printed, but to that of query in sequence, of which " +
		"everything said of ghat holds too."),
	Faults: []ledger.Fault{{
		What:  "without the factor S of the empirical gradient",
		Check: empiricalMean(theory.QueryApart, noFactor),
	}},
}

var thmFiniteStage1StepMeanCorrected = ledger.Claim{
	ID: "thm-finite-stage1-step-mean-corrected", Number: "Lemma 33", Quick: true,
	Title:      "The mean of the empirical gradient",
	Statement:  `The same with the last row of $X$ set to $e_s$ in the terms of $s$`,
	Hypotheses: `query in sequence`,
	Uses:       []string{"eq-loss-rewrite-corrected"},
	Check: empiricalMean(theory.QueryInSequence, numberOfStates).Noted("Equal in rationals on every instance: " +
		"the query is uniform, so the factor S turns the mean over queries into the sum over s."),
	Faults: []ledger.Fault{{
		What:  "without the factor S of the empirical gradient",
		Check: empiricalMean(theory.QueryInSequence, noFactor),
	}},
}

// numberOfStates and noFactor are factors of the empirical gradient.
func numberOfStates(pi exact.Matrix) *big.Rat { return exact.Frac(int64(len(pi)), 1) }
func noFactor(exact.Matrix) *big.Rat          { return exact.Frac(1, 1) }

// empiricalMean compares E ghat^emp with ghat as read, in rationals, for the last
// row of chains with two to four positions and matrices with small denominators.
// The first of these has trace one: its relabelings are a prior of Assumption 1,
// and both sides are the same for each of them.
func empiricalMean(reading theory.Reading, factor func(pi exact.Matrix) *big.Rat) ledger.Check {
	return func(*ledger.Env) ledger.Finding {
		var w ledger.Worst
		eps := exact.Frac(1, 2)
		matrices := []string{
			"1/4 1/4 1/2; 1/4 1/2 1/4; 1/4 1/2 1/4", "1/2 1/2; 1/2 1/2", "3/4 1/4; 1/4 3/4", "3/4 1/4; 1/2 1/2",
		}
		for _, t := range []int{3, 2, 4} {
			for _, rows := range matrices {
				g, pi := graph.Chain(t), exact.Rats(rows)
				ghat, mean := exactGHat(g, t-1, eps, reading, pi), meanOfSamples(g, t-1, eps, pi)
				for j := range mean {
					w.EqualRat("", exact.Mul(factor(pi), mean[j]), ghat[j], func() ledger.Instance {
						return ledger.Instance{"graph": g, "pi": pi, "eps": eps, "i": t, "j": j + 1}
					})
				}
			}
		}
		return w.Finding("")
	}
}

// meanOfSamples returns E Z_ij / S for row i by the sum over sequences, where Z
// is the gradient of one sample.
func meanOfSamples(g *graph.Forest, i int, eps *big.Rat, pi exact.Matrix) exact.Vector {
	row := exact.Zero(1, i+1)[0]
	query := g.T() - 1
	for x, p := range exact.Sequences(g, pi) {
		z := new(big.Rat)
		for b := range pi {
			frequency := exact.Frac(occurrences(b, x), int64(g.T()))
			off := exact.Mul(exact.Sub(indicator(x[i] == b), frequency), pi[x[query]][b])
			z = exact.Add(z, exact.Quo(off, exact.Add(frequency, eps)))
		}
		for j := range row {
			if x[j] == x[query] {
				row[j] = exact.Add(row[j], exact.Mul(z, p))
			}
		}
	}
	return row
}

var thmFiniteStage1StepUnion = ledger.Claim{
	ID: "thm-finite-stage1-step-union", Number: "Lemma 33", Kind: ledger.Step, Quick: true,
	Title:      "How often a token is rare",
	Statement:  `$\mathbb{P}\big(\bigcup_{s'}\{\hat\mu_X(s')\le\frac12\mu_\pi(s')\}\big) \le S/T_{\mathrm{eff}}$`,
	Hypotheses: `in-context graphs ($T_{\mathrm{eff}}=T$) with $T>S=2$, any $\pi$`,
	Uses:       []string{"cor-muhat"}, Corrected: "thm-finite-stage1-step-union-corrected",
	Check: rareInContext(exact.Frac(2, 1)).Noted("Half of the frequency is no large deviation for a short " +
		"sequence, and a light state need not occur at all. Chebyshev's inequality gives 4 Var/mu^2, so a constant " +
		"that depends on gamma is missing; with it (C_{gamma,S} S/T_eff) the step and the lemma stand. The witness " +
		"has T_eff = 4: it does not speak of T_eff >= poly(1/gamma, S), which the main theorem asks for and this " +
		"step does not repeat."),
	Faults: []ledger.Fault{{What: "half of the bound", Check: rareInContext(exact.Frac(1, 1))}},
}

// rareInContext searches over two states for a probability of a rare token above
// numerator/T on in-context graphs, and decides a rational neighbour.
func rareInContext(numerator *big.Rat) ledger.Check {
	return func(e *ledger.Env) ledger.Finding {
		var w ledger.Worst
		for t := 3; t <= 6; t++ {
			g := graph.InContext(t)
			if g.TEff() != float64(t) {
				continue
			}
			bound := exact.Quo(numerator, exact.Frac(int64(t), 1))
			chain := func(x []float64) *theory.Chain { return theory.MustChain(ledger.Kernel(x, 2, 1e-4), 2) }
			x, _, n := e.Attack(func(x []float64) float64 {
				return exact.Float(bound) - rareProbability(g, chain(x))
			}, e.KernelStarts(2, 2, 0), e.Budget(1200, 600))
			c := chain(x)
			w.Instances += n
			w.Keep(rareProbability(g, c), exact.Float(bound), func() ledger.Instance {
				return ledger.Instance{"graph": g, "pi": ledger.Grid(c.Pi, 2)}
			})
			if w.Failed() || w.Margin() >= 0 {
				continue
			}
			ledger.Simplest(c.Pi, 2, func(pi exact.Matrix) bool {
				if slices.ContainsFunc(slices.Concat(pi...), func(p *big.Rat) bool { return p.Sign() == 0 }) {
					return false
				}
				if p := exactRareProbability(g, pi); p.Cmp(bound) > 0 {
					in := ledger.Instance{"graph": g, "T_eff": t, "S": 2, "pi": pi, "mu": exact.MustStationary(pi)}
					w.Fail(ledger.Witness{Instance: in, LHS: p, RHS: bound})
				}
				return w.Failed()
			})
		}
		return w.Finding("")
	}
}

// rareProbability returns the probability that one of two states has at most
// half of its stationary frequency.
func rareProbability(g *graph.Forest, c *theory.Chain) float64 {
	sum, t := 0.0, float64(g.T())
	for n, p := range theory.CountLaw(g, c.Pi, c.Mu, 0) {
		if float64(n) <= t*c.Mu[0]/2 || t-float64(n) <= t*c.Mu[1]/2 {
			sum += p
		}
	}
	return sum
}

// exactRareProbability is the same in rationals, for any number of states.
func exactRareProbability(g *graph.Forest, pi exact.Matrix) *big.Rat {
	mu, sum := exact.MustStationary(pi), new(big.Rat)
	for x, p := range exact.Sequences(g, pi) {
		for a, m := range mu {
			if exact.Frac(2*occurrences(a, x), int64(len(x))).Cmp(m) <= 0 {
				sum.Add(sum, p)
				break
			}
		}
	}
	return sum
}

var thmFiniteStage1StepUnionCorrected = ledger.Claim{
	ID: "thm-finite-stage1-step-union-corrected", Number: "Lemma 33", Title: "How often a token is rare", Quick: true,
	Statement:  `$\mathbb{P}\big(\bigcup_{s'}\{\hat\mu_X(s')\le\frac12\mu_\pi(s')\}\big) \le 4\sum_{s'}\mathbb{E}(\hat\mu_X(s')-\mu_\pi(s'))^2/\mu_\pi(s')^2 \lesssim_{\gamma,S} S/T_{\mathrm{eff}}$`,
	Hypotheses: `all families, $T$ from 16, several $\pi$; exact laws of the counts`,
	Uses:       []string{"cor-muhat"},
	Check:      rareToken(4),
	Faults:     []ledger.Fault{{What: "a hundredth of the factor 4", Check: rareToken(0.04)}},
}

// rareToken compares sum_{s'} P(muhat(s') <= mu(s')/2), which is at least the
// probability of the union, with factor sum_{s'} E(muhat - mu)^2/mu^2.
func rareToken(factor float64) ledger.Check {
	return func(e *ledger.Env) ledger.Finding {
		var w ledger.Worst
		least := 0.0
		matrices := []string{
			"4/5 1/5; 1/5 4/5", "19/20 1/20; 9/10 1/10", "3/10 7/10; 9/10 1/10",
			"9/10 1/20 1/20; 1/5 1/20 3/4; 1/5 3/4 1/20",
		}
		for _, m := range familyMembers(e, []int{16, 32, 64, 128, 256}[:e.Budget(5, 3)]...) {
			for _, rows := range matrices {
				pi := exact.Rats(rows)
				chain := theory.MustChain(pi.Floats(), len(pi))
				lhs, rhs := rareTokenSides(m.graph, chain, factor)
				w.Instances++
				keepOrFail(&w, lhs, rhs, func() ledger.Instance {
					return ledger.Instance{"family": m.family, "T": m.graph.T(), "pi": pi}
				})
				least = max(least, lhs*m.graph.TEff()/float64(chain.S))
			}
		}
		return unlessBroken(w.Finding(""), fmt.Sprintf("Chebyshev's inequality for each s'. No counterexample found "+
			"in %d instances; the probability is at most %.3g S/T_eff on them.", w.Instances, least))
	}
}

func rareTokenSides(g *graph.Forest, c *theory.Chain, factor float64) (lhs, rhs float64) {
	for a, m := range c.Mu {
		for n, p := range theory.CountLaw(g, c.Pi, c.Mu, a) {
			d := float64(n)/float64(g.T()) - m
			if d <= -m/2 {
				lhs += p
			}
			rhs += float64(factor*float64(p*float64(d*d))) / (m * m)
		}
	}
	return lhs, rhs
}

var thmFiniteStage1StepNaive = ledger.Claim{
	ID: "thm-finite-stage1-step-naive", Number: "Lemma 33", Kind: ledger.Step, Quick: true,
	Title:      "The size of one sample's gradient",
	Statement:  `$|Z^{(n)}|\le S\epsilon^{-1}$ for $Z=S\sum_{s'}\frac{\pi(s'\mid s_T)}{\hat\mu_X(s')+\epsilon}(x_{i,s'}-\hat\mu_X(s'))x_{j,s_T}$`,
	Hypotheses: `$0<\epsilon\le1$; any $\pi$, all sequences`,
	Check:      sampleSize(func(eps float64) float64 { return 2 / eps }),
	Faults: []ledger.Fault{{
		What:  "half of the bound",
		Check: sampleSize(func(eps float64) float64 { return 1 / eps }),
	}},
}

// sampleSize looks for the largest |Z| eps over two states and all sequences of
// up to 8 tokens, searching for the matrix and eps.
func sampleSize(bound func(eps float64) float64) ledger.Check {
	return func(e *ledger.Env) ledger.Finding {
		var w ledger.Worst
		for t := 2; t <= e.Budget(8, 6); t++ {
			point := func(x []float64) (pi []float64, eps float64) {
				return ledger.Kernel(x[:4], 2, 0), max(sigmoid(x[4]), 1e-3)
			}
			x, _, n := e.Attack(func(x []float64) float64 {
				pi, eps := point(x)
				return -largestSample(t, pi, eps) * eps
			}, e.KernelStarts(2, 2, 1), e.Budget(2000, 600))
			pi, eps := point(x)
			w.Instances += n
			keepOrFail(&w, largestSample(t, pi, eps), bound(eps), func() ledger.Instance {
				return ledger.Instance{"S": 2, "T": t, "eps": eps, "pi": ledger.Grid(pi, 2)}
			})
		}
		return unlessBroken(w.Finding(""), fmt.Sprintf("No counterexample found in %d instances: Z/S lies between "+
			"-1 and 1/eps, as sum pi muhat/(muhat+eps) <= 1.", w.Instances))
	}
}

// largestSample returns the largest |Z| on sequences of t tokens. Only the count
// n of state 0 and the token x_i matter; the query is any.
func largestSample(t int, pi []float64, eps float64) float64 {
	most := 0.0
	for n := range t + 1 {
		frequency := []float64{float64(n) / float64(t), 1 - float64(n)/float64(t)}
		for pair := range task.Sequences(2, 2) {
			q, xi := pair[0], pair[1]
			if frequency[q] == 0 || frequency[xi] == 0 {
				continue
			}
			z := 0.0
			for a := range 2 {
				z += pi[q*2+a] * (unit(xi == a) - frequency[a]) / (frequency[a] + eps)
			}
			most = max(most, 2*math.Abs(z))
		}
	}
	return most
}

var thmFiniteStage2 = ledger.Claim{
	ID: "thm-finite-stage2", Number: "Lemma 34", Title: "Finite samples: the gradient of stage 2",
	Statement:  `$\|\nabla_{A^{(2)}}\hat L(\theta)-\nabla_{A^{(2)}}L(\theta)\|_\infty\lesssim C_{\gamma,S}/\sqrt N$ at $\theta=(A^{(1)}(\tau_1),\beta_0I)$, with high probability`,
	Hypotheses: `query in sequence; $A^{(1)}$ with attention near 1 at the parents and uniform rows at roots, $\beta_0=T_{\mathrm{eff}}^{-3/2}/10$; the largest of 8 samples against $N$ with the exact gradient at $T=8$, and the deviation of one sample's gradient against $T$`,
	Uses:       []string{"thm-finite-stage1", "thm-finite-stage2-step-exponent"},
	Check:      empiricalGradientTwo(0.5),
	Faults:     []ledger.Fault{{What: "the rate 1/N", Check: empiricalGradientTwo(1)}},
}

// empiricalGradientTwo fits the largest error of the empirical gradient of A2
// over 8 samples against N at T = 8, where the population gradient is an exact
// sum; and the largest standard deviation of an entry of one sample against T.
// N^-rate is claimed.
func empiricalGradientTwo(rate float64) ledger.Check {
	return func(e *ledger.Env) ledger.Finding {
		prior := stageOnePriors()[0]
		var fs []ledger.Finding
		for k, name := range []string{"in-context", "chain", "spider"} {
			family := graph.FamilyNamed(name)
			byN, byT := ledger.Trend{Claimed: -rate, Rival: -rate - 0.25}, ledger.Trend{Claimed: 0, Rival: -0.25}
			at := endOfStageOne{family.New(8), prior}
			population := at.populationGradient()
			for _, n := range []int{64, 256, 1024, 4096, 16384}[:e.Budget(5, 4)] {
				most := 0.0
				for index := range uint64(8) {
					mean, _ := at.sampledGradient(n, e.Stream("error", uint64(k), 8, uint64(n), index))
					for a, v := range mean {
						most = max(most, math.Abs(v-population[a]))
					}
				}
				byN.Add(float64(n), most)
			}
			for _, t := range []int{16, 32, 64, 128, 256}[:e.Budget(5, 3)] {
				at, n := endOfStageOne{family.New(t), prior}, e.Budget(1000, 300)
				_, deviation := at.sampledGradient(n, e.Stream("deviation", uint64(k), uint64(t), uint64(n), 0))
				byT.Add(float64(t), slices.Max(deviation)*damping(prior, at.graph.TEff()))
			}
			f, g := byN.Finding(), byT.Finding()
			f.Instance = ledger.Instance{"family": name, "prior": prior.String()}
			g.Instance = f.Instance
			last := len(byN.X) - 1
			f.Note = fmt.Sprintf("Against N at T = 8: %s Error times sqrt(N) at most "+
				"%.3g.", f.Note, byN.Y[last]*math.Sqrt(byN.X[last]))
			g.Note = fmt.Sprintf("Deviation of one sample, divided by min mu/(min mu+eps), against T: %s It is at "+
				"most %.3g. Against N at T = 8: exponent %.3f.", g.Note, slices.Max(byT.Y), f.LHS)
			fs = append(fs, f, g)
		}
		f := ledger.Weakest(fs...)
		f.Note += " Further on in the text, T_eff^{c gamma} stands for T_eff^{-c gamma} once, a misprint."
		return f
	}
}

// An endOfStageOne is a task at the weights that stage 1 aims at.
type endOfStageOne struct {
	graph *graph.Forest
	prior *markov.Finite
}

// model has rows with a parent that attend to it with logit 2 log T, uniform rows
// of roots, and A2 = beta0 I.
func (s endOfStageOne) model() *theory.Reduced {
	t := s.graph.T()
	m := theory.NewReduced(s.prior.States(), t, 0.1*math.Pow(s.graph.TEff(), -1.5))
	for i := range t {
		if p := s.graph.Parent(i); p >= 0 {
			m.A1[i*t+p] = 2 * num.Log(float64(t))
		}
	}
	return m
}

// eps is that of the loss, T_eff^(-1/2).
func (s endOfStageOne) eps() float64 { return 1 / math.Sqrt(s.graph.TEff()) }

// populationGradient returns the gradient in A2 of the population's loss.
func (s endOfStageOne) populationGradient() []float64 {
	population, err := theory.NewPopulation(s.graph, s.prior, s.eps(), theory.QueryInSequence)
	if err != nil {
		panic("claims: " + err.Error())
	}
	return population.Gradient(s.model()).G2
}

// sampledGradient returns the mean over n sequences of the gradient in A2 of
// their losses, and the standard deviation, entry by entry.
func (s endOfStageOne) sampledGradient(n int, src *rand.PCG) (mean, deviation []float64) {
	tk := task.Task{Graph: s.graph, Prior: s.prior}
	b := tk.NewBatch(n)
	task.NewSampler(tk).Fill(b, src)
	m, grad := s.model(), theory.NewReduced(s.prior.States(), s.graph.T(), 0)
	mean, deviation = make([]float64, len(grad.A2)), make([]float64, len(grad.A2))
	square := make([]float64, len(grad.A2))
	for k := range n {
		x, y := b.Seq(k)
		clear(grad.A2)
		m.Loss(x, x[len(x)-1], y, s.eps(), grad)
		for a, v := range grad.A2 {
			mean[a] += v / float64(n)
			square[a] += v * v / float64(n)
		}
	}
	for a := range mean {
		deviation[a] = math.Sqrt(square[a] - mean[a]*mean[a])
	}
	return mean, deviation
}

var thmFiniteStage2StepExponent = ledger.Claim{
	ID: "thm-finite-stage2-step-exponent", Number: "Lemma 34", Kind: ledger.Step, Quick: true,
	Title:      "Predictions at beta0 and at 0",
	Statement:  `$|f_\theta(X;s)_{s'}-f_{\hat\theta}(X;s)_{s'}|\lesssim e^{\beta_0-1}\lesssim T_{\mathrm{eff}}^{-1/2}$ for $\theta=(A^{(1)},\beta_0I)$, $\hat\theta=(A^{(1)},0)$`,
	Hypotheses: `$\beta_0\lesssim T_{\mathrm{eff}}^{-3/2}$`,
	Uses:       []string{"lem-nonzero-beta"}, Corrected: "thm-finite-stage2-step-exponent-corrected",
	Check: exponentAtMost(exact.Frac(1, 100)).Noted(
		"A misprint: e^(beta0-1) for e^(beta0) - 1, which eq. (42) gives."),
	Faults: []ledger.Fault{{What: "T_eff^-1 for T_eff^-1/2", Check: exponentAtMost(exact.Frac(1, 10000))}},
}

// exponentAtMost decides e^(beta0-1) <= bound, that at T_eff = 10^4; the left side
// is at least 1/e > 1/3, so that a constant C in front of T_eff^(-1/2) would have
// to be sqrt(T_eff)/3.
func exponentAtMost(bound *big.Rat) ledger.Check {
	return func(*ledger.Env) ledger.Finding {
		var w ledger.Worst
		in := ledger.Instance{
			"T_eff": 10000, "T_eff^(-1/2)": exact.Frac(1, 100),
			"e^(beta0-1)": "more than 1/3 for every beta0 >= 0", "for a constant C": "take T_eff > 9 C^2",
		}
		inverse := exact.Point(exact.Frac(-1, 1)).Exp()
		w.AtMost(inverse.Float(), exact.Float(bound), func() ledger.Instance { return in })
		if exact.Point(exact.Frac(1, 3)).AtMost(inverse) == exact.Certainly && exact.Frac(1, 3).Cmp(bound) > 0 {
			w.Fail(ledger.Witness{Instance: in})
		}
		return w.Finding("")
	}
}

var thmFiniteStage2StepExponentCorrected = ledger.Claim{
	ID: "thm-finite-stage2-step-exponent-corrected", Number: "Lemma 34", Quick: true,
	Title:      "Predictions at beta0 and at 0",
	Statement:  `$|f_\theta(X;s)_{s'}-f_{\hat\theta}(X;s)_{s'}|\le e^{\beta_0}-1\lesssim T_{\mathrm{eff}}^{-1/2}$ (eq. (42))`,
	Hypotheses: `any $X$, $A^{(1)}$, $\beta_0\in[0,1]$`,
	Uses:       []string{"lem-nonzero-beta"},
	Check:      predictionShift(func(beta0 float64) float64 { return num.Exp(beta0) - 1 }),
	Faults: []ledger.Fault{{
		What:  "a fifth of the bound",
		Check: predictionShift(func(beta0 float64) float64 { return 0.2 * (num.Exp(beta0) - 1) }),
	}},
}

// predictionShift attacks |f_theta - f_thetahat| <= bound(beta0) over two states.
func predictionShift(bound func(beta0 float64) float64) ledger.Check {
	return func(e *ledger.Env) ledger.Finding {
		var w ledger.Worst
		for _, x := range [][]int{{0, 1}, {0, 0, 1}, {0, 1, 1}, {0, 1, 0, 1}, {0, 0, 1, 1}, {0, 0, 0, 1, 1, 1}} {
			t := len(x)
			sides := func(p []float64) (lhs, rhs, beta0 float64) {
				m := theory.NewReduced(2, t, max(sigmoid(p[0]), 1e-3))
				copy(m.A1, p[1:])
				at, _, _ := m.Predict(x, 0)
				return math.Abs(at[0] - float64(occurrences(0, x))/float64(t)), bound(m.A2[0]), m.A2[0]
			}
			p, _, n := e.Attack(func(p []float64) float64 {
				lhs, rhs, _ := sides(p)
				return -lhs / rhs
			}, e.Starts(4, t*t+1), e.Budget(3000, 800))
			w.Instances += n
			lhs, rhs, beta0 := sides(p)
			keepOrFail(&w, lhs, rhs, func() ledger.Instance {
				return ledger.Instance{"tokens": ledger.OneBased(x), "beta0": beta0}
			})
		}
		f := w.Finding("")
		return unlessBroken(f, fmt.Sprintf("No counterexample found in %d instances; the largest quotient is %.3g "+
			"(z has entries in [0,1], and f moves by at most the covariance of two such under "+
			"v).", f.Instances, f.LHS/f.RHS))
	}
}

var thmFiniteStage2Step1 = ledger.Claim{
	ID: "thm-finite-stage2-step-1", Number: "Appendix I.2", Kind: ledger.Step, Quick: true,
	Title:      "The chain for the predictors, first inequality",
	Statement:  `$|\delta_{s'}^\top(\mathcal{S}(z)-\mathcal{S}(z'))|\le\|\mathcal{S}(z)-\mathcal{S}(z')\|_\infty$ for $z=\mathcal{S}(A^{(1)})XA^{(2)}e_s$, $z'=\mathcal{S}(A^{(1)})XA^{(2)}_{\mathrm{pop}}e_s$`,
	Hypotheses: `any $X$, $A^{(1)}$, $A^{(2)}$, $A^{(2)}_{\mathrm{pop}}$`,
	Corrected:  "thm-finite-stage2-step-1-corrected",
	Check: sumAtMost(exact.Frac(1, 1)).Noted("delta has many ones, so the sum needs the l1 norm: 1/6 > 1/12 " +
		"at T = 4, and the quotient grows as T/2. The chain as a whole is saved, with a better constant, since the " +
		"softmax is Lipschitz from the supremum norm to the l1 norm."),
	Faults: []ledger.Fault{{What: "half of the bound", Check: sumAtMost(exact.Frac(1, 2))}},
}

// sumAtMost attacks |delta^T u| <= part |u|_inf, and decides it on a sequence of
// four tokens.
func sumAtMost(part *big.Rat) ledger.Check {
	return func(e *ledger.Env) ledger.Finding {
		// A2 e_s = (log 4, 0) against 0, with rows of attention to token 1 of
		// 1, 1, 1/2, 1/2: v = (4, 4, 2, 2)/12 against (1, 1, 1, 1)/4.
		v, w := exact.Vector(exact.Rats("1/3 1/3 1/6 1/6")[0]), exact.Vector(exact.Rats("1/4 1/4 1/4 1/4")[0])
		u := minusScaled(v, exact.Frac(1, 1), w)
		lhs, rhs := exact.Dot(u[:2]), exact.Mul(part, exact.Frac(1, 12)) // |u|_inf = 1/12
		var worst ledger.Worst
		if lhs.Cmp(rhs) > 0 {
			worst.Fail(ledger.Witness{LHS: lhs, RHS: rhs, Instance: ledger.Instance{
				"S": 2, "T": 4, "X": []int{1, 1, 2, 2}, "exp(A1)": exact.Rats("1 0 0 0; 1 1 0 0; 1 1 2 0; 1 1 1 1"),
				"exp(A2 e_s)": exact.Vector(exact.Rats("4 1")[0]), "exp(A2_pop e_s)": exact.Vector(exact.Rats("1 1")[0]),
				"softmax(z)": v, "softmax(z')": w, "delta": 1,
			}})
		}
		attackPredictors(e, &worst, func(d predictorDistances) []float64 {
			return []float64{d.sum, exact.Float(part) * d.supremum}
		})
		return worst.Finding("")
	}
}

// predictorDistances are the distances along the chain for the predictors of two
// models with one A1, with u = softmax(z) - softmax(z').
type predictorDistances struct {
	sum       float64 // |delta^T u|
	supremum  float64 // |u|_inf
	absolutes float64 // |u|_1
	scores    float64 // |z - z'|_inf
	entries   float64 // max |A2 - A2_pop|
}

// distancesBetween returns them at A1 = p[:T^2], A2 and A2_pop on the sequence x
// over two states, for s = s' = 1.
func distancesBetween(x []int, p []float64) predictorDistances {
	t := len(x)
	a, b := theory.NewReduced(2, t, 0), theory.NewReduced(2, t, 0)
	copy(a.A1, p)
	copy(b.A1, p)
	copy(a.A2, p[t*t:])
	copy(b.A2, p[t*t+4:])
	fa, va, z := a.Predict(x, 0)
	fb, vb, _ := b.Predict(x, 0)
	first, second := a.A2[0]-b.A2[0], a.A2[2]-b.A2[2]
	d := predictorDistances{sum: math.Abs(fa[0] - fb[0]), entries: max(math.Abs(first), math.Abs(second))}
	for i := range va {
		d.supremum = max(d.supremum, math.Abs(va[i]-vb[i]))
		d.absolutes += math.Abs(va[i] - vb[i])
		// z is the attention to token 1; that to token 2 is the rest.
		d.scores = max(d.scores, math.Abs(z[i]*first+(1-z[i])*second))
	}
	return d
}

// attackPredictors searches over A1, A2 and A2_pop for a point at which the first
// term of a chain of inequalities is large beside the last one. Any link of the
// chain that breaks on the way makes the statement fail.
func attackPredictors(e *ledger.Env, w *ledger.Worst, chain func(d predictorDistances) []float64) {
	for _, x := range [][]int{{0, 1}, {0, 1, 1}, {0, 0, 1, 1}, {0, 1, 0, 1}, {0, 0, 0, 1, 1, 1}} {
		t := len(x)
		at := func(p []float64) ledger.Instance {
			return ledger.Instance{
				"tokens": ledger.OneBased(x),
				"A2 e_s": []float64{p[t*t], p[t*t+2]}, "A2_pop e_s": []float64{p[t*t+4], p[t*t+6]},
			}
		}
		starts := e.Starts(4, t*t+8)
		for _, p := range starts {
			p[t*t]++
		}
		small := make([]float64, t*t+8)
		small[t*t] = 0.01
		p, _, n := e.Attack(func(p []float64) float64 {
			d := distancesBetween(x, p)
			if d.entries < 1e-6 {
				return 0
			}
			terms := chain(d)
			for k, next := range terms[1:] {
				if terms[k] > next*(1+1e-9)+1e-12 {
					w.Fail(ledger.Witness{Instance: at(p)})
				}
			}
			if terms[len(terms)-1] == 0 {
				return math.Inf(1)
			}
			return -terms[0] / terms[len(terms)-1]
		}, append(starts, small), e.Budget(3000, 800))
		w.Instances += n
		terms := chain(distancesBetween(x, p))
		keepOrFail(w, terms[0], terms[len(terms)-1], func() ledger.Instance { return at(p) })
	}
}

// predictorChain attacks a chain of inequalities between the distances.
func predictorChain(chain func(d predictorDistances) []float64) ledger.Check {
	return func(e *ledger.Env) ledger.Finding {
		var w ledger.Worst
		attackPredictors(e, &w, chain)
		f := w.Finding("")
		return unlessBroken(f, fmt.Sprintf("No counterexample found in %d instances; the largest quotient is "+
			"%.4g.", f.Instances, f.LHS/f.RHS))
	}
}

var thmFiniteStage2Step1Corrected = ledger.Claim{
	ID: "thm-finite-stage2-step-1-corrected", Number: "Appendix I.2", Quick: true,
	Title:      "The chain for the predictors, first inequality",
	Statement:  `$|\delta_{s'}^\top u|\le\frac12\|u\|_1$ for $u=\mathcal{S}(z)-\mathcal{S}(z')$, whose entries sum to zero; and $\|u\|_1\le\|z-z'\|_\infty$, so that the chain still ends at $\frac12\max_{s,s'}|A^{(2)}-A^{(2)}_{\mathrm{pop}}|$`,
	Hypotheses: `any $X$, $A^{(1)}$, $A^{(2)}$, $A^{(2)}_{\mathrm{pop}}$`,
	Check: predictorChain(func(d predictorDistances) []float64 {
		return []float64{d.sum, d.absolutes / 2, d.scores / 2, d.entries / 2}
	}).Noted("The covariance of two vectors under v is at most half of the mean deviation of the one, when the " +
		"other has entries in [0,1]. "),
	Faults: []ledger.Fault{{What: "half of the bound", Check: predictorChain(func(d predictorDistances) []float64 {
		return []float64{d.sum, d.entries / 4}
	})}},
}

var thmFiniteStage2Step2 = ledger.Claim{
	ID: "thm-finite-stage2-step-2", Number: "Appendix I.2", Kind: ledger.Step, Quick: true,
	Title:      "The chain for the predictors, second inequality",
	Statement:  `$\|\mathcal{S}(z)-\mathcal{S}(z')\|_\infty\le\|z-z'\|_\infty$`,
	Hypotheses: `any $z$, $z'$`,
	Check: predictorChain(func(d predictorDistances) []float64 {
		return []float64{d.supremum, d.scores}
	}).Noted("The l1 norm of a row of J(v) is 2 v_i (1-v_i) <= 1/2. "),
	Faults: []ledger.Fault{{What: "a third of the bound", Check: predictorChain(func(d predictorDistances) []float64 {
		return []float64{d.supremum, 0.33 * d.scores}
	})}},
}

var thmFiniteStage2Step3 = ledger.Claim{
	ID: "thm-finite-stage2-step-3", Number: "Appendix I.2", Kind: ledger.Step, Quick: true,
	Title:      "The chain for the predictors, third inequality",
	Statement:  `$\|\mathcal{S}(A^{(1)})X(A^{(2)}-A^{(2)}_{\mathrm{pop}})e_s\|_\infty\le\|A^{(2)}-A^{(2)}_{\mathrm{pop}}\|_\infty$, the right side being the largest entry`,
	Hypotheses: `any $X$, $A^{(1)}$ and matrices`,
	Check:      predictorChain(func(d predictorDistances) []float64 { return []float64{d.scores, d.entries} }),
	Faults: []ledger.Fault{{What: "half of the bound", Check: predictorChain(func(d predictorDistances) []float64 {
		return []float64{d.scores, d.entries / 2}
	})}},
}

var claimSampleSize = ledger.Claim{
	ID: "claim-sample-size", Number: "Appendix I.1", Title: "How many sequences stage 1 needs",
	Statement:  `$N\gtrsim_{\gamma,S} T_{\mathrm{eff}}\log T$ sequences suffice: $g^{\mathrm{emp}}_{i,j}-g^{\mathrm{emp}}_{i,p(i)}\le-\gamma^3/(4S)$ for $j\neq p(i)$ and $|g^{\mathrm{emp}}_{i,j}|\lesssim T_{\mathrm{eff}}^{-1/2}$ for roots $i$, with high probability`,
	Hypotheses: `the limit $\beta_0\to0$; roots $i\neq T$; query in sequence; 3 samples of $N=2T_{\mathrm{eff}}\log T$ sequences for each graph and $T$`,
	Uses: []string{
		"thm-finite-stage1", "thm-stage1-parents", "thm-stage1-roots", "thm-finite-stage2", "lem-f-to-pi",
	},
	Check: enoughSequences(
		func(t int, teff float64) int { return int(math.Ceil(2 * teff * num.Log(float64(t)))) },
		func(i, t int) bool { return i < t-1 }),
	Faults: []ledger.Fault{{
		What: "a number of sequences that does not grow, and the query among the roots",
		Check: enoughSequences(
			func(int, float64) int { return 50 },
			func(int, int) bool { return true }),
	}},
}

// enoughSequences draws n sequences and fits, against T, the largest entry times
// sqrt(T_eff) of the roots that are asked for; it is inconsistent too if from
// T = 64 on some row has its largest entry elsewhere than at the parent.
func enoughSequences(n func(t int, teff float64) int, asked func(i, t int) bool) ledger.Check {
	return func(e *ledger.Env) ledger.Finding {
		prior := stageOnePriors()[0]
		target := math.Pow(theory.Gamma(prior), 3) / float64(4*prior.States())
		var fs []ledger.Finding
		summary := ""
		for _, family := range []string{"in-context", "chain", "spider"} {
			d, rows, at := ledger.Trend{Claimed: 0, Rival: -0.25}, sampledRows{target: target, gap: math.Inf(1)}, ledger.Instance{}
			for _, t := range []int{16, 32, 64, 128, 256}[:e.Budget(5, 4)] {
				if e.Err() != nil {
					return ledger.Finding{}
				}
				g := graph.FamilyNamed(family).New(t)
				teff := g.TEff()
				count := n(t, teff)
				rows.root = 0
				for k := range 3 {
					tk, src := task.Task{Graph: g, Prior: prior}, e.Stream(family, uint64(t), uint64(k))
					rows.add(g, theory.EmpiricalGHat(tk, 1/math.Sqrt(teff), count, src), asked)
				}
				d.Add(float64(t), rows.root*math.Sqrt(teff)*damping(prior, teff))
				at = ledger.Instance{"family": family, "T": t, "N": count, "prior": prior.String()}
			}
			f := d.Finding()
			f.Instance = at
			f.Note += fmt.Sprintf(" (Root entries times sqrt(T_eff), divided by min mu/(min mu+eps); at most "+
				"%.3g.)", slices.Max(d.Y))
			if rows.missed > 0 && family != "spider" {
				f.Verdict, f.Margin = ledger.Inconsistent, min(f.Margin, -float64(rows.missed)/float64(rows.children))
			}
			summary += fmt.Sprintf(" %s: %d of %d rows with a parent miss the gap from T = 64 on (least gap "+
				"%.3g).", family, rows.missed, rows.children, rows.gap)
			fs = append(fs, f)
		}
		f := ledger.Weakest(fs...)
		f.Note += summary + fmt.Sprintf(" Misses on the spider, where T_eff and so N grow more slowly, are shown "+
			"and not held against the claim. The gap claimed is gamma^3/(4S) = %.2g. What decides is the roots: "+
			"with log(T/delta) as printed in Lemma 33 (thm-finite-stage1) they would need T_eff log^2 T; the "+
			"square root of it, which Bernstein's inequality gives for N >= T_eff log T, needs no more than "+
			"claimed. Stage 2 is the subject of Lemma 34 (thm-finite-stage2) and its chain.", target)
		return f
	}
}

// sampledRows gathers what rows of ghat^emp come to.
type sampledRows struct {
	target   float64 // gap that is claimed
	root     float64 // largest entry of a root
	children int     // rows with a parent from T = 64 on
	missed   int     // of them, how many miss the gap
	gap      float64 // the least: entry at the parent less the largest other one
}

func (r *sampledRows) add(g *graph.Forest, emp []float64, asked func(i, t int) bool) {
	t := g.T()
	for i := range t {
		row, p := emp[i*t:i*t+i+1], g.Parent(i)
		switch {
		case p < 0 && asked(i, t):
			for _, v := range row {
				r.root = max(r.root, math.Abs(v))
			}
		case p >= 0 && t >= 64:
			second := math.Inf(-1)
			for j, v := range row {
				if j != p {
					second = max(second, v)
				}
			}
			r.children++
			r.gap = min(r.gap, row[p]-second)
			if row[p]-second < r.target {
				r.missed++
			}
		}
	}
}

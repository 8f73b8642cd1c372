package claims

import (
	"fmt"
	"math"
	"math/big"
	"slices"

	"learncausal/pkg/exact"
	"learncausal/pkg/graph"
	"learncausal/pkg/markov"
	"learncausal/pkg/num"
	"learncausal/pkg/task"
	"learncausal/pkg/theory"
)

const stageTwoLemmas = "Lemmas for Stage 2"

func auxiliaryTwoClaims() []Claim {
	hypotheses := `$A^{(1)}$ after $\tau_1$ of stage 1 at $\beta_0\to0$, $\epsilon=T_{\mathrm{eff}}^{-1/2}$; chains, in-context graphs, spiders; two priors; $\beta=\frac12,1,2,3$; query in sequence`
	betas := []int{2, 4, 8, 12} // in betaGrid
	concentrate := func(e *Env, claimed float64, what func(theory.StageTwo) []num.Estimate) Finding {
		most := 0.0
		f := e.overRuns(claimed, sound, growing, func(r *run) float64 {
			value := 0.0
			for _, k := range betas {
				at := r.Star[k]
				value = max(value, mostOf(what(at))/(1+float64(at.Beta*at.Beta))/num.Log(float64(r.t)))
			}
			most = max(most, value*math.Sqrt(r.teff))
			return value
		})
		f.Note += fmt.Sprintf(" What is fitted is the mean square over (1+beta^2) log T, the largest over beta and s, s'. Least constant %.3g.", most)
		return f
	}
	e12 := func(s theory.StageTwo) []num.Estimate { return s.E12 }
	e3 := func(s theory.StageTwo) []num.Estimate { return s.E3 }
	return append(softmaxClaims(), []Claim{
		{
			ID: "lem-compare-z", Title: "Rows of roots average over the past", Section: stageTwoLemmas,
			Statement:  `$\mathbb E_X|\tilde z(X;s)_i-\hat\mu_{X_{\le i}}(s)|^2\lesssim\min(1,\frac{T^2\log^2T}{T_{\mathrm{eff}}\,i^2})$ for $i\in\mathcal R$`,
			Hypotheses: `stage 1 at $\beta_0\to0$ and time $\tau_1$; in-context graphs; a prior with $g_{TT}=0.285$; the query $T$ is a root`,
			Uses:       []string{"cor-stage1-roots"}, Corrected: "lem-compare-z-corrected",
			Check:  func(e *Env) Finding { return compareZ(e, true, sound) },
			Fault:  "roots attend to position 1 alone",
			Faulty: func(e *Env) Finding { return compareZ(e, true, firstRoot) },
		},
		{
			ID: "lem-compare-z-corrected", Title: "Rows of roots other than the query average over the past", Section: stageTwoLemmas,
			Statement:  `The same for $i\in\mathcal R\setminus\{T\}$`,
			Hypotheses: `stage 1 at $\beta_0\to0$ and time $\tau_1$; in-context graphs; two priors`,
			Uses:       []string{"cor-stage1-roots-corrected"},
			Check:      func(e *Env) Finding { return compareZ(e, false, sound) },
			Fault:      "roots attend to position 1 alone",
			Faulty:     func(e *Env) Finding { return compareZ(e, false, firstRoot) },
		},
		{
			ID: "lem-concentrate-e3", Title: "The second term of the stage-2 gradient concentrates", Section: stageTwoLemmas,
			Statement:  `$\mathbb E_X|E^{(3)}_s(X)-\bar E^{(3)}_s|^2\lesssim(1+\beta^2)\,T_{\mathrm{eff}}^{-1/2}\log T$`,
			Hypotheses: hypotheses,
			Uses:       []string{"lem-concentrate-e3-step-quotient", "lem-concentrate-e3-step-denominator", "lem-compute-diffs", "lem-compare-z", "lem-muhat-parent-var", "lem-muhat-var"},
			Check:      func(e *Env) Finding { return concentrate(e, -0.5, e3) },
			Fault:      "the exponent 1/2 of T_eff is taken to be 2",
			Faulty:     func(e *Env) Finding { return concentrate(e, -2, e3) },
		},
		{
			ID: "lem-concentrate-e3-step-quotient", Title: "The displayed use of lem-compute-diffs for E3", Section: stageTwoLemmas,
			Statement:  `$|E^{(3)}_s(X)-\frac{A_2}{B_2}|\le|E^{(3)}_s(X)|\frac{(|e^\beta\mathcal E_1|+\mathcal E_3)+(|e^\beta\mathcal E_1|+\mathcal E_2)}{B_2}$`,
			Hypotheses: `$X$ a sequence of a short chain, $\beta\ge0$, $A_2/B_2$ the limit of $E^{(3)}_s$`,
			Uses:       []string{"lem-compute-diffs"}, Quick: true,
			Corrected: "lem-concentrate-e3-step-quotient-corrected",
			Check:     func(e *Env) Finding { return quotientStep(e, 3, false, false) },
			Fault:     "a third of the right side",
			Faulty:    func(e *Env) Finding { return quotientStep(e, 3, false, true) },
		},
		checked(Claim{
			ID: "lem-concentrate-e3-step-quotient-corrected", Title: "The displayed use of lem-compute-diffs for E3, corrected", Section: stageTwoLemmas, Quick: true,
			Statement:  `$|E^{(3)}_s(X)-\frac{A_2}{B_2}|\le\frac1{B_2}\big(|E^{(3)}_s(X)|(e^\beta|\mathcal E_1|+|\mathcal E_3|)+e^\beta|\mathcal E_1|+|\mathcal E_2|\big)$`,
			Hypotheses: `$X$ a sequence of a short chain, $\beta\ge0$, $A_2/B_2$ the limit of $E^{(3)}_s$`,
			Uses:       []string{"lem-compute-diffs"},
			Fault:      "a third of the right side",
		}, func(e *Env, faulty bool) Finding { return quotientStep(e, 3, true, faulty) }),
		{
			ID: "lem-concentrate-e3-step-denominator", Title: "The lower bound of the denominator in E3", Section: stageTwoLemmas,
			Statement:  `$(1-r)(e^\beta-1)\mu_\pi(s)+(1-r)+re^{\beta\mu_\pi(s)}\ge(1-r)e^\beta\gamma$`,
			Hypotheses: `$P_\pi$ satisfies the assumption with $\gamma$, $r\le1-\gamma$, $\beta\ge0$`,
			Corrected:  "lem-concentrate-e3-step-denominator-corrected", Quick: true,
			Check:  func(e *Env) Finding { return denominatorStep(e, 1) },
			Fault:  "gamma is taken to be 2 gamma on the right",
			Faulty: func(e *Env) Finding { return denominatorStep(e, 2) },
		},
		{
			ID: "lem-concentrate-e3-step-denominator-corrected", Title: "The lower bound of the denominator in E3", Section: stageTwoLemmas,
			Statement:  `$(1-r)(e^\beta-1)\mu_\pi(s)+(1-r)+re^{\beta\mu_\pi(s)}\ge(1-r)e^\beta\gamma/S$`,
			Hypotheses: `$P_\pi$ satisfies the assumption with $\gamma$, $r\le1-\gamma$, $\beta\ge0$`,
			Uses:       []string{"lem-mu-lower"}, Quick: true,
			Check:  func(e *Env) Finding { return denominatorStep(e, 0) },
			Fault:  "gamma/S is taken to be 3 gamma/S on the right",
			Faulty: func(e *Env) Finding { return denominatorStep(e, 3) },
		},
		{
			ID: "lem-concentrate-e12", Title: "The first term of the stage-2 gradient concentrates", Section: stageTwoLemmas,
			Statement:  `$\mathbb E\left|\frac{E^{(1)}_{s,s'}(X)}{E^{(2)}_{s,s'}(X)+\epsilon}-\bar E^{(12)}_{s,s'}\right|^2\lesssim(1+\beta^2)\,T_{\mathrm{eff}}^{-1/2}\log T$`,
			Hypotheses: hypotheses,
			Uses:       []string{"lem-concentrate-e12-step-quotient", "lem-compute-diffs", "lem-compare-z", "lem-chat-var", "lem-muhat-var"},
			Check:      func(e *Env) Finding { return concentrate(e, -0.5, e12) },
			Fault:      "the exponent 1/2 of T_eff is taken to be 2",
			Faulty:     func(e *Env) Finding { return concentrate(e, -2, e12) },
		},
		{
			ID: "lem-concentrate-e12-step-quotient", Title: "The displayed use of lem-compute-diffs for E1/E2", Section: stageTwoLemmas,
			Statement:  `with $q=E^{(1)}/(E^{(2)}+\epsilon)$: $|q-A_2/B_2|\le\frac{|q|}{B_2}\big((e^\beta|\mathcal E_4|+|\mathcal E_5|+|\mathcal E_7|+e^\beta\epsilon)+e^\beta|\mathcal E_4|+|\mathcal E_6|\big)$`,
			Hypotheses: `$X$ a sequence of a short chain, $\beta\ge0$, $A_2/B_2$ the limit`,
			Uses:       []string{"lem-compute-diffs"}, Quick: true,
			Corrected: "lem-concentrate-e12-step-quotient-corrected",
			Check:     func(e *Env) Finding { return quotientStep(e, 1, false, false) },
			Fault:     "a third of the right side",
			Faulty:    func(e *Env) Finding { return quotientStep(e, 1, false, true) },
		},
		checked(Claim{
			ID: "lem-concentrate-e12-step-quotient-corrected", Title: "The displayed use of lem-compute-diffs for E1/E2, corrected", Section: stageTwoLemmas, Quick: true,
			Statement:  `with $q=E^{(1)}/(E^{(2)}+\epsilon)$: $|q-A_2/B_2|\le\frac1{B_2}\big(|q|(e^\beta|\mathcal E_4|+|\mathcal E_5|+|\mathcal E_7|+e^\beta\epsilon)+e^\beta|\mathcal E_4|+|\mathcal E_6|\big)$`,
			Hypotheses: `$X$ a sequence of a short chain, $\beta\ge0$, $A_2/B_2$ the limit`,
			Uses:       []string{"lem-compute-diffs"},
			Fault:      "a third of the right side",
		}, func(e *Env, faulty bool) Finding { return quotientStep(e, 1, true, faulty) }),
		{
			ID: "lem-f-to-pi", Title: "The trained model predicts the transition", Section: stageTwoLemmas,
			Statement:  `$\mathbb E_X|f_{\hat\theta}(X;s)_{s'}-\pi(s'|s)|^2\lesssim(1+\beta^{*2})T_{\mathrm{eff}}^{-1/2}\log T+e^{-\beta^*\gamma}$ and $\mathbb P(f_{\hat\theta}(X;s)_{s'}\le\frac{\gamma^3}{4S^2})\lesssim T_{\mathrm{eff}}^{-1}$`,
			Hypotheses: `$e^{\beta^*}=16\,T_{\mathrm{eff}}^{1/12}\log^{-1/6}T$; ` + hypotheses,
			Uses:       []string{"lem-f-to-pi-step-quotient", "lem-f-to-pi-step-markov", "lem-a2-dynamics", "cor-stage1-parents", "lem-j-l1", "lem-compute-diffs", "lem-chat-var", "lem-muhat-parent-var", "lem-compare-z"},
			Check:      func(e *Env) Finding { return predicts(e, sound) },
			Fault:      "positions with a parent attend to themselves",
			Faulty:     func(e *Env) Finding { return predicts(e, toItself) },
		},
		{
			ID: "lem-f-to-pi-step-quotient", Title: "The displayed use of lem-compute-diffs for f", Section: stageTwoLemmas,
			Statement:  `$|f-\frac{A_2}{B_2}|\le\frac{|f|(e^\beta|\mathcal E_4|+|\mathcal E_5|+|\mathcal E_7|)+e^\beta|\mathcal E_1|+|\mathcal E_3|}{B_2}$ for $f=\delta_{s'}(X)^\top\mathcal S(\beta\tilde z(X;s))$`,
			Hypotheses: `$X$ a sequence of a short chain, $\beta\ge0$, $A_2/B_2$ the limit`,
			Uses:       []string{"lem-compute-diffs"}, Quick: true,
			Corrected: "lem-f-to-pi-step-quotient-corrected",
			Check:     func(e *Env) Finding { return quotientStep(e, 0, false, false) },
			Fault:     "a third of the right side",
			Faulty:    func(e *Env) Finding { return quotientStep(e, 0, false, true) },
		},
		checked(Claim{
			ID: "lem-f-to-pi-step-quotient-corrected", Title: "The displayed use of lem-compute-diffs for f, corrected", Section: stageTwoLemmas, Quick: true,
			Statement:  `$|f-\frac{A_2}{B_2}|\le\frac1{B_2}\big(|f|(e^\beta|\mathcal E_1|+|\mathcal E_3|)+e^\beta|\mathcal E_4|+|\mathcal E_5|+|\mathcal E_7|\big)$ for $f=\delta_{s'}(X)^\top\mathcal S(\beta\tilde z(X;s))$`,
			Hypotheses: `$X$ a sequence of a short chain, $\beta\ge0$, $A_2/B_2$ the limit`,
			Uses:       []string{"lem-compute-diffs"},
			Fault:      "a third of the right side",
		}, func(e *Env, faulty bool) Finding { return quotientStep(e, 0, true, faulty) }),
		{
			ID: "lem-f-to-pi-step-markov", Title: "Markov's inequality for the pair frequencies", Section: stageTwoLemmas,
			Statement:  `$\mathbb P_X(|\hat c_{X_{\bar{\mathcal R}}}(s,s')-\mu_\pi(s)\pi(s'|s)|\ge\frac{\gamma^2}{2S^2})\le\frac{2S^2}{\gamma^2}\mathbb E_X|\hat c_{X_{\bar{\mathcal R}}}(s,s')-\mu_\pi(s)\pi(s'|s)|^2$`,
			Hypotheses: `in-context graph, $\pi$ symmetric over two states with its largest $\gamma\le1-r$`,
			Corrected:  "lem-f-to-pi-step-markov-corrected", Quick: true,
			Check:  func(e *Env) Finding { return markovStep(e, 1, 1) },
			Fault:  "the right side is divided by ten",
			Faulty: func(e *Env) Finding { return markovStep(e, 1, 10) },
		},
		{
			ID: "lem-f-to-pi-step-markov-corrected", Title: "Chebyshev's inequality for the pair frequencies", Section: stageTwoLemmas,
			Statement:  `$\mathbb P_X(|\hat c-\mu_\pi\pi|\ge\frac{\gamma^2}{2S^2})\le(\frac{2S^2}{\gamma^2})^2\,\mathbb E_X|\hat c-\mu_\pi\pi|^2$`,
			Hypotheses: `in-context graph, $\pi$ symmetric over two states with its largest $\gamma\le1-r$`, Quick: true,
			Check:  func(e *Env) Finding { return markovStep(e, 2, 1) },
			Fault:  "the right side is divided by 100",
			Faulty: func(e *Env) Finding { return markovStep(e, 2, 100) },
		},
	}...)
}

// compareZ compares E|z_i - muhat_{<=i}|^2 with lem-compare-z. For the query it
// fits the least constant against T under pullPrior. For the other roots it
// checks that one constant serves all T: a root is drawn to itself up to
// i = C kappa T log T/(S sqrt(T_eff)), kappa as in selfPull, so that
// max(1, 2 C kappa/S)^2 should do.
func compareZ(e *Env, query bool, fault spoil) Finding {
	priors := trainedPriors()
	if query {
		priors = []*markov.Finite{pullPrior()}
	}
	f := Finding{Tier: ConsistentWith, Verdict: Consistent, Margin: math.Inf(1)}
	count := 0
	for _, prior := range priors {
		d := tendency{claimed: 0}
		k := max(1, 2*stageOneTime(prior)*selfPull(prior)/float64(prior.States()))
		var last *run
		for _, t := range []int{16, 32, 64, 128, 256, 512}[:e.Budget(6, 4)] {
			if e.Err() != nil {
				return f
			}
			r := e.trained(growingGraph("in-context", t), prior, fault)
			roots := r.someRoots(24)
			if query {
				roots, k = []int{t - 1}, 1
			}
			most := 0.0
			for n, square := range r.rowsMiss(roots, e.Budget(400, 100)) {
				x := float64(t) * num.Log(float64(t)) / float64(roots[n]+1)
				most = max(most, square/min(1, float64(k*k)*x*x/r.teff))
				count++
			}
			last = r
			d.x, d.y = append(d.x, float64(t)), append(d.y, most)
		}
		g := d.finding()
		if !query {
			g.LHS, g.RHS = slices.Max(d.y), 1
			g.Margin = Slack(g.LHS, 1)
			g.Note = fmt.Sprintf("Square over min(1, K^2 T^2 log^2 T/(T_eff i^2)) at most %.3g for all T, K = %.3g.", g.LHS, k)
		}
		g.Instance = last.instance()
		g.Instance["least constants"] = roundedTo3(d.y)
		if g.Margin < f.Margin {
			f = g
		}
	}
	f.Tier, f.Instances, f.Seed, f.Verdict = ConsistentWith, count, Seed, Consistent
	if f.Margin < 0 {
		f.Verdict = Inconsistent
	}
	if query {
		f.Note += " The query breaks it: g_TT = 1/S E sum_s pi(s|s)/mu(s) - 1 is not zero, and where it is positive softmax(A1)_TT -> 1, so that z_T = x_T while the claimed bound is log^2 T/T_eff. One token in T: E1, E2 and E3 change by O(e^beta/T), so the later lemmas survive."
	} else {
		f.Note += " Roots that stage 1 moves to themselves have i <~ T log T/sqrt(T_eff), where the bound is of order 1."
	}
	return f
}

// rowsMiss estimates E |sum_j (a_ij - 1/i) x_{j,s}|^2 for rows i of the
// attention a, averaged over pi and the largest over s, from n sequences in
// which the query is a token of its own.
func (r *run) rowsMiss(rows []int, n int) []float64 {
	tk := task.Task{Graph: r.Graph, Prior: r.prior}
	b := tk.NewBatch(n)
	task.NewSampler(tk).Fill(b, num.Stream(Seed, "claims/rows", uint64(r.t)))
	out := make([]float64, len(rows))
	for k, i := range rows {
		sum := make([]float64, r.s)
		for q := range n {
			x, _ := b.Seq(q)
			z := make([]float64, r.s)
			for j, a := range r.rows[i] {
				z[x[j]] += a - 1/float64(i+1)
			}
			for s, v := range z {
				sum[s] += float64(v*v) / float64(n)
			}
		}
		for _, v := range sum {
			out[k] = max(out[k], v)
		}
	}
	return out
}

// quotientStep decides the three displayed uses of lem-compute-diffs at
// beta = 0, where all is rational, on every sequence of short chains: which = 3
// for E3, 1 for E1/E2 with eps = 1/100, 0 for f. Rows of roots are uniform. Fault
// takes a third of the right side.
func quotientStep(e *Env, which int, corrected, fault bool) Finding {
	var w tightest
	one := big.NewRat(1, 1)
	for _, pi := range []exact.Matrix{exact.Rats("7/10 3/10; 3/10 7/10"), exact.Rats("1/2 3/8 1/8; 1/2 1/8 3/8; 1/2 1/8 3/8")} {
		mu := exact.MustStationary(pi)
		states := len(pi)
		for t := 3; t <= e.Budget(6, 4); t++ {
			g := graph.Chain(t)
			n := big.NewRat(int64(t), 1)
			roots := len(g.Roots())
			r := big.NewRat(int64(roots), int64(t))
			total := 1
			for range t {
				total *= states
			}
			for code := range total {
				x := make([]int, t)
				for i, c := 0, code; i < t; i, c = i+1, c/states {
					x[i] = c % states
				}
				for s := range states {
					for a := range states {
						z := exact.Zero(1, t)[0]
						for i := range t {
							if p := g.Parent(i); p >= 0 {
								z[i].SetInt64(int64(unit(x[p] == s)))
								continue
							}
							for j := range i + 1 {
								z[i].Add(z[i], big.NewRat(int64(unit(x[j] == s)), int64(i+1)))
							}
						}
						sumZ, sumRootZ, parents, pairs, hits, rootHits, hitZ, rootHitZ := new(big.Rat), new(big.Rat), new(big.Rat), new(big.Rat), new(big.Rat), new(big.Rat), new(big.Rat), new(big.Rat)
						for i := range t {
							sumZ.Add(sumZ, z[i])
							hit := x[i] == a
							if hit {
								hits.Add(hits, one)
								hitZ.Add(hitZ, z[i])
							}
							if g.Parent(i) >= 0 {
								parents.Add(parents, z[i])
								if hit {
									pairs.Add(pairs, z[i])
								}
								continue
							}
							sumRootZ.Add(sumRootZ, z[i])
							if hit {
								rootHits.Add(rootHits, one)
								rootHitZ.Add(rootHitZ, z[i])
							}
						}
						over := func(v *big.Rat) *big.Rat { return exact.Quo(v, n) }
						rest := exact.Sub(one, r)
						e1 := exact.Sub(over(parents), exact.Mul(rest, mu[s]))
						e2 := exact.Sub(over(sumRootZ), exact.Mul(r, mu[s]))
						e4 := exact.Sub(over(pairs), exact.Mul(rest, exact.Mul(mu[s], pi[s][a])))
						e5 := exact.Sub(exact.Sub(over(hits), over(rootHits)), exact.Mul(rest, mu[a]))
						e6 := exact.Sub(over(rootHitZ), exact.Mul(r, exact.Mul(mu[s], mu[a])))
						e7 := exact.Sub(over(rootHits), exact.Mul(r, mu[a]))
						// The bound is (value times + plus)/b2.
						var value, target, times, plus *big.Rat
						b2 := one
						switch which {
						case 3:
							// E_3(X) = 0 at beta = 0. The printed line has E_2 without |.|.
							value, target = over(sumZ), mu[s]
							times, plus = exact.Abs(e1), exact.Add(exact.Abs(e1), exact.Abs(e2))
							if !corrected {
								times, plus = exact.Add(exact.Add(times, exact.Abs(e1)), e2), new(big.Rat)
							}
						case 1:
							eps := big.NewRat(1, 100)
							value, b2 = exact.Quo(over(hitZ), exact.Add(over(hits), eps)), mu[a]
							target = exact.Quo(exact.Add(exact.Mul(rest, exact.Mul(mu[s], pi[s][a])), exact.Mul(r, exact.Mul(mu[s], mu[a]))), b2)
							times, plus = exact.Add(exact.Add(exact.Abs(e4), exact.Add(exact.Abs(e5), exact.Abs(e7))), eps), exact.Add(exact.Abs(e4), exact.Abs(e6))
							if !corrected {
								times, plus = exact.Add(times, plus), new(big.Rat)
							}
						default:
							value, target = over(hits), mu[a]
							times, plus = exact.Abs(e1), exact.Add(exact.Abs(e4), exact.Add(exact.Abs(e5), exact.Abs(e7)))
							if !corrected {
								times, plus = plus, times
							}
						}
						rhs := exact.Quo(exact.Add(exact.Mul(value, times), plus), b2)
						if fault {
							rhs = exact.Quo(rhs, big.NewRat(3, 1))
						}
						w.decide(exact.Abs(exact.Sub(value, target)), rhs, func() Instance {
							sequence := make([]int, t)
							for i := range x {
								sequence[i] = x[i] + 1
							}
							in := Instance{"graph": parentList(g), "pi": pi.Strings(), "X": sequence, "s": s + 1, "s'": a + 1, "beta": "0", "roots": "uniform rows", "value": value.RatString(), "limit": target.RatString()}
							if which == 1 {
								in["epsilon"] = "1/100"
							}
							return in
						})
					}
				}
			}
			if w.Witness != nil {
				break
			}
		}
		if w.Witness != nil {
			break
		}
	}
	note := "A bracket in the wrong place: lem-compute-diffs has the factor |A1/B1| at |B1-B2| only. The next line, which bounds the factor by 1, follows from either form, so nothing is lost but constants."
	if which == 0 {
		note = "The two differences are exchanged: lem-compute-diffs has |f| at the errors of the denominator (1 and 3), not at those of the numerator (4, 5, 7). The next line, which bounds |f| by 1, follows from either form."
	}
	if corrected {
		note = "True for all: it is lem-compute-diffs, and (e^beta-1)|E| <= e^beta|E|. Decided at beta = 0, where all is rational."
	}
	return w.finding(Exact, note)
}

// denominatorStep decides the lower bound of the denominator with
// gamma * factor on the right, or with gamma/S for factor 0 and 3 gamma/S for
// factor 3, over pi = (1-a, a; b, 1-b), mu = (b, a)/(a+b), with exp(beta mu)
// rational.
func denominatorStep(e *Env, factor int) Finding {
	var w tightest
	one, two := big.NewRat(1, 1), big.NewRat(2, 1)
	for na := int64(1); na <= 9; na++ {
		for nb := int64(1); nb <= 9; nb++ {
			pi := exact.Matrix{{big.NewRat(10-na, 10), big.NewRat(na, 10)}, {big.NewRat(nb, 10), big.NewRat(10-nb, 10)}}
			gamma := big.NewRat(int64(math.Floor(theory.MustChain(pi.Floats(), 2).Gamma()*100))-1, 100)
			// With this one, of trace 2 - trace(pi), pi makes a prior of constant mean.
			partner := exact.Matrix{{pi[0][1], pi[0][0]}, {pi[1][1], pi[1][0]}}
			if exact.CheckGamma(pi, gamma) != nil || exact.CheckGamma(partner, gamma) != nil {
				continue
			}
			for _, r := range []*big.Rat{big.NewRat(1, 4), big.NewRat(1, 2)} {
				if exact.Add(r, gamma).Cmp(one) > 0 {
					continue
				}
				for _, root := range []*big.Rat{one, big.NewRat(6, 5), big.NewRat(3, 2), two} {
					// exp(beta) = root^(na+nb), exp(beta mu(2)) = root^na
					eb, em, mu := qPow(root, int(na+nb)), qPow(root, int(na)), big.NewRat(na, na+nb)
					rest := exact.Sub(one, r)
					den := exact.Add(exact.Add(exact.Mul(exact.Mul(rest, exact.Sub(eb, one)), mu), rest), exact.Mul(r, em))
					bound := exact.Mul(exact.Mul(rest, eb), gamma)
					switch factor {
					case 0:
						bound = exact.Quo(bound, two)
					case 3:
						bound = exact.Quo(exact.Mul(bound, big.NewRat(3, 1)), two)
					default:
						bound = exact.Mul(bound, big.NewRat(int64(factor), 1))
					}
					w.decide(bound, den, func() Instance {
						return Instance{"S": 2, "pi": pi.Strings(), "prior": "all relabelings of pi and of pi with its columns exchanged", "mu(s)": mu.RatString(), "s": 2, "r": r.RatString(), "gamma": gamma.RatString(), "exp(beta)": eb.RatString(), "exp(beta mu)": em.RatString()}
					})
				}
			}
		}
	}
	note := "mu(s) >= gamma/S is what is known, so gamma/S belongs in the place of gamma; likewise gamma^2/S^2 for gamma^2 in the proof of lem-concentrate-e12 and gamma/S in that of lem-f-to-pi. The constant C(gamma,S) absorbs it."
	if factor == 0 {
		note = "Proof: (e^beta - 1) mu + 1 >= e^beta mu as mu <= 1, and mu >= gamma/S."
	}
	return w.finding(Exact, note)
}

// markovStep decides P(|chat - m| >= t) <= t^-power E|chat - m|^2 / shrink with
// t = gamma^2/(2 S^2), m = mu(s) pi(s'|s) = q/2, on in-context graphs, where n
// chat is binomial.
func markovStep(e *Env, power int, shrink int64) Finding {
	var w tightest
	for n := 1; n <= e.Budget(30, 15); n++ {
		t := 2*n + 1
		for k := int64(20); k <= 45; k += 5 { // pi = (1-q, q; q, 1-q), q = k/100
			q := big.NewRat(k, 100)
			pi := exact.Matrix{{exact.Sub(big.NewRat(1, 1), q), q}, {q, exact.Sub(big.NewRat(1, 1), q)}}
			gamma := big.NewRat(int64(math.Floor(theory.MustChain(pi.Floats(), 2).Gamma()*100))-1, 100)
			if low := big.NewRat(int64(n), int64(t)); gamma.Cmp(low) > 0 {
				gamma = low
			}
			if exact.CheckGamma(pi, gamma) != nil {
				continue
			}
			level := exact.Quo(exact.Mul(gamma, gamma), big.NewRat(8, 1))
			m := exact.Quo(q, big.NewRat(2, 1))
			lhs, second := new(big.Rat), new(big.Rat)
			for c := 0; c <= n; c++ {
				p := exact.Mul(new(big.Rat).SetInt(new(big.Int).Binomial(int64(n), int64(c))), exact.Mul(qPow(m, c), qPow(exact.Sub(big.NewRat(1, 1), m), n-c)))
				d := exact.Abs(exact.Sub(big.NewRat(int64(c), int64(n)), m))
				if d.Cmp(level) >= 0 {
					lhs.Add(lhs, p)
				}
				second.Add(second, exact.Mul(p, exact.Mul(d, d)))
			}
			rhs := exact.Quo(second, exact.Mul(qPow(level, power), big.NewRat(shrink, 1)))
			w.add(exact.Float(lhs), exact.Float(rhs), func() Instance { return Instance{"T": t, "q": q.RatString(), "gamma": gamma.RatString()} })
			if lhs.Cmp(rhs) > 0 && w.Witness == nil {
				w.Witness = Instance{
					"graph": parentList(graph.InContext(t)), "pi": pi.Strings(), "prior": "all relabelings of pi and of pi with its columns exchanged", "gamma": gamma.RatString(), "s, s'": "1, 2", "pairs": n,
					"law": fmt.Sprintf("%d chat is binomial(%d, %s)", n, n, m.RatString()), "threshold": level.RatString(), "lhs": lhs.RatString(), "rhs": rhs.RatString(),
				}
			}
		}
	}
	note := "Markov's inequality at the level t of the absolute value gives E|.|/t, and with the second moment E|.|^2/t^2; the square on 2S^2/gamma^2 is missing. The conclusion survives, as the constant C(gamma,S) absorbs the square."
	if power == 2 {
		note = "Chebyshev's inequality."
	}
	return w.finding(Exact, note)
}

// predicts compares the two sides of lem-f-to-pi at beta*: the mean square by a
// fit, and T_eff P(f small) by its largest value on the shortest and on the
// longest sequences.
func predicts(e *Env, fault spoil) Finding {
	short, long, least := 0.0, 0.0, 0.0
	sizes := e.trainedSizes()
	f := e.overRuns(0, fault, growing, func(r *run) float64 {
		at := r.Full[r.betaStarIndex(16)]
		switch tail := mostOf(at.Below) * r.teff; r.t {
		case sizes[0]:
			short = max(short, tail)
		case sizes[len(sizes)-1]:
			long = max(long, tail)
		}
		bound := float64((1+float64(at.Beta*at.Beta))*num.Log(float64(r.t)))/math.Sqrt(r.teff) + num.Exp(-at.Beta*r.gamma)
		v := mostOf(at.Square) / bound
		least = max(least, v)
		return v
	})
	f.Note += fmt.Sprintf(" Fitted: the mean square over its bound; least constant %.3g. T_eff P(f <= gamma^3/(4S^2)) is at most %.3g at T = %d and %.3g at T = %d.", least, short, sizes[0], long, sizes[len(sizes)-1])
	if long > short {
		f.Verdict, f.Margin = Inconsistent, -1
		f.Note += " The second claim is broken."
	}
	return f
}

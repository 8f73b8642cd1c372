package claims

import (
	"math"
	"testing"

	"learncausal/paper/exact"
	"learncausal/paper/ledger"
	"learncausal/pkg/graph"
	"learncausal/pkg/markov"
	"learncausal/pkg/num"
	"learncausal/pkg/task"
	"learncausal/pkg/theory"
)

// TestSmallestEntryOfDirichletRows compares the law that decides the remark on
// Dirichlet rows, P(min pi > gamma/S) = (1-gamma)^(S(S-1)) at alpha = 1, with
// draws: five standard deviations, a false alarm of 3e-7 per row of the table.
func TestSmallestEntryOfDirichletRows(t *testing.T) {
	const draws = 50000
	for _, c := range []struct {
		s     int
		gamma float64
	}{{2, 0.3}, {4, 0.05}, {6, 0.01}} {
		prior, err := markov.NewDirichlet(c.s, 1)
		if err != nil {
			t.Fatal(err)
		}
		src := num.Stream(5, "claims/dirichlet", uint64(c.s))
		pi, mu, n := make([]float64, c.s*c.s), make([]float64, c.s), 0
		for range draws {
			prior.Draw(pi, mu, src)
			low := 1.0
			for _, p := range pi {
				low = min(low, p)
			}
			n += int(unit(low > c.gamma/float64(c.s)))
		}
		p := math.Pow(1-c.gamma, float64(c.s*(c.s-1)))
		if got := float64(n) / draws; math.Abs(got-p) > 5*math.Sqrt(p*(1-p)/draws) {
			t.Errorf("S = %d, gamma = %v: %v of the draws, want %v", c.s, c.gamma, got, p)
		}
	}
}

// The mean of a trace under both bullets of Assumption 1, against a sum over cells whose corners
// are floats, and the gamma of Dirichlet priors against laws in closed form.
func TestTracesAndGammasOfPriors(t *testing.T) {
	check := comparing(t)
	for _, n := range []float64{64, 200, 2000} {
		var sum, least, most float64
		for a := n / 4; a < 3*n/4; a++ { // of n times the leaving probabilities
			for b := n / 4; b < 3*n/4; b++ {
				high, low := n-a-b, n-a-b-2
				near, far := min(math.Abs(high), math.Abs(low)), max(math.Abs(high), math.Abs(low))
				if high*low < 0 {
					near = 0
				}
				if sides := a + b + 2; near*near*(a*a+b*b) >= sides*sides*(n*n/16) {
					sum, least, most = sum+low+1, least+1, most+1
				} else if sides -= 2; far*far*((a+1)*(a+1)+(b+1)*(b+1)) >= sides*sides*(n*n/16) {
					sum, most = sum+min(low, 0), most+1
				}
			}
		}
		if sum < 0 {
			most = least
		}
		check("a mean of tr pi", exact.Float(conditionedTrace(int64(n), 1, 2, true)), 1+sum/most/n)
		check("a mean of tr pi without a condition", exact.Float(conditionedTrace(int64(n), 1, 2, false)), 1)
	}
	check("gamma for alpha = 1", gammaAbove(10, 1), 10*(1-math.Pow(0.99, 1./90)))
	x := gammaAbove(2, 2) / 2 // with two entries of law 6 x (1-x)
	check("gamma for alpha = 2", 3*x*x-2*x*x*x, 1-math.Sqrt(0.99))
}

// The predictions of a trained model whose roots attend uniformly, against the reduced model, and
// its error bound against the formula.
func TestPredictionOfATrainedModel(t *testing.T) {
	check := comparing(t)
	const r, beta, star = 0.3, 1.4, 1.2
	for _, u := range asymmetrics() {
		c, n := u.chain(), u.graph.T()
		run := &mainRun{
			firstStage: &firstStage{graph: u.graph, prior: u.prior(), t: n, s: c.S},
			r:          r, beta: beta, betaStar: star, roots: make([][]float64, n),
		}
		for i := range n {
			for range i + 1 {
				run.roots[i] = append(run.roots[i], 1/float64(i+1))
			}
		}
		for x := range task.Sequences(c.S, n) {
			check.each("a prediction of a trained model", run.predict(x, c.S), idealPrediction(u.graph, x, x[n-1], c.S, beta))
		}
		gamma := min(c.Gamma(), theory.MustChain(u.other.Floats(), c.S).Gamma())
		for s, mu := range c.Mu {
			far, spread := 0.0, 0.0
			for to, p := range c.Pi.RawRowView(s) {
				far, spread = max(far, p-c.Mu[to], c.Mu[to]-p), max(spread, p-p*p)
			}
			mu = max(mu, gamma/float64(c.S))
			small, root := math.Exp(-star), math.Exp(star*(mu-1))
			weight := (0.7*small + 0.3*root) / (0.7*small + 0.3*root + 0.7*(1-small)*mu)
			tail := []float64{2: 2.5758293035, 3: 2.9351994687, 4: 3.0233414397}[c.S]
			check("the weight of mu", mixtureWeight(mu, r, star), weight)
			check("how far a prediction may be off", run.errorBound(c, s), weight*far+tail*math.Sqrt(spread/(0.7*mu*float64(n))))
		}
	}
}

// The bound on the excess loss of Theorem 1 and its limit, against their terms, for r = 3/10,
// T_eff = 7 and a run at epsilon = 1/20, at beta* = 7/5.
func TestBoundOnTheExcessLoss(t *testing.T) {
	check := comparing(t)
	const star = 1.4
	eps := math.Sqrt(1. / 7)
	for _, u := range asymmetrics() {
		states, limit, lone := float64(len(u.first)), 0.0, 0.0
		for k, pi := range []exact.Matrix{u.first, u.other} {
			weight, c := []float64{1. / 3, 2. / 3}[k], theory.MustChain(pi.Floats(), len(pi))
			for s, mu := range c.Mu {
				lone += weight * (states - 1) / (2 * states * mu)
				rest := 0.7*math.Exp(-star) + 0.3*math.Exp(star*(mu-1))
				rest /= rest + 0.7*(1-math.Exp(-star))*mu
				for to, p := range c.Pi.RawRowView(s) {
					f := p + rest*(c.Mu[to]-p)
					limit += weight / states * p * (math.Log(p) - math.Log((f+eps)/(1+states*eps)))
				}
			}
		}
		run := &mainRun{firstStage: &firstStage{prior: u.prior(), s: len(u.first), teff: 7}, r: 0.3, eps: 0.05}
		check("the limit of the excess loss", run.limit(star), limit)
		check("what the excess loss is at most", run.bound(star), limit+lone/4.9)
	}
}

// The loss and the error of the model that predicts the law of the tokens, against sums over all
// sequences.
func TestTokenLossIsASumOverSequences(t *testing.T) {
	check := comparing(t)
	const eps = 0.25
	g, base := graph.Chain(4), exact.Rats("4/5 1/5; 3/10 7/10")
	exchanged := exact.Rats("1/5 4/5; 7/10 3/10")
	var gap, square, plain float64
	for _, pi := range []exact.Matrix{base, exchanged, exact.Rats("7/10 3/10; 1/5 4/5"), exact.Rats("3/10 7/10; 4/5 1/5")} {
		for x, chance := range exact.Sequences(g, pi) {
			weight, far := exact.Float(chance)/4, 0.0
			for b, q := range pi[x[3]] {
				f, p := float64(occurrences(b, x))/4, exact.Float(q)
				gap += weight * p * (math.Log(p) - math.Log(f+eps))
				far += math.Abs((f+eps)/1.5 - p)
				plain += weight / 2 * (f - p) * (f - p)
			}
			square += weight / 2 * far * far
		}
	}
	l := newTokenLoss(g, base, exact.Frac(1, 4))
	check("L - L*", l.gap.Float(), gap)
	check("log(1 + S eps)", l.shift.Float(), math.Log(1.5))
	check("the mean of |q - pi|^2/2", exact.Float(l.square), square)
	check("the mean of (f - pi)^2", exact.Float(l.plain), plain)
}

// The inequalities of one training, and which trainings have a loss that is a finite sum.
func TestInequalitiesOfATraining(t *testing.T) {
	check := comparing(t)
	u := asymmetrics()[0]
	run := &mainRun{
		firstStage: &firstStage{family: "chain", graph: graph.Chain(5), prior: u.prior(), t: 5, s: 2, teff: 7},
		r:          0.3, eps: 0.05, lost: 0.2, beta: 1.5, betaStar: 1.4,
		roots:  [][]float64{4: {0.1, 0.1, 0.1, 0.1, 0.6}},
		seen:   func() num.Estimate { return num.Estimate{Mean: 0.02, StdErr: 0.001} },
		path:   []betaStep{{0.5, num.Estimate{Mean: 0.3, StdErr: 0.01}}, {1, num.Estimate{Mean: 0.2, StdErr: 0.03}}},
		slopes: func() []float64 { return []float64{-0.31, -0.18, -0.17} },
	}
	spoilt := asStated().with(func(q *training) {
		q.shift, q.reach = 0.5, 0.9
		q.excess, q.lost = func(seen, teff float64) float64 { return seen * teff }, func(lost, t float64) float64 { return lost / t }
	})
	seen := 0.14 - math.Log(1.1)/2
	check.inequalities("the lines of a training", func(w *ledger.Worst) { spoilt.compare(w, run) },
		[2]float64{0, seen + 0.005}, [2]float64{seen - 0.005, run.bound(1.4)}, [2]float64{0.04, 0.2}, [2]float64{1.26, 1.5}, [2]float64{1.5, 2.4}, [2]float64{0.01, 0.05}, [2]float64{0.02, 0.15}, [2]float64{0.03, 0.15})
	check("the pull of the query", run.pairs(u.first.Floats()).pull, 0.6)
	spider, threeStates := &firstStage{family: "spider", t: 5, s: 2}, &firstStage{family: "chain", t: 5, s: 3}
	for _, spoil := range []func(r *mainRun){
		func(r *mainRun) { r.roots = [][]float64{4: {0.1, 0.11, 0.1, 0.1, 0.59}} },
		func(r *mainRun) { r.firstStage = spider },
		func(r *mainRun) { r.firstStage = threeStates },
	} {
		other := *run
		spoil(&other)
		check("whether the loss is a finite sum", unit(other.pairs(u.first.Floats()) == nil), 1)
	}
}

// The inequalities of the rates of Theorems 1 and 2, for a heavy state and few positions with
// a parent.
func TestInequalitiesOfTheRates(t *testing.T) {
	check := comparing(t)
	var main, stranger [][2]float64
	for k := 0.0; k <= 60_000; k += 5000 {
		x, logLimit := k*math.Ln10, math.Inf(-1)
		for s, mu := range []float64{18. / 19, 1. / 19} {
			few, many := 0.1*unit(k == 0), math.Exp(x/12*(mu-1))*0.9 // e^(-x/12) is no float beyond zero
			weight, far := (few+many)/(few+many+(0.1-few)*mu), 0.0
			for to, p := range [][]float64{{0.95, 0.05}, {0.9, 0.1}}[s] {
				d := p - []float64{18. / 19, 1. / 19}[to]
				far += d * d / (p - weight*d)
			}
			logLimit = max(logLimit, 2*math.Log(weight)+math.Log(far))
			stranger = append(stranger, [2]float64{math.Exp(math.Log(weight) - math.Log(200) + 0.004*x), 1})
		}
		main = append(main, [2]float64{math.Exp(logLimit - math.Log(1.6e6) + 0.01*x), 1})
	}
	check.inequalities("the rate of Theorem 1", training{fall: 0.1}.compareRate, main...)
	check.inequalities("the rate of Theorem 2", func(w *ledger.Worst) { compareErrorRate(w, 0.04) }, stranger...)
}

// The cost of finite samples, the logarithms at the threshold of Lemma 32, and the mixture in the
// limit.
func TestInequalitiesOfTheStepsOfTheoremOne(t *testing.T) {
	check := comparing(t)
	pi := exact.Rats("4/5 1/5; 2/5 3/5")
	c := trainedChain{pi: pi, t: 4, pull: 1, eps: 0.5}
	check.inequalities("the cost of finite samples", func(w *ledger.Worst) {
		costClaim{cost: 8, power: 2, weight: 1, eps: 0.5}.decide(w, pi, 4, 2.5)
	}, [2]float64{c.limit(2.5) - c.excess(2.5).Float(), 8 * 1.125 / 4})
	var lines [][2]float64
	for _, p := range []float64{0.5, 0.75} {
		for _, f := range []float64{0, 1. / 160, 11. / 160, 1} {
			most := 16 * (math.Abs(f-p) + 1./3)
			if f < 1./16 {
				most *= 4
			}
			lines = append(lines, [2]float64{math.Abs(math.Log((f + 1./3) / p)), most})
		}
	}
	check.inequalities("the difference of logarithms", func(w *ledger.Worst) {
		logDifferences(w, exact.Frac(1, 16), exact.Frac(16, 1), exact.Frac(1, 2), exact.Frac(1, 3))
	}, lines...)
	rest := 0.75 + math.Exp(1./3)/4
	weight, divergence := rest/(math.Expm1(0.5)/2+rest), 0.0
	for to, p := range []float64{0.8, 0.2} {
		far := []float64{2. / 3, 1. / 3}[to] - p
		divergence += weight * weight * far * far / (p + weight*far)
	}
	check.inequalities("the mixture in the limit", func(w *ledger.Worst) {
		some := biasClaim{gamma: 1, rate: 3, weight: 1, mixture: 1, root: 1}
		some.decide(w, pi, exact.Frac(2, 5), exact.Frac(1, 4), exact.Frac(1, 2), 0)
	}, [2]float64{weight, 2 * math.Exp(-1./6)}, [2]float64{0, 1e-40}, [2]float64{0, 1e-40},
		[2]float64{divergence, 16 / math.Pow(0.4, 5) * math.Exp(-0.6)})
	check.inequalities("where the bound says nothing", func(w *ledger.Worst) { decideEmpty(w, 5, 3, 24) },
		[2]float64{1.5 * math.Ln2, 5 * math.Ln2 * math.Pow(2, -0.125)})
	law := lossLaw{exact.Frac(1, 10), exact.Rats("1/2 1/5 0")[0], exact.Rats("1/5 3/10 1/2")[0], []bool{true, false, true}}
	lhs, rhs := law.sides(exact.Point)
	check.each("the Cauchy-Schwarz step", []float64{lhs.Float(), rhs.Float()},
		[]float64{0.2*0.6*11 + 0.3*0.3 + 0.5*0.1*11, (math.Sqrt(0.05+0.012) + 0.1) * 8})
}

// The sums over pair counts of a trained chain, against the sum over its sequences.
func TestTrainedChainAgreesWithEnumeration(t *testing.T) {
	const beta = 1.7
	check := comparing(t)
	for _, m := range []exact.Matrix{exact.Rats("4/5 1/5; 2/5 3/5"), exact.Rats("1/5 4/5; 3/5 2/5")} {
		c, pi := trainedChain{pi: m, t: 6, pull: 0.3, eps: 0.07}, m.Floats()
		excess := c.overSequences(beta, func(s int, f [2]float64) float64 {
			p, scale := pi[2*s], 1+2*c.eps
			return p*math.Log(p*scale/(f[0]+c.eps)) + (1-p)*math.Log((1-p)*scale/(f[1]+c.eps))
		})
		check("the excess loss", c.excess(beta).Float(), excess)
		far := func(s int) float64 { return 0.111 + 0.2*float64(s) }
		missed := c.overSequences(beta, func(s int, f [2]float64) float64 { return unit(math.Abs(f[1]-pi[2*s+1]) > far(s)) })
		check("the probability of a miss", c.missed(beta, far).Float(), missed)
		teff := 1 / (c.eps * c.eps)
		run := &mainRun{firstStage: &firstStage{prior: mustOrbit(2, pi), s: 2, teff: teff}}
		check("the limit", run.limit(beta), c.limit(beta))
		check("the cost of finite samples", run.bound(beta), c.limit(beta)+c.lone()/teff)
	}
}

// overSequences returns the mean of h, a function of the query and of the prediction, over the
// sequences of a short chain.
func (c trainedChain) overSequences(beta float64, h func(s int, f [2]float64) float64) float64 {
	mean := 0.0
	for x, chance := range exact.Sequences(graph.Chain(c.t), c.pi) {
		query, total, f := x[c.t-1], 0.0, [2]float64{}
		for i, a := range x {
			z := unit(x[max(i-1, 0)] == query)
			if i == c.t-1 {
				z = c.pull
				for _, b := range x[:i] {
					z += (1 - c.pull) * unit(b == query) / float64(i)
				}
			}
			v := math.Exp(beta * z)
			f[a], total = f[a]+v, total+v
		}
		mean += exact.Float(chance) * h(query, [2]float64{f[0] / total, f[1] / total})
	}
	return mean
}

// The weight of mu in the mixture, also where e^beta is large.
func TestWeightOfMuIsEnclosed(t *testing.T) {
	point := exact.Point
	for _, at := range [][3]string{{"2/3", "1/4", "1/2"}, {"1/3", "9/10", "3"}, {"1/3", "1/4", "600"}, {"2/3", "9/10", "600"}} {
		mu, r, beta := exact.Rat(at[0]), exact.Rat(at[1]), exact.Rat(at[2])
		one := exact.Frac(1, 1)
		keep := exact.Sub(one, r)
		rest := point(keep).Add(point(r).Mul(point(exact.Mul(beta, mu)).Exp()))
		weight := rest.Quo(rest.Add(point(exact.Mul(keep, mu)).Mul(point(beta).Exp().Sub(point(one)))))
		got := mixtureWeight(exact.Float(mu), exact.Float(r), exact.Float(beta))
		comparing(t)("the weight of mu, relative to the enclosure", got/weight.Float(), 1)
	}
}

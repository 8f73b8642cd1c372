package claims

import (
	"maps"
	"math"
	"math/big"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"learncausal/paper/exact"
	"learncausal/paper/ledger"
	"learncausal/pkg/graph"
	"learncausal/pkg/markov"
	"learncausal/pkg/num"
	"learncausal/pkg/theory"
)

// secondRoutes are independent computations of the quantities in the checks of each row.
var secondRoutes = map[string][]secondRoute{
	"eq-b-powers":           {chainsByDefinition},
	"lem-covariance":        {lawsBySummation, decaysByLaws},
	"thm-dpi-gap-corrected": {lawsBySummation},
	"lem-contraction":       {divergencesByDefinition, contractionsByHand},
	"alg-oracle-corrected":  {divergencesByDefinition, informationsBySummation, graphsByFloors},
	"thm-stage1-parents":    {countsBySummation, stageOneBySummation},
	"lem-pop-grads":         {populationsBySummation, brokenSymmetries},
	"thm-stage1-roots":      {pairsByCounts, boundsInFloats, fluctuationsAsPrinted},
	"eq-loss-rewrite":       {lossesBySummation},
	"eq-a2-form-corrected":  {secondGradientsInFloats, predictionsOfModel},
	"lem-concentration-a1":  {errorsBySummation},
	"thm-dpi-gap-sharp":     {gapsInRationals, threeStatesInFloats, twoStatesByChain, everywhereByHand, rangesByEnds},
	"thm-equivalence-to":    {headsForward},
	"lem-a1-dynamics-sharp": {timesByIntegration, stepsByRecursion},
	"lem-bound-ghat":        {stageTwoByDefinition, intervalsByEnds},
	"thm-stage2-lower":      {samplesBySummation, samplesWithoutChance, oneSampleMore, growthOfPoint},
	"lem-concentrate-e3":    {concentrationAsPrinted, longRunsByScenes},
	"thm-finite-stage1":     {samplesAsPrinted, samplesByDefinition, samplesByLength},
	"thm-finite-stage2":     {covariancesByDeterminant},
	"lem-compute-diffs":     {quotientsAsPrinted, decisionsByHand},
	"construct-single":      {deviationsByHand, streamsInFloats},
	"construct-multi":       {powerLawsByHand},
	"thm-ood":               {trainedModelAsDefined},
	"thm-ood-corrected":     {trainedModelAsDefined, rateLines},
	"thm-main-corrected":    {excessAsDefined, trainingLines, rateLines},

	"thm-main-step-epsilon-corrected": {tokenLossesInFloats},
	"thm-main-step-variance":          {excessAsDefined, trainingLines, rateLines},
	"thm-main-step-bias":              {stepLines},
	"lem-mu-lower":                    {rareTransitions},
	"ex-icl-corrected":                {primitivesByPowers},
	"assume-prior-remark-corrected":   {priorsByCells},
	"construct-single-step-rate":      {errorsOnChains},
	"claim-sample-size-corrected":     {sizesByHand},

	"lem-dpi":                                {processedByDefinition},
	"eq-strong-dpi":                          {informationsByLaws},
	"lem-teff-leaves-corrected":              {lengthsByHand},
	"lem-a2-dynamics":                        {stageTwoLines},
	"construct-single-step-limit-corrected":  {limitsByHand},
	"lem-a1-dynamics-step-integer-corrected": {stageOneLines},
	"thm-finite-stage1-step-union-corrected": {sampleLines},
}

// A secondRoute computes quantities that checks take from the library a second
// time, from their definitions, on instances without symmetry, and tells what
// each is with the numbers of the library and of the definition.
type secondRoute func(tell told)

type told func(what string, got, want float64)

// each tells the entries of two lists as one quantity.
func (tell told) each(what string, got, want []float64) {
	tell(what, float64(len(got)), float64(len(want)))
	for k, v := range got[:min(len(got), len(want))] {
		tell(what, v, want[k])
	}
}

// An unlike is a prior of two chains with weights 1/3 and 2/3, and a forest with
// a root in the middle, a path of length two, and, over two states, a position
// with two children. No two of its numbers are alike.
type unlike struct {
	graph *graph.Forest
	first exact.Matrix
	other exact.Matrix
}

func unlikes() []unlike {
	return []unlike{{
		graph.MustNew(graph.Root, 0, 0, graph.Root, 1, graph.Root),
		exact.Rats("4/5 1/5; 3/10 7/10"), exact.Rats("1/5 4/5; 9/10 1/10"),
	}, {
		graph.MustNew(graph.Root, 0, graph.Root, 1, graph.Root),
		exact.Rats("1/2 1/3 1/6; 1/10 3/5 3/10; 2/7 1/7 4/7"), exact.Rats("1/4 1/4 1/2; 1/3 1/2 1/6; 1/8 3/8 1/2"),
	}}
}

// thrice returns the matrices with the multiplicity of their weights.
func (u unlike) thrice() []exact.Matrix { return []exact.Matrix{u.first, u.other, u.other} }

func (u unlike) prior() *markov.Finite {
	p := &markov.Finite{Weight: []float64{1.0 / 3, 2.0 / 3}}
	for _, pi := range []exact.Matrix{u.first, u.other} {
		p.Pi, p.Mu = append(p.Pi, pi.Floats()), append(p.Mu, exact.MustStationary(pi).Floats())
	}
	return p
}

func (u unlike) chain() *theory.Chain { return theory.MustChain(u.first.Floats(), len(u.first)) }

// chainsByDefinition compares what is computed of one chain.
func chainsByDefinition(tell told) {
	for _, u := range unlikes() {
		c, pi, s := u.chain(), u.first, len(u.first)
		mu, cube := exact.MustStationary(pi).Floats(), pi.Mul(pi).Mul(pi).Floats()
		b := make([]float64, s*s)
		for k := range b {
			b[k] = math.Sqrt(mu[k/s]/mu[k%s]) * (cube[k] - mu[k%s])
		}
		lambda := c.Lambda()
		above, below := new(big.Rat).SetFloat64(lambda+1e-9), new(big.Rat).SetFloat64(lambda-1e-9)
		tell.each("mu", c.Mu, mu)
		tell.each("pi^3", c.Power(3).RawMatrix().Data, cube)
		tell.each("B^3", c.BPower(3).RawMatrix().Data, b)
		tell.each("pi^0", c.Power(0).RawMatrix().Data, exact.Diag(exact.Ones(s)).Floats())
		tell("|B|_F^2", c.FrobeniusSquared(), exact.Float(exact.FrobeniusSquared(pi)))
		tell("alpha", c.Alpha(), exact.Float(exact.Alpha(pi)))
		tell("gamma", c.Gamma(), math.Sqrt(exact.Float(gammaSquared(pi))))
		tell("lambda", unit(exact.LambdaAtMost(pi, above)), 1)
		tell("lambda", unit(exact.LambdaAtMost(pi, below)), 0)
		tell("gamma of a prior", theory.Gamma(u.prior()), min(c.Gamma(), theory.MustChain(u.other.Floats(), s).Gamma()))
	}
}

// lawsBySummation compares the joint laws of two positions and what is computed
// from them with sums over all sequences.
func lawsBySummation(tell told) {
	for _, u := range unlikes() {
		c, s, t := u.chain(), len(u.first), u.graph.T()
		for i := range t {
			for j := range t {
				law := enumeratedLaw(u.first, u.graph, i, j)
				p, corr := law.Floats(), make([]float64, s*s)
				v, w := c.Marginal(u.graph, i), c.Marginal(u.graph, j)
				g := -1.0
				for k, q := range p {
					corr[k] = (q - v[k/s]*w[k%s]) / math.Sqrt(v[k/s]*w[k%s])
					g += c.Pi[k%s*s+k/s] / c.Mu[k/s] * q
				}
				tell.each("a joint law", c.Joint(u.graph, i, j).RawMatrix().Data, p)
				tell.each("a joint law", exact.Joint(u.first, u.graph, i, j).Floats(), p)
				tell.each("a correlation", c.Correlation(u.graph, i, j).RawMatrix().Data, corr)
				tell("g_ij", c.G(u.graph, i, j), g)
				tell("g_ij", exact.Float(exact.G(u.first, u.graph, i, j)), g)
			}
		}
	}
}

// printedDivergences are the f of [theory.Divergences] as the paper and the
// literature print them, with the limits of f(z)/z.
var printedDivergences = map[string]struct {
	f     func(z float64) float64
	slope float64
}{
	"chi-squared":              {func(z float64) float64 { return (z - 1) * (z - 1) }, math.Inf(1)},
	"Kullback-Leibler":         {func(z float64) float64 { return z*math.Log(z) - (z - 1) }, math.Inf(1)},
	"reverse Kullback-Leibler": {func(z float64) float64 { return -math.Log(z) + (z - 1) }, 1},
	"total variation":          {func(z float64) float64 { return math.Abs(z-1) / 2 }, 0.5},
	"squared Hellinger":        {func(z float64) float64 { return (math.Sqrt(z) - 1) * (math.Sqrt(z) - 1) / 2 }, 0.5},
	"Jensen-Shannon": {func(z float64) float64 {
		return z/2*math.Log(2*z/(z+1)) + math.Log(2/(z+1))/2
	}, math.Ln2 / 2},
	"hinge at 2": {func(z float64) float64 { return max(z-2, 0) }, 1},
}

// divergencesByDefinition compares divergences of laws that are far from each
// other, close, and not absolutely continuous.
func divergencesByDefinition(tell told) {
	p := []float64{0.6, 0.25, 0.15}
	for _, d := range theory.Divergences() {
		printed := printedDivergences[d.Name]
		for _, q := range [][]float64{{0.2, 0.3, 0.5}, {0.7, 0.2, 0.1}, {0.58, 0.26, 0.16}} {
			sum := 0.0
			for x := range p {
				sum += q[x] * printed.f(p[x]/q[x])
			}
			tell(d.Name, d.Between(p, q), sum)
		}
		q := []float64{0.8, 0.2, 0}
		sum := 0.15*printed.slope + 0.8*printed.f(0.75) + 0.2*printed.f(1.25)
		if !math.IsInf(sum, 1) {
			tell(d.Name, d.Between(p, q), sum)
		}
	}
}

// informationsBySummation compares mutual information, and means over a prior,
// with the divergence of summed laws. Its diagonal, infinite for some, is left.
func informationsBySummation(tell told) {
	for _, u := range unlikes() {
		t := u.graph.T()
		want := map[string][]float64{}
		for i := range t {
			for j := range i {
				for _, pi := range u.thrice() {
					law := enumeratedLaw(pi, u.graph, i, j)
					product := exact.Outer(marginals(law)).Floats()
					for _, d := range theory.Divergences() {
						if want[d.Name] == nil {
							want[d.Name] = make([]float64, t*t)
						}
						want[d.Name][i*t+j] += d.Between(law.Floats(), product) / 3
					}
				}
			}
		}
		for _, d := range theory.Divergences() {
			got := theory.Information(d, u.prior(), u.graph)
			for i := range t {
				for j := range i {
					tell(d.Name+" information", got.At(i, j), want[d.Name][i*t+j])
					tell(d.Name+" information", got.At(j, i), want[d.Name][i*t+j])
				}
			}
		}
	}
}

// graphsByFloors compares the graph that the algorithm reads off with that of the numbers
// above the floor of each position.
func graphsByFloors(tell told) {
	info := []float64{0, 0, 0, 0, 0, 0.3, 0, 0, 0, 0, 0.2, 0.5, 0, 0, 0, 0.1, 0.4, 0.45, 0, 0, 0, 0, 0, 0, 0}
	for k, want := range [][]int{{-1, 0, -1, 2, -1}, {-1, -1, 1, -1, -1}} {
		floor := [][]float64{{0.9, 0.1, 0.6, 0.42, 0.9}, {0.2, 0.3, 0.4, 0.5, 0.1}}[k]
		for i, p := range theory.Oracle(mat.NewDense(5, 5, info), floor).Parents() {
			tell("a parent", float64(p), float64(want[i]))
		}
	}
}

// marginals returns the sums over the rows of a law of two, and over its columns.
func marginals(law exact.Matrix) (first, second exact.Vector) {
	ones := exact.Matrix{exact.Ones(len(law))}
	return law.Mul(ones.T()).T()[0], ones.Mul(law)[0]
}

// countsBySummation compares the law of how often a state occurs.
func countsBySummation(tell told) {
	for _, u := range unlikes() {
		c := u.chain()
		for a := range u.first {
			want := make([]float64, u.graph.T()+1)
			for x, p := range exact.Sequences(u.graph, u.first) {
				want[occurrences(a, x)] += exact.Float(p)
			}
			tell.each("the law of a count", theory.CountLaw(u.graph, c.Pi, c.Mu, a), want)
		}
	}
}

// stageOneBySummation compares the gradient of stage 1 in both readings.
func stageOneBySummation(tell told) {
	for _, u := range unlikes() {
		for _, reading := range []theory.Reading{theory.QueryInSequence, theory.QueryApart} {
			ghat, err := theory.GHat(u.graph, u.prior(), 0.25, reading)
			if err != nil {
				panic("claims: " + err.Error())
			}
			t := u.graph.T()
			for i := range t {
				row := exactGHat(u.graph, i, big.NewRat(1, 4), reading, u.thrice()...)
				tell.each("ghat", ghat.RawRowView(i)[:i+1], row.Floats())
			}
		}
	}
}

// stageTwoByDefinition compares the idealized gradient of stage 2 and the limits
// of the averages with what Lemma 11 (lem-bound-ghat) and eqs. (39) and (40) print.
func stageTwoByDefinition(tell told) {
	rare := theory.MustChain([]float64{0, 1, 0.02, 0.98}, 2)
	for _, beta := range []float64{2, 700} {
		mu := 1. / 51
		tell("the limit of E1/E2 for roots alone", rare.E12Limit(0, 1, 1, beta), mu)
		tell("the limit of E1/E2 where no child counts", rare.E12Limit(0, 0, 0.3, beta), 0.3*mu/(0.7*math.Exp(-beta*mu)+0.3))
		tell("the limit of E1/E2 without both", rare.E12Limit(0, 0, 0, beta), 0)
	}
	star := math.Log(3 * math.Pow(7, 1.0/12) / math.Pow(math.Log(50), 1.0/6))
	tell("beta*", theory.BetaStar(3, 7, 50), star)
	for _, u := range unlikes() {
		c := u.chain()
		for _, at := range [][2]int64{{0, 2}, {1, 0}, {1, 1}, {2, 5}, {3, 3}} {
			someR, someB := exact.Frac(at[0], 3), exact.Frac(at[1], 2)
			rf, bf := exact.Float(someR), exact.Float(someB)
			want := ghatAsPrinted(c, rf, bf)
			tell("ghat(beta)", c.GHatBeta(rf, bf), want)
			tell("ghat(beta)", exact.GHat(u.first, someR, someB).Float(), want)
			limitsAsPrinted(tell, c, rf, bf)
		}
		want := (c.GHatBeta(0.4, 1.5) + 2*theory.MustChain(u.other.Floats(), c.S).GHatBeta(0.4, 1.5)) / 3
		tell("the mean of ghat(beta)", theory.Mean(u.prior(), func(c *theory.Chain) float64 { return c.GHatBeta(0.4, 1.5) }), want)
	}
}

// ghatAsPrinted is ghat(beta; pi) of Lemma 11 (lem-bound-ghat), term by term.
func ghatAsPrinted(c *theory.Chain, r, beta float64) float64 {
	sum, e := 0.0, num.Exp(beta)
	for s, mu := range c.Mu {
		em := num.Exp(beta * mu)
		h := func(z float64) float64 {
			return ((1-r)*e*z*z + r*em*z) / ((1-r)*(e-1)*mu*z + 1 - r + r*em)
		}
		for s2, m := range c.Mu {
			sum += mu * m * (h(c.Pi[s*c.S+s2]/m) - h(1))
		}
	}
	return sum / float64(c.S*(c.S-1))
}

func limitsAsPrinted(tell told, c *theory.Chain, r, beta float64) {
	e := num.Exp(beta)
	for s, mu := range c.Mu {
		em := num.Exp(beta * mu)
		limit := func(p, m float64) float64 {
			return ((1-r)*e*mu*p + r*em*mu*m) / ((1-r)*(e-1)*mu*p + (1-r)*m + r*em*m)
		}
		tell("the limit of E3", c.E3Limit(s, r, beta), limit(1, 1))
		for s2, m := range c.Mu {
			tell("the limit of E1/E2", c.E12Limit(s, s2, r, beta), limit(c.Pi[s*c.S+s2], m))
		}
	}
}

// rareTransitions compares the stationary measure of a cycle that is left at
// rates far apart, mu(s) in proportion to one over the rate of s.
func rareTransitions(tell told) {
	a, b, c := 1e-170, 3e-172, 2e-168
	mu := make([]float64, 3)
	if err := markov.Stationary(mu, []float64{1, a, 0, 0, 1, b, c, 0, 1}); err != nil {
		panic("claims: " + err.Error())
	}
	sum := 1/a + 1/b + 1/c
	tell.each("mu of a slow cycle", mu, []float64{1 / a / sum, 1 / b / sum, 1 / c / sum})
}

// intervalsByEnds compares enclosures with the extremes over the ends of what
// they combine, with the functions of package math, and with what they must hold
// and how narrow they must be.
func intervalsByEnds(tell told) {
	between := func(lo, hi string) exact.Interval { return exact.Interval{Lo: exact.Rat(lo), Hi: exact.Rat(hi)} }
	all := []exact.Interval{between("-2", "3"), between("1/3", "5"), between("-4", "-1/7")}
	for _, a := range all {
		for _, b := range all {
			extremes(tell, "a + b", a.Add(b), a, b, exact.Add)
			extremes(tell, "a - b", a.Sub(b), a, b, exact.Sub)
			extremes(tell, "a b", a.Mul(b), a, b, exact.Mul)
			if b.Lo.Sign() == b.Hi.Sign() {
				extremes(tell, "a / b", a.Quo(b), a, b, exact.Quo)
			}
		}
		tell("e^a", exact.Float(a.Exp().Lo), math.Exp(exact.Float(a.Lo)))
		tell("e^a", exact.Float(a.Exp().Hi), math.Exp(exact.Float(a.Hi)))
	}
	one, two := exact.Point(exact.Frac(1, 1)), exact.Point(exact.Frac(2, 1))
	someSmall := exact.Pow(exact.Frac(2, 3), 300)
	for _, in := range []struct {
		what     string
		interval exact.Interval
		holds    *big.Rat
	}{
		{"e e^-1", one.Exp().Mul(one.Sub(two).Exp()), exact.Frac(1, 1)},
		{"e^log 2", two.Log().Exp(), exact.Frac(2, 1)},
		{"log e^(1/3)", exact.Point(exact.Frac(1, 3)).Exp().Log(), exact.Frac(1, 3)},
		{"1 + log 2 + log 1/2", one.Add(two.Log()).Add(one.Quo(two).Log()), exact.Frac(1, 1)},
		{"sqrt 2 sqrt 2", two.Sqrt().Mul(two.Sqrt()), exact.Frac(2, 1)},
		{"a long product", exact.Point(someSmall).Mul(exact.Point(someSmall)), exact.Mul(someSmall, someSmall)},
		{
			"a negative one", exact.Point(someSmall).Mul(one.Sub(two)).Mul(exact.Point(someSmall)),
			exact.Mul(exact.Mul(someSmall, someSmall), exact.Frac(-1, 1)),
		},
	} {
		width := exact.Sub(in.interval.Hi, in.interval.Lo)
		most := exact.Mul(exact.Pow(exact.Frac(1, 2), 190), exact.Abs(in.holds))
		tell(in.what, unit(in.interval.Contains(in.holds) && width.Cmp(most) < 0), 1)
	}
	for k, b := range []exact.Interval{between("3", "4"), between("5/2", "4"), between("0", "1"), between("0", "2")} {
		want := []exact.Decision{exact.Certainly, exact.Undecided, exact.CertainlyNot, exact.Undecided}[k]
		tell("a <= b", unit(between("2", "3").AtMost(b) == want), 1)
	}
}

// extremes compares an enclosure with the extremes of op over the ends.
func extremes(tell told, what string, got, a, b exact.Interval, op func(x, y *big.Rat) *big.Rat) {
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, x := range []*big.Rat{a.Lo, a.Hi} {
		for _, y := range []*big.Rat{b.Lo, b.Hi} {
			lo, hi = min(lo, exact.Float(op(x, y))), max(hi, exact.Float(op(x, y)))
		}
	}
	tell.each(what, []float64{exact.Float(got.Lo), exact.Float(got.Hi)}, []float64{lo, hi})
}

// Each second route belongs to a claim, leads to numbers, and to those of the
// library.
func TestSecondRoutesAgree(t *testing.T) {
	for _, id := range slices.Sorted(maps.Keys(secondRoutes)) {
		if !slices.ContainsFunc(All(), func(c ledger.Claim) bool { return c.ID == id }) {
			t.Errorf("no claim has the id %s", id)
		}
		for _, route := range secondRoutes[id] {
			n := 0
			route(func(what string, got, want float64) {
				if n++; !agree(got, want) {
					t.Errorf("%s: the library has %v for %s, want %v", id, got, what, want)
				}
			})
			if n == 0 {
				t.Errorf("%s: a route without numbers", id)
			}
		}
	}
}

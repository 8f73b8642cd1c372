package instruments

import (
	"math"
	"math/big"
	"testing"

	"learncausal/paper/claims/compare"
	"learncausal/paper/exact"
	"learncausal/pkg/graph"
	"learncausal/pkg/num"
)

// The limits and the bounds of Lemmas 30 to 32 against the printed formulas, at one setting.
func TestConcentrationAsPrinted(t *testing.T) {
	check := compare.With(t)
	c := compare.Asymmetrics()[1].Chain()
	const s, to = 1, 2
	q := Setting{
		T: 40, R: 0.3, Beta: 1.5, Eps: 0.2, Lambda: 0.8, Decay: 0.06, Gamma: 0.7, TEff: 25, Spread: 0.04,
		P: c.Pi.At(s, to), Mu: c.Mu[s], MuTo: c.Mu[to],
	}
	e, em := math.Exp(1.5), math.Exp(1.5*q.Mu)
	check("the limit of E3", E3Concentration.Limit(q), (0.7*e+0.3*em)*q.Mu/(0.7*(e-1)*q.Mu+0.7+0.3*em))
	check("the limit of E1/E2", E12Concentration.Limit(q),
		(0.7*e*q.P+0.3*em*q.MuTo)*q.Mu/(0.7*(e-1)*q.Mu*q.P+0.7*q.MuTo+0.3*em*q.MuTo))
	check("the limit of f", FConcentration.Limit(q),
		(0.7*(e-1)*q.Mu*q.P+0.7*q.MuTo+0.3*em*q.MuTo)/(0.7*(e-1)*q.Mu+0.7+0.3*em))
	roots, alone := math.Sqrt(0.3*0.04), math.Sqrt(1.5/160)
	b := (0.7*(e-1)*q.Mu + 0.7 + 0.3*em) / e
	check.Each("the bound of Lemma 30", E3Concentration.bound(q), []float64{math.Sqrt(0.075*q.Mu) / b, 2.5 * roots / b})
	check.Each("the bound of Lemma 32", FConcentration.bound(q), []float64{
		math.Sqrt(0.06*q.P*q.Mu) / b, math.Sqrt(0.075*q.Mu) / b, math.Sqrt(q.MuTo*0.06) / (e * b), 1.5 * roots / b, alone / b,
	})
	check("the bias of Lemma 32", FConcentration.Bias(q), (q.MuTo-q.P)*(q.MuTo-q.P)*math.Exp(-3*(1-q.Mu))/(b*b))
	b = (0.7*(e-1)*q.Mu*q.P + 0.7*q.MuTo + 0.3*em*q.MuTo) / e
	check.Each("the bound of Lemma 31", E12Concentration.bound(q), []float64{
		math.Sqrt(0.06*q.Mu*q.P) / b, math.Sqrt(q.MuTo*0.06) / (e * b), 0.2 / b, 2.5 * roots / b, alone / b,
	})
	threshold, most := FConcentration.Tail(q, 3)
	check("the threshold of Lemma 32", threshold, 0.343/18)
	check("the tail of Lemma 32", most, 0.24/(q.Mu*q.P*0.49))
	for _, order := range []func(Setting) float64{E3Concentration.Order, E12Concentration.Order, FConcentration.Order} {
		check("the order of Lemmas 30 to 32", order(q), 3.25/5*math.Log(40))
	}
	for _, u := range compare.Asymmetrics() {
		rare := settingOf(graph.MustNew(graph.Root, graph.Root, 0, graph.Root, graph.Root), u.Chain())
		check("gamma where few have a parent", rare.Gamma, min(u.Chain().Gamma(), 0.2))
	}
}

// The sums over a sequence against those in rationals, for roots of each kind, and where children attend
// to their parents, or to position 1.
func TestLongRunsAgreeWithRationals(t *testing.T) {
	check := compare.With(t)
	u := compare.Asymmetrics()[1]
	for _, g := range []*graph.Forest{u.Graph, graph.MustNew(graph.Root, 0, graph.Root, 0, graph.Root)} {
		for _, roots := range []RootRows{RootsUniform, RootsOnThemself, RootsOnOne} {
			c := exact.StageTwo{
				Graph: g, Attend: roots.Attend(g), X: []int{1, 2, 2, 0, 1}, S: 1,
				Beta: exact.Beta{Root: exact.Frac(11, 10), Denominator: 15},
			}
			run := longRun{u.Graph.Parents(), u.Chain(), roots, []int{1, 2, 2, 0, 2}, g != u.Graph}
			beta, spread := 15*math.Log(1.1), 0.0
			for _, i := range g.Roots() {
				far := exact.Float(c.Score(i)) - u.Chain().Mu[1]
				spread += far * far / 5
			}
			sums := run.sums(1, beta)
			check("the spread of the roots", sums.spread, spread)
			for c.A = range 3 {
				v, vz, hit, hitZ := c.Sums()
				for k, want := range []*big.Rat{v, vz, hit, hitZ} {
					got := []float64{sums.v, sums.vz, sums.hit[c.A], sums.hitZ[c.A]}[k]
					check("a sum over a sequence", got*num.Exp(beta), exact.Float(want))
				}
			}
		}
	}
}

// T_eff and T_eff(lambda) of the sums over long sequences.
func TestEffectiveLengthsOfASetting(t *testing.T) {
	check := compare.With(t)
	for _, family := range graph.Families() {
		g := family.New(128)
		c := settingOf(g, compare.Asymmetrics()[0].Chain())
		check("T_eff(lambda)", 1/c.Decay, g.TEffLambda(c.Lambda))
		check("T_eff", c.TEff, g.TEff())
	}
}

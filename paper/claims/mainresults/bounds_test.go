package mainresults

import (
	"math"
	"testing"

	"learncausal/paper/claims/compare"
	"learncausal/paper/claims/instruments"
	"learncausal/paper/exact"
	"learncausal/paper/ledger"
)

func TestWhatTheTheoremsDoNotResolve(t *testing.T) {
	for _, accepted := range []struct {
		of    ledger.Claim
		check ledger.Check
		no    ledger.Check
	}{
		{thmMain, farLosses(1.5/12, 1).Repaired(), farLosses(3./12, 1).Repaired()},
		{thmOOD, farStranger(1.5/24, 1, "").Repaired(), farStranger(3./24, 1, "").Repaired()},
		{thmMain, farTimesOnly(10_000), farTimesOnly(20_000)},
	} {
		e := ledger.NewEnv(t.Context(), accepted.of, true)
		if !accepted.check.Finding(e).Holds() || !accepted.no.Finding(e).Failed() {
			t.Errorf("%s: the note on what is not resolved is not true", accepted.of.ID)
		}
	}
}

func farTimesOnly(shorter int) ledger.Check {
	return ledger.Decided(func(w *ledger.Worst) { farTimes(w, shorter, farBases, 120, 300, 600) })
}

// The setting and the enclosures of a long chain against the formulas, for pi = (4/5 1/5; 2/5 3/5): gamma = 2/5,
// mu = (2/3, 1/3), lambda = 4/5.
func TestEnclosuresOfLongChains(t *testing.T) {
	check := compare.With(t)
	c := instruments.FarLengths(300)[0]
	q, n := c.Setting(), math.Pow(3, 300)
	decay := 9 / n
	k := 2240*math.Pow(5, 5)*300*math.Log(3)/math.Sqrt(n) + math.Sqrt(decay)
	check.Each("the setting", []float64{q.T, q.TEff, q.R, q.Gamma, q.Lambda, q.Decay, q.Spread},
		[]float64{n, n, 2 / n, 0.4, 0.8, decay, 2*k + 2/n})
	_, logY, betas := c.Ends()
	y := math.Pow(300*math.Log(3), 2) / n
	logC := math.Log(math.Pow(0.4, 4.5) * math.Pow(2, -3.5) / 10)
	end := logC - math.Log(y)/12
	check.Each("the end of stage 2", append(betas, logY), []float64{end, end + 1, math.Log(y)})
	check("the bound on the loss", logLossBound(ledger.MustBound(`20\,S^5\gamma^{-7}`), 0.4, 2, logY, 1./12),
		math.Log(20*32*math.Pow(0.4, -7))-0.4*logC+math.Log(y)/30)
	check("the bound on the error", logErrorBound(ledger.MustBound(`15\,S^{3/2}\gamma^{-2}`), 0.4, 2, logY, 1./24),
		math.Log(15*math.Pow(2, 1.5)/0.16)-0.2*logC+math.Log(y)/60)

	// At beta = 10 the errors of the frequencies, of order T^(-1/4), are far below the bias.
	const beta = 10
	far := func(s int) float64 { // w |pi - mu|
		return math.Abs([]float64{0.8, 0.4}[s]-2./3) / (1 + math.Expm1(beta)*c.Chain().Mu[s])
	}
	bias, _ := c.Errors(1, beta)
	check.Each("the bias", bias, []float64{far(1), far(1)})
	lo, hi := c.SquareError(0, beta)
	check.Each("the mean square", []float64{lo, hi}, []float64{2 * far(0) * far(0), 2 * far(0) * far(0)})
	loss, least := c.Excess(beta), far(0)*far(0)+far(1)*far(1) // half of |pi - f|_1^2, over both queries
	check("the least loss", exact.Float(loss.Lo), least*(1-1e-9))
	check("the largest loss", exact.Float(loss.Hi), 2*least/(0.064/16)*(1+1e-9))
	growth, limit := c.Growth(beta), c.Chain().GHatBeta(2/n, beta)
	check.Each("a growth", exact.Vector{growth.Lo, growth.Hi}.Floats(), []float64{limit * (1 - 1e-9), limit * (1 + 1e-9)})
	check("the loss of the uniform guess", c.Guess(),
		(0.8*math.Log(1.6)+0.2*math.Log(0.4)+0.4*math.Log(0.8)+0.6*math.Log(1.2))/2)
	if x := instruments.Around(1, 2); x.Lo.Cmp(exact.Int(1)) >= 0 || x.Hi.Cmp(exact.Int(2)) <= 0 {
		t.Errorf("numbers with a rounding error are enclosed by %v", x)
	}
	if x := instruments.Around(math.NaN(), 1); x.Lo.Sign() > 0 || x.Hi.Sign() < 0 {
		t.Errorf("what is not a number is in %v", x)
	}
}

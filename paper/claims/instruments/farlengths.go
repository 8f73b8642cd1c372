package instruments

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"

	"learncausal/paper/exact"
	"learncausal/paper/ledger"
	"learncausal/pkg/num"
	"learncausal/pkg/theory"
)

// This file encloses stage 2 at lengths so large that the constants of the proofs say something. Lemmas 30
// to 32 with their constants bound the distance of a quantity from its limit, which is known.

// Constants of bounds, each stated and decided with the same number.
const (
	GrowthConstant = 10   // thm-stage2-lower
	rootsConstant  = 2240 // cor-stage1-roots-corrected: 4 times 16, of tau1, times 35, of V_i
)

// A FarLength is stage 2 on a chain or an in-context graph of 3^Power positions, under one pi, after
// tau1 = 16 S^3 gamma^-3 T^2 log T/(eta1 beta0) steps of stage 1. T_eff is T.
type FarLength struct {
	Pi      exact.Matrix
	InPairs bool // the in-context graph
	Power   int  // of 3
}

// FarLengths returns lengths of both graphs under two matrices of priors that satisfy Assumption 1.
func FarLengths(powers ...int) (all []FarLength) {
	for _, pi := range []exact.Matrix{exact.Rats("4/5 1/5; 2/5 3/5"), exact.Rats("293/1000 707/1000; 707/1000 293/1000")} {
		for _, inPairs := range []bool{false, true} {
			for _, power := range powers {
				all = append(all, FarLength{pi, inPairs, power})
			}
		}
	}
	return all
}

// DrawFarLengths draws n matrices over two and three states, and returns the lengths of 3^power positions where stage 2
// begins.
func DrawFarLengths(src rand.Source, n, power int) (all []FarLength) {
	r := rand.New(src)
	for range n {
		c := FarLength{RandomKernel(r, 2+r.IntN(2)), r.IntN(2) == 0, power}
		if _, _, betas := c.Ends(); betas[0] >= 0 {
			all = append(all, c)
		}
	}
	return all
}

// Chain returns pi in floats.
func (c FarLength) Chain() *theory.Chain { return theory.MustChain(c.Pi.Floats(), len(c.Pi)) }

// RootsUnresolved is said in the rows that take rootsConstant: their sides grow with it, and have room for it.
const RootsUnresolved = "The check does not resolve the constant 2240 of the rows of roots: it passes with 0, too."

// Setting returns the setting without s, s' and beta. With K = 2240 S^5 gamma^-5 and Lemma 20 a root has
// E|z_i - mu(s)|^2 <= (k/i)^2, k = K T log T/sqrt(T_eff) + T/sqrt(T_eff(lambda)), so that the spread is at most
// (2k+2)/T. On both graphs 1/T_eff(lambda) is at most (1+lambda)/((1-lambda) T).
func (c FarLength) Setting() Setting {
	t, pi := math.Pow(3, float64(c.Power)), c.Chain()
	q := Setting{T: t, TEff: t, R: 2 / t, Eps: 1 / math.Sqrt(t), Lambda: 1 - pi.Gamma()/float64(pi.S)}
	if c.InPairs {
		q.R = 0.5 + 0.5/t
	}
	q.Gamma = min(pi.Gamma(), 1-q.R)
	q.Decay = (1 + q.Lambda) / ((1 - q.Lambda) * t)
	k := rootsConstant*math.Pow(float64(pi.S)/q.Gamma, 5)*num.Log(t)/math.Sqrt(t) + math.Sqrt(q.Decay)
	q.Spread = 2*k + 2/t
	return q
}

// Instance describes graph and pi.
func (c FarLength) Instance() ledger.Instance {
	name := map[bool]string{false: "chain", true: "in-context"}[c.InPairs]
	return ledger.Instance{"T": fmt.Sprintf("3^%d", c.Power), "graph": name, "pi": c.Pi}
}

// Around returns the interval from lo to hi, widened by more than the rounding of either. If one is not a
// finite number, it is so wide that it decides nothing.
func Around(lo, hi float64) exact.Interval {
	lo, hi = lo-1e-9*math.Abs(lo), hi+1e-9*math.Abs(hi)
	if !(lo >= -1e300 && hi <= 1e300) {
		lo, hi = -1e300, 1e300
	}
	return exact.Interval{Lo: new(big.Rat).SetFloat64(lo), Hi: new(big.Rat).SetFloat64(hi)}
}

// Errors returns, for each s', the distance of pi(s'|s) from the limit of f, and a bound on the root mean square
// of f about its limit: Lemma 32, and 2 beta/T as children give their parents all but 1/T of their attention.
func (c FarLength) Errors(s int, beta float64) (bias, off []float64) {
	pi, q := c.Chain(), c.Setting()
	weight := theory.MixtureWeight(pi.Mu[s], q.R, beta)
	for to := range pi.S {
		at := q.at(pi, s, to, beta)
		bias = append(bias, weight*math.Abs(at.P-at.MuTo))
		off = append(off, FConcentration.sum(at)+2*beta/q.T)
	}
	return bias, off
}

// SquareError bounds E|f - pi(.|s)|^2.
func (c FarLength) SquareError(s int, beta float64) (lo, hi float64) {
	bias, off := c.Errors(s, beta)
	for to, b := range bias {
		lo, hi = lo+math.Pow(max(b-off[to], 0), 2), hi+math.Pow(b+off[to], 2)
	}
	return lo, hi
}

// SquareConstant is that of eq-f-pointwise-corrected.
const SquareConstant = 13500

// SquareFall returns the setting and the exponent c = min(1/16, gamma/4) of eq-f-pointwise-corrected, and whether the
// length is long enough for it: T_eff^c >= 13500 S^8 gamma^-9.
func (c FarLength) SquareFall() (q Setting, fall float64, long bool) {
	q = c.Setting()
	fall = min(1./16, q.Gamma/4)
	return q, fall, math.Pow(q.TEff, fall) >= SquareConstant*math.Pow(float64(len(c.Pi)), 8)*math.Pow(q.Gamma, -9)
}

// Growth encloses -Delta_beta. With kappa = E2/(E2 + eps) it is the mean over s and pi(.|s) of E1/(E2+eps) -
// kappa E3, over S-1, and kappa <= 1 is at most eps/f below 1, but where f is small.
func (c FarLength) Growth(beta float64) exact.Interval {
	pi, q := c.Chain(), c.Setting()
	off, above, n := (2+beta)/q.T, 0.0, float64(pi.S)
	for s, to := range Pairs(pi.S) {
		at := q.at(pi, s, to, beta)
		least, rare := FConcentration.Tail(at, pi.S)
		off += at.P / n * (E12Concentration.sum(at) + E3Concentration.sum(at))
		above += at.P / n * (2*q.Eps/least + rare)
	}
	limit := pi.GHatBeta(q.R, beta)
	return Around(limit-off/(n-1), limit+(off+above)/(n-1))
}

// LogRange returns log C for C = gamma^(9/2) S^(-7/2)/10.
func LogRange(gamma, s float64) float64 {
	return 4.5*num.Log(gamma) - 3.5*num.Log(s) - num.Log(GrowthConstant)
}

// Ends returns the setting, log y, and beta* and beta* + 1, between which stage 2 ends.
func (c FarLength) Ends() (q Setting, logY float64, betas []float64) {
	q = c.Setting()
	logY = 2*num.Log(num.Log(q.T)) - num.Log(q.TEff)
	star := LogRange(q.Gamma, float64(len(c.Pi))) - logY/12
	return q, logY, []float64{star, star + 1}
}

// Excess encloses the mean over s of E KL(pi || q), q = (f + eps)/(1 + S eps). Below, KL is at least half of
// |pi - q|_1^2. Above, it is at most sum (pi - q)^2/q where f is above half of the threshold of Lemma 32, and
// log((1 + S eps)/eps) elsewhere.
func (c FarLength) Excess(beta float64) exact.Interval {
	pi, q, lo, hi := c.Chain(), c.Setting(), 0.0, 0.0
	n := float64(pi.S)
	for s := range pi.S {
		bias, off := c.Errors(s, beta)
		_, square := c.SquareError(s, beta)
		far := 0.0
		for to := range pi.S {
			at := q.at(pi, s, to, beta)
			skew := q.Eps * math.Abs(n*at.P-1)
			far += max(bias[to]-off[to], 0) - skew
			least, rare := FConcentration.Tail(at, pi.S)
			hi += rare*num.Log(n+1/q.Eps) + 4*(square/n+skew*skew)/least
		}
		lo += math.Pow(max(far, 0)/(1+n*q.Eps), 2) / 2
	}
	return Around(lo/n, hi/n)
}

// Guess is the excess of the uniform guess: the mean over s of KL(pi || 1/S).
func (c FarLength) Guess() (sum float64) {
	pi := c.Chain()
	for s, to := range Pairs(pi.S) {
		p := pi.Pi.At(s, to)
		sum += float64(p*num.Log(p*float64(pi.S))) / float64(pi.S)
	}
	return sum
}

// The hypotheses of thm-stage2-lower.
const (
	GrowthPrior = `assumptions 1 and 2`
	GrowthRows  = `$A^{(1)}$ after the $\tau_1=16S^3\gamma^{-3}T^2\log T/(\eta_1\beta_0)$ steps of stage 1`
	GrowthEps   = `$\epsilon=T_{\mathrm{eff}}^{-1/2}$`

	GrowthHypotheses = GrowthPrior + "; " + GrowthRows + "; " + GrowthEps
)

// GrowthSpares are these hypotheses for a check at far lengths.
var GrowthSpares = []ledger.Spare{
	ledger.Spared(GrowthPrior, "they say what gamma is"),
	ledger.Spared(GrowthRows, "it says which model is meant"),
	ledger.Spared(GrowthEps, "it says which model is meant"),
}

package claims

import (
	"fmt"
	"math"
	"math/big"

	"learncausal/paper/exact"
	"learncausal/paper/ledger"
	"learncausal/pkg/num"
	"learncausal/pkg/theory"
)

const (
	growthConstant = 10   // thm-stage2-lower
	rootsConstant  = 2240 // cor-stage1-roots-corrected: 4 times 16, of tau1, times 35, of V_i
)

// A farLength is stage 2 on a chain or an in-context graph of 3^power positions, under one pi, after
// tau1 = 16 S^3 gamma^-3 T^2 log T/(eta1 beta0) steps of stage 1. T_eff is T.
type farLength struct {
	pi      exact.Matrix
	inPairs bool // the in-context graph
	power   int
}

// farLengths returns lengths of both graphs under two matrices of priors that satisfy Assumption 1.
func farLengths(powers ...int) (all []farLength) {
	for _, pi := range []exact.Matrix{exact.Rats("4/5 1/5; 2/5 3/5"), exact.Rats("293/1000 707/1000; 707/1000 293/1000")} {
		for _, inPairs := range []bool{false, true} {
			for _, power := range powers {
				all = append(all, farLength{pi, inPairs, power})
			}
		}
	}
	return all
}

// chain returns pi in floats.
func (c farLength) chain() *theory.Chain { return theory.MustChain(c.pi.Floats(), len(c.pi)) }

// setting returns the setting without s, s' and beta. With K = 2240 S^5 gamma^-5 and Lemma 20 a root has
// E|z_i - mu(s)|^2 <= (k/i)^2, k = K T log T/sqrt(T_eff) + T/sqrt(T_eff(lambda)), so that the spread is at most
// (2k+2)/T. On both graphs 1/T_eff(lambda) is at most (1+lambda)/((1-lambda) T).
func (c farLength) setting() setting {
	t, pi := math.Pow(3, float64(c.power)), c.chain()
	q := setting{t: t, teff: t, r: 2 / t, eps: 1 / math.Sqrt(t), lambda: 1 - pi.Gamma()/float64(pi.S)}
	if c.inPairs {
		q.r = 0.5 + 0.5/t
	}
	q.gamma = min(pi.Gamma(), 1-q.r)
	q.decay = (1 + q.lambda) / ((1 - q.lambda) * t)
	k := rootsConstant*math.Pow(float64(pi.S)/q.gamma, 5)*num.Log(t)/math.Sqrt(t) + math.Sqrt(q.decay)
	q.spread = 2*k + 2/t
	return q
}

func (c farLength) instance() ledger.Instance {
	name := map[bool]string{false: "chain", true: "in-context"}[c.inPairs]
	return ledger.Instance{"T": fmt.Sprintf("3^%d", c.power), "graph": name, "pi": c.pi}
}

// around returns the interval from lo to hi, widened by more than the rounding of either. If one is not a
// finite number, it is so wide that it decides nothing.
func around(lo, hi float64) exact.Interval {
	lo, hi = lo-1e-9*math.Abs(lo), hi+1e-9*math.Abs(hi)
	if !(lo >= -1e300 && hi <= 1e300) {
		lo, hi = -1e300, 1e300
	}
	return exact.Interval{Lo: new(big.Rat).SetFloat64(lo), Hi: new(big.Rat).SetFloat64(hi)}
}

// errors returns, for each s', the distance of pi(s'|s) from the limit of f, and a bound on the root mean square
// of f about its limit: Lemma 32, and 2 beta/T as children give their parents all but 1/T of their attention.
func (c farLength) errors(s int, beta float64) (bias, off []float64) {
	pi, q := c.chain(), c.setting()
	weight := theory.MixtureWeight(pi.Mu[s], q.r, beta)
	for to := range pi.S {
		at := q.at(pi, s, to, beta)
		bias = append(bias, weight*math.Abs(at.p-at.muTo))
		off = append(off, fConcentration.sum(at)+2*beta/q.t)
	}
	return bias, off
}

// squareError bounds E|f - pi(.|s)|^2.
func (c farLength) squareError(s int, beta float64) (lo, hi float64) {
	bias, off := c.errors(s, beta)
	for to, b := range bias {
		lo, hi = lo+math.Pow(max(b-off[to], 0), 2), hi+math.Pow(b+off[to], 2)
	}
	return lo, hi
}

// growth encloses -Delta_beta. With kappa = E2/(E2 + eps) it is the mean over s and pi(.|s) of E1/(E2+eps) -
// kappa E3, over S-1, and kappa <= 1 is at most eps/f below 1, but where f is small.
func (c farLength) growth(beta float64) exact.Interval {
	pi, q := c.chain(), c.setting()
	off, above, n := (2+beta)/q.t, 0.0, float64(pi.S)
	for s, to := range pairs(pi.S) {
		at := q.at(pi, s, to, beta)
		least, rare := fConcentration.tail(at, pi.S)
		off += at.p / n * (e12Concentration.sum(at) + e3Concentration.sum(at))
		above += at.p / n * (2*q.eps/least + rare)
	}
	limit := pi.GHatBeta(q.r, beta)
	return around(limit-off/(n-1), limit+(off+above)/(n-1))
}

// logRange returns log C for C = gamma^(9/2) S^(-7/2)/10.
func logRange(gamma, s float64) float64 {
	return 4.5*num.Log(gamma) - 3.5*num.Log(s) - num.Log(growthConstant)
}

// ends returns the setting, log y, and beta* and beta* + 1, between which stage 2 ends.
func (c farLength) ends() (q setting, logY float64, betas []float64) {
	q = c.setting()
	logY = 2*num.Log(num.Log(q.t)) - num.Log(q.teff)
	star := logRange(q.gamma, float64(len(c.pi))) - logY/12
	return q, logY, []float64{star, star + 1}
}

// excess encloses the mean over s of E KL(pi || q), q = (f + eps)/(1 + S eps). Below, KL is at least half of
// |pi - q|_1^2. Above, it is at most sum (pi - q)^2/q where f is above half of the threshold of Lemma 32, and
// log((1 + S eps)/eps) elsewhere.
func (c farLength) excess(beta float64) exact.Interval {
	pi, q, lo, hi := c.chain(), c.setting(), 0.0, 0.0
	n := float64(pi.S)
	for s := range pi.S {
		bias, off := c.errors(s, beta)
		_, square := c.squareError(s, beta)
		far := 0.0
		for to := range pi.S {
			at := q.at(pi, s, to, beta)
			skew := q.eps * math.Abs(n*at.p-1)
			far += max(bias[to]-off[to], 0) - skew
			least, rare := fConcentration.tail(at, pi.S)
			hi += rare*num.Log(n+1/q.eps) + 4*(square/n+skew*skew)/least
		}
		lo += math.Pow(max(far, 0)/(1+n*q.eps), 2) / 2
	}
	return around(lo/n, hi/n)
}

// The hypotheses of thm-stage2-lower.
const (
	growthPrior = `assumptions 1 and 2`
	growthRows  = `$A^{(1)}$ after the $\tau_1=16S^3\gamma^{-3}T^2\log T/(\eta_1\beta_0)$ steps of stage 1`
	growthEps   = `$\epsilon=T_{\mathrm{eff}}^{-1/2}$`
)

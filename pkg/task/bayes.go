package task

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"learncausal/pkg/markov"
	"learncausal/pkg/num"
)

// Bayes is the Bayes predictor of a task, which minimises the log-loss:
//
//	fhat(s) = E[pi(s|q) | x],  q = x_{T-1}
//
// given the graph and the whole sequence x, including roots, unless they are uniform. It is not safe for
// concurrent use.
//
// For a Finite prior it is a finite sum. For a Dirichlet prior, P(x|pi) is prod_{roots i}
// mu_pi(x_i) times the likelihood of the edges, to which Dirichlet rows are conjugate. Hence
//
//	fhat(s) = f(s) A(s) / sum_s' f(s') A(s')
//	A(s) = E[prod_{roots i < T-1} mu_pi(x_i)] over pi ~ P_pi given the edges and q -> s
//
// where f is the prediction of [PosteriorGivenEdges]. A(s) is a mean over draws that share their
// random numbers for all s. This is the Rao-Blackwell form of weighting pi(s|q) by prod mu_pi(x_i).
// It needs far fewer draws, because the many rows with pi(s|q) near zero are averaged exactly.
type Bayes struct {
	task    Task
	draws   int
	predict func(e *Prediction, x []int, src *rand.PCG) // of the counts and roots of x

	parents  []int
	counts   []int     // S x S, of edgeCounts
	roots    []int     // tokens of the roots except the query, or none if they are uniform
	mu       []float64 // S x S
	w        []float64 // weights of one draw, in units of 2^exponent
	exponent []int
	m        []float64 // 3 x S: sums over draws
	log      []float64 // for a Finite prior: K x (S+1) x S, logarithms of pi and mu
}

// NewBayes returns the Bayes predictor of t with the given number of draws for each sequence, which a Finite
// prior does not use. It returns an error for fewer than two draws, and for a prior that is neither Dirichlet
// nor Finite.
//
// The required number of draws depends on the sequence through its ESS: the standard error of -log fhat(s) is
// at most about 1/sqrt(ESS), and its bias, which Loss corrects to first order, is about 1/ESS. Both are
// unreliable for an ESS below 10. From 100 on the remaining bias is about 1e-3 or less.
func NewBayes(t Task, draws int) (*Bayes, error) {
	if draws < 2 {
		return nil, fmt.Errorf("task: Bayes predictor with %d draws, want at least 2", draws)
	}
	s := t.Prior.States()
	b := &Bayes{
		task: t, draws: draws, parents: t.Graph.Parents(),
		counts: make([]int, s*s), mu: make([]float64, s*s),
		w: make([]float64, s), exponent: make([]int, s), m: make([]float64, 3*s),
	}
	switch p := t.Prior.(type) {
	case *markov.Dirichlet:
		b.predict = func(e *Prediction, x []int, src *rand.PCG) { b.sample(e, p, x, src) }
	case *markov.Finite:
		b.predict = func(e *Prediction, x []int, _ *rand.PCG) { b.sum(e, p, x[len(x)-1]) }
		for k := range p.Pi {
			for _, v := range p.Pi[k] {
				b.log = append(b.log, num.Log(v))
			}
			for _, v := range p.Mu[k] {
				b.log = append(b.log, num.Log(v))
			}
		}
	default:
		return nil, fmt.Errorf("task: no Bayes predictor for the prior %v, want dirichlet, orbit or finite", p)
	}
	return b, nil
}

// A Prediction is the output of the Bayes predictor for one sequence.
type Prediction struct {
	F      []float64 // fhat, sums to one
	StdErr []float64 // Monte Carlo standard error of each entry; zero for a Finite prior
	Bias   []float64 // E[-log F(s)] + log fhat(s), to first order in 1/draws
	ESS    float64   // effective sample size, (sum w)^2 / sum w^2; +Inf for a Finite prior
}

// Loss returns the log-loss against y minus its Monte Carlo bias.
func (e *Prediction) Loss(y []float64) float64 {
	loss := LogLoss(y, e.F)
	for s, p := range y {
		loss -= float64(p * e.Bias[s])
	}
	return loss
}

// Predict estimates fhat on the sequence x. F is NaN if x has probability zero under a Finite prior. If the
// measure of a root's token underflows in all draws, for alpha far below 0.1, F is the prediction of
// [PosteriorGivenEdges] and ESS is zero. It panics unless x has a token in 0..S-1 for each position.
//
// A weight is a product over possibly thousands of roots. It is stored as a number near one and a power of two,
// relative to the largest weight of the draws, so it cannot underflow.
func (b *Bayes) Predict(e *Prediction, x []int, src *rand.PCG) {
	s, last := len(b.w), len(b.parents)-1
	if len(e.F) != s {
		*e = Prediction{F: make([]float64, s), StdErr: make([]float64, s), Bias: make([]float64, s)}
	}
	edgeCounts(b.counts, b.task.Graph, x)
	b.roots = b.roots[:0]
	for i, p := range b.parents[:last] {
		if p < 0 && !b.task.UniformRoots {
			b.roots = append(b.roots, x[i])
		}
	}
	b.predict(e, x, src)
}

// PredictIn is Predict on sequence k of a batch with the random stream of [BayesRisk]: its
// loss is Loss[k] of the Risk with this seed.
func (b *Bayes) PredictIn(e *Prediction, batch *Batch, k int, seed uint64) {
	x, _ := batch.Seq(k)
	b.Predict(e, x, num.Stream(seed, "bayes", uint64(k)))
}

// sum is the exact posterior mean under a prior of finite support.
func (b *Bayes) sum(e *Prediction, prior *markov.Finite, q int) {
	s := len(b.w)
	logL := make([]float64, len(prior.Pi))
	top := math.Inf(-1)
	for k := range prior.Pi {
		log := b.log[k*s*(s+1) : (k+1)*s*(s+1)]
		l := num.Log(prior.Weight[k])
		for i, n := range b.counts {
			if n > 0 {
				l += float64(float64(n) * log[i])
			}
		}
		for _, r := range b.roots {
			l += log[s*s+r]
		}
		logL[k] = l
		top = max(top, l)
	}
	clear(e.F)
	total := 0.0
	for k, pi := range prior.Pi {
		w := num.Exp(logL[k] - top)
		total += w
		for j, p := range pi[q*s : q*s+s] {
			e.F[j] += float64(w * p)
		}
	}
	for j := range e.F {
		e.F[j] /= total
	}
	clear(e.StdErr)
	clear(e.Bias)
	e.ESS = math.Inf(1)
}

// sample estimates the posterior mean under Dirichlet rows.
func (b *Bayes) sample(e *Prediction, prior *markov.Dirichlet, x []int, src *rand.PCG) {
	q := x[len(x)-1]
	PosteriorGivenEdges(e.F, b.task.Graph, prior.Alpha, x)
	sums := newWeightSums(b.m)
	for range b.draws {
		prior.DrawNext(b.mu, b.counts, q, src)
		b.weigh()
		sums.add(b.w, b.exponent, e.F)
	}
	e.estimate(sums, float64(b.draws))
}

// estimate turns F, the posterior mean given the edges, into the posterior mean, by the sums
// of the weights of n draws.
func (e *Prediction) estimate(sums *weightSums, n float64) {
	clear(e.StdErr)
	clear(e.Bias)
	if e.ESS = 0; !(sums.square > 0) {
		return
	}
	// Relative variances of the means, times n-1, by the delta method.
	mean := sums.mean
	e.ESS = float64(mean*mean) / sums.square
	v := n/e.ESS - 1
	for j, a := range sums.a {
		e.F[j] = math.Ldexp(float64(e.F[j]*a)/mean, sums.top[j]-sums.topMean)
		if a == 0 {
			continue
		}
		vj := float64(n*sums.a2[j])/float64(a*a) - 1
		cj := float64(n*sums.cross[j])/float64(a*mean) - 1
		e.StdErr[j] = float64(e.F[j] * math.Sqrt(max(0, vj+v-2*cj)/(n-1)))
		e.Bias[j] = (vj - v) / (2 * (n - 1))
	}
}

// weigh sets w and exponent to the weights of the draw in mu: the weight of state j is
// w[j] 2^exponent[j], the product of S mu_j over the roots. The factors have mean about one.
func (b *Bayes) weigh() {
	s := len(b.w)
	for j := range s {
		mu, p, exponent, k := b.mu[j*s:j*s+s], 1.0, 0, 0
		for _, r := range b.roots {
			p *= float64(mu[r] * float64(s))
			if p < 0x1p-500 || p > 0x1p500 {
				p, k = math.Frexp(p)
				exponent += k
			}
		}
		b.w[j], k = math.Frexp(p)
		b.exponent[j] = exponent + k
	}
}

// weightSums are sums over draws of the weights w_s and of their mean w under given
// probabilities. The units are 2^top[s] for w_s and 2^topMean for w, the largest powers so
// far. Powers of two are exact, so they add no rounding.
type weightSums struct {
	top          []int
	a, a2, cross []float64 // S each: sums of w_s, w_s^2, w_s w
	topMean      int
	mean, square float64 // sums of w, w^2
}

// newWeightSums returns sums over no draws, stored in m, of length 3 x S.
func newWeightSums(m []float64) *weightSums {
	clear(m)
	s := len(m) / 3
	return &weightSums{
		top: slices.Repeat([]int{math.MinInt32}, s), topMean: math.MinInt32,
		a: m[:s], a2: m[s : 2*s], cross: m[2*s:],
	}
}

// add adds the weights w[s] 2^exponent[s] of a draw.
func (m *weightSums) add(w []float64, exponent []int, probability []float64) {
	common := math.MinInt32
	for j, p := range w {
		if p > 0 {
			common = max(common, exponent[j])
		}
	}
	mean := 0.0
	for j, p := range w {
		mean += float64(probability[j] * math.Ldexp(p, exponent[j]-common))
	}
	if common > m.topMean {
		scale := math.Ldexp(1, m.topMean-common)
		m.topMean = common
		m.mean *= scale
		m.square *= float64(scale * scale)
		for j := range m.cross {
			m.cross[j] *= scale
		}
	}
	mean = math.Ldexp(mean, common-m.topMean)
	m.mean += mean
	m.square += float64(mean * mean)
	for j, p := range w {
		if p == 0 {
			continue
		}
		if exponent[j] > m.top[j] {
			scale := math.Ldexp(1, m.top[j]-exponent[j])
			m.top[j] = exponent[j]
			m.a[j] *= scale
			m.a2[j] *= float64(scale * scale)
			m.cross[j] *= scale
		}
		p = math.Ldexp(p, exponent[j]-m.top[j])
		m.a[j] += p
		m.a2[j] += float64(p * p)
		m.cross[j] += float64(p * mean)
	}
}

// ErrDraws is the error of [BayesRisk] if the draws are too few for the roots.
var ErrDraws = errors.New("want more draws")

// Risk is the Bayes risk of a task, estimated on a batch.
type Risk struct {
	// Mean of Loss. The standard error over sequences includes their independent Monte Carlo errors.
	num.Estimate

	Loss []float64 // log-loss of the Bayes predictor on each sequence, corrected for Bias
	Each []float64 // effective sample size of each sequence
	Bias float64   // mean of the subtracted corrections
	ESS  float64   // mean effective sample size
}

// BayesRisk returns the log-losses of the Bayes predictor on the sequences of b, with the given number of draws
// for each. [PairedDifference] compares a trained model with them. It uses every processor; the result does not
// depend on their number. After each sequence it calls predicted, unless nil, from several goroutines.
//
// The mean over sequences averages their Monte Carlo errors, but not the remaining biases. The paper's figures
// use 1000 draws. Bias of the result shows whether the draws were enough, because doubling them halves it.
//
// It returns the errors of [NewBayes] and of a cancelled ctx; an error for a batch of other lengths than the
// task's or with a token out of range; and one for a log-loss that is not finite, if the sequence has
// probability zero under a Finite prior, or if the probability of a target underflows in every draw.
func BayesRisk(
	ctx context.Context, t Task, b *Batch, draws int, seed uint64, predicted func(),
) (*Risk, error) {
	if err := t.checkBatch(b); err != nil {
		return nil, err
	}
	n, workers := b.Len(), runtime.GOMAXPROCS(0)
	loss, bias, ess := make([]float64, n), make([]float64, n), make([]float64, n)
	var group errgroup.Group
	for worker := range workers {
		group.Go(func() error {
			bayes, err := NewBayes(t, draws)
			if err != nil {
				return err
			}
			var e Prediction
			for k := worker; k < n; k += workers {
				if err := ctx.Err(); err != nil {
					return err
				}
				_, y := b.Seq(k)
				bayes.PredictIn(&e, b, k, seed)
				l := e.Loss(y)
				if math.IsNaN(l) || math.IsInf(l, 0) {
					why := fmt.Errorf("%w than %d for %d roots", ErrDraws, draws, len(bayes.roots))
					if math.IsInf(e.ESS, 1) { // a Finite prior
						why = errors.New("is the batch one of this task?")
					}
					return fmt.Errorf("task: the log-loss of the Bayes predictor on sequence %d is %v: %w", k, l, why)
				}
				loss[k], bias[k], ess[k] = l, LogLoss(y, e.F)-l, e.ESS
				if predicted != nil {
					predicted()
				}
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return &Risk{num.Average(loss), loss, ess, num.Average(bias).Mean, num.Average(ess).Mean}, nil
}

// checkBatch returns an error unless b is a batch of the task.
func (t Task) checkBatch(b *Batch) error {
	if length, s := t.Graph.T(), t.Prior.States(); b.T != length || b.S != s {
		return fmt.Errorf("task: a batch for S=%d, T=%d, want S=%d, T=%d", b.S, b.T, s, length)
	}
	for i, a := range b.X {
		if a < 0 || a >= b.S {
			return fmt.Errorf("task: token %d at position %d of sequence %d, want one of 0..%d",
				a, i%b.T, i/b.T, b.S-1)
		}
	}
	return nil
}

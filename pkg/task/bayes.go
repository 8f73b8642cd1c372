package task

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"

	"golang.org/x/sync/errgroup"

	"learncausal/pkg/markov"
	"learncausal/pkg/num"
)

// Bayes is the Bayes predictor of a task, the one of least log-loss:
//
//	fhat(s) = E[pi(s|q) | x],  q = x_{T-1}
//
// given the graph and the whole sequence x, roots included. It is not safe for
// concurrent use.
//
// For a Finite prior it is a finite sum. For a Dirichlet prior, where P(x|pi)
// is prod_{roots i} mu_pi(x_i) times a likelihood of the edges that Dirichlet
// rows are conjugate to, it is the ratio of two evidences, those of x followed
// by s and of x:
//
//	fhat(s) = f(s) A(s) / sum_s' f(s') A(s')
//	A(s) = E[prod_{roots i < T-1} mu_pi(x_i)] over pi ~ P_pi given the edges and q -> s
//
// with f that of [PosteriorGivenEdges]. A(s) is the mean over draws that share
// their random numbers for all s. Compared with weighing pi(s|q) itself by
// prod mu_pi(x_i), of which it is the Rao-Blackwell form, this needs far fewer
// draws, because the many rows with pi(s|q) near zero are averaged exactly.
type Bayes struct {
	task  Task
	draws int

	parents []int
	counts  []int     // S x S edges
	roots   []int     // tokens of the roots but the query
	mu      []float64 // S x S
	w       []float64 // weights of one draw
	m       []float64 // 3 x S: sums of w_s, w_s^2, w_s w
	log     []float64 // for a Finite prior: K x (S+1) x S, logarithms of pi and mu
}

// NewBayes returns the Bayes predictor of t, with the given number of draws
// for each sequence. The error is for a prior that is neither Dirichlet nor
// Finite.
func NewBayes(t Task, draws int) (*Bayes, error) {
	if draws < 2 {
		return nil, fmt.Errorf("task: Bayes predictor with %d draws, want at least 2", draws)
	}
	s := t.Prior.States()
	b := &Bayes{
		task: t, draws: draws, parents: t.Graph.Parents(),
		counts: make([]int, s*s), mu: make([]float64, s*s), w: make([]float64, s), m: make([]float64, 3*s),
	}
	switch p := t.Prior.(type) {
	case *markov.Dirichlet:
	case *markov.Finite:
		for k := range p.Pi {
			for _, v := range p.Pi[k] {
				b.log = append(b.log, num.Log(v))
			}
			for _, v := range p.Mu[k] {
				b.log = append(b.log, num.Log(v))
			}
		}
	default:
		return nil, fmt.Errorf("task: no Bayes predictor for the prior %v, want dirichlet or orbit", p)
	}
	return b, nil
}

// A Prediction is the value of the Bayes predictor on one sequence.
type Prediction struct {
	F      []float64 // fhat, sums to one
	StdErr []float64 // Monte Carlo standard error of each entry; zero for a Finite prior
	Bias   []float64 // E[-log F(s)] + log fhat(s), to first order in 1/draws
	ESS    float64   // effective sample size, (sum w)^2 / sum w^2; +Inf for a Finite prior
}

// Loss returns the log-loss against y, less its Monte Carlo bias.
func (e *Prediction) Loss(y []float64) float64 {
	loss := LogLoss(y, e.F)
	for s, p := range y {
		loss -= float64(p * e.Bias[s])
	}
	return loss
}

// Predict estimates fhat on the sequence x. Where x has probability zero under
// a Finite prior, F is NaN. Where every weight underflows, which takes an alpha
// far below 0.1, F is that of [PosteriorGivenEdges] and ESS is zero.
func (b *Bayes) Predict(e *Prediction, x []int, src *rand.PCG) {
	s, last := len(b.w), len(b.parents)-1
	if len(x) != last+1 {
		panic(fmt.Sprintf("task: sequence of length %d for a graph on %d positions", len(x), last+1))
	}
	if len(e.F) != s {
		*e = Prediction{F: make([]float64, s), StdErr: make([]float64, s), Bias: make([]float64, s)}
	}
	clear(b.counts)
	b.roots = b.roots[:0]
	for i, p := range b.parents[:last] {
		if p < 0 {
			b.roots = append(b.roots, x[i])
		} else {
			b.counts[x[p]*s+x[i]]++
		}
	}
	switch p := b.task.Prior.(type) {
	case *markov.Finite:
		b.sum(e, p, x[last])
	case *markov.Dirichlet:
		b.sample(e, p, x, src)
	}
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
	s, q := len(b.w), x[len(x)-1]
	PosteriorGivenEdges(e.F, b.task.Graph, prior.Alpha, x)
	clear(b.m)
	a, a2, cross := b.m[:s], b.m[s:2*s], b.m[2*s:]
	mean, square := 0.0, 0.0
	for range b.draws {
		prior.DrawNext(b.mu, b.counts, q, src)
		w := 0.0
		for j := range s {
			mu := b.mu[j*s : j*s+s]
			p := 1.0
			for _, r := range b.roots {
				p *= float64(mu[r] * float64(s)) // of order one on average
			}
			b.w[j] = p
			w += float64(e.F[j] * p)
		}
		for j, p := range b.w {
			a[j] += p
			a2[j] += float64(p * p)
			cross[j] += float64(p * w)
		}
		mean += w
		square += float64(w * w)
	}
	clear(e.StdErr)
	clear(e.Bias)
	if e.ESS = 0; !(square > 0) {
		return
	}
	// Relative variances of the means, times draws-1; the delta method.
	n := float64(b.draws)
	e.ESS = float64(mean*mean) / square
	v := n/e.ESS - 1
	for j := range s {
		if a[j] == 0 {
			e.F[j] = 0
			continue
		}
		vj := float64(n*a2[j])/float64(a[j]*a[j]) - 1
		cj := float64(n*cross[j])/float64(a[j]*mean) - 1
		e.F[j] = float64(e.F[j]*a[j]) / mean
		e.StdErr[j] = float64(e.F[j] * math.Sqrt(max(0, vj+v-2*cj)/(n-1)))
		e.Bias[j] = (vj - v) / (2 * (n - 1))
	}
}

// Risk is the Bayes risk of a task, estimated on a batch.
type Risk struct {
	// Mean of Loss. The standard error is that over sequences, of which their
	// independent Monte Carlo errors are part.
	num.Estimate

	Loss []float64 // log-loss of the Bayes predictor on each sequence, corrected for Bias
	Bias float64   // mean correction that was subtracted
	ESS  float64   // mean effective sample size
}

// BayesRisk returns the log-losses of the Bayes predictor on the sequences of
// b, with the given number of draws for each. They are what a trained model is
// compared to, by [PairedDifference]. The result does not depend on the number
// of workers; with workers <= 0 it uses every processor.
func BayesRisk(t Task, b *Batch, draws int, seed uint64, workers int) (*Risk, error) {
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	n := b.Len()
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
				x, y := b.Seq(k)
				bayes.Predict(&e, x, num.Stream(seed, "bayes", uint64(k)))
				loss[k] = e.Loss(y)
				bias[k] = LogLoss(y, e.F) - loss[k]
				ess[k] = e.ESS
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return &Risk{num.Average(loss), loss, num.Average(bias).Mean, num.Average(ess).Mean}, nil
}

package experiment

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"learncausal/pkg/graph"
	"learncausal/pkg/markov"
	"learncausal/pkg/num"
	"learncausal/pkg/task"
	"learncausal/pkg/theory"
)

// An EmpiricalStage is the gradient of stage 1 on samples of one task.
type EmpiricalStage struct {
	Task task.Task
	Eps  float64    // T_eff^{-1/2}
	GHat *mat.Dense // ghat of the population, T x T, query in sequence
}

// NewEmpiricalStage computes the population gradient.
func NewEmpiricalStage(g *graph.Forest, prior *markov.Finite) (*EmpiricalStage, error) {
	eps := 1 / math.Sqrt(g.TEff())
	ghat, err := theory.GHat(g, prior, eps, theory.QueryInSequence)
	if err != nil {
		return nil, err
	}
	return &EmpiricalStage{task.Task{Graph: g, Prior: prior}, eps, ghat}, nil
}

// Trials summarises samples of N sequences each.
type Trials struct {
	N       int
	Error   float64 // mean over samples of max_{i,j} |ghat^emp_ij - ghat_ij|
	Found   float64 // fraction of samples in which ghat^emp_i is largest at p(i) for each i with a parent
	Parents float64 // fraction of the positions with a parent at which ghat^emp_i is largest at p(i)
}

// Try draws samples of n sequences each, every sample from a separate stream. It
// panics unless there is at least one sample of at least one sequence.
func (s *EmpiricalStage) Try(n, samples int) Trials {
	out, err := s.try(context.Background(), n, samples)
	if err != nil {
		panic(err.Error())
	}
	return out
}

// try is Try, except that it stops between two samples if ctx is cancelled.
func (s *EmpiricalStage) try(ctx context.Context, n, samples int) (Trials, error) {
	g := s.Task.Graph
	t, edges := g.T(), g.Edges()
	out := Trials{N: n}
	if n < 1 || samples < 1 {
		return out, fmt.Errorf("experiment: %d samples of %d sequences, want at least one of each", samples, n)
	}
	for k := range samples {
		if err := ctx.Err(); err != nil {
			return out, err
		}
		stream := num.Stream(1, "paper/finite samples", uint64(t), uint64(n), uint64(k))
		emp := theory.EmpiricalGHat(s.Task, s.Eps, n, stream)
		right := 0
		for _, e := range edges {
			if margin(emp, e[1], e[0]) > 0 {
				right++
			}
		}
		out.Error += floats.Distance(emp.RawMatrix().Data, s.GHat.RawMatrix().Data, math.Inf(1)) / float64(samples)
		out.Parents += float64(right) / float64(samples*len(edges))
		if right == len(edges) {
			out.Found += 1 / float64(samples)
		}
	}
	return out, nil
}

// enough returns the least N = 2^(k/2), k >= 6, rounded up, for which every parent is
// found in all samples, or 0 if there is none up to most.
func (s *EmpiricalStage) enough(ctx context.Context, samples, most int) (int, error) {
	for k := 6; ; k++ {
		n := int(math.Ceil(math.Pow(2, float64(k)/2)))
		if n > most {
			return 0, nil
		}
		if r, err := s.try(ctx, n, samples); err != nil || r.Found > 1-1e-9 {
			return n, err
		}
	}
}

// An ErrorCurve is the error of the gradient of stage 1 on one graph, by the number of sequences.
type ErrorCurve struct {
	T       int
	Samples int // for each number of sequences
	Trials  []Trials
	Law     theory.PowerLaw // of the error
}

// RunErrorCurves draws samples of N = 16, 32, ..., 8192 sequences, for the graph of each of the lengths.
func RunErrorCurves(
	ctx context.Context, graphs func(t int) *graph.Forest, prior *markov.Finite, lengths []int, samples int,
) ([]ErrorCurve, error) {
	if len(lengths) == 0 {
		return nil, errors.New("experiment: error curves for no length, want at least one")
	}
	return each(ctx, lengths, func(ctx context.Context, t int) (ErrorCurve, error) {
		c := ErrorCurve{T: t, Samples: samples}
		s, err := NewEmpiricalStage(graphs(t), prior)
		if err != nil {
			return c, err
		}
		var n, e []float64
		for k := 16; k <= 8192; k *= 2 {
			r, err := s.try(ctx, k, samples)
			if err != nil {
				return c, err
			}
			c.Trials = append(c.Trials, r)
			n, e = append(n, float64(k)), append(e, r.Error)
		}
		c.Law = theory.FitPowerLaw(n, e)
		return c, nil
	})
}

// SampleSizes is the number of sequences with which stage 1 finds every parent, by family of graphs.
type SampleSizes struct {
	Title   string
	T       []int
	TEff    []float64
	N       []int     // 0 if more than 2^14
	PerTEff []float64 // N / (T_eff log T)
}

// RunSampleSizes finds the sample sizes for the first three families, whose T_eff is of the
// order of T or sqrt(T). Every parent must be found in each of the samples.
func RunSampleSizes(
	ctx context.Context, prior *markov.Finite, lengths []int, samples int,
) ([]SampleSizes, error) {
	return each(ctx, Families()[:3], func(ctx context.Context, f Family) (SampleSizes, error) {
		sizes, done := SampleSizes{Title: f.Title}, counter(ctx, len(lengths))
		for _, t := range lengths {
			g := f.Graph(t)
			s, err := NewEmpiricalStage(g, prior)
			if err != nil {
				return sizes, err
			}
			n, err := s.enough(ctx, samples, 1<<14)
			if err != nil {
				return sizes, err
			}
			sizes.T, sizes.TEff, sizes.N = append(sizes.T, t), append(sizes.TEff, g.TEff()), append(sizes.N, n)
			sizes.PerTEff = append(sizes.PerTEff, float64(n)/(g.TEff()*num.Log(float64(t))))
			done()
		}
		return sizes, nil
	})
}

// A SampledRun is stage 1 on N sequences and one large step of stage 2 on N fresh
// sequences, compared with the same step along the population gradient of A2.
type SampledRun struct {
	N              int
	Found          bool    // every position with a parent gives it attention 1 - 1/T
	Noise          float64 // max_{s,s'} |A2 - A2_pop|
	Apart          float64 // largest |f - f_pop| over up to 1000 sequences and all s'
	Error, PopStep float64 // E[sum_{s'} (f - pi(s'|s_T))^2] after the sampled step and after the population step
}

// stageOne runs stage 1 with the gradient of n sequences.
func (s *EmpiricalStage) stageOne(n int, seed uint64) (*theory.Trajectory, error) {
	t, states := s.Task.Graph.T(), s.Task.Prior.States()
	beta0 := 0.01 * s.Eps * s.Eps * s.Eps
	emp := theory.EmpiricalGHat(s.Task, s.Eps, n, num.Stream(seed, "paper/sampled run", 1, uint64(n)))
	still := func(*theory.Reduced, *mat.Dense) (*mat.Dense, float64, float64) {
		return mat.NewDense(states, states, nil), 0, 0
	}
	set := theory.Settings{
		Beta0: beta0, Rate1: float64(states*t) / beta0, Rate2: 1,
		Tau1: 256 * t, Alpha: 1 / float64(t), Every: 256 * t,
	}
	return theory.Algorithm1(set, s.Task.Graph, states, theory.LimitStage(emp, beta0), still)
}

// Run runs stage 1 and one step of stage 2, of the size that takes the population's
// beta to betaStar. The task must be small enough to enumerate.
func (s *EmpiricalStage) Run(n int, betaStar float64, seed uint64) (*SampledRun, error) {
	g, prior := s.Task.Graph, s.Task.Prior.(*markov.Finite)
	t, states := g.T(), prior.States()
	draw := func(stage uint64) *task.Batch {
		b := s.Task.NewBatch(n)
		task.NewSampler(s.Task).Fill(b, num.Stream(seed, "paper/sampled run", stage, uint64(n)))
		return b
	}
	tr, err := s.stageOne(n, seed)
	if err != nil {
		return nil, err
	}
	m, grad, b := tr.Final, theory.NewReduced(states, t, 0), draw(2)
	for k := range n {
		x, y := b.Seq(k)
		m.Loss(x, x[t-1], y, s.Eps, grad)
	}
	pop, err := theory.NewPopulation(g, prior, s.Eps, theory.QueryInSequence)
	if err != nil {
		return nil, err
	}
	exact := pop.Gradient(m)
	rate := betaStar / -exact.DeltaBeta
	step := func(gradient *mat.Dense, scale float64) *theory.Reduced {
		to := &theory.Reduced{S: states, T: t, A1: m.A1, A2: mat.DenseCopyOf(m.A2)}
		for k, v := range gradient.RawMatrix().Data {
			to.A2.RawMatrix().Data[k] -= float64(rate * scale * v)
		}
		return to
	}
	sampled, ideal := step(grad.A2, 1/float64(n)), step(exact.G2, 1)
	out := &SampledRun{N: n, Found: tr.Early[0]}
	out.Noise = floats.Distance(sampled.A2.RawMatrix().Data, ideal.A2.RawMatrix().Data, math.Inf(1))
	test := draw(3)
	for k := range min(n, 1000) {
		x, _ := test.Seq(k)
		f, _, _ := sampled.Predict(x, x[t-1])
		h, _, _ := ideal.Predict(x, x[t-1])
		out.Apart = max(out.Apart, floats.Distance(f, h, math.Inf(1)))
	}
	squareError := func(m *theory.Reduced) (sum float64) {
		for _, v := range pop.Errors(m).RawMatrix().Data {
			sum += v / float64(states)
		}
		return sum
	}
	out.Error, out.PopStep = squareError(sampled), squareError(ideal)
	return out, nil
}

package theory

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"learncausal/pkg/graph"
	"learncausal/pkg/markov"
	"learncausal/pkg/num"
	"learncausal/pkg/task"
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
	ghat, err := GHat(g, prior, eps, QueryInSequence)
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

// Try draws samples of n sequences each, every sample from a separate stream.
func (s *EmpiricalStage) Try(ctx context.Context, n, samples int) (Trials, error) {
	g := s.Task.Graph
	t, edges := g.T(), g.Edges()
	out := Trials{N: n}
	if n < 1 || samples < 1 {
		return out, fmt.Errorf("theory: %d samples of %d sequences, want at least one of each", samples, n)
	}
	for k := range samples {
		if err := ctx.Err(); err != nil {
			return out, err
		}
		stream := num.Stream(1, "paper/finite samples", uint64(t), uint64(n), uint64(k))
		emp := EmpiricalGHat(s.Task, s.Eps, n, stream)
		right := 0
		for _, e := range edges {
			if largestAt(emp, e[1], e[0]) {
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
func (s *EmpiricalStage) stageOne(n int, seed uint64) (*Trajectory, error) {
	t, states := s.Task.Graph.T(), s.Task.Prior.States()
	beta0 := 0.01 * s.Eps * s.Eps * s.Eps
	emp := EmpiricalGHat(s.Task, s.Eps, n, num.Stream(seed, "paper/sampled run", 1, uint64(n)))
	still := func(*Reduced, *mat.Dense) (*mat.Dense, float64, float64) {
		return mat.NewDense(states, states, nil), 0, 0
	}
	set := Settings{
		Beta0: beta0, Rate1: float64(states*t) / beta0, Rate2: 1,
		Tau1: 256 * t, Alpha: 1 / float64(t), Every: 256 * t,
	}
	return Algorithm1(set, s.Task.Graph, states, LimitStage(emp, beta0), still)
}

// Run runs stage 1 and one step of stage 2, of the size that takes the population's
// beta to betaStar. The task must be small enough to enumerate.
func (s *EmpiricalStage) Run(n int, betaStar float64, seed uint64) (*SampledRun, error) {
	g, prior := s.Task.Graph, s.Task.Prior.(*markov.Finite)
	t, states := g.T(), prior.States()
	draw := func(stage uint64) *task.Batch {
		b := s.Task.NewBatch(n)
		s.Task.NewSampler().Fill(b, num.Stream(seed, "paper/sampled run", stage, uint64(n)))
		return b
	}
	tr, err := s.stageOne(n, seed)
	if err != nil {
		return nil, err
	}
	m, grad, b := tr.Final, NewReduced(states, t, 0), draw(2)
	for k := range n {
		x, y := b.Seq(k)
		m.Loss(x, x[t-1], y, s.Eps, grad)
	}
	pop, err := NewPopulation(g, prior, s.Eps, QueryInSequence)
	if err != nil {
		return nil, err
	}
	exact := pop.Gradient(m)
	rate := betaStar / -exact.DeltaBeta
	step := func(gradient *mat.Dense, scale float64) *Reduced {
		to := &Reduced{S: states, T: t, A1: m.A1, A2: mat.DenseCopyOf(m.A2)}
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
	squareError := func(m *Reduced) (sum float64) {
		for _, v := range pop.Errors(m).RawMatrix().Data {
			sum += v / float64(states)
		}
		return sum
	}
	out.Error, out.PopStep = squareError(sampled), squareError(ideal)
	return out, nil
}

// largestAt reports whether entry p of row i, of the entries up to i, is larger than all others.
func largestAt(m *mat.Dense, i, p int) bool {
	for j, v := range m.RawRowView(i)[:i+1] {
		if j != p && !(m.At(i, p) > v) {
			return false
		}
	}
	return true
}

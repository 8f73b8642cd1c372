package finitelength

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"learncausal/paper/exact"
	"learncausal/pkg/graph"
	"learncausal/pkg/markov"
	"learncausal/pkg/num"
	"learncausal/pkg/task"
	"learncausal/pkg/theory"
)

// A Run is Algorithm 1 with the settings of a theorem, where the gradient of each step is the mean over fresh
// sequences in place of the expectation.
type Run struct {
	Tau1, Tau2 int // steps, which set eta_1 = Time1/(Tau1 Beta0) and eta_2 = Time2/Tau2
	N1, N2     int // sequences in each step of a stage
	Seed       uint64
}

// An End is what the theorem bounds, measured at the end of a run.
type End struct {
	Attention float64 // the least of a row i > 1 on its target
	Beta      float64
	Excess    num.Estimate // L - L* + log(1 + S eps) on 2^14 fresh sequences
}

// Train trains the model of a theorem. There is an error unless the numbers of steps and sequences are positive, and
// Tau2 such that eta_2 <= 4.
func (r Run) Train(t Theorem) (End, error) {
	if min(r.Tau1, r.Tau2, r.N1, r.N2) < 1 || exact.Float(t.Time2) > 4*float64(r.Tau2) {
		return End{}, fmt.Errorf("finitelength: a run %+v, want positive numbers and at least %v/4 steps of stage 2",
			r, t.Time2.RatString())
	}
	var bases [][]float64
	for _, pi := range t.Orbits {
		bases = append(bases, pi.Floats())
	}
	prior, err := markov.NewOrbit(2, bases...)
	if err != nil {
		return End{}, err
	}
	of := task.Task{Graph: graph.Chain(t.T), Prior: prior}
	sampler, eps, step := of.NewSampler(), exact.Float(t.Eps), uint64(0)
	fresh := func(n int) *task.Batch {
		b := of.NewBatch(n)
		sampler.Fill(b, num.Stream(r.Seed, "finitelength/run", step))
		step++
		return b
	}
	stage := func(n int, pick func(grad *theory.Reduced) *mat.Dense) theory.Stage {
		return func(m *theory.Reduced, _ *mat.Dense) (*mat.Dense, float64, float64) {
			grad, b := theory.NewReduced(2, t.T, 0), fresh(n)
			for k := range n {
				x, y := b.Seq(k)
				m.Loss(x, x[t.T-1], y, eps, grad)
			}
			g := pick(grad)
			g.Scale(1/float64(n), g)
			return g, math.NaN(), math.NaN()
		}
	}
	set := theory.Settings{
		Beta0: exact.Float(t.Beta0), Tau1: r.Tau1, Tau2: r.Tau2, Every: r.Tau1 + r.Tau2,
		Rate1: exact.Float(t.Time1) / float64(r.Tau1) / exact.Float(t.Beta0), Rate2: exact.Float(t.Time2) / float64(r.Tau2),
	}
	tr, err := theory.Algorithm1(set, of.Graph, 2,
		stage(r.N1, func(grad *theory.Reduced) *mat.Dense { return grad.A1 }),
		stage(r.N2, func(grad *theory.Reduced) *mat.Dense { return grad.A2 }))
	if err != nil {
		return End{}, err
	}
	end := End{Attention: 1, Beta: tr.Final.Beta()}
	attention := tr.Final.Attention()
	for i := 1; i < t.T; i++ {
		end.Attention = min(end.Attention, attention.At(i, t.Target(i)))
	}
	b, f := fresh(1<<14), make([]float64, 2)
	excess := make([]float64, b.Len())
	for k := range excess {
		x, y := b.Seq(k)
		p, _, _ := tr.Final.Predict(x, x[t.T-1])
		for a, q := range p {
			f[a] = (q + eps) / (1 + float64(2*eps))
		}
		excess[k] = task.LogLoss(y, f) - task.LogLoss(y, y)
	}
	end.Excess = num.Average(excess)
	return end, nil
}

package trial

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"learncausal/pkg/graph"
	"learncausal/pkg/markov"
	"learncausal/pkg/num"
	"learncausal/pkg/task"
	"learncausal/pkg/theory"
	"learncausal/pkg/train"
)

// Parameters of [AlgorithmOne]: matrices drawn from a prior without finite support, each in all
// relabelings; the largest number of states; sequences of stage 2.
const (
	oneMatrices  = 16
	oneStates    = 3
	oneSequences = 256
)

// AlgorithmOne runs Algorithm 1 on the graph and with the prior of a run, as in [theory.RunDynamics].
// Loss is the loss of its prediction (f + eps)/(1 + S eps) on the test set of the run, and
// Attention its mean attention on the parents. Both are NaN for Task 2, above three states, and for uniform roots.
func AlgorithmOne(spec train.Spec) (*OutcomeOne, error) {
	none := &OutcomeOne{Number(math.NaN()), Number(math.NaN())}
	of, ok := spec.Task.(train.Task1)
	if !ok || of.States > oneStates || of.UniformRoots {
		return none, nil
	}
	b, err := spec.TestSet()
	if err != nil {
		return nil, err
	}
	g, err := graph.New(of.Parents)
	if err != nil {
		return nil, err
	}
	prior, err := markov.ParsePrior(of.Prior, of.States)
	if err != nil {
		return nil, err
	}
	finite, ok := prior.(*markov.Finite)
	if !ok {
		if finite, err = SampledPrior(prior, oneMatrices, 1); err != nil {
			return nil, err
		}
	}
	d, err := theory.RunDynamics(g, finite, float64(g.T())/8, oneSequences)
	if err != nil {
		return nil, err
	}
	predict := d.Predictor(d.Trained().Final)
	loss := num.Average(task.Losses(b, func(f []float64, x []int) {
		predict(f, x)
		floats.AddConst(d.Eps, f)
		floats.Scale(1/(1+float64(of.States)*d.Eps), f)
	})).Mean
	var on []float64
	for _, e := range g.Edges() {
		on = append(on, d.Attention.At(e[1], e[0]))
	}
	return &OutcomeOne{Number(loss), Number(num.Average(on).Mean)}, nil
}

package trial

import (
	"context"

	"learncausal/internal/runs"
	"learncausal/pkg/task"
	"learncausal/pkg/train"
)

// Entropies returns the entropy of the target of each test sequence, in nats: the
// log-loss of the predictor that knows the transition matrix.
func Entropies(b *task.Batch) []float64 {
	entropy := make([]float64, b.Len())
	for k := range entropy {
		_, y := b.Seq(k)
		entropy[k] = task.LogLoss(y, y)
	}
	return entropy
}

// KnownLosses returns the log-losses, in nats, on each test sequence, of the predictor that
// knows the transition matrix and of the posterior mean given the edges. The second is nil
// except for Task 1 with a Dirichlet prior.
func KnownLosses(spec train.Spec, b *task.Batch) (entropy, edges []float64, err error) {
	entropy = Entropies(b)
	if _, ok := spec.Task.(train.Task1); !ok {
		return entropy, nil, nil
	}
	predict, err := EdgesPredictor(spec)
	if predict != nil {
		edges = task.Losses(b, predict)
	}
	return entropy, edges, err
}

// testSequences draws the first n test sequences of a run.
func TestSequences(spec train.Spec, n int) (*task.Batch, error) {
	spec.Test = n
	return spec.TestSet()
}

// modelLosses returns the log-loss of a run's final model on each sequence.
func ModelLosses(ctx context.Context, r *runs.Run, b *task.Batch) ([]float64, error) {
	p, loss := train.NewPredictor(r.Final.Weights), make([]float64, b.Len())
	for i := range loss {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		x, y := b.Seq(i)
		_, loss[i] = p.Predict(x, y)
	}
	return loss, nil
}

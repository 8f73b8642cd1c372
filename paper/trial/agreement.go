package trial

import (
	"context"
	"math"

	"learncausal/internal/runs"
	"learncausal/pkg/model"
	"learncausal/pkg/num"
	"learncausal/pkg/task"
	"learncausal/pkg/train"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// A ConstructionError has mean total-variation distances over all S^T sequences, with equal weights.
type ConstructionError struct {
	Finite  float64 // between the construction at finite scales and its exact limit
	Largest float64 // the largest of these distances, in place of their mean
	Limit   float64 // between the limit and the empirical transition, over the sequences where it is defined
	Total   float64 // between the construction at finite scales and the empirical transition
}

// ConstructionErrors enumerates all sequences, with beta1 = beta2 = beta.
func ConstructionErrors(c *model.Construction, beta float64) ConstructionError {
	var e ConstructionError
	w := c.Weights(beta, beta)
	limit, empirical := make([]float64, c.S), make([]float64, c.S)
	n, defined := 0.0, 0.0
	for x := range task.Sequences(c.S, w.T) {
		f := w.Linear(x).RawRowView(w.T - 1)
		c.Limit(limit, x)
		distance := totalVariation(f, limit)
		e.Finite += distance
		e.Largest = max(e.Largest, distance)
		n++
		if c.Empirical(empirical, x) {
			e.Limit += totalVariation(limit, empirical)
			e.Total += totalVariation(f, empirical)
			defined++
		}
	}
	return ConstructionError{e.Finite / n, e.Largest, e.Limit / defined, e.Total / defined}
}

// An Agreement compares a trained model with the construction of its graph in the exact limit, on test
// sequences of the run. TV is the total-variation distance 1/2 sum |p - q|, averaged over the sequences.
type Agreement struct {
	Name      string // such as chain, many-graphs or trigram-seed-0
	Title     string
	Runs      []string
	Sequences int

	First   float64      // mean attention of the first layer on the parents, heads as matched
	Matched num.Estimate // share of the sequences for which the empirical transition is defined
	// Second is 1 - TV of the query's attentions in the second layer, on the matched sequences.
	Second    num.Estimate
	Limit     num.Estimate // TV of the predictions and the construction's limit, on the matched sequences
	All       num.Estimate // the same on all sequences
	Posterior num.Estimate // TV of the predictions and the posterior mean given the edges, on all sequences
}

// Agree compares a run with its construction on the sequences of a batch. The
// caller sets Name, Title and First.
func Agree(
	ctx context.Context, c *model.Construction, r *runs.Run, b *task.Batch, posterior Predictor,
) (*Agreement, error) {
	w := r.Final.Disentangled()
	p := train.NewPredictor(w)
	f, g := make([]float64, b.S), make([]float64, b.S)
	uniform := make([]float64, b.T)
	var matched, second, limit, all, post []float64
	for k := range b.Len() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		x, _ := b.Seq(k)
		predicted, _ := p.Predict(x, nil)
		c.Limit(f, x)
		distance := totalVariation(predicted, f)
		all = append(all, distance)
		posterior(g, x)
		post = append(post, totalVariation(predicted, g))
		if !c.Empirical(g, x) {
			matched = append(matched, 0)
			continue
		}
		matched = append(matched, 1)
		limit = append(limit, distance)
		clear(uniform)
		at := c.Attended(x)
		for _, i := range at {
			uniform[i] = 1 / float64(len(at))
		}
		second = append(second, 1-totalVariation(QueryAttention(w, x), uniform))
	}
	return &Agreement{
		Runs: []string{r.Address}, Sequences: b.Len(),
		Matched: num.Average(matched), Second: num.Average(second), Limit: num.Average(limit),
		All: num.Average(all), Posterior: num.Average(post),
	}, nil
}

func totalVariation(p, q []float64) float64 { return floats.Distance(p, q, 1) / 2 }

// QueryAttention returns the attention of the last position in the second layer
// of a disentangled transformer, S(h1 A2^T h1_{T-1}), on the sequence x.
func QueryAttention(w *model.Weights, x []int) []float64 {
	first := &model.Weights{S: w.S, T: w.T, A: w.A[:1]}
	h := first.Stream(x)
	var q, score mat.VecDense
	q.MulVec(w.A[1][0].T(), h.RowView(w.T-1))
	score.MulVec(h, &q)
	p := score.RawVector().Data
	num.Softmax(p, p)
	return p
}

// MeanAgreement returns the mean of comparisons on equally many sequences.
func MeanAgreement(as []*Agreement) *Agreement {
	out := &Agreement{}
	n := float64(len(as))
	estimates := func(a *Agreement) []*num.Estimate {
		return []*num.Estimate{&a.Matched, &a.Second, &a.Limit, &a.All, &a.Posterior}
	}
	for _, a := range as {
		out.Runs = append(out.Runs, a.Runs...)
		out.Sequences += a.Sequences
		out.First += a.First / n
		for k, e := range estimates(out) {
			of := estimates(a)[k]
			e.Mean += of.Mean / n
			e.StdErr += of.StdErr * of.StdErr
		}
	}
	for _, e := range estimates(out) {
		e.StdErr = math.Sqrt(e.StdErr) / n
	}
	return out
}

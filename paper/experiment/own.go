package experiment

import (
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"learncausal/internal/engine"
	"learncausal/pkg/markov"
	"learncausal/pkg/num"
	"learncausal/pkg/runs"
	"learncausal/pkg/task"
	"learncausal/pkg/train"
)

// OwnSequences is the largest number of test sequences on which [MeasureOwn] puts
// a run beside the reference predictors.
const OwnSequences = 1 << 11

// An Own is what became of a run on any graph.
type Own struct {
	Run        *runs.Run
	Sequences  int // of the test set, on which the losses are means
	Model      num.Estimate
	References []Reference
	Attention  []*mat.Dense // of each head of the first layer: T x T
	Edges      []OwnEdge    // given, learned or both; by child and then by parent
}

// A Reference is a predictor that needs no training, on the test sequences of a
// run. Losses are in nats.
type Reference struct {
	Name      string
	Sequences int // the first ones of the test set
	Loss      num.Estimate
	ModelLess num.Estimate // paired differences: the model's loss less this one

	// Draws is how many the Bayes predictor takes for each sequence, and
	// Effective their mean effective sample size; 0 for what is computed exactly.
	Draws     int
	Effective float64
}

// An OwnEdge is an edge of a graph that a run was given, or that it has learned,
// with the largest attention that a head of the first layer pays to the parent, and that
// head, the first one if several pay the same.
//
// An edge j -> i is learned if this attention is more than half way from 1/n, what
// each of the n positions that row i sees would get equally, to 1. In Task 1 the
// query has no parents, and nothing is read off its row. In Task 2 the row of the
// last position serves the label, as in Construction 2; so Child is T for edges of
// the label, and the edges to the last position are not among the Edges.
type OwnEdge struct {
	Parent    int     `json:"parent"`
	Child     int     `json:"child"`
	Attention float64 `json:"attention"`
	Head      int     `json:"head,omitempty"` // from 0
	Given     bool    `json:"given,omitempty"`
	Learned   bool    `json:"learned,omitempty"`
}

// Name returns the edge as the file of a graph on t positions has it: "s1 -> s3", or
// "s3 -> y" where it is one of the label.
func (e OwnEdge) Name(t int) string {
	child := fmt.Sprintf("s%d", e.Child+1)
	if e.Child == t {
		child = "y"
	}
	return fmt.Sprintf("s%d -> %s", e.Parent+1, child)
}

// Found returns how many edges were given, how many of these are learned, and how
// many are learned beside them.
func (o *Own) Found() (given, found, others int) { return CountEdges(o.Edges) }

// CountEdges returns how many of the edges were given, how many of these are learned,
// and how many are learned beside them.
func CountEdges(edges []OwnEdge) (given, found, others int) {
	for _, e := range edges {
		switch {
		case e.Given && e.Learned:
			given, found = given+1, found+1
		case e.Given:
			given++
		default:
			others++
		}
	}
	return given, found, others
}

// MeasureOwn puts a run of any task and model beside the predictors that need no
// training, and reads the graph off its first layer.
func MeasureOwn(ctx context.Context, r *runs.Run) (*Own, error) {
	spec := r.Spec
	spec.Test = min(spec.Test, OwnSequences)
	b, err := spec.TestSet()
	if err != nil {
		return nil, err
	}
	losses, err := modelLosses(ctx, r, b)
	if err != nil {
		return nil, err
	}
	o := &Own{Run: r, Sequences: b.Len(), Model: num.Average(losses)}
	if o.References, err = references(ctx, spec, b, losses); err != nil {
		return nil, err
	}
	o.Attention = r.Spec.HeadAttentions(r.Final.Weights)
	o.Edges = readEdges(o.Attention, r.Spec)
	return o, nil
}

// references evaluates the predictors; model are the losses of the run.
func references(ctx context.Context, spec train.Spec, b *task.Batch, model []float64) ([]Reference, error) {
	exact := func(name string, predict func(f []float64, x []int)) Reference {
		return newReference(name, task.Losses(b, predict), model)
	}
	entropy, edges, err := KnownLosses(spec, b)
	if err != nil {
		return nil, err
	}
	all := []Reference{newReference("knows the transition matrix", entropy, model)}
	switch of := spec.Task.(type) {
	case train.Task1:
		tk, err := of.New()
		if err != nil {
			return nil, err
		}
		bayes, err := bayesReference(ctx, tk, b, spec.Seed, model)
		if err != nil {
			return nil, err
		}
		all = append(all, bayes...)
		if edges != nil {
			all = append(all, newReference("posterior mean given the edges", edges, model))
		}
	case train.Task2:
		tk, err := of.New()
		if err != nil {
			return nil, err
		}
		all = append(all, exact("Bayes", tk.Posterior))
		if k := len(of.Parents[len(of.Parents)-1]); k > 1 {
			for l := range k {
				name := fmt.Sprintf("posterior mean, compares parent %d of %d only", l+1, k)
				all = append(all, exact(name, func(f []float64, x []int) { tk.OneParent(f, x, l) }))
			}
		}
	}
	return append(all, exact("uniform", func(f []float64, _ []int) {
		for s := range f {
			f[s] = 1 / float64(len(f))
		}
	})), nil
}

// newReference compares the losses of a predictor on the first sequences with
// those of a model on all.
func newReference(name string, losses, model []float64) Reference {
	n := len(losses)
	return Reference{
		Name: name, Sequences: n, Loss: num.Average(losses), ModelLess: task.PairedDifference(model[:n], losses),
	}
}

// The Bayes predictor of a Dirichlet prior takes at least firstDraws, and twice as
// many until the mean effective sample size on the first pilot sequences is enough
// or mostDraws are reached. A draw takes a time of the order of S^3; the sequences
// are as many as bayesWork allows, and without pilot of them there is no Bayes
// predictor.
const (
	firstDraws, mostDraws = 250, 16000
	pilot                 = 64
	enough                = 200
	bayesWork             = 4e9 // draws times S^3, some seconds
)

// bayesReference returns the Bayes predictor of Task 1, nothing where it would
// take too long.
func bayesReference(
	ctx context.Context, tk task.Task, b *task.Batch, seed uint64, model []float64,
) ([]Reference, error) {
	first := func(n int) *task.Batch { return &task.Batch{T: b.T, S: b.S, X: b.X[:n*b.T], Y: b.Y[:n*b.S]} }
	draws, sequences := firstDraws, b.Len()
	_, sampled := tk.Prior.(*markov.Dirichlet)
	if sampled {
		affordable := func() int { return int(bayesWork / float64(draws*b.S*b.S*b.S)) }
		for ; affordable() >= pilot; draws *= 2 {
			risk, err := task.BayesRisk(ctx, tk, first(min(pilot, b.Len())), draws, seed, nil)
			if err != nil {
				return nil, err
			}
			if risk.ESS >= enough || draws == mostDraws {
				break
			}
		}
		if affordable() < pilot {
			if draws /= 2; draws < firstDraws {
				return nil, nil
			}
		}
		sequences = min(sequences, affordable())
	}
	risk, err := task.BayesRisk(ctx, tk, first(sequences), draws, seed, counter(ctx, sequences))
	if err != nil {
		return nil, err
	}
	r := newReference("Bayes", risk.Loss, model)
	if sampled {
		r.Draws, r.Effective = draws, risk.ESS
	}
	return []Reference{r}, nil
}

// readEdges reads the graph off the attention p of the heads, beside the given
// one, see [OwnEdge].
func readEdges(p []*mat.Dense, spec train.Spec) []OwnEdge {
	var edges []OwnEdge
	t := spec.T()
	row := func(i, child int, given []int) {
		uniform := 1 / float64(i+1)
		for j := range min(child, t) {
			e := OwnEdge{Parent: j, Child: child, Given: slices.Contains(given, j)}
			for h, head := range p {
				if a := head.At(i, j); a > e.Attention {
					e.Attention, e.Head = a, h
				}
			}
			e.Learned = i > 0 && e.Attention > (1+uniform)/2
			if e.Given || e.Learned {
				edges = append(edges, e)
			}
		}
	}
	switch of := spec.Task.(type) {
	case train.Task1:
		for i, parent := range of.Parents[:t-1] {
			row(i, i, []int{parent})
		}
	case train.Task2:
		for i, parents := range of.Parents[:t-1] {
			row(i, i, parents)
		}
		row(t-1, t, of.Parents[t])
	}
	return edges
}

// A Predictor writes the distribution of the next token after the sequence x to f,
// of length S.
type Predictor func(f []float64, x []int)

// ModelPredictor returns the predictions of a run.
func ModelPredictor(r *runs.Run) Predictor {
	pass, target := engine.New(r.Final.Weights).NewPass(), make([]float64, r.Spec.S())
	target[0] = 1 // the predictions do not depend on it
	return func(f []float64, x []int) {
		pass.Loss(x, target, nil)
		copy(f, pass.Predictions())
	}
}

// BayesPredictor returns the Bayes predictor of the task of a run, its name, and
// how many draws it takes for each sequence, 0 if it is exact. From more than
// twenty tokens on, where drawing is slow, it is that of the edges alone.
func BayesPredictor(r *runs.Run) (p Predictor, name string, draws int, err error) {
	switch of := r.Spec.Task.(type) {
	case train.Task1:
		tk, err := of.New()
		if err != nil {
			return nil, "", 0, err
		}
		dirichlet, sampled := tk.Prior.(*markov.Dirichlet)
		if sampled && dirichlet.S > 20 {
			return func(f []float64, x []int) { task.PosteriorGivenEdges(f, tk.Graph, dirichlet.Alpha, x) },
				"posterior mean given the edges", 0, nil
		}
		if sampled {
			draws = LossDraws
		}
		bayes, err := task.NewBayes(tk, LossDraws)
		var e task.Prediction
		return func(f []float64, x []int) {
			bayes.Predict(&e, x, num.Stream(r.Spec.Seed, "predict"))
			copy(f, e.F)
		}, "Bayes", draws, err
	case train.Task2:
		tk, err := of.New()
		return tk.Posterior, "Bayes", 0, err
	}
	return nil, "", 0, fmt.Errorf("experiment: no Bayes predictor for a %T", r.Spec.Task)
}

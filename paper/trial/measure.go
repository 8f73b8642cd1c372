package trial

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"learncausal/internal/runs"
	"learncausal/pkg/markov"
	"learncausal/pkg/num"
	"learncausal/pkg/task"
	"learncausal/pkg/train"
)

// mostSequences is the largest number of test sequences on which [Measure]
// compares a run with the reference predictors.
const mostSequences = 1 << 11

// A Measurement compares a run on any graph with reference predictors and with its graph.
type Measurement struct {
	Run        *runs.Run
	Sequences  int          // number of test sequences
	Model      num.Estimate // mean loss of the final model on them, in nats
	References []Reference
	Attention  []*mat.Dense // of each head of the first layer: T x T
	Edges      []Edge       // given, learned or both; by child and then by parent
	Nodes      []string     // names from a DOT file, or nil
}

// A Reference compares a run with a predictor that needs no training, on the same
// test sequences. Losses are in nats.
type Reference struct {
	Name      string
	Sequences int // the first ones of the test set
	Loss      num.Estimate
	ModelLess num.Estimate // paired differences: the model's loss less this one

	// Draws is the number of draws of the Bayes predictor for each sequence, and
	// Effective their mean effective sample size; both are 0 for an exact predictor.
	Draws     int
	Effective float64
}

// An Edge is an edge that was given or learned. Attention is the largest attention of a head of the first
// layer to the parent, and Head the first head with this attention.
//
// An edge j -> i is learned if its attention exceeds (1 + 1/n)/2, more than half way from uniform over the n
// positions that row i sees to 1. In Task 2 the row of the last position serves the label, as in Construction
// 2: Child is T for edges of the label, and edges to the last position are not listed.
type Edge struct {
	Parent    int     `json:"parent"`
	Child     int     `json:"child"`
	Attention float64 `json:"attention"`
	Head      int     `json:"head,omitempty"` // from 0
	Given     bool    `json:"given,omitempty"`
	Learned   bool    `json:"learned,omitempty"`
}

// Name returns the edge with the names of its nodes, as in "s1 -> s3".
func (e Edge) Name(names []string) string { return names[e.Parent] + " -> " + names[e.Child] }

// NodeNames returns the given names of the nodes of the graph of a run, or s1, ..., sT (and y for
// Task 2) if given is nil.
func NodeNames(spec train.Spec, given []string) []string {
	if given != nil {
		return given
	}
	names := make([]string, spec.T())
	for i := range names {
		names[i] = fmt.Sprintf("s%d", i+1)
	}
	if _, label := spec.Task.(train.Task2); label {
		names = append(names, "y")
	}
	return names
}

// Names returns the names of the nodes, see [NodeNames].
func (o *Measurement) Names() []string { return NodeNames(o.Run.Spec, o.Nodes) }

// Found returns the counts of [CountEdges].
func (o *Measurement) Found() (given, found, others int) { return CountEdges(o.Edges) }

// CountEdges returns the number of given edges, the number of given edges that are
// learned, and the number of learned edges that are not given.
func CountEdges(edges []Edge) (given, found, others int) {
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

// Measure compares a run of any task and model with the predictors that need no
// training, and reads the learned edges from the attention of its first layer.
func Measure(ctx context.Context, r *runs.Run) (*Measurement, error) {
	spec := r.Spec
	b, err := TestSequences(spec, min(spec.Test, mostSequences))
	if err != nil {
		return nil, err
	}
	losses, err := ModelLosses(ctx, r, b)
	if err != nil {
		return nil, err
	}
	o := &Measurement{Run: r, Sequences: b.Len(), Model: num.Average(losses)}
	if o.References, err = references(ctx, spec, b, losses); err != nil {
		return nil, err
	}
	o.Attention = r.Spec.HeadAttentions(r.Final.Weights)
	o.Edges = Edges(o.Attention, r.Spec)
	return o, nil
}

// references evaluates the predictors; model are the losses of the run.
func references(ctx context.Context, spec train.Spec, b *task.Batch, model []float64) ([]Reference, error) {
	exact := func(name string, predict Predictor) Reference {
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
				all = append(all, exact(name, func(f []float64, x []int) { tk.GivenParents(f, x, l) }))
			}
		}
	}
	return append(all, exact("uniform", func(f []float64, _ []int) {
		for s := range f {
			f[s] = 1 / float64(len(f))
		}
	})), nil
}

// newReference compares the losses of a predictor on the first len(losses) sequences
// with the losses of the model on the same sequences.
func newReference(name string, losses, model []float64) Reference {
	n := len(losses)
	return Reference{
		Name: name, Sequences: n, Loss: num.Average(losses), ModelLess: task.PairedDifference(model[:n], losses),
	}
}

// The Bayes predictor of a Dirichlet prior starts with firstDraws draws and doubles their number until the mean
// effective sample size on the first pilot sequences is enough, or mostDraws is reached. The time of a draw is
// of the order of S^3. bayesWork bounds the number of sequences; if it is less than pilot, the Bayes predictor
// is left out. So it is if the mean effective sample size is below FewestDraws, where the loss and its error
// are unreliable, see [task.NewBayes].
const (
	firstDraws, mostDraws = 250, 16000
	pilot                 = 64
	enough                = 200
	FewestDraws           = 10
	bayesWork             = 4e9 // draws times S^3, some seconds
)

// bayesReference returns the Bayes predictor of Task 1, or an empty list if it would
// take too long or need too many draws.
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
			if err != nil && !errors.Is(err, task.ErrDraws) {
				return nil, err
			}
			if err == nil && risk.ESS >= enough || draws == mostDraws {
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
	risk, err := task.BayesRisk(ctx, tk, first(sequences), draws, seed, Counter(ctx, sequences))
	if errors.Is(err, task.ErrDraws) || err == nil && sampled && risk.ESS < FewestDraws {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	r := newReference("Bayes", risk.Loss, model)
	if sampled {
		r.Draws, r.Effective = draws, risk.ESS
	}
	return []Reference{r}, nil
}

// Edges returns the given edges and the edges learned by the heads with the attentions p, see [Edge].
func Edges(p []*mat.Dense, spec train.Spec) []Edge {
	var edges []Edge
	t := spec.T()
	for child, parents := range GivenParents(spec) {
		for j := range child {
			e := Edge{Parent: j, Child: child, Given: slices.Contains(parents, j)}
			for h, head := range p {
				if a := head.At(min(child, t-1), j); a > e.Attention {
					e.Attention, e.Head = a, h
				}
			}
			if e.Learned = e.learned(t); child != t-1 && (e.Given || e.Learned) {
				edges = append(edges, e)
			}
		}
	}
	return edges
}

// learned reports whether the attention of the edge is that of a learned edge between t positions.
func (e Edge) learned(t int) bool {
	i := min(e.Child, t-1)
	return i > 0 && e.Attention > (1+1/float64(i+1))/2
}

// GivenParents returns the parents of each node of the graph, where -1 is none.
func GivenParents(spec train.Spec) (all [][]int) {
	switch of := spec.Task.(type) {
	case train.Task1:
		for _, parent := range of.Parents {
			all = append(all, []int{parent})
		}
	case train.Task2:
		all = of.Parents
	}
	return all
}

// A Predictor writes the distribution of the next token after the sequence x to f, of length S.
type Predictor = func(f []float64, x []int)

// EdgesPredictor returns the posterior mean given the causal graph: the Bayes predictor of Task
// 2. For Task 1 it is nil unless the prior is a Dirichlet law.
func EdgesPredictor(spec train.Spec) (Predictor, error) {
	switch of := spec.Task.(type) {
	case train.Task1:
		tk, err := of.New()
		if prior, ok := tk.Prior.(*markov.Dirichlet); ok && err == nil {
			return func(f []float64, x []int) { task.PosteriorGivenEdges(f, tk.Graph, prior.Alpha, x) }, nil
		}
		return nil, err
	case train.Task2:
		tk, err := of.New()
		return tk.Posterior, err
	}
	return nil, fmt.Errorf("trial: no predictor for a %T", spec.Task)
}

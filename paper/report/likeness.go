package report

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"learncausal/pkg/figure"
	"learncausal/pkg/markov"
	"learncausal/pkg/model"
	"learncausal/pkg/num"
	"learncausal/pkg/runs"
	"learncausal/pkg/task"
	"learncausal/pkg/train"
)

// A Likeness compares a trained model with the construction of its graph in the
// exact limit, on test sequences of the run. TV is the total-variation distance
// 1/2 sum |p - q|, averaged over the sequences.
type Likeness struct {
	ID, Of    string
	Runs      []string
	Sequences int

	First     float64  // mean attention of the first layer on the parents, heads as matched
	Matched   Estimate // share of the sequences for which the empirical transition is defined
	Second    Estimate // on these: overlap 1 - TV of the query's attention in the second layer and the construction's
	Limit     Estimate // on these: TV of the predictions and the construction's limit
	All       Estimate // the same on all sequences
	Posterior Estimate // on all: TV of the predictions and the posterior mean given the edges
}

// LikenessSequences is the number of test sequences of a comparison.
const LikenessSequences = 1 << 11

// CompareConstruction compares a run with the construction of its graph on the
// first n of its test sequences: Construction 1 for a run of Task 1, Construction
// 2 for one of Task 2. The caller names the comparison.
func CompareConstruction(r *runs.Run, n int) (*Likeness, error) {
	spec := r.Spec
	spec.Test = n
	b, err := spec.TestSet()
	if err != nil {
		return nil, err
	}
	switch of := spec.Task.(type) {
	case train.Task1:
		tk, err := of.New()
		if err != nil {
			return nil, err
		}
		prior, ok := tk.Prior.(*markov.Dirichlet)
		if !ok {
			return nil, fmt.Errorf("report: the posterior mean is that of a Dirichlet prior, not of %s", of.Prior)
		}
		l := like(model.ConstructionOne(tk.Graph, prior.S), r, b, func(f []float64, x []int) {
			task.PosteriorGivenEdges(f, tk.Graph, prior.Alpha, x)
		})
		l.First = spec.Attention(r.Final.Weights)
		return l, nil
	case train.Task2:
		tk, err := of.New()
		if err != nil {
			return nil, err
		}
		l := like(model.ConstructionTwo(tk.Graph, tk.Prior.S), r, b, tk.Posterior)
		m := NewMultiRun(MultiParent{Graph: tk.Graph}, r)
		l.First = m.Agreement(m.Attention)
		return l, nil
	}
	return nil, fmt.Errorf("report: no construction for a %T", spec.Task)
}

func like(c *model.Construction, r *runs.Run, b *task.Batch, posterior func(f []float64, x []int)) *Likeness {
	w := r.Final.Disentangled()
	pass := w.NewEngine().NewPass()
	f, g := make([]float64, b.S), make([]float64, b.S)
	uniform := make([]float64, b.T)
	var matched, second, limit, all, post []float64
	for k := range b.Len() {
		x, y := b.Seq(k)
		pass.Loss(x, y, nil)
		c.Limit(f, x)
		distance := totalVariation(pass.Predictions(), f)
		all = append(all, distance)
		posterior(g, x)
		post = append(post, totalVariation(pass.Predictions(), g))
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
	return &Likeness{
		Runs: []string{r.Address}, Sequences: b.Len(),
		Matched: num.Average(matched), Second: num.Average(second), Limit: num.Average(limit), All: num.Average(all), Posterior: num.Average(post),
	}
}

func totalVariation(p, q []float64) float64 {
	sum := 0.0
	for a := range p {
		sum += math.Abs(p[a] - q[a])
	}
	return sum / 2
}

// QueryAttention returns the attention of the last position in the second layer
// of a disentangled transformer, S(h1 A2^T h1_{T-1}), on the sequence x.
func QueryAttention(w *model.Weights, x []int) []float64 {
	first := &model.Weights{S: w.S, T: w.T, A: w.A[:1]}
	h := first.Stream(x)
	_, d := h.Dims()
	var q, score mat.VecDense
	q.MulVec(mat.NewDense(d, d, w.A[1][0]).T(), h.RowView(w.T-1))
	score.MulVec(h, &q)
	p := score.RawVector().Data
	num.Softmax(p, p)
	return p
}

// Likenesses compares the runs of Figure 6, the 20 graphs of Figure 9 (seed 0,
// pooled) and the runs with several parents with their constructions.
func Likenesses(single []*runs.Run, c *Comparison, multi [][]*MultiRun) ([]*Likeness, error) {
	var all []*Likeness
	add := func(ls *[]*Likeness, id, of string, r *runs.Run, n int) error {
		l, err := CompareConstruction(r, n)
		if err != nil {
			return err
		}
		l.ID, l.Of = id, of
		*ls = append(*ls, l)
		return nil
	}
	for i, e := range SingleParents() {
		if err := add(&all, e.ID, e.Title, single[i], LikenessSequences); err != nil {
			return nil, err
		}
	}
	var graphs []*Likeness
	for _, rs := range c.Runs {
		if err := add(&graphs, "", "", rs[0], LikenessSequences/8); err != nil {
			return nil, err
		}
	}
	all = append(all, pool("many-graphs", fmt.Sprintf("%d random, S = 3", len(graphs)), graphs))
	for _, rs := range multi {
		for _, m := range rs {
			seed := m.Run.Spec.Seed
			if err := add(&all, fmt.Sprintf("%s-seed-%d", m.Of.ID, seed), fmt.Sprintf("%s, seed %d", m.Of.Short, seed), m.Run, LikenessSequences); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

// pool averages comparisons on equally many sequences.
func pool(id, title string, ls []*Likeness) *Likeness {
	out := &Likeness{ID: id, Of: title}
	n := float64(len(ls))
	average := func(of func(*Likeness) Estimate) Estimate {
		var e Estimate
		for _, l := range ls {
			e.Mean += of(l).Mean / n
			e.StdErr += of(l).StdErr * of(l).StdErr
		}
		e.StdErr = math.Sqrt(e.StdErr) / n
		return e
	}
	for _, l := range ls {
		out.Runs = append(out.Runs, l.Runs...)
		out.Sequences += l.Sequences
		out.First += l.First / n
	}
	out.Matched = average(func(l *Likeness) Estimate { return l.Matched })
	out.Second = average(func(l *Likeness) Estimate { return l.Second })
	out.Limit = average(func(l *Likeness) Estimate { return l.Limit })
	out.All = average(func(l *Likeness) Estimate { return l.All })
	out.Posterior = average(func(l *Likeness) Estimate { return l.Posterior })
	return out
}

// LikenessTable tells how near the trained models are to their constructions.
func LikenessTable(ls []*Likeness) (*figure.Table, figure.Numbers) {
	t := &figure.Table{
		ID:      "tab-constructions",
		Caption: fmt.Sprintf(`Trained against constructed, with standard errors over %d test sequences (%d on the random graphs together). Layer 1: mean attention on the parents. Matched: share of the sequences in which some parent has the query's token, so that the empirical transition is defined. On these: overlap of the query's attention in layer 2 with the construction's, and total-variation distance of the trained prediction to the construction's exact limit. On all sequences: the same distance, and that to the posterior mean given the edges.`, LikenessSequences, ls[3].Sequences),
		Columns: []figure.Label{
			figure.Text("Graph"), figure.Text("Layer 1"), figure.Text("Matched"), figure.Text("Layer 2"),
			figure.Text("To limit"), figure.Text("all"), figure.Text("To posterior"),
		},
	}
	var ns figure.Numbers
	pm := func(e Estimate) figure.Cell { return figure.PlusMinus(e.Mean, e.StdErr, 3) }
	for _, l := range ls {
		t.Rows = append(t.Rows, []figure.Cell{figure.Words(figure.Text(l.Of)), figure.Value(l.First, 3), figure.Value(l.Matched.Mean, 3), pm(l.Second), pm(l.Limit), pm(l.All), pm(l.Posterior)})
		for _, n := range []struct {
			id string
			of Estimate
		}{{"second", l.Second}, {"limit", l.Limit}, {"posterior", l.Posterior}} {
			ns = append(ns, figure.Number{ID: "construction-" + l.ID + "-" + n.id, Value: n.of.Mean, StdErr: n.of.StdErr, Runs: l.Runs})
		}
	}
	return t, ns
}

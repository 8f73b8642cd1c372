package paper

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"learncausal/pkg/figure"
	"learncausal/pkg/runs"
	"learncausal/pkg/train"
)

// MLPSeeds is the number of seeds for each graph of the standard transformer with
// "trained" or "fixed" embeddings.
var MLPSeeds = map[string]int{"trained": 1, "fixed": 1}

// mlpLossSequences is how many test sequences the losses are compared on.
const mlpLossSequences = 1 << 12

// MLPSpec returns the released code's setting for the standard transformer with
// MLPs on the graph of e: width 30, 2^12 steps of AdamW on 1024 fresh sequences
// each, embeddings "trained" as the code has them, or "fixed" as the paper says.
func (e SingleParent) MLPSpec(embeddings string, seed int) train.Spec {
	s := e.Spec()
	s.Steps, s.Every, s.Rate, s.Seed = 1<<12, 1<<5, 0.01, uint64(seed)
	s.Optimiser, s.Decay, s.Width, s.Embeddings = "adamw", 2e-4, 30, embeddings
	return s
}

// MLPSpecs returns the specification of every run of Figure 8: those with
// trained embeddings first, seed by seed, in the order of SingleParents.
func MLPSpecs() []train.Spec {
	var specs []train.Spec
	for _, embeddings := range []string{"trained", "fixed"} {
		for seed := range MLPSeeds[embeddings] {
			for _, e := range SingleParents() {
				specs = append(specs, e.MLPSpec(embeddings, seed))
			}
		}
	}
	return specs
}

// An MLPResult is what the runs of the standard transformer on one graph come to.
type MLPResult struct {
	SingleParent
	Embeddings string
	Runs       []*runs.Run // by seed
	Seeds      []MLPAttention
	Loss       *Losses // of seed 0
}

// MLPAttention is the first layer of one run, averaged over 1024 test sequences.
type MLPAttention struct {
	P       [][]float64 // T x T
	Parents float64     // mean attention on the parent, over the edges
	Least   float64     // the smallest of them
	Found   int         // edges whose row is largest at the parent
	Edges   int
	Query   float64 // of the query on itself
	OnRoots float64 // of the query on the other roots

	// The roots but position 0 and the query, at which there is no choice or no
	// sequence to come.
	Roots         int
	First         float64 // their mean attention on the first token; NaN without roots
	Uniform       float64 // what it would be if they attended to all alike
	Largest       int     // roots whose row is largest at the first token
	Barren        float64 // their mean attention on positions that are nobody's parent
	UniformBarren float64
}

func (e SingleParent) mlpAttention(p [][]float64) MLPAttention {
	a := MLPAttention{P: p, Least: 1}
	n := e.Graph.T() - 1
	barren := make([]float64, n+1)
	for _, j := range e.Graph.Leaves() {
		barren[j] = 1
	}
	a.Query = p[n][n]
	for i, row := range p[:n] {
		j := e.Graph.Parent(i)
		if j < 0 {
			a.OnRoots += p[n][i]
		}
		switch {
		case j >= 0:
			a.Edges++
			a.Parents += row[j]
			a.Least = min(a.Least, row[j])
			if floats.MaxIdx(row) == j {
				a.Found++
			}
		case i > 0:
			a.Roots++
			a.First += row[0]
			a.Uniform += 1 / float64(i+1)
			a.Barren += floats.Dot(row[:i+1], barren[:i+1])
			a.UniformBarren += floats.Sum(barren[:i+1]) / float64(i+1)
			if floats.MaxIdx(row) == 0 {
				a.Largest++
			}
		}
	}
	a.Parents /= float64(a.Edges)
	for _, v := range []*float64{&a.First, &a.Uniform, &a.Barren, &a.UniformBarren} {
		*v /= float64(a.Roots)
	}
	return a
}

// LoadMLP loads or trains the runs of Figure 8: a result for each graph with
// trained embeddings, then for each graph with fixed ones.
func LoadMLP(ctx context.Context, get Getter) ([]*MLPResult, error) {
	var all []*MLPResult
	for _, embeddings := range []string{"trained", "fixed"} {
		for _, e := range SingleParents() {
			m := &MLPResult{SingleParent: e, Embeddings: embeddings}
			for seed := range MLPSeeds[embeddings] {
				r, err := get(ctx, e.MLPSpec(embeddings, seed))
				if err != nil {
					return nil, err
				}
				m.Runs = append(m.Runs, r)
				m.Seeds = append(m.Seeds, e.mlpAttention(r.Spec.MeanAttention(r.Final.Weights)[0]))
			}
			all = append(all, m)
		}
	}
	return all, nil
}

// CompareMLPLosses fills in the losses of the results.
func CompareMLPLosses(ms []*MLPResult) error {
	n := len(SingleParents())
	for i := range n {
		l, err := CompareAllLosses([]*runs.Run{ms[i].Runs[0], ms[i+n].Runs[0]}, mlpLossSequences, LossDraws)
		if err != nil {
			return err
		}
		ms[i].Loss, ms[i+n].Loss = l[0], l[1]
	}
	return nil
}

// over returns the mean of a quantity over the seeds and its standard deviation,
// 0 for one seed.
func (m *MLPResult) over(f func(MLPAttention) float64) (mean, sd float64) {
	var v []float64
	for _, a := range m.Seeds {
		v = append(v, f(a))
	}
	if len(v) == 1 {
		return v[0], 0
	}
	return stat.MeanStdDev(v, nil)
}

// id returns for instance "mlp-chain-trained".
func (m *MLPResult) id() string { return "mlp-" + m.ID + "-" + m.Embeddings }

// MLPFigure is Figure 8: the adjacency matrix beside the average first-layer
// attention of the standard transformer, with trained and with fixed embeddings.
func MLPFigure(ms []*MLPResult) *figure.Figure {
	f := &figure.Figure{
		ID: "fig-mlp", Width: figure.TwoColumns,
		Caption: `First-layer attention of the two-layer standard transformer with MLPs, averaged over 1024 sequences, beside the adjacency matrix of the causal graph ($S=10$, $T=20$, $d=30$, $2^{12}$ steps). Embeddings are trained as in the authors' code, or fixed as in their text.`,
	}
	n := len(SingleParents())
	for i, m := range ms[:n] {
		panels := []*figure.Matrix{
			{Title: figure.Text(m.Title), Values: adjacency(m.Graph)},
			{Title: figure.Text("trained embeddings"), Values: m.Seeds[0].P},
			{Title: figure.Text("fixed embeddings"), Values: ms[i+n].Seeds[0].P},
		}
		row := []figure.Panel{}
		for k, p := range panels {
			p.Scale = figure.Scale{Min: 0, Max: 1, Hidden: k < 2}
			p.XLabel = figure.Label{Text: "Position j", TeX: "Position $j$"}
			if k == 0 {
				p.YLabel = figure.Label{Text: "Position i", TeX: "Position $i$"}
			}
			row = append(row, p)
		}
		f.Rows = append(f.Rows, row)
	}
	return f
}

// MLPTable puts the figure into numbers.
func MLPTable(ms []*MLPResult) *figure.Table {
	t := &figure.Table{
		ID:      "tab-mlp",
		Caption: `Average first-layer attention of the standard transformer with MLPs: mean and, where there are several seeds, standard deviation over them. Edges found: rows that are largest at the parent, over all seeds. The last two columns are the row of the query.`,
		Columns: []figure.Label{
			figure.Text("Graph"), figure.Text("Embeddings"), figure.Text("Edges found"), figure.Text("On parents"), figure.Text("Query on itself"), figure.Text("on other roots"),
		},
	}
	for _, m := range ms {
		c := m.counts()
		t.Rows = append(t.Rows, []figure.Cell{
			figure.Words(figure.Text(m.Title)), figure.Words(figure.Text(m.Embeddings)), figure.Words(figure.Text(fmt.Sprintf("%d of %d", c.Found, c.Edges))),
			m.cell(func(a MLPAttention) float64 { return a.Parents }), m.cell(func(a MLPAttention) float64 { return a.Query }), m.cell(func(a MLPAttention) float64 { return a.OnRoots }),
		})
	}
	return t
}

// MLPRootsTable says what positions without a parent attend to.
func MLPRootsTable(ms []*MLPResult) *figure.Table {
	t := &figure.Table{
		ID:      "tab-mlp-roots",
		Caption: `What roots attend to in the first layer of the standard transformer with MLPs, the first position and the query apart: mean and, where there are several seeds, standard deviation over them, beside what uniform attention would give. Largest: rows that are largest at the first token, over all seeds. Childless: positions that are nobody's parent.`,
		Columns: []figure.Label{
			figure.Text("Graph"), figure.Text("Embeddings"), figure.Text("On the first token"), figure.Text("uniform"), figure.Text("Largest"), figure.Text("On childless"), figure.Text("uniform"),
		},
	}
	for _, m := range ms {
		if a, c := m.Seeds[0], m.counts(); c.Roots > 0 {
			t.Rows = append(t.Rows, []figure.Cell{
				figure.Words(figure.Text(m.Title)), figure.Words(figure.Text(m.Embeddings)),
				m.cell(func(a MLPAttention) float64 { return a.First }), figure.Value(a.Uniform, 3),
				figure.Words(figure.Text(fmt.Sprintf("%d of %d", c.Largest, c.Roots))),
				m.cell(func(a MLPAttention) float64 { return a.Barren }), figure.Value(a.UniformBarren, 3),
			})
		}
	}
	return t
}

// cell shows over.
func (m *MLPResult) cell(f func(MLPAttention) float64) figure.Cell {
	mean, sd := m.over(f)
	if sd == 0 {
		return figure.Value(mean, 3)
	}
	return figure.PlusMinus(mean, sd, 3)
}

// said is cell in words.
func (m *MLPResult) said(f func(MLPAttention) float64) string {
	mean, sd := m.over(f)
	if sd == 0 {
		return fmt.Sprintf("%.3f", mean)
	}
	return fmt.Sprintf("%.3f ± %.3f", mean, sd)
}

// MLPLossTable puts the final losses beside the reference predictors.
func MLPLossTable(ms []*MLPResult) *figure.Table {
	t := &figure.Table{
		ID:      "tab-mlp-losses",
		Caption: fmt.Sprintf(`Log-loss in nats of the standard transformer with MLPs on %d test sequences, seed 0, beside (a) the posterior mean given the edges, (b) the authors' released formula and (c) the Bayes predictor with %d draws for each sequence, and two paired differences with standard errors.`, mlpLossSequences, LossDraws),
		Columns: []figure.Label{
			figure.Text("Graph"), figure.Text("Embeddings"), figure.Text("Trained"), figure.Text("(a)"), figure.Text("(b)"), figure.Text("(c)"),
			figure.Text("trained − (a)"), figure.Text("trained − (c)"),
		},
	}
	for _, m := range ms {
		l := m.Loss
		t.Rows = append(t.Rows, []figure.Cell{
			figure.Words(figure.Text(m.Title)), figure.Words(figure.Text(m.Embeddings)),
			figure.Value(l.Model.Mean, 4), figure.Value(l.Edges.Mean, 4), figure.Value(l.Released.Mean, 4), figure.Value(l.Bayes.Mean, 4),
			figure.PlusMinus(l.ModelLessEdges.Mean, l.ModelLessEdges.StdErr, 4), figure.PlusMinus(l.ModelLessBayes.Mean, l.ModelLessBayes.StdErr, 4),
		})
	}
	return t
}

// MLPNumbers returns the numbers of Figure 8: of the average attention over all
// seeds with the standard error of their mean, of the losses for seed 0.
func MLPNumbers(ms []*MLPResult) figure.Numbers {
	var ns figure.Numbers
	for _, m := range ms {
		var hashes []string
		for _, r := range m.Runs {
			hashes = append(hashes, r.Address)
		}
		seeds := func(id string, f func(MLPAttention) float64) {
			mean, sd := m.over(f)
			ns = append(ns, figure.Number{ID: m.id() + "-" + id, Value: mean, StdErr: stat.StdErr(sd, float64(len(m.Seeds))), Digits: 3, Runs: hashes})
		}
		seeds("attention", func(a MLPAttention) float64 { return a.Parents })
		seeds("attention-least", func(a MLPAttention) float64 { return a.Least })
		seeds("query", func(a MLPAttention) float64 { return a.Query })
		seeds("query-roots", func(a MLPAttention) float64 { return a.OnRoots })
		c := m.counts()
		for _, n := range []struct {
			id    string
			value int
		}{{"edges", c.Edges}, {"edges-found", c.Found}, {"roots", c.Roots}, {"roots-largest", c.Largest}} {
			ns = append(ns, figure.Number{ID: m.id() + "-" + n.id, Value: float64(n.value), Whole: true, Runs: hashes})
		}
		if c.Roots > 0 {
			seeds("roots-first", func(a MLPAttention) float64 { return a.First })
			seeds("roots-childless", func(a MLPAttention) float64 { return a.Barren })
			ns = append(ns,
				figure.Number{ID: m.id() + "-roots-first-uniform", Value: m.Seeds[0].Uniform, Digits: 3},
				figure.Number{ID: m.id() + "-roots-childless-uniform", Value: m.Seeds[0].UniformBarren, Digits: 3})
		}
		for _, l := range []struct {
			id    string
			value Estimate
		}{{"loss", m.Loss.Model}, {"loss-less-edges", m.Loss.ModelLessEdges}, {"loss-less-bayes", m.Loss.ModelLessBayes}} {
			ns = append(ns, figure.Number{ID: m.id() + "-" + l.id, Value: l.value.Mean, StdErr: l.value.StdErr, Runs: hashes[:1]})
		}
	}
	return ns
}

// counts returns the sums over the seeds of what is counted.
func (m *MLPResult) counts() (c MLPAttention) {
	for _, a := range m.Seeds {
		c.Edges, c.Found, c.Roots, c.Largest = c.Edges+a.Edges, c.Found+a.Found, c.Roots+a.Roots, c.Largest+a.Largest
	}
	return c
}

func mlpVerdict(missed int) string {
	switch missed {
	case 0:
		return "reproduced"
	case 1:
		return "differs: one row is not largest at its parent"
	}
	return fmt.Sprintf("differs: %d rows are not largest at their parents", missed)
}

// MLPRows returns the rows of the summary for Figure 8. A graph is reproduced if
// every row of every seed is largest at the parent, the remark on the roots of
// the random graph if most of their rows are largest at the first token and each
// seed puts more weight there than uniform attention would.
func MLPRows(ms []*MLPResult) []Row {
	var rs []Row
	for _, m := range ms {
		c := m.counts()
		ours := fmt.Sprintf("%d/%d edges; %s on parents", c.Found, c.Edges, m.said(func(a MLPAttention) float64 { return a.Parents }))
		rs = append(rs, Row{
			"fig-mlp", fmt.Sprintf("Fig 8: %s, %s embeddings", m.Title, m.Embeddings), "attention near the adjacency matrix",
			figure.Words(figure.Text(ours)), mlpVerdict(c.Edges - c.Found),
		})
	}
	for _, m := range ms {
		if m.ID != "random" {
			continue
		}
		c, more := m.counts(), true
		for _, a := range m.Seeds {
			more = more && a.First > a.Uniform
		}
		ours := fmt.Sprintf("%s on it (uniform: %.3f); largest for %d of %d", m.said(func(a MLPAttention) float64 { return a.First }), m.Seeds[0].Uniform, c.Largest, c.Roots)
		rs = append(rs, Row{
			"fig-mlp", fmt.Sprintf("Fig 8: roots of the random graph, %s embeddings", m.Embeddings), "seem to attend to the first token",
			figure.Words(figure.Text(ours)), verdict(more && 2*c.Largest > c.Roots, "reproduced"),
		})
	}
	return rs
}

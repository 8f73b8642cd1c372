package figures

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"text/tabwriter"

	"gonum.org/v1/gonum/mat"

	"learncausal/internal/figure"
	"learncausal/paper/trial"
	"learncausal/pkg/train"
)

// RunFigureIDs are the ids of [RunFigures].
var RunFigureIDs = []string{"graph", "curve", "weights"}

// RunFigures draws a run on any graph: graph and attention (graph), test loss and attention
// along training (curve), and all weights of a disentangled transformer (weights).
func RunFigures(o *trial.Measurement) ([]*figure.Figure, error) {
	first, err := graphFigure(o)
	if err != nil {
		return nil, err
	}
	all := []*figure.Figure{first, curveFigure(o)}
	if _, ok := o.Run.Spec.Model.(train.Disentangled); !ok {
		return all, nil
	}
	g, err := graphOf(o.Run.Spec)
	if err != nil {
		return nil, err
	}
	f, err := WeightsFigure("weights", o.Run.Final.Weights, g)
	if err != nil {
		return all, err
	}
	if names := nodeNames(o); names != nil {
		if _, ok := o.Run.Spec.Task.(train.Task1); ok {
			f.Rows[0][0] = first.Rows[0][0]
		}
	}
	return append(all, f), nil
}

// RunEntries returns the figures of [RunFigures] as entries whose ids begin with a prefix, laid out for a width as by
// [Entry.At].
func RunEntries(o *trial.Measurement, prefix string, w, h figure.Width, size float64) ([]Entry, error) {
	all, err := RunFigures(o)
	var entries []Entry
	for _, f := range all {
		f.ID = prefix + "-" + f.ID
		drawn := func(context.Context, *Results) (Output, error) { return f, nil }
		entries = append(entries, Entry{ID: f.ID, Draw: drawn}.At(w, h, size))
	}
	return entries, err
}

// nodeNames returns the names of the nodes, or nil if they have none of their own. A name that the font or LaTeX lacks
// is s_i.
func nodeNames(o *trial.Measurement) (names []string) {
	for i, name := range o.Nodes {
		if _, err := figure.EscapeTeX(name); err != nil || !figure.Settable(name) || strings.Contains(name, "$") {
			name = figure.Node(i)
		}
		names = append(names, name)
	}
	return names
}

func graphOf(spec train.Spec) (Graph, error) {
	switch of := spec.Task.(type) {
	case train.Task1:
		tk, err := of.New()
		return tk.Graph, err
	case train.Task2:
		tk, err := of.New()
		return tk.Graph, err
	}
	return nil, fmt.Errorf("figures: no graph of a %T", spec.Task)
}

// graphFigure draws the graph, its adjacency matrix, and the attention of each head.
func graphFigure(o *trial.Measurement) (*figure.Figure, error) {
	spec := o.Run.Spec
	_, found, others := o.Found()
	f := &figure.Figure{
		ID: "graph", Width: figure.TwoColumns,
		Caption: fmt.Sprintf(`The given graph beside the attention between positions in the first layer after `+
			`%d steps. Learned: %d of its edges, and %d others.`, spec.Steps, found, others),
	}
	names, t := nodeNames(o), spec.T()
	named := func(p *figure.Panel, h *figure.Heat) *figure.Panel {
		if names != nil {
			h.ColumnNames, h.RowNames = names[:t], names[:t]
			if t < len(names) { // the last row is the row of the label
				h.RowNames = append(slices.Clone(names[:t-1]), names[t])
			}
			return p
		}
		return p.Axes(positionJ, "")
	}
	if of, ok := spec.Task.(train.Task1); ok {
		forest := &figure.Forest{Parents: of.Parents, Query: true, Names: names}
		f.Rows = append(f.Rows, []*figure.Panel{figure.Causal("Causal graph", forest)})
	}
	adjacency, h := figure.Matrix("Adjacency matrix", givenAdjacency(o), false)
	if h.Bar = false; names == nil {
		adjacency.Y.Label.Text = positionI
	}
	panels := []*figure.Panel{named(adjacency, h)}
	for k, p := range o.Attention {
		title := "Attention"
		if len(o.Attention) > 1 {
			title = fmt.Sprintf("Attention, head %d", k+1)
		}
		var rounded mat.Dense // means of probabilities may exceed 1 in their last digit
		rounded.Apply(func(_, _ int, v float64) float64 { return min(v, 1) }, p)
		m, h := figure.Matrix(title, matrixRows(&rounded), false)
		h.Bar = k == len(o.Attention)-1
		panels = append(panels, named(m, h))
	}
	if names == nil {
		adjacency.Y.Label.Text = positionI
	}
	f.Rows = slices.AppendSeq(f.Rows, slices.Chunk(panels, 3))
	least, err := f.LeastWidth()
	f.Width = max(f.Width, least)
	return f, err
}

// givenAdjacency returns the matrix with a one at a position and each of its parents. In
// Task 2 the last row is the row of the label, as in the first layer.
func givenAdjacency(o *trial.Measurement) [][]float64 {
	t := o.Run.Spec.T()
	a := make([][]float64, t)
	for i := range a {
		a[i] = make([]float64, t)
	}
	for _, e := range o.Edges {
		if e.Given {
			a[min(e.Child, t-1)][e.Parent] = 1
		}
	}
	return a
}

// curveFigure draws the test loss, the losses of the reference predictors, and the attention on the parents.
func curveFigure(o *trial.Measurement) *figure.Figure {
	var steps, loss, on, attention []float64
	for _, p := range o.Run.Curve {
		steps, loss = append(steps, float64(p.Step)), append(loss, p.Loss)
		if !math.IsNaN(p.Attention) {
			on, attention = append(on, float64(p.Step)), append(attention, p.Attention)
		}
	}
	losses := figure.New("").Axes("Step", "Test loss")
	losses.Curve(0, "", steps, loss)
	short := map[string]string{"Bayes": "Bayes", "posterior mean given the edges": "edges only"}
	for _, r := range o.References {
		if name := short[r.Name]; name != "" {
			// The reference was evaluated on a part of the test set, see lossLevel.
			losses.Level(name, loss[len(loss)-1]-r.ModelLess.Mean)
		}
	}
	f := figure.OneRow(figure.TwoColumns, "",
		`Test loss along training, and the mean attention of the first layer on the parents.`, losses)
	if f.ID = "curve"; len(on) > 0 {
		p := figure.New("").Axes("Step", "Attention on the parents").YRange(0, 1)
		p.Curve(0, "", on, attention)
		f.Rows[0] = append(f.Rows[0], p)
	}
	return f
}

// LearnedDOT returns the learned graph as a DOT file. Edges are labelled with the attention;
// edges that were not given are red. [graph.ReadForest] reads it if no position has learned
// two parents, and [graph.ReadDAG], for Task 2, if the label has learned a parent.
func LearnedDOT(o *trial.Measurement) string {
	names := slices.Clone(o.Names())
	if o.Nodes != nil {
		for i, name := range names {
			names[i] = `"` + strings.ReplaceAll(name, `"`, `\"`) + `"`
		}
	}
	var b strings.Builder
	b.WriteString("digraph {\n")
	if o.Nodes != nil {
		fmt.Fprintf(&b, "\tquery=%s;\n", names[len(names)-1])
	}
	for _, name := range names {
		fmt.Fprintf(&b, "\t%s;\n", name)
	}
	for _, e := range o.Edges {
		if e.Learned {
			colour := ""
			if !e.Given {
				colour = ", color=red"
			}
			fmt.Fprintf(&b, "\t%s [label=\"%.2f\"%s];\n", e.Name(names), e.Attention, colour)
		}
	}
	b.WriteString("}\n")
	return b.String()
}

// SummaryText returns the summary of a run as text.
func SummaryText(o *trial.Measurement) string {
	spec := o.Run.Spec
	var b strings.Builder
	fmt.Fprintf(&b, "Run %s: %s\n", o.Run.Address, spec.Description())
	fmt.Fprintf(&b, "%s\n", settings(spec))
	if o.Nodes != nil {
		fmt.Fprintf(&b, "positions in order: %s\n", strings.Join(o.Nodes[:spec.T()], ", "))
	}
	b.WriteString("\n")
	fmt.Fprintf(&b, "Mean log-loss in nats on the first %d of %d test sequences, which no step has seen, "+
		"± standard error:\n\n",
		o.Sequences, spec.Test)
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "Predictor\tLoss\tModel less this\ntrained model\t%s\t\n", figure.CellOf(o.Model).Text())
	for _, r := range o.References {
		fmt.Fprintf(t, "%s\t%s\t%s\n", r.Name, figure.CellOf(r.Loss).Text(), figure.CellOf(r.ModelLess).Text())
	}
	t.Flush()
	b.WriteString("\n")
	if !slices.ContainsFunc(o.References, func(r trial.Reference) bool { return r.Name == "Bayes" }) {
		fmt.Fprintf(&b, "Bayes: left out, because it takes too long or has an effective sample size below %d.\n",
			trial.FewestDraws)
	}
	for _, r := range o.References {
		if r.Draws > 0 {
			fmt.Fprintf(&b, "Bayes: %d draws for each of %d sequences, effective sample size %.0f on average.\n",
				r.Draws, r.Sequences, r.Effective)
		}
	}
	b.WriteString(worseThanUniform(o))
	end := o.Run.Curve[len(o.Run.Curve)-1]
	given, found, others := o.Found()
	fmt.Fprintf(&b, "Graph: %d of %d edges learned, %d others.", found, given, others)
	if !math.IsNaN(end.Attention) {
		fmt.Fprintf(&b, " Mean attention on the parents %.3f.", end.Attention)
	}
	b.WriteString("\nAn edge is learned if a head's attention to the parent is more than half way from uniform to 1.\n")
	if _, several := spec.Task.(train.Task2); several {
		fmt.Fprintf(&b, "The last position, %s, serves the label: its own parents are not read off.\n",
			o.Names()[spec.T()-1])
	}
	b.WriteString(success(o) + differences(o))
	return b.String()
}

// success returns a sentence for readers who take an edge that is not learned for a failure.
func success(o *trial.Measurement) string {
	given, found, _ := o.Found()
	for _, r := range o.References {
		if d := r.ModelLess; r.Name == "uniform" && d.Mean < -2*d.StdErr && found < given {
			return fmt.Sprintf("Training works: the model predicts better than a uniform guess, by %.4f ± %.4f. "+
				"More --steps usually raise the attention on an edge that is missed so far.\n", -d.Mean, d.StdErr)
		}
	}
	return ""
}

// worseThanUniform returns a warning if the loss exceeds the loss of a uniform guess by more
// than two standard errors.
func worseThanUniform(o *trial.Measurement) string {
	for _, r := range o.References {
		if d := r.ModelLess; r.Name == "uniform" && d.Mean > 2*d.StdErr {
			return fmt.Sprintf("The model is worse than a uniform guess, by %.4f ± %.4f: training has failed; "+
				"a smaller --rate may do.\n", d.Mean, d.StdErr)
		}
	}
	return ""
}

// differences lists the first edges that are given and not learned, or learned and not given.
func differences(o *trial.Measurement) string {
	const most = 10
	var lines []string
	for _, e := range o.Edges {
		if e.Given != e.Learned {
			kind := "missed"
			if e.Learned {
				kind = "other"
			}
			name := e.Name(o.Names())
			lines = append(lines, fmt.Sprintf("  %-6s  %s  attention %.2f\n", kind, name, e.Attention))
		}
	}
	if n := len(lines) - most; n > 0 {
		lines = append(lines[:most], fmt.Sprintf("  and %d more, in the JSON of this summary\n", n))
	}
	return strings.Join(lines, "")
}

func settings(spec train.Spec) string {
	return fmt.Sprintf("%d positions, %d tokens, prior %s, %d steps on %d fresh sequences each, seed %d",
		spec.T(), spec.S(), priorOf(spec.Task), spec.Steps, spec.Batch, spec.Seed)
}

// SummaryJSON returns the summary of a run as JSON.
func SummaryJSON(o *trial.Measurement) ([]byte, error) {
	type estimate struct {
		Mean   float64 `json:"mean"`
		StdErr float64 `json:"stderr"`
	}
	type reference struct {
		Name      string   `json:"name"`
		Sequences int      `json:"sequences"`
		Loss      estimate `json:"loss"`
		ModelLess estimate `json:"model_less"` // paired differences
		Draws     int      `json:"draws,omitempty"`
		Effective float64  `json:"effective_draws,omitempty"`
	}
	type edge struct {
		Edge      string  `json:"edge"`
		Attention float64 `json:"attention"`
		Given     bool    `json:"given"`
		Learned   bool    `json:"learned"`
	}
	out := struct {
		Run        string      `json:"run"`
		Spec       train.Spec  `json:"spec"`
		Nodes      []string    `json:"nodes,omitempty"` // the label last
		Sequences  int         `json:"sequences"`
		Loss       estimate    `json:"loss"`
		References []reference `json:"references"`
		Edges      []edge      `json:"edges"`
	}{
		Run: o.Run.Address, Spec: o.Run.Spec, Nodes: o.Nodes, Sequences: o.Sequences,
		Loss: estimate(o.Model),
	}
	for _, r := range o.References {
		out.References = append(out.References, reference{
			r.Name, r.Sequences, estimate(r.Loss), estimate(r.ModelLess), r.Draws, r.Effective,
		})
	}
	for _, e := range o.Edges {
		out.Edges = append(out.Edges, edge{e.Name(o.Names()), e.Attention, e.Given, e.Learned})
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false) // names of edges have an arrow
	encoder.SetIndent("", "  ")
	err := encoder.Encode(out)
	return b.Bytes(), err
}

package sweep

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math"
	"path/filepath"
	"strconv"

	"learncausal/internal/files"
	"learncausal/paper/experiment"
	"learncausal/pkg/graph"
	"learncausal/pkg/runs"
	"learncausal/pkg/train"
)

// WriteTables writes results.jsonl, table.csv and table.npz and returns their paths. It is
// an error if a run is not done.
//
// The file table.csv has a row for each run in the order of the plan. Its columns are the
// address of the run, every setting, the effective length t_eff of a forest, and the
// results after the last step: loss (mean over the test set, in nats) and attention
// (see [train.Spec.Attention]); the numbers of edges of the graph, of learned edges among
// them, and of other learned edges; the loss of the Bayes predictor, the excess of the
// model over it with its standard error, and the effective number of draws; the loss of
// Algorithm 1 and its attention. A missing value is empty, NaN in the archive.
//
// The archive table.npz has the same columns, the curves of all runs one after another as
// curve_run (row of the table, from 0), curve_step, curve_loss and curve_attention, and
// the edges as edge_run, edge_parent, edge_child, edge_attention, edge_head, edge_given
// and edge_learned.
func (s *Sweep) WriteTables() ([]string, error) {
	results, err := s.results()
	if err != nil {
		return nil, err
	}
	list, err := s.encodeList(results)
	if err != nil {
		return nil, err
	}
	columns := append(settingColumns(s.Plan.Runs), resultColumns(results)...)
	table, err := encodeCSV(columns, len(results))
	if err != nil {
		return nil, err
	}
	archive, err := runs.EncodeNPZ(append(columns, longColumns(results)...))
	if err != nil {
		return nil, err
	}
	var paths []string
	for _, f := range []struct {
		name string
		data []byte
	}{{filepath.Base(s.listPath()), list}, {"table.csv", table}, {"table.npz", archive}} {
		path := filepath.Join(s.Dir, f.name)
		if err := files.Write(path, f.data); err != nil {
			return nil, fmt.Errorf("sweep: %w", err)
		}
		paths = append(paths, path)
	}
	return paths, nil
}

// columnOf returns the column of the values of f.
func columnOf[A, B any](name string, all []A, f func(A) B) runs.Array {
	values := make([]B, len(all))
	for i, a := range all {
		values[i] = f(a)
	}
	return runs.Array{Name: name, Values: values}
}

func settingColumns(all []Run) []runs.Array {
	flat := make([]settings, len(all))
	for i, r := range all {
		flat[i] = settingsOf(r)
	}
	whole := func(name string, f func(settings) int) runs.Array {
		return columnOf(name, flat, func(s settings) int64 { return int64(f(s)) })
	}
	return []runs.Array{
		columnOf("run", flat, func(s settings) string { return s.Address }),
		columnOf("graph", flat, func(s settings) string { return s.Graph }),
		whole("length", func(s settings) int { return s.Spec.T() }),
		whole("states", func(s settings) int { return s.Spec.S() }),
		columnOf("prior", flat, func(s settings) string { return s.prior }),
		columnOf("roots", flat, func(s settings) string { return s.roots }),
		columnOf("model", flat, func(s settings) string { return s.model }),
		whole("heads_1", func(s settings) int { return s.heads[0] }),
		whole("heads_2", func(s settings) int { return s.heads[1] }),
		columnOf("init", flat, func(s settings) float64 { return s.init }),
		whole("width", func(s settings) int { return s.width }),
		columnOf("embeddings", flat, func(s settings) string { return s.embeddings }),
		columnOf("optimiser", flat, func(s settings) string { return s.optimiser }),
		columnOf("schedule", flat, func(s settings) string { return s.schedule }),
		columnOf("rate", flat, func(s settings) float64 { return s.rate }),
		columnOf("decay", flat, func(s settings) float64 { return s.decay }),
		whole("batch", func(s settings) int { return s.Spec.Batch }),
		whole("steps", func(s settings) int { return s.Spec.Steps }),
		whole("test", func(s settings) int { return s.Spec.Canonical().Test }),
		whole("every", func(s settings) int { return s.Spec.Canonical().Every }),
		columnOf("seed", flat, func(s settings) uint64 { return s.Spec.Seed }),
		columnOf("t_eff", flat, func(s settings) float64 { return s.tEff }),
	}
}

// settings are the settings of a run, a field for each column.
type settings struct {
	Run
	prior, roots, model, embeddings, optimiser, schedule string
	heads                                                [2]int
	width                                                int
	init, rate, decay, tEff                              float64
}

func settingsOf(r Run) settings {
	s := settings{Run: r, tEff: math.NaN()}
	switch k := r.Spec.Task.(type) {
	case train.Task1:
		s.prior, s.roots, s.tEff = k.Prior, "stationary", graph.MustNew(k.Parents...).TEff()
	case train.Task2:
		s.prior, s.roots = k.Prior, "prior"
		if k.UniformRoots {
			s.roots = "uniform"
		}
	}
	switch m := r.Spec.Model.(type) {
	case train.Disentangled:
		s.model, s.embeddings, s.heads, s.init = "disentangled", "none", m.Heads, m.Init
	case train.MLP:
		s.model, s.embeddings, s.width, s.heads = "mlp", "trained", m.Width, [2]int{1, 1}
		if m.FixedEmbeddings {
			s.embeddings = "fixed"
		}
	}
	switch o := r.Spec.Optimiser.(type) {
	case train.SGD:
		s.optimiser, s.schedule, s.rate, s.decay = "sgd", string(o.Schedule), o.Rate, o.Decay
	case train.AdamW:
		s.optimiser, s.schedule, s.rate, s.decay = "adamw", string(o.Schedule), o.Rate, o.Decay
	}
	return s
}

func resultColumns(results []*experiment.Outcome) []runs.Array {
	none := experiment.Number(math.NaN())
	edges := func(r *experiment.Outcome) (given, found, others int) { return experiment.CountEdges(r.Edges) }
	bayes := func(r *experiment.Outcome) experiment.OutcomeBayes {
		if r.Bayes == nil {
			return experiment.OutcomeBayes{Loss: none, Excess: none, ExcessError: none, Effective: none}
		}
		return *r.Bayes
	}
	one := func(r *experiment.Outcome) experiment.OutcomeOne {
		if r.One == nil {
			return experiment.OutcomeOne{Loss: none, Attention: none}
		}
		return *r.One
	}
	float := func(name string, f func(*experiment.Outcome) experiment.Number) runs.Array {
		return columnOf(name, results, func(r *experiment.Outcome) float64 { return float64(f(r)) })
	}
	return []runs.Array{
		columnOf("diverged", results, func(r *experiment.Outcome) bool { return r.Diverged != "" }),
		float("loss", func(r *experiment.Outcome) experiment.Number { return r.End().Loss }),
		float("attention", func(r *experiment.Outcome) experiment.Number { return r.End().Attention }),
		columnOf("edges", results, func(r *experiment.Outcome) int64 { n, _, _ := edges(r); return int64(n) }),
		columnOf("learned", results, func(r *experiment.Outcome) int64 { _, n, _ := edges(r); return int64(n) }),
		columnOf("others", results, func(r *experiment.Outcome) int64 { _, _, n := edges(r); return int64(n) }),
		float("bayes", func(r *experiment.Outcome) experiment.Number { return bayes(r).Loss }),
		float("excess", func(r *experiment.Outcome) experiment.Number { return bayes(r).Excess }),
		float("excess_error", func(r *experiment.Outcome) experiment.Number { return bayes(r).ExcessError }),
		float("bayes_draws", func(r *experiment.Outcome) experiment.Number { return bayes(r).Effective }),
		float("algorithm_1", func(r *experiment.Outcome) experiment.Number { return one(r).Loss }),
		float("algorithm_1_attention", func(r *experiment.Outcome) experiment.Number { return one(r).Attention }),
	}
}

// longColumns returns the columns of the curves and the edges.
func longColumns(results []*experiment.Outcome) []runs.Array {
	type point struct {
		run int64
		experiment.OutcomePoint
	}
	type edge struct {
		run int64
		experiment.OwnEdge
	}
	var points []point
	var edges []edge
	for i, r := range results {
		for _, p := range r.Curve {
			points = append(points, point{int64(i), p})
		}
		for _, e := range r.Edges {
			edges = append(edges, edge{int64(i), e})
		}
	}
	return []runs.Array{
		columnOf("curve_run", points, func(p point) int64 { return p.run }),
		columnOf("curve_step", points, func(p point) int64 { return int64(p.Step) }),
		columnOf("curve_loss", points, func(p point) float64 { return float64(p.Loss) }),
		columnOf("curve_attention", points, func(p point) float64 { return float64(p.Attention) }),
		columnOf("edge_run", edges, func(e edge) int64 { return e.run }),
		columnOf("edge_parent", edges, func(e edge) int64 { return int64(e.Parent) }),
		columnOf("edge_child", edges, func(e edge) int64 { return int64(e.Child) }),
		columnOf("edge_attention", edges, func(e edge) float64 { return e.Attention }),
		columnOf("edge_head", edges, func(e edge) int64 { return int64(e.Head) }),
		columnOf("edge_given", edges, func(e edge) bool { return e.Given }),
		columnOf("edge_learned", edges, func(e edge) bool { return e.Learned }),
	}
}

func encodeCSV(columns []runs.Array, rows int) ([]byte, error) {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	line := make([]string, len(columns))
	for j, c := range columns {
		line[j] = c.Name
	}
	w.Write(line) // Error returns its error
	for i := range rows {
		for j, c := range columns {
			line[j] = cell(c.Values, i)
		}
		w.Write(line)
	}
	w.Flush()
	return b.Bytes(), w.Error()
}

// cell returns the text of row i of a column.
func cell(values any, i int) string {
	switch v := values.(type) {
	case []float64:
		if math.IsNaN(v[i]) {
			return ""
		}
		return strconv.FormatFloat(v[i], 'g', -1, 64)
	case []string:
		return v[i]
	case []int64:
		return strconv.FormatInt(v[i], 10)
	case []uint64:
		return strconv.FormatUint(v[i], 10)
	case []bool:
		return strconv.FormatBool(v[i])
	}
	panic(fmt.Sprintf("sweep: a column of %T", values))
}

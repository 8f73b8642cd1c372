package sweep

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math"
	"path/filepath"
	"strconv"

	"learncausal/internal/files"
	"learncausal/paper/trial"
	"learncausal/pkg/graph"
	"learncausal/pkg/train"
)

// WriteTables writes results.jsonl and table.csv and returns their paths. It is an error if a run is not done.
//
// The file table.csv has a row for each run in the order of the plan. Its columns are the address of the run,
// every setting, the effective length t_eff of a forest, and the results after the last step: loss (mean over
// the test set, in nats) and attention (see [train.Spec.Attention]); the numbers of edges of the graph, of
// learned edges among them, and of other learned edges; the loss of the Bayes predictor, the excess of the
// model over it with its standard error, and the effective number of draws; the loss of Algorithm 1 and its
// attention. A missing value is empty.
func (s *Sweep) WriteTables() ([]string, error) {
	results, err := s.results()
	if err != nil {
		return nil, err
	}
	list, err := s.encodeList(results)
	if err != nil {
		return nil, err
	}
	table, err := encodeTable(s.Plan.Runs, results)
	if err != nil {
		return nil, err
	}
	if err = s.check(); err == nil {
		err = s.folder().Write(files.File{Name: listName, Data: list}, files.File{Name: tableName, Data: table})
	}
	if err != nil {
		return nil, fmt.Errorf("sweep: %w", err)
	}
	return []string{s.listPath(), filepath.Join(s.Dir, tableName)}, nil
}

const listName, tableName = "results.jsonl", "table.csv"

func (s *Sweep) folder() files.Folder { return files.Folder(s.Dir) }

// check returns an error if the folder of the results has a table.csv or a results.jsonl of someone else. Names
// of other files are addresses, or [Sweep.Submit] checks them. A cloned folder has no record of its files.
func (s *Sweep) check() error {
	if _, err := s.listed(); err != nil {
		return err
	}
	table, _ := files.Read(filepath.Join(s.Dir, tableName), 1<<30)
	if len(table) == 0 || bytes.HasPrefix(table, []byte("run,graph,length,")) {
		if err := s.folder().Adopt(listName, tableName); err != nil {
			return err
		}
	}
	return s.folder().Check(listName, tableName)
}

// A cell of table.csv has the name of its column.
type cell struct {
	column string
	value  any
}

func encodeTable(all []Run, results []*trial.Outcome) ([]byte, error) {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	for i, r := range all {
		var columns, texts []string
		for _, c := range append(settingsOf(r), resultsOf(results[i])...) {
			columns, texts = append(columns, c.column), append(texts, textOf(c.value))
		}
		if i == 0 {
			w.Write(columns) // Error returns its error
		}
		w.Write(texts)
	}
	w.Flush()
	return b.Bytes(), w.Error()
}

func textOf(value any) string {
	switch v := value.(type) {
	case trial.Number:
		return textOf(float64(v))
	case float64:
		if math.IsNaN(v) {
			return ""
		}
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	return fmt.Sprint(value)
}

func settingsOf(r Run) []cell {
	var prior, roots string
	uniform := false
	tEff := math.NaN()
	switch k := r.Spec.Task.(type) {
	case train.Task1:
		prior, roots, uniform, tEff = k.Prior, "stationary", k.UniformRoots, graph.MustNew(k.Parents...).TEff()
	case train.Task2:
		prior, roots, uniform = k.Prior, "prior", k.UniformRoots
	}
	if uniform {
		roots = "uniform"
	}
	heads, init, width, embeddings := [2]int{1, 1}, 0.0, 0, "none"
	switch m := r.Spec.Model.(type) {
	case train.Disentangled:
		heads, init = m.Heads, m.Init
	case train.MLP:
		width, embeddings = m.Width, "trained"
		if m.FixedEmbeddings {
			embeddings = "fixed"
		}
	}
	var optimiser train.AdamW // has the settings of both
	name := "adamw"
	switch o := r.Spec.Optimiser.(type) {
	case train.SGD:
		name, optimiser = "sgd", train.AdamW{Rate: o.Rate, Schedule: o.Schedule, Decay: o.Decay}
	case train.AdamW:
		optimiser = o
	}
	spec := r.Spec.Canonical()
	return []cell{
		{"run", r.Address},
		{"graph", r.Graph},
		{"length", spec.T()},
		{"states", spec.S()},
		{"prior", prior},
		{"roots", roots},
		{"model", trial.ModelName(spec.Model)},
		{"heads_1", heads[0]},
		{"heads_2", heads[1]},
		{"init", init},
		{"width", width},
		{"embeddings", embeddings},
		{"optimiser", name},
		{"schedule", optimiser.Schedule},
		{"rate", optimiser.Rate},
		{"decay", optimiser.Decay},
		{"batch", spec.Batch},
		{"steps", spec.Steps},
		{"test", spec.Test},
		{"every", spec.Every},
		{"seed", spec.Seed},
		{"t_eff", tEff},
	}
}

func resultsOf(o *trial.Outcome) []cell {
	given, learned, others := trial.CountEdges(o.Edges)
	none := trial.Number(math.NaN())
	bayes := trial.OutcomeBayes{Loss: none, Excess: none, ExcessError: none, Effective: none}
	if o.Bayes != nil {
		bayes = *o.Bayes
	}
	one := trial.OutcomeOne{Loss: none, Attention: none}
	if o.One != nil {
		one = *o.One
	}
	return []cell{
		{"diverged", o.Diverged != ""},
		{"loss", o.End().Loss},
		{"attention", o.End().Attention},
		{"edges", given},
		{"learned", learned},
		{"others", others},
		{"bayes", bayes.Loss},
		{"excess", bayes.Excess},
		{"excess_error", bayes.ExcessError},
		{"bayes_draws", bayes.Effective},
		{"algorithm_1", one.Loss},
		{"algorithm_1_attention", one.Attention},
	}
}

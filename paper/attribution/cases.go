package attribution

import (
	"context"
	_ "embed"
	"encoding/csv"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"learncausal/internal/runs"
	"learncausal/paper/figures"
	"learncausal/paper/trial"
	"learncausal/pkg/model"
	"learncausal/pkg/train"
)

// testSequences and dataSequences are the lengths of Case.Test and Case.Data.
const (
	testSequences = 32
	dataSequences = 4096
)

// Early is the step of the early state of a run of Figure 9, a quarter of its steps.
const Early = 4032

// sets are the sets of the experiments with one head in each layer.
var sets = map[string]string{"many-graphs": "disentangled", "single-parent": "disentangled", "mlp": "standard"}

// Cases returns the cases of stored runs: of set "disentangled" those of Figure 9, on twenty graphs over 3 tokens, and
// of Figure 6, on three graphs over 10 tokens; of set "early" the runs of Figure 9 at step Early; of set "standard" the
// transformers with MLPs of Figure 8, on the graphs of Figure 6. The loaded runs come from get.
func Cases(ctx context.Context, get trial.Getter) ([]Case, error) {
	var all []Case
	for _, e := range figures.All() {
		if sets[e.Name] == "" {
			continue
		}
		rs, err := e.Load(ctx, get)
		if err != nil {
			return nil, err
		}
		for _, r := range rs {
			for _, s := range r.Milestones {
				set, early := sets[e.Name], e.Name == "many-graphs" && s.Step == Early
				if early {
					set = "early"
				} else if s.Step != r.Spec.Steps {
					continue
				}
				c, err := NewCase(set, r, s)
				if err != nil {
					return nil, err
				}
				all = append(all, c)
			}
		}
	}
	return all, nil
}

// NewCase returns the case of a state of a run of Task 1. It returns an error for another task or model, and without
// weights.
func NewCase(set string, r *runs.Run, s train.Snapshot) (Case, error) {
	spec := r.Spec
	of, single := spec.Task.(train.Task1)
	w, ok := s.Weights.(model.Transformer)
	if !single || !ok {
		return Case{}, fmt.Errorf("attribution: run %s of %T with weights %T, want Task 1 and weights",
			r.Address, spec.Task, w)
	}
	c := Case{Set: set, Graph: fmt.Sprint(of.Parents), Run: r.Address, Step: s.Step, Parents: of.Parents, Model: w}
	var err1, err2 error
	spec.Test = testSequences
	c.Test, err1 = spec.TestSet()
	spec.Test = dataSequences
	c.Data, err2 = spec.TestSet()
	return c, errors.Join(err1, err2)
}

//go:embed rows.csv
var stored string

// Header is the first line of a file of rows.
const Header = "set,run,step,method,auc,learned,edges,top,kept,graph"

// CSV returns the row as a line of a file, with three decimals.
func (r Row) CSV() string {
	return fmt.Sprintf("%s,%s,%d,%s,%.3f,%.3f,%d,%.3f,%.3f,%s",
		r.Set, r.Run, r.Step, r.Method, r.AUC, r.Learned, r.Edges, r.Top, r.Kept, r.Graph)
}

// Names returns the names of the methods of rows.csv, in the order of their first rows.
func Names() ([]string, error) {
	rows, err := Stored()
	var names []string
	for _, r := range rows {
		if !slices.Contains(names, r.Method) {
			names = append(names, r.Method)
		}
	}
	return names, err
}

// Stored returns the rows of rows.csv.
func Stored() ([]Row, error) {
	lines, err := csv.NewReader(strings.NewReader(stored)).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("attribution: rows.csv: %w", err)
	}
	var rows []Row
	for k, f := range lines[1:] {
		var v [6]float64
		for i, text := range []string{f[2], f[4], f[5], f[6], f[7], f[8]} {
			if v[i], err = strconv.ParseFloat(text, 64); err != nil {
				return nil, fmt.Errorf("attribution: rows.csv:%d: %w", k+2, err)
			}
		}
		rows = append(rows, Row{f[0], f[9], f[1], int(v[0]), f[3], v[1], v[2], int(v[3]), v[4], v[5]})
	}
	return rows, nil
}

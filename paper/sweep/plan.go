// Package sweep trains many runs from a plan, a small TOML file:
//
//	keep  = "curve"                       # store no weights; the default is "weights"
//	bayes = true                          # compare each run with the Bayes predictor
//	algorithm-1 = true                    # and with Algorithm 1 on the same graph
//	prior = "orbit(0.1 0.7 0.2; 0.2 0.1 0.7; 0.1 0.1 0.8)"
//	steps = 4096
//	seed  = {from = 0, to = 4}
//
//	[[grid]]
//	graph  = ["chain", "star"]            # families need a length
//	length = [10, 20, 50]
//
//	[[grid]]
//	graph = ["figure-1", "my.dot"]
//	rate  = {from = 0.01, to = 1, times = 10}
//
// A grid has a run for every combination of its settings. A setting is a value, a list
// or a range; settings before the first grid hold for all grids. The settings are graph,
// length and the fields of [trial.Settings].
//
// [Open] reads a plan, [Sweep.Run] trains its runs on this machine or in a task of a
// Slurm job array ([Sweep.Script]), and [Sweep.WriteTables] writes their results, the
// same bytes in whatever order and on however many machines the runs were trained.
package sweep

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"learncausal/internal/names"
	"learncausal/internal/runs"
	"learncausal/paper/trial"
	"learncausal/pkg/train"
)

// A Plan is a list of runs, and how they are stored and compared.
type Plan struct {
	Runs []Run // in the order of the grids; the last setting varies fastest
	Keep Keep
	trial.Comparisons
}

// A Run is a run of a plan.
type Run struct {
	Graph   string // as the plan names it
	Spec    train.Spec
	Address string // [runs.Address] of Spec
}

// Keep is the part of a run that the store keeps. The result of a run is always kept.
type Keep string

// The values of Keep.
const (
	Weights Keep = "weights" // the run with its milestones
	Curve   Keep = "curve"   // the run without weights, a few kilobytes
)

// mostRuns is the maximal number of runs of a plan.
const mostRuns = 100_000

// mostLength is the maximal number of positions: beyond it a model takes gigabytes.
const mostLength = 1 << 14

// order has the settings of a grid, the slowest first.
var order = []string{
	"graph", "length", "states", "prior", "uniform-roots", "model", "heads", "init", "width", "fixed-embeddings",
	"optimiser", "schedule", "rate", "decay", "batch", "steps", "test", "every", "seed", "jax",
}

// read reads the plan in the file path, which has at most the given number of runs. Its
// DOT files are relative to its folder. An error names the line, the key and the value.
func read(path string, most int) (*Plan, error) {
	d, err := readDocument(path)
	if err != nil {
		return nil, err
	}
	p := &Plan{Keep: Weights}
	for _, key := range slices.Sorted(maps.Keys(d.top)) {
		switch v := d.top[key]; key {
		case "keep":
			text, _ := v.(string)
			if p.Keep = Keep(text); p.Keep != Weights && p.Keep != Curve {
				return nil, d.fault(key, 0, "keep is %v, want %q or %q", v, Weights, Curve)
			}
		case "bayes", "algorithm-1":
			on, ok := v.(bool)
			if !ok {
				return nil, d.fault(key, 0, "%s is %v, want true or false", key, v)
			}
			if key == "bayes" {
				p.Bayes = on
			} else {
				p.One = on
			}
		case "grid":
		default:
			if err := d.known(key, 0, "keep", "bayes", "algorithm-1", "grid"); err != nil {
				return nil, err
			}
		}
	}
	where := map[string]int{} // the grid of a graph's name and an address
	for i := range d.grids {
		all, err := d.expand(i+1, most-len(p.Runs), most)
		if err != nil {
			return nil, err
		}
		for _, r := range all {
			name := r.Graph + " " + r.Address
			if at, twice := where[name]; twice {
				return nil, d.fault("seed", i+1, "the run on %s with seed %d is in the plan twice, in grids %d and %d",
					r.Graph, r.Spec.Seed, at, i+1)
			}
			where[name] = i + 1
		}
		p.Runs = append(p.Runs, all...)
	}
	return p, nil
}

// known returns an error unless key is a setting. The error names the nearest settings,
// and others if they are near.
func (d *document) known(key string, grid int, others ...string) error {
	if slices.Contains(order, key) {
		return nil
	}
	near := names.Nearest(key, slices.Concat(order, others))
	return d.fault(key, grid, "no setting is named %q; near it: %s", key, strings.Join(near, ", "))
}

// expand returns the runs of a grid. It returns an error if there are more than rest, because the plan
// would then exceed its limit of most runs.
func (d *document) expand(grid, rest, most int) ([]Run, error) {
	settings := maps.Clone(d.top)
	for _, key := range slices.Sorted(maps.Keys(d.grids[grid-1])) {
		if err := d.known(key, grid); err != nil {
			return nil, err
		}
		settings[key] = d.grids[grid-1][key]
	}
	if settings["graph"] == nil {
		return nil, d.fault("grid", grid, "no graph, want one, as in graph = \"chain(12)\"")
	}
	var keys []string
	var values [][]any
	n := 1
	for _, key := range order {
		v, given := settings[key]
		if !given {
			continue
		}
		all, err := valuesOf(key, v, most)
		if err != nil {
			return nil, d.fault(key, grid, "%s: %v", key, err)
		}
		if n *= len(all); n > rest { // both are small: no overflow
			return nil, d.fault(key, grid, "the plan has more than %d runs: split it into several", most)
		}
		keys, values = append(keys, key), append(values, all)
	}
	all := make([]Run, 0, n)
	graphs := map[string]*trial.Graph{}
	for k := range n {
		choice := map[string]any{}
		for j, left := len(keys)-1, k; j >= 0; j-- {
			choice[keys[j]] = values[j][left%len(values[j])]
			left /= len(values[j])
		}
		r, err := d.run(choice, grid, graphs)
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}

// run returns the run of a choice of one value for each setting. The map graphs holds the
// graphs that have been opened.
func (d *document) run(choice map[string]any, grid int, graphs map[string]*trial.Graph) (Run, error) {
	name := fmt.Sprint(choice["graph"])
	id := fmt.Sprint(name, " ", choice["length"])
	if graphs[id] == nil {
		g, key, err := openGraph(choice["graph"], choice["length"], filepath.Dir(d.path))
		if err != nil {
			return Run{}, d.fault(key, grid, "%v", err)
		}
		graphs[id] = g
	}
	delete(choice, "graph")
	delete(choice, "length")
	s := trial.DefaultSettings()
	s.Given = func(name string) bool { return choice[name] != nil }
	text, err := json.Marshal(choice)
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	var kind *json.UnmarshalTypeError
	if errors.As(err, &kind) {
		name := kind.Field
		return Run{}, d.fault(name, grid, "%s is %v, want %s", name, choice[name], wanted(name, kind.Type.String()))
	}
	if err != nil {
		return Run{}, d.fault("grid", grid, "%v", err)
	}
	spec, err := s.Spec(graphs[id])
	var setting *trial.SettingError
	if errors.As(err, &setting) {
		return Run{}, d.fault(setting.Name, grid, "%v", err)
	}
	if err != nil {
		return Run{}, d.fault("grid", grid, "%v", err)
	}
	return Run{Graph: name, Spec: spec, Address: runs.Address(spec)}, nil
}

// wanted describes the values of a setting whose type in Go is kind.
func wanted(name, kind string) string {
	if name == "heads" {
		return "two whole numbers, as in [2, 1]"
	}
	return map[string]string{
		"int": "a whole number", "uint64": "a whole number that is not negative", "float64": "a number",
		"string": "a text in quotation marks", "bool": "true or false",
	}[kind]
}

// openGraph returns the graph of a name, or of a family and a length, which is nil if it
// is not set. With an error it returns the name of the wrong setting.
func openGraph(name, length any, dir string) (*trial.Graph, string, error) {
	text, ok := name.(string)
	if !ok {
		return nil, "graph", fmt.Errorf("graph is %v, want a text in quotation marks", name)
	}
	family := slices.Contains(trial.GraphFamilies(), text)
	switch {
	case family && length == nil:
		return nil, "graph", fmt.Errorf("graph = %q needs a length: length = 12, or \"%[1]s(12)\"", text)
	case family:
		t, ok := length.(int64)
		if !ok || t > mostLength {
			return nil, "length", fmt.Errorf("length is %v, want a whole number, at most %d", length, mostLength)
		}
		g, err := trial.GraphOfFamily(text, int(t))
		return g, "length", err
	case length != nil:
		return nil, "length", fmt.Errorf("length belongs to a family, as in \"chain\", not to graph = %q", text)
	}
	g, err := trial.OpenGraph(text, dir)
	if err == nil && g.T() > mostLength {
		err = fmt.Errorf("graph = %q has %d positions, want at most %d", text, g.T(), mostLength)
	}
	return g, "graph", err
}

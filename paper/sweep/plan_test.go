package sweep

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"learncausal/internal/files"
	"learncausal/internal/property"
	"learncausal/internal/runs"
	"learncausal/paper/figures"
	"learncausal/paper/trial"
	"learncausal/pkg/train"
)

// planOf reads a plan with a text, beside a DOT file my.dot.
func planOf(t *testing.T, text string) (*Plan, error) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"plan.toml": text, "my.dot": "digraph { s1 -> s2; s3 }"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return read(filepath.Join(dir, "plan.toml"), mostRuns)
}

func mustPlan(t *testing.T, text string) *Plan {
	t.Helper()
	p, err := planOf(t, text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestGridIsEveryCombinationTheLastSettingFastest(t *testing.T) {
	p := mustPlan(t, `
steps = 10 # of all
batch = 1

[[grid]]
length = [3, 4]
graph = ["chain", "star"]
seed = {from = 5, to = 6}

[[grid]]
graph = "my.dot"
batch = [2, 3]
steps = 20
`)
	var got []string
	for _, r := range p.Runs {
		got = append(got, fmt.Sprintf("%s %d %d %d %d", r.Graph, r.Spec.T(), r.Spec.Batch, r.Spec.Steps, r.Spec.Seed))
		if r.Address != runs.Address(r.Spec) {
			t.Errorf("address %s of %+v", r.Address, r.Spec)
		}
	}
	want := []string{
		"chain 3 1 10 5", "chain 3 1 10 6", "chain 4 1 10 5", "chain 4 1 10 6",
		"star 3 1 10 5", "star 3 1 10 6", "star 4 1 10 5", "star 4 1 10 6",
		"my.dot 3 2 20 0", "my.dot 3 3 20 0",
	}
	if !slices.Equal(got, want) {
		t.Errorf("runs %q, want %q", got, want)
	}
	if p.Keep != Weights || p.Comparisons != (trial.Comparisons{}) {
		t.Errorf("keep %s, beside %+v", p.Keep, p.Comparisons)
	}
}

func TestPlansOfOtherProgramsAreRead(t *testing.T) {
	const text = "# Sweep\r\nsteps = 10\r\ngraph = [\"my.dot\", \"chain(3)\"]\u00a0# two\r\n\r\n[[grid]]\r\nseed = 7\r\n"
	p := mustPlan(t, "\ufeff"+text+"\x00\x1a")
	if len(p.Runs) != 2 || p.Runs[1].Spec.Seed != 7 || p.Runs[0].Spec.Steps != 10 {
		t.Errorf("%+v", p.Runs)
	}
	_, err := planOf(t, "steps = 10\n# caf\xe9\n")
	property.Mentions(t, err, "line 2: the byte 0xe9")
}

func TestValuesOfRangesAndLists(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{`seed = 7`, "[7]"},
		{`seed = [3, 1, {from = 10, to = 12}]`, "[3 1 10 11 12]"},
		{`seed = {from = 0, to = 10, step = 4}`, "[0 4 8]"},
		{`seed = {from = 16, to = 1000, times = 2}`, "[16 32 64 128 256 512]"},
		{`seed = {from = 3, to = 3}`, "[3]"},
		{`rate = {from = 0.1, to = 0.5, step = 0.1}`, "[0.1 0.2 0.3 0.4 0.5]"},
		{`rate = {from = 0.001, to = 1, times = 10}`, "[0.001 0.01 0.1 1]"},
		{`heads = [2, 1]`, "[[2 1]]"},
		{`heads = [[2, 1], [1, 1]]`, "[[2 1] [1 1]]"},
		{`graph = ["figure-1", "figure-9"]`, "[figure-1 graph-0 graph-1 graph-2 graph-3 graph-4 graph-5 graph-6 graph-7 " +
			"graph-8 graph-9 graph-10 graph-11 graph-12 graph-13 graph-14 graph-15 graph-16 graph-17 graph-18 graph-19]"},
	} {
		d, err := parseDocument("plan.toml", []byte(test.text))
		if err != nil {
			t.Fatal(err)
		}
		for key, v := range d.top {
			if got, err := valuesOf(key, v, 100); err != nil || fmt.Sprint(got) != test.want {
				t.Errorf("%s: %v, %v, want %s", test.text, got, err, test.want)
			}
		}
	}
}

// Each error has the line, the key and the value, and a correct one. A plan without [[grid]] begins
// with a graph.
func TestBadPlansAreRefusedByLineKeyAndValue(t *testing.T) {
	for _, test := range []struct {
		text  string
		words []string
	}{
		{"step = 5", []string{":2:", `"step"`, "steps"}},
		{"[[grid]]\nstates = 3\nbach = 5", []string{":4:", `"bach"`, "batch"}},
		{"steps = \"many\"", []string{":2:", "steps is many", "whole number"}},
		{"seed = -1", []string{":2:", "seed is -1", "not negative"}},
		{"rate = nan", []string{":2:", "rate", "NaN"}},
		{"rate = true", []string{":2:", "rate is true", "a number"}},
		{"uniform-roots = 1", []string{":2:", "true or false"}},
		{"heads = [2, 1.5]", []string{":2:", "heads is [2 1.5]", "[2, 1]"}},
		{"heads = [2]", []string{":2:", "heads is [2]", "2,1"}},
		{"batch = 0", []string{":2:", "batch is 0", "at least 1"}},
		{"width = 3", []string{":2:", "width", "mlp"}},
		{"prior = \"dirichlt(1)\"", []string{":2:", "prior", "dirichlt", "dirichlet"}},
		{"model = [\"mlp\", \"rnn\"]", []string{":2:", `model is "rnn"`, "mlp"}},
		{"seed = []", []string{":2:", "seed", "empty"}},
		{"seed = [[1]]", []string{":2:", "seed", "list"}},
		{"seed = {from = 1}", []string{":2:", "seed", "{from = 0, to = 9}"}},
		{"seed = {from = 2, to = 1}", []string{":2:", "seed", "at most to"}},
		{"seed = {from = 1, to = 2, by = 3}", []string{":2:", `"by"`}},
		{"seed = {from = 1, to = 2, step = 0}", []string{":2:", "step above 0"}},
		{"seed = {from = 1, to = 2, times = 1}", []string{":2:", "times above 1"}},
		{"seed = {from = 0, to = 2, step = 1, times = 2}", []string{":2:", "step"}},
		{"seed = {from = \"a\", to = 2}", []string{":2:", `"from" is a`}},
		{"seed = {from = 0, to = 1e300}", []string{":2:", "seed", "more than 100000"}},
		{"batch = {from = 1, to = 1000}\nseed = {from = 0, to = 999}", []string{":3:", "100000 runs", "split"}},
		{"seed = [1, 1]", []string{":2:", "twice", "seed 1"}},
		{"[[grid]]\n[[grid]]\ngraph = [\"star(4)\", \"chain(5)\"]", []string{":3:", "twice", "grids 1 and 2"}},
		{"length = 5", []string{":2:", "length belongs to a family"}},
		{"keep = \"all\"", []string{":2:", "keep is all", "weights", "curve"}},
		{"bayes = 1", []string{":2:", "bayes is 1", "true or false"}},
		{"seed = 1\nseed = 2", []string{":3:", "seed"}},
		{"seed = = 2", []string{":2:8"}},
	} {
		_, err := planOf(t, "graph = \"chain(5)\"\n"+test.text)
		if property.Mentions(t, err, append(test.words, "plan.toml")...); err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v", test.text, err)
		}
	}
	for text, words := range map[string][]string{
		"steps = 5": {"no graph", "chain(12)"},
		"[[grid]]\nsteps = 5\n[[grid]]\ngraph = \"star(3)\"": {":1:", "no graph"},
		"graph = \"chain\"":                       {":1:", "length = 12"},
		"graph = \"chain\"\nlength = 1":           {":2:", "2 to 1048576"},
		"graph = \"chain\"\nlength = \"5\"":       {":2:", "length is 5", "whole number"},
		"graph = \"star\"\nlength = [5, 1048576]": {":2:", "length is 1048576", "at most 16384"},
		"graph = \"star(1048576)\"":               {":1:", "1048576 positions", "at most 16384"},
		"graph = 5":                               {":1:", "graph is 5", "quotation marks"},
		"graph = \"nosuch.dot\"":                  {":1:", "nosuch.dot", "DOT"},
		"grid = []":                               {":1:", "grid is empty"},
		"grid = [3]":                              {":1:", "grid is 3", "[[grid]]"},
		"[grd]\ngraph = \"star(3)\"":              {":1:", `"grd"`, "grid"},
	} {
		_, err := planOf(t, text)
		property.Mentions(t, err, append(words, "plan.toml")...)
	}
}

func TestPlanThatIsNoFileIsRefused(t *testing.T) {
	big := filepath.Join(t.TempDir(), "big.toml")
	if err := os.WriteFile(big, make([]byte, mostBytes+1), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"nosuch.toml", t.TempDir(), "/dev/zero", big} {
		if _, err := read(path, mostRuns); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: error %v", path, err)
		}
	}
}

// committed reads a plan of the project.
func committed(t *testing.T, name string) []Run {
	t.Helper()
	path, err := files.Checkout(filepath.Join("runs/sweeps", name))
	if err != nil {
		t.Fatal(err)
	}
	p, err := read(path, mostRuns)
	if err != nil {
		t.Fatal(err)
	}
	return p.Runs
}

// The runs of the paper's experiments are among those of the plans, under their
// addresses.
func TestPlansOfTheProjectHaveTheRunsOfTheExperiments(t *testing.T) {
	specs := map[string][]train.Spec{}
	for _, g := range trial.ManyGraphs() {
		specs["figure-9.toml"] = append(specs["figure-9.toml"], figures.ManyGraphsSpec(g.Graph, 0))
	}
	for _, m := range slices.Concat(figures.MultiParents(), figures.PrintedParents()) {
		for seed := range m.Seeds {
			specs["several-parents.toml"] = append(specs["several-parents.toml"], m.Spec(seed))
		}
	}
	for name, want := range specs {
		planned := map[string]bool{}
		for _, r := range committed(t, name) {
			planned[r.Address] = true
		}
		for _, s := range want {
			if !planned[runs.Address(s)] {
				t.Errorf("%s has not the run %+v", name, s)
			}
		}
	}
}

// What is stored of a sweep of this project is the outcome of each run of its plan, in
// that order and of no other run, and the table of them.
func TestSweepsOfTheProjectAreDone(t *testing.T) {
	plans, err := filepath.Glob("../../runs/sweeps/*.toml")
	if err != nil || len(plans) == 0 {
		t.Fatalf("no plans: %v", err)
	}
	for _, path := range plans {
		s, err := Open(path, "", "")
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(filepath.Base(path), ".toml")
		all, err := trial.Outcomes(name)
		if err != nil {
			t.Fatal(err)
		}
		if len(all) != len(s.Plan.Runs) {
			t.Fatalf("%s: %d outcomes of %d runs", name, len(all), len(s.Plan.Runs))
		}
		for i, o := range all {
			has := trial.Comparisons{Bayes: o.Bayes != nil, One: o.One != nil}
			if r := s.Plan.Runs[i]; o.Address != r.Address || s.Plan.Comparisons != has {
				t.Errorf("%s: outcome %d is of run %s, want %s", name, i, o.Address, r.Address)
			}
		}
		list, err := os.ReadFile(s.listPath())
		if err != nil {
			t.Fatal(err)
		}
		copied := &Sweep{Plan: s.Plan, Store: s.Store, Dir: t.TempDir()}
		if err := os.WriteFile(copied.listPath(), list, 0o666); err != nil {
			t.Fatal(err)
		}
		stored, err := os.ReadFile(filepath.Join(s.Dir, "table.csv"))
		if err != nil || !bytes.Equal(copied.table(t), stored) {
			t.Errorf("%s/table.csv is not that of results.jsonl: paper sweep runs/sweeps/%[1]s.toml writes it; %v", name, err)
		}
	}
}

// Whatever a plan says, it is refused with a place or has runs that can be trained.
func FuzzRead(f *testing.F) {
	for _, text := range []string{
		"graph = \"chain(5)\"\nseed = {from = 0, to = 3}\n", "[[grid]]\ngraph = \"star\"\nlength = [2, 3]\n",
		"keep = \"curve\"\nbayes = true\nheads = [[1, 1]]\ngraph = \"figure-1\"\n", "grid = [{graph = \"figure-6\"}]",
		"[grid]\n", "a.b.c = 1\n", "graph = \"star(2)\"\nrate = {from = 1e-3, to = 1.0, times = 1.0000001}\n",
	} {
		f.Add(text)
	}
	path := filepath.Join(f.TempDir(), "plan.toml")
	f.Fuzz(func(t *testing.T, text string) {
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		p, err := read(path, 50)
		if err != nil {
			if !strings.Contains(err.Error(), path) {
				t.Errorf("no place in %v", err)
			}
			return
		}
		if len(p.Runs) == 0 || len(p.Runs) > 50 {
			t.Errorf("%d runs", len(p.Runs))
		}
		for _, r := range p.Runs {
			if err := r.Spec.Validate(); err != nil {
				t.Error(err)
			}
		}
	})
}

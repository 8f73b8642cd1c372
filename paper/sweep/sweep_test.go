package sweep

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"learncausal/internal/files"
	"learncausal/internal/property"
	"learncausal/internal/runs"
	"learncausal/paper/trial"
	"learncausal/pkg/train"
)

// quickPlan takes a tenth of a second. The second run of the last grid diverges.
const quickPlan = `
bayes = true
algorithm-1 = true
steps = 40
batch = 16
test = 8

[[grid]]
graph = ["chain", "star"]
length = [4, 6]
seed = {from = 0, to = 1}

[[grid]]
graph = ["trigram(5)", "figure-1"]
rate = [0.01, 1e300]
optimiser = "sgd"
`

func newSweep(t *testing.T, plan string) *Sweep {
	t.Helper()
	dir := t.TempDir()
	return &Sweep{Plan: mustPlan(t, plan), Store: runs.Open(filepath.Join(dir, "runs")), Dir: dir}
}

// quiet is a meter that remembers.
type quiet struct {
	mu   sync.Mutex
	seen []int
}

func (q *quiet) Update(done, _ int, _ string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.seen = append(q.seen, done)
}
func (*quiet) Done(string) {}

func (s *Sweep) mustRun(t *testing.T, jobs int, which ...int) {
	t.Helper()
	if err := s.Run(t.Context(), which, jobs, &quiet{}); err != nil {
		t.Fatal(err)
	}
}

func all(s *Sweep) (which []int) {
	for i := range s.Plan.Runs {
		which = append(which, i)
	}
	return which
}

// table returns the bytes of table.csv.
func (s *Sweep) table(t *testing.T) []byte {
	t.Helper()
	paths, err := s.WriteTables()
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(paths[1])
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestTablesDoNotDependOnTheOrder(t *testing.T) {
	one, other := newSweep(t, quickPlan), newSweep(t, quickPlan)
	var q quiet
	if err := one.Run(t.Context(), all(one), 3, &q); err != nil {
		t.Fatal(err)
	}
	const units = 1_000_000
	if !slices.IsSorted(q.seen) || q.seen[0] > units/10 || q.seen[len(q.seen)-1] != units {
		t.Errorf("the meter showed %v of %d", q.seen, units)
	}
	backwards := all(other)
	slices.Reverse(backwards)
	for len(backwards) > 0 {
		n := min(5, len(backwards))
		other.mustRun(t, 1, backwards[:n]...)
		backwards = backwards[n:]
		if _, err := other.WriteTables(); (err == nil) != (len(backwards) == 0) {
			t.Errorf("tables with %d runs missing: %v", len(backwards), err)
		}
	}
	if a, b := one.table(t), other.table(t); !bytes.Equal(a, b) {
		t.Errorf("tables differ:\n%s\n%s", a, b)
	}
}

// cells returns the table by run and column.
func cells(t *testing.T, table []byte) []map[string]string {
	t.Helper()
	lines, err := csv.NewReader(bytes.NewReader(table)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var out []map[string]string
	for _, line := range lines[1:] {
		row := map[string]string{}
		for j, name := range lines[0] {
			row[name] = line[j]
		}
		out = append(out, row)
	}
	return out
}

func TestTableHasTheResultOfEachRun(t *testing.T) {
	s := newSweep(t, quickPlan)
	s.mustRun(t, 2, all(s)...)
	rows := cells(t, s.table(t))
	if len(rows) != 12 {
		t.Fatalf("%d rows", len(rows))
	}
	for i, row := range rows {
		r := s.Plan.Runs[i]
		if row["run"] != r.Address || row["graph"] != r.Graph || row["seed"] != strconv.Itoa(int(r.Spec.Seed)) {
			t.Errorf("row %d is %v", i, row)
		}
		if row["diverged"] == "true" {
			if row["rate"] != "1e+300" || row["loss"] != "" || row["excess"] != "" {
				t.Errorf("row %d is %v", i, row)
			}
			continue
		}
		run, err := s.Store.Get(t.Context(), r.Spec, runs.Options{})
		if err != nil || run.Origin != runs.Loaded {
			t.Fatalf("%v, %v", run, err)
		}
		own, err := trial.Measure(t.Context(), run)
		if err != nil {
			t.Fatal(err)
		}
		one, err := trial.AlgorithmOne(r.Spec)
		if err != nil {
			t.Fatal(err)
		}
		given, found, others := own.Found()
		end := run.Curve[len(run.Curve)-1]
		bayes := own.References[slices.IndexFunc(own.References, func(r trial.Reference) bool { return r.Name == "Bayes" })]
		all := map[string]float64{
			"loss": end.Loss, "attention": end.Attention, "edges": float64(given), "learned": float64(found),
			"others": float64(others), "bayes": bayes.Loss.Mean, "excess": bayes.ModelLess.Mean,
			"excess_error": bayes.ModelLess.StdErr, "length": float64(r.Spec.T()), "steps": 40, "every": 1,
		}
		if _, has := r.Spec.Task.(train.Task1); has {
			all["algorithm_1"], all["algorithm_1_attention"] = float64(one.Loss), float64(one.Attention)
		} else if row["algorithm_1"] != "" || row["algorithm_1_attention"] != "" {
			t.Errorf("row %d is %v", i, row)
		}
		for name, want := range all {
			if got, err := strconv.ParseFloat(row[name], 64); err != nil || got != want {
				t.Errorf("row %d: %s is %q, want %v", i, name, row[name], want)
			}
		}
	}
	if got := []string{rows[0]["t_eff"], rows[4]["t_eff"], rows[8]["t_eff"]}; !slices.Equal(got, []string{"4", "2", ""}) {
		t.Errorf("effective lengths %q", got)
	}
}

func TestFinishedRunsAreSkipped(t *testing.T) {
	s := newSweep(t, quickPlan)
	s.mustRun(t, 2, 0, 3)
	missing, err := s.Missing()
	if err != nil || len(missing) != 10 || slices.Contains(missing, 0) || slices.Contains(missing, 3) {
		t.Errorf("missing %v, %v", missing, err)
	}
	st, err := s.Status()
	if err != nil || st.Done != 2 || st.Left != 10 || st.Failed+st.Begun != 0 {
		t.Errorf("status %+v, %v", st, err)
	}
	// A result without a comparison of the plan does not count.
	s.Plan.Bayes = false
	s.mustRun(t, 1, 5)
	if missing, _ := s.Missing(); slices.Contains(missing, 5) {
		t.Error("run 5 is not done")
	}
	s.Plan.Bayes = true
	if missing, _ := s.Missing(); !slices.Contains(missing, 5) {
		t.Error("run 5 is done without the Bayes predictor")
	}
	s.Plan.One = false
	s.mustRun(t, 1, 6)
	s.Plan.One = true
	if missing, _ := s.Missing(); !slices.Contains(missing, 6) {
		t.Error("run 6 is done without Algorithm 1")
	}
}

func TestCurveKeepsNoWeightsAndTheSameResults(t *testing.T) {
	const plan = "graph = \"chain(5)\"\nsteps = 300\nbatch = 16\ntest = 50\nseed = [0, 1]\n"
	whole, light := newSweep(t, plan), newSweep(t, "keep = \"curve\"\n"+plan)
	whole.mustRun(t, 1, 0, 1)
	light.mustRun(t, 1, 0, 1)
	if !bytes.Equal(whole.table(t), light.table(t)) {
		t.Error("tables differ")
	}
	path := light.resultPath(light.Plan.Runs[0].Address)
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	light.mustRun(t, 1, 0) // which retrains it, in the same bytes
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
		t.Errorf("another result: %v", err)
	}
	weights, _ := filepath.Glob(filepath.Join(light.Store.Dir, "*", "weights*"))
	if len(weights) > 0 {
		t.Errorf("kept %q", weights)
	}
}

func TestDamagedResultIsRefused(t *testing.T) {
	s := newSweep(t, quickPlan)
	s.mustRun(t, 1, 0, 1)
	path := s.resultPath(s.Plan.Runs[0].Address)
	good, err1 := os.ReadFile(path)
	other, err2 := os.ReadFile(s.resultPath(s.Plan.Runs[1].Address))
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	for _, bad := range [][]byte{good[:len(good)/2], {}, append(slices.Clone(good), ' '), other, []byte("null\n")} {
		if err := os.WriteFile(path, bad, 0o666); err != nil {
			t.Fatal(err)
		}
		_, err := s.Missing()
		property.Mentions(t, err, path, "delete it")
	}
}

// Weights are listed by run.json, whatever the folders are called. If a plan that kept curves keeps
// weights later, its runs are retrained to the same result.
func TestWeightsOfRunsWithCurvesAreMissing(t *testing.T) {
	s := newSweep(t, quickPlan)
	s.Store.Dir = filepath.Join(t.TempDir(), "lr[1]")
	s.Plan.Keep = Curve
	s.mustRun(t, 2, 0, 1, 11) // the last of these diverges, and has none
	first, err := s.encoded(0)
	if err != nil {
		t.Fatal(err)
	}
	half := filepath.Join(s.Store.Dir, s.Plan.Runs[1].Address, "weights-40.npz")
	if err := os.WriteFile(half, []byte("half"), 0o666); err != nil {
		t.Fatal(err)
	}
	s.Plan.Keep = Weights
	missing, err := s.Missing()
	if err != nil || len(missing) != 11 || slices.Contains(missing, 11) {
		t.Errorf("missing %v, %v", missing, err)
	}
	s.mustRun(t, 1, 0)
	if missing, err := s.Missing(); err != nil || len(missing) != 10 || slices.Contains(missing, 0) {
		t.Errorf("with the weights of run 0: missing %v, %v", missing, err)
	}
	if again, err := s.encoded(0); err != nil || !bytes.Equal(again, first) {
		t.Errorf("another result: %v", err)
	}
}

// A run that another process has finished meanwhile is not retrained, nor is a finished run
// that is loaded without weights.
func TestRunsOfOtherProcessesAreNotRetrained(t *testing.T) {
	s := newSweep(t, quickPlan)
	for _, s.Plan.Keep = range []Keep{Curve, Weights} {
		s.mustRun(t, 1, 0)
		var q quiet
		if err := s.do(t.Context(), 0, runs.Options{Meter: &q}); err != nil || len(q.seen) > 0 {
			t.Errorf("keeping %s: %d messages of training, %v", s.Plan.Keep, len(q.seen), err)
		}
	}
}

// An error before the interruption is returned, and a failed task does not count as done.
func TestErrorsBeforeAnInterruptionAreReturned(t *testing.T) {
	s := newSweep(t, quickPlan)
	ctx, stop := context.WithCancel(t.Context())
	differs := errors.New("it differs")
	do := func(context.Context, runs.Options) error { stop(); return differs }
	var m lastWords
	err := Each(ctx, []Task{{s.Plan.Runs[0].Spec, do}, {s.Plan.Runs[1].Spec, do}}, 1, &m)
	if !errors.Is(err, differs) || !errors.Is(err, context.Canceled) ||
		!strings.HasPrefix(string(m), "stopped with 0 of 2") {
		t.Errorf("error %v; the meter said %q", err, m)
	}
}

// lastWords is a meter that remembers the end.
type lastWords string

func (*lastWords) Update(int, int, string) {}
func (l *lastWords) Done(status string)    { *l = lastWords(status) }

// The cost is the sum over the runs; a run whose weights are stored costs nothing.
func TestCostCountsTrainedRuns(t *testing.T) {
	s := newSweep(t, quickPlan)
	cost := func(which ...int) Cost {
		shares := 0
		c, err := s.Cost(t.Context(), which, func(float64) { shares++ })
		if err != nil || (c.CPU > 0) != (shares > 0) {
			t.Fatalf("%d measurements, %+v, %v", shares, c, err)
		}
		return c
	}
	one, both := cost(1), cost(0, 1)
	if one.CPU <= 0 || one.Longest != one.CPU || both.Longest >= both.CPU || both.Disk != 2*one.Disk {
		t.Errorf("one run takes %+v, two %+v", one, both)
	}
	s.mustRun(t, 1, 0)
	if err := os.Remove(filepath.Join(s.Dir, "results", s.Plan.Runs[0].Address+".json")); err != nil {
		t.Fatal(err)
	}
	if missing, err := s.Missing(); err != nil || !slices.Contains(missing, 0) {
		t.Fatalf("missing %v, %v", missing, err)
	}
	if stored, rest := cost(0), cost(0, 1); stored != (Cost{}) || rest.Disk != one.Disk {
		t.Errorf("a run that is stored takes %+v, with one that is not %+v", stored, rest)
	}
}

// Two runs that each fit into the memory are refused where both do not, before a step.
func TestRunsThatDoNotFitTogetherAreRefused(t *testing.T) {
	s := newSweep(t, "graph = \"chain(300)\"\nbatch = 8\ntest = 8\nsteps = 2\nseed = [0, 1]\n")
	memory := func(jobs int, which ...int) float64 {
		bytes, err := s.Memory(which, jobs)
		if err != nil {
			t.Fatal(err)
		}
		return bytes
	}
	one, both := memory(1, 0, 1), memory(2, 0, 1)
	if both != 2*one || memory(1, 1) != one || memory(2, 1) <= one || memory(2) != 0 {
		t.Errorf("%v bytes for one run, %v for both", one, both)
	}
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(int64(1.5 * one)))
	property.Mentions(t, s.Run(t.Context(), []int{0, 1}, 2, &quiet{}), "the largest 2 runs")
	if missing, err := s.Missing(); err != nil || len(missing) != 2 {
		t.Errorf("missing %v, %v", missing, err)
	}
	if err := s.Run(t.Context(), []int{0, 1}, 1, &quiet{}); err != nil {
		t.Errorf("one after another: %v", err)
	}
}

// The script has the exit code of its task, also if the task ends at once or the script is
// terminated first.
func TestScriptEndsAsItsTask(t *testing.T) {
	s := newSweep(t, quickPlan)
	for task, want := range map[string]int{
		"exit 0": 0, "exit 3": 3, "sleep 0.2; exit 4": 4, "kill -TERM $PPID; sleep 0.2; exit 5": 5,
	} {
		program := filepath.Join(t.TempDir(), "task")
		if err := os.WriteFile(program, []byte("#!/bin/bash\n"+task+"\n"), 0o777); err != nil {
			t.Fatal(err)
		}
		text, err := s.Script(Job{Tasks: 1, Command: []string{program}})
		if err != nil {
			t.Fatal(err)
		}
		for range 5 {
			c := exec.Command("bash", "-c", text)
			if err := c.Run(); c.ProcessState == nil || c.ProcessState.ExitCode() != want {
				t.Fatalf("task %q: %v, want code %d", task, err, want)
			}
		}
	}
}

// Devices never end.
func TestStatusReadsOnlyRegularFiles(t *testing.T) {
	s := newSweep(t, quickPlan)
	s.mustRun(t, 1, 0)
	path := s.failurePath(s.Plan.Runs[1].Address)
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/dev/zero", path); err != nil {
		t.Skip(err)
	}
	if st, err := s.Status(); err != nil || st.Failed != 0 {
		t.Errorf("%+v, error %v", st, err)
	}
}

// Of a sweep that is done, the file of its results is all that has to be kept.
func TestResultsInOneFileAreDone(t *testing.T) {
	const plan = "keep = \"curve\"\ngraph = \"chain(5)\"\nsteps = 30\nbatch = 16\ntest = 50\nseed = {from = 0, to = 3}\n"
	s := newSweep(t, plan)
	s.mustRun(t, 2, 0, 1, 2, 3)
	table := s.table(t)
	list, err := os.ReadFile(s.listPath())
	if err != nil {
		t.Fatal(err)
	}
	// in is the sweep of a plan in a new folder that has only the file.
	in := func(plan string, list []byte) *Sweep {
		s := newSweep(t, plan)
		if err := os.WriteFile(s.listPath(), list, 0o666); err != nil {
			t.Fatal(err)
		}
		return s
	}
	again := in(plan, list)
	if !bytes.Equal(again.table(t), table) {
		t.Error("another table")
	}
	// A smaller plan loses nothing, and a larger one has only the rest to do.
	smaller := in(strings.Replace(plan, "to = 3", "to = 1", 1), list)
	smaller.table(t)
	if after, err := os.ReadFile(smaller.listPath()); err != nil || len(after) != len(list) {
		t.Errorf("%d bytes of results, want %d; %v", len(after), len(list), err)
	}
	larger := in(strings.Replace(plan, "to = 3", "to = 5", 1), list)
	if missing, err := larger.Missing(); err != nil || !slices.Equal(missing, []int{4, 5}) {
		t.Errorf("missing %v, %v", missing, err)
	}
	for name, bad := range map[string][]byte{
		"cut off": list[:len(list)-5],
		"a space": append([]byte(" "), list...),
		"no sum":  list[files.SumLine:],
		"no JSON": files.AddSum(append(slices.Clone(list), "x\n"...), "}"),
	} {
		if _, err := in(plan, bad).Missing(); err == nil || !strings.Contains(err.Error(), "results.jsonl refused") {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

func TestFailureOfARunDoesNotKeepTheOthers(t *testing.T) {
	s := newSweep(t, quickPlan)
	address := s.Plan.Runs[0].Address
	in := filepath.Join(s.Store.Dir, address)
	if err := os.MkdirAll(in, 0o777); err != nil { // a folder without a run
		t.Fatal(err)
	}
	err := s.Run(t.Context(), all(s), 2, &quiet{})
	property.Mentions(t, err, address)
	st, err := s.Status()
	if err != nil || st.Done != 11 || st.Failed != 1 || len(st.Failures) != 1 || st.Diverged != 2 {
		t.Errorf("status %+v, %v", st, err)
	}
	if err := os.Remove(in); err != nil {
		t.Fatal(err)
	}
	s.mustRun(t, 1, 0)
	if st, err := s.Status(); err != nil || st.Done != 12 || st.Failed != 0 {
		t.Errorf("status %+v, %v", st, err)
	}
}

func TestStoppedSweepGoesOnToTheSameBytes(t *testing.T) {
	const plan = "graph = \"chain(6)\"\nsteps = 8000\nbatch = 64\ntest = 50\nseed = {from = 0, to = 2}\n"
	whole, parts := newSweep(t, plan), newSweep(t, plan)
	whole.mustRun(t, 2, 0, 1, 2)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := parts.Run(ctx, []int{0, 1, 2}, 2, &quiet{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("error %v", err)
	}
	st, err := parts.Status()
	if err != nil || st.Begun == 0 || st.Failed > 0 {
		t.Errorf("status %+v, %v", st, err)
	}
	parts.mustRun(t, 2, 0, 1, 2)
	if !bytes.Equal(whole.table(t), parts.table(t)) {
		t.Error("tables differ")
	}
}

func TestScriptIsRefusedWhereSlurmWouldMisreadIt(t *testing.T) {
	s := newSweep(t, quickPlan)
	text, err := s.Script(Job{Tasks: 3, Options: []string{"--time=1:00:00"}, Command: []string{"/a b/paper", "it's"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{
		"#SBATCH --array=0-2\n", "#SBATCH --time=1:00:00\n", `'/a b/paper' 'it'\''s' --jobs`,
		`ID/3"`,
	} {
		if !strings.Contains(text, word) {
			t.Errorf("no %s in\n%s", word, text)
		}
	}
	for _, j := range []Job{
		{Tasks: 0},
		{Tasks: 1, Options: []string{"time=3"}},
		{Tasks: 1, Options: []string{"--a\nrm"}},
	} {
		if _, err := s.Script(j); err == nil {
			t.Errorf("%+v: no error", j)
		}
	}
	s.Dir = filepath.Join(s.Dir, "100%")
	if _, err := s.Script(Job{Tasks: 1}); err == nil || !strings.Contains(err.Error(), "%") {
		t.Errorf("folder %s: %v", s.Dir, err)
	}
}

// Files of someone else in the folder of a sweep stay, and are reported before a run is trained or submitted.
func TestFilesOfOthersStay(t *testing.T) {
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "sbatch"), []byte("#!/bin/sh\n"), 0o777); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	const mine = "mine, and older\n"
	for name, what := range map[string]string{
		"table.csv": "run, submit", "results.jsonl": "run, submit", "slurm.sh": "submit", "failed/notes.txt": "",
		"results/notes.txt": "",
	} {
		s := newSweep(t, quickPlan)
		path := filepath.Join(s.Dir, name)
		err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte(mine), 0o666))
		if err != nil {
			t.Fatal(err)
		}
		_, submitted := s.Submit(t.Context(), Job{Tasks: 2})
		for step, err := range map[string]error{"run": s.Run(t.Context(), []int{0}, 1, &quiet{}), "submit": submitted} {
			refused := strings.Contains(what, step)
			if (err != nil) != refused || refused && !strings.Contains(err.Error(), path) {
				t.Errorf("%s: %s: error %v, want %t", name, step, err, refused)
			}
		}
		if b, err := os.ReadFile(path); string(b) != mine || err != nil {
			t.Errorf("%s is now %q, %v", name, b, err)
		}
		if all, err := s.Store.Addresses(); len(all) > 0 && strings.Contains(what, "run") || err != nil {
			t.Errorf("%s: %d runs were trained, %v", name, len(all), err)
		}
	}
}

// The estimate of a run that diverges at once is the time of its steps.
func TestCostOfADivergingRun(t *testing.T) {
	s := newSweep(t, quickPlan)
	right, err1 := s.Cost(t.Context(), []int{8}, func(float64) {})
	diverging, err2 := s.Cost(t.Context(), []int{11}, func(float64) {})
	if err1 != nil || err2 != nil || diverging.CPU > 50*right.CPU {
		t.Errorf("%v, and %v of one that diverges; %v, %v", right.CPU, diverging.CPU, err1, err2)
	}
}

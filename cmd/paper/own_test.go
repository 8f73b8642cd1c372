package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"learncausal/internal/property"
	"learncausal/internal/runs"
	"learncausal/paper/figures"
	"learncausal/paper/trial"
	"learncausal/pkg/graph"
	"learncausal/pkg/train"
)

const forest = "digraph { s1 -> {s2 s3}; s2 -> s4; s3 -> s5; s6 }\n"

// quickly are settings with which training takes a tenth of a second.
var quickly = []string{"--batch", "64", "--test", "200", "--seed", "3", "--steps", "512"}

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// content returns the files below a folder.
func content(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) == ".lock" {
			return err
		}
		b, err := os.ReadFile(path)
		rel, _ := filepath.Rel(dir, path)
		files[rel] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestTrainOnAUserGraph(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	dot := write(t, "my.dot", forest)
	text := output(t, append([]string{"train", dot, "--out", dir, "--states", "2"}, quickly...)...)
	files := content(t, dir)
	for _, name := range []string{
		"weights.npz", "curve.csv", "given.dot", "learned.dot", "summary.txt", "summary.json",
		"graph.png", "graph.svg", "graph.pdf", "graph.tex", "curve.png", "weights.png",
	} {
		if files[name] == "" {
			t.Errorf("%s is missing", name)
		}
	}
	says(t, text, files["summary.txt"])
	given, err1 := graph.ReadForest(strings.NewReader(files["given.dot"]))
	_, err2 := graph.ReadForest(strings.NewReader(files["learned.dot"]))
	if err := errors.Join(err1, err2); err != nil || given.String() != "[-1 0 0 1 2 -1]" {
		t.Errorf("given.dot: %v, %v", given, err)
	}
	var s struct {
		Run        string
		Spec       train.Spec
		References []struct {
			Name      string
			Loss      struct{ Mean, StdErr float64 }
			Draws     int
			Effective float64 `json:"effective_draws"`
		}
	}
	if err := json.Unmarshal([]byte(files["summary.json"]), &s); err != nil {
		t.Fatal(err)
	}
	if s.Spec.Seed != 3 || s.Spec.Steps != 512 || s.Spec.S() != 2 || s.Spec.T() != 6 {
		t.Errorf("trained %+v", s.Spec)
	}
	loss := map[string]float64{}
	for _, r := range s.References {
		loss[r.Name] = r.Loss.Mean
		if r.Name == "Bayes" && !(r.Draws > 0 && r.Effective > 100) {
			t.Errorf("Bayes with %d draws, of which %v count", r.Draws, r.Effective)
		}
	}
	if !(loss["knows the transition matrix"] < loss["Bayes"] && loss["Bayes"] < loss["uniform"]) ||
		math.Abs(loss["uniform"]-math.Ln2) > 1e-12 {
		t.Errorf("losses %v", loss)
	}
	if output(t, append([]string{"train", dot, "--out", dir, "--states", "2"}, quickly...)...) != text {
		t.Error("a second call prints something else")
	}
	store := filepath.Join(dir, "runs")
	for _, args := range [][]string{{dir}, {filepath.Join(store, s.Run)}, {s.Run[:6], "--store", store}} {
		says(t, output(t, append([]string{"show"}, args...)...), s.Run, "all 512 steps", "192 320 448 512\n")
	}
	says(t, output(t, "list", "--store", store), s.Run, " figure-1 ", " dirichlet(0.1) ", " 1,1 heads ", "test loss")
	if got := output(t, "list", "--store", dir); got != output(t, "list", "--store", store) {
		t.Errorf("the folder of train lists\n%s", got)
	}
}

// The figures of a run fit a width and name the blocks of the weights as the paper's figures do.
func TestFiguresOfARunAreExported(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	output(t, append([]string{"train", "figure-1", "--out", dir, "--states", "2"}, quickly...)...)
	figures := filepath.Join(t.TempDir(), "figures")
	output(t, "export", "--run", dir, "-o", figures, "--width", "84mm", "weights", "curve")
	drawn := content(t, figures)
	if drawn["out-weights.pdf"] == "" || drawn["out-curve.tex"] == "" || drawn["out-graph.tex"] != "" {
		t.Errorf("the figures of the run are %v", slices.Sorted(maps.Keys(drawn)))
	}
	says(t, drawn["out-curve.csv"], "panel,series,x,y,error,value\n", ",512,")
	says(t, drawn["captions.tex"], "\\capOutWeights", "\\capOutCurve")
	says(t, drawn["out-weights.tex"], "{$X$}", "{Position}")
	refused(t, []string{"graph, curve and"}, "export", "--run", dir, "-o", figures, "losses")
	refused(t, []string{"-o"}, "export", "--run", dir)
	refused(t, []string{"5pt", "6pt to 72pt"}, "export", "-o", figures, "--width", "84mm", "--type", "5pt", "fig-ood")
}

func TestInterruptedTrainingGoesOnToTheSameBytes(t *testing.T) {
	dot, dir := write(t, "my.dot", forest), t.TempDir()
	args := func(out string) []string {
		return []string{"train", dot, "--batch", "256", "--test", "100", "--steps", "2000", "--out", filepath.Join(dir, out)}
	}
	output(t, args("whole")...)
	ctx, cancel := context.WithTimeout(t.Context(), 150*time.Millisecond)
	defer cancel()
	err := run(ctx, &strings.Builder{}, args("parts"))
	if err == nil {
		t.Skip("the machine is too fast to interrupt it")
	}
	property.Mentions(t, err, "resumes")
	refused(t, []string{"step", "resumes"}, "predict", filepath.Join(dir, "parts"))
	store := filepath.Join(dir, "parts", "runs")
	begun, err := runs.Open(store).Unfinished()
	if err != nil || len(begun) != 1 {
		t.Fatalf("%d runs are begun, %v", len(begun), err)
	}
	for _, args := range [][]string{{filepath.Join(dir, "parts")}, {begun[0].Address[:6], "--store", store}} {
		text := output(t, append([]string{"show"}, args...)...)
		says(t, text, begun[0].Address, "states      3", "interrupted", "of 2000", "test loss", "checkpoint")
	}
	row := regexp.MustCompile(begun[0].Address + ` +figure-1 +6 +3 .* \d+ of 2000 +0 .*interrupted`)
	if listed := output(t, "list", "--store", store); !row.MatchString(listed) {
		t.Errorf("list: %s", listed)
	}
	says(t, output(t, append(args("parts"), "-n")...), "would resume at step")
	output(t, args("parts")...)
	if !maps.Equal(content(t, filepath.Join(dir, "whole")), content(t, filepath.Join(dir, "parts"))) {
		t.Error("a run that was stopped has other files")
	}
}

func TestDryRunWritesNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	text := output(t, append([]string{"train", "chain(8)", "-n", "-o", dir, "--decay", "0.125"}, quickly...)...)
	says(t, text, "parameters", "time", "memory", "512 steps", "0.125")
	if _, err := os.Stat(dir); err == nil {
		t.Errorf("%s was made", dir)
	}
	text = output(t, "train", "-n")
	for _, e := range figures.All() {
		line := fmt.Sprintf(`(?m)^%s +%d +%[2]d +0$`, e.Name, len(e.Specs))
		if !regexp.MustCompile(line).MatchString(text) {
			t.Errorf("no line %s in\n%s", line, text)
		}
	}
	root := newRoot() // with a graph on standard input
	var out bytes.Buffer
	root.SetIn(strings.NewReader(forest))
	root.SetOut(&out)
	root.SetArgs([]string{"train", "-", "-n"})
	if err := root.ExecuteContext(t.Context()); err != nil {
		t.Error(err)
	}
	says(t, out.String(), "s1 -> s2, s1 -> s3, s2 -> s4")
}

// A run that needs too much memory is refused before any output. There is no advice to allow
// more than any machine has.
func TestTooMuchMemoryIsRefusedAtOnce(t *testing.T) {
	for _, dry := range []string{"--dry-run=true", "--dry-run=false"} {
		dir := filepath.Join(t.TempDir(), "out")
		refused(t, []string{"GiB of memory for training"}, "train", "chain(6000)", dry, "-o", dir)
		if _, err := os.Stat(dir); err == nil {
			t.Errorf("%s: %s was made", dry, dir)
		}
	}
	err := run(t.Context(), io.Discard, []string{"train", "chain(8)", "-n", "--heads", "1000000000,1"})
	if property.Mentions(t, err, "--heads is 1000000000,1"); err != nil && strings.Contains(err.Error(), "GOMEMLIMIT") {
		t.Errorf("error %v", err)
	}
}

func TestTimesWithoutEndAreNamed(t *testing.T) {
	for _, steps := range []string{"9223372036854775807", "9000000000000000000"} {
		args := append([]string{"train", "chain(8)", "-n", "-o", t.TempDir()}, quickly...)
		text := output(t, append(args, "--steps", steps)...)
		if !strings.Contains(text, "more than 290 years") || regexp.MustCompile(` -\d|-1s`).MatchString(text) {
			t.Errorf("%s steps: %s", steps, text)
		}
	}
}

func TestDryRunShowsTheFirstEdges(t *testing.T) {
	for arg, want := range map[string]string{
		"chain(5)":     "edges       s1 -> s2, s2 -> s3, s3 -> s4\n",
		"chain(300)":   "and 268 more\n",
		"trigram(300)": "edges       s1 -> s3, s2 -> s3, s2 -> s4,",
	} {
		text := output(t, append([]string{"train", arg, "-n", "--batch", "1", "--test", "2"}, "--steps", "2")...)
		if !strings.Contains(text, want) {
			t.Errorf("%s: no %q in\n%s", arg, want, text)
		}
		for line := range strings.Lines(text) {
			if len(line) > 500 {
				t.Errorf("%s: %s", arg, line)
			}
		}
	}
}

// On a graph so large a single step takes seconds.
func TestMeasuringIsStoppedAtOnce(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	begun := time.Now()
	err := run(ctx, io.Discard, []string{"train", "chain(1000)", "-n", "--steps", "10"})
	if took := time.Since(begun); !errors.Is(err, context.DeadlineExceeded) || took > 2*time.Second {
		t.Errorf("error %v after %v", err, took)
	}
}

// The estimate is within a factor of 4 of the training time, unless the machine is busy.
func TestCostEstimatesTheTrainingTime(t *testing.T) {
	spec := train.Spec{
		Task:  train.Task1{Parents: graph.Chain(12).Parents(), States: 5, Prior: "dirichlet(0.1)"},
		Model: train.Disentangled{Heads: [2]int{1, 1}}, Optimiser: train.SGD{Rate: 1, Schedule: train.Constant},
		Batch: 256, Steps: 800, Test: 2000, Every: 100,
	}
	ratio := 0.0
	for try := 0; try < 4 && !(ratio > 0.25 && ratio < 4); try++ {
		cost, err := trial.MeasureCost(t.Context(), spec, 1)
		if err != nil {
			t.Fatal(err)
		}
		begun := time.Now()
		trainer, err := train.New(spec, 1)
		if err != nil {
			t.Fatal(err)
		}
		trainer.Advance(spec.Steps)
		ratio = cost.Total().Seconds() / time.Since(begun).Seconds()
		d := 5 + 12
		if want := d*d + 2*d*2*d + 4*d*5; cost.Parameters != want || cost.Evaluations != 9 {
			t.Errorf("%d parameters, want %d, and %d evaluations, want 9", cost.Parameters, want, cost.Evaluations)
		}
	}
	if !(ratio > 0.25 && ratio < 4) {
		t.Errorf("the estimate is %v of the time", ratio)
	}
}

func TestEveryKindOfRunIsTrained(t *testing.T) {
	if testing.Short() {
		t.Skip("slow: draws the figures of seven runs")
	}
	dag := write(t, "dag.dot", "digraph { {s1 s2} -> s3; {s2 s3} -> s4; {s3 s4} -> y }")
	for _, test := range []struct {
		args []string
		want []string
	}{
		{[]string{dag}, []string{"task 2", "Bayes", "parent 2 of 2", "serves the label"}},
		{
			[]string{dag, "--uniform-roots", "--heads", "2,2", "--optimiser", "sgd", "--rate", "0.5"},
			[]string{"task 2", "SGD"},
		},
		{[]string{"trigram(6)", "--schedule", "cosine", "--decay", "1e-4"}, []string{"task 2"}},
		{[]string{"binary-tree(7)", "--model", "mlp", "--width", "6"}, []string{"MLPs", "edges", "no figure of the weights"}},
		{[]string{"star(5)", "--uniform-roots"}, []string{
			"task 1",
			"Bayes: 250 draws for each of 50 sequences, effective sample size 250",
		}},
		{[]string{"star(5)", "--model", "mlp", "--fixed-embeddings"}, []string{"MLPs"}},
		{[]string{"in-context(5)", "--prior", "orbit(0.7 0.3; 0.4 0.6)", "--states", "2"}, []string{"orbit", "Bayes"}},
		{[]string{"figure-1", "--prior", "dirichlet(0.10)", "--init", "0.1", "--heads", "2,1"}, []string{"dirichlet(0.1)"}},
	} {
		dir := t.TempDir()
		args := append([]string{"train", "-o", dir, "--batch", "16", "--test", "50", "--steps", "20"}, test.args...)
		text := output(t, args...)
		says(t, text, append(test.want, "edges learned")...)
		if strings.Contains(text, "not drawn") {
			t.Errorf("%q: %s", test.args, text)
		}
		output(t, "show", dir)
	}
}

func TestBadSettingsAreRefusedByName(t *testing.T) {
	good := write(t, "good.dot", forest)
	two := write(t, "two.dot", "digraph { s1 -> s3; s2 -> s3; s4 }")
	for _, test := range []struct{ args, words []string }{
		{[]string{"nosuch.dot"}, []string{"nosuch.dot", "DOT", "chain(12)"}},
		{[]string{"chian(4)"}, []string{"chian(4)", "chain"}},
		{[]string{"chain(1)"}, []string{"chain(1)", "2 to 1048576"}},
		{[]string{"star(99999999999999999999)"}, []string{"star(99999999999999999999)", "2 to 1048576"}},
		{[]string{"chain(x)"}, []string{"the graph chain(x)", "as in chain(12)"}},
		{[]string{"binary tree(5)"}, []string{"near it: binary-tree"}},
		{[]string{write(t, "text.dot", "x and y")}, []string{"text.dot: graph: not valid DOT", "expected digraph"}},
		{[]string{two}, []string{"two.dot", "s2 -> s3", "Task 1", "Task 2, of several parents"}},
		{[]string{good, "--prior", "dirichlt(1)"}, []string{"--prior", "dirichlt", "dirichlet"}},
		{[]string{good, "--states", "1"}, []string{"--states", "1"}},
		{[]string{good, "--steps", "0"}, []string{"--steps", "0"}},
		{[]string{good, "--batch", "0"}, []string{"--batch"}},
		{[]string{good, "--test", "1"}, []string{"--test", "2"}},
		{[]string{good, "--every", "0"}, []string{"--every"}},
		{[]string{good, "--rate", "-1"}, []string{"--rate", "-1"}},
		{[]string{good, "--schedule", "linear"}, []string{"--schedule", "linear", "cosine"}},
		{[]string{good, "--optimiser", "adam"}, []string{"--optimiser", "adamw"}},
		{[]string{good, "--decay", "-0.1"}, []string{"decay", "-0.1"}},
		{[]string{good, "--model", "rnn"}, []string{"--model", "mlp"}},
		{[]string{good, "--width", "3"}, []string{"--width", "mlp"}},
		{[]string{good, "--model", "mlp", "--heads", "2,1"}, []string{"--heads", "disentangled"}},
		{[]string{good, "--heads", "2"}, []string{"--heads", "2,1"}},
		{[]string{good, "--heads", "0,1"}, []string{"--heads", "0 1"}},
	} {
		dir := filepath.Join(t.TempDir(), "out")
		refused(t, test.words, append([]string{"train", "-o", dir}, test.args...)...)
		if _, err := os.Stat(dir); err == nil {
			t.Errorf("%q: the folder was made", test.args)
		}
	}
}

func TestPredictPrintsTheModelBesideBayes(t *testing.T) {
	dir := t.TempDir()
	output(t, append([]string{"train", "figure-1", "-o", dir}, quickly...)...)
	text := output(t, "predict", dir, write(t, "in", "0 1 0 2 1 0\n\n0,1,0, 2,1,1\r\n"))
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if len(lines) != 6 || lines[0] != "0 1 0 2 1 0" || !strings.Contains(lines[1], "trained") ||
		!strings.Contains(lines[5], "Bayes") {
		t.Errorf("predicted\n%s", text)
	}
	for text, words := range map[string][]string{
		"":                   {"no sequence"},
		"0 1 0 2 1 0\n0 1\n": {"line 2", "2 tokens", "6", "spaces or commas"},
		"0 1 0 3 1 0\n":      {"line 1", "token 4", `"3"`, "0 to 2"},
		"0 1 0 -1 1 0\n":     {"token 4", `"-1"`},
		"0 1 0 0.5 1 0\n":    {"token 4", `"0.5"`},
		"# 0 1 0 2 1 0\n":    {"no sequence"},
		"a b c d e f\n":      {"token 1", `"a"`},
		"0,1,,2,1,0\n":       {"line 1, token 3", `""`},
		"0,1,,0,2,1,0\n":     {"line 1", "7 tokens"}, // not the sequence 0 1 0 2 1 0
		"0 1 0 2 1 \xb2\n":   {"line 1", "0xb2", "UTF-8"},
	} {
		refused(t, words, "predict", dir, write(t, "in", text))
	}
	refused(t, []string{"nosuch"}, "predict", dir, "nosuch")
	var all []prediction
	text = output(t, "predict", "--json", dir, write(t, "in", "0 1 0 2 1 0\n"))
	if err := json.Unmarshal([]byte(text), &all); err != nil ||
		len(all) != 1 || len(all[0].Model) != 3 || len(all[0].Expected) != 3 || all[0].Sequence[3] != 2 ||
		!strings.Contains(lines[1], fmt.Sprintf("%.4f", all[0].Model[0])) {
		t.Errorf("in JSON: %+v, %v", all, err)
	}
	refused(t, []string{"no folder of a run"}, "predict", t.TempDir())
	want := output(t, "predict", dir, write(t, "in", "0 1 0 2 1 0\n2 2 2 2 2 2\n"))
	for _, text := range []string{ // of other programs
		"\ufeff0,1,0,2,1,0\r\n2,2,2,2,2,2\r\n", "0\t1\t0\t2\t1\t0\n2\t2\t2\t2\t2\t2\n\x00",
		`"0","1","0","2","1","0",,` + "\n,,,\n2,2,2,2,2,2,", "s6;s5;s4;s3;s2;s1\n0;1;2;0;1;0\n2;2;2;2;2;2\n",
		"[[0 1 0 2 1 0]\n [2 2 2 2 2 2]]\n", "[[0. 1. 0. 2. 1. 0.]\n [2. 2. 2. 2. 2. 2.]]", // NumPy
		"# two sequences\n0.00e+00 1.00e+00 0.00e+00 2.00e+00 1.00e+00 0.00e+00\n# the other\n2 2 2 2 2 2\n",
		"# s6,s5,s4,s3,s2,s1\n0,1,2,0,1,0\n2,2,2,2,2,2\n",
		",0,1,2,3,4,5\n0,0,1,0,2,1,0\n1,2,2,2,2,2,2\n", ",s6,s5,s4,s3,s2,s1\n0,0,1,2,0,1,0\n1,2,2,2,2,2,2\n", // pandas
	} {
		if got := output(t, "predict", dir, write(t, "in", text)); got != want {
			t.Errorf("predicted from %q\n%s", text, got)
		}
	}
}

// Under the prior, 0 goes to 1 and never to itself.
func TestPredictReportsAnImpossibleSequence(t *testing.T) {
	dir := t.TempDir()
	prior := []string{"train", "figure-1", "-o", dir, "--prior", "finite(0 1 0; 0 0 1; 1 0 0)"}
	output(t, append(prior, quickly...)...)
	text := output(t, "predict", dir, write(t, "in", "0 0 0 0 0 1\n"))
	if strings.Contains(text, "NaN") || !strings.Contains(text, "probability 0 under the prior") {
		t.Errorf("predicted\n%s", text)
	}
}

func TestFailedTrainingIsReported(t *testing.T) {
	dir := t.TempDir()
	text := output(t, append([]string{"train", "chain(5)", "-o", dir, "--rate", "1000"}, quickly...)...)
	says(t, text, "worse than a uniform guess", "smaller --rate")
	says(t, content(t, dir)["summary.json"], `"s1 -> s2"`)
	text = output(t, append([]string{"train", "chain(5)", "-o", t.TempDir()}, quickly...)...)
	if strings.Contains(text, "worse") {
		t.Errorf("--rate 1: %s", text)
	}
	for flag, value := range map[string]string{"--rate": "1e300", "--init": "1e200"} {
		args := append([]string{"train", "chain(4)", "-o", t.TempDir(), "--optimiser", "adamw", flag, value}, quickly...)
		if err := run(t.Context(), io.Discard, args); err != nil {
			property.Mentions(t, err, "training has failed: want a smaller --rate")
		}
	}
	refused(t, []string{"--jax is 2000000000, want 0 to 1000000"}, "train", "chain(4)", "-n", "--jax", "2000000000")
	refused(t, []string{"--states is \"three\", want a whole number;"}, "train", "chain(4)", "-n", "--states", "three")
	refused(t, []string{"--rate is \"1,5\", want a number;"}, "train", "chain(4)", "-n", "--rate", "1,5")
	refused(t, []string{"diverged", "want a rate below", "--rate"},
		append([]string{"train", "chain(5)", "-o", t.TempDir(), "--rate", "1e300"}, quickly...)...)
}

// A command that waits for input is interrupted like any other.
func TestWaitingForInputIsInterrupted(t *testing.T) {
	dir := t.TempDir()
	output(t, append([]string{"train", "figure-1", "-o", dir}, quickly...)...)
	for _, args := range [][]string{{"train", "-"}, {"predict", dir}} {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		in, end := io.Pipe()
		root := newRoot()
		root.SetIn(in)
		root.SetArgs(args)
		if err := root.ExecuteContext(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%q: error %v", args, err)
		}
		cancel()
		end.Close()
	}
}

// The names of columns are those of the nodes, however a spreadsheet spaces or composes them.
func TestColumnsAreNamedAsNodes(t *testing.T) {
	nodes := []string{"r\u00e9gen", "wet ground", "s3"}
	for _, line := range []string{
		"s3, re\u0301gen , wet ground", "s3;r\u00e9gen;\"wet ground \"", "s3\tr\u00e9gen\t wet ground",
	} {
		if at, err := columns(line, nodes); err != nil || fmt.Sprint(at) != "[2 0 1]" {
			t.Errorf("%q: columns %v, %v", line, at, err)
		}
	}
}

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"learncausal/internal/files"
	"learncausal/internal/runs"
	"learncausal/paper/figures"
	"learncausal/paper/trial"
	"learncausal/pkg/train"
)

// Names in a folder that train writes.
const (
	weightsNPZ  = "weights.npz"
	curveCSV    = "curve.csv"
	summaryText = "summary.txt"
	summaryJSON = "summary.json"
	givenDOT    = "given.dot"
	learnedDOT  = "learned.dot"
	ownStore    = "runs"
)

// trainOnGraph trains on the graph that arg names, and writes and prints the results.
func trainOnGraph(c *cobra.Command, f *trainFlags, arg string) error {
	ctx, w := c.Context(), c.OutOrStdout()
	g, err := readGraph(ctx, c.InOrStdin(), arg)
	if err != nil {
		return err
	}
	spec, err := specOf(&f.settings, g, f.jobs)
	if err != nil {
		return err
	}
	out := f.out
	if out == "" {
		out = g.Name
	}
	store := filepath.Join(out, ownStore)
	given, err1 := dotOf(g)
	old, err2 := replaced(out)
	warn(store)
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	if old == runs.Address(spec) {
		old = ""
	}
	if f.dry {
		if old != "" {
			fmt.Fprintf(w, "replaces    the files of run %s\n", old)
		}
		return dryRun(ctx, w, spec, g.Nodes, f.jobs, store, out)
	}
	if err := writable(out, store); err != nil {
		return err
	}
	opt := runs.Options{Workers: f.jobs, Fresh: f.fresh, Meter: runs.Terminal(os.Stderr)}
	run, err := runs.Open(store).Get(ctx, spec, opt)
	if errors.Is(err, train.ErrDiverged) {
		return fmt.Errorf("%w: --rate and --decay are flags", err)
	}
	if err != nil {
		return err
	}
	own, err := measure(ctx, run)
	if err != nil {
		return err
	}
	own.Nodes = g.Nodes
	undrawn, err := writeMeasurement(ctx, own, given, filepath.Join(store, run.Address), out)
	if err != nil {
		return err
	}
	if f.json {
		data, err := figures.SummaryJSON(own)
		if err == nil {
			_, err = w.Write(data)
		}
		return err
	}
	report(w, own, undrawn)
	advise(w, spec, out, old)
	return nil
}

// warn prints an error for each checkpoint in a store that cannot be read, as those of older numerics.
func warn(store string) {
	if _, err := runs.Open(store).Unfinished(); err != nil {
		fmt.Fprintln(os.Stderr, "paper:", err)
	}
}

// report prints the results, and the errors of figures that could not be drawn.
func report(w io.Writer, own *trial.Measurement, undrawn []error) {
	fmt.Fprintf(w, "%s\n", figures.SummaryText(own))
	for _, why := range undrawn {
		fmt.Fprintln(w, why)
	}
}

// specOf returns the specification of a run. An error names the flag of the wrong setting.
func specOf(s *trial.Settings, g *trial.Graph, workers int) (train.Spec, error) {
	spec, err := s.Spec(g)
	var setting *trial.SettingError
	if errors.As(err, &setting) {
		return spec, errors.New("--" + setting.Error())
	}
	if err != nil {
		return spec, err
	}
	return spec, train.CheckMemory(spec.Memory(workers), "training "+spec.Description())
}

// readGraph returns the graph that an argument names: a name that [trial.OpenGraph]
// knows, or - for DOT on standard input, which it stops to read when ctx is cancelled.
func readGraph(ctx context.Context, in io.Reader, arg string) (g *trial.Graph, err error) {
	read := func() (err error) { g, err = trial.OpenGraph(arg, ""); return err }
	if arg == "-" {
		announce(in, "a DOT digraph")
		read = func() (err error) { g, err = trial.ReadGraph(in, "", "standard input"); return err }
	}
	if err := promptly(ctx, 0, read); err != nil {
		return nil, err
	}
	return g, nil
}

// advise prints the names of the files, the address old of the run whose files they
// replace, if there is one, and the commands that read them.
func advise(w io.Writer, spec train.Spec, out, old string) {
	if _, read := spec.Model.(train.Disentangled); !read {
		fmt.Fprintln(w, "There is no figure of the weights: the weights of MLPs do not show the graph.")
	}
	fmt.Fprintf(w, "Files: %s (weights.npz, curve.csv, learned.dot, figures, %s).\n", out, summaryText)
	if old != "" {
		fmt.Fprintf(w, "They replace the files of run %s, which stays in %s.\n", old, filepath.Join(out, ownStore))
	}
	fmt.Fprintf(w, "Then: paper show %s; paper predict %[1]s\n", out)
}

// measure is trial.Measure with a progress bar.
func measure(ctx context.Context, run *runs.Run) (*trial.Measurement, error) {
	meter := runs.Terminal(os.Stderr)
	const parts = 1000
	meter.Update(0, parts, "comparing with the reference predictors")
	own, err := trial.Measure(trial.WithProgress(ctx, func(share float64) {
		meter.Update(int(share*parts), parts, "comparing with the reference predictors")
	}), run)
	if err != nil {
		meter.Done("not compared with the reference predictors")
		return nil, err
	}
	meter.Done("compared with the reference predictors")
	return own, nil
}

// dotOf returns the text of given.dot.
func dotOf(g *trial.Graph) (string, error) {
	var given strings.Builder
	if g.DAG != nil {
		err := g.DAG.WriteDOT(&given, g.Nodes...)
		return given.String(), err
	}
	err := g.Forest.WriteDOT(&given, g.Nodes...)
	return given.String(), err
}

// writeMeasurement writes all files except the store, the summary last. It returns the errors of
// figures that could not be drawn.
func writeMeasurement(
	ctx context.Context, own *trial.Measurement, given, run, out string,
) (undrawn []error, err error) {
	data, err1 := figures.SummaryJSON(own)
	drawn, err2 := figures.RunFigures(own)
	curve, err3 := files.Read(filepath.Join(run, curveCSV), math.MaxInt)
	if bad := new(json.UnsupportedValueError); errors.As(err1, &bad) {
		err1 = fmt.Errorf("run %s: the summary has the value %s, so training has failed: "+
			"want a smaller --rate, --decay or --init", own.Run.Address, bad.Str)
	}
	if err := errors.Join(err1, err3); err != nil {
		return nil, err
	}
	if err2 != nil {
		undrawn = append(undrawn, fmt.Errorf("not drawn: %w", err2))
	}
	var all []files.File
	for _, f := range drawn {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		drawing, err := f.Files()
		if err != nil {
			undrawn = append(undrawn, fmt.Errorf("not drawn: %w", err))
		}
		all = append(all, drawing...)
	}
	all = append(all,
		files.File{Name: weightsNPZ, Data: runs.NPZ(own.Run.Final.Weights)},
		files.File{Name: curveCSV, Data: curve},
		files.File{Name: givenDOT, Data: []byte(given)},
		files.File{Name: learnedDOT, Data: []byte(figures.LearnedDOT(own))},
		files.File{Name: summaryText, Data: []byte(figures.SummaryText(own))},
		files.File{Name: summaryJSON, Data: data})
	return undrawn, files.Folder(out).Write(all...)
}

// dryRun prints the settings of a run, and the time and the memory that it takes.
func dryRun(
	ctx context.Context, w io.Writer, spec train.Spec, nodes []string, workers int, store, out string,
) error {
	lines, err := settings(spec)
	if err != nil {
		return err
	}
	if nodes != nil {
		lines = fmt.Sprintf("positions\t%s\n%s", strings.Join(nodes[:spec.T()], ", "), lines)
	}
	printColumns(w, fmt.Sprintf("run\t%s\nexperiment\t%s\nedges\t%s\n%sfolder\t%s\n",
		runs.Address(spec), spec.Description(), edges(spec, nodes), lines, out))
	switch state, err := stateOf(store, runs.Address(spec)); {
	case err != nil:
		return err
	case state != "":
		fmt.Fprintf(w, "state       %s\n", state)
	}
	meter := runs.Terminal(os.Stderr)
	meter.Update(0, 1, "measuring a few steps")
	var cost trial.Cost
	measure := func() (err error) { cost, err = trial.MeasureCost(ctx, spec, workers); return err }
	if err := promptly(ctx, 0, measure); err != nil {
		meter.Done("not measured")
		return err
	}
	meter.Done("measured a few steps")
	fmt.Fprintf(w, "parameters  %d\n", cost.Parameters)
	total := "about " + cost.Total().Round(time.Second).String()
	if cost.Total() == math.MaxInt64 {
		total = "more than 290 years"
	}
	fmt.Fprintf(w, "time        %s: %d steps of %v, %d evaluations of %v, measured here and now\n",
		total, cost.Steps, cost.Step.Round(10*time.Microsecond),
		cost.Evaluations, cost.Evaluation.Round(10*time.Microsecond))
	fmt.Fprintf(w, "memory      about %d MB to train\n", cost.Memory>>20+1)
	fmt.Fprintln(w, "Nothing is written.")
	return nil
}

// stateOf says whether the store has the run or a checkpoint of it.
func stateOf(store, address string) (string, error) {
	s := runs.Open(store)
	all, err := s.Addresses()
	if err != nil {
		return "", err
	}
	if slices.Contains(all, address) {
		return "stored in " + store + ": it would be loaded", nil
	}
	begun, err := s.Unfinished()
	for _, u := range begun {
		if u.Address == address {
			return fmt.Sprintf("interrupted, in %s: it would resume at step %d", store, u.Steps), nil
		}
	}
	return "", err
}

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
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"learncausal/paper/experiment"
	"learncausal/paper/figure"
	"learncausal/paper/report"
	"learncausal/pkg/runs"
	"learncausal/pkg/train"
)

// The files of a folder that train has written.
const (
	summaryText = "summary.txt"
	summaryJSON = "summary.json"
	ownStore    = "runs"
)

// trainOwn trains on a graph of one's own and writes what has become of it.
func trainOwn(c *cobra.Command, f *trainFlags, arg string) error {
	ctx, w := c.Context(), c.OutOrStdout()
	g, err := readGraph(ctx, c.InOrStdin(), arg)
	if err != nil {
		return err
	}
	spec, err := specOf(&f.settings, g, f.jobs)
	if err != nil {
		return err
	}
	if f.store != "" {
		return errors.New("--store belongs to the paper's runs; the run on a graph of your own is stored in --out")
	}
	out := f.out
	if out == "" {
		out = g.Name
	}
	store := filepath.Join(out, ownStore)
	old, err := replaced(out)
	if err != nil {
		return err
	}
	if old == runs.Address(spec) {
		old = ""
	}
	if f.dry {
		if old != "" {
			fmt.Fprintf(w, "replaces    the files of run %s\n", old)
		}
		return dryRun(ctx, w, spec, f.jobs, store, out)
	}
	for _, dir := range []string{out, store} {
		if err := writable(dir); err != nil {
			return err
		}
	}
	opt := runs.Options{Workers: f.jobs, Fresh: f.fresh, Meter: runs.Terminal(os.Stderr)}
	run, err := runs.Open(store).Get(ctx, spec, opt)
	if errors.Is(err, train.ErrDiverged) {
		return fmt.Errorf("%w, with --rate", err)
	}
	if err != nil {
		return err
	}
	own, err := measure(ctx, run)
	if err != nil {
		return err
	}
	text, undrawn, err := writeOwn(ctx, own, g, filepath.Join(store, run.Address), out)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%s\n", text)
	for _, why := range undrawn {
		fmt.Fprintln(w, why)
	}
	advise(w, spec, out, old)
	return nil
}

// advise says which files there are, that they replace those of an old run if its
// address is given, and what to do next.
func advise(w io.Writer, spec train.Spec, out, old string) {
	if _, read := spec.Model.(train.Disentangled); !read {
		fmt.Fprintln(w, "There is no figure of the weights: those of a model with MLPs are not read as a graph is.")
	}
	fmt.Fprintf(w, "Files: %s (weights.npz, curve.csv, learned.dot, figures, %s).\n", out, summaryText)
	if old != "" {
		fmt.Fprintf(w, "They replace those of run %s, which stays in %s.\n", old, filepath.Join(out, ownStore))
	}
	paper := called(os.Args[0])
	fmt.Fprintf(w, "Then: %s show %s; %[1]s predict %[2]s\n", paper, quoted(out))
}

// measure is experiment.MeasureOwn with a meter.
func measure(ctx context.Context, run *runs.Run) (*experiment.Own, error) {
	meter := runs.Terminal(os.Stderr)
	const parts = 1000
	meter.Update(0, parts, "comparing with the reference predictors")
	own, err := experiment.MeasureOwn(experiment.WithProgress(ctx, func(share float64) {
		meter.Update(int(share*parts), parts, "comparing with the reference predictors")
	}), run)
	if err != nil {
		meter.Done("not compared with the reference predictors")
		return nil, err
	}
	meter.Done("compared with the reference predictors")
	return own, nil
}

// writeOwn writes all files but the store, the summary last. It returns the
// summary, and why figures could not be drawn, which an error also says.
func writeOwn(
	ctx context.Context, own *experiment.Own, g *experiment.OwnGraph, run, out string,
) (text string, undrawn []error, err error) {
	text, err = report.OwnText(own)
	if err != nil {
		return "", nil, err
	}
	data, err := report.OwnJSON(own)
	if err != nil {
		return "", nil, err
	}
	var given strings.Builder
	if g.DAG != nil {
		err = g.DAG.WriteDOT(&given)
	} else {
		err = g.Forest.WriteDOT(&given)
	}
	if err != nil {
		return "", nil, err
	}
	figures, err := report.OwnFigures(own)
	if err != nil {
		return "", nil, err
	}
	for _, f := range figures {
		if ctx.Err() != nil {
			return "", nil, ctx.Err()
		}
		if _, err := f.Export(out); err != nil {
			undrawn = append(undrawn, fmt.Errorf("not drawn: %w", err))
		}
	}
	weights, err1 := os.ReadFile(filepath.Join(run, fmt.Sprintf("weights-%d.npz", own.Run.Spec.Steps)))
	curve, err2 := os.ReadFile(filepath.Join(run, "curve.csv"))
	if err := errors.Join(err1, err2); err != nil {
		return "", nil, errors.Join(append(undrawn, err)...)
	}
	for _, f := range []struct {
		name string
		data []byte
	}{
		{"weights.npz", weights},
		{"curve.csv", curve},
		{"given.dot", []byte(given.String())},
		{"learned.dot", []byte(report.OwnDOT(own))},
		{summaryText, []byte(text)},
		{summaryJSON, data},
	} {
		if err := figure.WriteFile(filepath.Join(out, f.name), f.data); err != nil {
			return "", nil, errors.Join(append(undrawn, err)...)
		}
	}
	return text, undrawn, nil
}

// listedParents are the parents in the JSON of a specification, where nodes are
// those of Task 2.
var listedParents = regexp.MustCompile(`"(?:parents|nodes)":\[.*?\],"`)

// abbreviated returns a specification with the first parents alone, if they are many.
func abbreviated(spec string) string {
	const most = 160
	return listedParents.ReplaceAllStringFunc(spec, func(list string) string {
		if len(list) <= most {
			return list
		}
		end := strings.LastIndex(list[:most], "],") + 1 // of a list of parents
		if end == 0 {
			end = strings.LastIndex(list[:most], ",")
		}
		return list[:end] + `,…],"`
	})
}

// dryRun says what would be trained and what it takes.
func dryRun(ctx context.Context, w io.Writer, spec train.Spec, workers int, store, out string) error {
	text, err := json.Marshal(spec)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "run         %s\n", runs.Address(spec))
	fmt.Fprintf(w, "what        %s\n", spec.Experiment())
	fmt.Fprintf(w, "settings    %s\n", abbreviated(string(text)))
	fmt.Fprintf(w, "folder      %s\n", out)
	switch state, err := stateOf(store, runs.Address(spec)); {
	case err != nil:
		return err
	case state != "":
		fmt.Fprintf(w, "state       %s\n", state)
	}
	meter := runs.Terminal(os.Stderr)
	meter.Update(0, 1, "measuring a few steps")
	var cost experiment.Cost
	measure := func() (err error) { cost, err = experiment.MeasureCost(ctx, spec, workers); return err }
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

// stateOf says whether a run is stored or begun.
func stateOf(store, address string) (string, error) {
	s := runs.Open(store)
	all, err := s.Addresses()
	if err != nil {
		return "", err
	}
	for _, a := range all {
		if a == address {
			return "stored in " + store + ": it would be loaded", nil
		}
	}
	begun, err := s.Unfinished()
	for _, u := range begun {
		if u.Address == address {
			return fmt.Sprintf("begun in %s: it would go on from step %d", store, u.Steps), nil
		}
	}
	return "", err
}

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"learncausal/internal/engine"
	"learncausal/paper/experiment"
	"learncausal/pkg/num"
	"learncausal/pkg/runs"
	"learncausal/pkg/task"
	"learncausal/pkg/train"
)

func newPredict() *cobra.Command {
	var store string
	c := &cobra.Command{
		Use:   "predict RUN [FILE]",
		Short: "Print the distribution of the next token of each sequence in a file",
		Long: `predict reads sequences from FILE or from standard input, and prints the distribution
of the next token of each: first the prediction of the trained model, then the
prediction of the Bayes predictor of its task, which knows the graph and the prior.

A line is a sequence of T tokens, the query last, as numbers from 0 to S-1 with
spaces or commas between them. Empty lines are skipped. Any other line is an error,
and nothing is predicted.`,
		Example: `  echo 0 1 0 2 1 0 | paper predict my-graph
  paper predict runs/173e6bddecc149ba sequences.csv`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(c *cobra.Command, args []string) error {
			in, name := c.InOrStdin(), "standard input"
			if len(args) == 2 && args[1] != "-" {
				f, err := os.Open(args[1])
				if err != nil {
					return fmt.Errorf("sequences: %w", err)
				}
				defer f.Close()
				in, name = f, args[1]
			}
			return predict(c.Context(), c.OutOrStdout(), args[0], store, in, name)
		},
	}
	storeFlag(c, &store)
	return c
}

func predict(ctx context.Context, w io.Writer, arg, store string, in io.Reader, name string) error {
	f, err := find(arg, store)
	if err != nil {
		return err
	}
	if u := f.unfinished; u != nil {
		return fmt.Errorf("training of run %s was interrupted at step %d of %d; "+
			"paper train with the same settings resumes", u.Address, u.Steps, u.Spec.Steps)
	}
	r := f.run
	if r.Light() {
		return fmt.Errorf("%s: the run is kept without weights, which predictions need", f.dir)
	}
	announce(in, "sequences, one a line,")
	var sequences [][]int
	read := func() (err error) { sequences, err = readSequences(in, name, r.Spec.T(), r.Spec.S()); return err }
	if err := promptly(ctx, 0, read); err != nil {
		return err
	}
	bayes, title, draws, err := bayesPredictor(r)
	if err != nil {
		return err
	}
	if draws > 0 {
		title += fmt.Sprintf(" (%d draws)", draws)
	}
	trained, next := modelPredictor(r), make([]float64, r.Spec.S())
	wide := max(len(title), len("trained model"))
	row := func(name string, predict experiment.Predictor, x []int, undefined string) {
		predict(next, x)
		fmt.Fprintf(w, "  %-*s", wide, name)
		if slices.ContainsFunc(next, math.IsNaN) {
			fmt.Fprintln(w, " ", undefined)
			return
		}
		for _, p := range next {
			fmt.Fprintf(w, "  %.4f", p)
		}
		fmt.Fprintln(w)
	}
	for _, x := range sequences {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		fmt.Fprintln(w, strings.Trim(fmt.Sprint(x), "[]"))
		row("trained model", trained, x, "no distribution: training has diverged")
		row(title, bayes, x, "no distribution: this sequence has probability 0 under the prior")
	}
	return nil
}

// readSequences reads sequences of t tokens below s, one a line.
func readSequences(in io.Reader, name string, t, s int) ([][]int, error) {
	var all [][]int
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		fields := strings.FieldsFunc(lines.Text(), func(c rune) bool { return strings.ContainsRune(", \t\r", c) })
		if len(fields) == 0 {
			continue
		}
		if len(fields) != t {
			return nil, fmt.Errorf("%s, line %d: %d tokens, want %d with spaces or commas between them",
				name, n, len(fields), t)
		}
		x := make([]int, t)
		for i, field := range fields {
			v, err := strconv.Atoi(field)
			if err != nil || v < 0 || v >= s {
				return nil, fmt.Errorf("%s, line %d, token %d: %q, want a number from 0 to %d",
					name, n, i+1, field, s-1)
			}
			x[i] = v
		}
		all = append(all, x)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(all) == 0 {
		return nil, errors.New(name + ": no sequence")
	}
	return all, nil
}

// bayesDraws is the number of draws of the Bayes predictor for each sequence.
const bayesDraws = 1000

func modelPredictor(r *runs.Run) experiment.Predictor {
	pass, target := engine.New(r.Final.Weights).NewPass(), make([]float64, r.Spec.S())
	target[0] = 1 // the predictions do not depend on the target
	return func(f []float64, x []int) {
		pass.Loss(x, target, nil)
		copy(f, pass.Predictions())
	}
}

// bayesPredictor returns the Bayes predictor of the task of a run, its name, and the
// number of its draws for each sequence, 0 if it is exact. A Dirichlet prior over
// more than 20 tokens makes drawing slow: the predictor is then the posterior mean
// given the edges.
func bayesPredictor(r *runs.Run) (p experiment.Predictor, name string, draws int, err error) {
	edges, err := experiment.EdgesPredictor(r.Spec)
	of, ok := r.Spec.Task.(train.Task1)
	if err != nil || !ok {
		return edges, "Bayes", 0, err
	}
	if edges != nil {
		if of.States > 20 {
			return edges, "posterior mean given the edges", 0, nil
		}
		draws = bayesDraws
	}
	tk, err := of.New()
	if err != nil {
		return nil, "", 0, err
	}
	bayes, err := task.NewBayes(tk, bayesDraws)
	var e task.Prediction
	return func(f []float64, x []int) {
		bayes.Predict(&e, x, num.Stream(r.Spec.Seed, "predict"))
		copy(f, e.F)
	}, "Bayes", draws, err
}

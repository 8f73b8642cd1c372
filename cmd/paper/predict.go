package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"learncausal/internal/files"
	"learncausal/internal/names"
	"learncausal/internal/runs"
	"learncausal/paper/trial"
	"learncausal/pkg/num"
	"learncausal/pkg/task"
	"learncausal/pkg/train"
)

func newPredict() *cobra.Command {
	var store string
	var asJSON bool
	c := &cobra.Command{
		Use:   "predict RUN [FILE]",
		Short: "Print the distribution of the next token of each sequence",
		Long:  help("predict"),
		Example: `  echo 0 1 0 2 1 0 | paper predict my-graph
  paper predict runs/173e6bddecc149ba sequences.csv`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(c *cobra.Command, args []string) error {
			in, name := c.InOrStdin(), "standard input"
			if len(args) == 2 && args[1] != "-" {
				name = args[1]
				b, err := files.Read(name, mostSequences)
				if err != nil {
					return fmt.Errorf("sequences: %s: %w; standard input may be a pipe", name, err)
				}
				in = bytes.NewReader(b)
			}
			return predict(c.Context(), c.OutOrStdout(), args[0], store, in, name, asJSON)
		},
	}
	storeFlag(c, &store)
	defineJSON(c.Flags(), &asJSON)
	return c
}

// A prediction is a line of the JSON of predict. A distribution is nil where there is none.
type prediction struct {
	Sequence  []int     `json:"sequence"`
	Model     []float64 `json:"model"`
	Reference string    `json:"reference"`
	Expected  []float64 `json:"expected"` // by the reference predictor
}

func predict(
	ctx context.Context, w io.Writer, arg, store string, in io.Reader, name string, asJSON bool,
) error {
	f, err := find(arg, store)
	if err != nil {
		return err
	}
	if u := f.unfinished; u != nil {
		return fmt.Errorf("training of run %s was interrupted at step %d of %d; "+
			"paper train with the same settings resumes", u.Address, u.Steps, u.Spec.Steps)
	}
	r := f.run
	if r.WithoutWeights() {
		return fmt.Errorf("%s: the run is kept without weights, which predictions need", f.dir)
	}
	own := nodeNames(f.dir, r.Spec)
	names := trial.NodeNames(r.Spec, own)
	announce(in, "sequences, one a line,")
	var sequences [][]int
	read := func() (err error) {
		sequences, err = readSequences(in, name, names[:r.Spec.T()], r.Spec.S())
		return err
	}
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
	row := func(name string, predict trial.Predictor, x []int, undefined string) {
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
	if asJSON {
		return predictions(ctx, w, sequences, trained, bayes, title, next)
	}
	for _, x := range sequences {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		fmt.Fprintln(w, sequence(x, own))
		row("trained model", trained, x, "no distribution: training has diverged")
		row(title, bayes, x, "no distribution: this sequence has probability 0 under the prior")
	}
	return nil
}

// predictions prints the JSON of predict. next is a buffer.
func predictions(
	ctx context.Context, w io.Writer, sequences [][]int, trained, bayes trial.Predictor, title string, next []float64,
) error {
	distribution := func(predict trial.Predictor, x []int) []float64 {
		if predict(next, x); slices.ContainsFunc(next, math.IsNaN) {
			return nil
		}
		return slices.Clone(next)
	}
	all := []prediction{}
	for _, x := range sequences {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		all = append(all, prediction{x, distribution(trained, x), title, distribution(bayes, x)})
	}
	return printJSON(w, all)
}

// sequence returns the tokens, each with the name of its node if nodes have names of their
// own, and the name of the label.
func sequence(x []int, own []string) string {
	if own == nil {
		return strings.Trim(fmt.Sprint(x), "[]")
	}
	var all []string
	for i, v := range x {
		all = append(all, fmt.Sprintf("%s=%d", own[i], v))
	}
	if len(own) > len(x) {
		all = append(all, "-> "+own[len(x)])
	}
	return strings.Join(all, " ")
}

// mostSequences is the largest accepted size of a file of sequences, in bytes.
const mostSequences = 1 << 26

// separator splits a line: commas, semicolons and tabs separate cells, which may be empty.
var separator = regexp.MustCompile(` *[,;\t] *| +`)

// cells returns the cells of a line without quotation marks, without the brackets of a printed array, and
// without empty cells at the end, which spreadsheets add to short lines.
func cells(line string) []string {
	if line = strings.Trim(line, " "); strings.HasPrefix(line, "[") {
		line = strings.Trim(line, "[], ")
	}
	all := separator.Split(line, -1)
	for i, c := range all {
		all[i] = strings.Trim(c, `"'`)
	}
	for len(all) > 0 && all[len(all)-1] == "" {
		all = all[:len(all)-1]
	}
	return all
}

// columns returns the position of each column if the first line has the names of the
// positions, which may have spaces, in any order. It returns nil for a line of numbers. The position of an index
// of pandas, a first column without a name, is -1; the others may then have the names 0..T-1.
func columns(line string, nodes []string) ([]int, error) {
	head := cells(line)
	if !slices.ContainsFunc(head, func(c string) bool { _, err := strconv.Atoi(c); return err != nil }) {
		return nil, nil
	}
	if i := strings.IndexAny(line, ",;\t"); i >= 0 {
		r := csv.NewReader(strings.NewReader(line))
		r.Comma, r.TrimLeadingSpace, r.LazyQuotes = rune(line[i]), true, true
		var err error
		if head, err = r.Read(); err != nil {
			return nil, err
		}
	}
	indexed := len(head) == len(nodes)+1 && head[0] == ""
	if indexed {
		head = head[1:]
	}
	var at []int
	for i, c := range head {
		name, _ := names.Node(c)
		k := slices.Index(nodes, name)
		if indexed && c == strconv.Itoa(i) {
			k = i
		}
		at = append(at, k)
	}
	sorted := slices.Sorted(slices.Values(at))
	if sorted[len(sorted)-1] < 0 {
		return nil, nil // no name: the tokens are wrong
	}
	for i := range nodes {
		if !slices.Contains(at, i) || len(at) != len(nodes) {
			return nil, fmt.Errorf("the names of columns %q, want each of %q once", head, nodes)
		}
	}
	if indexed {
		at = slices.Insert(at, 0, -1)
	}
	return at, nil
}

// token returns the number of a token, which NumPy may have written as 1. or 1.0e+00.
func token(field string) (int, error) {
	v, err := strconv.ParseFloat(field, 64)
	if err == nil && (v != math.Trunc(v) || math.Abs(v) > 1<<30) {
		err = errors.New("no whole number")
	}
	return int(v), err
}

// readSequences reads sequences of tokens below s, one a line, for positions with names.
func readSequences(in io.Reader, name string, names []string, s int) ([][]int, error) {
	data, err := io.ReadAll(io.LimitReader(in, mostSequences+1))
	if err == nil && len(data) > mostSequences {
		err = fmt.Errorf("want at most %d bytes", mostSequences)
	}
	if err == nil {
		data, err = files.Decode(data)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	var all [][]int
	var at []int
	t, first := len(names), true
	for n, line := range strings.Split(string(data), "\n") {
		line, comment := strings.CutPrefix(line, "#") // of NumPy, which may name the columns
		fields := cells(line)
		if len(fields) == 0 || comment && !first {
			continue
		}
		if first {
			at, err = columns(line, names)
			if first = comment && at == nil; first {
				continue
			}
			if err != nil {
				return nil, fmt.Errorf("%s, line %d: %w", name, n+1, err)
			} else if at != nil {
				t = len(at)
				continue
			}
		}
		if len(fields) != t {
			return nil, fmt.Errorf("%s, line %d: %d tokens, want %d with spaces or commas between them",
				name, n+1, len(fields), t)
		}
		x := make([]int, len(names))
		for i, field := range fields {
			if at != nil && at[i] < 0 {
				continue
			}
			v, err := token(field)
			if err != nil || v < 0 || v >= s {
				return nil, fmt.Errorf("%s, line %d, token %d: %q, want a number from 0 to %d",
					name, n+1, i+1, field, s-1)
			}
			if at != nil {
				i = at[i]
			}
			x[i] = v
		}
		all = append(all, x)
	}
	if len(all) == 0 {
		return nil, errors.New(name + ": no sequence")
	}
	return all, nil
}

// bayesDraws is the number of draws of the Bayes predictor for each sequence.
const bayesDraws = 1000

func modelPredictor(r *runs.Run) trial.Predictor {
	p := train.NewPredictor(r.Final.Weights)
	return func(f []float64, x []int) {
		predicted, _ := p.Predict(x, nil)
		copy(f, predicted)
	}
}

// bayesPredictor returns the Bayes predictor of the task of a run, its name, and the number of
// its draws for each sequence, 0 if it is exact. With a Dirichlet prior over more than 20
// tokens, where drawing is slow, it is the posterior mean given the edges.
func bayesPredictor(r *runs.Run) (p trial.Predictor, name string, draws int, err error) {
	edges, err := trial.EdgesPredictor(r.Spec)
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

package main

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/sbinet/npyio/npy"
	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"learncausal/internal/files"
	"learncausal/internal/runs"
	"learncausal/paper/attribution"
	"learncausal/paper/trial"
	"learncausal/pkg/model"
)

func newCases() *cobra.Command {
	var out string
	c := &cobra.Command{
		Use:     "cases",
		Short:   "Write models whose graph is known, for a method in NumPy",
		Long:    help("cases"),
		Example: "  paper cases -o cases",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			all, err := attribution.Cases(c.Context(), trial.Stored(runs.Terminal(os.Stderr)))
			if err != nil {
				return err
			}
			return writeCases(c.OutOrStdout(), all, out)
		},
	}
	c.Flags().VarP((*folder)(&out), "out", "o", "where to write")
	return withFlag(c, "out")
}

// withFlag marks a flag that the command needs.
func withFlag(c *cobra.Command, name string) *cobra.Command {
	if err := c.MarkFlagRequired(name); err != nil {
		panic("paper: " + err.Error())
	}
	return c
}

// writeCases writes cases.json, and weights, sequences, targets and parents of each case.
func writeCases(w io.Writer, all []attribution.Case, out string) error {
	type entry struct {
		Name    string `json:"name"`
		File    string `json:"file"`
		Set     string `json:"set"`
		Model   string `json:"model"`
		Run     string `json:"run"`
		Step    int    `json:"step"`
		States  int    `json:"states"`
		Parents []int  `json:"parents"`
	}
	var list []entry
	var data []files.File
	for _, c := range all {
		attention, err := c.Attention()
		weights, ok := c.Model.(model.Model)
		if err != nil || !ok {
			return errors.Join(fmt.Errorf("case %s has a model of %T", c.Name(), c.Model), err)
		}
		name, kind := c.Name()+".npz", "mlp"
		if _, ok := c.Model.(*model.Weights); ok {
			kind = "disentangled"
		}
		list = append(list, entry{
			c.Name(), name, c.Set, kind,
			c.Run, c.Step, c.Test.S, c.Parents,
		})
		n, t := c.Test.Len(), c.Test.T
		data = append(data, files.File{Name: name, Data: runs.NPZ(weights,
			numbers("sequences", n, c.Test.X), model.Matrix{Name: "targets", Rows: n, Cols: c.Test.S, Data: c.Test.Y},
			numbers("more", c.Data.Len(), c.Data.X), numbers("parents", 1, c.Parents),
			model.Matrix{Name: "attention", Rows: t, Cols: t, Data: attention.RawMatrix().Data})})
	}
	var index bytes.Buffer
	if err := printJSON(&index, list); err != nil {
		return err
	}
	if err := files.Folder(out).Write(append(data, files.File{Name: "cases.json", Data: index.Bytes()})...); err != nil {
		return err
	}
	fmt.Fprintf(w, "%d cases and cases.json are in %s. Then: paper score scores.npz --name mine\n", len(all), out)
	return nil
}

// numbers returns whole numbers as a matrix of a number of rows.
func numbers(name string, rows int, x []int) model.Matrix {
	m := model.Matrix{Name: name, Rows: rows, Cols: len(x) / rows, Data: make([]float64, len(x))}
	for i, v := range x {
		m.Data[i] = float64(v)
	}
	return m
}

func newScore() *cobra.Command {
	var name string
	var asCSV bool
	c := &cobra.Command{
		Use:     "score SCORES.npz",
		Short:   "Compare the scores of a method in NumPy with the graphs",
		Long:    help("score"),
		Example: "  paper score scores.npz --name mine",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := checkMethod(name); err != nil {
				return err
			}
			all, err := attribution.Cases(c.Context(), trial.Stored(runs.Terminal(os.Stderr)))
			if err != nil {
				return err
			}
			rows, err := score(c.Context(), all, args[0], name)
			if err != nil {
				return err
			}
			return printScores(c.OutOrStdout(), rows, asCSV)
		},
	}
	c.Flags().StringVar(&name, "name", "", "the `name` of the method in tables and figures")
	c.Flags().BoolVar(&asCSV, "csv", false, "print the lines of rows.csv alone")
	return withFlag(c, "name")
}

// checkMethod returns an error unless a name may stand in a line of rows.csv, where no method has it.
func checkMethod(name string) error {
	taken, err := attribution.Names()
	switch {
	case err != nil:
		return err
	case strings.TrimSpace(name) != name || name == "" || strings.ContainsAny(name, "\",\r\n"):
		return fmt.Errorf("--name is %q, want a name without commas, quotation marks and line ends", name)
	case slices.Contains(taken, name):
		return fmt.Errorf("--name is %q, and rows.csv has a method of this name: want another", name)
	}
	return nil
}

// score returns the rows of a method, whose scores of each case a file has.
func score(ctx context.Context, all []attribution.Case, path, name string) ([]attribution.Row, error) {
	b, err := files.Read(path, 1<<30)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	archive, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return nil, fmt.Errorf("%s: %w: want an archive of numpy.savez", path, err)
	}
	scores, err := readScores(archive, all)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	sum := &trial.Sum{Meter: runs.Terminal(os.Stderr), What: "cases scored", Work: slices.Repeat([]float64{1}, len(all))}
	var rows []attribution.Row
	for i, c := range all {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		row, err := attribution.Evaluate(c, attribution.Method{
			Name: name, Score: func(attribution.Case) (*mat.Dense, error) { return scores[i], nil },
		})
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
		sum.Finish(i)
	}
	return rows, nil
}

// readScores returns the T x T matrix of each case. The error names the first of the cases that have none.
func readScores(archive *zip.Reader, all []attribution.Case) ([]*mat.Dense, error) {
	scores, missing := make([]*mat.Dense, len(all)), []string(nil)
	for i, c := range all {
		f, err := archive.Open(c.Name() + ".npy")
		if err != nil {
			missing = append(missing, c.Name())
			continue
		}
		if scores[i], err = readSquare(f, c.Test.T); err != nil {
			return nil, fmt.Errorf("array %s: %w", c.Name(), err)
		}
	}
	if missing != nil {
		return nil, fmt.Errorf("%d of %d cases have no scores: want an array named %s, a name of cases.json, and so on",
			len(missing), len(all), missing[0])
	}
	return scores, nil
}

// readSquare reads an array of t x t numbers of floating point, in the order of C or Fortran.
func readSquare(f io.Reader, t int) (m *mat.Dense, err error) {
	defer func() {
		if r := recover(); r != nil { // of a header that is damaged
			err = fmt.Errorf("no array of NumPy: %v", r)
		}
	}()
	r, err := npy.NewReader(f)
	if err != nil {
		return nil, err
	}
	d := r.Header.Descr
	if !slices.Equal(d.Shape, []int{t, t}) {
		return nil, fmt.Errorf("shape %v, want %d x %[2]d", d.Shape, t)
	}
	data := make([]float64, t*t)
	switch strings.TrimLeft(d.Type, "<=|") {
	case "f8":
		err = r.Read(&data)
	case "f4":
		single := make([]float32, t*t)
		err = r.Read(&single)
		for i, v := range single {
			data[i] = float64(v)
		}
	default:
		return nil, fmt.Errorf("type %s, want float64 or float32", d.Type)
	}
	m = mat.NewDense(t, t, data)
	if d.Fortran {
		m = mat.DenseCopyOf(m.T())
	}
	return m, err
}

// printScores prints the means of each set beside those of attention, and the lines of rows.csv.
func printScores(w io.Writer, rows []attribution.Row, asCSV bool) error {
	stored, err := attribution.Stored()
	if err != nil {
		return err
	}
	if !asCSV {
		lines := "set\tmethod\tcases\tAUC\tAUC of learned\ttop-1\tkept\n"
		for _, set := range []string{"early", "disentangled", "standard"} {
			for _, of := range [][]attribution.Row{rows, stored} {
				var values [4][]float64
				name := ""
				for _, r := range of {
					if r.Set == set && (r.Method == rows[0].Method || r.Method == "attention") {
						name = r.Method
						for k, v := range []float64{r.AUC, r.Learned, r.Top, r.Kept} {
							if !math.IsNaN(v) {
								values[k] = append(values[k], v)
							}
						}
					}
				}
				lines += fmt.Sprintf("%s\t%s\t%d", set, name, len(values[0]))
				for _, v := range values {
					lines += fmt.Sprintf("\t%.3f", stat.Mean(v, nil))
				}
				lines += "\n"
			}
		}
		printColumns(w, lines+"\n")
		fmt.Fprintln(w, attribution.Header)
	}
	for _, r := range rows {
		fmt.Fprintln(w, r.CSV())
	}
	return nil
}

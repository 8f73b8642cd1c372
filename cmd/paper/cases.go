package main

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/sbinet/npyio/npy"
	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/mat"

	"learncausal/internal/files"
	"learncausal/internal/runs"
	"learncausal/paper/attribution"
	"learncausal/paper/trial"
	"learncausal/pkg/model"
)

func newCases() *cobra.Command {
	out := folder("cases")
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
			return writeCases(c.OutOrStdout(), all, string(out))
		},
	}
	c.Flags().VarP(&out, "out", "o", "where to write")
	return c
}

// writeCases writes cases.json, and weights, sequences, targets and parents of each case.
func writeCases(w io.Writer, all []attribution.Case, out string) error {
	var list []map[string]any
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
		list = append(list, map[string]any{
			"name": c.Name(), "file": name, "set": c.Set, "model": kind, "run": c.Run, "step": c.Step,
			"states": c.Test.S, "parents": c.Parents,
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
			taken, err := attribution.Names()
			if err != nil {
				return err
			}
			if slices.Contains(taken, name) || name == "" || strings.Trim(name, " ") != name ||
				strings.ContainsAny(name, "\",\r\n") {
				return fmt.Errorf("--name is %q, want a name without commas and quotation marks that is not in rows.csv", name)
			}
			rows, err := score(c.Context(), args[0], name)
			if err != nil {
				return fmt.Errorf("%s: %w", args[0], err)
			}
			if !asCSV {
				printMeans(c.OutOrStdout(), rows)
			}
			for _, r := range rows {
				fmt.Fprintln(c.OutOrStdout(), r.CSV())
			}
			return nil
		},
	}
	c.Flags().StringVar(&name, "name", "", "the `name` of the method in tables")
	c.Flags().BoolVar(&asCSV, "csv", false, "print the lines of rows.csv alone")
	return c
}

// score returns the rows of a method, of which an archive has an array for each case.
func score(ctx context.Context, path, name string) (rows []attribution.Row, err error) {
	b, err := files.Read(path, 1<<30)
	if err != nil {
		return nil, err
	}
	archive, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return nil, fmt.Errorf("%w: want an archive of numpy.savez", err)
	}
	all, err := attribution.Cases(ctx, trial.Stored(runs.Terminal(os.Stderr)))
	if err != nil {
		return nil, err
	}
	for _, c := range all {
		f, err := archive.Open(c.Name() + ".npy")
		if err != nil {
			return nil, fmt.Errorf("no array %s: want one for each of the %d names of cases.json", c.Name(), len(all))
		}
		m, err := readSquare(f, c.Test.T)
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, fmt.Errorf("array %s: %w", c.Name(), err)
		}
		row, err := attribution.Evaluate(c, attribution.Method{
			Name: name, Score: func(attribution.Case) (*mat.Dense, error) { return m, nil },
		})
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	return rows, nil
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

// printMeans prints the means over the cases of each set, and the head of rows.csv.
func printMeans(w io.Writer, rows []attribution.Row) {
	lines := "set\tcases\tAUC\tAUC of learned\ttop-1\tkept\n"
	for _, set := range []string{"early", "disentangled", "standard"} {
		of := slices.DeleteFunc(slices.Clone(rows), func(r attribution.Row) bool { return r.Set != set })
		var sum [4]float64
		for _, r := range of {
			for k, v := range []float64{r.AUC, r.Learned, r.Top, r.Kept} {
				sum[k] += v / float64(len(of))
			}
		}
		lines += fmt.Sprintf("%s\t%d\t%.3f\t%.3f\t%.3f\t%.3f\n", set, len(of), sum[0], sum[1], sum[2], sum[3])
	}
	printColumns(w, lines+"\n")
	fmt.Fprintln(w, attribution.Header)
}

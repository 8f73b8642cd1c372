package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"learncausal/internal/figure"
	"learncausal/internal/files"
	"learncausal/internal/runs"
	"learncausal/paper/account"
	"learncausal/paper/figures"
	"learncausal/paper/trial"
)

// An exporting has the flags of export.
type exporting struct {
	out, run            string
	width, height, size string
	slide               bool
}

func newExport() *cobra.Command {
	f := &exporting{}
	c := &cobra.Command{
		Use:   "export [id...]",
		Short: "Write figures, tables and numbers of the paper or of a run",
		Long:  help("export"),
		Example: `  paper export                                # figures/ of the checkout
  paper export -o my-figures fig-many-graphs  # one figure, in a few seconds
  paper export -o slides --slide fig-ood fig-mlp:a,d,g
  paper export -o poster --width 30cm --type 14pt fig-many-graphs
  paper export --run my-graph -o my-figures --width 84mm
  paper export errata supplement`,
		RunE: func(c *cobra.Command, ids []string) error {
			if f.slide {
				f.width, f.height = cmp.Or(f.width, "140mm"), cmp.Or(f.height, "72mm")
			}
			if f.run != "" {
				return f.exportRun(c.Context(), c.OutOrStdout(), ids)
			}
			return f.export(c.Context(), c.OutOrStdout(), ids)
		},
	}
	var all []cobra.Completion
	for _, e := range figures.Entries() {
		all = append(all, cobra.CompletionWithDesc(e.ID, e.Title))
	}
	c.ValidArgsFunction = cobra.FixedCompletions(all, cobra.ShellCompDirectiveNoFileComp)
	flags := c.Flags()
	flags.VarP((*folder)(&f.out), "out", "o", "where to write (default figures/ of the checkout)")
	flags.Var((*folder)(&f.run), "run", "draw the run of this folder: graph, curve and weights; needs -o")
	flags.StringVar(&f.width, "width", "", "`width` of the figures, as in 5.5in or 84mm; needs ids or --run, and -o")
	flags.StringVar(&f.height, "height", "", "largest `height` of the figures; needs --width")
	flags.StringVar(&f.size, "type", "", "`size` of the labels, as in 10pt (default 8pt, or less where --height needs it)")
	flags.BoolVar(&f.slide, "slide", false, "140mm x 72mm, for a slide of beamer of 160mm x 90mm with a title")
	return c
}

// layout returns the width, the height and the size of type, 0 if they are not given.
func (f *exporting) layout() (w, h figure.Width, size float64, err error) {
	var errs [3]error
	switch {
	case f.width == "" && cmp.Or(f.height, f.size) != "":
		return 0, 0, 0, errors.New("--height and --type need --width")
	case f.width == "":
		return 0, 0, 0, nil
	case f.out == "":
		return 0, 0, 0, errors.New("--width needs the ids of figures, and a folder with -o")
	}
	w, errs[0] = figure.ParseWidth(f.width)
	if f.height != "" {
		h, errs[1] = figure.ParseWidth(f.height)
	}
	if f.size != "" {
		size, errs[2] = figure.ParseType(f.size)
	}
	return w, h, size, errors.Join(errs[:]...)
}

// exportRun writes the figures of a stored run, or those of the names graph, curve and weights.
func (f *exporting) exportRun(ctx context.Context, w io.Writer, names []string) error {
	if f.out == "" {
		return errors.New("--run needs a folder with -o")
	}
	wide, high, size, err1 := f.layout()
	found, err2 := find(f.run, "")
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	if found.run == nil || found.run.WithoutWeights() {
		return fmt.Errorf("%s: the run is not finished, or kept without weights, which its figures need", found.dir)
	}
	own, err := measure(ctx, found.run)
	if err != nil {
		return err
	}
	own.Nodes = nodeNames(found.dir, own.Run.Spec)
	name := strings.Trim(notInID.ReplaceAllString(strings.ToLower(filepath.Base(filepath.Clean(f.run))), "-"), "-")
	entries, err := figures.RunEntries(own, cmp.Or(name, "run"), cmp.Or(wide, figure.TwoColumns), high, size)
	if err != nil {
		return err
	}
	if len(names) > 0 {
		entries = slices.DeleteFunc(entries, func(e figures.Entry) bool {
			return !slices.ContainsFunc(names, func(n string) bool { return e.ID == n || strings.HasSuffix(e.ID, "-"+n) })
		})
		if len(entries) != len(names) {
			return fmt.Errorf("%q: want some of graph, curve and, of a disentangled transformer, weights", names)
		}
	}
	paths, err := f.into(ctx, newResults(), entries...)
	for _, p := range paths {
		fmt.Fprintln(w, p)
	}
	return err
}

// notInID matches what no id of a figure has.
var notInID = regexp.MustCompile(`[^a-z0-9]+`)

// chosen returns the entries of ids, with figures laid out for a width and a height, if given.
func (f *exporting) chosen(ids []string) ([]figures.Entry, error) {
	w, h, size, err := f.layout()
	if err == nil && w > 0 && len(ids) == 0 {
		err = errors.New("--width needs the ids of figures, and a folder with -o")
	}
	if err != nil {
		return nil, err
	}
	entries, err := figures.Select(ids...)
	for i, e := range entries {
		if w > 0 {
			entries[i] = e.At(w, h, size)
		}
	}
	return entries, err
}

// export writes the figures and tables of the given ids, and prints the paths of the files. Without ids it
// writes all of them, and prints the table of results. It writes CLAIMS.md with the ledger in figures/.
func (f *exporting) export(ctx context.Context, w io.Writer, ids []string) error {
	entries, err := f.chosen(ids)
	if err != nil {
		return err
	}
	dir, err := files.Checkout("figures") // also with -o: the runs that are drawn stand there
	if err != nil {
		return err
	}
	if f.out != "" {
		dir = f.out
	} else if err := writable(dir); err != nil {
		return err
	}
	if p := figure.Platform(); p != figure.Pinned {
		fmt.Fprintf(os.Stderr, "paper: compiled for %s: last digits may differ from those in figures/, made on %s\n",
			p, figure.Pinned)
	}
	results := newResults()
	paths, failed := f.into(ctx, results, entries...)
	if failed != nil && (len(ids) == 0 || ctx.Err() != nil) {
		return failed
	}
	if all := len(ids) == 0; f.out == "" && (all || slices.Contains(ids, "claims")) {
		l, err := account.Stored()
		if err != nil {
			return err
		}
		if err := account.WritePage(l); err != nil {
			return err
		}
	}
	if len(ids) > 0 {
		for _, p := range paths {
			fmt.Fprintln(w, p)
		}
		return failed
	}
	return printSummary(ctx, w, results, dir)
}

// into exports entries, all of them if there are none, into figures/ of the checkout, whose files git keeps, or into
// the folder of --out. There it replaces only what it wrote and nobody has changed since.
func (f *exporting) into(ctx context.Context, r *figures.Results, entries ...figures.Entry) ([]string, error) {
	if f.out == "" {
		dir, err := files.Checkout("figures")
		if err != nil {
			return nil, err
		}
		return r.Export(ctx, dir, entries...)
	}
	out := files.Folder(f.out)
	if err := errors.Join(writable(f.out), out.Check(figures.Documents(len(entries) == 0)...)); err != nil {
		return nil, err
	}
	drawn, err := os.MkdirTemp("", "paper-export-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(drawn)
	// New captions stand beside those of an earlier export.
	old, err := files.Read(filepath.Join(f.out, figures.Captions), 1<<30)
	if err == nil {
		err = files.Write(filepath.Join(drawn, figures.Captions), old)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	paths, failed := r.Export(ctx, drawn, entries...)
	if len(paths) == 0 {
		return nil, failed
	}
	var all []files.File
	for i, path := range paths {
		b, err := files.Read(path, 1<<30)
		if err != nil {
			return nil, errors.Join(failed, err)
		}
		paths[i] = filepath.Join(f.out, filepath.Base(path))
		all = append(all, files.File{Name: filepath.Base(path), Data: b})
	}
	if err := out.Write(all...); err != nil {
		return nil, errors.Join(failed, err)
	}
	return paths, failed
}

// newResults returns results of the runs in the checkout, with a progress bar.
func newResults() *figures.Results {
	meter := runs.Terminal(os.Stderr)
	results := figures.New(trial.Stored(meter))
	results.Meter = meter
	return results
}

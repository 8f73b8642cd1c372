package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"learncausal/internal/files"
	"learncausal/paper/errata"
	"learncausal/paper/figures"
	"learncausal/paper/trial"
)

func newAnnotate() *cobra.Command {
	var out, page string
	c := &cobra.Command{
		Use:   "annotate paper.tex",
		Short: "Mark the statements in a copy of the paper's LaTeX source",
		Long: `annotate copies the LaTeX source of the paper and puts a mark into the margin at
each statement: the verdict of the ledger, the kind of the error, the margin,
and a link. Labels and numbers find the statements, also in a copy with other
line breaks; standard error lists what is not found. Figures of the paper are
replaced by ours, and a number that it quotes has ours beside it.

ledger.sty is written beside the copy. Its option corrections also prints what
holds below a statement that is false, as in
  pdflatex '\PassOptionsToPackage{corrections}{ledger}\input{annotated}'
With its option off the copy is typeset as the source. In any document,
\ledger{lem-tv} puts the same mark beside its line.`,
		Example: `  paper annotate paper.tex -o annotated.tex
  paper annotate paper.tex --page https://example.org/ledger.html`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return annotate(args[0], out, page) },
	}
	c.Flags().StringVarP(&out, "out", "o", "annotated.tex", "`file` of the copy")
	c.Flags().StringVar(&page, "page", "", "`address` of the ledger for the links (default CLAIMS.md of the checkout)")
	return c
}

// annotate writes an annotated copy of a source, and ledger.sty beside the copy.
func annotate(path, out, page string) error {
	source, err := files.Read(path, 1<<26)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	folder, err := trial.Dir("figures")
	if err != nil {
		return err
	}
	l, err1 := figures.StoredLedger()
	style, err2 := files.Read(filepath.Join(folder, "ledger.sty"), 1<<24)
	dir, err3 := filepath.Abs(filepath.Dir(out))
	if err := errors.Join(err1, err2, err3); err != nil {
		return err
	}
	if rel, err := filepath.Rel(dir, folder); err == nil {
		folder = rel
	}
	folder = filepath.ToSlash(folder)
	before := fmt.Sprintf(`\def\ledgerfigures{%s/}\def\ledgerpage{%s}`, folder, cmp.Or(page, folder+"/../CLAIMS.md"))
	text, missing, err := errata.Annotate(string(source), l, before)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	for _, m := range missing {
		fmt.Fprintln(os.Stderr, "paper:", m)
	}
	if here, err := filepath.Abs(path); err == nil && here == filepath.Join(dir, filepath.Base(out)) {
		return fmt.Errorf("-o %s is the source itself: name another file", out)
	}
	return errors.Join(files.Write(out, []byte(text)), files.Write(filepath.Join(dir, "ledger.sty"), style))
}

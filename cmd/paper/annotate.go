package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"learncausal/internal/files"
	"learncausal/paper/account"
	"learncausal/paper/errata"
)

func newAnnotate() *cobra.Command {
	var out, page string
	var corrections bool
	c := &cobra.Command{
		Use:   "annotate paper.tex",
		Short: "Mark the statements in a copy of the paper's LaTeX source",
		Long:  help("annotate"),
		Example: `  paper annotate paper.tex -o annotated.tex
  paper annotate paper.tex --page https://example.org/ledger.html
  paper annotate --corrections paper.tex`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if corrections && !c.Flags().Changed("out") {
				out = filepath.Join(filepath.Dir(args[0]), "corrections.patch")
			}
			if err := replaceable(args[0], out); err != nil {
				return err
			}
			if corrections {
				return correct(c.Context(), c.OutOrStdout(), args[0], out)
			}
			return annotate(c.Context(), c.OutOrStdout(), args[0], out, page)
		},
	}
	c.Flags().StringVarP(&out, "out", "o", "annotated.tex", "`file` of the copy, or of the patch")
	c.Flags().BoolVar(&corrections, "corrections", false,
		"write the letter's corrections as a patch, corrections.patch beside it")
	c.Flags().StringVar(&page, "page", "", "`address` of the ledger for the links (default CLAIMS.md of the checkout)")
	return c
}

// styleName is the name of the LaTeX package beside the copy.
const styleName = "ledger.sty"

// replaceable returns an error if the copy would replace its source, ledger.sty, or a file of someone else.
func replaceable(source, out string) error {
	switch {
	case files.Same(source, out):
		return fmt.Errorf("-o %s is the source itself: name another file", out)
	case strings.EqualFold(filepath.Base(out), styleName):
		return fmt.Errorf("-o %s has the name of the LaTeX package that is written beside the copy: name another file", out)
	}
	return files.Folder(filepath.Dir(out)).Check(filepath.Base(out))
}

// annotate writes an annotated copy of a source, and ledger.sty beside the copy.
func annotate(ctx context.Context, w io.Writer, path, out, page string) error {
	dir, err1 := filepath.Abs(filepath.Dir(out))
	folder, err2 := files.Checkout("figures")
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	style, err := files.Read(filepath.Join(folder, styleName), 1<<24)
	if err != nil {
		return err
	}
	if rel, err := filepath.Rel(dir, folder); err == nil {
		folder = rel
	}
	folder = filepath.ToSlash(folder)
	before := fmt.Sprintf(`\def\ledgerfigures{%s/}\def\ledgerpage{%s}`,
		errata.Literal(folder), errata.Literal(address(page, folder)))
	var text string
	var missing []string
	err = promptly(ctx, 0, func() (err error) { text, missing, err = annotated(path, before); return err })
	if err = cmp.Or(err, ctx.Err()); err != nil {
		return err
	}
	for _, m := range missing {
		fmt.Fprintln(os.Stderr, "paper:", m)
	}
	err = files.Folder(dir).Write(files.File{Name: filepath.Base(out), Data: []byte(text)},
		files.File{Name: styleName, Data: style})
	if err == nil {
		fmt.Fprintf(w, "%s and %s are written\n", out, filepath.Join(filepath.Dir(out), styleName))
	}
	return err
}

// patchHead is the first line of a patch; patch and git apply skip it.
const patchHead = "The corrections that figures/errata.pdf proposes, written by paper annotate --corrections.\n"

// correct writes the corrections of a source as a patch, for patch -p0 or git apply -p0 in the folder of the source.
func correct(ctx context.Context, w io.Writer, path, out string) error {
	source, err := files.Read(path, 1<<26)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	var patch string
	var missing []string
	err = promptly(ctx, 0, func() (err error) {
		patch, missing, err = errata.Patch(string(source), filepath.Base(path))
		return err
	})
	if err = cmp.Or(err, ctx.Err()); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	for _, m := range missing {
		fmt.Fprintln(os.Stderr, "paper:", m)
	}
	file := files.File{Name: filepath.Base(out), Data: []byte(patchHead + patch)}
	if err := files.Folder(filepath.Dir(out)).Write(file); err != nil {
		return err
	}
	fmt.Fprintf(w, "%s changes %d places. Then: patch -p0 -d %s < %[1]s\n",
		out, strings.Count(patch, "\n@@ "), filepath.Dir(path))
	return nil
}

// annotated returns the annotated copy of a source, and what is missing in it.
func annotated(path, before string) (text string, missing []string, err error) {
	source, err1 := files.Read(path, 1<<26)
	l, err2 := account.Stored()
	if err1 != nil {
		err1 = fmt.Errorf("%s: %w", path, err1)
	}
	if err := errors.Join(err1, err2); err != nil {
		return "", nil, err
	}
	if text, missing, err = errata.Annotate(string(source), l, before); err != nil {
		err = fmt.Errorf("%s: %w", path, err)
	}
	return text, missing, err
}

// illegal matches the bytes that no address has.
var illegal = regexp.MustCompile(`[^!#-;=?-Z\[\]_a-z~]`)

// address returns the address of the ledger: a page, in which illegal bytes are replaced by their codes, or
// CLAIMS.md beside the folder of the figures.
func address(page, folder string) string {
	if page == "" {
		return (&url.URL{Path: folder + "/../CLAIMS.md"}).String()
	}
	return illegal.ReplaceAllStringFunc(page, url.PathEscape)
}

package figures

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"learncausal/internal/files"
	"learncausal/paper/errata"
	"learncausal/paper/ledger"
)

// An erratum is a document on the ledger as LaTeX: the letter, errata, or its supplement.
type erratum struct {
	name   string
	text   func(*ledger.Ledger) (string, error)
	ledger *ledger.Ledger
}

func newErratum(name string, text func(*ledger.Ledger) (string, error)) source[erratum] {
	return then(fullLedger, func(l *ledger.Ledger) erratum { return erratum{name, text, l} })
}

// Export writes the document as TeX and, where there is LaTeX, as PDF. Where there is
// none it says so on standard error.
func (e erratum) Export(dir string) ([]string, error) {
	text, err := e.text(e.ledger)
	if err != nil {
		return nil, err
	}
	paths, _, err := errata.Write(context.Background(), e.name, text, dir)
	if errors.Is(err, errata.ErrNoLaTeX) {
		fmt.Fprintf(os.Stderr, "!!! %s.pdf %v\n", e.name, err)
		err = nil
	}
	return paths, err
}

// A marginStyle is the LaTeX package with the verdicts of the ledger.
type marginStyle string

func newMargin(ctx context.Context, r *Results) (marginStyle, error) {
	l, err1 := fullLedger(ctx, r)
	c, err2 := comparison(ctx, r)
	if err := errors.Join(err1, err2); err != nil {
		return "", err
	}
	style, err := errata.Style(l, comparisonNumbers(c))
	return marginStyle(style), err
}

// Export writes ledger.sty.
func (m marginStyle) Export(dir string) ([]string, error) {
	path := filepath.Join(dir, "ledger.sty")
	return []string{path}, files.WriteOwn(path, begin(string(m)), []byte(m))
}

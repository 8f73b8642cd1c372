package report

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"learncausal/paper/errata"
)

// The erratum compiles, with nothing cut off, missing or undefined.
func TestErratumIsTypeset(t *testing.T) {
	if testing.Short() {
		t.Skip("slow: it runs LaTeX")
	}
	l, err := ReadLedger(exported(t))
	if err != nil {
		t.Fatal(err)
	}
	e, err := newErratum(l)
	if err != nil {
		t.Fatal(err)
	}
	pdf, log, err := errata.Typeset(t.Context(), e.source)
	if errors.Is(err, errata.ErrNoLaTeX) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "errata.pdf")
	if err := os.WriteFile(path, pdf, 0o644); err != nil {
		t.Fatal(err)
	}
	keep(t, path, "errata.pdf")
	faults := regexp.MustCompile(`(?m)^(Overfull|Missing character|LaTeX Font Warning|LaTeX Warning|Package \S+ Warning).*`)
	if bad := faults.FindAllString(string(log), -1); bad != nil {
		t.Errorf("log:\n%s", strings.Join(bad, "\n"))
	}
}

package report

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
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
	dir := t.TempDir()
	paths, log, err := errata.Write(t.Context(), e.source, dir)
	if errors.Is(err, errata.ErrNoLaTeX) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	pdf := filepath.Join(dir, typeset)
	if want := []string{filepath.Join(dir, "errata.tex"), pdf}; !slices.Equal(paths, want) {
		t.Errorf("wrote %q, want %q", paths, want)
	}
	if b, err := os.ReadFile(pdf); err != nil || !bytes.HasPrefix(b, []byte("%PDF-")) {
		t.Errorf("no PDF in errata.pdf: it begins with %.10q (%v)", b, err)
	}
	keep(t, pdf, typeset)
	faults := regexp.MustCompile(`(?m)^(Overfull|Missing character|LaTeX Font Warning|LaTeX Warning|Package \S+ Warning).*`)
	if bad := faults.FindAllString(string(log), -1); bad != nil {
		t.Errorf("log:\n%s", strings.Join(bad, "\n"))
	}
}

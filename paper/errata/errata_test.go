package errata

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"learncausal/paper/claims"
	"learncausal/pkg/ledger"
)

// stored returns the ledger of the checkout, or of the folder that FIGURES names.
func stored(t *testing.T) *ledger.Ledger {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(cmp.Or(os.Getenv("FIGURES"), "../../figures"), "claims.json"))
	if err != nil {
		t.Fatal(err)
	}
	l, err := ledger.Parse(b)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// Every row that fails has a remark, every correction a proof, and no file belongs
// to nothing.
func TestProseCoversTheLedger(t *testing.T) {
	gaps, err := Gaps(stored(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range gaps {
		t.Error(g)
	}
	for _, folder := range []string{"remarks", "proofs"} {
		texts, err := prose(folder)
		if err != nil {
			t.Fatal(err)
		}
		for id := range texts {
			if !slices.ContainsFunc(claims.All(), func(c ledger.Claim) bool { return c.ID == id }) {
				t.Errorf("%s/%s.tex: no row has this id", folder, id)
			}
		}
	}
}

// The document compiles with nothing cut off, missing or undefined.
func TestDocumentIsTypeset(t *testing.T) {
	if testing.Short() {
		t.Skip("slow: it runs LaTeX")
	}
	source, err := Source(stored(t))
	if err != nil {
		t.Fatal(err)
	}
	pdf, log, err := Typeset(t.Context(), source)
	if dir := os.Getenv("DEMO"); dir != "" {
		_ = os.WriteFile(filepath.Join(dir, "errata.tex"), []byte(source), 0o644)
		_ = os.WriteFile(filepath.Join(dir, "errata.pdf"), pdf, 0o644)
		_ = os.WriteFile(filepath.Join(dir, "errata.log"), log, 0o644)
	}
	if errors.Is(err, ErrNoLaTeX) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	faults := regexp.MustCompile(`(?m)^(Overfull|Missing character|LaTeX Font Warning|LaTeX Warning|Package \S+ Warning).*`)
	if bad := faults.FindAllString(string(log), -1); bad != nil {
		t.Errorf("log:\n%s", strings.Join(bad, "\n"))
	}
}

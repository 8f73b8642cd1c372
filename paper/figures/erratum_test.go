package figures

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"learncausal/paper/account"
	"learncausal/paper/errata"
	"learncausal/paper/ledger"
)

// The letter and the supplement compile, with nothing cut off, missing or undefined.
func TestErratumIsTypeset(t *testing.T) {
	if testing.Short() {
		t.Skip("slow: it runs LaTeX")
	}
	l, err := account.Read(exported(t))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	faults := regexp.MustCompile(`(?m)^(Overfull|Missing character|LaTeX (?:Font )?Warning|Package \S+ Warning).*`)
	for name, text := range map[string]func(*ledger.Ledger) (string, error){
		"errata": errata.Letter, "supplement": errata.Supplement,
	} {
		source, err := text(l)
		if err != nil {
			t.Fatal(err)
		}
		paths, log, err := errata.Write(t.Context(), name, source, dir)
		if errors.Is(err, errata.ErrNoLaTeX) {
			t.Skip(err)
		}
		if err != nil {
			t.Fatal(err)
		}
		pdf := filepath.Join(dir, name+".pdf")
		if want := []string{filepath.Join(dir, name+".tex"), pdf}; !slices.Equal(paths, want) {
			t.Errorf("wrote %q, want %q", paths, want)
		}
		if b, err := os.ReadFile(pdf); err != nil || !bytes.HasPrefix(b, []byte("%PDF-")) {
			t.Errorf("no PDF: it begins with %.10q (%v)", b, err)
		}
		keep(t, pdf, name+".pdf")
		if bad := faults.FindAllString(string(log), -1); bad != nil {
			t.Errorf("%s.log:\n%s", name, strings.Join(bad, "\n"))
		}
		if pages := regexp.MustCompile(`\([1-5] pages`); name == "errata" && !pages.Match(log) {
			t.Error("the letter has more than five pages")
		}
	}
}

package repo

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// canned finds calls that show stored figures, tables, checks or runs.
var canned = regexp.MustCompile(`show\.(Figure|Table|Check|Stored|Replay|Summary|Headline|Resting|Rows|Verdicts|Provenance)\(`)

// computes finds statements other than such calls.
var computes = regexp.MustCompile(`:=|\bfor\b|nb\.Plot\(|nb\.Printf\(|NewTable\(|Live\(`)

// The test counts three kinds of cells. A definition computes a quantity from its formula,
// and has the tag. A plot is drawn with gonum. A canned cell only shows stored results.
// Run it with -v to see the counts.
func TestNotebooksComputeTheirNumbers(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(root, "notebooks", "*.ipynb"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d notebooks, %v", len(files), err)
	}
	definitions, plots, drawing := 0, 0, 0
	t.Logf("%-32s %s", "notebook", "definitions  plots  canned of programs")
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var book struct {
			Cells []struct {
				Type     string `json:"cell_type"`
				Source   []string
				Metadata struct{ Tags []string }
			}
		}
		if err := json.Unmarshal(b, &book); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		def, plot, stored, programs := 0, 0, 0, 0
		for _, c := range book.Cells {
			head, program, runs := strings.Cut("\n"+strings.Join(c.Source, ""), "\n%%")
			if c.Type != "code" || !runs || slices.Contains(c.Metadata.Tags, "try") {
				continue
			}
			programs++
			if slices.Contains(c.Metadata.Tags, "definition") {
				def++
			}
			if strings.Contains(program, "nb.Plot(") && strings.Contains(head+program, "plot.New()") {
				plot++
			}
			if canned.MatchString(program) && !computes.MatchString(program) {
				stored++
			}
		}
		name := filepath.Base(file)
		t.Logf("%-32s %11d  %5d  %d of %d", name, def, plot, stored, programs)
		if number := name[:2]; slices.Contains([]string{"03", "04", "11", "12", "13"}, number) && 3*stored > programs {
			t.Errorf("%s: %d of %d programs only show what is stored, want at most a third", name, stored, programs)
		}
		definitions, plots, drawing = definitions+def, plots+plot, drawing+min(plot, 1)
	}
	if plots < 20 || drawing < 8 {
		t.Errorf("%d cells of %d notebooks draw with gonum/plot, want 20 of 8", plots, drawing)
	}
	if definitions < 8 {
		t.Errorf("%d cells compute a quantity from its definition, want 8", definitions)
	}
}

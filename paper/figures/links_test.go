package figures

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	link   = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	anchor = regexp.MustCompile(`<a id="([^"]+)">`)
)

// deadLinks returns the targets in a text of Markdown, in a notebook, that are
// neither a heading of it, nor a file, nor a row of the ledger's page, nor on the web.
func deadLinks(text, folder string, rows map[string]bool) (dead []string) {
	for _, m := range link.FindAllStringSubmatch(text, -1) {
		target := m[1]
		if strings.HasPrefix(target, "https://") {
			continue
		}
		file, row, _ := strings.Cut(target, "#")
		if file == "" {
			if !strings.Contains(text, "# "+strings.ReplaceAll(row, "-", " ")) {
				dead = append(dead, target)
			}
			continue
		}
		_, err := os.Stat(filepath.Join(folder, file))
		if err != nil || row != "" && !(file == "../CLAIMS.md" && rows[row]) {
			dead = append(dead, target)
		}
	}
	return dead
}

var (
	headings    = regexp.MustCompile(`(?m)^#+ (.*)$`)
	punctuation = regexp.MustCompile(`[^\p{L}\p{N}-]`)
)

// The links in the texts and in the outputs of the notebooks lead to a file, and
// those to the ledger to a row or heading of it.
func TestLinksInNotebooksLeadSomewhere(t *testing.T) {
	folder := filepath.Join("..", "..", "notebooks")
	page, err := os.ReadFile(filepath.Join(folder, "..", "CLAIMS.md"))
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]bool{}
	for _, m := range anchor.FindAllSubmatch(page, -1) {
		rows[string(m[1])] = true
	}
	for _, m := range headings.FindAllSubmatch(page, -1) {
		name := strings.ReplaceAll(strings.ToLower(string(m[1])), " ", "-")
		rows[punctuation.ReplaceAllString(name, "")] = true
	}
	const bad = "[a](nowhere.ipynb) [b](../CLAIMS.md#no-row) [c](../CLAIMS.md) [d](https://go.dev) " +
		"[e](#Here-I-am) [f](#Nor-there)\n## Here I am"
	if dead := deadLinks(bad, folder, rows); len(dead) != 3 {
		t.Errorf("dead links in %q: %q, want the first two and the last", bad, dead)
	}
	paths, err := filepath.Glob(filepath.Join(folder, "*.ipynb"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("%d notebooks: %v", len(paths), err)
	}
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var nb struct {
			Cells []struct {
				Type    string `json:"cell_type"`
				Source  []string
				Outputs []struct {
					Data struct {
						Text []string `json:"text/markdown"`
					}
				}
			}
		}
		if err := json.Unmarshal(b, &nb); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		var text strings.Builder
		for _, c := range nb.Cells {
			if c.Type == "markdown" {
				text.WriteString(strings.Join(c.Source, ""))
			}
			for _, o := range c.Outputs {
				text.WriteString(strings.Join(o.Data.Text, ""))
			}
		}
		if dead := deadLinks(text.String(), folder, rows); len(dead) > 0 {
			t.Errorf("%s: links that lead nowhere: %q", filepath.Base(path), dead)
		}
	}
}

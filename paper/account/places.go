package account

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"learncausal/internal/files"
	"learncausal/paper/errata"
	"learncausal/paper/ledger"
)

// Places returns a function from an id to the file below paper/claims that defines the statement,
// and the notebook that treats it best. A cell that checks it by its id or number in show.Check,
// or cites it in a comment, as in Lemma 14 (lem-mu-lower), counts most; then a text that
// states it by a link and the id in brackets; then how often the id stands there. A step or
// correction has the notebook of its statement, unless a notebook treats the step better.
func Places(l *ledger.Ledger) (func(id string) ledger.Place, error) {
	proofs, err := errata.Numbers(l)
	if err != nil {
		return nil, err
	}
	top, err := files.Checkout(".")
	if err != nil {
		return nil, err
	}
	code, err := texts(top, "paper/claims/*/*.go")
	if err != nil {
		return nil, err
	}
	notebooks, err := sources(top)
	if err != nil {
		return nil, err
	}
	return func(id string) ledger.Place {
		p := ledger.Place{Proof: proofs[id]}
		defined := regexp.MustCompile(`\bID: +"` + id + `"`)
		for path, text := range code {
			if defined.MatchString(text) {
				p.Source = path
			}
		}
		highest := 0
		for name := id; name != ""; name = statementOf(name) {
			if r := l.Find(name); r != nil {
				if path, rank := notebookOf(notebooks, name, r.Number); rank > highest {
					p.Notebook, highest = path, rank
				}
			}
		}
		return p
	}, nil
}

// statementOf removes the last part of the id of a correction or step: lem-tv-step-max
// becomes lem-tv, and lem-tv becomes empty.
func statementOf(id string) string {
	for _, part := range []string{"-corrected", "-sharp", "-step-"} {
		if k := strings.LastIndex(id, part); k >= 0 {
			return id[:k]
		}
	}
	return ""
}

// A notebook is the content of a notebook without its outputs.
type notebook struct{ code, text string }

// notebookOf returns the path and the rank of the notebook that treats a statement best, ""
// and 0 if none names it.
func notebookOf(notebooks map[string]notebook, id, number string) (best string, highest int) {
	for _, path := range slices.Sorted(maps.Keys(notebooks)) {
		if r := notebooks[path].rank(id, number); r > highest {
			best, highest = path, r
		}
	}
	return best, highest
}

// rank is 0 for a notebook that does not name the statement. A check counts more than a
// statement, and a statement more than any number of names.
func (s notebook) rank(id, number string) int {
	const check, statement = 2000, 1000
	n := strings.Count(s.text, "`"+id+"`") + strings.Count(s.text, "CLAIMS.md#"+id+")")
	if strings.Contains(s.text, "CLAIMS.md#"+id+") (`"+id+"`)") {
		n += statement
	}
	cited := regexp.MustCompile(`//.*\(` + regexp.QuoteMeta(id) + `\)`).MatchString(s.code)
	called := regexp.MustCompile(`show\.Check\((?:.|,\n)*"(` + regexp.QuoteMeta(id) + `|` + regexp.QuoteMeta(number) + `)"`)
	if cited || called.MatchString(s.code) {
		n += check
	}
	return n
}

// sources returns the notebooks by their paths relative to top.
func sources(top string) (map[string]notebook, error) {
	found, err := texts(top, "notebooks/*.ipynb")
	if err != nil {
		return nil, err
	}
	all := make(map[string]notebook)
	for path, text := range found {
		var file struct {
			Cells []struct {
				Kind   string   `json:"cell_type"`
				Source []string `json:"source"`
			} `json:"cells"`
		}
		if err := json.Unmarshal([]byte(text), &file); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		var s notebook
		for _, c := range file.Cells {
			if lines := strings.Join(c.Source, ""); c.Kind == "code" {
				s.code += lines + "\n"
			} else {
				s.text += lines + "\n"
			}
		}
		all[path] = s
	}
	return all, nil
}

// texts returns the texts of the files below top that match a pattern, by their paths relative to top.
func texts(top, pattern string) (map[string]string, error) {
	paths, err := filepath.Glob(filepath.Join(top, pattern))
	if err != nil {
		return nil, err
	}
	all := make(map[string]string)
	for _, path := range paths {
		b, err := files.Read(path, 1<<26)
		if err != nil {
			return nil, fmt.Errorf("looking for the statements: %w", err)
		}
		all[filepath.ToSlash(strings.TrimPrefix(path, top)[1:])] = string(b)
	}
	return all, nil
}

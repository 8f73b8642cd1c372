package account

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"learncausal/internal/figure"
	"learncausal/internal/files"
	"learncausal/paper/errata"
	"learncausal/paper/ledger"
)

// Files are the ledger as files: a table, claims.json and claims.dot.
type Files struct {
	ledger *ledger.Ledger
	table  *figure.Table
}

// NewFiles returns the files of a ledger.
func NewFiles(l *ledger.Ledger) (Files, error) {
	t, err := table(l)
	return Files{l, t}, err
}

// Table returns the table.
func (f Files) Table() *figure.Table { return f.table }

// Export writes the files.
func (f Files) Export(dir string) ([]string, error) {
	paths, err := f.table.Export(dir)
	if err != nil {
		return nil, err
	}
	more, err := Write(f.ledger, dir)
	return append(paths, more...), err
}

// table is the ledger as a long table for a LaTeX document.
func table(l *ledger.Ledger) (*figure.Table, error) {
	t := figure.NewTable(
		`The ledger: statements as printed, displayed steps, and corrected statements, each with the `+
			`verdict, the margin on the worst instance (where a statement `+
			`is refuted, on its witness; then negative) and the number of instances by the method that decided them.`,
		"Number", "Id", "Statement", "Verdict", "Margin", "Instances")
	t.ID, t.Long, t.Shares = "claims", true, []float64{0.16, 0.26, 1, 0.12, 0, 0.22}
	for _, r := range l.Rows {
		title, err := figure.EscapeTeX(r.Title)
		if err != nil {
			return nil, fmt.Errorf("account: title of %s: %w", r.ID, err)
		}
		statement := figure.Raw(r.Title, `\textbf{`+title+`.} `+r.Statement)
		margin := figure.Number{Value: r.Margin}.Shown()
		t.Add(r.Number, r.ID, statement, string(r.Verdict), margin, r.Instances.String())
	}
	return t, nil
}

// kindNames are the names of the kinds of rows in ids of numbers.
var kindNames = map[ledger.Kind]string{
	ledger.Statement: "statements", ledger.Step: "steps", ledger.Correction: "corrected",
}

// Numbers returns the number of rows of each kind by verdict. It counts the false statements by defect and, in
// theorems, lemmas and corollaries, as an author does.
func Numbers(l *ledger.Ledger) figure.Numbers {
	var ns figure.Numbers
	whole := func(id string, n int) {
		ns = append(ns, figure.Number{ID: strings.ReplaceAll(id, " ", "-"), Value: float64(n), Whole: true})
	}
	count := map[string]int{}
	for _, r := range l.Rows {
		kind := kindNames[r.Kind]
		count[kind]++
		if r.Kind == ledger.Statement && r.Failed() {
			count[kind+"-"+string(r.Defect)]++
		}
		count[kind+"-"+string(r.Verdict)]++
	}
	for _, kind := range slices.Sorted(maps.Values(kindNames)) {
		whole(kind, count[kind])
		for _, v := range ledger.Verdicts {
			whole(kind+"-"+string(v), count[kind+"-"+string(v)])
		}
	}
	for _, d := range ledger.Defects {
		id := kindNames[ledger.Statement] + "-" + string(d)
		whole(id, count[id])
	}
	for _, c := range l.Classes()[:3] {
		whole(c.Name, c.All)
		whole(c.Name+"-false", c.False)
	}
	return ns
}

// A Document is a document on the ledger as LaTeX: the letter, errata, or its supplement.
type Document struct {
	name   string
	text   func(*ledger.Ledger) (string, error)
	ledger *ledger.Ledger
}

// Letter returns the letter of corrections.
func Letter(l *ledger.Ledger) Document { return Document{"errata", errata.Letter, l} }

// Supplement returns the supplement of the letter.
func Supplement(l *ledger.Ledger) Document { return Document{"supplement", errata.Supplement, l} }

// Export writes the document as TeX and, where there is LaTeX, as PDF. Where there is
// none it says so on standard error.
func (d Document) Export(dir string) ([]string, error) {
	text, err := d.text(d.ledger)
	if err != nil {
		return nil, err
	}
	paths, _, err := errata.Write(context.Background(), d.name, text, dir)
	if errors.Is(err, errata.ErrNoLaTeX) {
		fmt.Fprintf(os.Stderr, "!!! %s.pdf %v\n", d.name, err)
		err = nil
	}
	return paths, err
}

// A Style is the LaTeX package with the verdicts of the ledger.
type Style string

// NewStyle returns the package with the numbers that the paper quotes.
func NewStyle(l *ledger.Ledger, quoted figure.Numbers) (Style, error) {
	text, err := errata.Style(l, quoted)
	return Style(text), err
}

// Export writes ledger.sty.
func (s Style) Export(dir string) ([]string, error) {
	path := filepath.Join(dir, "ledger.sty")
	return []string{path}, files.Write(path, []byte(s))
}

package figures

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"learncausal/internal/figure"
	"learncausal/internal/files"
	"learncausal/paper/ledger"
	"learncausal/paper/trial"
	"learncausal/pkg/runs"
)

// Check runs the checks of the claims and returns their rows and the time of each check, also
// with an error that names unsound rows, see [ledger.Run]. meter may be nil; its last message
// contains no time, so that outputs of notebooks are reproducible.
//
// When ctx is cancelled, Check returns at once. Running checks stop the next time that they
// test their context, some after seconds.
func Check(
	ctx context.Context, cs []ledger.Claim, quick bool, workers int, meter runs.Meter,
) (*ledger.Ledger, map[string]time.Duration, error) {
	var mu sync.Mutex // of took, and of meter
	took := make(map[string]time.Duration)
	meter = runs.Quiet(meter)
	meter.Update(0, len(cs), "checking")
	row := func(r ledger.Row, t time.Duration) {
		mu.Lock()
		defer mu.Unlock()
		if ctx.Err() != nil {
			return
		}
		took[r.ID] = t
		state := fmt.Sprintf("%d of %d checked, last %s (%v)", len(took), len(cs), r.ID, t.Round(time.Millisecond))
		meter.Update(len(took), len(cs), state)
	}
	var rows []ledger.Row
	var err error
	done := make(chan struct{})
	go func() {
		rows, err = ledger.Run(ctx, cs, quick, workers, row)
		close(done)
	}()
	select {
	case <-ctx.Done():
		mu.Lock()
		defer mu.Unlock()
		meter.Done(fmt.Sprintf("stopped after %d of %d", len(took), len(cs)))
		return nil, nil, ctx.Err()
	case <-done:
		if rows == nil {
			return nil, nil, err
		}
	}
	what := "rows"
	if len(cs) == 1 {
		what = "row"
	}
	meter.Done(fmt.Sprintf("%d %s checked", len(cs), what))
	l, unstorable := ledger.New(rows)
	return l, took, errors.Join(err, unstorable)
}

// fullLedger returns the stored ledger: running all checks takes minutes.
func fullLedger(_ context.Context, r *Results) (*ledger.Ledger, error) {
	return once(r, "ledger", StoredLedger)
}

// ledgerFiles are the ledger as files: a table, claims.json and claims.dot.
type ledgerFiles struct {
	ledger *ledger.Ledger
	table  *figure.Table
}

func newLedgerFiles(ctx context.Context, r *Results) (files ledgerFiles, err error) {
	if files.ledger, err = fullLedger(ctx, r); err == nil {
		files.table, err = ledgerTable(files.ledger)
	}
	return files, err
}

// Table returns the table.
func (s ledgerFiles) Table() *figure.Table { return s.table }

// Export writes the files of the ledger.
func (s ledgerFiles) Export(dir string) ([]string, error) {
	paths, err := s.table.Export(dir)
	if err != nil {
		return nil, err
	}
	more, err := WriteLedger(s.ledger, dir)
	return append(paths, more...), err
}

// maxLedger bounds the size of claims.json in bytes.
const maxLedger = 1 << 26

// ReadLedger loads the ledger from claims.json in a folder.
func ReadLedger(dir string) (*ledger.Ledger, error) {
	path := filepath.Join(dir, "claims.json")
	b, err := files.Read(path, maxLedger)
	if err != nil {
		return nil, fmt.Errorf("figures: no stored ledger in %s: run make verify: %w", path, err)
	}
	l, err := ledger.Parse(b)
	if err != nil {
		return nil, fmt.Errorf("figures: %s: %w", path, err)
	}
	return l, nil
}

// StoredLedger loads figures/claims.json of the checkout.
func StoredLedger() (*ledger.Ledger, error) {
	dir, err := trial.Dir("figures")
	if err != nil {
		return nil, err
	}
	return ReadLedger(dir)
}

// WriteLedger writes claims.json, and claims.dot with the dependencies, into a folder, and returns their paths.
func WriteLedger(l *ledger.Ledger, dir string) ([]string, error) {
	data, err := l.JSON()
	if err != nil {
		return nil, err
	}
	d, err := l.Dependencies()
	if err != nil {
		return nil, err
	}
	dot, err := d.DOT()
	if err != nil {
		return nil, err
	}
	paths := []string{filepath.Join(dir, "claims.json"), filepath.Join(dir, "claims.dot")}
	return paths, errors.Join(files.Write(paths[0], data), files.Write(paths[1], dot))
}

// WriteLedgerPage writes CLAIMS.md, the ledger as a page, at the top of the repository.
func WriteLedgerPage(l *ledger.Ledger) error {
	where, err := Places(l)
	if err != nil {
		return err
	}
	path, err := trial.Dir("CLAIMS.md")
	if err != nil {
		return err
	}
	return files.Write(path, []byte(l.Page(where)))
}

// ledgerTable is the ledger as a long table for a LaTeX document.
func ledgerTable(l *ledger.Ledger) (*figure.Table, error) {
	t := newTable(
		`The ledger: every statement as printed, displayed steps, and corrected statements, each with the `+
			`verdict, the margin on the worst instance (where a statement `+
			`fails, on its witness; then negative) and the number $N$ of instances, of a search the worst one.`,
		"Number", "Id", "Statement", "Verdict", "Margin", "N")
	t.ID, t.Long, t.Shares = "claims", true, []float64{0.16, 0.26, 1, 0.14, 0, 0}
	t.Columns[len(t.Columns)-1].TeX = "$N$"
	for _, r := range l.Rows {
		title, err := figure.EscapeTeX(r.Title)
		if err != nil {
			return nil, fmt.Errorf("figures: title of %s: %w", r.ID, err)
		}
		statement := figure.Label{Text: r.Title, TeX: `\textbf{` + title + `.} ` + r.Statement}
		margin := figure.Number{Value: r.Margin}.Shown()
		addRow(t, r.Number, r.ID, statement, string(r.Verdict), margin, r.Instances)
	}
	return t, nil
}

// kindNames are the names of the kinds of rows in ids of numbers.
var kindNames = map[ledger.Kind]string{
	ledger.Statement: "statements", ledger.Step: "steps", ledger.Correction: "corrected",
}

// ledgerNumbers returns margin, verdict and both sides of each row, the number of
// statements and steps by verdict, and the number of corrections. It counts the false statements by defect and,
// in theorems, lemmas and corollaries, as an author does.
func ledgerNumbers(l *ledger.Ledger) figure.Numbers {
	var ns figure.Numbers
	whole := func(id string, n int) {
		ns = append(ns, figure.Number{ID: strings.ReplaceAll(id, " ", "-"), Value: float64(n), Whole: true})
	}
	count := map[string]int{}
	for _, r := range l.Rows {
		ns = append(ns,
			figure.Number{ID: r.ID + "-margin", Value: r.Margin, Verdict: string(r.Verdict)},
			figure.Number{ID: r.ID + "-lhs", Value: r.LHS},
			figure.Number{ID: r.ID + "-rhs", Value: r.RHS})
		kind := kindNames[r.Kind]
		count[kind]++
		if r.Kind == ledger.Statement && r.Failed() {
			count[kind+"-"+string(r.Defect)]++
		}
		count[kind+"-"+string(r.Verdict)]++
	}
	for _, kind := range slices.Sorted(maps.Values(kindNames)) {
		whole(kind, count[kind])
		if kind == kindNames[ledger.Correction] {
			continue // none fails
		}
		for _, v := range []ledger.Verdict{ledger.Holds, ledger.Fails} {
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

// Colour and mark of a verdict.
var verdictInk = map[ledger.Verdict]figure.Ink{
	ledger.Holds: 1, ledger.Fails: 2, ledger.Open: figure.Grey,
}

var verdictMark = map[ledger.Verdict]int{
	ledger.Holds: 1, ledger.Fails: 2, ledger.Open: 5,
}

var verdictOrder = []ledger.Verdict{ledger.Holds, ledger.Fails, ledger.Open}

func verdictsOf(l *ledger.Ledger) []ledger.Verdict {
	return slices.DeleteFunc(slices.Clone(verdictOrder), func(v ledger.Verdict) bool {
		return !slices.ContainsFunc(l.Rows, func(r ledger.Row) bool { return r.Verdict == v })
	})
}

// legend explains the marks, from (x, y) to the right.
func legend(d *figure.Drawing, l *ledger.Ledger, x, y float64) {
	for _, v := range verdictsOf(l) {
		name := figure.Text(string(v))
		d.Mark(verdictInk[v], verdictMark[v], x+2, y)
		d.Text(figure.Black, 7, -1, name, x+7, y)
		x += name.Width(7) + 19
	}
}

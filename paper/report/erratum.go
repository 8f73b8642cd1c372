package report

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"learncausal/internal/files"
	"learncausal/paper/errata"
	"learncausal/paper/figure"
	"learncausal/paper/ledger"
)

// An erratum is a document as LaTeX: the letter, errata, or its supplement.
type erratum struct{ name, source string }

func newLetter(l *ledger.Ledger) (erratum, error) {
	source, err := errata.Letter(l)
	return erratum{"errata", source}, err
}

func newSupplement(l *ledger.Ledger) (erratum, error) {
	graphs, err := erratumGraphs(l)
	if err != nil {
		return erratum{}, err
	}
	source, err := errata.Supplement(l, graphs...)
	return erratum{"supplement", source}, err
}

// Export writes the document as TeX and, where there is LaTeX, as PDF. Where there is
// none it says so on standard error.
func (e erratum) Export(dir string) ([]string, error) {
	paths, _, err := errata.Write(context.Background(), e.name, e.source, dir)
	if errors.Is(err, errata.ErrNoLaTeX) {
		fmt.Fprintf(os.Stderr, "!!! %s.pdf %v\n", e.name, err)
		err = nil
	}
	return paths, err
}

// A margin is the LaTeX package with the verdicts of the ledger.
type margin string

func newMargin(ctx context.Context, r *Results) (margin, error) {
	l, err1 := fullLedger(ctx, r)
	c, err2 := comparison(ctx, r)
	if err := errors.Join(err1, err2); err != nil {
		return "", err
	}
	style, err := errata.Style(l, comparisonNumbers(c))
	return margin(style), err
}

// Export writes ledger.sty.
func (m margin) Export(dir string) ([]string, error) {
	path := filepath.Join(dir, "ledger.sty")
	return []string{path}, files.Write(path, []byte(m))
}

// erratumGraphs draws which proof uses which: the paper's statements as printed,
// and what the corrected main theorem rests on.
func erratumGraphs(l *ledger.Ledger) ([]*figure.Figure, error) {
	numbers, err := errata.Numbers(l)
	if err != nil {
		return nil, err
	}
	g := erratumGraph{l, numbers}
	printed, slips := statements(l)
	graphs := []*figure.Figure{g.figure("fig-errata-printed", printed, slips, printedCaption)}
	var chain []ledger.Row
	below := errata.Chain(l)
	for _, r := range l.Rows {
		if below[r.ID] {
			r.Uses = r.Grounds()
			chain = append(chain, r)
		}
	}
	if len(chain) > 1 {
		graphs = append(graphs, g.figure("fig-errata-chain", chain, nil, chainCaption))
	}
	return graphs, nil
}

const printedCaption = "Which statement's proof uses which, from the top down. Blue (disc): true as printed, or " +
	"not found false. Orange (square): false as printed; the green strip on the right is what holds instead, the " +
	"orange one on the left a false step of the proof. Below the number of the paper, that of the proof in this " +
	"document, and `Coq' where a theorem is checked by machine. Arrows that follow from others are left out, as are " +
	"statements without arrows."

const chainCaption = `What the corrected Theorems 1 and 2 rest on, from the top down: blue (disc) as printed, green ` +
	`(triangle) corrected here. Numbers as in the figure before.`

// An erratumGraph draws rows with the numbers of their proofs.
type erratumGraph struct {
	ledger  *ledger.Ledger
	numbers map[string]string
}

// name returns what stands below the paper's number of a row.
func (g erratumGraph) name(r ledger.Row) string {
	var parts []string
	for _, id := range []string{r.ID, r.Corrected} {
		if n := g.numbers[id]; n != "" {
			parts = append(parts, n)
		}
	}
	if c := g.ledger.Find(r.Corrected); len(r.Proved) > 0 || c != nil && len(c.Proved) > 0 {
		parts = append(parts, "Coq")
	}
	if len(parts) == 0 {
		return "–"
	}
	return strings.Join(parts, " · ")
}

func (g erratumGraph) figure(id string, rows []ledger.Row, slips map[string]bool, caption string) *figure.Figure {
	rows, edges := joinedStatements(rows)
	p := newDependencyDrawing(g.ledger, rows, edges, g.name)
	for i, r := range p.rows {
		v, corrected := ledger.Holds, ledger.Verdict("") // three colours are enough here
		switch {
		case r.Failed():
			v = ledger.Fails
		case r.Kind == ledger.Correction:
			v = ledger.Consistent
		}
		if r.Corrected != "" {
			corrected = ledger.Consistent
		}
		p.statement(i, v, slips[r.ID], corrected)
	}
	return &figure.Figure{ID: id, Width: figure.TwoColumns, Rows: [][]figure.Panel{{p.d}}, Caption: caption}
}

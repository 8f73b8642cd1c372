// Package errata writes the letter of corrections: for each statement and step that is false as printed its place,
// what to read, a witness and the reason. Its supplement has all witnesses and the proofs. Statements, witnesses and
// numbers come from the ledger, and the symbols to read from text/corrections.txt, from which [Patch] corrects a
// source of the paper. The prose on a row stands beside its claim, in the file <id>.tex: a remark if the row fails, a
// proof if it holds. Annotate marks the statements in a copy of the paper's source.
//
// A remark begins with comment lines: a line for the table of findings, a phrase for the two sides of
// the witness, with \LHS and \RHS for their values, the limit of the sides where the witness has large
// numbers, and for a statement the witness in one line, with \at{name} for the values of its instance.
// In all prose \prop{id} is the number of a row's proof in the supplement, and \paper{id} is the number
// of the row in the paper.
package errata

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"learncausal/paper"
	"learncausal/paper/ledger"
)

//go:embed text
var sources embed.FS

// A remark is the prose about a row that fails.
type remark struct {
	Line  string // for the table of findings
	Limit string // of the two sides, before a witness with large numbers; may be empty
	Sides string // of the witness; may be empty
	First string // sentence below the heading: a reading, or a witness outside of the standing hypotheses
	Short string // the witness in one line, for the letter, see [short]
	Ours  string // of a row that the paper does not have: what it is; the letter omits it
	Text  string
}

// parseRemark reads the remark on a row.
func parseRemark(id, text string) (remark, error) {
	var r remark
	fields := map[string]*string{
		"line": &r.Line, "sides": &r.Sides, "limit": &r.Limit, "first": &r.First, "short": &r.Short,
		"ours": &r.Ours,
	}
	for strings.HasPrefix(text, "%") {
		var line string
		line, text, _ = strings.Cut(text, "\n")
		name, value, _ := strings.Cut(strings.TrimSpace(line[1:]), ":")
		if fields[name] == nil {
			return r, fmt.Errorf("errata: %s.tex begins with %q, want line, first, sides, limit, short or ours", id, name)
		}
		*fields[name] = strings.TrimSpace(value)
	}
	r.Text = strings.TrimSpace(text)
	if r.Line == "" || r.Text == "" {
		return r, fmt.Errorf("errata: %s.tex: line %q: the row fails, want a line for the table and a text", id, r.Line)
	}
	return r, nil
}

// An erratum has the contents of the document.
type erratum struct {
	ledger  *ledger.Ledger
	remarks map[string]remark
	proofs  map[string]string
	where   map[string]string // what a statement names without a definition; before its proof, as "% where: ..."
	number  map[string]int    // of the proof of a row, from 1, in the order of the document
}

func newErratum(l *ledger.Ledger) (*erratum, error) {
	e := &erratum{
		ledger: l, remarks: map[string]remark{},
		proofs: map[string]string{}, where: map[string]string{}, number: map[string]int{},
	}
	paths, err := fs.Glob(paper.Prose, "claims/*/*.tex")
	for _, p := range paths {
		b, err := paper.Prose.ReadFile(p)
		if err != nil {
			return nil, err
		}
		id, text := strings.TrimSuffix(path.Base(p), ".tex"), strings.TrimSpace(string(b))
		switch r := l.Find(id); {
		case r == nil:
			return nil, fmt.Errorf("errata: %s: no row of the ledger has the id %s", p, id)
		case r.Failed():
			if e.remarks[id], err = parseRemark(id, text); err != nil {
				return nil, err
			}
		default:
			if rest, ok := strings.CutPrefix(text, "% where: "); ok {
				e.where[id], text, _ = strings.Cut(rest, "\n")
			}
			if strings.HasPrefix(text, "%") {
				return nil, fmt.Errorf("errata: %s is a remark, but the row holds: want its proof", p)
			}
			e.proofs[id] = text
		}
	}
	for _, id := range e.proved() {
		e.number[id] = len(e.number) + 1
	}
	return e, err
}

// last reports whether the document ends with the row: the corrected main theorem.
func last(id string) bool {
	return strings.HasPrefix(id, "thm-main-corrected") || strings.HasPrefix(id, "thm-ood-corrected")
}

// proved returns the ids of the rows with a proof in the order of the document: the order
// of the paper, with the corrected main theorem at the end.
func (e *erratum) proved() []string {
	var body, end []string
	for _, r := range e.ledger.Rows {
		switch {
		case e.proofs[r.ID] == "" || r.Failed():
		case last(r.ID):
			end = append(end, r.ID)
		default:
			body = append(body, r.ID)
		}
	}
	return slices.Concat(body, end)
}

// Numbers returns the numbers of the proofs, "E1", "E2", ..., by the ids of their rows.
func Numbers(l *ledger.Ledger) (map[string]string, error) {
	e, err := newErratum(l)
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for id, n := range e.number {
		out[id] = fmt.Sprintf("E%d", n)
	}
	return out, nil
}

// Package errata writes the erratum: what of the paper is false as printed, with
// witness, correction and proof, and what survives. Statements, witnesses and
// numbers are those of the ledger, so that they cannot drift; prose is in remarks/
// and proofs/, a file for each row, named by its id.
//
// A file of remarks/ begins with comment lines: the kind of the error, a line for
// the table of findings, and what the two sides of the witness are, with \LHS and
// \RHS in place of their values. In all prose \prop{id} stands for the number of
// a row's proof here, and \paper{id} for the number that the paper prints.
package errata

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"learncausal/paper/ledger"
)

//go:embed remarks proofs text
var files embed.FS

// The kinds of errors, in the order of what they cost.
var kinds = []struct{ name, word, meaning string }{
	{"misprint", "misprint", "a slip of a sign, an index or a name; what is meant is plain, and true"},
	{"step", "step", "a displayed step of a proof is false; what it serves survives, at most with another constant"},
	{"case", "case", "an exceptional case or a hypothesis is missing; with it the statement is true"},
	{"constant", "constant", "a constant or an exponent of a statement changes, and that of what is built upon it"},
}

// A remark is the prose about a row that is false.
type remark struct {
	kind  string // of kinds
	line  string // for the table of findings
	sides string // of the witness, empty for none
	text  string
}

// prose returns the ids that a folder has prose about, with the texts.
func prose(folder string) (map[string]string, error) {
	all := map[string]string{}
	paths, err := fs.Glob(files, folder+"/*.tex")
	if err != nil {
		return nil, err
	}
	for _, p := range paths {
		b, err := files.ReadFile(p)
		if err != nil {
			return nil, err
		}
		all[strings.TrimSuffix(path.Base(p), ".tex")] = strings.TrimSpace(string(b))
	}
	return all, nil
}

// parseRemark reads a file of remarks/.
func parseRemark(id, text string) (remark, error) {
	var r remark
	fields := map[string]*string{"kind": &r.kind, "line": &r.line, "sides": &r.sides}
	for strings.HasPrefix(text, "%") {
		var line string
		line, text, _ = strings.Cut(text, "\n")
		name, value, _ := strings.Cut(strings.TrimSpace(line[1:]), ":")
		if fields[name] == nil {
			return r, fmt.Errorf("errata: remarks/%s.tex begins with %q, want kind, line or sides", id, name)
		}
		*fields[name] = strings.TrimSpace(value)
	}
	r.text = strings.TrimSpace(text)
	known := false
	for _, k := range kinds {
		known = known || k.name == r.kind
	}
	if !known || r.line == "" || r.text == "" {
		return r, fmt.Errorf("errata: remarks/%s.tex: kind %q, line %q: want a kind, a line for the table and a text",
			id, r.kind, r.line)
	}
	return r, nil
}

// An erratum is all that the document is made of.
type erratum struct {
	ledger  *ledger.Ledger
	uses    *ledger.Dependencies
	remarks map[string]remark
	proofs  map[string]string
	number  map[string]int // of the proof of a row, counted from 1 through the document
}

func newErratum(l *ledger.Ledger) (*erratum, error) {
	e := &erratum{ledger: l, remarks: map[string]remark{}, number: map[string]int{}}
	var err error
	if e.uses, err = l.Dependencies(); err != nil {
		return nil, err
	}
	texts, err := prose("remarks")
	if err != nil {
		return nil, err
	}
	for id, text := range texts {
		if e.remarks[id], err = parseRemark(id, text); err != nil {
			return nil, err
		}
	}
	if e.proofs, err = prose("proofs"); err != nil {
		return nil, err
	}
	for _, id := range e.proved() {
		e.number[id] = len(e.number) + 1
	}
	return e, nil
}

// last are the rows that the document ends with: the main theorem, carried through.
func last(id string) bool {
	return strings.HasPrefix(id, "thm-main-corrected") || strings.HasPrefix(id, "thm-ood-corrected")
}

// proved returns the rows with a proof in the order in which the document has
// them: the paper's, where a correction stands with what it corrects, and the main
// theorem at the end.
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

// Numbers returns the numbers of the proofs, as the document prints them, by the
// ids of their rows: "E1", "E2", ...
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

// Gaps says what the prose leaves out, and what of it is about the wrong rows of
// the ledger: every row that fails has a remark, every correction a proof, and
// nothing that fails has one.
func Gaps(l *ledger.Ledger) ([]string, error) {
	e, err := newErratum(l)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, r := range l.Rows {
		m, ok := e.remarks[r.ID]
		if r.Failed() && !ok {
			out = append(out, fmt.Sprintf("%s %s, and remarks/%s.tex is missing", r.ID, r.Verdict, r.ID))
		}
		if r.Witness != nil && r.Witness.LHS == nil && speaksOfSides(m) {
			out = append(out, fmt.Sprintf("remarks/%s.tex says what the two sides are, and the witness has none", r.ID))
		}
		if r.Kind == ledger.Correction && e.proofs[r.ID] == "" {
			out = append(out, fmt.Sprintf("%s is a correction, and proofs/%s.tex is missing", r.ID, r.ID))
		}
	}
	for id := range e.remarks {
		if r := l.Find(id); r != nil && !r.Failed() {
			out = append(out, fmt.Sprintf("remarks/%s.tex is about a row that does not fail", id))
		}
	}
	for id := range e.proofs {
		if r := l.Find(id); r != nil && r.Failed() {
			out = append(out, fmt.Sprintf("proofs/%s.tex proves a row that fails", id))
		}
	}
	slices.Sort(out)
	return out, nil
}

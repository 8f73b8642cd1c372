package ledger

import (
	"fmt"
	"slices"
	"strings"
)

// A Proof is a theorem that the kernel of a proof assistant has checked: the
// statement of a claim, or its negation.
type Proof struct {
	Theorem string `json:"theorem"`
	File    string `json:"file"`          // path in the repository
	Refutes bool   `json:"refutes"`       // the statement as printed
	Gap     string `json:"gap,omitempty"` // what of the statement the theorem does not say, or how it reads it
}

// String says in a line what the theorem is worth.
func (p Proof) String() string {
	switch {
	case p.Refutes && p.Gap == "":
		return fmt.Sprintf("refuted in Coq, witness computed: %s, %s", p.Theorem, p.File)
	case p.Refutes:
		return fmt.Sprintf("refuted in Coq: %s, %s (read so: %s)", p.Theorem, p.File, p.Gap)
	case p.Gap == "":
		return fmt.Sprintf("proved in Coq: %s, %s", p.Theorem, p.File)
	}
	return fmt.Sprintf("proved in Coq in part: %s, %s (%s)", p.Theorem, p.File, p.Gap)
}

// inCoq says in the cell of a table which theorems a row has.
func (r Row) inCoq() string {
	if len(r.Proved) == 0 {
		return ""
	}
	how := "Proved in Coq in part"
	switch {
	case r.Proved[0].Refutes:
		how = "Refuted in Coq"
	case slices.ContainsFunc(r.Proved, func(p Proof) bool { return p.Gap == "" }):
		how = "Proved in Coq"
	}
	var names []string
	for _, p := range r.Proved {
		names = append(names, fmt.Sprintf("[`%s`](%s)", p.Theorem, p.File))
	}
	return fmt.Sprintf(" %s: %s.", how, strings.Join(names, ", "))
}

// inCoq counts the rows that a theorem refutes, says in full and says in part.
func (l *Ledger) inCoq() string {
	var theorems, refuted, full, part int
	for _, r := range l.Rows {
		theorems += len(r.Proved)
		switch {
		case len(r.Proved) == 0:
		case r.Proved[0].Refutes:
			refuted++
		case slices.ContainsFunc(r.Proved, func(p Proof) bool { return p.Gap == "" }):
			full++
		default:
			part++
		}
	}
	return fmt.Sprintf("\nIn Coq, by %d theorems without axioms in [paper/proofs](paper/proofs): "+
		"%d rows refuted, %d proved, %d proved in part.\n",
		theorems, refuted, full, part)
}

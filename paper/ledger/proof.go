package ledger

import (
	"fmt"
	"slices"
)

// A Proof is a theorem that Coq has checked: the statement of a claim, or its negation.
type Proof struct {
	Theorem string `json:"theorem"`
	File    string `json:"file"`          // path in the repository
	Refutes bool   `json:"refutes"`       // the statement as printed
	Gap     string `json:"gap,omitempty"` // difference between theorem and statement, or its reading
}

// String names the theorem and its file, and says whether it proves or refutes all of the
// statement.
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

// inCoq counts the rows that Coq refutes, proves and proves in part.
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
	return fmt.Sprintf("\n%d theorems of Coq in [paper/proofs](paper/proofs), without axioms, "+
		"refute %d rows, prove %d and prove %d in part.\n",
		theorems, refuted, full, part)
}

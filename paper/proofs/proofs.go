// Package proofs lists the theorems of Coq that prove or refute statements of the
// ledger. theorems.json names the statement of each theorem and the gap between the
// two. A test compares the list with the Coq sources and with the ledger.
package proofs

import (
	_ "embed"
	"encoding/json"
)

// A Theorem proves or refutes a statement of the ledger. Statement is copied from the ledger, Coq is the type
// of the theorem as Coq prints it, and Printed is the refuted definition as Coq prints it.
type Theorem struct {
	ID        string `json:"id"`
	Theorem   string `json:"theorem"`
	File      string `json:"file"` // in this folder
	Kind      string `json:"kind"` // proved or refuted
	Gap       string `json:"gap"`  // difference between theorem and statement
	Statement string `json:"statement"`
	Coq       string `json:"coq"`
	Printed   string `json:"printed,omitempty"`
	Compared  string `json:"compared"` // checksum of statement, hypotheses, theorem and gap; without a gap set after a comparison
}

// An Index is theorems.json. Definitions has a checksum of the definitions of each
// file, because the meaning of a theorem depends on them.
type Index struct {
	Definitions map[string]string `json:"definitions"`
	Theorems    []Theorem         `json:"theorems"`
}

//go:embed theorems.json
var list []byte

// Listed returns the list. It panics if theorems.json does not have the form of Index.
func Listed() Index {
	var all Index
	if err := json.Unmarshal(list, &all); err != nil {
		panic("proofs: theorems.json: " + err.Error())
	}
	return all
}

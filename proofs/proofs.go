// Package proofs has the statements of the ledger as theorems of Coq. Of the
// sources, which Coq alone reads, it knows what theorems.json says: which
// theorem is of which row, and what of the row it does not say. The test beside
// the module's root holds sources, list and ledger together.
package proofs

import (
	_ "embed"
	"encoding/json"
)

// A Theorem proves or refutes a row of the ledger. Statement is the row's
// statement, Coq is what Coq says that the theorem says, and Printed what it
// says that the refuted definition says.
type Theorem struct {
	ID        string `json:"id"`
	Theorem   string `json:"theorem"`
	File      string `json:"file"` // in proofs/
	Kind      string `json:"kind"` // proved or refuted
	Gap       string `json:"gap"`  // what of the row the theorem does not say
	Statement string `json:"statement"`
	Coq       string `json:"coq"`
	Printed   string `json:"printed,omitempty"`
}

// An Index is theorems.json. Definitions has a checksum of what each file
// defines, as a theorem says what its definitions say.
type Index struct {
	Definitions map[string]string `json:"definitions"`
	Theorems    []Theorem         `json:"theorems"`
}

//go:embed theorems.json
var list []byte

// Listed returns the list. It panics if the file is not as the type says.
func Listed() Index {
	var all Index
	if err := json.Unmarshal(list, &all); err != nil {
		panic("proofs: theorems.json: " + err.Error())
	}
	return all
}

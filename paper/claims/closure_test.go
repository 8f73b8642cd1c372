package claims

import (
	"os"
	"slices"
	"testing"

	"learncausal/paper/ledger"
)

// What a correction rests on, directly or by way of others, is true: the stored
// verdict of no row in its closure under Grounds says that it fails, nor has one
// a defect, which only a row that fails has.
func TestCorrectionsRestOnTrueStatements(t *testing.T) {
	b, err := os.ReadFile("../../figures/claims.json")
	if err != nil {
		t.Fatal(err)
	}
	stored, err := ledger.Parse(b)
	if err != nil {
		t.Fatal(err)
	}
	var all ledger.Ledger
	for _, c := range All() {
		all.Rows = append(all.Rows, ledger.Row{Claim: c})
	}
	fails := func(id string) bool {
		r := stored.Find(id)
		return all.Find(id).Defect != "" || r != nil && r.Failed()
	}
	for _, c := range All() {
		if c.Kind != ledger.Correction {
			continue
		}
		var bad []string
		for id := range all.Below(c.ID) {
			if id != c.ID && fails(id) {
				bad = append(bad, id)
			}
		}
		slices.Sort(bad)
		if len(bad) > 0 {
			t.Errorf("the proof of %s rests on rows that fail: %v", c.ID, bad)
		}
	}
}

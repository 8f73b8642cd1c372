package claims

import (
	"os"
	"slices"
	"testing"

	"learncausal/pkg/ledger"
)

// What a correction rests on, directly or by way of others, is true: the stored
// verdict of no row in its closure under Grounds says that it fails, nor has one
// repairs, which only a row that fails has.
func TestCorrectionsRestOnWhatIsTrue(t *testing.T) {
	b, err := os.ReadFile("../../figures/claims.json")
	if err != nil {
		t.Fatal(err)
	}
	stored, err := ledger.Parse(b)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]ledger.Claim{}
	for _, c := range All() {
		all[c.ID] = c
	}
	fails := func(id string) bool {
		r := stored.Find(id)
		return len(all[id].Repairs) > 0 || r != nil && r.Failed()
	}
	for _, c := range All() {
		if c.Kind != ledger.Correction {
			continue
		}
		var bad []string
		for id := range closure(all, c.ID, map[string]bool{}) {
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

// closure adds to seen the id and all that it rests on, directly or by way of others.
func closure(all map[string]ledger.Claim, id string, seen map[string]bool) map[string]bool {
	if !seen[id] {
		seen[id] = true
		for _, u := range all[id].Grounds() {
			closure(all, u, seen)
		}
	}
	return seen
}

package claims

import (
	"maps"
	"slices"
	"testing"

	"learncausal/paper/ledger"
)

// Each second route belongs to a claim, leads to numbers, and to those of the
// library.
func TestSecondRoutesAgree(t *testing.T) {
	for _, id := range slices.Sorted(maps.Keys(secondRoutes)) {
		if !slices.ContainsFunc(All(), func(c ledger.Claim) bool { return c.ID == id }) {
			t.Errorf("no claim has the id %s", id)
		}
		for _, route := range secondRoutes[id] {
			n := 0
			route(func(what string, got, want float64) {
				if n++; !agree(got, want) {
					t.Errorf("%s: the library has %v for %s, want %v", id, got, what, want)
				}
			})
			if n == 0 {
				t.Errorf("%s: a route without numbers", id)
			}
		}
	}
}

func TestSecondRouteIsSeen(t *testing.T) {
	holds := func(*ledger.Env) ledger.Finding { return ledger.Finding{Verdict: ledger.Holds} }
	for last, want := range map[float64]ledger.Verdict{2: ledger.Holds, 2 + 1e-8: ledger.Open} {
		route := func(tell told) {
			tell("one", 1, 1)
			tell("two", 2, last)
		}
		if f := agreeing(holds, []secondRoute{route})(nil); f.Verdict != want {
			t.Errorf("2 against %v: %s, want %s", last, f.Verdict, want)
		}
	}
}

package claims

import (
	"slices"
	"testing"

	"learncausal/pkg/ledger"
)

func TestTightnessIsOfClaims(t *testing.T) {
	for id, share := range tightness {
		if !slices.ContainsFunc(All(), func(c ledger.Claim) bool { return c.ID == id }) {
			t.Errorf("no claim has the id %s", id)
		}
		if !(share > 0 && share < 1 && share != 0.99) {
			t.Errorf("%s takes up %v, want a share below 1 other than 0.99, which all others take up", id, share)
		}
	}
}

func TestLooseBoundIsSeen(t *testing.T) {
	for margin, want := range map[float64]ledger.Verdict{0: ledger.Holds, 0.1: ledger.Holds, 0.2: ledger.Open} {
		holds := func(*ledger.Env) ledger.Finding { return ledger.Finding{Verdict: ledger.Holds, Margin: margin} }
		if f := reaching(holds, 0.9)(nil); f.Verdict != want {
			t.Errorf("margin %v: %s, want %s", margin, f.Verdict, want)
		}
	}
	fails := func(*ledger.Env) ledger.Finding { return ledger.Finding{Verdict: ledger.Fails, Margin: 2} }
	if f := reaching(fails, 0.9)(nil); f.Verdict != ledger.Fails {
		t.Errorf("what fails is %s", f.Verdict)
	}
}

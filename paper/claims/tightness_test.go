package claims

import (
	"testing"

	"learncausal/pkg/exact"
	"learncausal/pkg/ledger"
)

func TestStatedNumbersAreDemanded(t *testing.T) {
	holds := func(*ledger.Env) ledger.Finding { return ledger.Finding{Verdict: ledger.Holds, Margin: 0.7} }
	fails := func(*ledger.Env) ledger.Finding {
		return ledger.Finding{Verdict: ledger.Fails, LHS: 2. / 9, RHS: 1. / 81}
	}
	for want, all := range map[ledger.Verdict][]ledger.Claim{
		ledger.Holds: {{Check: holds, Share: 0.29}},
		ledger.Fails: {{Check: fails, Missed: exact.Rats("2/9 1/81")[0]}},
		ledger.Open: {
			{Check: holds},
			{Check: holds, Share: 0.31},
			{Check: fails, Missed: exact.Rats("1/9 1/81")[0]},
			{Check: fails, Missed: exact.Rats("2/9 1/80")[0]},
		},
	} {
		for k, c := range all {
			if f := measured(c)(nil); f.Verdict != want {
				t.Errorf("claim %d: %s, want %s: %s", k, f.Verdict, want, f.Note)
			}
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

package claims

import (
	"math"
	"testing"

	"learncausal/paper/exact"
	"learncausal/paper/ledger"
)

func TestStatedNumbersAreDemanded(t *testing.T) {
	holds := func(*ledger.Env) ledger.Finding { return ledger.Finding{Verdict: ledger.Holds, Margin: 0.7} }
	fails := func(*ledger.Env) ledger.Finding {
		return ledger.Finding{Verdict: ledger.Fails, LHS: 2. / 9, RHS: 1. / 81}
	}
	for want, all := range map[ledger.Verdict][]ledger.Claim{
		ledger.Holds: {{Check: holds, Share: 0.298}},
		ledger.Fails: {{Check: fails, Missed: exact.Rats("2/9 1/81")[0]}},
		ledger.Open: {
			{Check: holds},
			{Check: holds, Share: 0.31},
			{Check: holds, Share: 0.29},
			{Check: fails, Missed: exact.Rats("1/9 1/81")[0]},
			{Check: fails, Missed: exact.Rats("2/9 1/80")[0]},
		},
	} {
		for k, c := range all {
			if f := measured(c)(ledger.NewEnv(t.Context(), c, true)); f.Verdict != want {
				t.Errorf("claim %d: %s, want %s: %s", k, f.Verdict, want, f.Note)
			}
		}
	}
}

// The mean and the number of instances are held in the quick budget alone, to six digits.
func TestMeanIsDemanded(t *testing.T) {
	for _, in := range []struct {
		mean, stated float64
		of           int
		quick        bool
		want         ledger.Verdict
	}{
		{0.25, 0.25, 4, true, ledger.Holds},
		{0.25, 0.25, 3, true, ledger.Open},
		{0.25, 0.25, 3, false, ledger.Holds},
		{0.25, 0.2500001, 4, true, ledger.Holds},
		{0.25, 0.250001, 4, true, ledger.Open},
		{-0.25, 0.25, 4, true, ledger.Open},
		{0.25, 0, 4, true, ledger.Open},
		{0, 0, 4, true, ledger.Holds},
		{math.NaN(), 0.25, 4, true, ledger.Open},
		{0.25, 0.3, 4, false, ledger.Holds},
	} {
		holds := func(*ledger.Env) ledger.Finding {
			return ledger.Finding{Verdict: ledger.Holds, Taken: 4 * in.mean, Compared: 4}
		}
		if f := averaging(holds, mean{in.stated, in.of})(ledger.NewEnv(t.Context(), ledger.Claim{}, in.quick)); f.Verdict != in.want {
			t.Errorf("a mean of %v where %v is stated: %s, want %s", in.mean, in.stated, f.Verdict, in.want)
		}
	}
	have := map[string]bool{}
	for _, c := range All() {
		have[c.ID] = true
	}
	for id := range means() {
		if !have[id] {
			t.Errorf("means.txt has %s, which is no claim", id)
		}
	}
}

func TestLooseOrTightBoundIsSeen(t *testing.T) {
	quick, full := ledger.NewEnv(t.Context(), ledger.Claim{}, true), ledger.NewEnv(t.Context(), ledger.Claim{}, false)
	for _, in := range []struct {
		margin float64
		env    *ledger.Env
		want   ledger.Verdict
	}{
		{0.1, quick, ledger.Holds},
		{0.085, quick, ledger.Holds},
		{0.07, quick, ledger.Open},
		{0.07, full, ledger.Holds},
		{0.2, quick, ledger.Open},
		{0.2, full, ledger.Open},
	} {
		holds := func(*ledger.Env) ledger.Finding { return ledger.Finding{Verdict: ledger.Holds, Margin: in.margin} }
		if f := reaching(holds, 0.9)(in.env); f.Verdict != in.want {
			t.Errorf("margin %v: %s, want %s", in.margin, f.Verdict, in.want)
		}
	}
	fails := func(*ledger.Env) ledger.Finding { return ledger.Finding{Verdict: ledger.Fails, Margin: 2} }
	if f := reaching(fails, 0.9)(full); f.Verdict != ledger.Fails {
		t.Errorf("what fails is %s", f.Verdict)
	}
}

package show

import (
	"strings"
	"testing"

	"learncausal/pkg/ledger"
)

// A statement rests on what its proof uses, directly or by way of others; a
// correction has no line of its own.
func TestRestingFollowsTheProofs(t *testing.T) {
	row := func(id string, kind ledger.Kind, v ledger.Verdict, corrected string, uses ...string) ledger.Row {
		c := ledger.Claim{ID: id, Number: "No. " + id, Kind: kind, Corrected: corrected, Uses: uses}
		return ledger.Row{Claim: c, Finding: ledger.Finding{Verdict: v}}
	}
	l := &ledger.Ledger{Rows: []ledger.Row{
		row("a", ledger.Statement, ledger.Holds, ""),
		row("b", ledger.Statement, ledger.Fails, "b-corrected", "a"),
		row("b-corrected", ledger.Correction, ledger.Holds, "", "a"),
		row("c", ledger.Statement, ledger.Consistent, "", "b"),
		row("d", ledger.Statement, ledger.Holds, ""),
	}}
	d, err := l.Dependencies()
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Join([]string{
		"| Proof of | Verdict | Corrected | No. a | No. b |",
		"|---|---|---|:-:|:-:|",
		"| No. b [`b`](../CLAIMS.md#b) | fails | holds | ● |  |",
		"| No. c [`c`](../CLAIMS.md#c) | consistent |  | ● | ● |",
		"",
	}, "\n")
	if got := resting(l, d, []string{"a", "b"}); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

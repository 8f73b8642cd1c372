package claims

import (
	"os"
	"testing"

	"learncausal/paper/ledger"
)

// What the proof of a proved row rests on, directly or by way of others, is proved: the weakest row of its closure
// under Grounds is printed with -v. A row in the middle of a proof that is only tested is found.
func TestProofsRestOnProofs(t *testing.T) {
	b, err := os.ReadFile("../../figures/claims.json")
	if err != nil {
		t.Fatal(err)
	}
	l, err := ledger.Parse(b)
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range All() { // what a proof rests on now, with the stored verdicts
		if r := l.Find(c.ID); r == nil {
			t.Errorf("%s is not in the stored ledger", c.ID)
		} else {
			r.Uses, r.RestsOn, r.OnPaper = c.Uses, c.RestsOn, All()[i].OnPaper
		}
	}
	proved := 0
	for _, r := range l.Rows {
		if r.Verdict != ledger.Proved {
			continue
		}
		proved++
		weakest := l.Weakest(r.ID)
		t.Logf("%-55s %s", r.ID, weakest.Verdict)
		if weakest.Verdict != ledger.Proved {
			t.Errorf("the proof of %s rests on %s, which is %s", r.ID, weakest.ID, weakest.Verdict)
		}
	}
	l.Find("lem-mu-lower").Verdict = ledger.Tested
	if got := l.Weakest("thm-ood").ID; proved == 0 || got != "lem-mu-lower" {
		t.Errorf("with Lemma 14 tested, the weakest row below Theorem 2 is %s", got)
	}
}

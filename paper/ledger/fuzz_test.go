package ledger

import (
	"bytes"
	"strings"
	"testing"
)

// Of all texts only one that was written is taken for a ledger.
func FuzzParse(f *testing.F) {
	l, err := New([]Row{{
		Claim:   Claim{ID: "lem-a", Number: "Lemma 1", Statement: "$a<b$ & so on", Uses: []string{"lem-b"}},
		Finding: Finding{Verdict: Tested, LHS: 1, RHS: 2.5, Margin: 0.6, Note: "A note."},
	}, {Claim: Claim{ID: "lem-b"}, Finding: Finding{Verdict: Refuted, Margin: -1}}})
	if err != nil {
		f.Fatal(err)
	}
	b, err := l.JSON()
	if err != nil {
		f.Fatal(err)
	}
	if _, err := Parse(b); err != nil {
		f.Fatal(err)
	}
	text := string(b)
	for _, edit := range []string{
		"{}", text + "{}", text[:len(text)/2], strings.Replace(text, "lem-a", `lem-a", "id": "x`, 1),
		strings.Replace(text, "2.5", "2.50", 1), strings.Replace(text, "2.5", "1e999", 1),
		strings.Replace(text, "\"lem-b\"", "null", 1), text,
	} {
		f.Add([]byte(edit))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		l, err := Parse(data)
		if err != nil {
			return
		}
		if again, err := l.JSON(); err != nil || !bytes.Equal(data, again) {
			t.Fatalf("%q is taken for %q, %v", data, again, err)
		}
	})
}

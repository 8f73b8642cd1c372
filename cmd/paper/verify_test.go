package main

import (
	"strings"
	"testing"
)

// Lemma 16 is printed with ≥: its sides 0.064 and 0.0625 would read as if it held.
func TestVerifySaysHowTheSidesAreRead(t *testing.T) {
	text := output(t, "verify", "lem-bound-g1")
	const sides = "An inequality is read as lhs ≤ rhs, also where ≥ is printed."
	table, _, found := strings.Cut(text, "\n"+sides+"\n")
	if !found || !strings.Contains(table, "lem-bound-g1") {
		t.Errorf("not said below the table:\n%s", text)
	}
	help := strings.Join(strings.Fields(output(t, "verify", "--help")), " ")
	if !strings.Contains(help, sides) {
		t.Errorf("not said in the help:\n%s", help)
	}
	if !strings.Contains(text, "spoilt on purpose (2.1 in place of the first 2), it must be refused") {
		t.Errorf("the control is not explained:\n%s", text)
	}
}

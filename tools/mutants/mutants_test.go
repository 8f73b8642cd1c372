package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// One row in the instrumented build: unmutated it is as it was, a mutant of its
// check and one of a quantity are noticed.
func TestMutantsOfOneRow(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	units, err := load(root)
	if err != nil {
		t.Fatal(err)
	}
	points, program, err := build(root, t.TempDir(), units)
	if err != nil {
		t.Fatal(err)
	}
	const row = "lem-tv"
	s, err := measure(program, t.TempDir(), points, units, 1, row)
	if err != nil {
		t.Fatal(err)
	}
	all := s.mutants()
	rows, err := json.Marshal(s.rows(all[0]))
	if err != nil {
		t.Fatal(err)
	}
	if out, err := s.worker(fmt.Sprintf("%d:0", all[0].point.id), rows, "try"); err != nil || out != "survived\n" {
		t.Errorf("the row as it is came to something else: %s, %v", out, err)
	}
	for _, want := range [][3]string{{"paper/claims/markov.go", "alphaOfRows", ""}, {"pkg/exact/chain.go", "TV", "Frac(2, 1)"}} {
		tried, killed := 0, 0
		for _, m := range all {
			if m.file == want[0] && strings.Contains(m.source, want[2]) && (m.function == want[1] || want[2] == "") && tried < 4 {
				s.try(&m)
				tried++
				if m.killed != "" {
					killed++
				}
			}
		}
		if killed == 0 {
			t.Errorf("%s did not notice any of %d mutants of %v", row, tried, want)
		}
	}
}

func TestSampleIsTheSameEachTime(t *testing.T) {
	var all []mutant
	for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
		all = append(all, mutant{point: point{file: name}, variant: variant{after: "x"}})
	}
	names := func(ms []mutant) (out []string) {
		for _, m := range ms {
			out = append(out, m.file)
		}
		return out
	}
	some := names(sample(all, 3, 1))
	if len(some) != 3 || !slices.Equal(some, names(sample(all, 3, 1))) {
		t.Errorf("three of six: %v, then %v", some, names(sample(all, 3, 1)))
	}
	if whole := sample(all, 9, 1); len(whole) != 6 {
		t.Errorf("nine of six are %d", len(whole))
	}
}

func TestReasonsAreRead(t *testing.T) {
	if _, err := reasons(known); err != nil {
		t.Error(err)
	}
	of, err := reasons([]byte("# a remark\nIt is equal.\n\ta.go\tf\t1 -> 2\tx := 1\n"))
	if err != nil || of["a.go\tf\t1 -> 2\tx := 1"] != "It is equal." {
		t.Errorf("%v, %v", of, err)
	}
	if _, err := reasons([]byte("\ta.go\tf\t1 -> 2\tx := 1\n")); err == nil {
		t.Error("a survivor without a reason was accepted")
	}
}

package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// Each mutant of a toy: what its own tests kill, what those of the package that
// imports it do, what does not end, and what survives.
func TestMutantsOfAToy(t *testing.T) {
	defer func(before time.Duration) { longer = before }(longer)
	longer = 0 // the limit is a second, as none is less
	root, err := filepath.Abs("testdata/toy")
	if err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(t.TempDir(), "copy")
	if err := copyModule(root, copied); err != nil {
		t.Fatal(err)
	}
	all, err := places(root)
	if err != nil || len(all) != 2 {
		t.Fatalf("the packages of the toy are %v, %v", all, err)
	}
	o := options{all: true, workers: 1}
	drawn, err := o.tryPackage(context.Background(), root, copied, all[0], all[1:], nil)
	if err != nil {
		t.Fatal(err)
	}
	var survivors []string
	by := map[string]string{}
	for _, m := range drawn {
		by[m.function+": "+m.before+" -> "+m.after] = m.killed
		if m.killed == "" {
			survivors = append(survivors, m.function+": "+m.before+" -> "+m.after)
		}
	}
	slices.Sort(survivors)
	want := []string{ // no number from 9 to 11, and nothing that Check refuses, is in a test
		"Check: 0 -> 1", "Check: x < 0 -> false", "Check: x < 0 -> x <= 0",
		"Clamp: 10 -> 10 + 1", "Clamp: 10 -> 10 - 1",
	}
	if !slices.Equal(survivors, want) {
		t.Errorf("survivors\n%s\nwant\n%s", strings.Join(survivors, "\n"), strings.Join(want, "\n"))
	}
	for mutant, test := range map[string]string{
		"Sum: total += v -> total -= v": "toy.TestSum", "Clamp: x = 10 -> nothing": "user.TestTop",
		"Countdown: n-- -> n -= 0": "toy.TestCountdown",
	} {
		if by[mutant] != test {
			t.Errorf("%s was killed by %q, want %s", mutant, by[mutant], test)
		}
	}
}

// A package passes with nine of ten mutants killed, one that is listed not counted.
func TestVerdictOfAPackage(t *testing.T) {
	for want, scores := range map[string][]score{
		"":      {{"pkg/a", 11, 1, 1}, {"pkg/b", 0, 0, 0}},
		"pkg/a": {{"pkg/a", 10, 1, 1}, {"pkg/b", 5, 0, 0}},
	} {
		err := verdict(io.Discard, scores)
		if want == "" && err != nil || want != "" && (err == nil || !strings.HasSuffix(err.Error(), "of "+want)) {
			t.Errorf("%v: %v", scores, err)
		}
	}
}

// Each mutant that is listed has a reason, and its line is in the file.
func TestEquivalentsHaveReasons(t *testing.T) {
	of, err := reasons(equivalent)
	if err != nil {
		t.Fatal(err)
	}
	lines := map[string][]string{}
	for key := range of {
		part := strings.Split(key, "\t")
		file, line := part[0], part[3]
		if lines[file] == nil {
			b, err := os.ReadFile(filepath.Join("../..", file))
			if err != nil {
				t.Fatal(err)
			}
			for l := range strings.Lines(string(b)) {
				lines[file] = append(lines[file], strings.TrimSpace(l))
			}
		}
		if !slices.Contains(lines[file], line) {
			t.Errorf("equivalent.txt: no line of %s is %q", file, line)
		}
	}
}

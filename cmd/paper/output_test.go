package main

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

// A full is a disk without space.
type full struct{}

var errFull = errors.New("no space left on device")

func (full) Write([]byte) (int, error) { return 0, errFull }

// Every command reports an output that cannot be written.
func TestAFullDiskIsAnError(t *testing.T) {
	for _, args := range [][]string{
		{"--help"},
		{"help", "train"},
		{"--version"},
		{"completion", "bash"},
		{"list"},
		{"list", "--json"},
		{"list", "--store", "../../runs"},
		{"show", "../../runs/173e6bddecc149ba"},
		{"verify", "lem-tv", "--quick"},
		{"export", "fig-graph-example", "-o", t.TempDir()},
		{"train", "chain(5)", "-n"},
		{"train", "-n"},
	} {
		if err := run(t.Context(), full{}, args); !errors.Is(err, errFull) {
			t.Errorf("paper %q: %v, want the error of the disk", args, err)
		}
	}
}

// No line of text is wider than the terminal. Help has at least 80 columns.
func TestOutputFitsTheTerminal(t *testing.T) {
	for _, columns := range []int{72, 80, 100} {
		t.Setenv("COLUMNS", strconv.Itoa(columns))
		calls := [][]string{{"list"}}
		if columns >= 80 {
			calls = append(calls, []string{"--help"})
			for _, c := range newRoot().Commands() {
				calls = append(calls, []string{c.Name(), "--help"})
			}
		}
		for _, args := range calls {
			for line := range strings.Lines(output(t, args...)) {
				if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > columns {
					t.Errorf("paper %q: %d characters on a page of %d: %s", args, n, columns, line)
				}
			}
		}
	}
}

func TestTheLastColumnIsBroken(t *testing.T) {
	t.Setenv("COLUMNS", "34")
	var got strings.Builder
	printColumns(&got, "id\ttitle\nê\twhat it is, in more than a line\n\nb\n")
	const want = "id  title\nê   what it is, in more than a\n    line\n\nb\n"
	if got.String() != want {
		t.Errorf("printed\n%s\nwant\n%s", got.String(), want)
	}
}

func TestTextIsFoldedAtTheLargestWidth(t *testing.T) {
	for w, want := range map[int][]string{3: {"a", "bb", "ccc"}, 4: {"a bb", "ccc"}, 6: {"a bb", "ccc"}, 8: {"a bb ccc"}} {
		if got := fold("a bb ccc", w); !slices.Equal(got, want) {
			t.Errorf("%d characters in a line: %q, want %q", w, got, want)
		}
	}
}

func TestJSONHasTheNumbersOfTheText(t *testing.T) {
	var all struct{ Exports, Experiments []map[string]any }
	var stored []listedRun
	var shown listedRun
	var claims struct{ Claims []map[string]any }
	for _, c := range []struct {
		into any
		args []string
	}{
		{&all, []string{"list"}},
		{&stored, []string{"list", "--store", "../../runs"}},
		{&shown, []string{"show", "../../runs/173e6bddecc149ba"}},
		{&claims, []string{"verify", "lem-tv", "--quick"}},
	} {
		if err := json.Unmarshal([]byte(output(t, append(c.args, "--json")...)), c.into); err != nil {
			t.Errorf("paper %q --json: %v", c.args, err)
		}
	}
	if len(all.Exports) < 50 || all.Exports[0]["id"] != "fig-graph-example" || len(all.Experiments) < 4 {
		t.Errorf("%d exports, %d experiments", len(all.Exports), len(all.Experiments))
	}
	if len(stored) < 40 || stored[0].Loss == 0 {
		t.Errorf("%d runs", len(stored))
	}
	if shown.Address != "173e6bddecc149ba" || shown.Step != 16384 || shown.Spec.Batch != 1024 {
		t.Errorf("the run is %v", shown)
	}
	if len(claims.Claims) != 1 || claims.Claims[0]["id"] != "lem-tv" {
		t.Errorf("the claims are %v", claims)
	}
}

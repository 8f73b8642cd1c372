package main

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestAdviceIsTypedAsTheCommandWasCalled(t *testing.T) {
	for _, test := range []struct{ program, want string }{
		{"paper", "paper"},
		{"./paper", "./paper"},
		{"/tmp/go-build123/b001/exe/paper", "go run ./cmd/paper"},
		{"/home/me/.cache/go-build/ab/cdef-d/paper", "go run ./cmd/paper"},
		{"my tools/paper", "'my tools/paper'"},
	} {
		if got := called(test.program); got != test.want {
			t.Errorf("%s: %s, want %s", test.program, got, test.want)
		}
	}
}

func TestAdviceQuotesTheFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "it's sp ace")
	text := output(t, append([]string{"train", "chain(4)", "-o", dir}, quickly...)...)
	if want := "paper show '" + strings.ReplaceAll(dir, "'", `'\''`) + "'; "; !strings.Contains(text, want) {
		t.Errorf("no %s in\n%s", want, text)
	}
	if help := output(t, "train", "--help"); !strings.Contains(help, "as in my-graph for 'My graph.dot'") {
		t.Errorf("the default folder is not told:\n%s", help)
	}
}

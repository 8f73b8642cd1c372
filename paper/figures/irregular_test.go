//go:build unix

package figures

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"learncausal/paper/trial"
)

// Nothing waits for a pipe, and nothing of a file that is far too large is read.
func TestNothingButRegularFilesIsRead(t *testing.T) {
	dir := t.TempDir()
	pipe, large := filepath.Join(dir, "pipe"), filepath.Join(dir, "large")
	if err := syscall.Mkfifo(pipe, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(large, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(large, 100<<30); err != nil { // sparse
		t.Fatal(err)
	}
	s, _, losses := smallSet(t)
	for what, read := range map[string]func(path string) error{
		"outcomes": func(path string) error { _, err := trial.ReadOutcomes(path); return err },
		"graph":    func(path string) error { _, err := trial.OpenGraph(path, "."); return err },
		"losses": func(path string) error {
			os.Remove(losses)
			if err := os.Symlink(path, losses); err != nil {
				t.Fatal(err)
			}
			_, err := s.Losses(t.Context())
			return err
		},
	} {
		for path, word := range map[string]string{pipe: "not a regular file", large: "want at most"} {
			if err := read(path); err == nil || !strings.Contains(err.Error(), word) {
				t.Errorf("%s from %s: error %v, want %q", what, path, err, word)
			}
		}
	}
}

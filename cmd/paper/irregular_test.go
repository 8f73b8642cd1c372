//go:build unix

package main

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// Pipes and devices never end, and a sparse file has gigabytes of nothing.
func TestOnlyRegularFilesAreRead(t *testing.T) {
	dir := t.TempDir()
	output(t, append([]string{"train", "chain(4)", "-o", dir}, quickly...)...)
	pipe, sparse := filepath.Join(t.TempDir(), "pipe"), write(t, "sparse", "")
	if err := syscall.Mkfifo(pipe, 0o666); err != nil {
		t.Skip(err)
	}
	if err := os.Truncate(sparse, 1<<40); err != nil {
		t.Fatal(err)
	}
	for path, word := range map[string]string{pipe: "not a regular file", "/dev/zero": "not a regular file", sparse: "want at most"} {
		refused(t, []string{path, word}, "predict", dir, path)
		refused(t, []string{path, word}, "train", path, "-n")
		refused(t, []string{path, word}, "sweep", path, "-n")
		summary := filepath.Join(dir, "summary.json")
		if err := os.Remove(summary); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(path, summary); err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{{"show", dir}, {"predict", dir}, append([]string{"train", "chain(4)", "-o", dir}, quickly...)} {
			refused(t, []string{summary, word}, args...)
		}
	}
}

// The files that train replaces may be anything.
func TestPipesAreReplaced(t *testing.T) {
	dir := t.TempDir()
	args := append([]string{"train", "chain(4)", "-o", dir}, quickly...)
	output(t, args...)
	want := content(t, dir)
	for _, name := range []string{"weights.npz", "curve.csv", "given.dot", "summary.txt", "graph.svg"} {
		path := filepath.Join(dir, name)
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Mkfifo(path, 0o666); err != nil {
			t.Skip(err)
		}
	}
	output(t, args...)
	for name, text := range content(t, dir) {
		if text != want[name] {
			t.Errorf("%s has changed", name)
		}
	}
}

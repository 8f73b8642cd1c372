//go:build unix

package main

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"learncausal/internal/runs"
)

// Pipes and devices never end, and a sparse file has gigabytes of nothing.
func TestOnlyRegularFilesAreRead(t *testing.T) {
	dir := t.TempDir()
	args := append([]string{"train", "chain(4)", "-o", dir}, quickly...)
	output(t, args...)
	pipe, sparse, summary := filepath.Join(t.TempDir(), "pipe"), write(t, "sparse", ""), filepath.Join(dir, "summary.json")
	if err := errors.Join(syscall.Mkfifo(pipe, 0o666), os.Truncate(sparse, 1<<40)); err != nil {
		t.Skip(err)
	}
	for path, word := range map[string]string{pipe: "not a regular file", sparse: "want at most"} {
		refused(t, []string{path, word}, "predict", dir, path)
		refused(t, []string{path, word}, "train", path, "-n")
		refused(t, []string{path, word}, "sweep", path, "-n")
		if err := errors.Join(os.Remove(summary), os.Symlink(path, summary)); err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{{"show", dir}, {"predict", dir}, args} {
			refused(t, []string{summary, word}, args...)
		}
	}
}

// A pipe or a link in the place of a file is refused before training, and stays.
func TestOnlyRegularFilesAreReplaced(t *testing.T) {
	dir, thesis := t.TempDir(), write(t, "thesis", "mine")
	args := append([]string{"train", "chain(4)", "-o", dir}, quickly...)
	output(t, args...)
	for name, make := range map[string]func(path string) error{
		"weights.npz": func(path string) error { return syscall.Mkfifo(path, 0o666) },
		"given.dot":   func(path string) error { return os.Symlink(thesis, path) },
		"graph.svg":   func(path string) error { return os.Mkdir(path, 0o777) },
	} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.Rename(path, path+"~"), make(path)); err != nil {
			t.Skip(err)
		}
		before, err1 := os.Lstat(path)
		refused(t, []string{path + " is a ", "want a regular file"}, append(args, "--seed", "5")...)
		after, err2 := os.Lstat(path)
		if err := errors.Join(err1, err2); err != nil || !os.SameFile(before, after) {
			t.Errorf("%s is now another file, %v", name, err)
		}
		if err := errors.Join(os.Remove(path), os.Rename(path+"~", path)); err != nil {
			t.Fatal(err)
		}
	}
	if all, err := runs.Open(filepath.Join(dir, "runs")).Addresses(); len(all) != 1 || err != nil {
		t.Errorf("a run was trained before the refusal: %q, %v", all, err)
	}
	if b, err := os.ReadFile(thesis); string(b) != "mine" || err != nil {
		t.Errorf("the file behind the link is %q, %v", b, err)
	}
}

// A graph that the user has written into the folder of the run stays, also where it is read through a link.
func TestTheGraphThatIsReadStays(t *testing.T) {
	dir := t.TempDir()
	train := func(arg string, more ...string) []string {
		return append(append([]string{"train", arg, "-o", dir}, quickly...), more...)
	}
	output(t, train("chain(4)")...)
	given, link := filepath.Join(dir, "given.dot"), filepath.Join(t.TempDir(), "link.dot")
	output(t, train(given, "-n")...) // the same bytes
	text := "digraph { /* mine */ s1 -> s2; s3; s4 }"
	if err := errors.Join(os.WriteFile(given, []byte(text), 0o666), os.Symlink(given, link)); err != nil {
		t.Fatal(err)
	}
	for _, arg := range []string{given, filepath.Join(dir, "..", filepath.Base(dir), "given.dot"), link, "chain(4)"} {
		refused(t, []string{given, "has been changed since", "another folder"}, train(arg)...)
	}
	if b, err := os.ReadFile(given); string(b) != text || err != nil {
		t.Errorf("the graph is %q, %v", b, err)
	}
}

package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Write creates files and folders with the usual modes, and its error names the operation
// that failed.
func TestWrittenFilesAreLikeCreatedOnes(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "new", "file")
	if err := Write(path, []byte("text")); err != nil {
		t.Fatal(err)
	}
	like := filepath.Join(dir, "created")
	if err := os.WriteFile(like, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for name, like := range map[string]string{path: like, filepath.Dir(path): dir} {
		got, err1 := os.Stat(name)
		want, err2 := os.Stat(like)
		if err := errors.Join(err1, err2); err != nil || got.Mode() != want.Mode() {
			t.Errorf("%s: %v, mode %v, want %v", name, err, got.Mode(), want.Mode())
		}
	}
	at := new(fs.PathError)
	if err := Write(filepath.Join(path, "a", "b"), nil); !errors.As(err, &at) || at.Op != "mkdir" {
		t.Errorf("a file in the place of a folder: %v", err)
	}
}

// A file is written beside its place and renamed. If that fails, nothing is left.
func TestNothingIsWrittenElsewhere(t *testing.T) {
	elsewhere, dir := t.TempDir(), t.TempDir()
	t.Setenv("TMPDIR", elsewhere)
	for i := range 3 {
		if err := Write(filepath.Join(dir, "file"), fmt.Append(nil, i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "folder"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := Write(filepath.Join(dir, "folder"), []byte("text")); err == nil {
		t.Error("a folder was replaced by a file")
	}
	for _, in := range []string{elsewhere, dir} {
		entries, err := os.ReadDir(in)
		if want := map[string]int{elsewhere: 0, dir: 2}[in]; err != nil || len(entries) != want {
			t.Errorf("%s has %v, %v; want %d", in, entries, err, want)
		}
	}
}

// A killed process leaves a temporary file in the folder, which a later one removes.
func TestTemporaryFilesOfKilledProcessesAreRemoved(t *testing.T) {
	dir := t.TempDir()
	old := []string{".file-1f.tmp", ".other-0.tmp"}
	kept := []string{".file-2.tmp", ".hidden", "x.tmp"}
	for i, name := range append(old, kept...) {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, nil, 0o666); err != nil {
			t.Fatal(err)
		}
		if i != len(old) { // the first that is kept is new
			if err := os.Chtimes(path, time.Time{}, time.Now().Add(-2*stale)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := Write(filepath.Join(dir, "file"), nil); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	names := ""
	for _, e := range entries {
		names += e.Name() + " "
	}
	if want := strings.Join(kept[:2], " ") + " file x.tmp "; err != nil || names != want {
		t.Errorf("%q are left, %v; want %q", names, err, want)
	}
}

// A file that has the bytes already keeps its time.
func TestEqualFileIsUntouched(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	past := time.Now().Add(-time.Hour)
	for text, touched := range map[string]bool{"a": false, "b": true} {
		err := errors.Join(os.WriteFile(path, []byte("a"), 0o666), os.Chtimes(path, past, past))
		if err == nil {
			err = Write(path, []byte(text))
		}
		info, failed := os.Stat(path)
		if err != nil || failed != nil {
			t.Fatal(err, failed)
		}
		if got := time.Since(info.ModTime()) < time.Minute; got != touched {
			t.Errorf("%q over a: written %v, want %v", text, got, touched)
		}
	}
}

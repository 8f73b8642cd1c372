package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"learncausal/internal/property"
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

// Only temporary files of this program are removed, also those of other files, when no process can write to them.
func TestOnlyItsOwnTemporaryFilesAreRemoved(t *testing.T) {
	dir := t.TempDir()
	const own = ".file-0123456789abcde"
	put := func(name string, age time.Duration) {
		path, then := filepath.Join(dir, name), time.Now().Add(-age)
		err := os.MkdirAll(filepath.Dir(path), 0o777)
		if err = errors.Join(err, os.WriteFile(path, []byte("mine"), 0o666), os.Chtimes(path, then, then)); err != nil {
			t.Fatal(err)
		}
	}
	kept := []string{
		".thesis.tex.tmp", ".file.tmp", ".file-1f" + ending, ".file-0123456789abcdeg" + ending,
		".file-0123456789abcdef0" + ending, own + "f.tmp", own + "f" + ending + ".bak", own + "f", "x" + ending,
		"file-0123456789abcdef" + ending, ".x.tmp/thesis", own + "e" + ending + "/thesis",
	}
	for _, name := range append(kept, own+"f"+ending, ".other-0123456789abcdef"+ending) {
		put(name, 2*stale)
	}
	put(own+"1"+ending, 0)
	kept = append(kept, own+"1"+ending)
	then := time.Now().Add(-2 * stale)
	folder := filepath.Join(dir, own+"d"+ending) // empty
	if err := errors.Join(os.Mkdir(folder, 0o777), os.Chtimes(folder, then, then)); err != nil {
		t.Fatal(err)
	}
	if err := Write(filepath.Join(dir, "file"), nil); err != nil {
		t.Fatal(err)
	}
	for _, name := range append(kept, filepath.Base(folder)) {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
	for _, name := range []string{own + "f", ".other-0123456789abcdef"} {
		if _, err := os.Stat(filepath.Join(dir, name+ending)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("a temporary file of a killed process is left, %v", err)
		}
	}
}

// The mode of a file is a decision of its owner.
func TestAFileKeepsItsMode(t *testing.T) {
	for _, mode := range []fs.FileMode{0o600, 0o640, 0o666, 0o755} {
		path := filepath.Join(t.TempDir(), "file")
		if err := errors.Join(os.WriteFile(path, []byte("old"), 0o600), os.Chmod(path, mode)); err != nil {
			t.Fatal(err)
		}
		before, err1 := os.Stat(path)
		err2 := Write(path, []byte("new"))
		after, err3 := os.Stat(path)
		if err := errors.Join(err1, err2, err3); err != nil || after.Mode() != before.Mode() {
			t.Errorf("%v: error %v, %v is now %v", mode, err, before.Mode(), after.Mode())
		}
	}
}

// refused checks that nothing is written at a path, and that the error has the words.
func refused(t *testing.T, path string, words ...string) {
	t.Helper()
	err := Write(path, []byte("new"))
	for _, word := range append(words, path) {
		property.Mentions(t, err, word)
	}
}

func TestAFileBehindALinkStays(t *testing.T) {
	dir := t.TempDir()
	source, link := filepath.Join(dir, "source"), filepath.Join(dir, "link")
	if err := os.WriteFile(source, []byte("thesis"), 0o666); err != nil {
		t.Fatal(err)
	}
	for target, what := range map[string]string{
		"source": "a link to source", "none": "a link to none",
		".": "a link to .",
	} {
		if err := os.Symlink(target, link); err != nil {
			t.Skip(err)
		}
		refused(t, link, what, "want a regular file, or a name that is free")
		if at, err := os.Readlink(link); at != target || err != nil {
			t.Errorf("the link is now to %q, %v", at, err)
		}
		if err := os.Remove(link); err != nil {
			t.Fatal(err)
		}
	}
	if b, err := os.ReadFile(source); string(b) != "thesis" || err != nil {
		t.Errorf("the source is %q, %v", b, err)
	}
	if entries, err := os.ReadDir(dir); len(entries) != 1 || err != nil {
		t.Errorf("the folder has %v, %v", entries, err)
	}
}

func TestAReadOnlyFileStays(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte("thesis"), 0o444); err != nil {
		t.Fatal(err)
	}
	refused(t, path, "read-only")
	if b, err := os.ReadFile(path); string(b) != "thesis" || err != nil {
		t.Errorf("the file is %q, %v", b, err)
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

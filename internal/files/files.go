// Package files reads regular files, replaces files as a whole, and decodes text files of
// other programs: editors, shells and spreadsheets.
package files

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// Read returns the content of a regular file of at most most bytes. It neither opens nor
// reads any other file, such as an endless pipe.
func Read(path string, most int) ([]byte, error) {
	f, size, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if size > int64(most) {
		return nil, fmt.Errorf("%d bytes, want at most %d", size, most)
	}
	return io.ReadAll(io.LimitReader(f, int64(most)))
}

// Open opens a regular file and returns its size. It does not open a pipe, which would block.
func Open(path string) (*os.File, int64, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, 0, err
	}
	if !info.Mode().IsRegular() {
		return nil, 0, fmt.Errorf("not a regular file, its mode is %v", info.Mode())
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, err
	}
	info, err = f.Stat() // another file may have been renamed to it meanwhile
	if err != nil {
		f.Close()
		return nil, 0, err
	}
	return f, info.Size(), nil
}

// Write writes b to a file, creating its folder if needed. It replaces the file in one step, so that after a
// crash at any moment the file has the old bytes or the new ones. A file keeps its mode, its owner where the system
// permits that, and its time if it has these bytes already. Write refuses what [Check] refuses.
func Write(path string, b []byte) error {
	hidden := filepath.Dir(path) + string(filepath.Separator) + "."
	once, _ := cleaned.LoadOrStore(hidden, new(sync.Once))
	once.(*sync.Once).Do(func() { Clean(hidden, stale) })
	return WriteVia(hidden+filepath.Base(path), path, b)
}

// cleaned has a [sync.Once] for each folder in which this process has written.
var cleaned sync.Map

// stale is the time after which no process writes to a temporary file.
const stale = time.Minute

// WriteVia is [Write] by a temporary file whose path begins with a stem.
func WriteVia(stem, path string, b []byte) error {
	if err := Check(path); err != nil {
		return err
	}
	if old, err := Read(path, len(b)); err == nil && string(old) == string(b) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	temporary := fmt.Sprintf("%s-%016x%s", stem, rand.Uint64(), ending)
	old, missing := os.Lstat(path)
	mode := fs.FileMode(0o666)
	if missing == nil {
		mode = old.Mode().Perm()
	}
	f, err := os.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return at(path, err)
	}
	_, err = f.Write(b)
	if missing == nil {
		keepOwner(f, old)
	}
	if now, failed := f.Stat(); err == nil && missing == nil && failed == nil && now.Mode() != mode {
		err = f.Chmod(mode) // the umask had removed permissions
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(temporary, path)
	}
	if err != nil {
		os.Remove(temporary)
	}
	return at(path, err)
}

// at replaces the path of an error by the path that the caller knows.
func at(path string, err error) error {
	if e := new(fs.PathError); errors.As(err, &e) {
		e.Path = path
	}
	return err
}

// Check returns an error unless a path is free or names a regular file that is not read-only. It does not follow
// links: the file behind a link has a name that the user did not give.
func Check(path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return nil // writing succeeds, or reports it
	}
	const want = "want a regular file, or a name that is free"
	switch m := info.Mode(); {
	case !m.IsRegular():
		return fmt.Errorf("%s is %s: %s", path, kind(path, m), want)
	case m&0o200 == 0:
		return fmt.Errorf("%s is read-only, its mode is %v: %s", path, m, want)
	}
	return nil
}

// kind names the kind of a file that is not regular.
func kind(path string, m fs.FileMode) string {
	switch {
	case m&fs.ModeSymlink != 0:
		target, _ := os.Readlink(path)
		return "a link to " + target
	case m.IsDir():
		return "a folder"
	case m&fs.ModeNamedPipe != 0:
		return "a pipe"
	case m&fs.ModeSocket != 0:
		return "a socket"
	}
	return "a device"
}

// Same reports whether two paths name one file, also through links or under several names.
func Same(a, b string) bool {
	x, err1 := os.Stat(a)
	y, err2 := os.Stat(b)
	return err1 == nil && err2 == nil && os.SameFile(x, y)
}

// ending ends the names of temporary files.
const ending = ".learncausal.tmp"

// Clean removes the temporary files whose paths begin with a stem, and of an age. Their names end in 16 hexadecimal
// digits and the ending; it removes no other file.
func Clean(stem string, age time.Duration) {
	dir, first := filepath.Dir(stem+"x"), strings.TrimSuffix(filepath.Base(stem+"x"), "x")
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		name, ours := strings.CutSuffix(e.Name(), ending)
		digits := name[strings.LastIndex(name, "-")+1:]
		if !ours || !strings.HasPrefix(name, first) || len(digits) != 16 || strings.Trim(digits, "0123456789abcdef") != "" {
			continue
		}
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() && time.Since(info.ModTime()) >= age {
			os.Remove(filepath.Join(dir, e.Name()))
		}
	}
}

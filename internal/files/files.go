// Package files reads regular files, replaces files as a whole, and decodes text files of
// other programs: editors, shells and spreadsheets.
package files

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
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

// A killed process may leave a temporary file.
const (
	temporary = ".tmp"      // ends its name
	stale     = time.Minute // after which no process writes to it
)

// Write writes b to a file, creating its folder if needed. It replaces the file in one step,
// so that after a crash at any moment the file has the old bytes or the new ones. It leaves
// a file untouched that has these bytes already.
func Write(path string, b []byte) error {
	dir, name := filepath.Dir(path), filepath.Base(path)
	Clean(dir, ".", stale)
	return WriteVia(filepath.Join(dir, "."+name+"-"), path, b)
}

// WriteVia is [Write] by a temporary file whose path begins with via.
func WriteVia(via, path string, b []byte) error {
	if old, err := Read(path, len(b)); err == nil && string(old) == string(b) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	name := fmt.Sprintf("%s%x%s", via, rand.Uint64(), temporary)
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(name, path)
	}
	if err != nil {
		os.Remove(name)
	}
	return err
}

// Clean removes the temporary files of an age from a folder. Their names begin with first.
func Clean(dir, first string, age time.Duration) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if name := e.Name(); strings.HasPrefix(name, first) && strings.HasSuffix(name, temporary) {
			if info, err := e.Info(); err == nil && time.Since(info.ModTime()) >= age {
				os.Remove(filepath.Join(dir, name))
			}
		}
	}
}

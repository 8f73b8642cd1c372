package runs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"learncausal/internal/files"
)

// lock locks the empty file path for this process, and waits while another process holds it. The operating
// system releases the lock when the process ends. The file is removed with the lock, so that a store with many
// runs has no more files than those under way. Where there are no locks it does nothing.
func lock(ctx context.Context, path string, steps int, m Meter) (unlock func() error, err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return nil, err
	}
	if irregular(path) {
		return nil, fmt.Errorf("runs: no lock on %s: it is not a regular file, delete it", path)
	}
	l := flock.New(path, flock.SetPermissions(0o666))
	ok, err := l.TryLock()
	for err == nil && ok && !current(l) { // the process that held it has removed the file
		err = l.Unlock()
		if err == nil {
			ok, err = l.TryLock()
		}
	}
	if errors.Is(err, errors.ErrUnsupported) {
		return func() error { return nil }, nil
	}
	if err == nil && !ok {
		m.Update(0, steps, "waiting: another process is training this run")
		for err == nil && !ok {
			if ok, err = l.TryLockContext(ctx, 100*time.Millisecond); ok && !current(l) {
				ok, err = false, l.Unlock()
			}
		}
		m.Done("waited for another process")
	}
	if err != nil {
		return nil, fmt.Errorf("runs: no lock on %s: %w", path, err)
	}
	return func() error { return release(l) }, nil
}

// current reports whether a locked file is the one at its path.
func current(l *flock.Flock) bool {
	locked, err1 := l.Stat()
	now, err2 := os.Stat(l.Path())
	return err1 == nil && err2 == nil && os.SameFile(locked, now)
}

// release removes a locked file, and then unlocks it: a process that has opened it finds that it is not current.
func release(l *flock.Flock) error {
	os.Remove(l.Path()) // fails on Windows, where the file stays
	return l.Unlock()
}

// irregular reports whether path exists and is no regular file. To open a pipe would block.
func irregular(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.Mode().IsRegular()
}

// tidy removes the files that a killed process may have left of a stored run, unless
// another process is training it.
func tidy(work, stored string) {
	if _, err := os.Stat(work); err == nil && !irregular(work+".lock") {
		l := flock.New(work + ".lock")
		if ok, err := l.TryLock(); !ok && !errors.Is(err, errors.ErrUnsupported) {
			return
		}
		defer release(l)
		os.RemoveAll(work)
	}
	os.Remove(filepath.Join(stored, checkpointName))
}

// Program returns the first 16 hexadecimal digits of the SHA-256 of the running program.
var Program = sync.OnceValues(func() (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", err
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	return files.Sum(b)[:16], nil
})

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
// system releases the lock when the process ends. Where there are no locks it does nothing.
func lock(ctx context.Context, path string, steps int, m Meter) (unlock func() error, err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return nil, err
	}
	if irregular(path) {
		return nil, fmt.Errorf("runs: no lock on %s: it is not a regular file, delete it", path)
	}
	l := flock.New(path, flock.SetPermissions(0o666))
	ok, err := l.TryLock()
	if errors.Is(err, errors.ErrUnsupported) {
		return func() error { return nil }, nil
	}
	if err == nil && !ok {
		m.Update(0, steps, "waiting: another process is training this run")
		_, err = l.TryLockContext(ctx, 100*time.Millisecond)
		m.Done("waited for another process")
	}
	if err != nil {
		return nil, fmt.Errorf("runs: no lock on %s: %w", path, err)
	}
	return l.Unlock, nil
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
		defer l.Unlock()
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

//go:build unix

package files

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"learncausal/internal/property"
)

func TestOnlyRegularFilesAreReplaced(t *testing.T) {
	dir := t.TempDir()
	pipe, socket, folder := filepath.Join(dir, "pipe"), filepath.Join(dir, "socket"), filepath.Join(dir, "folder")
	l, err := net.Listen("unix", socket)
	if err := errors.Join(err, syscall.Mkfifo(pipe, 0o666), os.Mkdir(folder, 0o777)); err != nil {
		t.Skip(err)
	}
	defer l.Close()
	for path, what := range map[string]string{
		pipe: "a pipe", socket: "a socket", folder: "a folder", dir: "a folder",
	} {
		before, err1 := os.Lstat(path)
		refused(t, path, path+" is "+what+": want a regular file")
		after, err2 := os.Lstat(path)
		if err := errors.Join(err1, err2); err != nil || !os.SameFile(before, after) {
			t.Errorf("%s is now another file, %v", path, err)
		}
	}
	// A wrong Write would replace the device if the tests run as root.
	property.Mentions(t, Check("/dev/null", ""), "/dev/null is a device: want")
}

// The error of a folder without permission names the file, not the temporary one.
func TestNothingIsWrittenIntoAReadOnlyFolder(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("NOT CHECKED: root may write into a read-only folder")
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	if err := errors.Join(os.WriteFile(path, []byte("old"), 0o666), os.Chmod(dir, 0o555)); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(dir, 0o777) // so that it can be removed
	refused(t, path, "permission denied")
	refused(t, filepath.Join(dir, "new"), "permission denied")
	if entries, err := os.ReadDir(dir); len(entries) != 1 || err != nil {
		t.Errorf("the folder has %v, %v", entries, err)
	}
}

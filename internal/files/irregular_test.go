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
	property.Mentions(t, Check("/dev/null"), "/dev/null is a device: want")
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

// A write that fails after others of the same thing is an error, and what it leaves is replaced by the next.
func TestWhatAFailedWriteLeavesIsReplaced(t *testing.T) {
	dir := Folder(t.TempDir())
	must(t, dir.Write(thing("1")...))
	var was syscall.Rlimit
	must(t, syscall.Getrlimit(syscall.RLIMIT_FSIZE, &was))
	small := was
	small.Cur = 1 << 20
	must(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &small))
	failed := thing("2")
	failed[1].Data = make([]byte, 1<<21)
	err := dir.Write(failed...)
	must(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &was))
	property.Mentions(t, err, "b.png: file too large")
	has(t, dir, failed[0], thing("1")[1], failed[2])
	must(t, dir.Write(thing("3")...))
	has(t, dir, thing("3")...)
}

// Root replaces the file of another user, who can still read it.
func TestAFileKeepsItsOwner(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	must(t, os.WriteFile(path, []byte("old"), 0o600))
	if err := os.Chown(path, 12345, 23456); err != nil {
		t.Skip("NOT CHECKED: only root may give a file to another user")
	}
	must(t, Write(path, []byte("new")))
	info, err := os.Stat(path)
	must(t, err)
	if s := info.Sys().(*syscall.Stat_t); s.Uid != 12345 || s.Gid != 23456 || info.Mode() != 0o600 {
		t.Errorf("owner %d, group %d, mode %v", s.Uid, s.Gid, info.Mode())
	}
}

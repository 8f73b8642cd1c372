package files

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"learncausal/internal/property"
)

// thing returns three files of one thing in a version.
func thing(version string) []File {
	return []File{
		{"a.tex", []byte("first\n" + version + "\n")},
		{"b.png", []byte("\x89PNG\r\n" + version)},
		{"c.csv", []byte(version + "," + version + "\n")},
	}
}

func put(t *testing.T, dir Folder, all ...File) {
	t.Helper()
	for _, f := range all {
		if err := os.WriteFile(dir.path(f.Name), f.Data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// has checks the bytes of files.
func has(t *testing.T, dir Folder, all ...File) {
	t.Helper()
	for _, f := range all {
		if b, err := os.ReadFile(dir.path(f.Name)); err != nil || string(b) != string(f.Data) {
			t.Errorf("%s is %q, %v, want %q", f.Name, b, err, f.Data)
		}
	}
}

// What a Folder wrote and nobody changed is replaced, also where git or a killed process has been there.
func TestAFolderReplacesItsOwnFiles(t *testing.T) {
	for name, then := range map[string]func(dir Folder){
		"nothing":      func(Folder) {},
		"one is gone":  func(dir Folder) { must(t, os.Remove(dir.path("b.png"))) },
		"all are gone": func(dir Folder) { must(t, os.RemoveAll(string(dir))) },
		"line ends": func(dir Folder) {
			put(t, dir, File{"a.tex", []byte("first\r\n1\r\n")}, File{"c.csv", []byte("1,1\r\n")})
		},
		"of the record": func(dir Folder) {
			list, err := os.ReadFile(dir.path(record))
			must(t, err, os.WriteFile(dir.path(record), []byte(strings.ReplaceAll(string(list), "\n", "\r\n")), 0o666))
		},
		"a pointer of LFS": func(dir Folder) {
			const pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:%s\nsize 7\n"
			put(t, dir, File{"b.png", fmt.Appendf(nil, pointer, Sum(thing("1")[1].Data))})
		},
		"the new bytes":            func(dir Folder) { put(t, dir, thing("2")...) },
		"the new bytes, no record": func(dir Folder) { put(t, dir, thing("2")...); must(t, os.Remove(dir.path(record))) },
	} {
		dir := Folder(filepath.Join(t.TempDir(), "new"))
		must(t, dir.Write(thing("1")...))
		then(dir)
		if err := dir.Write(thing("2")...); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		has(t, dir, thing("2")...)
		if list, err := os.ReadFile(dir.path(record)); err != nil || strings.Count(string(list), "\n") != 3 {
			t.Errorf("%s: %v, the record is\n%s", name, err, list)
		}
	}
}

// A file of someone else, or one that was changed, stays, and no other is written. The error names all of them.
func TestAFolderKeepsTheFilesOfOthers(t *testing.T) {
	mine := []File{{"c.csv", []byte("mine")}, {"a.tex", []byte("first\n1\n% mine\n")}, {"b.png", []byte("\x89PNG\n1")}}
	for n := range mine {
		for _, before := range []bool{true, false} {
			dir := Folder(t.TempDir())
			if before {
				must(t, dir.Write(thing("1")...))
			}
			put(t, dir, mine[:n+1]...)
			files, _ := os.ReadDir(string(dir))
			for _, err := range []error{dir.Write(thing("2")...), dir.Check("a.tex", "b.png", "c.csv")} {
				for _, f := range mine[:n+1] {
					property.Mentions(t, err, dir.path(f.Name))
				}
				property.Mentions(t, err, "has been changed since")
			}
			has(t, dir, mine[:n+1]...)
			if after, err := os.ReadDir(string(dir)); err != nil || len(after) != len(files) {
				t.Errorf("the folder has %v, %v", after, err)
			}
			must(t, dir.Check("d.txt"))
		}
	}
	dir := Folder(t.TempDir())
	must(t, dir.Write(thing("1")...), os.Chmod(dir.path("c.csv"), 0o444))
	property.Mentions(t, dir.Write(thing("2")...), "c.csv is read-only")
	has(t, dir, thing("1")...)
}

// A clone has no record: its files are adopted once.
func TestAFolderAdoptsTheFilesOfAClone(t *testing.T) {
	dir := Folder(t.TempDir())
	must(t, dir.Adopt("a.tex"))
	put(t, dir, thing("1")...)
	must(t, dir.Adopt("a.tex"))
	put(t, dir, File{"b.png", []byte("mine")})
	must(t, dir.Adopt("b.png"), dir.Write(thing("2")[0]))
	property.Mentions(t, dir.Check("b.png"), "b.png")
}

// must ends the test at an error.
func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

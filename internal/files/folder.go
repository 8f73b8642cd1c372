package files

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"
)

// A Folder is a folder of the user, in which only files are replaced that a Folder wrote and nobody has changed
// since. Their sums stand in the file .written.sha256 of the folder, in lines that sha256sum -c reads.
type Folder string

// A File is a file of a [Folder].
type File struct {
	Name string
	Data []byte
}

const record = ".written.sha256"

// Check returns an error, which names them all, if Write would not replace files of these names.
func (d Folder) Check(names ...string) error {
	var all []File
	for _, name := range names {
		all = append(all, File{Name: name})
	}
	_, err := d.check(all)
	return err
}

// Write writes all files, or none if one of them cannot be replaced: it is of another program, or was changed,
// and has not the bytes that it would get; or it is refused by [Check]. The record has the sums of the old and of
// the new bytes before a file is written, so that a killed process leaves files that the next one replaces.
func (d Folder) Write(all ...File) error {
	known, err := d.check(all)
	if err != nil {
		return err
	}
	for _, f := range all {
		known[f.Name] = append(known[f.Name], sum(f.Data))
	}
	if err = d.save(known); err != nil {
		return err
	}
	for _, f := range all {
		err = errors.Join(err, Write(d.path(f.Name), f.Data))
	}
	if err != nil {
		return err
	}
	for _, f := range all {
		known[f.Name] = []string{sum(f.Data)}
	}
	return d.save(known)
}

// Adopt lets Write replace the files of these names if the folder has no record, as in a clone.
func (d Folder) Adopt(names ...string) error {
	known := make(map[string][]string)
	for _, name := range names {
		if b, err := Read(d.path(name), 1<<30); err == nil {
			known[name] = []string{sum(b)}
		}
	}
	if _, err := os.Lstat(d.path(record)); err == nil || len(known) == 0 {
		return nil
	}
	return d.save(known)
}

func (d Folder) path(name string) string { return filepath.Join(string(d), name) }

// check returns the sums of the record by the names of the files.
func (d Folder) check(all []File) (known map[string][]string, err error) {
	known = make(map[string][]string)
	list, err := Read(d.path(record), 1<<24)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("the folder %s: %w", d, err)
	}
	for line := range strings.Lines(string(list)) {
		if sum, name, ok := strings.Cut(strings.TrimRight(line, "\r\n"), "  "); ok {
			known[name] = append(known[name], sum)
		}
	}
	err = nil
	var changed []string
	for _, f := range all {
		err = errors.Join(err, Check(d.path(f.Name)))
		switch b, failed := Read(d.path(f.Name), 1<<30); {
		case errors.Is(failed, fs.ErrNotExist):
		case failed != nil || sum(b) != sum(f.Data) && !slices.Contains(known[f.Name], sum(b)):
			changed = append(changed, d.path(f.Name))
		}
	}
	if err == nil && changed != nil {
		err = fmt.Errorf("not replaced, because this program did not write it, or because it has been changed since: %s; "+
			"nothing is written: move what you keep, delete the rest, or choose another folder", strings.Join(changed, ", "))
	}
	return known, err
}

// save writes the record.
func (d Folder) save(known map[string][]string) error {
	var list []byte
	for _, name := range slices.Sorted(maps.Keys(known)) {
		slices.Sort(known[name])
		for _, sum := range slices.Compact(known[name]) {
			list = fmt.Appendf(list, "%s  %s\n", sum, name)
		}
	}
	return Write(d.path(record), list)
}

// sum returns the SHA-256 of a file; of a text with lines that end in \n, which git may have converted; and of the
// file for which a pointer of Git LFS stands.
func sum(b []byte) string {
	if _, oid, ok := bytes.Cut(b, []byte("\noid sha256:")); ok && bytes.HasPrefix(b, []byte("version https://git-lfs")) {
		return string(oid[:min(len(oid), 64)])
	}
	if utf8.Valid(b) {
		b = WithLF(b)
	}
	return Sum(b)
}

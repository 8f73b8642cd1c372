package figures

import (
	_ "embed"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"learncausal/internal/figure"
	"learncausal/internal/files"
)

// Captions is the name of the file with the captions.
const Captions = "captions.tex"

// Documents returns the names of the files that an export writes beside its outputs, of some or of all.
func Documents(all bool) []string {
	if all {
		return []string{Captions, "all.tex", "README.md"}
	}
	return []string{Captions}
}

// document writes captions.tex, if an output has a caption. If the outputs are all, it writes also all.tex
// and README.md, a page that lists them.
func document(dir string, outputs []Output, all bool) ([]string, error) {
	var figures []*figure.Figure
	var tables []*figure.Table
	for _, out := range outputs {
		switch o := out.(type) {
		case *figure.Figure:
			figures = append(figures, o)
		case *figure.Table:
			tables = append(tables, o)
		case interface{ Table() *figure.Table }:
			tables = append(tables, o.Table())
		}
	}
	captions, err1 := figure.Captions(figures, tables)
	list, err2 := figure.Index(figures, tables)
	if err := errors.Join(err1, err2); err != nil || len(figures)+len(tables) == 0 {
		return nil, err
	}
	page := strings.Replace(guide, "PREAMBLE", figure.Preamble, 1) + list
	texts := []string{captions, figure.Document(figures, tables), page}
	if !all {
		old, err := files.Read(filepath.Join(dir, Captions), 1<<30)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		texts[0] = withCaptions(string(old), captions)
	}
	var paths []string
	var errs []error
	for i, name := range Documents(all) {
		path := filepath.Join(dir, name)
		paths, errs = append(paths, path), append(errs, files.Write(path, []byte(texts[i])))
	}
	return paths, errors.Join(errs...)
}

// withCaptions returns the lines of old with those of captions, which replace the definitions of the same macros.
func withCaptions(old, captions string) string {
	macro := func(line string) string { before, _, _ := strings.Cut(line, "}"); return before }
	lines := slices.Collect(strings.Lines(old))
	for line := range strings.Lines(captions) {
		same := func(l string) bool { return macro(l) == macro(line) }
		if i := slices.IndexFunc(lines, same); i >= 0 {
			lines[i] = line
		} else {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "")
}

// guide is the start of the page that lists the outputs.
//
//go:embed guide.md
var guide string

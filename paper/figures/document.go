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
	texts := []struct{ name, text string }{
		{"captions.tex", captions},
		{"all.tex", figure.Document(figures, tables)},
		{"README.md", strings.Replace(guide, "PREAMBLE", figure.Preamble, 1) + list},
	}
	if !all {
		old, err := files.Read(filepath.Join(dir, "captions.tex"), 1<<30)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		texts = texts[:1]
		texts[0].text = withCaptions(string(old), captions)
	}
	var paths []string
	var errs []error
	for _, f := range texts {
		path := filepath.Join(dir, f.name)
		paths, errs = append(paths, path), append(errs, files.WriteOwn(path, begin(f.text), []byte(f.text)))
	}
	return paths, errors.Join(errs...)
}

// begin returns the first line of a text, by which an export recognises a file that it has written.
func begin(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// checkDocuments returns an error if document would replace a file of someone else. No id names these files.
func checkDocuments(dir string, all bool) error {
	captions, err := figure.Captions(nil, nil)
	texts := map[string]string{"captions.tex": captions}
	if all {
		texts["all.tex"], texts["README.md"] = figure.Document(nil, nil), guide
	}
	for name, text := range texts {
		err = errors.Join(err, files.Check(filepath.Join(dir, name), begin(text)))
	}
	return err
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

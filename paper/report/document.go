package report

import (
	_ "embed"
	"errors"
	"path/filepath"
	"strings"
	"sync"

	"learncausal/internal/files"
	"learncausal/paper/figure"
)

// document writes the files about all outputs: all.tex without figures for one column of two,
// captions.tex, and README.md, a page that lists them.
func document(dir string, outputs []Output) ([]string, error) {
	var figures, wide []*figure.Figure
	var tables []*figure.Table
	for _, out := range outputs {
		switch o := out.(type) {
		case *figure.Figure:
			figures = append(figures, o)
			if !strings.HasSuffix(o.ID, narrowSuffix) {
				wide = append(wide, o)
			}
		case *figure.Table:
			tables = append(tables, o)
		case interface{ Table() *figure.Table }:
			tables = append(tables, o.Table())
		}
	}
	captions, err1 := figure.Captions(figures, tables)
	list, err2 := figure.Index(figures, tables)
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	page := strings.Replace(guide, "PREAMBLE", figure.Preamble, 1) + list
	var paths []string
	var errs []error
	for _, f := range []struct{ name, text string }{
		{"all.tex", figure.Document(wide, tables)}, {"captions.tex", captions}, {"README.md", page},
	} {
		path := filepath.Join(dir, f.name)
		paths, errs = append(paths, path), append(errs, files.Write(path, []byte(f.text)))
	}
	return paths, errors.Join(errs...)
}

// guide is the start of the page that lists the outputs.
//
//go:embed guide.md
var guide string

//go:embed alt.txt
var altText string

// alts returns the alternative texts of the figures in the registry, by id. Each is a
// paragraph of alt.txt below the id.
var alts = sync.OnceValue(func() map[string]string {
	all := make(map[string]string)
	for _, paragraph := range strings.Split(strings.TrimSpace(altText), "\n\n") {
		id, words, _ := strings.Cut(paragraph, ":\n")
		all[id] = strings.ReplaceAll(words, "\n", " ")
	}
	return all
})

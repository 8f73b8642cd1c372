package main

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"

	"learncausal/paper/figure"
	"learncausal/paper/report"
	"learncausal/pkg/runs"
)

const captionsName = "captions.tex"

// captionLine is the definition of a caption or a description in captions.tex.
var captionLine = regexp.MustCompile(`(?m)^\\newcommand\{(\\[A-Za-z]+)\}.*\n`)

// writeCaptions adds the captions of entries, and the descriptions of figures, to the
// captions.tex of a folder. It leaves out entries that cannot be drawn. It returns the path
// of the file, or none if no entry has a caption.
func writeCaptions(
	ctx context.Context, r *report.Results, dir string, entries []report.Entry,
) (paths []string, err error) {
	var figures []*figure.Figure
	var tables []*figure.Table
	for _, e := range entries {
		out, err := e.Draw(ctx, r)
		if err != nil {
			continue
		}
		switch out := out.(type) {
		case *figure.Figure:
			figures = append(figures, out)
		case *figure.Table:
			tables = append(tables, out)
		}
	}
	if len(figures)+len(tables) == 0 {
		return nil, nil
	}
	text, err := figure.Captions(figures, tables)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dir, captionsName)
	old, err := runs.ReadFile(path, 1<<30)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return []string{path}, figure.WriteFile(path, []byte(merged(string(old), text)))
}

// merged returns the old definitions, replaced by the definitions in text of the same
// names, and then the other definitions in text.
func merged(old, text string) string {
	if old == "" {
		return text
	}
	fresh := map[string]string{}
	for _, m := range captionLine.FindAllStringSubmatch(text, -1) {
		fresh[m[1]] = m[0]
	}
	out := captionLine.ReplaceAllStringFunc(old, func(line string) string {
		name := captionLine.FindStringSubmatch(line)[1]
		if replacement, ok := fresh[name]; ok {
			delete(fresh, name)
			return replacement
		}
		return line
	})
	var b strings.Builder
	b.WriteString(out)
	for _, m := range captionLine.FindAllStringSubmatch(text, -1) {
		b.WriteString(fresh[m[1]])
	}
	return b.String()
}

package main

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"

	"learncausal/internal/files"
	"learncausal/paper/figure"
	"learncausal/paper/report"
)

const captionsName = "captions.tex"

// definition is a line of captions.tex that defines a caption or a description.
var definition = regexp.MustCompile(`(?m)^\\newcommand\{(\\[A-Za-z]+)\}.*\n`)

// writeCaptions writes the captions of the entries that can be drawn, and the descriptions of
// figures, into the captions.tex of a folder, before the captions of other entries there. It
// returns the path of the file, or none if no entry has a caption.
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
	old, err := files.Read(path, 1<<30)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, line := range definition.FindAllStringSubmatch(string(old), -1) {
		if !strings.Contains(text, "{"+line[1]+"}") {
			text += line[0]
		}
	}
	return []string{path}, files.Write(path, []byte(text))
}

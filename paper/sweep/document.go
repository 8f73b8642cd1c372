package sweep

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"learncausal/internal/files"
)

// A document is the TOML of a plan. Grids are counted from 1; grid 0 is the table before them.
type document struct {
	path  string
	top   map[string]any
	grids []map[string]any
	lines map[place]int
}

// A place is a key in a grid, or "grid" for the header of the grid.
type place struct {
	grid int
	key  string
}

// mostBytes is the maximal size of a plan.
const mostBytes = 1 << 20

func readDocument(path string) (*document, error) {
	b, err := files.Read(path, mostBytes)
	if err == nil {
		b, err = files.Decode(b)
	}
	if err != nil {
		return nil, fmt.Errorf("sweep: the plan %s: %w", path, err)
	}
	return parseDocument(path, b)
}

func parseDocument(path string, b []byte) (*document, error) {
	d := &document{path: path, top: map[string]any{}, lines: map[place]int{}}
	if err := toml.Unmarshal(b, &d.top); err != nil {
		var at *toml.DecodeError
		if errors.As(err, &at) {
			line, column := at.Position()
			return nil, fmt.Errorf("sweep: %s:%d:%d: %s", path, line, column, strings.TrimPrefix(at.Error(), "toml: "))
		}
		return nil, fmt.Errorf("sweep: %s: %w", path, err)
	}
	d.number(b)
	switch grids := d.top["grid"].(type) {
	case nil:
		d.grids = []map[string]any{{}}
	case []any:
		for i, g := range grids {
			grid, ok := g.(map[string]any)
			if !ok {
				return nil, d.fault("grid", i+1, "grid is %v, want a table below [[grid]]", g)
			}
			d.grids = append(d.grids, grid)
		}
		if len(grids) == 0 {
			return nil, d.fault("grid", 0, "grid is empty, want tables, each below [[grid]]")
		}
	default:
		return nil, d.fault("grid", 0, "grid is %v, want tables, each below [[grid]]", grids)
	}
	return d, nil
}

// number sets the lines of the keys.
func (d *document) number(b []byte) {
	grid, n := 0, 0
	for line := range bytes.Lines(b) {
		n++
		line = bytes.TrimSpace(line)
		if bytes.HasPrefix(line, []byte("[[")) {
			grid++
		}
		words := bytes.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune("[]\"'.= \t", r) })
		if len(words) > 0 {
			d.lines[place{grid, string(words[0])}] = n
		}
	}
}

// fault returns an error with the line of a key of a grid, which may stand before the grids.
func (d *document) fault(key string, grid int, format string, args ...any) error {
	line := d.lines[place{grid, key}]
	for _, at := range []place{{0, key}, {grid, "grid"}} {
		if line == 0 {
			line = d.lines[at]
		}
	}
	where := d.path
	if line > 0 {
		where = fmt.Sprintf("%s:%d", d.path, line)
	}
	return fmt.Errorf("sweep: %s: %w", where, fmt.Errorf(format, args...))
}

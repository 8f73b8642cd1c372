package show

import (
	"fmt"
	"strings"

	"learncausal/paper/figure"
	"learncausal/pkg/nb"
)

// Panels shows panels side by side, lettered if there are several, above a
// caption in LaTeX.
func Panels(id, caption string, all ...figure.Panel) { nb.Figure(panels(id, caption, all...)) }

func panels(id, caption string, all ...figure.Panel) *figure.Figure {
	const one = 4.5 * 72 // wide enough for one panel
	f := &figure.Figure{ID: id, Caption: caption, Width: one, Rows: [][]figure.Panel{all}}
	if len(all) > 1 {
		f.Width = figure.TwoColumns
	}
	return f
}

// Plot returns a panel of curves and points.
func Plot(x, y figure.Axis, series ...figure.Series) *figure.Axes {
	return &figure.Axes{X: x, Y: y, Series: series}
}

// Linear returns an axis with the range of the data.
func Linear(label string) figure.Axis { return figure.Axis{Label: figure.Text(label)} }

// Log returns a logarithmic axis with the range of the data, which is positive.
func Log(label string) figure.Axis { return figure.Axis{Label: figure.Text(label), Log: true} }

// A Sheet is a table that a cell fills line by line.
type Sheet struct {
	Caption string // in LaTeX
	table   figure.Table
	words   []bool // of each column, whether a text is in it
}

// NewSheet returns a table without lines. A head is plain text, and may hold
// formulas between dollar signs, which Markdown shows.
func NewSheet(heads ...string) *Sheet {
	s := &Sheet{table: figure.Table{ID: "sheet"}, words: make([]bool, len(heads))}
	for _, h := range heads {
		s.table.Columns = append(s.table.Columns, figure.Text(h))
	}
	return s
}

// Line adds a line: a string is text, an int a count, a float64 a number with
// three digits after the point, a bool yes or no, and a [figure.Cell] stands as
// it is. It panics on any other type, and if there is not one value for each
// head.
func (s *Sheet) Line(values ...any) {
	if n := len(s.table.Columns); len(values) != n {
		panic(fmt.Sprintf("show: line of %d values below %d heads", len(values), n))
	}
	line := make([]figure.Cell, len(values))
	for i, v := range values {
		switch v := v.(type) {
		case string:
			line[i], s.words[i] = figure.Words(figure.Text(v)), true
		case int:
			line[i] = figure.Value(float64(v), 0)
		case float64:
			line[i] = figure.Value(v, 3)
		case bool:
			line[i], s.words[i] = figure.Words(figure.Text(map[bool]string{true: "yes", false: "no"}[v])), true
		case figure.Cell:
			line[i] = v
		default:
			panic(fmt.Sprintf("show: value %d of a line is a %T, want string, int, float64, bool or figure.Cell", i, v))
		}
	}
	s.table.Rows = append(s.table.Rows, line)
}

// Show shows the table, with numbers to the right, above its caption.
func (s *Sheet) Show() {
	text := s.markdown()
	if s.Caption != "" {
		text += "\n" + nb.Caption(s.Caption)
	}
	nb.Markdown("%s", text)
}

func (s *Sheet) markdown() string {
	head, rest, _ := strings.Cut(nb.Must(s.table.Markdown()), "\n")
	_, lines, _ := strings.Cut(rest, "\n")
	align := "|"
	for _, words := range s.words {
		align += map[bool]string{true: "---|", false: "--:|"}[words]
	}
	return head + "\n" + align + "\n" + lines
}

// Rounded returns a cell with a number to three digits, with a power of ten
// where it is small or large.
func Rounded(v float64) figure.Cell { return figure.Words(figure.Number{Value: v}.Shown()) }

package figure

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"fmt"
	"strconv"
)

// CSV returns the data of the panels in long form, a row for each number: the panel by its letter, the series, x, y,
// the half-length of the interval about y, and the value. A curve has a row for each point, with the number of the
// series if that has no name. A matrix has a row for each entry, with its column as x and its row as y. A graph has a
// row for each edge, from the parent x to the child y. Indices count from 1, and numbers have seven digits. The result
// is nil for a figure of drawings and plots of gonum, which have no data.
func (f *Figure) CSV() ([]byte, error) {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	w.Write([]string{"panel", "series", "x", "y", "error", "value"})
	rows, n := 0, 0
	for _, panels := range f.Rows {
		for _, p := range panels {
			letter := string(rune('a' + f.letter(n)))
			n++
			row := func(series string, numbers ...any) {
				cells := []string{letter, series}
				for _, v := range numbers {
					if x, ok := v.(float64); ok {
						v = strconv.FormatFloat(x, 'g', 7, 64)
					}
					cells = append(cells, fmt.Sprint(v))
				}
				w.Write(cells)
				rows++
			}
			switch p := p.(type) {
			case *Axes:
				p.rows(row)
			case *Matrix:
				for i, values := range p.Values {
					for j, v := range values {
						row("", j+1, i+1, "", v)
					}
				}
			case *Graph:
				for child, parent := range p.Parents {
					if parent >= 0 {
						row("", parent+1, child+1, "", "")
					}
				}
			}
		}
	}
	if w.Flush(); rows == 0 {
		return nil, nil
	}
	return b.Bytes(), w.Error()
}

// rows calls row for each point and each level of the axes.
func (a *Axes) rows(row func(series string, numbers ...any)) {
	for i, s := range a.Series {
		name := cmp.Or(s.Label.Text, strconv.Itoa(i+1))
		for k := range s.X {
			var half any = ""
			if s.Err != nil {
				half = s.Err[k]
			}
			row(name, s.X[k], s.Y[k], half, "")
		}
	}
	for _, l := range a.Levels {
		row(l.Label.Text, "", l.Y, "", "")
	}
}

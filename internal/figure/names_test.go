package figure

import (
	"strings"
	"testing"
)

func TestALabelFallsBackWhereItLacksAForm(t *testing.T) {
	s5 := Node(4)
	for _, c := range []struct{ text, wantText, wantTeX string }{
		{"rain", "rain", ""},
		{"50% & co", "50% & co", ""},
		{"дождь", "дождь", s5.TeX}, // a glyph, and no LaTeX
		{"降雨", s5.Text, s5.TeX},    // neither
	} {
		l := Text(c.text).Or(s5)
		if l.Text != c.wantText || l.TeX != c.wantTeX {
			t.Errorf("%s is %+v, want %q and %q", c.text, l, c.wantText, c.wantTeX)
		}
		if err := l.check(); err != nil {
			t.Error(err)
		}
	}
}

// Long names stand upright: they do not widen a graph or a matrix.
func TestNamesDoNotWidenAPanel(t *testing.T) {
	var names []Label
	var rows [][]float64
	for range 20 {
		names, rows = append(names, Text("a name of some length")), append(rows, make([]float64, 20))
	}
	parents := make([]int, 20)
	for i := range parents {
		parents[i] = -1
	}
	for _, panel := range []Panel{
		&Graph{Parents: parents, Names: names, Query: true},
		&Matrix{Values: rows, ColumnNames: names, Scale: Scale{Min: 0, Max: 1}},
	} {
		f := &Figure{ID: "names", Width: OneColumn, Caption: "Names.", Rows: [][]Panel{{panel}}}
		if least, err := f.LeastWidth(); err != nil || least > TwoColumns {
			t.Errorf("%T is %v wide, error %v", panel, least, err)
		}
	}
	for _, panel := range []Panel{
		&Graph{Parents: parents, Names: names[1:]},
		&Matrix{Values: rows, RowNames: names[1:], Scale: Scale{Min: 0, Max: 1}},
		&Matrix{Values: rows, ColumnNames: append(names, Text("one more")), Scale: Scale{Min: 0, Max: 1}},
		&Graph{Parents: parents[1:], Names: append(names[2:], Text("降雨"))},
	} {
		if _, err := panel.Layout(100); err == nil || !strings.Contains(err.Error(), "want as many") &&
			!strings.Contains(err.Error(), "no glyph") {
			t.Errorf("%T: error %v", panel, err)
		}
	}
}

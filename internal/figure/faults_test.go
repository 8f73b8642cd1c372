package figure

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"git.sr.ht/~sbinet/gg"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"learncausal/internal/property"
)

const noGlyph = "\U0001F600"

// Each error in axes is reported if everything else is correct.
func TestEachFaultOfAxesIsNamed(t *testing.T) {
	right := func() *Axes {
		return &Axes{
			X: Axis{Label: Text("x"), Min: 1, Max: 2}, Y: Axis{Label: Text("y")},
			Series: []Series{
				{Label: Text("a"), X: []float64{1, 2}, Y: []float64{1, 2}},
				{Label: Text("b"), X: []float64{1, 2}, Y: []float64{1, 2}, Err: []float64{0, 0.5}, Points: true},
			},
			Levels: []Level{{Text("c"), 1}, {Text("d"), 2}},
		}
	}
	if _, err := (&Figure{ID: "right", Rows: [][]Panel{{right()}}}).PNG(); err != nil {
		t.Fatal(err)
	}
	for want, spoil := range map[string]func(a *Axes){
		`label "s` + noGlyph: func(a *Axes) {
			a.Series[1].Label.Text = "s" +
				noGlyph
		},
		`label "l` + noGlyph: func(a *Axes) {
			a.Levels[1].Label.Text = "l" +
				noGlyph
		},
		`label "x` + noGlyph:                                    func(a *Axes) { a.X.Label.Text = "x" + noGlyph },
		`label "y` + noGlyph:                                    func(a *Axes) { a.Y.Label.Text = "y" + noGlyph },
		"series 1 (b): 0 x, 0 y and 0 err":                      func(a *Axes) { a.Series[1] = Series{Label: Text("b")} },
		"series 1 (b): 2 x, 2 y and 1 err":                      func(a *Axes) { a.Series[1].Err = a.Series[1].Err[:1] },
		"series 0 (a): 2 x, 1 y and 0 err":                      func(a *Axes) { a.Series[0].Y = a.Series[0].Y[:1] },
		"series 1 (b): colour -1 and":                           func(a *Axes) { a.Series[1].Color = -1 },
		"mark -1 count from 1":                                  func(a *Axes) { a.Series[1].Mark = -1 },
		"series 0 (a), point 1: x = 2 lies outside the axis [1": func(a *Axes) { a.X.Max = 1.5 },
		"series 0 (a), point 0: x = 1 lies outside the axis":    func(a *Axes) { a.X.Min = 1.5 },
		"series 1 (b), point 1: y = +Inf is not finite":         func(a *Axes) { a.Series[1].Y[1] = math.Inf(1) },
		"point 1: lower end of y = 1.5 lies outside the axis [1.75": func(a *Axes) {
			a.Y.Min, a.Y.Max, a.Series[0].Y[0], a.Series[1].Y[0] = 1.75, 3, 2, 2
		},
		"point 1: upper end of y = 2.5 lies outside the axis [0, 2.2": func(a *Axes) { a.Y.Max = 2.25 },
		"series 0 (a), point 0: y = 0 on a logarithmic axis":          func(a *Axes) { a.Y.Log, a.Series[0].Y[0] = true, 0 },
		"level 1 (d): y = NaN is not finite":                          func(a *Axes) { a.Levels[1].Y = math.NaN() },
		`axis x "x" has ticks every -1`:                               func(a *Axes) { a.X.Every = -1 },
		`axis y "y" has ticks every NaN`:                              func(a *Axes) { a.Y.Every = math.NaN() },
	} {
		a := right()
		spoil(a)
		wantError(t, a, want)
	}
	only := []Level{{Text("level"), 1}}
	wantError(t, &Axes{Levels: only, X: Axis{Label: Text("x"), Min: 2, Max: 1}}, `axis x "x" has the bad range [2, 1]`)
	wantError(t, &Axes{Levels: only, X: Axis{Label: Text("x"), Log: true, Max: 1}},
		`logarithmic axis x "x" needs values above 0; the least is 0`)
}

// Each error in a matrix is reported if everything else is correct.
func TestEachFaultOfAMatrixIsNamed(t *testing.T) {
	right := func() *Matrix {
		return &Matrix{
			Values: [][]float64{{0, 1, 2}, {3, 4, 5}}, XLabel: Text("j"), YLabel: Text("i"),
			Rows: [][]Group{{{Text("r"), 2}}}, Columns: [][]Group{{{Text("c"), 1}, {Text("d"), 2}}, {{Text("e"), 3}}},
			Blocks: []Block{{0, 0, 2, 3}, {1, 2, 1, 1}}, Scale: Scale{Label: Text("s"), Max: 5},
		}
	}
	if _, err := (&Figure{ID: "right", Rows: [][]Panel{{right()}}}).PNG(); err != nil {
		t.Fatal(err)
	}
	for want, spoil := range map[string]func(m *Matrix){
		"matrix has no entries":                         func(m *Matrix) { m.Values = [][]float64{{}} },
		"matrix row 1 has 2 entries, row 0 has 3":       func(m *Matrix) { m.Values[1] = m.Values[1][:2] },
		"entry (1, 2) = 5 lies outside":                 func(m *Matrix) { m.Scale.Max = 4.5 },
		"entry (0, 0) = 0 lies outside":                 func(m *Matrix) { m.Scale.Min = 0.5 },
		"entry (0, 1) is -Inf":                          func(m *Matrix) { m.Values[0][1] = math.Inf(-1) },
		"row groups of level 0: they cover 1 of 2":      func(m *Matrix) { m.Rows[0][0].Size = 1 },
		"column groups of level 1: they cover 4 of 3":   func(m *Matrix) { m.Columns[1][0].Size = 4 },
		`group "d" has size 0`:                          func(m *Matrix) { m.Columns[0][1].Size = 0 },
		`column groups of level 1: label "` + noGlyph:   func(m *Matrix) { m.Columns[1][0].Label = Text(noGlyph) },
		`label "x` + noGlyph:                            func(m *Matrix) { m.XLabel.Text = "x" + noGlyph },
		`label "y` + noGlyph:                            func(m *Matrix) { m.YLabel.Text = "y" + noGlyph },
		`label "s` + noGlyph:                            func(m *Matrix) { m.Scale.Label.Text = "s" + noGlyph },
		"{Row:-1 Column:0 Rows:1 Columns:1} does not":   func(m *Matrix) { m.Blocks[1] = Block{-1, 0, 1, 1} },
		"{Row:0 Column:-1 Rows:1 Columns:1} does not":   func(m *Matrix) { m.Blocks[1] = Block{0, -1, 1, 1} },
		"{Row:0 Column:0 Rows:0 Columns:1} does not":    func(m *Matrix) { m.Blocks[1] = Block{0, 0, 0, 1} },
		"{Row:0 Column:0 Rows:1 Columns:0} does not":    func(m *Matrix) { m.Blocks[1] = Block{0, 0, 1, 0} },
		"{Row:1 Column:0 Rows:2 Columns:1} does not":    func(m *Matrix) { m.Blocks[1] = Block{1, 0, 2, 1} },
		"{Row:0 Column:2 Rows:1 Columns:2} does not":    func(m *Matrix) { m.Blocks[1] = Block{0, 2, 1, 2} },
		"cells of 1 pt are too small for the labels of": func(m *Matrix) { m.Cell = 1 },
	} {
		m := right()
		spoil(m)
		wantError(t, m, want)
	}
}

func TestFaultsOfGraphsAreNamed(t *testing.T) {
	wantError(t, &Graph{}, "graph has no nodes")
	wantError(t, &Graph{Parents: []int{-1, -2}}, "graph edge -2 -> 1: want a parent before its child")
	wantError(t, &Graph{Parents: []int{-1, 0, 2}}, "graph edge 2 -> 2")
	wantError(t, &Graph{Parents: []int{-1, 0}, Query: true}, "graph edge 0 -> 1: the query has no parent")
	r, err := (&Graph{Parents: []int{-1, -1}, Query: true}).Layout(80)
	if err != nil || !(r.Height > 0 && r.Height < 30) {
		t.Errorf("a graph without edges: %+v, %v", r, err)
	}
}

// Each error in a table is reported by all of its formats.
func TestEachFaultOfATableIsNamed(t *testing.T) {
	for want, spoil := range map[string]func(tab *Table){
		`figure: id "Losses"`:                     func(tab *Table) { tab.ID = "Losses" },
		"table losses: label":                     func(tab *Table) { tab.Columns[2] = Text(noGlyph) },
		"table losses has no columns":             func(tab *Table) { tab.Columns, tab.Rows = nil, nil },
		"table losses has 1 shares, want one":     func(tab *Table) { tab.Shares = []float64{1} },
		"table losses: groups of columns: they":   func(tab *Table) { tab.Groups = []Group{{Size: 2}} },
		"table losses: groups of columns: group":  func(tab *Table) { tab.Groups = []Group{{Text("a"), 3}, {Text("b"), 0}} },
		"table losses: groups of columns: label":  func(tab *Table) { tab.Groups = []Group{{Text(noGlyph), 3}} },
		"table losses: row 1 has 2 cells, want 3": func(tab *Table) { tab.Rows[1] = tab.Rows[1][:2] },
		"table losses, row 1: label":              func(tab *Table) { tab.Rows[1][0] = Words(Text(noGlyph)) },
	} {
		tab := someTable()
		tab.Shares, tab.Groups = []float64{0.2, 0, 0}, []Group{{Size: 1}, {Text("g"), 2}}
		spoil(tab)
		_, tex := tab.TeX()
		_, csv := tab.CSV()
		_, markdown := tab.Markdown()
		for _, err := range []error{tex, csv, markdown} {
			property.Mentions(t, err, want)
		}
	}
}

func TestFaultsOfNumbersAreNamed(t *testing.T) {
	for want, n := range map[string]Number{
		`figure: id "Upper"`:          {ID: "Upper"},
		"number x: NaN is not finite": {ID: "x", Value: math.NaN()},
	} {
		_, tex := Numbers{n}.TeX()
		property.Mentions(t, tex, want)
	}
	_, err := Numbers{{ID: "x", Paper: "ℓ"}}.TeX()
	property.Mentions(t, err, "figure: number x: ")
}

// failing is a panel whose Draw returns an error.
type failing struct{ Drawing }

func (*failing) Draw(draw.Canvas) error { return errors.New("not today") }

func TestFaultsOfFiguresAreNamed(t *testing.T) {
	one := &Drawing{W: 10, H: 10}
	for want, f := range map[string]*Figure{
		`figure: id "-"`:               {ID: "-", Rows: [][]Panel{{one}}},
		"figure f: no panels":          {ID: "f"},
		"figure f: row 1 has no panel": {ID: "f", Rows: [][]Panel{{one}, {}}},
		"figure f: not today":          {ID: "f", Rows: [][]Panel{{one, &failing{*one}}}},
		"figure f: row 0, panel 1: label": {
			ID: "f", Rows: [][]Panel{{one, &Drawing{W: 1, H: 1, Title: Text(noGlyph)}}},
		},
		"figure f: row 0 needs 234 pt, but has 231 pt": {ID: "f", Rows: [][]Panel{{&Drawing{W: 234, H: 1}}}},
	} {
		for _, get := range []func() ([]byte, error){f.PNG, f.SVG, f.PDF, f.TeX} {
			_, err := get()
			property.Mentions(t, err, want)
		}
	}
	// A row may be a pixel too wide.
	f := &Figure{ID: "f", Width: 200, Rows: [][]Panel{{&Drawing{W: 197 + pixel, H: 1}}}}
	if _, err := f.PNG(); err != nil {
		t.Error(err)
	}
	for label, want := range map[Label]string{
		{TeX: "$x$"}:        `label with TeX "$x$" has no Text for the screen`,
		Text("a" + noGlyph): `label "a` + noGlyph + `": the font has no glyph for '` + noGlyph + `' (U+1F600)`,
		Text("ℓ"):           `no LaTeX known for 'ℓ' (U+2113)`,
	} {
		property.Mentions(t, label.check(), want)
	}
}

func TestLettersOfLaTeX(t *testing.T) {
	for text, passes := range map[string]bool{
		" }": true, "À": true, "ÿ": true, "¿": true, "Ā": true, "ŋ": false,
		"ё": false, "\x7f": false, "\x1f": false,
	} {
		if tex, err := EscapeTeX(text); (err == nil) != passes {
			t.Errorf("%q is %q in LaTeX, %v", text, tex, err)
		}
	}
}

// If two texts have no LaTeX, the error names the first.
func TestFirstErrorIsReported(t *testing.T) {
	p := NewPlot()
	p.Title.Text, p.X.Label.Text = "ℓ", "ħ"
	_, err := (&Figure{ID: "f", Rows: [][]Panel{{&Chart{Plot: p}}}}).TeX()
	property.Mentions(t, err, "ℓ")
	wantError(t, &Chart{}, "without a plot")
}

// A canvas ignores strokes of zero width, empty text and text of size zero.
func TestNothingIsDrawnOfNothing(t *testing.T) {
	d := &counted{}
	c := newCanvas(d)
	c.SetLineWidth(0)
	c.Stroke(vg.Rectangle{Max: pt(1, 1)}.Path())
	sty := textStyle(8, 0, 0)
	face := run{}.face(sty.Font)
	c.FillString(face, vg.Point{}, "")
	face.Font.Size = 0
	c.FillString(face, vg.Point{}, "text")
	if d.strokes != 0 || d.texts != 0 {
		t.Errorf("%d strokes, %d texts", d.strokes, d.texts)
	}
	face.Font.Size = 8
	c.FillString(face, vg.Point{}, "text")
	c.SetLineWidth(0.1)
	c.Stroke(vg.Rectangle{Max: pt(1, 1)}.Path())
	if d.strokes != 1 || d.texts != 1 {
		t.Errorf("%d strokes, %d texts, want one of each", d.strokes, d.texts)
	}
	if got := nrgba(nil); got != nrgba(black) {
		t.Errorf("no colour is %v, want black", got)
	}
}

// counted is a device that counts strokes and texts.
type counted struct {
	edges
	strokes, texts int
}

func (d *counted) stroke(vg.Path, state)           { d.strokes++ }
func (d *counted) glyphs(font.Face, string, state) { d.texts++ }

// An arc is a cubic curve for each quarter of a circle that it enters, and a line leads to
// its start from elsewhere.
func TestArcsAreCubicCurves(t *testing.T) {
	for angle, want := range map[float64]int{
		0: 1, 0.1: 1, -0.1: 1, math.Pi / 2: 1, 1.6: 2, -math.Pi: 2, math.Pi: 2,
		2 * math.Pi: 4,
	} {
		var p vg.Path
		p.Arc(pt(1, 2), 3, 0, angle)
		out := mappedPath(gg.Identity(), p)
		end := out[len(out)-1].Pos.Sub(pt(1+3*math.Cos(angle), 2+3*math.Sin(angle)))
		if len(out) != 1+want || out[0].Type != vg.MoveComp || !(math.Abs(float64(end.X))+math.Abs(float64(end.Y)) < 1e-9) {
			t.Errorf("an arc by %v: %v, want %d curves", angle, out, want)
		}
	}
	for quarter := range 4 {
		var p vg.Path
		p.Move(vg.Point{})
		p.Arc(vg.Point{}, 0.25, float64(quarter)*math.Pi/2, 0.1)
		if out := mappedPath(gg.Identity(), p); len(out) != 3 || out[1].Type != vg.LineComp {
			t.Errorf("from the middle to an arc that starts after %d quarters: %v", quarter, out)
		}
	}
}

// The border is 1.5 and the gap between panels 14. A graph takes 5 for each position and
// 2 on both sides.
func TestLeastWidthByHand(t *testing.T) {
	graph := &Graph{Parents: []int{-1, 0}}
	for want, rows := range map[Width][][]Panel{
		53:  {{&Drawing{W: 50, H: 1}}},
		54:  {{&Drawing{W: 50.5, H: 1}}},
		17:  {{graph}},
		97:  {{&Drawing{W: 50, H: 1}, &Drawing{W: 30, H: 1}}, {graph}},
		125: {{graph}, {graph, &Drawing{W: 50, H: 1}, &Drawing{W: 30, H: 1}}},
	} {
		if got, err := (&Figure{ID: "f", Rows: rows}).LeastWidth(); got != want || err != nil {
			t.Errorf("%v, %v, want %v", got, err, want)
		}
	}
}

// The bar is below a matrix with at least four columns for each row, if nothing else is
// written there.
func TestWhereTheBarIs(t *testing.T) {
	for _, c := range []struct {
		columns int
		change  func(m *Matrix)
		lies    bool
	}{
		{8, func(m *Matrix) {}, true},
		{7, func(m *Matrix) {}, false},
		{8, func(m *Matrix) { m.Columns = nil }, false},
		{8, func(m *Matrix) { m.Numbered = []int{0} }, false},
		{8, func(m *Matrix) { m.XLabel = Text("j") }, false},
	} {
		m := &Matrix{Values: [][]float64{make([]float64, c.columns), make([]float64, c.columns)}}
		m.Columns = [][]Group{{{Size: c.columns}}}
		c.change(m)
		if lies := must(m.Layout(200)).Right < barGap+barWidth; lies != c.lies {
			t.Errorf("%d columns, %+v: the bar lies below: %v", c.columns, m, lies)
		}
	}
}

// In a fitted matrix a word of five letters can be cut to three.
func TestShortLabels(t *testing.T) {
	m := &Matrix{fitted: true}
	for l, want := range map[Label]string{Text("four"): "four", Text("fives"): "fiv", {"letters", "$x$"}: "letters"} {
		if got := m.shortest(l).Text; got != want {
			t.Errorf("%+v is shortened to %q, want %q", l, got, want)
		}
		if got := (&Matrix{}).shortest(l); got != l {
			t.Errorf("%+v is shortened to %+v in a matrix that is not fitted", l, got)
		}
	}
}

// The number of an index takes 1.6 times the size of type, 7.
func TestIndicesByHand(t *testing.T) {
	for _, c := range []struct {
		n      int
		length vg.Length
		want   []float64
	}{
		{5, 6.9, nil},
		{5, 7, []float64{1}},
		{1, 12, []float64{1}},
		{5, 56, []float64{1, 2, 3, 4, 5}},
		{5, 55, []float64{1, 5}},
		{20, 44.9, []float64{1, 5, 10, 15, 20}},
		{24, 44.7, []float64{1, 10, 20}},
		{100, 56, []float64{1, 20, 40, 60, 80, 100}},
		{100, 55, []float64{1, 50, 100}},
		{100, 22, []float64{1, 100}},
		{1000, 112, []float64{1, 100, 200, 300, 400, 500, 600, 700, 800, 900, 1000}},
		{1000, 111, []float64{1, 1000}},
	} {
		var got []float64
		for _, tick := range indexTicks(c.n, c.length) {
			got = append(got, tick.Value)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%d indices in %v pt: %v, want %v", c.n, c.length, got, c.want)
		}
	}
}

// Values at which the format of a number changes.
func TestFormsOfNumbersByHand(t *testing.T) {
	form := func(label func(v float64) Label) func(v float64) string {
		return func(v float64) string { return label(v).Text }
	}
	shown := form(func(v float64) Label { return Number{Value: v}.Shown() })
	bar := form(func(v float64) Label { return barLabel(v, 3) })
	tick := form(func(v float64) Label { return tickLabel(v, 4) })
	for _, c := range []struct {
		of   string
		form func(v float64) string
		v    float64
		want string
	}{
		{"bar", bar, 0, "0"},
		{"bar", bar, -0.5, "−0.5"},
		{"bar", bar, 1e-4, "0.0001"},
		{"bar", bar, 0.9994e-4, "9.99·10⁻⁵"},
		{"bar", bar, 123456, "123000"},
		{"bar", bar, -1e6, "−1·10⁶"},
		{"tick", tick, 0.12345, "0.12345"},
		{"tick", tick, 0.123456, "0.1235"},
		{"number", shown, 0, "0"},
		{"number", shown, -3.214e-6, "−3.21·10⁻⁶"},
		{"number", shown, 1234.5, "1234"},
		{"digits", form(func(v float64) Label { return Number{Value: v, Digits: 2}.Shown() }), 1.778, "1.78"},
		{"whole", form(func(v float64) Label { return Number{Value: v, Whole: true}.Shown() }), 12.6, "13"},
		{"number", shown, 0.001, "0.00100"},
		{"number", shown, 0.0009994, "9.99·10⁻⁴"},
		{"number", shown, 9999999, "9999999"},
		{"number", shown, 1e7, "1.00·10⁷"},
		{"length", num[float64], -0.0004, "0"},
		{"length", num[float64], 100, "100"},
		{"length", num[float64], 0.12351, "0.124"},
		{"value", short, 1.23456789, "1.23457"},
	} {
		if got := c.form(c.v); got != c.want {
			t.Errorf("%s: %v is shown as %q, want %q", c.of, c.v, got, c.want)
		}
	}
	for want, ticks := range map[string][]float64{
		"1 10 100 1000": {1, 10, 100, 1000}, "10⁰ 10⁴": {1, 1e4}, "0.001 1": {1e-3, 1}, "10⁻⁴ 10⁰": {1e-4, 1},
		"1 20000": {1, 2e4},
	} {
		if got := strings.Join(powerLabels(ticks), " "); got != want {
			t.Errorf("%v are labelled %s, want %s", ticks, got, want)
		}
	}
	for label, want := range map[string]string{"10⁻⁴": "$10^{-4}$", "−5": "$-5$", "1.5·10⁷": `$1.5\cdot 10^{7}$`} {
		if got := mathematics(label); got != want {
			t.Errorf("%s is %s in LaTeX, want %s", label, got, want)
		}
	}
}

// A column with as many words as numbers is aligned on the left.
func TestTextOfTables(t *testing.T) {
	half := &Table{Rows: [][]Cell{{Words(Text("a"))}, {Value(1, 0)}}}
	if got := half.align(0, "words", "numbers"); got != "words" {
		t.Errorf("a column half of words is one of %s", got)
	}
}

// The least legible frames of axes and matrices are 75 and 36 points wide.
func TestLegibleFrames(t *testing.T) {
	curve := Series{X: []float64{0, 1}, Y: []float64{0, 1}}
	for p, least := range map[Panel]float64{
		&Axes{Series: []Series{curve}}: 75, &Chart{Plot: must((&Axes{Series: []Series{curve}}).plot(100))}: 75,
		&Matrix{Values: [][]float64{{1}}, Scale: Scale{Hidden: true}}: 36,
	} {
		row, w := []Panel{p}, vg.Length(40)
		for ; !legible(row, w, 0) && w < 200; w += pixel / 2 {
		}
		frame := float64(must(share(row, w-2*border))[0].Width)
		if frame < least-1e-6 || frame > least+pixel {
			t.Errorf("%T: the first legible frame is %v pt wide, want %.0f", p, frame, least)
		}
	}
}

// A title may extend over the right margin of its panel, the gap of 14 and the left margin
// of the next panel, except for a space of 5.
func TestRoomOfTitlesByHand(t *testing.T) {
	row, rooms := make([]Panel, 2), []Room{{Left: 1, Width: 100, Right: 7}, {Left: 20, Width: 50, Right: 3}}
	for j, want := range []vg.Length{136, 53} {
		if got := titleRoom(row, rooms, j); got != want {
			t.Errorf("the title of panel %d has %v pt, want %v", j, got, want)
		}
	}
}

// A matrix alone in its row is limited in width unless it has a cell size or is flat.
func TestLoneMatrices(t *testing.T) {
	of := func(rows, columns int) *Matrix {
		m := &Matrix{}
		for range rows {
			m.Values = append(m.Values, make([]float64, columns))
		}
		return m
	}
	cells := of(2, 2)
	cells.Cell = 3
	for m, limited := range map[*Matrix]bool{of(2, 4): true, of(2, 5): false, cells: false} {
		f := must((&Figure{ID: "f", Width: 100, Rows: [][]Panel{{m}}}).Fit(100))
		if got := f.Rows[0][0].(*Matrix).most == 50; got != limited {
			t.Errorf("%+v is limited: %v, want %v", m, got, limited)
		}
	}
}

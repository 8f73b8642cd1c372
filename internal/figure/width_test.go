package figure

import (
	"bytes"
	"fmt"
	"image/png"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"learncausal/internal/property"
)

func TestParseWidth(t *testing.T) {
	for s, want := range map[string]Width{
		"5.5in": FullText, "3.25in": OneColumn, "234pt": 234, "72.27in": 0, "8.4cm": 8.4 / 2.54 * 72,
		"84mm": 8.4 / 2.54 * 72, "": 0, "in": 0, "5.5": 0, "5.5ft": 0, "-3in": 0, "NaNin": 0, "1in": 0, "fivein": 0,
		"100pt": 100, "99.99pt": 0, "24in": 1728, "1728.1pt": 0,
	} {
		got, err := ParseWidth(s)
		if want == 0 {
			property.Mentions(t, err, strconv.Quote(s))
			continue
		}
		if err != nil || got < want-1e-9 || got > want+1e-9 {
			t.Errorf("%q: width %v, %v, want %v", s, got, err, want)
		}
	}
}

// wide is a figure for a page.
func wide() *Figure {
	axes := func(title string) *Axes {
		return &Axes{Title: Text(title), Series: []Series{{Label: Text("a curve"), X: []float64{0, 1}, Y: []float64{0, 1}}}}
	}
	m := &Matrix{
		Title: Text("A matrix of ones"), Values: make([][]float64, 10),
		Columns: [][]Group{{{Text("Token"), 60}, {Text("Position"), 60}}},
	}
	for i := range m.Values {
		m.Values[i] = make([]float64, 120)
	}
	d := &Drawing{W: 300, H: 20}
	d.For = func(w float64) *Drawing { return &Drawing{W: min(w, 300), H: 40} }
	return &Figure{ID: "wide", Width: TwoColumns, Rows: [][]Panel{{axes("One"), axes("Two"), axes("Three")}, {m}, {d}}}
}

// A fitted figure has the given width, the same panels in the same order, and type of
// the same size. Its frames are within its edges.
func TestFitKeepsPanelsAndType(t *testing.T) {
	f := wide()
	sizes := func(f *Figure) map[string]bool {
		tex, err := f.TeX()
		if err != nil {
			t.Fatal(err)
		}
		all := make(map[string]bool)
		for _, m := range regexp.MustCompile(`fontsize\{([0-9.]+)\}`).FindAllStringSubmatch(string(tex), -1) {
			all[m[1]] = true
		}
		return all
	}
	want := sizes(f)
	for _, w := range []Width{OneColumn, 180, 300, FullText, TwoColumns} {
		fitted := must(f.Fit(w))
		l := must(fitted.layout())
		if len(l.panels) != 5 || float64(l.w) != float64(w) || fitted.ID != f.ID {
			t.Errorf("width %v: %d panels, %v wide", w, len(l.panels), l.w)
		}
		for _, p := range l.panels {
			if p.frame.Min.X < 0 || p.frame.Max.X > l.w {
				t.Errorf("width %v: panel %s at %v, in a figure %v wide", w, p.letter, p.frame, l.w)
			}
		}
		for size := range sizes(fitted) {
			if !want[size] {
				t.Errorf("width %v: type of %s pt, which the figure does not have", w, size)
			}
		}
	}
	fitted, err := f.Fit(OneColumn)
	if err != nil || len(fitted.Rows) < 4 {
		t.Errorf("%d rows in one column (%v), want the first one broken", len(fitted.Rows), err)
	}
	if len(f.Rows) != 3 || f.Width != TwoColumns {
		t.Error("fitting has changed the figure")
	}
	if _, err := (&Figure{ID: "x", Rows: [][]Panel{{&Drawing{W: 300, H: 1}}}}).Fit(OneColumn); err == nil {
		t.Error("no error for a drawing wider than the figure")
	}
}

// Curves whose legend is wider than half the figure are in separate rows.
func TestFitLeavesRoomForLegends(t *testing.T) {
	var row []Panel
	for range 2 {
		row = append(row, &Axes{Series: []Series{
			{Label: Text("on each of the other positions"), X: []float64{0, 1}, Y: []float64{0, 1}},
		}})
	}
	f, err := (&Figure{ID: "legends", Width: TwoColumns, Rows: [][]Panel{row}}).Fit(OneColumn)
	if err != nil || len(f.Rows) != 2 {
		t.Errorf("%d rows (%v), want 2", len(f.Rows), err)
	}
}

// A long title is broken into lines that fit its panel.
func TestFitBreaksTitles(t *testing.T) {
	var row []Panel
	for range 3 {
		m := &Matrix{Title: Text("Random causal graph"), Values: make([][]float64, 20), Scale: Scale{Hidden: true}}
		for i := range m.Values {
			m.Values[i] = make([]float64, 20)
		}
		row = append(row, m)
	}
	f, err := (&Figure{ID: "titles", Width: TwoColumns, Rows: [][]Panel{row}}).Fit(OneColumn)
	if err != nil {
		t.Fatal(err)
	}
	l, err := f.layout()
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Rows) != 1 || len(l.panels[0].title) < 2 {
		t.Errorf("%d rows, title %v: want one row, and several lines", len(f.Rows), l.panels[0].title)
	}
	for i, p := range l.panels[1:] {
		before := l.panels[i]
		for _, line := range before.title {
			if before.frame.Min.X+headingWidth(line, i) > p.frame.Min.X {
				t.Errorf("%q runs into the next title", line.Text)
			}
		}
	}
}

func must[A any](b A, err error) A {
	if err != nil {
		panic(err)
	}
	return b
}

// Three axes are in one row or in three, never in two rows of different lengths. A
// drawing that fits exactly is not an error.
func TestRowsOfAxesAreOfOneLength(t *testing.T) {
	f := &Figure{ID: "f", Width: TwoColumns, Rows: wide().Rows[:1]}
	seen := map[int]bool{}
	for w := OneColumn; w <= TwoColumns; w += 15 {
		fitted, err := f.Fit(w)
		if err != nil {
			t.Fatal(err)
		}
		n := len(fitted.Rows)
		if seen[n] = true; n == 2 {
			t.Fatalf("width %v: rows of %d and %d curves", w, len(fitted.Rows[0]), len(fitted.Rows[1]))
		}
	}
	if !seen[1] || !seen[3] {
		t.Errorf("numbers of rows %v, want 1 and 3", seen)
	}
	drawing := &Drawing{W: 200, H: 100}
	drawing.Text(Black, 8, 0, Text("word"), 100, 50)
	small := &Figure{ID: "small", Rows: [][]Panel{{drawing}}}
	for w, size := range map[Width]string{150 + 2*border: "6", 190: "7"} { // 6 pt at 3/4 of the size
		fitted := must(small.Fit(w))
		tex := string(must(fitted.TeX()))
		if r := must(fitted.layout()).panels[0].frame.Size(); math.Abs(float64(r.X/r.Y-2)) > 0.01 || r.X > w {
			t.Errorf("a drawing of %v in a figure of width %v, want one twice as wide as high", r, w)
		}
		if !strings.Contains(tex, `\fontsize{`+size+`}`) {
			t.Errorf("width %v: no type of %s pt", w, size)
		}
	}
	if _, err := small.Fit(150 + 2*border - 1); err == nil || !strings.Contains(err.Error(),
		"at least 153 pt (54 mm) wide") {
		t.Errorf("%v, want the least width", err)
	}
	if f := must(small.FitWithin(203, 90)); must(f.Height()) > 90 {
		t.Errorf("height %v, want at most 90", must(f.Height()))
	}
	if _, err := small.FitWithin(203, 70); err == nil || !strings.Contains(err.Error(), "pt (28 mm) high") {
		t.Errorf("%v, want the least height", err)
	}
	d := &Figure{ID: "d", Rows: [][]Panel{{&Drawing{W: 200, H: 10}}}}
	if _, err := d.Fit(200 + 2*border); err != nil {
		t.Errorf("a drawing as wide as the room for it: %v", err)
	}
	if _, err := d.Fit(200 + 2*border - 0.5); err == nil {
		t.Error("a drawing wider than the room for it")
	}
}

// A matrix keeps its cell size in a figure that is not made narrower.
func TestFitKeepsCellsOfTheSameWidth(t *testing.T) {
	f := &Figure{ID: "f", Width: 300, Rows: [][]Panel{{&Matrix{
		Values: [][]float64{{0, 1}, {1, 0}}, Cell: 11,
		Scale: Scale{Hidden: true},
	}}}}
	for w, kept := range map[Width]bool{300: true, 400: true, 299: false} {
		fitted := must(f.Fit(w))
		l := must(fitted.layout())
		if width := float64(l.panels[0].frame.Size().X); (math.Abs(width-22) < 0.5) != kept {
			t.Errorf("width %v: a matrix of two cells of 11 pt is %v wide", w, width)
		}
	}
}

// Fitted figures, scales and axes of all kinds, and a long table without shares.
func TestGoldenFits(t *testing.T) {
	f := wide()
	f.Rows = append(f.Rows, []Panel{&Matrix{
		Title: Text("Flat"), Values: [][]float64{{-1, 2, 0.5, 1}, {0, 0, 1, -2}}, Scale: Scale{Palette: Signed},
		Columns: [][]Group{{{Text("Tok"), 1}, {Text("Position"), 3}}}, Numbered: []int{1},
	}}, []Panel{
		&Axes{Y: Axis{Log: true}, X: Axis{Log: true}, Height: 60, Series: []Series{
			{Label: Text("a"), X: []float64{1e-3, 1e9}, Y: []float64{0.3, 4}},
			{Label: Text("b"), X: []float64{1, 10}, Y: []float64{1, 2}, Color: 3, Mark: 2, Points: true},
		}},
		&Matrix{Values: [][]float64{{0, 1}, {1, 0}, {0, 0}, {1, 1}}, XLabel: Text("j")},
	})
	for name, w := range map[string]Width{"fit-narrow.tex": OneColumn, "fit-wide.tex": FullText} {
		fitted, err := f.Fit(w)
		if err != nil {
			t.Fatal(err)
		}
		golden(t, name, must(fitted.TeX()))
	}
	plain := someTable()
	plain.Long = true
	golden(t, "fit-long.tex", must(plain.TeX()))
}

// A figure with a scale has files of that size, in which type and lines have the scale, too.
func TestScaleOfEveryFormat(t *testing.T) {
	f := &Figure{ID: "scaled", Width: 200, Scale: 1.5, Rows: [][]Panel{{&Axes{
		Series: []Series{{X: []float64{0, 1}, Y: []float64{0, 1}}},
	}}}}
	h := float64(must(f.Height()))
	config, err := png.DecodeConfig(bytes.NewReader(must(f.PNG())))
	if err != nil || config.Width != 800 {
		t.Errorf("PNG: %d pixels wide, %v, want 800", config.Width, err)
	}
	for want, b := range map[string][]byte{
		fmt.Sprintf(`width="300pt" height="%spt" viewBox="0 0 200 %s"`, num(1.5*h), num(h)): must(f.SVG()),
		fmt.Sprintf("/MediaBox [0 0 300.00 %.2f]", 1.5*h):                                   must(f.PDF()),
		"\\egroup\\scalebox{1.5}{\\box0}\\endgroup%":                                        must(f.TeX()),
	} {
		if !bytes.Contains(b, []byte(want)) {
			t.Errorf("no %s in %.300s", want, b)
		}
	}
	thick := *f
	thick.Scale = 1
	if !bytes.Contains(must(f.TeX()), must(thick.TeX())[bytes.Index(must(thick.TeX()), []byte(`\useasboundingbox`)):][:200]) {
		t.Error("another layout in LaTeX")
	}
}

// Type is laid out for its size, and down to numbers of 6 pt where the height needs it.
func TestFitTypeChoosesTheLargestType(t *testing.T) {
	f := &Figure{ID: "rows", Rows: [][]Panel{{&Axes{
		Height: 100, Series: []Series{{X: []float64{0, 1}, Y: []float64{0, 1}}},
	}}}}
	h := must(must(f.Fit(300)).Height())
	for _, c := range []struct {
		w, h Width
		size float64
		want float64
	}{{300, 0, 0, 1}, {300, 0, 12, 1.5}, {300, h, 0, 1}, {300, 0.96 * h, 0, 0.95}, {300, 0.87 * h, 0, 6. / 7}} {
		fitted, err := f.FitType(c.w, c.h, c.size)
		if err != nil || math.Abs(fitted.Scale-c.want) > 1e-9 ||
			math.Abs(float64(fitted.Width)*fitted.Scale-float64(c.w)) > 7 {
			t.Errorf("%+v: %v, scale %v", c, err, fitted)
		}
	}
	if _, err := f.FitType(300, h/2, 0); err == nil {
		t.Error("half of the height suffices")
	}
	for text, want := range map[string]float64{"10pt": 10, "5pt": 0, "80pt": 0, "x": 0} {
		if size, err := ParseType(text); size != want || (err == nil) != (want > 0) {
			t.Errorf("%s: %v, %v", text, size, err)
		}
	}
}

// Picked panels keep their letters, and one of the matrices shows the bar that they share.
func TestPickKeepsLettersAndABar(t *testing.T) {
	one, two := &Matrix{Values: [][]float64{{0, 1}}}, &Matrix{Values: [][]float64{{0, 2}}}
	ShareScale(Scale{}, one, two)
	curve := &Axes{Series: []Series{{X: []float64{0, 1}, Y: []float64{0, 1}}}}
	f := &Figure{ID: "four", Width: FullText, Rows: [][]Panel{{one, two}, {curve, curve}}}
	picked := must(f.Pick("a,d"))
	if m := picked.Rows[0][0].(*Matrix); len(picked.Rows) != 2 || m.Scale.Hidden || m == one || !one.Scale.Hidden {
		t.Errorf("%+v", picked.Rows)
	}
	if l := must(picked.layout()); l.panels[0].letter != "(a)" || l.panels[1].letter != "(d)" {
		t.Errorf("the letters %s and %s", l.panels[0].letter, l.panels[1].letter)
	}
	for _, letters := range []string{"", "e", "a,a", "A"} {
		if _, err := f.Pick(letters); err == nil || !strings.Contains(err.Error(), "some of a to d") {
			t.Errorf("%q: %v", letters, err)
		}
	}
}

// Rows of one panel that are too high for a slide are joined before the figure is narrowed. Rows of several stay.
func TestRowsAreJoinedForAHeight(t *testing.T) {
	square := &Matrix{Values: slices.Repeat([][]float64{make([]float64, 20)}, 20), Scale: Scale{Max: 1}}
	f := &Figure{ID: "square", Width: FullText, Rows: [][]Panel{{square}, {square}, {square}}}
	if wide := must(f.FitWithin(400, 180)); len(wide.Rows) != 1 || wide.Width != 400 {
		t.Errorf("%d rows in %v pt, want one in 400", len(wide.Rows), wide.Width)
	}
	if high := must(f.FitWithin(400, 900)); len(high.Rows) != 3 {
		t.Errorf("%d rows where three fit", len(high.Rows))
	}
	f.Rows = [][]Panel{{square, square}, {square, square}}
	if pairs := must(f.FitWithin(400, 250)); len(pairs.Rows) != 2 {
		t.Errorf("%d rows of pairs, want two", len(pairs.Rows))
	}
	if _, err := f.FitWithin(400, 50); err == nil || !strings.Contains(err.Error(), "as square:a") {
		t.Errorf("%v, want the advice to pick panels", err)
	}
}

func TestDataByHand(t *testing.T) {
	f := &Figure{ID: "data", Rows: [][]Panel{{
		&Axes{Title: Text("Loss"), Series: []Series{
			{Label: Text("a, b"), X: []float64{0.1, 2}, Y: []float64{1e-9, 1. / 3}, Err: []float64{0, 0.5}},
			{X: []float64{3}, Y: []float64{4}},
		}, Levels: []Level{{Label: Text("log 3"), Y: 1.0986}}},
		&Matrix{Values: [][]float64{{1, -2}}},
	}, {&Graph{Parents: []int{-1, 0, -1}}}}}
	const want = "panel,series,x,y,error,value\n" +
		"a,\"a, b\",0.1,1e-09,0,\na,\"a, b\",2,0.3333333,0.5,\na,2,3,4,,\na,log 3,,1.0986,,\n" +
		"b,,1,1,,1\nb,,2,1,,-2\nc,,1,2,,\n"
	if got := string(must(f.CSV())); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	none := &Figure{ID: "none", Rows: [][]Panel{{&Chart{Plot: NewPlot()}}}}
	if paths := must(none.Export(t.TempDir())); len(paths) != 4 || must(none.CSV()) != nil {
		t.Errorf("a plot of gonum has data: %v", paths)
	}
}

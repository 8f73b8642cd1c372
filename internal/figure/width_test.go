package figure

import (
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"

	"learncausal/internal/property"
)

func grid() *Figure {
	f := &Figure{ID: "grid", Width: TwoColumns}
	for range 2 {
		f.Rows = append(f.Rows, []*Panel{axesPanel(), axesPanel(), axesPanel()})
	}
	return f
}

// At each width no frame is smaller than legible, no panel overlaps the next, and none leaves the page.
func TestFittedPanelsStandApart(t *testing.T) {
	for w := Width(160); w < 700; w += 60 {
		for _, f := range []*Figure{grid(), small()[1]} {
			fitted, err := f.Fit(w)
			if err != nil {
				t.Fatal(err)
			}
			l := must(fitted.layout())
			for i, p := range l.panels {
				out := p.room.outer(p.frame)
				if out.Min.X < -1 || out.Max.X > w+1 || out.Min.Y < -1 || out.Max.Y > l.h+1 {
					t.Errorf("%s at %v: panel %d has %v on a page of %v x %v", f.ID, w, i, out, l.w, l.h)
				}
				for _, q := range l.panels[:i] {
					o := q.room.outer(q.frame)
					x := min(o.Max.X, out.Max.X) - max(o.Min.X, out.Min.X)
					if x > 1 && min(o.Max.Y, out.Max.Y)-max(o.Min.Y, out.Min.Y) > 1 {
						t.Errorf("%s at %v: panels overlap by %v", f.ID, w, x)
					}
				}
			}
		}
	}
}

func TestRowsOfAxesAreAligned(t *testing.T) {
	f := &Figure{ID: "rows", Width: TwoColumns, Rows: [][]*Panel{
		{axesPanel(), axesPanel()}, {New("").Axes("", "wide"), axesPanel()},
	}}
	l := must(f.layout())
	if a, b := l.panels[0].frame, l.panels[2].frame; a.Min.X != b.Min.X || a.Max.Y != l.panels[1].frame.Max.Y {
		t.Errorf("frames at %v and %v", a, b)
	}
}

func TestWidthsAreRead(t *testing.T) {
	for s, want := range map[string]Width{"5.5in": FullText, "100pt": 100} {
		if w, err := ParseWidth(s); err != nil || w != want {
			t.Errorf("%s: %v, %v", s, w, err)
		}
	}
	for _, s := range []string{"", "5", "99pt", "25in", "NaNpt", "-3in"} {
		if w, err := ParseWidth(s); err == nil {
			t.Errorf("%q is %v", s, w)
		}
	}
	for _, s := range []string{"5pt", "73pt", "x"} {
		if v, err := ParseType(s); err == nil {
			t.Errorf("%q is %v", s, v)
		}
	}
}

// A drawing shrinks until its type has 6 pt, and a figure until its height fits.
func TestHeightsAndTypeHaveLimits(t *testing.T) {
	_, err := small()[2].Fit(150)
	property.Mentions(t, err, "figure boxes is at least")
	fitted, err := small()[2].Fit(190)
	if err != nil || must(fitted.layout()).panels[0].frame.Size().X > 187 {
		t.Errorf("%v", err)
	}
	if _, err = grid().FitWithin(400, 40); err == nil || !strings.Contains(err.Error(), "grid:a") {
		t.Errorf("%v, want an advice to pick", err)
	}
	low, err := small()[0].FitType(300, 120, 0)
	if err != nil || must(low.Height())*Width(low.Scale) > 120 {
		t.Errorf("%v", err)
	}
	large, err := small()[0].FitType(480, 0, 12)
	if err != nil || large.Scale != 1.5 || large.Width != 320 {
		t.Errorf("%+v, %v", large, err)
	}
	for ext, get := range formats(large) {
		if b, err := get(); err != nil || len(b) < 100 {
			t.Errorf("%s: %d bytes, %v", ext, len(b), err)
		}
	}
}

func TestPickedPanelsKeepTheirLetters(t *testing.T) {
	picked, err := grid().Pick("b,f")
	if err != nil || len(picked.Rows) != 2 {
		t.Fatal(picked, err)
	}
	if l := must(picked.layout()); l.panels[0].letter != "(b)" || l.panels[1].letter != "(f)" {
		t.Errorf("letters %s and %s", l.panels[0].letter, l.panels[1].letter)
	}
	_, err = grid().Pick("a,g")
	property.Mentions(t, err, `no panel "g", want some of a to f`)
	a, h := Matrix("", [][]float64{{1}}, false)
	b, _ := Matrix("", [][]float64{{1}}, false)
	h.Bar = false
	if picked, err = (&Figure{ID: "f", Rows: [][]*Panel{{a, b}}}).Pick("a"); err != nil || !picked.Rows[0][0].heat.Bar {
		t.Errorf("a matrix without its bar, %v", err)
	}
}

// Titles break at spaces, but not in a formula.
func TestTitlesBreakIntoLines(t *testing.T) {
	room := vg.Length(TextWidth("a title of", labelSize)) + 1
	got := strings.Join(broken("a title of $x = 1$ and\nmore", room, Style(labelSize, 0, 0)), "|")
	if got != "a title of|$x = 1$|and|more" {
		t.Errorf("%q", got)
	}
}

func TestNamesAtEndsMoveApart(t *testing.T) {
	p := New("")
	for k := range 3 {
		p.Curve(k, "curve", []float64{0, 1}, []float64{0, 1 + float64(k)/1000})
	}
	p.Ends()
	if len(p.names.all) != 0 || len(p.ends.all) != 3 {
		t.Errorf("%d names in the legend, %d at ends", len(p.names.all), len(p.ends.all))
	}
	must(figureOf(p).PNG())
}

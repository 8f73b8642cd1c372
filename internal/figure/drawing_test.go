package figure

import (
	"image/color"
	"math"
	"testing"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/recorder"
)

// Arrows straight, bowed upwards and downwards, dashed, and a loop.
func TestGoldenArrows(t *testing.T) {
	d := &Drawing{W: 120, H: 80}
	d.Box(1, 5, 30, 20, 15)
	d.Box(2, 85, 30, 20, 15)
	d.Frame(Red, 1.5, 84, 29, 22, 17)
	d.Arrow(Black, 0.9, false, 15, 45, 60, 95, 46, 120, 0.4)
	d.Arrow(Grey, 0.9, false, 95, 29, -120, 15, 30, -60, 0.4)
	d.Arrow(1, 0.7, true, 25, 37, 0, 84, 37, 0, 0)
	d.Arrow(2, 0.9, false, 98, 46, 55, 92, 46, 125, 2.4)
	f := &Figure{ID: "arrows", Rows: [][]Panel{{d}}}
	for ext, get := range map[string]func() ([]byte, error){".png": f.PNG, ".svg": f.SVG, ".tex": f.TeX} {
		b, err := get()
		if err != nil {
			t.Fatal(err)
		}
		golden(t, "arrows"+ext, b)
	}
}

// drawn returns the strokes and fills of a drawing, in order, on a canvas whose corner is
// at (100, 200), in the coordinates of the drawing.
func drawn(t *testing.T, d *Drawing) (all []shape) {
	t.Helper()
	var c recorder.Canvas
	canvas := draw.Canvas{Canvas: &c, Rectangle: vg.Rectangle{Min: pt(100, 200), Max: pt(300, 400)}}
	if err := d.Draw(canvas); err != nil {
		t.Fatal(err)
	}
	var ink color.Color
	var saved []vg.Point
	origin := vg.Point{}
	for _, a := range c.Actions {
		switch a := a.(type) {
		case *recorder.Push:
			saved = append(saved, origin)
		case *recorder.Pop:
			origin, saved = saved[len(saved)-1], saved[:len(saved)-1]
		case *recorder.Translate:
			origin = origin.Add(a.Point)
		case *recorder.SetColor:
			ink = a.Color
		case *recorder.Stroke, *recorder.Fill:
			if origin != pt(100, 200) {
				t.Errorf("something is drawn with the origin at %v", origin)
			}
			if s, ok := a.(*recorder.Stroke); ok {
				all = append(all, shape{ink, s.Path, false})
			} else {
				all = append(all, shape{ink, a.(*recorder.Fill).Path, true})
			}
		}
	}
	if origin != (vg.Point{}) {
		t.Errorf("a drawing leaves the origin at %v", origin)
	}
	return all
}

// A shape is a path that was stroked or filled.
type shape struct {
	ink    color.Color
	path   vg.Path
	filled bool
}

// bounds returns the least rectangle with the points of a path.
func (s shape) bounds() (r vg.Rectangle) {
	for i, p := range s.path {
		if i == 0 {
			r = vg.Rectangle{Min: p.Pos, Max: p.Pos}
		}
		for _, q := range append([]vg.Point{p.Pos}, p.Control...) {
			if p.Type == vg.CloseComp || p.Type == vg.ArcComp {
				continue
			}
			r.Min.X, r.Min.Y = min(r.Min.X, q.X), min(r.Min.Y, q.Y)
			r.Max.X, r.Max.Y = max(r.Max.X, q.X), max(r.Max.Y, q.Y)
		}
	}
	return r
}

// Each shape has its place and colour, in the order of the calls.
func TestShapesHaveTheirPlacesAndColours(t *testing.T) {
	d := &Drawing{W: 100, H: 60}
	d.Line(Red, 1, 3, 5, 20, 11)
	d.Frame(Grey, 1, 10, 20, 30, 25)
	d.Box(2, 50, 20, 30, 25)
	all := drawn(t, d)
	rectangle := vg.Rectangle{Min: pt(50, 20), Max: pt(80, 45)}
	for i, want := range []struct {
		ink    color.Color
		bounds vg.Rectangle
		filled bool
	}{
		{highlight, vg.Rectangle{Min: pt(3, 5), Max: pt(20, 11)}, false},
		{grey, vg.Rectangle{Min: pt(10, 20), Max: pt(40, 45)}, false},
		{nil, rectangle, true},
		{Ink(2).color(), rectangle, false},
	} {
		if i >= len(all) || all[i].bounds() != want.bounds || all[i].filled != want.filled ||
			want.ink != nil && all[i].ink != want.ink {
			t.Fatalf("shape %d of %v, want %v", i, all, want)
		}
	}
	if len(all) != 4 {
		t.Errorf("%d shapes, want 4", len(all))
	}
}

// A fall is vertical at both ends and stays between them. A disc is white within its
// outline.
func TestFallsAndDiscs(t *testing.T) {
	d := &Drawing{W: 100, H: 60}
	d.Fall(Black, 0.7, 10, 50, 80, 20)
	d.Disc(1, 30, 40, 5)
	all := drawn(t, d)
	if len(all) != 3 {
		t.Fatalf("%d shapes, want a curve, and a disc with its outline", len(all))
	}
	fall := all[0].path
	if len(fall) != 2 || fall[0].Pos != pt(10, 50) || fall[1].Pos != pt(80, 20) || len(fall[1].Control) != 2 {
		t.Fatalf("a fall from (10, 50) to (80, 20) is %v", fall)
	}
	c := fall[1].Control
	if c[0].X != 10 || c[1].X != 80 || c[0].Y >= 50 || c[1].Y <= 20 {
		t.Errorf("a fall with the handles %v is not vertical at its ends", c)
	}
	if b := all[0].bounds(); b != (vg.Rectangle{Min: pt(10, 20), Max: pt(80, 50)}) {
		t.Errorf("a fall reaches over %v", b)
	}
	if !all[1].filled || all[1].ink != white || all[2].filled || all[2].ink != Ink(1).color() {
		t.Errorf("a disc is %v", all[1:])
	}
	for _, s := range all[1:] {
		arc := s.path[1]
		if s.path[0].Pos != pt(35, 40) || arc.Pos != pt(30, 40) || arc.Radius != 5 || math.Abs(arc.Angle) != 2*math.Pi {
			t.Errorf("the outline of a disc is %v", s.path)
		}
	}
}

func TestFaultsOfDrawingsAreNamed(t *testing.T) {
	for _, size := range [][2]float64{{0, 10}, {10, 0}, {-1, 10}, {10, -1}} {
		wantError(t, &Drawing{W: size[0], H: size[1]}, "positive size")
	}
	d := &Drawing{W: 10, H: 10}
	d.Text(Black, 6, 0, Text("\U0001F600"), 5, 5)
	wantError(t, d, "no glyph")
}

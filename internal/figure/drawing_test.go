package figure

import (
	"testing"
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

func TestFaultsOfDrawingsAreNamed(t *testing.T) {
	for _, size := range [][2]float64{{0, 10}, {10, 0}, {-1, 10}, {10, -1}} {
		wantError(t, &Drawing{W: size[0], H: size[1]}, "positive size")
	}
	d := &Drawing{W: 10, H: 10}
	d.Text(Black, 6, 0, Text("\U0001F600"), 5, 5)
	wantError(t, d, "no glyph")
}

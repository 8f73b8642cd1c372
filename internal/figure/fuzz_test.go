package figure

import (
	"fmt"
	"image/color"
	"math"
	"regexp"
	"testing"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A label is an error, or is drawn in each format.
func FuzzLabel(f *testing.F) {
	for _, text := range []string{
		"Position i", "π(s'|s)", "X̃ and ĝ(β)", "Ã⁽¹⁾, W₁ and ⌊x⌋", "100 % & #1_$^{~}\\", "\x00", "\xff", "日本", "̃", "a\nb",
		"⁽", "₍₍", "",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 200 {
			return
		}
		label := Text(text)
		points := Series{Label: label, X: []float64{1, 2}, Y: []float64{1, 2}}
		fig := &Figure{ID: "label", Rows: [][]Panel{{&Axes{X: Axis{Label: label}, Series: []Series{points}}}}}
		wrong := label.check()
		for format, write := range map[string]func() ([]byte, error){
			"PNG": fig.PNG, "SVG": fig.SVG, "PDF": fig.PDF,
			"TeX": fig.TeX,
		} {
			b, err := write()
			if wrong == nil && (err != nil || len(b) == 0) || wrong != nil && err == nil {
				t.Errorf("%s of %q: %d bytes, %v; the check says %v", format, text, len(b), err, wrong)
			}
		}
	})
}

// gonums returns plotters of gonum with coordinates that need not be numbers.
func gonums(v, w float64) map[string]plot.Plotter {
	points := plotter.XYs{{X: 1, Y: 2}, {X: v, Y: w}, {X: 2, Y: 1}, {X: w, Y: 3}, {X: 3, Y: 3}}
	bars := make(plotter.YErrors, len(points))
	bars[1].High = w
	return map[string]plot.Plotter{
		"function": plotter.NewFunction(func(x float64) float64 { return math.Sqrt(x-v) / w }),
		"line":     &plotter.Line{XYs: points, LineStyle: plotter.DefaultLineStyle},
		"area":     &plotter.Line{XYs: points, LineStyle: plotter.DefaultLineStyle, FillColor: color.Gray{200}},
		"points": &plotter.Scatter{
			XYs: points, GlyphStyle: draw.GlyphStyle{Color: color.Black, Radius: 2, Shape: draw.RingGlyph{}},
		},
		"polygon": &plotter.Polygon{XYs: []plotter.XYs{points}, LineStyle: plotter.DefaultLineStyle, Color: color.Gray{200}},
		"bars":    &plotter.YErrorBars{XYs: points, YErrors: bars, LineStyle: plotter.DefaultLineStyle, CapWidth: 3},
		"histogram": &plotter.Histogram{
			Bins:      []plotter.HistogramBin{{Min: 0, Max: 1, Weight: v}, {Min: 1, Max: w, Weight: 2}},
			LineStyle: plotter.DefaultLineStyle,
		},
		"word": written{v, w},
	}
}

// written is a plotter that writes a word wherever its place is.
type written struct{ x, y float64 }

func (w written) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	c.FillText(textStyle(8, 0, 0), vg.Point{X: x(w.x), Y: y(w.y)}, "word")
}

// Each plot of gonum is drawn in all formats or in none, at the same places, and near the page.
func FuzzPlotsOfGonum(f *testing.F) {
	for k, v := range []float64{0, -1, 1e300, math.NaN(), math.Inf(1), 1 + 1e-15} {
		f.Add(v, 2.0, 3.0, 1.0, k%2 == 0) // swapped limits
		f.Add(1.0, 3.0, v, 4.0, k%2 == 1)
	}
	f.Fuzz(func(t *testing.T, v, w, lo, hi float64, log bool) {
		for name, plotted := range gonums(v, w) {
			p := plot.New()
			p.Add(plotted)
			p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = lo, hi, lo, hi
			if log {
				p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
			}
			fig := &Figure{ID: "chart", Rows: [][]Panel{{&Chart{Plot: Styled(p)}}}}
			svg, wrong := fig.SVG()
			tex, err := fig.TeX()
			_, err1 := fig.PNG()
			_, err2 := fig.PDF()
			for _, err := range []error{err, err1, err2} {
				if fmt.Sprint(err) != fmt.Sprint(wrong) {
					t.Errorf("%s: %v in one format, %v in another", name, err, wrong)
				}
			}
			if wrong != nil {
				continue
			}
			drawn := len(regexp.MustCompile(`\\(draw|fill|node|textsuperscript)\b`).FindAll(tex, -1)) + 1 // SVG has a background
			if n := len(regexp.MustCompile(`<path d=|<g `).FindAll(svg, -1)); n != drawn {
				t.Errorf("%s: %d parts in SVG, %d in LaTeX", name, n, drawn)
			}
			if m := regexp.MustCompile(`NaN|Inf`).FindAll(append(svg, tex...), 1); len(m) > 0 {
				t.Errorf("%s: a coordinate is %s", name, m[0])
			}
			e := &edges{}
			if l := must(fig.layout()); l.draw(&gate{Canvas: newCanvas(e), lost: make([]bool, 1)}) != nil || name != "bars" &&
				name != "word" && e.x1 > 2*l.w {
				t.Errorf("%s: drawn up to (%v, %v), on a page of %v x %v", name, e.x1, e.y1, l.w, l.h)
			}
		}
	})
}

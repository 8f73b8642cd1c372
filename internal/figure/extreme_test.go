package figure

import (
	"fmt"
	"image/color"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// extremes are ends of ranges: infinite, huge, neighbours in the last place, tiny, and none.
var extremes = []float64{
	math.NaN(), math.Inf(-1), -1e308, 0, 5e-324, 1e-308, math.Nextafter(1, 0), 1, 1 + 1e-9, 1e300, math.MaxFloat64,
}

// eachPair calls f for all ordered pairs of the extremes.
func eachPair(f func(lo, hi float64)) {
	for _, lo := range extremes {
		for _, hi := range extremes {
			f(lo, hi)
		}
	}
}

func TestTicksAreBoundedInEveryRange(t *testing.T) {
	tickers := map[string]plot.Ticker{"about": about(5), "of an empty plot": NewPlot().X.Tick.Marker, "log": powersOfTen}
	for _, step := range []float64{math.NaN(), -1, 0, 5e-324, 1e-9, 1, 1e308, math.Inf(1)} {
		tickers[fmt.Sprint("every ", step)] = multiplesOf(step)
	}
	for name, ticker := range tickers {
		eachPair(func(lo, hi float64) {
			labels := map[string]bool{}
			ticks := ticker.Ticks(lo, hi)
			for _, tick := range ticks {
				if tick.Label != "" && labels[tick.Label] {
					t.Errorf("ticks %s in [%v, %v]: two have the label %s", name, lo, hi, tick.Label)
				}
				labels[tick.Label] = true
			}
			if len(ticks) > mostTicks+1 {
				t.Errorf("ticks %s in [%v, %v]: %d, want at most %d", name, lo, hi, len(ticks), mostTicks)
			}
		})
	}
}

// Every panel is drawn for any numbers, or refused with an error that names the axis, the
// series or the entry.
func TestExtremeNumbersAreDrawnOrRefused(t *testing.T) {
	panels := map[string]func(lo, hi float64) Panel{
		"matrix": func(lo, hi float64) Panel { return &Matrix{Values: [][]float64{{lo, hi}, {0, 1}}} },
		"constant matrix": func(lo, hi float64) Panel {
			return &Matrix{Values: [][]float64{{lo, hi}}, Scale: Scale{Palette: Signed}}
		},
	}
	for _, log := range []bool{false, true} {
		kind := map[bool]string{false: "linear", true: "log"}[log]
		curve := func(lo, hi float64) []Series { return []Series{{X: []float64{0, 1, 2}, Y: []float64{lo, hi, lo}}} }
		panels[kind+" axes"] = func(lo, hi float64) Panel { return &Axes{Y: Axis{Log: log}, Series: curve(lo, hi)} }
		panels[kind+" range"] = func(lo, hi float64) Panel {
			return &Axes{Y: Axis{Log: log, Min: lo, Max: hi, Every: 1}, Series: curve(lo, hi)}
		}
		panels[kind+" chart"] = func(lo, hi float64) Panel {
			p := plot.New()
			p.Y.Min, p.Y.Max = lo, hi
			if log {
				p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, powersOfTen
			}
			return &Chart{Plot: p}
		}
		panels[kind+" point"] = func(lo, _ float64) Panel {
			p := NewPlot()
			p.Y.Min, p.Y.Max = lo, lo
			if log {
				p.Y.Scale = plot.InvertedScale{Normalizer: plot.LogScale{}}
			}
			return &Chart{Plot: p}
		}
	}
	for name, panel := range panels {
		drawn, refused := 0, 0
		eachPair(func(lo, hi float64) {
			p := panel(lo, hi)
			r, err := p.Layout(100)
			if err == nil {
				c := newCanvas(&tikz{colors: map[string]color.NRGBA{}})
				err = p.Draw(draw.Canvas{Canvas: c, Rectangle: vg.Rectangle{Max: vg.Point{X: r.Width, Y: r.Height}}})
			}
			switch {
			case err == nil:
				drawn++
			case strings.Contains(err.Error(), "axis") || strings.Contains(err.Error(), "series 0") ||
				strings.Contains(err.Error(), "matrix"):
				refused++
			default:
				t.Errorf("%s from %v to %v: %v does not name the place", name, lo, hi, err)
			}
		})
		if drawn < 10 || refused < 10 {
			t.Errorf("%s: %d drawn and %d refused, want at least 10 of each", name, drawn, refused)
		}
	}
}

// Numbers that are equal up to rounding errors are drawn like equal numbers.
func TestNearlyConstantNumbersAreDrawnAsConstant(t *testing.T) {
	const one = 1.0
	for _, y := range [][]float64{{one, one, one}, {one, math.Nextafter(one, 0), math.Nextafter(one, 2)}} {
		a := &Axes{Series: []Series{{X: []float64{0, 1, 2}, Y: y}}}
		if p := must(a.plot(100)); math.Abs(p.Y.Min-0.5) > 1e-15 || math.Abs(p.Y.Max-1.5) > 1e-15 {
			t.Errorf("%v has the axis [%v, %v], want [0.5, 1.5]", y, p.Y.Min, p.Y.Max)
		}
	}
	p := NewPlot()
	p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, plot.LogTicks{}
	p.Add(&plotter.Scatter{XYs: plotter.XYs{{X: 0, Y: 1}}})
	if _, err := (&Figure{ID: "point", Rows: [][]Panel{{&Chart{Plot: p}}}}).PNG(); err != nil {
		t.Error(err)
	}
}

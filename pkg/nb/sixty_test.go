package nb

import (
	"bytes"
	"fmt"
	"image/color"
	"image/png"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"

	"learncausal/internal/figure"
	"learncausal/pkg/graph"
)

// plotters of gonum that a reader may use, with few points, many points and many cells.
func plotters() map[string]func(p *plot.Plot) {
	wave := func(n int) plotter.XYs {
		xys := make(plotter.XYs, n)
		for k := range xys {
			x := 1 + 9*float64(k)/float64(n)
			xys[k] = plotter.XY{X: x, Y: 2 + math.Sin(40*x)*float64(k%5)/4}
		}
		return xys
	}
	values := plotter.Values{3, 1, 4, 1, 5, 9, 2, 6}
	return map[string]func(p *plot.Plot){
		"line":     func(p *plot.Plot) { p.Add(Must(plotter.NewLine(wave(50)))) },
		"longline": func(p *plot.Plot) { p.Add(Must(plotter.NewLine(wave(20_000)))) },
		"scatter":  func(p *plot.Plot) { p.Add(Must(plotter.NewScatter(wave(60)))) },
		"function": func(p *plot.Plot) {
			p.Add(plotter.NewFunction(math.Log))
			p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 1, 9, 0.1, 3
		},
		"bars":      func(p *plot.Plot) { p.Add(Must(plotter.NewBarChart(values, 10))) },
		"histogram": func(p *plot.Plot) { p.Add(Must(plotter.NewHist(values, 4))) },
		"box":       func(p *plot.Plot) { p.Add(Must(plotter.NewBoxPlot(20, 1, values))) },
		"polygon": func(p *plot.Plot) {
			area := Must(plotter.NewPolygon(wave(9)))
			area.Color = color.Gray{100}
			p.Add(area)
		},
		"errorbars":  func(p *plot.Plot) { Check(plotutil.AddErrorBars(p, bars{wave(9)})) },
		"heat":       func(p *plot.Plot) { AddMatrix(p, wavy(100)) },
		"forest":     func(p *plot.Plot) { AddGraph(p, graph.InContext(12)) },
		"linepoints": func(p *plot.Plot) { Check(plotutil.AddLinePoints(p, "$T=20$", wave(9), "γ & 50 %", wave(5))) },
	}
}

// wavy is a matrix with as many colours as entries.
func wavy(n int) *mat.Dense {
	m := mat.NewDense(n, n, nil)
	m.Apply(func(i, j int, _ float64) float64 { return math.Sin(float64(i*j) / 300) }, m)
	return m
}

type bars struct{ plotter.XYs }

func (bars) YError(int) (low, high float64) { return 0.2, 0.3 }

// variants of labels, scales and sizes.
var variants = map[string]func(p *plot.Plot){
	"bare":    func(*plot.Plot) {},
	"formula": func(p *plot.Plot) { p.X.Label.Text, p.Y.Label.Text = `$\beta_0$`, `$\partial L/\partial\beta$` },
	"title": func(p *plot.Plot) {
		p.Title.Text, p.Y.Label.Text = "a title of some length\nin two lines", "loss & 50 % of it"
	},
	"wide": func(p *plot.Plot) { p.NominalY("a", "a name of some length", "c") },
	"top": func(p *plot.Plot) {
		p.Legend.Top, p.X.Label.Text = true, strings.Repeat("a long label that needs two lines ", 2)
	},
}

// Sixty plots compile in one document of pdflatex, and each page has as much ink as the PNG, but for the fonts. No line
// of LaTeX is longer than TeX reads, and no file too large for its memory.
func TestPlotsOfGonumAreTheSameInLaTeX(t *testing.T) {
	if testing.Short() {
		t.Skip("slow: it runs LaTeX")
	}
	t.Chdir(t.TempDir())
	var source strings.Builder
	source.WriteString("\\documentclass{article}\n" + figure.Preamble +
		"\\parindent=0pt\\pagestyle{empty}\\begin{document}\n")
	var ids []string
	for name, add := range plotters() {
		for variant, change := range variants {
			if name == "forest" || variant == "wide" && name == "heat" {
				variant, change = variant+"-bare", variants["bare"]
			}
			p := plot.New()
			add(p)
			change(p)
			id := name + "-" + variant
			if _, err := export(id, "", p); err != nil {
				t.Fatalf("%s: %v", id, err)
			}
			b := Must(os.ReadFile("figures/" + id + ".tex"))
			for line := range bytes.Lines(b) {
				if len(line) > 1000 {
					t.Errorf("%s: a line of %d bytes", id, len(line))
				}
			}
			if len(b) > 1<<20 {
				t.Errorf("%s: %d bytes", id, len(b))
			}
			ids = append(ids, id)
			fmt.Fprintf(&source, "\\setbox1\\hbox{\\input{figures/%s}}\\pdfpagewidth=\\wd1 \\pdfpageheight=\\ht1 "+
				"\\hoffset=-1in \\voffset=-1in \\shipout\\box1\n", id)
		}
	}
	Check(os.WriteFile("doc.tex", []byte(source.String()+"\\end{document}\n"), 0o666))
	for _, program := range []string{"pdflatex", "pdftoppm"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip("NOT CHECKED: no " + program + " on this machine")
		}
	}
	out, err := exec.Command("pdflatex", "-halt-on-error", "-interaction=nonstopmode", "doc").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out[max(0, len(out)-2000):])
	}
	Check(exec.Command("pdftoppm", "-r", "192", "-png", "doc.pdf", "page").Run())
	pages := Must(filepath.Glob("page-*.png"))
	if len(pages) != len(ids) {
		t.Fatalf("%d pages of %d plots", len(pages), len(ids))
	}
	for k, page := range pages {
		png, tex := ink(t, "figures/"+ids[k]+".png"), ink(t, page)
		if png < 0.01 || math.Abs(png-tex) > 0.2*png {
			t.Errorf("%s: %.3f of the PNG is dark, %.3f of the page", ids[k], png, tex)
		}
	}
}

// ink returns the mean darkness of a picture.
func ink(t *testing.T, path string) (sum float64) {
	t.Helper()
	m := Must(png.Decode(bytes.NewReader(Must(os.ReadFile(path)))))
	b := m.Bounds()
	for x := range b.Dx() {
		for y := range b.Dy() {
			r, g, blue, _ := m.At(x, y).RGBA()
			sum += 1 - float64(r+g+blue)/(3*65535)
		}
	}
	return sum / float64(b.Dx()*b.Dy())
}

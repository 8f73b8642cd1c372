package figure

import (
	"bytes"
	"errors"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"

	"learncausal/internal/property"
)

// wantError draws a panel with a fault and looks for the words that name it.
func wantError(t *testing.T, p Panel, words ...string) {
	t.Helper()
	_, err := (&Figure{ID: "faulty", Rows: [][]Panel{{p}}}).PNG()
	property.Mentions(t, err, words...)
}

// A figure without Alt is described by its panels.
func TestDescriptionNamesThePanels(t *testing.T) {
	p := plot.New()
	p.X.Label.Text, p.Y.Label.Text = "β", "Gain"
	x, y := Axis{Label: Text("Step")}, Axis{Label: Text("Loss")}
	f := &Figure{ID: "f", Rows: [][]Panel{
		{&Matrix{Title: Text("Weights"), Values: [][]float64{{1, 2, 3}, {4, 5, 6}}}, &Drawing{}},
		{&Axes{X: x, Y: y, Series: []Series{{Label: Text("trained")}, {}, {Label: Text("Bayes")}}}, &Chart{Plot: p}},
		{&Graph{Parents: []int{-1, -1}}, &Axes{X: x, Y: y, Series: []Series{{}}}},
	}}
	const want = "Weights. A matrix of 2 rows and 3 columns. A drawing. Loss against Step: trained, Bayes. Gain " +
		"against β. " +
		"A causal graph of 2 positions. Loss against Step."
	if got := f.Description(); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// SVG and PDF contain the title and the description of a figure.
func TestFilesContainTitleAndDescription(t *testing.T) {
	f := &Figure{ID: "plain", Rows: [][]Panel{{&Graph{Parents: []int{-1, 0}}}}}
	for _, c := range []struct{ title, alt, wantTitle, wantDesc string }{
		{"", "", "plain", "A causal graph of 2 positions, edges 1 to 2."},
		{"A chain", "", "A chain", "A causal graph of 2 positions, edges 1 to 2."},
		{"Heads & tails", "Two nodes, a < b.", "Heads &amp; tails", "Two nodes, a &lt; b."},
	} {
		f.Title, f.Alt = c.title, c.alt
		svg, err := f.SVG()
		if err != nil {
			t.Fatal(err)
		}
		if want := "<title>" + c.wantTitle + "</title>\n<desc>" + c.wantDesc + "</desc>"; !strings.Contains(string(svg),
			want) {
			t.Errorf("SVG does not say %s", want)
		}
	}
	pdf, err := f.PDF()
	if err != nil {
		t.Fatal(err)
	}
	utf16 := func(s string) []byte {
		var b []byte
		for _, c := range s {
			b = append(b, 0, byte(c))
		}
		return b
	}
	for _, want := range []string{f.Title, f.Alt} {
		if !bytes.Contains(pdf, utf16(want)) {
			t.Errorf("PDF does not say %s", want)
		}
	}
}

// edges is a device that records the bounds of its ink.
type edges struct{ x0, y0, x1, y1 vg.Length }

func (e *edges) add(x, y vg.Length) {
	e.x0, e.x1 = min(e.x0, x), max(e.x1, x)
	e.y0, e.y1 = min(e.y0, y), max(e.y1, y)
}

func (e *edges) fill(p vg.Path, _ state) {
	for _, c := range p {
		if c.Type != vg.CloseComp {
			e.add(c.Pos.X, c.Pos.Y)
		}
	}
}
func (e *edges) stroke(p vg.Path, s state) { e.fill(p, s) }
func (e *edges) glyphs(f font.Face, text string, s state) {
	w, up, down := f.Width(text), glyphTop(f, text), -descent*f.Font.Size
	for _, p := range []vg.Point{{X: 0, Y: down}, {X: w, Y: down}, {X: 0, Y: up}, {X: w, Y: up}} {
		q := mapped(s.at, p)
		e.add(q.X, q.Y)
	}
}

func TestNothingIsCutOff(t *testing.T) {
	for _, f := range append(append(small(), readers(t)), demos()...) {
		l, err := f.layout()
		if err != nil {
			t.Fatal(err)
		}
		e := &edges{}
		if err := l.draw(newCanvas(e)); err != nil {
			t.Fatal(err)
		}
		if e.x0 < 0 || e.y0 < 0 || e.x1 > l.w || e.y1 > l.h {
			t.Errorf("figure %s of %.1f x %.1f pt has ink at %+v", f.ID, l.w, l.h, *e)
		}
	}
}

func TestEscapeTeX(t *testing.T) {
	for in, want := range map[string]string{
		"a_b & 50 % #1 {x} $ ~ ^ \\": `a\_b \& 50 \% \#1 \{x\} \$ \textasciitilde{} \textasciicircum{} \textbackslash{}`,
		"X̃; Ã⁽¹⁾":                   `\~{X}; Ã\textsuperscript{(1)}`,
		"−1 ± 2":                     `\ensuremath{-}1 \ensuremath{\pm} 2`,
		"s₁₂":                        `s\textsubscript{12}`,
		"naïve":                      "naïve",
		`"čas"`:                      `\char34{}{\v{c}}as\char34{}`,
		"Łódź":                       `\L{}ód{\'{z}}`,
		"ωΞΑ":                        `\ensuremath{\omega}\ensuremath{\Xi}\ensuremath{\mathrm{A}}`,
	} {
		got, err := EscapeTeX(in)
		if err != nil || got != want {
			t.Errorf("EscapeTeX(%q) = %q, %v, want %q", in, got, err, want)
		}
	}
	if got, err := EscapeTeX("a漢"); err == nil {
		t.Errorf("EscapeTeX let %q pass", got)
	}
}

func TestTicks(t *testing.T) {
	for _, c := range []struct {
		got  []float64
		want string
	}{
		{niceTicks(0, 1, 5), "[0 0.2 0.4 0.6 0.8 1]"},
		{niceTicks(-6.43, 6.43, 4), "[-5 0 5]"},
		{niceTicks(0.137, 0.152, 5), "[0.14 0.145 0.15]"},
		{first(logTicks(0.02, 30)), "[0.1 1 10]"},
		{first(logTicks(0.2, 9)), "[0.2 0.5 1 2 5]"},
		{first(logTicks(9, 550)), "[10 20 50 100 200 500]"}, // two powers of ten are too few
		{first(logTicks(1.1, 990)), "[3 10 30 100 300]"},    // 1, 2 and 5 would give eight
		{first(logTicks(1, 1e5)), "[1 10 100 1000 10000 100000]"},
		{first(logTicks(1e-3, 1e3)), "[0.001 0.01 0.1 1 10 100 1000]"}, // seven are not too many, eight are
		{first(logTicks(1e-3, 1e4)), "[0.001 0.1 10 1000]"},
		{first(logTicks(4, 8)), "[4 5 6 7 8]"},
		{first(logTicks(0.31, 0.55)), "[0.35 0.4 0.45 0.5 0.55]"},
		{first(logTicks(0.512, 0.518)), "[0.512 0.514 0.516 0.518]"},
		{Scale{Palette: Signed, Min: -1, Max: 1}.ticks(30), "[-1 0 1]"},
		{Scale{Max: 1}.ticks(11), "[0 1]"},
		{Scale{Max: 1}.ticks(10), "[1]"}, // lower than two numbers
		{Scale{Max: 1}.ticks(40), "[0 0.5 1]"},
		{Scale{Max: 1}.ticks(30), "[0 1]"},
		{within(0, 0.2, 0.1234567890123), "[0 0.1235]"},
		{within(-0.2, 1, 0.5), "[0 0.5 1]"},
	} {
		if got := sprint(c.got); got != c.want {
			t.Errorf("ticks %s, want %s", got, c.want)
		}
	}
	if zero := within(-0.2, 1, 0.5)[0]; math.Signbit(zero) {
		t.Error("a tick at negative zero")
	}
}

func first(a, _ []float64) []float64 { return a }

func sprint(x []float64) string {
	var s []string
	for _, v := range x {
		s = append(s, tickLabel(v, 4).Text)
	}
	return "[" + strings.ReplaceAll(strings.Join(s, " "), "−", "-") + "]"
}

// The brackets of the floor, which the font lacks, are drawn, and named in LaTeX.
func TestBracketsOfTheFloorAreDrawn(t *testing.T) {
	l := Text("⌊i/2⌋")
	if w, inner := l.Width(8), Text("i/2").Width(8); l.check() != nil || w <= inner {
		t.Errorf("%v pt wide with its brackets, %v without, %v", w, inner, l.check())
	}
	if tex := l.source(); !strings.Contains(tex, `\lfloor`) || !strings.Contains(tex, `\rfloor`) {
		t.Errorf("LaTeX %s has no brackets", tex)
	}
}

// The first frames of rows of several panels are aligned, whatever is written around them
// and however many panels follow.
func TestRowsOfSeveralPanelsAreAligned(t *testing.T) {
	bare := &Matrix{Values: [][]float64{{0, 1}, {1, 0}}, Cell: 30}
	named := &Matrix{Values: bare.Values, Cell: 30, YLabel: Text("rows"), Scale: Scale{Hidden: true}}
	f := &Figure{ID: "x", Width: TwoColumns, Rows: [][]Panel{{bare, bare}, {named, bare, bare}, {bare}}}
	l, err := f.layout()
	if err != nil {
		t.Fatal(err)
	}
	wide := &Axes{Series: []Series{{X: []float64{0, 1}, Y: []float64{0, 1}}}}
	second := &Figure{ID: "x", Width: TwoColumns, Rows: [][]Panel{{wide, wide}, {named, bare}}}
	filled, err := second.layout()
	if err != nil {
		t.Fatal(err)
	}
	if a, b := filled.panels[0].frame.Min.X, filled.panels[2].frame.Min.X; math.Abs(float64(a-b)) > pixel {
		t.Errorf("the first frames of a row that fills the width and of one below it are at %v and %v", a, b)
	}
	x := func(k int) float64 { return float64(l.panels[k].frame.Min.X) }
	if math.Abs(x(0)-x(2)) > pixel || math.Abs(x(5)-x(0)) < 10 {
		t.Errorf("the first frames of the rows are at %v, %v and %v", x(0), x(2), x(5))
	}
}

func TestNumbersOfAGroupCountFromItsFirstColumn(t *testing.T) {
	m := &Matrix{Columns: [][]Group{{{Size: 10}, {Size: 20}}}, Numbered: []int{1}}
	if ticks := m.groupTicks(5); ticks[0].Value != 11 || ticks[0].Label != "1" || ticks[1].Value != 15 {
		t.Errorf("ticks %v, want 1 at column 11 and 5 at column 15", ticks)
	}
}

func TestTicksStandAtGivenDistances(t *testing.T) {
	a := &Axes{Series: []Series{{X: []float64{1, 9}, Y: []float64{0, 1}}}, X: Axis{Min: 0.5, Max: 9.5, Every: 1}}
	p := must(a.plot(100))
	if ticks := p.X.Tick.Marker.Ticks(0.5, 9.5); len(ticks) != 9 || ticks[0].Label != "1" || ticks[8].Value != 9 {
		t.Errorf("ticks %v, want 1 to 9", ticks)
	}
	a.X.Every = -1
	wantError(t, a, "ticks every -1")
}

// A shared legend has each entry once, above all panels, which have none.
func TestASharedLegendStandsAboveThePanels(t *testing.T) {
	panel := func() *Axes {
		return &Axes{Series: []Series{
			{Label: Text("first"), X: []float64{0, 1}, Y: []float64{0, 1}},
			{Label: Text("second"), X: []float64{0, 1}, Y: []float64{1, 0}},
		}}
	}
	f := &Figure{
		ID: "shared", Alt: "Four plots.", Width: TwoColumns,
		Rows: [][]Panel{{panel(), panel()}, {panel(), panel()}},
	}
	before := must(f.Height())
	f.ShareLegend(f.Rows[0][0].(*Axes))
	l := must(f.layout())
	if l.h >= before {
		t.Errorf("height %v with one legend, %v with four, want less", l.h, before)
	}
	for i, p := range l.panels {
		if top := p.titleY + labelSize; top > l.under.Min.Y {
			t.Errorf("panel %d begins at %v, above the end of the legend at %v", i, top, l.under.Min.Y)
		}
	}
	for _, get := range []func() ([]byte, error){f.TeX, f.SVG} {
		text := string(must(get()))
		if n := strings.Count(text, "first"); n > 1 || strings.Contains(text, "axis") && n != 1 {
			t.Errorf("%d times the label, want once", n)
		}
	}
	f.Rows[1][0] = &Graph{Parents: []int{-1}}
	f.legend.Levels = []Level{{Label: Text(noGlyph)}}
	if _, err := f.PNG(); err == nil || !strings.HasPrefix(err.Error(), "figure shared: legend: label") {
		t.Errorf("error %v does not name the legend", err)
	}
}

// compile compiles a document in a folder and returns its log and bytes, or skips the test.
func compile(t *testing.T, dir string, args ...string) (log, pdf []byte) {
	t.Helper()
	pdflatex, err := exec.LookPath("pdflatex")
	if err != nil {
		t.Skip("NOT CHECKED: no pdflatex on this machine, so the LaTeX exports were not compiled")
	}
	cmd := exec.Command(pdflatex, append([]string{"-interaction=nonstopmode", "-halt-on-error", "-jobname=doc"},
		args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "SOURCE_DATE_EPOCH=0", "FORCE_SOURCE_DATE=1", "max_print_line=10000")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out[max(0, len(out)-2000):])
	}
	log, err1 := os.ReadFile(filepath.Join(dir, "doc.log"))
	pdf, err2 := os.ReadFile(filepath.Join(dir, "doc.pdf"))
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	return log, pdf
}

package figure

import (
	"bytes"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"learncausal/internal/property"
)

// noGlyph is a text that the font cannot set.
const noGlyph = "降"

// A label is one string, read as LaTeX and as letters of the screen.
func TestLabelsAreReadBothWays(t *testing.T) {
	for s, want := range map[string][2]string{
		`50 % of β_i & −1`:              {`50 \% of \ensuremath{\beta}\_i \& \ensuremath{-}1`, `50 % of β_i & −1`},
		`$\hat g_{ij}$ of 3`:            {`$\hat g_{ij}$ of 3`, `ĝᵢⱼ of 3`},
		"-0.5":                          {"$-0.5$", "−0.5"},
		`Łódź`:                          {`\L{}ód{\'{z}}`, `Łódź`},
		`on $\lfloor i/2\rfloor$`:       {`on $\lfloor i/2\rfloor$`, `on ⌊i/2⌋`},
		`$\beta_0$`:                     {`$\beta_0$`, "β₀"},
		`$\partial L/\partial\beta$`:    {`$\partial L/\partial\beta$`, "∂L/∂β"},
		`$∂L/∂β$`:                       {`${\partial}L/{\partial}{\beta}$`, "∂L/∂β"},
		`∇ ∈ ⟨x⟩ ‖v‖ ⇒ 𝔼`:               {"", "∆ ϵ ‹x› ‖v‖ → E"},
		`$T=20$, $\mathcal S(A^{(1)})$`: {`$T=20$, $\mathcal S(A^{(1)})$`, "T = 20, S(A⁽¹⁾)"},
		`$2\cdot 10^{-5}$`:              {`$2\cdot 10^{-5}$`, "2·10⁻⁵"},
		`$T\log T$`:                     {`$T\log T$`, "T log T"},
		`costs 5$ or more`:              {`costs 5\$ or more`, `costs 5$ or more`},
		"x² and A₁":                     {`x\textsuperscript{2} and A\textsubscript{1}`, "x² and A₁"},
		`\frac is plain, {so} ~^`:       {`\textbackslash{}frac is plain, \{so\} \textasciitilde{}\textasciicircum{}`, `\frac is plain, {so} ~^`},
		`$\frac12$`:                     {`$\frac12$`, "1/2"},
		"A\u0303 and e\u0301":           {`\~{A} and é`, "Ã and é"},
	} {
		tex, err := latex(s)
		if plain := Plain(s); err != nil || want[0] != "" && tex != want[0] || plain != want[1] {
			t.Errorf("%q: %q and %q (%v), want %q", s, tex, plain, err, want)
		}
	}
	for s, want := range map[string]string{
		noGlyph: "no glyph", "$x_$": "no argument", "${x$": "brace", "$x}$": "brace", `$\unknown$`: "only LaTeX",
		"a\nb" + noGlyph: "no glyph",
	} {
		property.Mentions(t, check(s), want)
	}
}

// A label is an error, or is drawn in each format.
func FuzzLabel(f *testing.F) {
	for _, s := range []string{
		"Position $i$", "π(s'|s)", "X̃ and ĝ(β)", "Ã⁽¹⁾, W₁ and ⌊x⌋",
		"100 % & #1_$^{~}\\", "\x00", "日本", "a\nb", "$^$", "$\\hat$", "$x^$",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if len(s) > 60 {
			return
		}
		p := New("").Axes(s, "")
		p.Points(0, "", []float64{1, 2}, []float64{1, 2})
		fig := &Figure{ID: "label", Width: TwoColumns, Rows: [][]*Panel{{p}}}
		wrong := check(s)
		for format, get := range formats(fig) {
			if _, err := get(); (err == nil) != (wrong == nil) && format != "csv" && !strings.Contains(s, " ") && len(s) < 30 {
				t.Errorf("%s of %q: %v; the check says %v", format, s, err, wrong)
			}
		}
	})
}

func figureOf(p *Panel) *Figure { return &Figure{ID: "f", Rows: [][]*Panel{{p}}} }

// Each fault is reported, and by every format.
func TestEachFaultIsNamed(t *testing.T) {
	x, y := []float64{1, 2}, []float64{1, 2}
	axes := func(spoil func(p *Panel)) *Panel { p := New(""); p.Curve(0, "a", x, y); spoil(p); return p }
	matrix := func(spoil func(h *Heat)) *Panel {
		p, h := Matrix("", [][]float64{{0, 1, 0.5}, {0.3, 0.4, 0.5}}, false)
		h.Rows = [][]Group{{{Name: "r", Size: 2}}}
		h.Columns = [][]Group{{{Name: "c", Size: 1}, {Name: "d", Size: 2}}}
		spoil(h)
		return p
	}
	causal := func(query bool, parents ...int) *Panel { return Causal("", &Forest{Parents: parents, Query: query}) }
	for want, p := range map[string]*Panel{
		"lie outside the axis y, [0, 1.5]":    axes(func(p *Panel) { p.YRange(0, 1.5) }),
		`series "b", point 1`:                 axes(func(p *Panel) { p.Curve(1, "b", x, []float64{1, math.NaN()}) }),
		`series "3" has 2 x, 1 y`:             axes(func(p *Panel) { p.Curve(1, "b", x, y); p.Points(1, "", x, y[:1]) }),
		"needs values above 0":                axes(func(p *Panel) { p.Curve(1, "b", x, []float64{0, 1}); p.Log(&p.Y) }),
		"want finite numbers":                 axes(func(p *Panel) { p.YRange(0, math.Inf(1)) }),
		"no glyph":                            axes(func(p *Panel) { p.Title = noGlyph }),
		"label \"" + noGlyph:                  axes(func(p *Panel) { p.Axes("", noGlyph) }),
		"font has no glyph":                   axes(func(p *Panel) { p.Curve(1, noGlyph, x, y) }),
		"label \"W":                           axes(func(p *Panel) { p.Axes(strings.Repeat("W", 90), "") }),
		"title \"W":                           axes(func(p *Panel) { p.Title = strings.Repeat("W", 90) }),
		"legend is":                           axes(func(p *Panel) { p.Plot.Legend.Add(strings.Repeat("W", 60)) }),
		"a matrix without entries":            must2(Matrix("", nil, true)),
		"row 1 has 1 entries, row 0 has 2":    must2(Matrix("", [][]float64{{1, 2}, {1}}, true)),
		"entry (0, 1) is -Inf":                must2(Matrix("", [][]float64{{1, math.Inf(-1)}}, false)),
		"entry (0, 1) = 1 lies outside":       matrix(func(h *Heat) { h.Max = 0.9 }),
		"groups cover 1 of 2":                 matrix(func(h *Heat) { h.Rows[0][0].Size = 1 }),
		`group "d" has size 0`:                matrix(func(h *Heat) { h.Columns[0][1].Size = 0 }),
		"block [1 0 2 1] does not fit":        matrix(func(h *Heat) { h.Blocks = [][4]int{{1, 0, 2, 1}} }),
		"1 names of 2 rows":                   matrix(func(h *Heat) { h.RowNames = []string{"a"} }),
		"graph has no nodes":                  causal(false),
		"graph edge 2 -> 2":                   causal(false, -1, 0, 2),
		"graph edge 0 -> 1: the query has no": causal(true, -1, 0),
		"want as many":                        Causal("", &Forest{Parents: []int{-1, -1}, Names: []string{"a"}}),
		"lines, marks or texts have no place": axes(func(p *Panel) { p.Add(written(math.Inf(1))) }),
	} {
		f := figureOf(p)
		for ext, get := range formats(f) {
			if _, err := get(); ext != "csv" {
				property.Mentions(t, err, want)
			}
		}
	}
	for want, f := range map[string]*Figure{
		`id "Upper"`: {ID: "Upper"}, "no panels": {ID: "f"}, "row 0 has no panel": {ID: "f", Rows: [][]*Panel{{}}},
		"panel 0: nil":        {ID: "f", Rows: [][]*Panel{{nil}}},
		"want positive sizes": {ID: "f", Width: vg.Length(math.NaN()), Rows: [][]*Panel{{arcs()}}},
		"scale -1":            {ID: "f", Scale: -1, Rows: [][]*Panel{{arcs()}}},
		"take a wider figure": {ID: "f", Rows: [][]*Panel{slices.Repeat([]*Panel{axesPanel()}, 4)}},
		"without a plot":      {ID: "f", Rows: [][]*Panel{{{names: &names{}}}}},
	} {
		_, err := f.PNG()
		property.Mentions(t, err, want)
	}
}

func must2(p *Panel, _ *Heat) *Panel { return p }

// written is a plotter that writes at an ordinate in points.
type written float64

func (y written) Plot(c draw.Canvas, _ *plot.Plot) {
	c.FillText(Style(8, 0, 0), vg.Point{Y: vg.Length(y)}, "far")
}

// Each error in a table is reported by all of its formats.
func TestEachFaultOfATableIsNamed(t *testing.T) {
	for want, spoil := range map[string]func(tab *Table){
		`figure: id "Losses"`:                     func(tab *Table) { tab.ID = "Losses" },
		"table losses: label":                     func(tab *Table) { tab.Columns[2] = noGlyph },
		"table losses has no columns":             func(tab *Table) { tab.Columns, tab.Rows = nil, nil },
		"table losses has 1 shares, want one":     func(tab *Table) { tab.Shares = []float64{1} },
		"they cover 2 of 3":                       func(tab *Table) { tab.Groups = []Group{{Size: 2}} },
		`group "b" of 0 columns`:                  func(tab *Table) { tab.Groups = []Group{{Size: 3}, {Name: "b"}} },
		"table losses: row 1 has 2 cells, want 3": func(tab *Table) { tab.Rows[1] = tab.Rows[1][:2] },
		"table losses, row 1: label":              func(tab *Table) { tab.Rows[1][0] = Words(noGlyph) },
	} {
		tab := someTable()
		tab.Shares, tab.Groups = []float64{0.2, 0, 0}, []Group{{Size: 1}, {Name: "g", Size: 2}}
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
	for want, ns := range map[string]Numbers{
		`figure: id "Upper"`: {{ID: "Upper"}}, "number x: NaN is not finite": {{ID: "x", Value: math.NaN()}},
		"number x: text": {{ID: "x", Paper: "日"}}, `both define \valFigNine`: {{ID: "fig9"}, {ID: "fig-nine"}},
		`both define \valXPaper`:       {{ID: "x", Paper: "1"}, {ID: "x-paper"}},
		"two numbers have the id same": {{ID: "same"}, {ID: "same"}},
	} {
		_, err := ns.TeX()
		property.Mentions(t, err, want)
	}
}

// Lines break where they are not finite. Of a long line the extremes are kept.
func TestGatePassesWhatIsOnThePage(t *testing.T) {
	p := plot.New()
	p.Add(plotter.NewFunction(math.Log))
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = -1, 1, -2, 1
	for ext, get := range formats(figureOf(FromPlot(p))) {
		b, err := get()
		if m := regexp.MustCompile(`NaN|Inf\b`).Find(b); err != nil || m != nil && (ext == "svg" || ext == "tex") {
			t.Errorf("%s: %v, %s", ext, err, m)
		}
	}
	var long vg.Path
	long.Move(vg.Point{})
	for k := range 20_000 {
		long.Line(vg.Point{X: vg.Length(k) / 100, Y: vg.Length(k % 7)})
	}
	long[10_001].Pos.Y, long[5001].Pos.Y = 99, -99
	short := thinned(long)
	low, high := vg.Length(0), vg.Length(0)
	for _, c := range short {
		low, high = min(low, c.Pos.Y), max(high, c.Pos.Y)
	}
	if len(short) > 3000 || low != -99 || high != 99 || short[len(short)-1].Pos != long[len(long)-1].Pos {
		t.Errorf("%d of %d points from %v to %v", len(short), len(long), low, high)
	}
}

// Ticks are round, distinct and in the range.
func TestTicks(t *testing.T) {
	labels := func(t plot.Ticker, lo, hi float64) string {
		var all []string
		for _, tick := range t.Ticks(lo, hi) {
			if tick.Label != "" {
				all = append(all, Plain(tick.Label))
			}
		}
		return strings.Join(all, " ")
	}
	for want, got := range map[string]string{
		"0 0.2 0.4 0.6 0.8 1": labels(about(5), 0, 1), "−1 −0.5 0 0.5 1": labels(about(5), -1, 1),
		"1 10 100 1000": labels(decades, 1, 1000), "10⁰ 10¹ 10² 10³ 10⁴": labels(decades, 1, 1e4),
		"10⁻⁴ 10⁻³ 10⁻² 10⁻¹ 10⁰": labels(decades, 1e-4, 1),
		"0.02 0.05 0.1 0.2":       labels(decades, 0.015, 0.3), "": labels(decades, -1, 1),
	} {
		if got != want {
			t.Errorf("ticks %q, want %q", got, want)
		}
	}
}

// The description has the axes if the author gives none, and no markup.
func TestFiguresDescribeThemselves(t *testing.T) {
	f := figureOf(New("A title").Axes("Step $t$", `$\hat g$`))
	svg := string(must(f.SVG()))
	for _, want := range []string{"<title>f</title>", "<desc>A title. ĝ against Step t.</desc>"} {
		if !strings.Contains(svg, want) {
			t.Errorf("no %s in %.300s", want, svg)
		}
	}
	if n := bytes.Count(must(small()[0].SVG()), []byte("textLength")); n < 10 {
		t.Errorf("%d texts with a width", n)
	}
}

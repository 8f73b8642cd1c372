package figures

import (
	"fmt"
	"image/color"
	"math/big"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"

	"learncausal/internal/figure"
	"learncausal/paper/ledger"
	"learncausal/pkg/graph"
	"learncausal/pkg/model"
)

// forwardPassTokens is a sequence on which the limit of Construction 1 is the empirical estimate.
var forwardPassTokens = []int{1, 0, 0, 2, 1, 0}

// forwardPassFigure is Figure 3, on the graph of Figure 1.
func forwardPassFigure() *figure.Figure {
	f, err := ForwardPassFigure("", graph.Figure1(), forwardPassTokens)
	if err != nil {
		panic(err)
	}
	f.Alt = "Six letters with arrows to their parents, the copied letters below, arrows from the query to the two " +
		"copies of its own letter, and the letters there, whose mean is the output."
	return f
}

// forwardPassRows is the row on Figure 3: the dense transformer with the construction's
// weights returns the empirical estimate of the figure.
func forwardPassRows() []Row {
	c := model.ConstructionOne(graph.Figure1(), 3)
	want := make([]float64, 3)
	got := c.Weights(100, 100).Linear(forwardPassTokens).RawRowView(5)
	same := c.Empirical(want, forwardPassTokens) && floats.Distance(got, want, 1)/2 < 1e-9
	return []Row{{
		Figure: 3, ID: "fig-forward-pass", What: "forward pass", Setting: "text", Paper: "returns the empirical estimate",
		Ours: words("the same, run as a transformer"), Interval: "exact", Verdict: verdict(same, "another output"),
	}}
}

// maxTrace is the length of the longest sequence that ForwardPassFigure draws.
const maxTrace = 32

// ForwardPassFigure traces Construction 1 on the sequence x in the limit of large scales: attended positions
// (solid arrows), tokens written to the residual stream (dashed), and the output. Tokens are 0, ..., 25, shown
// as letters. It returns an error if x does not fit the graph.
func ForwardPassFigure(id string, g *graph.Forest, x []int) (*figure.Figure, error) {
	t := g.T()
	if len(x) != t {
		return nil, fmt.Errorf("figures: a sequence of %d tokens for a graph on %d positions, want as many", len(x), t)
	}
	if t > maxTrace {
		return nil, fmt.Errorf("figures: no room for a forward pass over %d positions, want at most %d", t, maxTrace)
	}
	for i, a := range x {
		if a < 0 || a >= 26 {
			return nil, fmt.Errorf("figures: token %d at position %d, want 0 to 25, the letters A to Z", a, i)
		}
	}
	tr := newTrace(g, x, float64(figure.TwoColumns)-4)
	caption := `The forward pass of Construction 1, in the limit $\beta_1,\beta_2\to\infty$, on one sequence. ` +
		`Solid arrows lead from a position to those it attends to: in the first layer to its parent, from a root ` +
		`(grey) to all positions so far; in the second from the query to the positions whose parent has the ` +
		`query's token. Dashed arrows show what is written to the residual stream: the parent's token (for a root ` +
		`the mean of the bracketed tokens so far, cells split by share) and, boxed in red, the mean of the tokens ` +
		`attended to, which is the output.`
	if len(tr.extra) > 0 {
		caption += ` Positions reached by grey arrows are roots: they match although they have no parent, and so ` +
			`enter the limit but not the empirical estimate.`
	}
	width := figure.TwoColumns
	if tr.width()+4 <= float64(figure.FullText) {
		width = figure.FullText
	}
	letters := make([]string, t)
	for i, a := range x {
		letters[i] = string(rune('A' + a))
	}
	attended := slices.Concat(tr.matches, tr.extra)
	slices.Sort(attended)
	alt := fmt.Sprintf("The letters %s with arrows to their parents, and arrows from the query to the positions %v, "+
		"whose mean letter is the output.", strings.Join(letters, " "), ledger.OneBased(attended))
	return &figure.Figure{ID: id, Width: width, Alt: alt, Caption: caption, Rows: [][]*figure.Panel{{tr.panel()}}}, nil
}

// A trace draws a forward pass. From the top it has arcs of the first attention, the tokens h0, the output of
// the first attention, arcs of the second, the tokens that it reads, and its output.
type trace struct {
	d             figure.Pen
	g             *graph.Forest
	x             []int
	matches       []int // attended positions with a parent
	extra         []int // attended positions without a parent
	column, w, h  float64
	left          float64 // of the first column
	tokens, first float64 // heights of the rows' lower edges
	read, second  float64
}

const (
	traceLabels = 92.0
	traceArcs   = 48.0
	traceSize   = 7.0
)

// newTrace draws a trace of at most the given width.
func newTrace(g *graph.Forest, x []int, width float64) *trace {
	t := &trace{g: g, x: x, left: traceLabels}
	for _, i := range model.ConstructionOne(g, slices.Max(x)+1).Attended(x) {
		if g.Parent(i) == graph.Root {
			t.extra = append(t.extra, i)
		} else {
			t.matches = append(t.matches, i)
		}
	}
	t.column = min(44, (width-traceLabels)/float64(len(x)))
	t.w, t.h = min(30, t.column-1.5), 15
	t.second = 16
	t.read = t.second + t.h + 24
	t.first = t.read + t.h + traceArcs + 4
	t.tokens = t.first + t.h + 34
	return t
}

func (t *trace) width() float64 { return t.left + t.column*float64(len(t.x)) }

// panel returns the drawing, which is drawn again for another width.
func (t *trace) panel() *figure.Panel {
	p := figure.Drawing("", t.width(), t.tokens+t.h+traceArcs+22, func(d figure.Pen) {
		t.d = d
		t.firstAttention()
		t.secondAttention()
	})
	return p.Redrawn(func(w float64) *figure.Panel { return newTrace(t.g, t.x, w).panel() })
}

func (t *trace) x0(i int) float64 { return t.left + (float64(i)+0.5)*t.column }

// cell draws the mean of the given tokens, the cell split by their shares.
func (t *trace) cell(i int, y float64, tokens []int) {
	at := t.x0(i) - t.w/2
	for a, n := range counts(tokens) {
		if n == 0 {
			continue
		}
		w := t.w * float64(n) / float64(len(tokens))
		t.d.Box(figure.Colors[a%6], at, y, w, t.h)
		if l := letter(a); figure.TextWidth(l, 8) <= w-1 {
			t.d.Text(figure.Black, 8, 0, l, at+w/2, y+t.h/2)
		}
		at += w
	}
}

// counts returns how often each letter occurs.
func counts(tokens []int) (n [26]int) {
	for _, a := range tokens {
		n[a]++
	}
	return n
}

func letter(a int) string { return string(rune('A' + a)) }

func (t *trace) label(k color.RGBA, y float64, lines ...string) {
	for j, l := range lines {
		t.d.Text(k, traceSize, -1, l, 0, y+(float64(len(lines)-1)/2-float64(j))*9)
	}
}

// arc draws an arrow of attention above (up = 1) or below a row.
func (t *trace) arc(k color.RGBA, from, to int, y float64, up float64) {
	if from == to {
		t.d.Arrow(k, 0.9, false, t.x0(from)+3, y, 55*up, t.x0(from)-3, y, 125*up, 2.4)
		return
	}
	// A cubic arc is 3/4 of its handles' height.
	span := t.x0(from) - t.x0(to)
	height := min(0.55*span, (traceArcs-4)*(0.3+0.7*span/(float64(len(t.x)-1)*t.column)))
	t.d.Arrow(k, 0.9, false, t.x0(from)-2, y, 120*up, t.x0(to)+2, y, 60*up, height/(0.75*0.87*span))
}

func (t *trace) firstAttention() {
	d, n := t.d, len(t.x)
	top := t.tokens + t.h
	t.label(figure.Black, top+traceArcs/2, "first attention:", "each to its parent")
	t.label(figure.Black, t.tokens+t.h/2, "$h^{(0)}$: tokens")
	t.label(figure.Black, t.first+t.h/2+21, "writes the parent’s token;")
	t.label(figure.Grey, t.first+t.h/2+12, "at a root the mean so far")
	attention := `$\mathrm{attn}(h^{(0)};\widetilde A^{(1)})$`
	t.label(figure.Black, t.first+t.h/2, attention)

	t.soFar()
	for i := range n {
		p := t.g.Parent(i)
		d.Text(figure.Black, 8, 0, figure.Node(i), t.x0(i), t.tokens+t.h+traceArcs+10)
		d.Line(figure.Faint, 0.4, t.x0(i), top, t.x0(i), t.tokens+t.h+traceArcs+4)
		t.cell(i, t.tokens, t.x[i:i+1])
		if p == graph.Root {
			t.cell(i, t.first, t.x[:i+1])
			continue
		}
		t.arc(figure.Black, i, p, top+1, 1)
		d.Arrow(figure.Black, 0.7, true, t.x0(p), t.tokens, 0, t.x0(i), t.first+t.h+0.5, 0, 0)
		t.cell(i, t.first, t.x[p:p+1])
	}
	d.Text(figure.Grey, traceSize, 0, "query", t.x0(n-1), t.tokens+t.h+traceArcs+18)
}

// soFar draws the output of the first attention at the roots, under one bracket: the mean of
// all tokens up to each root.
func (t *trace) soFar() {
	d, last := t.d, 0
	under, down := t.tokens-3, t.first+t.h+0.5
	d.Arrow(figure.Grey, 0.7, true, t.x0(0), t.tokens, 0, t.x0(0), down, 0, 0)
	for i := 1; i < len(t.x); i++ {
		if t.g.Parent(i) == graph.Root {
			last = i
			d.Line(figure.Grey, 0.7, t.x0(i)+t.w/2, under, t.x0(i)+t.w/2, under+2.5)
			d.Arrow(figure.Grey, 0.7, true, t.x0(i), under, 0, t.x0(i), down, 0, 0)
		}
	}
	if last > 0 {
		d.Line(figure.Grey, 0.7, t.x0(0)-t.w/2, under, t.x0(last)+t.w/2, under)
		d.Line(figure.Grey, 0.7, t.x0(0)-t.w/2, under, t.x0(0)-t.w/2, under+2.5)
	}
}

func (t *trace) secondAttention() {
	d, n := t.d, len(t.x)
	query := letter(t.x[n-1])
	bottom := t.first - 1
	which := "hold " + query + " alone"
	other := func(a int) bool { return a != t.x[n-1] }
	if at := slices.Concat(t.matches, t.extra)[0]; t.g.Parent(at) == graph.Root && slices.ContainsFunc(t.x[:at+1], other) {
		which = "hold most " + query // no cell holds nothing else
	}
	t.label(figure.Black, t.read+t.h+traceArcs/2+4, "second attention: the query,",
		"token "+query+", to cells that", which)
	if len(t.extra) > 0 {
		t.label(figure.Grey, t.read+t.h+traceArcs/2-15, "(grey: without a parent)")
	}
	t.label(figure.Black, t.read+t.h/2, "reads their tokens")
	t.label(figure.Black, t.second+t.h/2+4.5, "writes the mean, the output:",
		`$\mathrm{attn}(h^{(1)};\widetilde A^{(2)})$ of the query`)

	var tokens []int
	draw := func(i int, k color.RGBA) {
		tokens = append(tokens, t.x[i])
		d.Frame(k, 1.3, t.x0(i)-t.w/2, t.first, t.w, t.h)
		d.Line(figure.Faint, 0.4, t.x0(i), t.first, t.x0(i), t.read+t.h)
		t.arc(k, n-1, i, bottom, -1)
		t.cell(i, t.read, t.x[i:i+1])
		d.Arrow(k, 0.7, true, t.x0(i), t.read, 0, t.x0(n-1), t.second+t.h+1, 0, 0)
	}
	for _, i := range t.matches {
		draw(i, figure.Black)
	}
	for _, i := range t.extra {
		draw(i, figure.Grey)
	}
	t.cell(n-1, t.second, tokens)
	d.Frame(figure.Red, 1.5, t.x0(n-1)-t.w/2-0.5, t.second-0.5, t.w+1, t.h+1)
	var parts []string
	for a, n := range counts(tokens) {
		if n > 0 {
			share := big.NewRat(int64(n), int64(len(tokens)))
			parts = append(parts, letter(a)+": "+share.RatString())
		}
	}
	d.Text(figure.Red, traceSize, 1, "f = ("+strings.Join(parts, ", ")+")", t.x0(n-1)+t.w/2, t.second-8)
}

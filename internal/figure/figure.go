package figure

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"

	"learncausal/internal/files"
)

// A Width is the width of a figure, in points of 1/72 inch.
type Width = vg.Length

const (
	OneColumn  Width = 3.25 * vg.Inch // a column of a page with two
	TwoColumns Width = 6.75 * vg.Inch // both columns and the gap
	FullText   Width = 5.5 * vg.Inch  // the text of a page with one column
)

// A Figure is a grid of panels, drawn row by row from the top. If it has several
// panels, they are lettered (a), (b), …
type Figure struct {
	ID      string // base name of its files: lower-case letters, digits, hyphens
	Title   string // a line of plain text; empty means the ID
	Caption string // LaTeX: plain text, and formulas between dollar signs
	// Alt describes the picture for readers who cannot see it; empty means the Title.
	Alt   string
	Width Width // zero means OneColumn
	Rows  [][]Panel
	Plain bool // panels without letters
	// Scale of the files: type, lines and marks of a figure laid out for Width are Scale times as large. 0 means 1.
	Scale float64

	legend  *Axes // whose legend stands above all panels
	letters []int // of the panels, if some were picked
}

// OneRow returns a figure with a row of panels.
func OneRow(width Width, alt, caption string, panels ...Panel) *Figure {
	return &Figure{Width: width, Alt: alt, Caption: caption, Rows: [][]Panel{panels}}
}

// ShareLegend shows the legend of a above all panels, in place of the legends of all axes.
func (f *Figure) ShareLegend(a *Axes) {
	shared := *a
	f.legend = &shared
	for _, p := range slices.Concat(f.Rows...) {
		if a, ok := p.(*Axes); ok {
			a.unexplained = true
		}
	}
}

// name returns the title, or the id of a figure without a title.
func (f *Figure) name() string { return cmp.Or(f.Title, f.ID) }

// Description returns Alt, or else describes the panels: graphs by their edges, matrices by
// their sizes, plots by the names of their axes and series.
func (f *Figure) Description() string {
	if f.Alt != "" {
		return f.Alt
	}
	var all []string
	for _, row := range f.Rows {
		for _, p := range row {
			all = append(all, described(p))
		}
	}
	return strings.Join(all, " ")
}

// described describes a panel in a sentence.
func described(p Panel) string {
	what := "A drawing"
	switch p := p.(type) {
	case *Graph:
		var edges []string
		for i, parent := range p.Parents {
			if parent >= 0 {
				edges = append(edges, fmt.Sprintf("%d to %d", parent+1, i+1))
			}
		}
		what = fmt.Sprintf("A causal graph of %d positions", len(p.Parents))
		if len(edges) > 0 {
			what += ", edges " + strings.Join(edges, ", ")
		}
	case *Matrix:
		what = fmt.Sprintf("A matrix of %d rows and %d columns", len(p.Values), len(p.Values[0]))
	case *Chart:
		what = fmt.Sprintf("%s against %s", p.Plot.Y.Label.Text, p.Plot.X.Label.Text)
	case *Axes:
		what = fmt.Sprintf("%s against %s", p.Y.Label.Text, p.X.Label.Text)
		var names []string
		for _, s := range p.Series {
			if s.Label.Text != "" {
				names = append(names, s.Label.Text)
			}
		}
		if len(names) > 0 {
			what += ": " + strings.Join(names, ", ")
		}
	}
	if title := p.Heading().Text; title != "" {
		what = title + ". " + what
	}
	return what + "."
}

// A Panel is a frame with labels around it. The frames of a row have their upper edges at one
// height, and share the width that the labels leave.
//
// A panel draws in points, with y upwards, on any canvas. Its strokes, fills and text appear
// in all formats. [Label.Draw] gives text another form in LaTeX.
type Panel interface {
	// Heading returns the title, which stands beside the panel's letter.
	Heading() Label
	// Layout returns the sizes of the panel for a frame of width at most w, or of the least width if that is
	// larger. The width does not decrease with w. A panel that cannot be drawn is an error.
	Layout(w vg.Length) (Room, error)
	// Draw draws the panel after a call of Layout without error. The rectangle of
	// c is the frame in the size that Layout returned.
	Draw(c draw.Canvas) error
}

// A Room is the size of a panel's frame and of the margins around the frame for
// its labels, in points, without the heading.
type Room struct{ Width, Height, Left, Right, Top, Bottom vg.Length }

// outer returns the rectangle of a panel with the given frame.
func (r Room) outer(frame vg.Rectangle) vg.Rectangle {
	return vg.Rectangle{
		Min: vg.Point{X: frame.Min.X - r.Left, Y: frame.Min.Y - r.Bottom},
		Max: vg.Point{X: frame.Max.X + r.Right, Y: frame.Max.Y + r.Top},
	}
}

const (
	panelGap   = 14
	letterGap  = 5 // between the letter of a panel and its title
	rowGap     = 12
	titleSpace = labelSize + 6
	titleLine  = labelSize + 1.5
	border     = 1.5 // margin of the figure, for strokes and accents at its edge
)

// dpi is twice the usual 96 dots per inch of a screen.
const dpi = 192

// pixel is the size of a dot in points, of which frames and cells are multiples.
const pixel = 72.0 / dpi

// snap rounds x down to whole pixels, with a tolerance for rounding errors.
func snap(x vg.Length) vg.Length {
	return vg.Length(math.Floor(float64(x)/pixel+1e-6) * pixel)
}

// A placed panel has its frame and title at their places in the figure.
type placed struct {
	panel  Panel
	frame  vg.Rectangle
	letter string
	title  []Label   // its lines
	titleY vg.Length // baseline of the first
}

// A layout is the size of a figure with the places of its panels.
type layout struct {
	w, h   vg.Length
	panels []placed
	legend *legend      // of the figure, or nil
	under  vg.Rectangle // below the legend
}

var validID = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

func checkID(id string) error {
	if !validID.MatchString(id) {
		return fmt.Errorf("figure: id %q: want lower-case letters and digits, joined by single hyphens", id)
	}
	return nil
}

// layout checks the figure and places its panels.
func (f *Figure) layout() (*layout, error) {
	if err := checkID(f.ID); err != nil {
		return nil, err
	}
	l := &layout{w: cmp.Or(f.Width, OneColumn)}
	rows, err := f.rooms(l.w)
	if err != nil {
		return nil, err
	}
	starts := starts(rows, l.w)
	lettered := !f.Plain && (len(f.Rows) > 1 || len(f.Rows) == 1 && len(f.Rows[0]) > 1)
	y := vg.Length(-border) // top of the row, relative to the top of the figure
	if f.legend != nil {
		if err := f.legend.check(); err != nil {
			return nil, fmt.Errorf("figure %s: legend: %w", f.ID, err)
		}
		left := starts[0] + rows[0][0].Left
		l.legend = f.legend.legend(l.w - border - left)
		y -= l.legend.height()
		l.under = vg.Rectangle{Min: vg.Point{X: left, Y: y}, Max: vg.Point{X: l.w - border, Y: y}}
		y -= rowGap / 2
	}
	for i, row := range f.Rows {
		rooms, above, head := rows[i], vg.Length(0), vg.Length(0)
		for j, r := range rooms {
			above = max(above, r.Top)
			if lettered || !row[j].Heading().empty() {
				head = max(head, titleSpace)
			}
			if k := len(titleLines(row, rooms, j, f.first()+len(l.panels)+j)); k > 1 {
				head = max(head, titleSpace+titleLine*vg.Length(k-1))
			}
		}
		x := starts[i]
		top := y - head - above
		low := top
		for j, r := range rooms {
			at := vg.Point{X: snap(x + r.Left), Y: snap(top - r.Height)}
			p := placed{panel: row[j], title: titleLines(row, rooms, j, f.first()+len(l.panels)), titleY: y - labelSize}
			p.frame = vg.Rectangle{Min: at, Max: at.Add(vg.Point{X: r.Width, Y: r.Height})}
			if lettered {
				p.letter = letterOf(f.letter(len(l.panels)))
			}
			l.panels = append(l.panels, p)
			low = min(low, top-r.Height-r.Bottom)
			x += r.Left + r.Width + r.Right + panelGap
		}
		y = low - rowGap
	}
	if len(l.panels) == 0 {
		return nil, fmt.Errorf("figure %s: no panels", f.ID)
	}
	l.h = snap(-y-rowGap+border) + 2*pixel
	l.under = l.under.Add(vg.Point{Y: l.h})
	for i := range l.panels {
		p := &l.panels[i]
		p.frame = p.frame.Add(vg.Point{Y: l.h})
		p.titleY += l.h
	}
	return l, nil
}

// rooms returns the sizes of the panels, row by row, in a figure of width w.
func (f *Figure) rooms(w vg.Length) (rows [][]Room, err error) {
	for i, row := range f.Rows {
		if len(row) == 0 {
			return nil, fmt.Errorf("figure %s: row %d has no panel", f.ID, i)
		}
		rooms, err := share(row, w-2*border)
		if err != nil {
			return nil, fmt.Errorf("figure %s: row %d%w", f.ID, i, err)
		}
		rows = append(rows, rooms)
	}
	// A row that is indented to align with another row has less width to share.
	left := leftmost(rows)
	for i, rooms := range rows {
		indent := left - rooms[0].Left
		if len(rooms) < 2 || indent+span(rooms) <= w-2*border {
			continue
		}
		if narrower, err := share(f.Rows[i], w-2*border-indent); err == nil {
			rows[i] = narrower
		}
	}
	return rows, nil
}

// leftmost returns the largest left margin among rows of several panels.
func leftmost(rows [][]Room) (left vg.Length) {
	for _, rooms := range rows {
		if len(rooms) > 1 {
			left = max(left, rooms[0].Left)
		}
	}
	return left
}

// span returns the width of a row with its gaps.
func span(rooms []Room) vg.Length {
	w := panelGap * vg.Length(len(rooms)-1)
	for _, r := range rooms {
		w += r.Left + r.Width + r.Right
	}
	return w
}

// starts returns the left end of each row in a figure of width w. A row of one panel is
// centred. Other rows are centred together, with their first frames aligned if that fits.
func starts(rows [][]Room, w vg.Length) []vg.Length {
	left, widest := leftmost(rows), vg.Length(0)
	for _, rooms := range rows {
		if len(rooms) > 1 {
			widest = max(widest, left-rooms[0].Left+span(rooms))
		}
	}
	var xs []vg.Length
	for _, rooms := range rows {
		x := (w - span(rooms)) / 2
		if len(rooms) > 1 && widest <= w-2*border {
			x = (w-widest)/2 + left - rooms[0].Left
		}
		xs = append(xs, x)
	}
	return xs
}

// Height returns the height of the figure, in the points of [Width].
func (f *Figure) Height() (vg.Length, error) {
	l, err := f.layout()
	if err != nil {
		return 0, err
	}
	return l.h, nil
}

// LeastWidth returns the least width at which every row of panels fits, in whole points.
func (f *Figure) LeastWidth() (Width, error) {
	least := Width(0)
	for i, row := range f.Rows {
		rooms, err := roomsOf(row, 0)
		if err != nil {
			return 0, fmt.Errorf("figure %s: row %d%w", f.ID, i, err)
		}
		least = max(least, 2*border+span(rooms))
	}
	return Width(math.Ceil(float64(least))), nil
}

// roomsOf checks the panels of a row and returns their sizes for frames of a width.
func roomsOf(row []Panel, frame vg.Length) (rooms []Room, err error) {
	for j, p := range row {
		r, err := p.Layout(frame)
		if err := errors.Join(p.Heading().glyphs(), err); err != nil { // without LaTeX, TeX returns an error
			return nil, fmt.Errorf(", panel %d: %w", j, err)
		}
		rooms = append(rooms, r)
	}
	return rooms, nil
}

// share returns the sizes of the panels of a row for the largest common width of
// frame at which the row, with its gaps, fits into the width w.
func share(row []Panel, w vg.Length) ([]Room, error) {
	rooms, err := roomsOf(row, 0)
	if err != nil {
		return nil, err
	}
	if used := span(rooms); used > w+pixel {
		return nil, fmt.Errorf(" needs %.0f pt, but has %.0f pt: take a wider figure or fewer panels in a row", used, w)
	}
	for lo, hi := vg.Length(0), w; hi-lo > pixel/4; {
		mid := (lo + hi) / 2
		wider, err := roomsOf(row, mid)
		if err != nil {
			return nil, err
		}
		if span(wider) <= w {
			rooms, lo = wider, mid
		} else {
			hi = mid
		}
	}
	return rooms, nil
}

// first returns the number of the first panel, which is negative if no panel has a letter.
func (f *Figure) first() int {
	if f.Plain {
		return math.MinInt / 2
	}
	return 0
}

// letter returns the place of the letter of the n-th panel in the alphabet.
func (f *Figure) letter(n int) int {
	if f.letters != nil {
		return f.letters[n]
	}
	return n
}

// Pick returns the figure with some of its panels, as in "a,d". The panels keep their letters.
func (f *Figure) Pick(letters string) (*Figure, error) {
	picked, n := *f, 0
	picked.Rows, picked.letters = nil, nil
	left := strings.Split(letters, ",")
	var last *Matrix // hides its bar, as those before it
	for _, row := range f.Rows {
		var kept []Panel
		for _, p := range row {
			at := slices.Index(left, string(rune('a'+n)))
			if n++; at < 0 {
				continue
			}
			left = slices.Delete(left, at, at+1)
			if m, ok := p.(*Matrix); ok {
				whole := *m
				if last, p = nil, &whole; m.Scale.Hidden {
					last = &whole
				}
			}
			kept, picked.letters = append(kept, p), append(picked.letters, n-1)
		}
		if kept != nil {
			picked.Rows = append(picked.Rows, kept)
		}
	}
	if len(left) > 0 {
		return nil, fmt.Errorf("figure %s has no panel %q, want some of a to %c, as in a,b", f.ID, left[0], 'a'+rune(n)-1)
	}
	if last != nil && slices.ContainsFunc(slices.Concat(f.Rows...), func(p Panel) bool {
		m, ok := p.(*Matrix)
		return ok && !m.Scale.Hidden
	}) {
		last.Scale.Hidden = false
	}
	return &picked, nil
}

// scale returns the scale of the files.
func (f *Figure) scale() float64 { return cmp.Or(f.Scale, 1) }

// letterOf returns the letter of the n-th panel, from 0.
func letterOf(n int) string { return fmt.Sprintf("(%c)", 'a'+n) }

func letterStyle() text.Style {
	sty := textStyle(labelSize, text.XLeft, text.YBottom)
	sty.Font.Weight = xfont.WeightBold
	return sty
}

func (l *layout) draw(c vg.Canvas) error {
	if l.legend != nil {
		l.legend.Plot(draw.Canvas{Canvas: c, Rectangle: l.under}, nil)
	}
	for _, p := range l.panels {
		at := vg.Point{X: p.frame.Min.X, Y: p.titleY}
		sty := textStyle(labelSize, text.XLeft, text.YBottom)
		if p.letter != "" {
			Text(p.letter).Draw(c, letterStyle(), at)
			at.X += textWidth(p.letter, letterStyle().Font) + letterGap
		}
		for _, t := range p.title {
			t.Draw(c, sty, at)
			at.Y -= titleLine
		}
		if err := p.panel.Draw(draw.Canvas{Canvas: c, Rectangle: p.frame}); err != nil {
			return err
		}
	}
	return nil
}

// write lays the figure out and draws it on the canvas that open returns for its
// size. It returns the bytes that save then writes.
func (f *Figure) write(open func(w, h vg.Length) (c vg.Canvas, save func(io.Writer) error)) ([]byte, error) {
	l, err := f.layout()
	if err != nil {
		return nil, err
	}
	c, save := open(l.w, l.h)
	g := &gate{Canvas: c, lost: make([]bool, 1)}
	if err = l.draw(g); err == nil {
		err = g.err
	}
	if err != nil {
		return nil, fmt.Errorf("figure %s: %w", f.ID, err)
	}
	var b bytes.Buffer
	if err := save(&b); err != nil {
		return nil, fmt.Errorf("figure %s: %w", f.ID, err)
	}
	return b.Bytes(), nil
}

// PNG draws the figure at 192 dots per inch on white.
func (f *Figure) PNG() ([]byte, error) {
	return f.write(func(w, h vg.Length) (vg.Canvas, func(io.Writer) error) {
		c := vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(w, h), vgimg.UseDPI(int(math.Round(dpi*f.scale()))))}
		return c, func(b io.Writer) error { _, err := c.WriteTo(b); return err }
	})
}

// Export writes <id>.png, .svg, .pdf, .tex and, of a figure with data, .csv into dir and returns their
// paths. Each file is replaced as a whole, and only if its bytes differ.
func (f *Figure) Export(dir string) ([]string, error) {
	return export(dir, slices.Insert(f.forPaper(), 1, format{f.ID + ".svg", f.SVG})...)
}

// ExportForPaper is Export without SVG, which LaTeX does not read.
func (f *Figure) ExportForPaper(dir string) ([]string, error) { return export(dir, f.forPaper()...) }

func (f *Figure) forPaper() []format {
	return []format{{f.ID + ".png", f.PNG}, {f.ID + ".pdf", f.PDF}, {f.ID + ".tex", f.TeX}, {f.ID + ".csv", f.CSV}}
}

// Extensions are those of [Figure.Files].
var Extensions = []string{".png", ".svg", ".pdf", ".tex"}

// Files returns the figure as <id>.png, .svg, .pdf and .tex.
func (f *Figure) Files() (all []files.File, err error) {
	for k, get := range []func() ([]byte, error){f.PNG, f.SVG, f.PDF, f.TeX} {
		b, err := get()
		if err != nil {
			return nil, err
		}
		all = append(all, files.File{Name: f.ID + Extensions[k], Data: b})
	}
	return all, nil
}

// A format is a file of an export: its name, and the function that returns its bytes.
type format struct {
	name string
	get  func() ([]byte, error)
}

// export writes all files with a content into dir, or none if one cannot be made or replaced, and returns their paths.
func export(dir string, formats ...format) (paths []string, err error) {
	var data [][]byte
	for _, f := range formats {
		b, err := f.get()
		if err != nil {
			return nil, err
		}
		if b == nil {
			continue
		}
		path := filepath.Join(dir, f.name)
		if err := files.Check(path); err != nil {
			return nil, err
		}
		paths, data = append(paths, path), append(data, b)
	}
	for i, path := range paths {
		err = errors.Join(err, files.Write(path, data[i]))
	}
	return paths, err
}

// Pinned is the platform on which figures have the same bytes for one version of Go. On others
// the compiler may fuse a multiplication and an addition, which can change last digits.
const Pinned = "amd64 v1"

// Platform returns the processor that the program is compiled for and its level, as in
// [Pinned]. It leaves out a part that the build information does not record.
func Platform() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	set := map[string]string{}
	for _, s := range info.Settings {
		set[s.Key] = s.Value
	}
	return strings.TrimSpace(set["GOARCH"] + " " + set["GO"+strings.ToUpper(set["GOARCH"])])
}

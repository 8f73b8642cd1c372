package figure

import (
	"bytes"
	"cmp"
	"encoding/csv"
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
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"

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
	Alt     string // describes the picture for readers who cannot see it; empty means the Title
	Width   Width  // zero means OneColumn
	Rows    [][]*Panel
	Plain   bool    // panels without letters
	Scale   float64 // type, lines and marks of a figure laid out for Width are Scale times as large. 0 means 1
	Legend  *Panel  // whose legend stands above all panels, see [Figure.Share]

	letters []int // of the panels, if some were picked
}

// A Panel is a plot of gonum in a figure. The frames of a row have their upper edges at one height, and share the width
// that the labels leave.
type Panel struct {
	*plot.Plot
	Title  string    // stands beside the panel's letter
	Height float64   // of the frame in points; 0 means Aspect times its width
	Aspect float64   // height over width
	Cell   float64   // of a matrix, the size of a cell in points; 0 fills the width
	Most   vg.Length // largest width of the frame, or 0

	names        *names // the legend
	ends         ends
	heat         *Heat
	cells        int                        // columns of a matrix
	data, levels [][]string                 // rows of the CSV, but for the letter
	series       int                        // number of series
	extent       [4]float64                 // of the series
	free         [2]bool                    // the range follows from the data
	shape        func(w vg.Length) vg.Point // of the frame, or nil
	size         vg.Point                   // of a drawing
	least        float64                    // size of type in a drawing
	redraw       func(w float64) *Panel     // of a drawing
	err          error
}

// OneRow returns a figure with a row of panels.
func OneRow(width Width, alt, caption string, panels ...*Panel) *Figure {
	return &Figure{Width: width, Alt: alt, Caption: caption, Rows: [][]*Panel{panels}}
}

// Share shows the legend of a panel above all panels, in place of theirs.
func (f *Figure) Share(p *Panel) {
	shared := *p
	shared.names = &names{all: p.names.all}
	f.Legend = &shared
	for _, p := range slices.Concat(f.Rows...) {
		p.names.hidden = true
	}
}

// name returns the title, or the id of a figure without a title.
func (f *Figure) name() string { return cmp.Or(f.Title, f.ID) }

// Description returns Alt, or else the titles and the axes of the panels.
func (f *Figure) Description() string {
	if f.Alt != "" {
		return f.Alt
	}
	var all []string
	for _, p := range slices.Concat(f.Rows...) {
		what := p.Title
		if x, y := p.X.Label.Text, p.Y.Label.Text; x != "" || y != "" {
			what = strings.TrimPrefix(what+". ", ". ") + cmp.Or(y, "a plot") + " against " + cmp.Or(x, "the horizontal axis")
		}
		all = append(all, Plain(cmp.Or(what, "A plot"))+".")
	}
	return strings.Join(all, " ")
}

const (
	panelGap   = 14
	letterGap  = 5 // between the letter of a panel and its title
	rowGap     = 12
	titleSpace = labelSize + 6
	titleLine  = labelSize + 1.5
	border     = 1.5 // margin of the figure, for strokes and accents at its edge
	dpi        = 192 // twice the usual 96 dots per inch of a screen
	pixel      = 72.0 / dpi
)

// snap rounds x down to whole pixels, with a tolerance for rounding errors.
func snap(x vg.Length) vg.Length { return vg.Length(math.Floor(float64(x)/pixel+1e-6) * pixel) }

// A room is the size of a panel's frame and of the margins around it for its labels, in points.
type room struct{ width, height, left, right, top, bottom vg.Length }

func (r room) outer(frame vg.Rectangle) vg.Rectangle {
	return vg.Rectangle{
		Min: vg.Point{X: frame.Min.X - r.left, Y: frame.Min.Y - r.bottom},
		Max: vg.Point{X: frame.Max.X + r.right, Y: frame.Max.Y + r.top},
	}
}

// frame returns the size of the frame at most w wide, or of the least width if that is larger.
func (p *Panel) frame(w vg.Length) vg.Point {
	if p.Most > 0 {
		w = min(w, p.Most)
	}
	switch {
	case p.size.X > 0:
		k := max(min(1, float64(w/p.size.X)), min(1, leastType/cmp.Or(p.least, leastType)))
		return p.size.Scale(vg.Length(k))
	case p.Cell > 0 && p.heat != nil:
		cell := snap(vg.Length(p.Cell))
		return vg.Point{X: cell * vg.Length(p.cells), Y: cell * vg.Length(len(p.heat.Z))}
	case p.shape != nil:
		least := vg.Length(1)
		if p.heat != nil && len(p.heat.RowNames)+len(p.heat.ColumnNames) > 0 {
			least = (smallSize + 1) * vg.Length(p.cells)
		}
		return p.shape(max(w, least))
	}
	w = snap(max(w, 60))
	if p.Height > 0 {
		return vg.Point{X: w, Y: snap(vg.Length(p.Height))}
	}
	return vg.Point{X: w, Y: snap(w * vg.Length(p.Aspect))}
}

// sized returns the plot for a frame: labels of the axes in lines that fit, ticks that do not overlap.
func (p *Panel) sized(frame vg.Point) *plot.Plot {
	p.names.width = frame.X
	q := *p.Plot
	spread(&q.X, frame.X)
	q.X.Label.Text = strings.Join(broken(q.X.Label.Text, frame.X, q.X.Label.TextStyle), "\n")
	q.Y.Label.Text = strings.Join(broken(q.Y.Label.Text, max(frame.Y, 60), q.Y.Label.TextStyle), "\n")
	return &q
}

// room returns the size of the panel for a frame of width at most w.
func (p *Panel) room(w vg.Length) (r room, err error) {
	defer caught(&err)
	if err := p.settle(); err != nil {
		return r, err
	}
	if p.heat != nil {
		if err := p.heat.check(); err != nil {
			return r, err
		}
	}
	if err := check(p.Title, p.X.Label.Text, p.Y.Label.Text); err != nil {
		return r, err
	}
	size := p.frame(w)
	q := p.sized(size)
	if r = roomOf(q, size); !finite(r.left) {
		return r, errors.New("the labels leave no room for a frame: " +
			"shorten those of the ticks, or the names of NominalX or NominalY")
	}
	if wide := q.Legend.Rectangle(draw.Canvas{}).Size().X; wide > size.X {
		return r, fmt.Errorf("the legend is %.0f pt wide, the frame %.0f pt: shorten its names, or widen the figure",
			wide, size.X)
	}
	return r, nil
}

// roomOf returns the margins of a plot whose data are in a frame of the given size. It iterates, because gonum's
// margins depend a little on the size of the whole plot, from margins that exceed those of most labels, or of the
// widest. The margins are infinite if no size has room for labels.
func roomOf(p *plot.Plot, frame vg.Point) room {
	for _, start := range []vg.Length{60, 1 << 12} {
		r, off := room{frame.X, frame.Y, start, start, start, start}, 0.0
		for range 50 {
			outer := r.outer(vg.Rectangle{Max: frame})
			in := p.DataCanvas(draw.Canvas{Rectangle: outer})
			d := frame.Sub(in.Size())
			r.left, r.bottom = in.Min.X-outer.Min.X, in.Min.Y-outer.Min.Y
			r.right, r.top = outer.Max.X-in.Max.X, outer.Max.Y-in.Max.Y
			if off = math.Abs(float64(d.X)) + math.Abs(float64(d.Y)); off < 1e-9 {
				return r
			}
		}
		if off < smallSize { // a frame lower than a number alternates
			return r
		}
	}
	return room{left: vg.Length(math.Inf(1))}
}

// caught turns a panic with a text into an error. So gonum reports a value below 0 on a logarithmic axis.
func caught(err *error) {
	switch r := recover().(type) {
	case nil:
	case string:
		*err = errors.New("plot: " + r)
	default:
		panic(r)
	}
}

// A placed panel has its frame and title at their places in the figure.
type placed struct {
	*Panel
	frame  vg.Rectangle
	room   room
	letter string
	title  []string  // its lines
	titleY vg.Length // baseline of the first
}

// A layout is the size of a figure with the places of its panels.
type layout struct {
	w, h   vg.Length
	panels []placed
	legend *names
	under  vg.Rectangle // of the legend
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
	w := cmp.Or(f.Width, OneColumn)
	if !(w > 0 && w <= farthest) || !(f.scale() > 0 && f.scale() <= 100) {
		return nil, fmt.Errorf("figure %s: width %v and scale %v, want positive sizes of at most %v pt",
			f.ID, w, f.Scale, farthest)
	}
	l := &layout{w: w}
	rows, err := f.rooms(l.w)
	if err != nil {
		return nil, err
	}
	starts := starts(rows, l.w)
	lettered := !f.Plain && (len(f.Rows) > 1 || len(f.Rows) == 1 && len(f.Rows[0]) > 1)
	y := vg.Length(-border) // top of the row, relative to the top of the figure
	if f.Legend != nil && len(rows) > 0 {
		left := starts[0] + rows[0][0].left
		l.legend = f.Legend.names
		high := l.legend.height(l.w - border - left)
		l.under = vg.Rectangle{Min: vg.Point{X: left, Y: y - high}, Max: vg.Point{X: l.w - border, Y: y}}
		y -= high + rowGap/2
	}
	for i, row := range f.Rows {
		rooms, above, head := rows[i], vg.Length(0), vg.Length(0)
		for j, r := range rooms {
			above = max(above, r.top)
			if k := len(titleLines(row, rooms, j, f.first()+len(l.panels)+j)); k > 0 || lettered {
				head = max(head, titleSpace+titleLine*vg.Length(max(k, 1)-1))
			}
		}
		x, top := starts[i], y-head-above
		low := top
		for j, r := range rooms {
			at := vg.Point{X: snap(x + r.left), Y: snap(top - r.height)}
			p := placed{Panel: row[j], room: r, title: titleLines(row, rooms, j, f.first()+len(l.panels)), titleY: y - labelSize}
			p.frame = vg.Rectangle{Min: at, Max: at.Add(vg.Point{X: r.width, Y: r.height})}
			if lettered {
				p.letter = letterOf(f.letter(len(l.panels)))
			}
			l.panels = append(l.panels, p)
			low = min(low, top-r.height-r.bottom)
			x += r.left + r.width + r.right + panelGap
		}
		y = low - rowGap
	}
	if len(l.panels) == 0 {
		return nil, fmt.Errorf("figure %s: no panels", f.ID)
	}
	l.h = snap(-y-rowGap+border) + 2*pixel
	if l.h > farthest {
		return nil, fmt.Errorf("figure %s is %.3g pt high, want at most %v pt", f.ID, l.h, farthest)
	}
	if i, err := l.lift(); err != nil {
		return nil, fmt.Errorf("figure %s, panel %d: %w", f.ID, i, err)
	}
	return l, nil
}

// lift moves all from below the top of the figure to above its foot. There is an error for panel i whose labels would
// be cut.
func (l *layout) lift() (i int, err error) {
	l.under = l.under.Add(vg.Point{Y: l.h})
	for i := range l.panels {
		p := &l.panels[i]
		p.frame = p.frame.Add(vg.Point{Y: l.h})
		p.titleY += l.h
		if err := p.uncut(l); err != nil {
			return i, err
		}
	}
	return 0, nil
}

// uncut returns an error for a label of an axis, or a title, that would reach out of the figure.
func (p placed) uncut(l *layout) error {
	q := p.sized(p.frame.Size())
	for _, c := range []struct {
		a              *plot.Axis
		middle, lo, hi vg.Length
	}{
		{&q.X, p.frame.Min.X + p.frame.Size().X/2, 0, l.w}, {&q.Y, p.frame.Min.Y + p.frame.Size().Y/2, 0, l.h},
	} {
		for line := range strings.SplitSeq(c.a.Label.Text, "\n") {
			if half := width(line, c.a.Label.TextStyle.Font) / 2; c.middle-half < c.lo-1 || c.middle+half > c.hi+1 {
				return fmt.Errorf("the label %q of an axis is %.0f pt long and would be cut: shorten it, or widen the figure",
					line, 2*half)
			}
		}
	}
	for _, t := range p.title {
		if end := p.frame.Min.X + headingWidth(t, -1); end > l.w+1 {
			return fmt.Errorf("the title %q would be cut: shorten it, or widen the figure", t)
		}
	}
	return nil
}

// rooms returns the sizes of the panels, row by row, in a figure of width w.
func (f *Figure) rooms(w vg.Length) (rows [][]room, err error) {
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
		indent := left - rooms[0].left
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
func leftmost(rows [][]room) (left vg.Length) {
	for _, rooms := range rows {
		if len(rooms) > 1 {
			left = max(left, rooms[0].left)
		}
	}
	return left
}

// span returns the width of a row with its gaps.
func span(rooms []room) vg.Length {
	w := panelGap * vg.Length(len(rooms)-1)
	for _, r := range rooms {
		w += r.left + r.width + r.right
	}
	return w
}

// starts returns the left end of each row in a figure of width w. A row of one panel is
// centred. Other rows are centred together, with their first frames aligned if that fits.
func starts(rows [][]room, w vg.Length) []vg.Length {
	left, widest := leftmost(rows), vg.Length(0)
	for _, rooms := range rows {
		if len(rooms) > 1 {
			widest = max(widest, left-rooms[0].left+span(rooms))
		}
	}
	var xs []vg.Length
	for _, rooms := range rows {
		x := (w - span(rooms)) / 2
		if len(rooms) > 1 && widest <= w-2*border {
			x = (w-widest)/2 + left - rooms[0].left
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

// roomsOf checks the panels of a row and returns their sizes for frames of a width.
func roomsOf(row []*Panel, frame vg.Length) (rooms []room, err error) {
	for j, p := range row {
		if p == nil {
			return nil, fmt.Errorf(", panel %d: nil", j)
		}
		r, err := p.room(frame)
		if err != nil {
			return nil, fmt.Errorf(", panel %d: %w", j, err)
		}
		rooms = append(rooms, r)
	}
	return rooms, nil
}

// share returns the sizes of the panels of a row for the largest common width of
// frame at which the row, with its gaps, fits into the width w.
func share(row []*Panel, w vg.Length) ([]room, error) {
	rooms, err := roomsOf(row, 0)
	if err != nil && !strings.Contains(err.Error(), "legend") {
		return nil, err
	}
	if used := span(rooms); used > w+pixel {
		return nil, fmt.Errorf(" needs %.0f pt, but has %.0f pt: take a wider figure or fewer panels in a row", used, w)
	}
	lo, hi := vg.Length(0), w
	for hi-lo > pixel/4 {
		mid := (lo + hi) / 2
		wider, err2 := roomsOf(row, mid)
		switch {
		case err2 != nil && strings.Contains(err2.Error(), "legend"):
			err, lo = err2, mid
		case err2 != nil:
			return nil, err2
		case span(wider) <= w:
			rooms, lo, err = wider, mid, nil
		default:
			hi = mid
		}
	}
	return rooms, err
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
	var last, bar *Heat
	for _, row := range f.Rows {
		var kept []*Panel
		for _, p := range row {
			at := slices.Index(left, string(rune('a'+n)))
			if n++; p.heat != nil && p.heat.Bar {
				bar = p.heat
			}
			if at < 0 {
				continue
			}
			left = slices.Delete(left, at, at+1)
			if kept, picked.letters = append(kept, p), append(picked.letters, n-1); p.heat != nil {
				last = p.heat
			}
		}
		if kept != nil {
			picked.Rows = append(picked.Rows, kept)
		}
	}
	if len(left) > 0 {
		return nil, fmt.Errorf("figure %s has no panel %q, want some of a to %c, as in a,b", f.ID, left[0], 'a'+rune(n)-1)
	}
	if last != nil && bar != nil {
		last.Bar = true
	}
	return &picked, nil
}

// scale returns the scale of the files.
func (f *Figure) scale() float64 { return cmp.Or(f.Scale, 1) }

// letterOf returns the letter of the n-th panel, from 0.
func letterOf(n int) string { return fmt.Sprintf("(%c)", 'a'+n) }

func letterStyle() text.Style {
	sty := Style(labelSize, text.XLeft, text.YBottom)
	sty.Font.Weight = xfont.WeightBold
	return sty
}

// headingWidth returns the width of the letter and the title of the n-th panel.
func headingWidth(title string, n int) (w vg.Length) {
	if n >= 0 {
		w = width(letterOf(n), letterStyle().Font) + letterGap
	}
	return w + vg.Length(TextWidth(title, labelSize))
}

// titleRoom returns the width that panel j of a row has for its letter and title.
func titleRoom(row []*Panel, rooms []room, j int) vg.Length {
	w := rooms[j].width + rooms[j].right
	if j+1 < len(row) {
		w += panelGap + rooms[j+1].left - letterGap
	}
	return w
}

// titleLines returns the lines of the title of panel j of a row, the n-th of the figure.
func titleLines(row []*Panel, rooms []room, j, n int) []string {
	return broken(row[j].Title, titleRoom(row, rooms, j)-headingWidth("", n), Style(labelSize, 0, 0))
}

// broken breaks a label at line ends, and at spaces outside of formulas, into lines of at most the given width. A
// longer word is a line.
func broken(label string, w vg.Length, sty text.Style) (lines []string) {
	for given := range strings.SplitSeq(label, "\n") {
		open, from := false, len(lines)
		for word := range strings.SplitSeq(given, " ") {
			k := len(lines) - 1
			if k >= from && (open || width(lines[k]+" "+word, sty.Font) <= w) {
				lines[k] += " " + word
			} else if word != "" {
				lines = append(lines, word)
			}
			open = open != (strings.Count(word, "$")%2 == 1)
		}
	}
	return lines
}

func (l *layout) draw(c vg.Canvas) {
	if l.legend != nil {
		l.legend.draw(draw.Canvas{Canvas: c, Rectangle: l.under})
	}
	for _, p := range l.panels {
		at := vg.Point{X: p.frame.Min.X, Y: p.titleY}
		sty := Style(labelSize, text.XLeft, text.YBottom)
		if p.letter != "" {
			letterStyle().Handler.Draw(c, p.letter, letterStyle(), at)
			at.X += width(p.letter, letterStyle().Font) + letterGap
		}
		for _, t := range p.title {
			sty.Handler.Draw(c, t, sty, at)
			at.Y -= titleLine
		}
		q := p.sized(p.frame.Size())
		q.Draw(draw.Canvas{Canvas: c, Rectangle: roomOf(q, p.frame.Size()).outer(p.frame)})
	}
}

// draw lays the figure out and draws it on the canvas that open returns for its size.
func (f *Figure) draw(open func(w, h vg.Length) vg.CanvasWriterTo) (b []byte, err error) {
	l, err := f.layout()
	if err != nil {
		return nil, err
	}
	defer caught(&err)
	k := f.scale()
	c := open(vg.Length(k)*l.w, vg.Length(k)*l.h)
	g := &gate{Canvas: c}
	if k != 1 { // fpdf scales between these two alone
		c.Push()
		c.Scale(k, k)
	}
	if l.draw(g); k != 1 {
		c.Pop()
	}
	if g.err != nil {
		return nil, fmt.Errorf("figure %s: %w", f.ID, g.err)
	}
	var out bytes.Buffer
	_, err = c.WriteTo(&out)
	return out.Bytes(), err
}

// PNG draws the figure at 192 dots per inch on white.
func (f *Figure) PNG() ([]byte, error) {
	return f.draw(func(w, h vg.Length) vg.CanvasWriterTo {
		return vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(w, h), vgimg.UseDPI(dpi))}
	})
}

// SVG draws the figure on white, with its title and description.
func (f *Figure) SVG() ([]byte, error) {
	return f.draw(func(w, h vg.Length) vg.CanvasWriterTo {
		c := &svgCanvas{Canvas: vgsvg.New(w, h), title: f.name(), desc: f.Description()}
		c.SetColor(White)
		c.Fill(vg.Rectangle{Max: vg.Point{X: w, Y: h}}.Path())
		return c
	})
}

// PDF draws the figure as one page of its size, and embeds the glyphs that it uses.
func (f *Figure) PDF() ([]byte, error) {
	return f.draw(func(w, h vg.Length) vg.CanvasWriterTo { return newPDF(w, h, f.name(), f.Description()) })
}

// TeX draws the figure as LaTeX source to be \input, for the packages pgf and xcolor.
func (f *Figure) TeX() ([]byte, error) {
	b, err := f.draw(func(w, h vg.Length) vg.CanvasWriterTo { return newTeX(w, h) })
	if err != nil {
		return nil, err
	}
	return append([]byte("% Figure "+f.ID+". Needs \\usepackage{pgf,xcolor,graphicx}.\n"), b...), nil
}

// CSV returns the data of the panels in long form, a row for each number: the panel by its letter, the series, x, y,
// the half-length of the interval about y, and the value. A curve has a row for each point, with the number of the
// series if that has no name. A matrix has a row for each entry, with its column as x and its row as y. A graph has a
// row for each edge, from the parent x to the child y. Indices count from 1, and numbers have seven digits. The result
// is nil for a figure of drawings and plots of gonum, which have no data.
func (f *Figure) CSV() ([]byte, error) {
	var b bytes.Buffer
	rows := [][]string{{"panel", "series", "x", "y", "error", "value"}}
	for n, p := range slices.Concat(f.Rows...) {
		for _, r := range slices.Concat(p.data, p.levels) {
			rows = append(rows, append([]string{string(rune('a' + f.letter(n)))}, r...))
		}
	}
	if len(rows) == 1 {
		return nil, nil
	}
	err := csv.NewWriter(&b).WriteAll(rows)
	return b.Bytes(), err
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

var _ io.WriterTo = (*texCanvas)(nil)

package figures

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"learncausal/internal/figure"
)

// exported returns the folder whose files the tests typeset: figures/, or the one
// that FIGURES names.
func exported(t *testing.T) string {
	t.Helper()
	if dir := os.Getenv("FIGURES"); dir != "" {
		return dir
	}
	link := filepath.Join(t.TempDir(), "figures") // TeX cannot read each name that a checkout may have
	if err := os.Symlink(figuresDir(t), link); err != nil {
		t.Fatal(err)
	}
	return link
}

// exportedFigures returns the ids of the figures in dir.
func exportedFigures(t *testing.T, dir string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "fig-*.tex"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no figures in %s (%v)", dir, err)
	}
	var ids []string
	for _, path := range paths {
		ids = append(ids, strings.TrimSuffix(filepath.Base(path), ".tex"))
	}
	return ids
}

// program returns the path of a program of TeX or poppler.
func program(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("NOT CHECKED: no %s on this machine, so the LaTeX exports were not typeset", name)
	}
	return path
}

// textless matches what in the source of a figure has no text: the cells of a matrix,
// and a curve or marks from a table of numbers, but for error bars, whose ends are nodes.
var textless = regexp.MustCompile(`(?m)^\\figcell .*\n|` +
	`^\\addplot\[[^\]]*\] table\[x index=0,y index=1\] \{\n(?:[-0-9.e ]+\n)+\}(?: -- cycle)?;\n`)

// emptied matches what empties the styles by which a test logs boxes.
var emptied = regexp.MustCompile(`every (node|axis)/\.style=\{\},`)

// textsOf returns a folder with the sources in dir, where the figures have their axes
// and texts alone, and two styles of the document. TeX lays the texts out alike, three times as fast.
func textsOf(t *testing.T, dir string) string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*.tex"))
	if err != nil {
		t.Fatal(err)
	}
	texts := t.TempDir()
	for _, path := range paths {
		b, err := os.ReadFile(path)
		b = textless.ReplaceAll(emptied.ReplaceAll(b, nil), nil)
		if err == nil {
			err = os.WriteFile(filepath.Join(texts, filepath.Base(path)), b, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return texts
}

// pdflatex typesets sources of one document one after another in a new folder and
// returns the folder, which holds doc.pdf, and the log.
func pdflatex(t *testing.T, sources ...string) (dir, log string) {
	t.Helper()
	dir = t.TempDir()
	for _, source := range sources {
		if err := os.WriteFile(filepath.Join(dir, "doc.tex"), []byte(source), 0o644); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(program(t, "pdflatex"), "-interaction=nonstopmode", "-halt-on-error", "doc.tex")
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "max_print_line=10000")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out[max(0, len(out)-3000):])
		}
	}
	b, err := os.ReadFile(filepath.Join(dir, "doc.log"))
	if err != nil {
		t.Fatal(err)
	}
	return dir, string(b)
}

// onePageEach is a document with each figure on a page of its size. It logs where
// LaTeX puts each text: "BOX", the left, lower, right and upper edge in points. An
// axis of pgfplots has its own origin: "CORNER" is its lower left corner there, after
// its boxes, which begin at "AXIS".
func onePageEach(dir string, ids []string, fonts string) string {
	var b strings.Builder
	b.WriteString(`\documentclass{article}
\usepackage{amsmath,amssymb,booktabs,longtable,pgfplots}
\pgfplotsset{compat=1.18}
` + fonts + `
\makeatletter
\def\logpoint#1#2#3{{\pgftransformreset\pgfpointanchor{#2}{#3}\typeout{#1 \the\pgf@x,\the\pgf@y}}}
\def\logbox#1{{\pgftransformreset\pgfpointanchor{#1}{south west}\edef\a{\the\pgf@x,\the\pgf@y}%
  \pgfpointanchor{#1}{north east}\typeout{BOX \a,\the\pgf@x,\the\pgf@y}}}
\tikzset{every node/.append style={append after command={\pgfextra{\logbox{\tikzlastnode}}}}}
\pgfplotsset{every axis/.append style={
  execute at begin axis={\typeout{AXIS}},
  extra description/.append code={\path (0,0) coordinate (inner);\logpoint{CORNER}{inner}{center}}}}
\makeatother
\pagestyle{empty}\parindent=0pt
\begin{document}
`)
	for _, id := range ids {
		path := filepath.ToSlash(filepath.Join(dir, id))
		fmt.Fprintf(&b, "\\typeout{FIGURE %s}\\setbox0\\hbox{\\input{%s}}%%\n", id, path)
		b.WriteString(`\typeout{SIZE \the\wd0,\the\ht0}\pdfpagewidth=\wd0 \pdfpageheight=\ht0 ` +
			`\hoffset=-1in \voffset=-1in \shipout\box0` + "\n")
	}
	b.WriteString("\\end{document}\n")
	return b.String()
}

// A textBox is where a text is typeset.
type textBox struct{ left, low, right, high float64 }

func (a textBox) overlap(b textBox) float64 {
	return min(a.right-b.left, b.right-a.left, a.high-b.low, b.high-a.low)
}

// corners returns where the axes of a figure have their lower left corners.
func corners(t *testing.T, source []byte) (all [][2]float64) {
	t.Helper()
	for _, m := range regexp.MustCompile(`at=\{\(([0-9.]+)bp,([0-9.]+)bp\)\}`).FindAllSubmatch(source, -1) {
		x, err1 := strconv.ParseFloat(string(m[1]), 64)
		y, err2 := strconv.ParseFloat(string(m[2]), 64)
		if err := errors.Join(err1, err2); err != nil {
			t.Fatal(err)
		}
		all = append(all, [2]float64{x * 72.27 / 72, y * 72.27 / 72})
	}
	return all
}

// textBoxes reads from the log the size of each figure of dir and the boxes of its
// texts.
func textBoxes(t *testing.T, dir, log string) (size map[string]textBox, boxes map[string][]textBox) {
	t.Helper()
	size, boxes = make(map[string]textBox), make(map[string][]textBox)
	id, axis := "", 0
	var at [][2]float64
	for _, line := range strings.Split(log, "\n") {
		word, rest, _ := strings.Cut(line, " ")
		var x []float64
		for _, s := range strings.Split(rest, ",") {
			v, err := strconv.ParseFloat(strings.TrimSuffix(s, "pt"), 64)
			if err != nil {
				x = nil
				break
			}
			x = append(x, v)
		}
		switch word {
		case "FIGURE":
			id = rest
			b, err := os.ReadFile(filepath.Join(dir, id+".tex"))
			if err != nil {
				t.Fatal(err)
			}
			at = corners(t, b)
		case "SIZE":
			size[id] = textBox{0, 0, x[0], x[1]}
		case "AXIS":
			axis = len(boxes[id])
		case "CORNER":
			for k := range boxes[id][axis:] {
				boxes[id][axis+k].move(at[0][0]-x[0], at[0][1]-x[1])
			}
			at = at[1:]
		case "BOX":
			b := textBox{min(x[0], x[2]), min(x[1], x[3]), max(x[0], x[2]), max(x[1], x[3])}
			if b.right > b.left && b.high > b.low {
				boxes[id] = append(boxes[id], b)
			}
		}
	}
	return size, boxes
}

func (b *textBox) move(x, y float64) {
	b.left, b.right, b.low, b.high = b.left+x, b.right+x, b.low+y, b.high+y
}

// documentFonts are those in which the figures are typeset.
var documentFonts = map[string]string{"Computer Modern": "", "Times": `\usepackage{times}`}

// No two texts of a figure come closer than to touch, and none reaches out of the
// figure, in the fonts that papers are set in: by no more than 0.5 pt, about the
// side bearing of a letter. No axis has a factor like 10^-2 over it. What is left
// out here is typeset by make latex, which looks for the same faults in its log.
func TestFiguresAreLegibleInLaTeX(t *testing.T) {
	if testing.Short() {
		t.Skip("slow: it runs LaTeX")
	}
	ids := exportedFigures(t, exported(t))
	for name, fonts := range documentFonts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := textsOf(t, exported(t))
			work, log := pdflatex(t, onePageEach(dir, ids, fonts))
			faults := regexp.MustCompile(`(?m)^(Overfull|Missing character|LaTeX Font W|Package pgfplots W).*`)
			if bad := faults.FindAllString(log, -1); bad != nil {
				t.Errorf("log: %s", strings.Join(bad, "\n"))
			}
			size, boxes := textBoxes(t, dir, log)
			words, err := exec.Command(program(t, "pdftotext"), "-layout", filepath.Join(work, "doc.pdf"), "-").Output()
			if err != nil {
				t.Fatal(err)
			}
			pages := bytes.Split(words, []byte("\f"))
			for k, id := range ids {
				if m := regexp.MustCompile(`·\s*10`).Find(pages[k]); m != nil {
					t.Errorf("%s: a factor %s over an axis", id, m)
				}
				crowded(t, filepath.Join(work, "doc.pdf"), k+1, id, size[id], boxes[id])
			}
		})
	}
}

// crowded reports texts that lie upon each other or reach out of the figure.
func crowded(t *testing.T, pdf string, page int, id string, size textBox, boxes []textBox) {
	t.Helper()
	const touch = 0.5
	// read returns what stands in a box, for the message.
	read := func(b textBox) string {
		const scale = 72 / 72.27
		at := func(v float64) string { return strconv.Itoa(int(math.Round(v * scale))) }
		out, _ := exec.Command("pdftotext", "-f", strconv.Itoa(page), "-l", strconv.Itoa(page), "-x", at(b.left),
			"-y", at(size.high-b.high), "-W", at(b.right-b.left), "-H", at(b.high-b.low), pdf, "-").Output()
		return strings.TrimSpace(strings.ReplaceAll(string(out), "\n", " "))
	}
	if len(boxes) == 0 {
		t.Errorf("%s has no text", id)
	}
	for i, a := range boxes {
		out := max(-a.left, -a.low, a.right-size.right, a.high-size.high)
		if out > touch {
			t.Errorf("%s: %q at %.1f reaches %.1f pt out of the figure, %.1f", id, read(a), a, out, size)
		}
		for _, b := range boxes[:i] {
			o := a.overlap(b)
			if o <= touch {
				continue
			}
			// The ends of error bars are nodes without text.
			if s, u := read(a), read(b); s != "" && u != "" {
				t.Errorf("%s: %q at %.1f and %q at %.1f overlap by %.1f pt", id, s, a, u, b, o)
			}
		}
	}
}

// Descriptions are plain text, short enough for a screen reader.
func TestFiguresHaveTitleAndDescription(t *testing.T) {
	dir := exported(t)
	for _, id := range exportedFigures(t, dir) {
		b, err := registered(t, id).SVG()
		if err != nil {
			t.Fatal(err)
		}
		m := regexp.MustCompile(`<title>(.+)</title>\n<desc>(.+)</desc>`).FindSubmatch(b)
		if m == nil || string(m[1]) == id {
			t.Errorf("%s has no title, or no description", id)
		} else if n := len(m[2]); n < 60 || n > 330 || bytes.ContainsAny(m[2], `$\`) {
			t.Errorf("%s: the description has %d bytes, want 60 to 330 of plain text", id, n)
		}
	}
}

// Every text is at least as large as 6 points at the size in which a figure is
// printed. Scripts are smaller, as in the text of a paper.
func TestTypeOfFiguresIsLargeEnough(t *testing.T) {
	dir := exported(t)
	sizes := regexp.MustCompile(`\\fontsize\{([0-9.]+)\}`)
	for _, id := range exportedFigures(t, dir) {
		b, err := os.ReadFile(filepath.Join(dir, id+".tex"))
		if err != nil {
			t.Fatal(err)
		}
		var all []float64
		for _, m := range sizes.FindAllSubmatch(b, -1) {
			v, err := strconv.ParseFloat(string(m[1]), 64)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, v)
		}
		if len(all) == 0 || slices.Min(all) < 6 {
			t.Errorf("%s: sizes of type %v, want at least one, and none under 6 pt", id, all)
		}
		if bytes.Contains(b, []byte(`\scalebox`)) {
			t.Errorf("%s: is scaled as a whole", id)
		}
	}
}

// No two curves, and no two sets of points, of an axis differ in their colour alone.
func TestSeriesDifferInMoreThanColour(t *testing.T) {
	dir := exported(t)
	plots := regexp.MustCompile(`\\addplot\[(?:only marks,)?(black|fig[a-z]+),(.*)\] table`)
	for _, id := range exportedFigures(t, dir) {
		b, err := os.ReadFile(filepath.Join(dir, id+".tex"))
		if err != nil {
			t.Fatal(err)
		}
		n := strings.Count(string(b), "] table") - strings.Count(string(b), "addplot[draw=none")
		if n != len(plots.FindAllString(string(b), -1)) {
			t.Errorf("%s: not each of %d plots begins with its colour, or marks and colour", id, n)
		}
		for k, axis := range strings.Split(string(b), `\begin{axis}`)[1:] {
			colors := make(map[string]string) // by what else tells the series apart
			for _, m := range plots.FindAllStringSubmatch(axis, -1) {
				if old, seen := colors[m[2]]; seen && old != m[1] {
					t.Errorf("%s, axis %d: series in %s and %s differ in colour only (%s)", id, k+1, old, m[1], m[2])
				}
				colors[m[2]] = m[1]
			}
		}
	}
}

// keep copies a PDF to the folder that DEMO names, to be looked at.
func keep(t *testing.T, path, name string) {
	t.Helper()
	dir := os.Getenv("DEMO")
	if dir == "" {
		return
	}
	b, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, name), b, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// A table is no wider than the line that it stands in, with type of at least 6 pt: in
// the text of a page, and in a column of two if README.md says so.
func TestTablesFit(t *testing.T) {
	if testing.Short() {
		t.Skip("slow: it runs LaTeX")
	}
	dir := exported(t)
	index, err := os.ReadFile(filepath.Join(dir, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	const forColumn = 390 // the widest table, in the widths of README.md
	if !bytes.Contains(index, fmt.Appendf(nil, "tables up to %d wide", forColumn)) {
		t.Errorf("README.md does not say up to which width, %d, a table fits a column", forColumn)
	}
	tables := regexp.MustCompile(`(?m)^\| `+"`(tab-[^`]+)`"+` \| ([0-9]+) \|`).FindAllStringSubmatch(string(index), -1)
	if len(tables) == 0 {
		t.Fatal("README.md lists no tables")
	}
	for name, fonts := range documentFonts {
		var b strings.Builder
		b.WriteString("\\documentclass{article}\n" + figure.Preamble + "\n" + fonts + `
\let\scaled\resizebox
\renewcommand\resizebox[2]{\typeout{SCALED \table\space\the\linewidth\space\the\wd0}\scaled{#1}{#2}}
\begin{document}
`)
		for _, m := range tables {
			for _, w := range []figure.Width{figure.OneColumn, figure.FullText, figure.TwoColumns} {
				if width, err := strconv.Atoi(m[2]); err != nil || width > forColumn && w == figure.OneColumn {
					continue
				}
				fmt.Fprintf(&b, `\def\table{%s}\setlength{\linewidth}{%vbp}\setbox1\hbox{\input{%s}}`+
					"\\ifdim\\wd1>\\dimexpr\\linewidth+0.1pt\\typeout{WIDE \\table\\space\\the\\wd1}\\fi\n",
					m[1], w, filepath.ToSlash(filepath.Join(dir, m[1])))
			}
		}
		_, log := pdflatex(t, b.String()+"\\end{document}\n")
		scaled := regexp.MustCompile(`(?m)^SCALED (\S+) ([0-9.]+)pt ([0-9.]+)pt`)
		for _, m := range scaled.FindAllStringSubmatch(log, -1) {
			line, err1 := strconv.ParseFloat(m[2], 64)
			w, err2 := strconv.ParseFloat(m[3], 64)
			if err := errors.Join(err1, err2); err != nil {
				t.Fatal(err)
			}
			if size := 8 * line / w; size < 6 {
				t.Errorf("%s, %s: type of %.2f pt in a line of %v pt, want at least 6 pt", m[1], name, size, line)
			}
		}
		if wide := regexp.MustCompile(`(?m)^WIDE .*`).FindString(log); wide != "" {
			t.Errorf("%s: a table is wider than its line: %s", name, wide)
		}
	}
}

// The examples of the guide compile in an article, every macro that the guide names is
// defined, and the ledger fits lines of 345 pt.
func TestTheGuideCompiles(t *testing.T) {
	dir := exported(t)
	read := func(name string) string {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	page, values := read("README.md"), read("values.tex")+read("captions.tex")
	named := regexp.MustCompile(`\\(?:val|cap|alt)[A-Z][A-Za-z]*`).FindAllString(page, -1)
	for _, name := range named {
		if !strings.Contains(values, `\newcommand{`+name+`}`) {
			t.Errorf("README.md names %s, which is not defined", name)
		}
	}
	if len(named) < 50 {
		t.Errorf("%d names of macros in README.md, want the caption of each figure", len(named))
	}
	if testing.Short() {
		return
	}
	blocks := regexp.MustCompile("(?s)```latex\n(.*?)```").FindAllStringSubmatch(page, -1)
	preamble := strings.ReplaceAll(blocks[0][1], "path/to/figures", filepath.ToSlash(dir))
	source := "\\documentclass{article}\n" + preamble + "\\begin{document}\n" + blocks[1][1] +
		`\ifdim\valNumAvgAttn pt>1pt\errmessage{attention}\fi \input{\figdir/claims}` + "\\end{document}\n"
	_, log := pdflatex(t, source, source, source) // a longtable finds its widths in three runs
	if faults := regexp.MustCompile(`(?m)^(Overfull|LaTeX Warning: Float too large).*`).FindString(log); faults != "" {
		t.Error(faults)
	}
}

// fitsColumn reports what is larger, in points, than a column.
func fitsColumn(t *testing.T, what string, w, h float64) {
	t.Helper()
	const inch = 72.27
	if most := float64(figure.OneColumn) / 72 * inch; w > most+0.01 || h > 8.5*inch {
		t.Errorf("%s: %.1f x %.1f pt, want at most %.1f x %.1f pt", what, w, h, most, 8.5*inch)
	}
}

package figures

import (
	"bytes"
	"errors"
	"fmt"
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

// onePageEach is a document with each figure on a page of its size. It logs the size of each text in points.
func onePageEach(t *testing.T, dir string, ids []string, fonts string) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("\\documentclass{article}\n" + figure.Preamble + "\n" + fonts +
		"\n\\pagestyle{empty}\\parindent=0pt\n\\begin{document}\n")
	for _, id := range ids {
		source, err := os.ReadFile(filepath.Join(dir, id+".tex"))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "\\typeout{FIGURE %s}\\setbox1\\hbox{%s}\\typeout{SIZE \\the\\wd1,\\the\\ht1,0pt}", id,
			strings.Replace(string(source), `\ifdim\wd0>#3bp`, `\typeout{TEXT \the\wd0,\the\ht0,\the\dp0}\ifdim\wd0>#3bp`, 1))
		b.WriteString(`\pdfpagewidth=\wd1 \pdfpageheight=\ht1 \hoffset=-1in \voffset=-1in \shipout\box1` + "\n")
	}
	b.WriteString("\\end{document}\n")
	return b.String()
}

// A textBox is where a text is typeset, in points.
type textBox struct {
	left, low, right, high float64
	text                   string
}

func (a textBox) overlap(b textBox) float64 {
	return min(a.right-b.left, b.right-a.left, a.high-b.low, b.high-a.low)
}

// figt matches a text of a figure: its side, place and turn, its size, its room, its colour and its LaTeX.
var figt = regexp.MustCompile(`(?m)^\\figt\{base(,\w+)?,at=` +
	`\{\\pgfqpoint\{([-0-9.]+)bp\}\{([-0-9.]+)bp\}\},rotate=([-0-9.]+)\}` +
	`\{([0-9.]+)\}\{([0-9.]+)\}\{\w+\}\{(.*)\}%$`)

// textBoxes reads from the log the size of each figure of dir and, with the places in its source, the boxes of
// its texts.
func textBoxes(t *testing.T, dir, log string) (size map[string]textBox, boxes map[string][]textBox) {
	t.Helper()
	size, boxes = make(map[string]textBox), make(map[string][]textBox)
	number := func(s string) float64 { v, _ := strconv.ParseFloat(strings.TrimSuffix(s, "pt"), 64); return v }
	id, texts := "", [][]string(nil)
	for _, m := range regexp.MustCompile(`(?m)^(FIGURE|TEXT|SIZE) (.*)$`).FindAllStringSubmatch(log, -1) {
		x := strings.Split(m[2]+",,", ",")
		switch m[1] {
		case "FIGURE":
			id = m[2]
			source, err := os.ReadFile(filepath.Join(dir, id+".tex"))
			if err != nil {
				t.Fatal(err)
			}
			texts = figt.FindAllStringSubmatch(string(source), -1)
		case "SIZE":
			if size[id] = (textBox{right: number(x[0]), high: number(x[1])}); len(texts) > 0 {
				t.Errorf("%s: %d texts of the source are not in the log", id, len(texts))
			}
		case "TEXT":
			const pt = 72.27 / 72
			f := texts[0]
			texts = texts[1:]
			w := min(number(x[0]), pt*number(f[6]))
			left := map[string]float64{"": -w / 2, ",left": 0, ",right": -w}[f[1]]
			b := textBox{left, -number(x[2]), left + w, number(x[1]), f[7]}
			if f[4] == "90" {
				b.left, b.low, b.right, b.high = -b.high, b.left, -b.low, b.right
			}
			dx, dy := pt*number(f[2]), pt*number(f[3])
			boxes[id] = append(boxes[id], textBox{b.left + dx, b.low + dy, b.right + dx, b.high + dy, b.text})
		}
	}
	return size, boxes
}

// documentFonts are those in which the figures are typeset.
var documentFonts = map[string]string{"Computer Modern": "", "Times": `\usepackage{times}`}

// No two texts of a figure come closer than to touch, and none reaches out of the figure, in the fonts that papers are
// set in: by no more than 1 pt, about the side bearing of a letter. The figures are those of figures/, and some
// laid out for a column.
func TestFiguresAreLegibleInLaTeX(t *testing.T) {
	if testing.Short() {
		t.Skip("slow: it runs LaTeX")
	}
	program(t, "pdflatex")
	narrow := t.TempDir()
	var columns []string
	for _, id := range []string{
		"fig-induction-head", "fig-mlp", "fig-forward-pass", "fig-proof-sketch", "fig-ghat-beta", "fig-loss-gap", "fig-ood",
	} {
		f, err := registered(t, id).Fit(figure.OneColumn)
		if err == nil {
			_, err = f.Export(narrow)
		}
		if err != nil {
			t.Fatal(err)
		}
		columns = append(columns, id)
	}
	for name, fonts := range documentFonts {
		for dir, ids := range map[string][]string{exported(t): exportedFigures(t, exported(t)), narrow: columns} {
			_, log := pdflatex(t, onePageEach(t, dir, ids, fonts))
			faults := regexp.MustCompile(`(?m)^(Overfull|Missing character|LaTeX Font W).*`)
			if bad := faults.FindAllString(log, -1); bad != nil {
				t.Errorf("%s: %s", name, strings.Join(bad, "\n"))
			}
			size, boxes := textBoxes(t, dir, log)
			for _, id := range ids {
				if dir == narrow {
					fitsColumn(t, id, size[id].right, size[id].high)
				}
				crowded(t, name+", "+id, size[id], boxes[id])
			}
		}
	}
}

// crowded reports texts that lie upon each other or reach out of the figure.
func crowded(t *testing.T, id string, size textBox, boxes []textBox) {
	t.Helper()
	const touch = 1
	if len(boxes) == 0 {
		t.Errorf("%s has no text", id)
	}
	for i, a := range boxes {
		if out := max(-a.left, -a.low, a.right-size.right, a.high-size.high); out > touch {
			t.Errorf("%s: %v reaches %.1f pt out of the figure", id, a, out)
		}
		for _, b := range boxes[:i] {
			if o := a.overlap(b); o > touch {
				t.Errorf("%s: %v and %v overlap by %.1f pt", id, a, b, o)
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
	for _, id := range exportedFigures(t, dir) {
		b, err := os.ReadFile(filepath.Join(dir, id+".tex"))
		if err != nil {
			t.Fatal(err)
		}
		var all []float64
		for _, m := range figt.FindAllStringSubmatch(string(b), -1) {
			v, err := strconv.ParseFloat(m[5], 64)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, v)
		}
		if len(all) == 0 || slices.Min(all) < 6 {
			t.Errorf("%s: sizes of type %v, want at least one, and none under 6 pt", id, all)
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

package figure

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"learncausal/internal/files"
)

// All exports compile in one document, from another folder, without an
// overfull line or a missing character, and to the same bytes twice. Every
// figure is read twice, so that names that are not local would clash.
func TestDocumentCompiles(t *testing.T) {
	if testing.Short() {
		t.Skip("slow: it runs LaTeX")
	}
	dir := filepath.Join(t.TempDir(), "some figures")
	y, near := []float64{1, 1e150, 1e300}, []float64{1 - 1e-8, 1, 1 + 1e-8}
	figs := append(append(small(), small()...), readers(t), &Figure{ID: "extreme", Rows: [][]Panel{{
		&Axes{Y: Axis{Log: true}, Series: []Series{{Label: Text("a"), X: near, Y: y, Err: []float64{0.5, 1, 1}}}},
		&Axes{Series: []Series{{Label: Text("b"), X: y, Y: near, Points: true}}},
	}}}, &Figure{ID: "letters", Rows: [][]Panel{{letters()}}})
	tabs := []*Table{someTable(), longTable()}
	_, err := someNumbers().Export(dir)
	for _, f := range figs {
		_, failed := f.Export(dir)
		err = errors.Join(err, failed)
	}
	for _, tb := range tabs {
		_, failed := tb.Export(dir)
		err = errors.Join(err, failed)
	}
	captions, failed := Captions(figs, tabs)
	for name, text := range map[string]string{"all.tex": Document(figs, tabs), "captions.tex": captions} {
		err = errors.Join(err, files.Write(filepath.Join(dir, name), []byte(text)))
	}
	if err := errors.Join(err, failed); err != nil {
		t.Fatal(err)
	}
	var pdf [2][]byte
	for i := range pdf {
		var log []byte
		log, pdf[i] = compile(t, t.TempDir(), `\def\figdir{`+filepath.ToSlash(dir)+`}\input{"\figdir/all"}`)
		// The warning about labels that are defined twice is ignored.
		faults := regexp.MustCompile(`(?m)^(Overfull|Missing character|! |Package pgfplots Warning|` +
			`LaTeX Warning: Float too large).*`)
		if bad := faults.FindAll(log, -1); bad != nil {
			t.Errorf("log: %s", bytes.Join(bad, []byte("\n")))
		}
	}
	if !bytes.Equal(pdf[0], pdf[1]) {
		t.Error("two compilations gave different bytes")
	}
}

// letters draws one label of many languages.
func letters() Panel {
	d := &Drawing{W: 200, H: 20}
	d.Text(Black, 8, -1, Text(`Łódź, čas, ą, đ, őű, "œ" «ωζξψ» Αρχή`), 2, 10)
	return d
}

// A figure is the same in a document that changes the styles of TikZ and pgfplots, and the
// digits of a number are digits to TeX.
func TestFiguresKeepTheirStyles(t *testing.T) {
	if testing.Short() {
		t.Skip("slow: it runs LaTeX")
	}
	dir := t.TempDir()
	if _, err := someNumbers().Export(dir); err != nil {
		t.Fatal(err)
	}
	body := `\begin{document}\input{values}
\pgfmathsetmacro\percent{100*\valFigNineMean}\percent
`
	for _, f := range small() {
		if _, err := f.Export(dir); err != nil {
			t.Fatal(err)
		}
		body += "\\input{" + f.ID + "}\\clearpage\n"
	}
	const styles = `\tikzset{every node/.style={draw,circle,fill=red},every picture/.style={scale=2,rotate=5},
every path/.style={draw=red,line width=3pt},every scope/.style={xshift=9pt},every rectangle node/.style={draw}}
\pgfplotsset{every axis/.append style={width=9cm,axis x line=top,grid=both,font=\Huge},every axis plot/.append style={red},
every tick label/.append style={draw},every axis label/.append style={draw},every tick/.style={red,thick},
every axis x label/.append style={draw},every axis grid/.style={red,thick},every mark/.append style={scale=3},
every error bar/.style={ultra thick},every axis plot post/.append style={mark=x,red}}
`
	var pdf [2][]byte
	for i, changed := range []string{"", styles} {
		source := "\\pdfsuppressptexinfo=-1 \\pdftrailerid{}\\documentclass{article}\n" + Preamble + "\n" + changed + body
		if err := os.WriteFile(filepath.Join(dir, "doc.tex"), []byte(source+"\\end{document}\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		_, pdf[i] = compile(t, dir, "doc")
	}
	if !bytes.Equal(pdf[0], pdf[1]) {
		t.Error("the styles of the document change the figures")
	}
}

// A figure compiles in a document in which babel has made characters active.
func TestFiguresStandActiveCharacters(t *testing.T) {
	if testing.Short() {
		t.Skip("slow: it runs LaTeX")
	}
	dir := t.TempDir()
	source := "\\documentclass{article}\n" + Preamble + `
\def\act#1{\catcode` + "`" + `#1=13 \begingroup\lccode` + "`" + `\~=` + "`" + `#1\lowercase{\endgroup\def~}{\errmessage{active}}}
\begin{document}\act\:\act\;\act\!\act\?\act\"\act\<\act\>
`
	for _, f := range small() {
		if _, err := f.Export(dir); err != nil {
			t.Fatal(err)
		}
		source += "\\fbox{\\input{" + f.ID + "}}\n"
	}
	if err := os.WriteFile(filepath.Join(dir, "doc.tex"), []byte(source+"\\end{document}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	compile(t, dir, "doc")
}

// README.md states the preamble of the document of all exports.
func TestReadmeStatesThePreamble(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	if want := "```latex\n" + Preamble + "\n"; !bytes.Contains(readme, []byte(want)) {
		t.Errorf("README.md has no block that begins\n%s", want)
	}
}

// The document, captions and index of figures and tables, with one figure listed twice.
func TestGoldenDocument(t *testing.T) {
	figs := append(small(), small()[0])
	figs[1].Alt = "A matrix, 50 % of it zero"
	tabs := []*Table{someTable(), longTable()}
	golden(t, "all.tex", []byte(Document(figs, tabs)))
	captions, err := Captions(figs, tabs)
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "captions.tex", []byte(captions))
	index, err := Index(figs, tabs)
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "index.md", []byte(index))
	for _, f := range figs[:3] {
		height, err := f.Height()
		if want := fmt.Sprintf(" × %.0f | `\\%s`", height, CaptionMacro(f.ID)); err != nil || !strings.Contains(index, want) {
			t.Errorf("no %q in the index (%v)", want, err)
		}
	}
	figs[0].Alt = "\U0001F600"
	if text, err := Captions(figs, tabs); err == nil || !strings.Contains(err.Error(), "figure axes") {
		t.Errorf("a description that LaTeX has no form of is %q (%v)", text, err)
	}
	figs[0].Rows = [][]Panel{{&Drawing{}}}
	if _, err := Index(figs, tabs); err == nil {
		t.Error("a figure that cannot be drawn has a line in the index")
	}
	if _, err := figs[0].Height(); err == nil {
		t.Error("a figure that cannot be drawn has a height")
	}
}

// An export writes a file of each format, with the bytes of that format. It writes no
// file of a figure, a table or numbers with an error.
func TestExportsHaveTheBytesOfTheirForms(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "some", "folder")
	check := func(paths []string, err error, want map[string]func() ([]byte, error)) {
		t.Helper()
		if err != nil || len(paths) != len(want) {
			t.Fatalf("exported %v (%v), want %d files", paths, err, len(want))
		}
		for _, path := range paths {
			get, ok := want[filepath.Base(path)]
			if !ok || filepath.Dir(path) != dir {
				t.Fatalf("exported %s, want one of %d files in %s", path, len(want), dir)
			}
			b, err := get()
			if err != nil {
				t.Fatal(err)
			}
			if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, b) {
				t.Errorf("%s has other bytes (%v)", path, err)
			}
		}
	}
	f := small()[2]
	paths, err := f.Export(dir)
	check(paths, err, map[string]func() ([]byte, error){
		"graph.png": f.PNG, "graph.svg": f.SVG, "graph.pdf": f.PDF, "graph.tex": f.TeX, "graph.csv": f.CSV,
	})
	table := someTable()
	paths, err = table.Export(dir)
	check(paths, err, map[string]func() ([]byte, error){"losses.tex": table.TeX, "losses.csv": table.CSV})
	ns := someNumbers()
	paths, err = ns.Export(dir)
	check(paths, err, map[string]func() ([]byte, error){"values.tex": ns.TeX})
	empty := t.TempDir()
	if paths, err := (&Figure{ID: "f", Rows: [][]Panel{{&Drawing{}}}}).Export(empty); err == nil {
		t.Errorf("exported %v of a figure that cannot be drawn", paths)
	}
	table.Rows[0] = table.Rows[0][:1]
	if paths, err := table.Export(empty); err == nil {
		t.Errorf("exported %v of a table with a short row", paths)
	}
	ns[1].ID = ns[0].ID
	if paths, err := ns.Export(empty); err == nil {
		t.Errorf("exported %v of numbers of one name", paths)
	}
	if left, err := os.ReadDir(empty); err != nil || len(left) > 0 {
		t.Errorf("an export with an error leaves %v (%v)", left, err)
	}
}

package figure

import (
	"bytes"
	"crypto/sha256"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"learncausal/internal/files"
)

var regen = flag.Bool("regen", false, "write the golden files")

// golden compares data with testdata/name.
func golden(t *testing.T, name string, data []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *regen {
		if err := files.Write(path, data); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (go test -regen writes it)", err)
	}
	if !bytes.Equal(data, want) {
		got := filepath.Join(t.TempDir(), name)
		if d := os.Getenv("GOLDEN_DIFF"); d != "" {
			got = filepath.Join(d, name)
		}
		os.WriteFile(got, data, 0o644)
		t.Errorf("%s differs; set GOLDEN_DIFF to a folder to keep what came out, look at it, then run with -regen", path)
	}
}

// small holds one small figure for each kind of panel.
func small() []*Figure {
	axes := &Axes{
		Title: Label{"Curves", `Curves of $\hat g(\beta)$`},
		X:     Axis{Label: Label{"Step t", "Step $t$"}, Log: true},
		Y:     Axis{Label: Label{"ĝ(β)", `$\hat g(\beta)$`}, Min: 0, Max: 1},
		Series: []Series{
			{
				Label: Text("mean ± sd"), X: []float64{1, 10, 100, 2000},
				Y: []float64{0.9, 0.7, 0.6, 0.55}, Err: []float64{0.05, 0.1, 0.05, 0.02},
			},
			{
				Label: Text("runs & seeds"), X: []float64{2, 20, 200},
				Y: []float64{0.3, 0.4, 0.35}, Err: []float64{0.1, 0.05, 0.02}, Points: true,
			},
		},
		Levels: []Level{{Text("reference"), 0.5}},
		Height: 80,
	}
	matrix := &Matrix{
		Title:   Label{"Ã⁽¹⁾", `$\widetilde A^{(1)}$`},
		Values:  [][]float64{{0, 1, -2}, {0.5, 0, 0}, {-1, 0, 1.5}},
		Rows:    [][]Group{{{Text("Tok"), 1}, {Text("Position"), 2}}},
		Columns: [][]Group{{{Text("Tok"), 1}, {Text("Position"), 2}}, {{Label{"X̃", `$\widetilde X$`}, 3}}},
		Blocks:  []Block{{1, 1, 2, 2}},
		Scale:   Scale{Palette: Signed},
		Cell:    30,
	}
	plain := &Matrix{
		Values: [][]float64{{0, 0.5}, {1, 0.25}}, XLabel: Text("j"), YLabel: Text("i"),
		Cell: 20, Scale: Scale{Label: Text("attention")},
	}
	return []*Figure{
		{ID: "axes", Caption: "Axes.", Rows: [][]Panel{{axes}}},
		{ID: "matrix", Caption: "A matrix.", Rows: [][]Panel{{matrix}, {plain}}},
		{ID: "graph", Caption: "A graph.", Rows: [][]Panel{{&Graph{Parents: []int{-1, 0, 0, 1, 2, -1}, Query: true}}}},
	}
}

func TestGoldenFigures(t *testing.T) {
	if p := Platform(); p != Pinned {
		t.Skipf("!!! NOT CHECKED: bytes of figures are pinned on %s, this is %s", Pinned, p)
	}
	var hashes bytes.Buffer
	for _, f := range small() {
		for _, k := range []struct {
			ext string
			get func() ([]byte, error)
		}{{".png", f.PNG}, {".svg", f.SVG}, {".tex", f.TeX}, {".pdf", f.PDF}} {
			b, err := k.get()
			if err != nil {
				t.Fatal(err)
			}
			again, err := k.get()
			if err != nil || !bytes.Equal(b, again) {
				t.Errorf("%s%s: two drawings differ", f.ID, k.ext)
			}
			if k.ext == ".pdf" {
				fmt.Fprintf(&hashes, "%x  %s.pdf\n", sha256.Sum256(b), f.ID)
				continue
			}
			golden(t, f.ID+k.ext, b)
		}
	}
	// Each PDF carries 60 kB of fonts: keep their hashes.
	golden(t, "pdf.sha256", hashes.Bytes())
}

// Figures of the sizes of a paper have the stored hashes in SVG and LaTeX.
func TestDemosHaveTheStoredHashes(t *testing.T) {
	if p := Platform(); p != Pinned {
		t.Skipf("!!! NOT CHECKED: bytes of figures are pinned on %s, this is %s", Pinned, p)
	}
	all := append(demos(), readers(t), variety())
	for _, w := range []Width{OneColumn, FullText} {
		for _, f := range []*Figure{variety(), figure2(5, 12, []int{-1, 0, 1, 2, 3, 4, 5, 6}), threeByThree(nil)} {
			f.ID += fmt.Sprintf("-%.0f", w)
			fitted, err := f.Fit(w)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, fitted)
		}
	}
	var hashes bytes.Buffer
	for _, f := range all {
		svg, err := f.SVG()
		if err != nil {
			t.Fatal(err)
		}
		tex, err := f.TeX()
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&hashes, "%x  %s.svg\n%x  %s.tex\n", sha256.Sum256(svg), f.ID, sha256.Sum256(tex), f.ID)
	}
	for _, f := range []*Figure{readers(t), variety()} {
		fmt.Fprintf(&hashes, "%x  %s.pdf\n", sha256.Sum256(must(f.PDF())), f.ID)
	}
	h := sha256.New()
	for w := Width(180); w < TwoColumns; w += 130 {
		for _, f := range []*Figure{wide(), threeByThree(nil)} {
			fitted, err := f.Fit(w)
			if err != nil {
				fmt.Fprintln(h, err)
				continue
			}
			for _, p := range must(fitted.layout()).panels {
				fmt.Fprintln(h, p.frame, p.letter, p.title, p.titleY)
			}
		}
	}
	fmt.Fprintf(&hashes, "%x  panels at many widths\n", h.Sum(nil))
	golden(t, "demos.sha256", hashes.Bytes())
}

func someTable() *Table {
	return &Table{
		ID: "losses", Caption: "Losses.",
		Columns: []Label{Text("Graph"), {"T_eff", `$T_{\mathrm{eff}}$`}, {"ĝ(β)", `$\hat g(\beta)$`}},
		Rows: [][]Cell{
			{Words(Text("chain, 100 % & more")), Value(18, 0), PlusMinus(-0.83712345, 0.05412, 3)},
			{Words(Text("[random]")), Value(3.25, 2), Value(1.0/3, 3)},
		},
	}
}

func longTable() *Table {
	long := someTable()
	long.ID, long.Long, long.Shares = "losses-long", true, []float64{0.2, 0, 0}
	long.Groups = []Group{{Size: 1}, {Label: Label{"T = 20", "$T=20$"}, Size: 2}}
	return long
}

func TestGoldenTables(t *testing.T) {
	for _, tab := range []*Table{someTable(), longTable()} {
		tex, err := tab.TeX()
		if err != nil {
			t.Fatal(err)
		}
		golden(t, tab.ID+".tex", tex)
	}
	tab := longTable()
	csv, err := tab.CSV()
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "losses.csv", csv)
	markdown, err := tab.Markdown()
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "losses.md", []byte(markdown))
}

func someNumbers() Numbers {
	return Numbers{
		{
			ID: "fig9-mean", Value: 0.8371234, Digits: 4, Interval: "0.81 to 0.86 (95 %)", Paper: "0.837 ± 0.054",
		},
		{ID: "steps", Value: 131072},
		{ID: "smallest", Value: 3.21e-6},
		{ID: "fixed", Value: -1.5, Digits: 3},
	}
}

func TestGoldenNumbers(t *testing.T) {
	ns := someNumbers()
	tex, err := ns.TeX()
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "values.tex", tex)
}

func TestPlatformIsThePlatformOfTheCompiler(t *testing.T) {
	level, err := exec.Command("go", "env", "GO"+strings.ToUpper(runtime.GOARCH)).Output()
	if err != nil {
		t.Fatal(err)
	}
	want := strings.TrimSpace(runtime.GOARCH + " " + strings.TrimSpace(string(level)))
	if got := Platform(); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

package nb

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"learncausal/internal/figure"
	"learncausal/internal/property"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
)

// A reader's plot is in four formats, and LaTeX sets its text.
func TestExportWritesAFigureForAPaper(t *testing.T) {
	t.Chdir(t.TempDir())
	lines, err := export("my-fig", "The loss at 50 % & $\\beta>1$; γ_1.", curves(), curves())
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range []string{
		`\input{figures/my-fig}`, `\caption{The loss at 50 \% \& $\beta>1$; \ensuremath{\gamma}\_1.}`,
	} {
		if !strings.Contains(lines, w) {
			t.Errorf("no %s in\n%s", w, lines)
		}
	}
	for _, ext := range figure.Extensions {
		if b, err := os.ReadFile("figures/my-fig" + ext); err != nil || len(b) < 1000 {
			t.Errorf("%s: %d bytes, %v", ext, len(b), err)
		}
	}
	tex := string(Must(os.ReadFile("figures/my-fig.tex")))
	for _, w := range []string{`a curve of \ensuremath{\beta} for 50 \%`, `loss \& more`, `{step}`, `{T = 20}`} {
		if !strings.Contains(tex, w) {
			t.Errorf("no %s in the LaTeX", w)
		}
	}
	again, err := export("my-fig", "The loss at 50 % & $\\beta>1$; γ_1.", curves(), curves())
	if err != nil || again != lines || string(Must(os.ReadFile("figures/my-fig.tex"))) != tex {
		t.Errorf("the second export differs from the first: %q, %v", again, err)
	}
	document := "\\documentclass{article}\n" + figure.Preamble + "\n\\begin{document}\n" +
		lines[strings.Index(lines, `\begin{figure}`):] + "\\end{document}\n"
	Check(os.WriteFile("paper.tex", []byte(document), 0o666))
	if _, err := exec.LookPath("pdflatex"); err != nil {
		t.Skip("!!! NOT CHECKED: the LaTeX of an export is not compiled, for want of pdflatex")
	}
	if out, err := exec.Command("pdflatex", "-halt-on-error", "-interaction=batchmode",
		"paper").CombinedOutput(); err != nil {
		log, _ := os.ReadFile("paper.log")
		t.Errorf("%v\n%s\n%s", err, out, log)
	}
}

// What may be too large for LaTeX is said.
func TestExportSaysWhatLaTeXNeeds(t *testing.T) {
	t.Chdir(t.TempDir())
	points := make(plotter.XYs, 40_000)
	for k := range points {
		points[k] = plotter.XY{X: float64(k % 211), Y: float64(k)}
	}
	p := plot.New()
	p.Add(Must(plotter.NewScatter(points)))
	property.Mentions(t, errors.New(Must(export("many", "", p))), "MB, which pdflatex may have no memory for")
}

// Export replaces its own files. It leaves files of others, and its own that were edited, and then writes nothing.
func TestExportReplacesOnlyItsOwnFiles(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "sub", "fig")
	first := Must(export(name, "", curves()))
	if !strings.Contains(first, `\input{`+filepath.ToSlash(name)+`}`) {
		t.Errorf("the folder is not in\n%s", first)
	}
	Check(os.Remove(name + ".svg"))
	if _, err := export(name, "", heatMap("", 2, 2, func(i, j int) float64 { return 1 })); err != nil {
		t.Errorf("its own files are not replaced: %v", err)
	}
	for _, ext := range figure.Extensions {
		kept := Must(os.ReadFile(name + ext))
		Check(os.WriteFile(name+ext, append(kept, " x"...), 0o666))
		_, err := export(name, "", curves())
		property.Mentions(t, err, name+ext, "has been changed since", "nothing is written")
		Check(os.WriteFile(name+ext, kept, 0o666))
	}
	for _, ext := range figure.Extensions {
		Check(os.Remove(name + ext))
	}
	Check(os.WriteFile(name+".png", []byte("mine"), 0o666))
	if _, err := export(name, "", curves()); err == nil {
		t.Error("a picture of another program is replaced")
	}
	if _, err := os.Stat(name + ".tex"); err == nil {
		t.Error("a file is written beside it")
	}
}

func TestExportRefusesBadNamesAndText(t *testing.T) {
	t.Chdir(t.TempDir())
	bad := curves()
	bad.X.Label.Text = "日"
	titled := curves()
	titled.Title.Text = "Ж"
	for want, try := range map[string]func() (string, error){
		`id "My Fig"`:      func() (string, error) { return export("My Fig", "", curves()) },
		`no LaTeX known`:   func() (string, error) { return export("fig", "日", curves()) },
		`no glyph for '日'`: func() (string, error) { return export("fig", "", bad) },
		`LaTeX known for`:  func() (string, error) { return export("fig", "", titled) },
	} {
		if _, err := try(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q in it", err, want)
		}
	}
	if all, _ := os.ReadDir("."); len(all) > 0 {
		t.Errorf("files of a refused export: %v", all)
	}
	if got := Must(escaped("costs $3")); got != `costs \$3` {
		t.Errorf("a dollar alone becomes %s", got)
	}
}

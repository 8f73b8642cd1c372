package nb

import (
	"bytes"
	"errors"
	"image"
	"image/png"
	"os"
	"strings"
	"testing"
	"time"

	"learncausal/internal/runs"
)

var _ runs.Meter = (*Meter)(nil)

// The behaviour inside a notebook is tested with a live kernel, in
// tools/test_notebook.py.

func capture(t *testing.T) (out, err *bytes.Buffer) {
	oldOut, oldErr := stdout, stderr
	t.Cleanup(func() { stdout, stderr = oldOut, oldErr })
	out, err = new(bytes.Buffer), new(bytes.Buffer)
	stdout, stderr = out, err
	return out, err
}

func TestOutsideNotebookPrintsPlainText(t *testing.T) {
	out, _ := capture(t)
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 30, 20))); err != nil {
		t.Fatal(err)
	}
	Printf("loss %.2f", 1.5)
	Printf("\n")
	PNG(b.Bytes(), "a field of grey")
	Markdown("$T_\\mathrm{eff} = %d$", 3)
	markup("<b>x</b>", "x")
	Details("more", "a < b")
	const want = "loss 1.50\n[image, 30 x 20 pixels: a field of grey]\n$T_\\mathrm{eff} = 3$\nx\nmore\na < b\n"
	if out.String() != want {
		t.Errorf("got %q, want %q", out, want)
	}
}

func TestCaptionRefusesLaTeXOutsideOfFormulas(t *testing.T) {
	for caption, what := range map[string]string{
		`The $\alpha$ \texttt{b} $x$`: `"\\texttt{b} " outside of a formula`,
		`\alpha`:                      `"\\alpha" outside of a formula`,
	} {
		func() {
			defer func() {
				if r, _ := recover().(string); !strings.Contains(r, what) {
					t.Errorf("%s: recovered %q", caption, r)
				}
			}()
			Caption(caption)
		}()
	}
	for tex, want := range map[string]string{
		"a dollar: $1": "a dollar: $1",
		`(a)~The \textquotedblleft rows\textquotedblright{} or \textquotedblleft lines\textquotedblright.`: "(a)\u00a0The “rows” or “lines”.",
		`Parents $\lfloor (i-1)/2\rfloor$ of 5\,\% of the $s_i$.`:                                          "Parents $\\lfloor (i-1)/2\\rfloor$ of 5\u202f% of the $s_i$.",
	} {
		if got := Caption(tex); got != "<small>"+want+"</small>" {
			t.Errorf("%q becomes %q", tex, got)
		}
	}
}

func TestErrorIsOneLineAndEndsTheProgram(t *testing.T) {
	out, err := capture(t)
	code := 0
	exit = func(c int) { code = c }
	defer func() { exit = os.Exit }()
	if n := Must(3, nil); n != 3 || code != 0 {
		t.Errorf("without an error: %d, exit %d", n, code)
	}
	Must(3, errors.New("graph: no such node"))
	if want := "error: graph: no such node\n"; err.String() != want || out.Len() > 0 || code != 1 {
		t.Errorf("got %q, %q on standard output, exit %d, want %q and exit 1", err, out, code, want)
	}
}

func TestPNGRefusesOtherBytes(t *testing.T) {
	defer func() {
		if r, _ := recover().(string); !strings.HasPrefix(r, "nb: PNG of 5 bytes") {
			t.Errorf("recovered %q", r)
		}
	}()
	PNG([]byte("GIF89"), "")
}

func TestMeterOutsideNotebookWritesToStandardError(t *testing.T) {
	out, err := capture(t)
	m := NewMeter("chain")
	for i := range 1000 {
		m.Update(i, 1000, "loss 2")
	}
	m.Done("1000 steps")
	if want := "  0%  chain: loss 2\nchain: 1000 steps\n"; err.String() != want || out.Len() > 0 {
		t.Errorf("got %q and %q on standard output, want %q", err, out, want)
	}
}

func TestTimeToGoCountsFromWhereTheRunResumed(t *testing.T) {
	now := time.Now()
	m := &Meter{start: now.Add(-10 * time.Second), first: 500}
	if got := m.left(now, 600, 1000); got != ", 40s to go" {
		t.Errorf("100 steps in 10 s, 400 to take: %q", got)
	}
	for _, done := range []int{500, 1000} {
		if got := m.left(now, done, 1000); got != "" {
			t.Errorf("at %d, with no step taken, or none to take: %q", done, got)
		}
	}
}

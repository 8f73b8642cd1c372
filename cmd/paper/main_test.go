package main

import (
	"errors"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"learncausal/internal/property"
	"learncausal/paper/figures"
	"learncausal/pkg/train"
)

// output runs a command that is to succeed and returns what it prints.
func output(t *testing.T, args ...string) string {
	t.Helper()
	var out strings.Builder
	if err := run(t.Context(), &out, args); err != nil {
		t.Fatalf("paper %q: %v", args, err)
	}
	return out.String()
}

// refused runs a command that is to fail before any output, with an error that has the words.
func refused(t *testing.T, words []string, args ...string) {
	t.Helper()
	var out strings.Builder
	err := run(t.Context(), &out, args)
	if property.Mentions(t, err, words...); err == nil || out.Len() > 0 {
		t.Errorf("paper %q: error %v after the output %q", args, err, out.String())
	}
}

func TestEveryCommandHasHelp(t *testing.T) {
	var names []string
	root := newRoot()
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		names = append(names, c.Name())
		if c.Name() != "completion" && c.Name() != "help" && (c.Example == "" || c.Long == "") {
			t.Errorf("%s has no example or no text", c.Name())
		}
		want := output(t, "help", c.Name())
		for _, args := range [][]string{{c.Name(), "-h"}, {c.Name(), "--help"}} {
			if got := output(t, args...); got != want || !strings.Contains(got, "paper "+c.Name()) {
				t.Errorf("%q is not the help of %s", args, c.Name())
			}
		}
		for line := range strings.Lines(c.Long + "\n" + c.Example) {
			if n := len([]rune(strings.TrimRight(line, "\n"))); n > 90 {
				t.Errorf("%s: a line of %d characters: %s", c.Name(), n, line)
			}
		}
	}
	for _, want := range []string{"list", "export", "train", "show", "predict", "verify", "completion"} {
		if !slices.Contains(names, want) {
			t.Errorf("no command %s", want)
		}
	}
	for _, args := range [][]string{{}, {"-h"}, {"--help"}, {"help"}} {
		text := output(t, args...)
		for _, name := range names {
			if !strings.Contains(text, "\n  "+name+" ") {
				t.Errorf("%q does not name %s", args, name)
			}
		}
	}
}

func TestWrongArgumentsAreRefused(t *testing.T) {
	for _, test := range []struct{ args, words []string }{
		{[]string{"tran"}, []string{`"tran"`, "\ttrain\n"}},
		{[]string{"nosuch", "--help"}, []string{`"nosuch"`}},
		{[]string{"help", "verfy"}, []string{`"verfy"`, "\tverify\n"}},
		{[]string{"train", "chain(4)", "--optimizer", "adamw"}, []string{"near it: --optimiser, "}},
		{[]string{"train", "chain(4)", "--stps", "9"}, []string{"near it: --steps, "}},
		{[]string{"list", "-C", "nosuch"}, []string{"nosuch", "no such file"}},
		{[]string{"list", "fig-mlp"}, []string{"fig-mlp", "paper list"}},
		{[]string{"export", "fig-graph-exmaple"}, []string{"fig-graph-example", "paper list"}},
		{[]string{"train", "--stats", "3"}, []string{"--stats", "paper train [GRAPH]", "--help"}},
		{[]string{"train", "--states", "3"}, []string{"--states", "GRAPH"}},
		{[]string{"train", "a.dot", "b.dot"}, []string{"at most 1", "received 2", "paper train [GRAPH]"}},
		{[]string{"train", "x", "--steps", "1e6"}, []string{`--steps is "1e6", want a whole number`}},
		{[]string{"train", "chain(4)", "--prior", "orbit(0.7 0.2 0.1)"}, []string{`split by ";"`, "orbit(0.7 0.3; 0.4 0.6)"}},
		{[]string{"list", "--store", "nosuch"}, []string{"nosuch", "no such file"}},
		{[]string{"train", "-j", "0"}, []string{"-j, --jobs", `"0"`, "at least 1"}},
		{[]string{"train", "-j", "x"}, []string{"-j, --jobs", `"x"`, "a whole number"}},
		{[]string{"verify", "--accept", "lem-tv"}, []string{"--accept", "without ids"}},
		{[]string{"verify", "--accept", "--quick"}, []string{"--accept", "without --quick"}},
		{[]string{"verify", "lem-tw"}, []string{"lem-tv"}},
		{[]string{"show"}, []string{"received 0", "paper show RUN"}},
		{[]string{"show", "0000", "--store", t.TempDir()}, []string{"0000"}},
		{[]string{"show", t.TempDir()}, []string{"no folder of a run", "summary.json"}},
		{[]string{"predict", "a", "b", "c"}, []string{"received 3", "paper predict RUN [FILE]"}},
	} {
		refused(t, test.words, test.args...)
	}
}

func TestVersionIsTheNewestOfTheChanges(t *testing.T) {
	for file, heading := range map[string]string{
		"CHANGELOG.md": "\n## " + version + "\n", "CITATION.cff": "\nversion: \"" + version[1:] + "\"\n",
	} {
		text, err := os.ReadFile(filepath.Join("..", "..", file))
		if err != nil {
			t.Fatal(err)
		}
		if at := strings.Index(string(text), heading); at < 0 || strings.Contains(string(text[:at]), "\n## v") {
			t.Errorf("%s: want %q first", file, heading)
		}
	}
	for _, flag := range []string{"--version", "-v"} {
		says(t, output(t, flag), "paper "+version+", ", "numerics "+train.Version, runtime.Version())
	}
}

func TestCompletionOfEachShellIsPrinted(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish"} {
		script := output(t, "completion", shell)
		if !strings.Contains(script, "paper") || !strings.Contains(script, "__complete") {
			t.Errorf("%s: %.200s", shell, script)
		}
		if _, err := exec.LookPath(shell); err != nil {
			continue
		}
		if out, err := exec.Command(shell, "-n", write(t, "completion", script)).CombinedOutput(); err != nil {
			t.Errorf("%s: %v: %s", shell, err, out)
		}
	}
}

func TestListShowsEveryEntryAndExperiment(t *testing.T) {
	var ids []string
	for line := range strings.Lines(output(t, "list")) {
		if f := strings.Fields(line); len(f) > 0 {
			ids = append(ids, f[0])
		}
	}
	for _, e := range figures.Entries() {
		if !slices.Contains(ids, e.ID) {
			t.Errorf("%s is not listed", e.ID)
		}
	}
	for _, e := range figures.All() {
		if !slices.Contains(ids, e.Name) {
			t.Errorf("%s is not listed", e.Name)
		}
	}
}

func TestCompletionKnowsIds(t *testing.T) {
	for _, test := range []struct{ args, want string }{
		{"export fig-ml", "fig-mlp"},
		{"verify lem-t", "lem-tv"},
		{"tr", "train"},
		{"train --model m", "mlp"},
		{"train --optimiser a", "adamw"},
		{"train --schedule cos", "cosine"},
		{"train binary", "binary-tree(12)"},
	} {
		if got := output(t, append([]string{"__complete"}, strings.Fields(test.args)...)...); !strings.Contains(got,
			test.want) {
			t.Errorf("%s: %q, want %s in it", test.args, got, test.want)
		}
	}
}

func TestExportWritesItsNamedFiles(t *testing.T) {
	dir := t.TempDir()
	named := strings.Fields(output(t, "export", "fig-graph-example", "-o", dir, "tab-unlearned-edges"))
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != 9 || len(named) != 8 {
		t.Errorf("%d files, %d named, want 5 of a figure, 2 of a table, the captions, and the record", len(files), len(named))
	}
	for _, f := range files[1:] {
		if !slices.Contains(named, filepath.Join(dir, f.Name())) {
			t.Errorf("%s is not named", f.Name())
		}
	}
}

// A figure for a column of 84 mm, 238 bp, is that wide and not wider.
func TestExportForAWidth(t *testing.T) {
	dir := t.TempDir()
	output(t, "export", "fig-induction-head", "-o", dir, "--width", "84mm")
	svg, err := os.ReadFile(filepath.Join(dir, "fig-induction-head.svg"))
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`<svg [^>]*width="([\d.]+)pt"`).FindSubmatch(svg)
	if m == nil {
		t.Fatalf("no width in %.200s", svg)
	}
	if w, err := strconv.ParseFloat(string(m[1]), 64); err != nil || math.Abs(w-84/25.4*72) > 1 {
		t.Errorf("%v pt wide (%v), want %.1f", w, err, 84/25.4*72)
	}
	refused(t, []string{"5.5in"}, "export", "fig-mlp", "-o", dir, "--width", "wide")
	refused(t, []string{"-o"}, "export", "fig-mlp", "--width", "84mm")
	refused(t, []string{"fig-multi-parent-full", "in tall", "page of 9.5 in", "6.75 in"},
		"export", "fig-multi-parent-full", "-o", dir, "--width", "2in")
	refused(t, []string{"--height and --type need --width"}, "export", "fig-mlp", "-o", dir, "--height", "80mm")
}

// A figure that does not fit keeps no other from being written, and its error states the
// least size.
func TestARefusedFigureDoesNotStopTheOthers(t *testing.T) {
	dir := t.TempDir()
	var out strings.Builder
	err := run(t.Context(), &out, []string{
		"export", "fig-stream", "fig-forward-pass", "-o", dir, "--width", "110mm",
		"--height", "90mm",
	})
	property.Mentions(t, err, "figure fig-stream is at least 441 pt (156 mm) wide")
	if _, err := os.Stat(filepath.Join(dir, "fig-forward-pass.tex")); err != nil ||
		!strings.Contains(out.String(), "forward-pass.png") {
		t.Errorf("%v, output %q: fig-forward-pass is not written", err, out.String())
	}
	output(t, "export", "fig-forward-pass", "-o", dir, "--slide")
}

// A folder that cannot be written is refused before the work: at once.
func TestFolderThatCannotBeWrittenIsRefused(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(file, "below")
	refused(t, []string{dir, "folder"}, "export", "-o", dir)
	refused(t, []string{dir, "folder"}, "train", "chain(4)", "-o", dir)
}

func TestExportOfSomeWritesTheirCaptions(t *testing.T) {
	dir := t.TempDir()
	captions := func(ids ...string) string {
		output(t, append([]string{"export", "-o", dir}, ids...)...)
		return content(t, dir)["captions.tex"]
	}
	first := captions("fig-graph-example", "fig-worked-example")
	for _, macro := range []string{"capFigGraphExample", "altFigGraphExample", "capFigWorkedExample"} {
		if strings.Count(first, `\newcommand{\`+macro+"}{") != 1 {
			t.Errorf("no %s in\n%s", macro, first)
		}
	}
	if again := captions("fig-worked-example"); again != first {
		t.Errorf("captions of others are lost or in another order:\n%s", again)
	}
	more := captions("fig-stream")
	for line := range strings.Lines(first + "\\newcommand{\\capFigStream}") {
		if strings.Count(more, line) != 1 {
			t.Errorf("no %s in:\n%s", line, more)
		}
	}
}

func TestOutsideOfACheckoutAFolderIsAskedFor(t *testing.T) {
	checkout, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	refused(t, []string{"no checkout", "-C FOLDER"}, "train", "-n")
	refused(t, []string{"no checkout", "-C FOLDER"}, "export", "-o", "x", "fig-mlp")
	says(t, output(t, "-C", checkout, "train", "-n"), "many-graphs")
}

// says fails unless a text has the words.
func says(t *testing.T, text string, words ...string) {
	t.Helper()
	property.Mentions(t, errors.New(text), words...)
}

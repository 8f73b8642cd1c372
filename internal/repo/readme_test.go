package repo

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// shell runs lines of the README in a folder and returns the output.
func shell(t *testing.T, dir, lines string, env ...string) string {
	t.Helper()
	cmd := exec.Command("sh", "-e", "-c", lines)
	cmd.Dir = dir
	cmd.Env = append(append(os.Environ(), "GOWORK=off"), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, lines, out)
	}
	return string(out)
}

func TestOwnGraphOfTheReadme(t *testing.T) {
	t.Chdir(root)
	bin := t.TempDir()
	if out, err := exec.Command("go", "build", "-o", bin, "./cmd/paper").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	lines := block(t, document(t, "README.md"), "## Your own graph", "sh")
	dir := t.TempDir()
	lines = strings.ReplaceAll(lines, "../my", filepath.Join(dir, "my"))
	out := shell(t, dir, lines, "PATH="+bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
	for _, want := range []string{"posterior mean given the edges", "4 of 4 edges learned", "Bayes (1000 draws)"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in the output:\n%s", want, out)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "my-paper", "figures", "my-graph-weights.tex")); err != nil {
		t.Error(err)
	}
	for _, name := range []string{
		"weights.npz", "curve.csv", "learned.dot", "summary.txt", "summary.json",
		"weights.tex",
	} {
		if _, err := os.Stat(filepath.Join(dir, "my-graph", name)); err != nil {
			t.Error(err)
		}
	}
}

// A module outside of the checkout imports a package of this one, and runs what it defines itself: a model, an
// optimiser, a task, a divergence and a lemma.
func TestModuleOfTheReadme(t *testing.T) {
	t.Chdir(root)
	checkout, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	mine := filepath.Join(t.TempDir(), "mine")
	lines := block(t, document(t, "README.md"), "A module of your own", "sh")
	lines = strings.ReplaceAll(lines, "../mine", "'"+mine+"'")
	if out := shell(t, checkout, lines); !strings.HasSuffix(out, "\n8\n") {
		t.Errorf("the program prints %q", out)
	}
	if testing.Short() {
		t.Skip("slow: it compiles the packages for another module")
	}
	examples, err := filepath.Glob("examples/*")
	if err != nil || len(examples) != 5 {
		t.Fatalf("examples %v, %v", examples, err)
	}
	for _, example := range examples {
		program := document(t, example+"/main.go")
		_, want, _ := strings.Cut(program, "\t// Output:\n")
		want = strings.TrimSuffix(want, "}\n")
		if err := os.WriteFile(filepath.Join(mine, "main.go"), []byte(program), 0o666); err != nil {
			t.Fatal(err)
		}
		got := ""
		for line := range strings.Lines(shell(t, mine, "go run -mod=mod . 2>errors || cat errors")) {
			got += strings.TrimSuffix("\t// "+strings.TrimSpace(line), " ") + "\n"
		}
		if got != want || want == "" {
			t.Errorf("%s prints\n%swant\n%s", example, got, want)
		}
	}
}

package repo

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The commands of the README on a graph of one's own, and what it says that they
// print.
func TestOwnGraphOfTheReadme(t *testing.T) {
	const after = "## A graph of your own"
	readme := document(t, "README.md")
	first := block(t, readme, after, "sh")
	rest := block(t, readme, first, "sh")
	dir := t.TempDir()
	cmd := exec.Command("sh", "-e", "-c", strings.ReplaceAll(first+rest, "../my", dir+"/my"))
	cmd.Env = append(os.Environ(), "COLUMNS=80")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, after := range []string{first, rest} {
		for line := range strings.Lines(block(t, readme, after, "")) {
			if !strings.Contains(string(out), strings.TrimRight(line, "\n")) {
				t.Errorf("the README has a line that does not come out: %s", line)
			}
		}
	}
	for _, name := range []string{"weights.npz", "curve.csv", "learned.dot", "summary.txt", "summary.json", "weights.tex"} {
		if _, err := os.Stat(filepath.Join(dir, "my-graph", name)); err != nil {
			t.Error(err)
		}
	}
}

// The program of the README is one of this module's as well: it builds in the
// folder that the README names, which is laid over the checkout.
func TestProgramOfTheReadmeBuildsInside(t *testing.T) {
	readme := document(t, "README.md")
	if !strings.Contains(readme, "`go run ./cmd/mine`") {
		t.Fatal("the README does not say where a program stands inside the checkout")
	}
	program := filepath.Join(t.TempDir(), "main.go")
	if err := os.WriteFile(program, []byte(block(t, readme, "## A program of your own", "go")), 0o644); err != nil {
		t.Fatal(err)
	}
	inside, err := filepath.Abs("cmd/mine/main.go")
	if err != nil {
		t.Fatal(err)
	}
	layers, err := json.Marshal(map[string]map[string]string{"Replace": {inside: program}})
	if err != nil {
		t.Fatal(err)
	}
	overlay := filepath.Join(t.TempDir(), "overlay.json")
	if err := os.WriteFile(overlay, layers, 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("go", "build", "-overlay", overlay, "-o", t.TempDir(), "./cmd/mine").CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// The program that the README tells a reader to write, step by step in a folder
// of its own and without a network: it trains, draws, and the second time loads.
func TestProgramOfTheReadmeRunsElsewhere(t *testing.T) {
	checkout, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	readme := document(t, "README.md")
	begin := strings.ReplaceAll(block(t, readme, "## A program of your own", "sh"), "/path/to/learncausal", checkout)
	program := block(t, readme, "## A program of your own", "go")
	start := block(t, readme, "\n```go\npackage main", "sh")
	dir := t.TempDir()
	sh := func(dir, script string) string {
		t.Helper()
		cmd := exec.Command("sh", "-e", "-c", script)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOPROXY=off", "GOWORK=off", "GOFLAGS=-mod=mod -buildvcs=false -trimpath")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s%s", err, script, out)
		}
		return string(out)
	}
	sh(dir, begin)
	dir = filepath.Join(dir, "my-graph")
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(program), 0o644); err != nil {
		t.Fatal(err)
	}
	out := sh(dir, start)
	if !strings.Contains(out, "step") {
		t.Errorf("the first run shows no step of training:\n%s", out)
	}
	if at := strings.LastIndex(out, "loss "); !strings.Contains(readme, strings.Split(out[max(at, 0):], "\n")[0]) {
		t.Errorf("the README does not have the line that comes out:\n%s", out)
	}
	if out := sh(dir, start); strings.Contains(out, "step") {
		t.Errorf("the second run trains again:\n%s", out)
	}
	for _, ext := range []string{"png", "svg", "pdf", "tex"} {
		if _, err := os.Stat(filepath.Join(dir, "my-figures", "my-graph."+ext)); err != nil {
			t.Error(err)
		}
	}
}

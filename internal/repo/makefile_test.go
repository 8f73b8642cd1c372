package repo

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// Go, pip and Python see the variables of the Makefile; of the user's only mirrors and proxies.
func TestVariablesOfTheUserDoNotReachSetUp(t *testing.T) {
	t.Chdir(root)
	if _, err := os.ReadFile("Makefile"); err != nil { // Go's cache of test results notices changes
		t.Fatal(err)
	}
	kept := []string{"PIP_INDEX_URL=mine", "PIP_PROXY=mine", "GOPROXY=mine", "HTTPS_PROXY=mine"}
	cmd := exec.Command("make", "-s", "-f", "-", "probe")
	cmd.Stdin = strings.NewReader("include Makefile\nprobe:\n\t@env\n")
	cmd.Env = append(os.Environ(), kept...)
	for _, name := range []string{
		"GOFLAGS", "GOWORK", "GOOS", "GOARCH", "GOEXPERIMENT", "PIP_TARGET", "PIP_USER", "PIP_PREFIX", "PIP_CONSTRAINT",
		"PIP_NO_BINARY", "PYTHONPATH", "PYTHONHOME", "PYTHONOPTIMIZE", "PYTHONWARNINGS", "PYTHONUSERBASE",
	} {
		cmd.Env = append(cmd.Env, name+"=mine")
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	lines := strings.Split(string(out), "\n")
	for _, line := range append(kept, "GOWORK=off", "GOFLAGS=-buildvcs=false -vet=off") {
		if !slices.Contains(lines, line) {
			t.Errorf("%s does not reach a recipe", line)
		}
	}
	for _, line := range lines {
		if strings.HasSuffix(line, "=mine") && !slices.Contains(kept, line) {
			t.Errorf("%s reaches a recipe", line)
		}
	}
}

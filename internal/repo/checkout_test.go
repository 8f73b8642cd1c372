package repo

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"learncausal/internal/runs"
)

// A clone made as by Git for Windows has the bytes of the repository, and its runs load.
func TestCloneWithAutoCRLFHasTheSameBytes(t *testing.T) {
	t.Chdir(root)
	git := func(args ...string) string {
		t.Helper()
		out, err := exec.Command("git", args...).CombinedOutput()
		if err != nil {
			t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	if err := exec.Command("git", "rev-parse", "--verify", "HEAD").Run(); err != nil {
		t.Skip("NOT CHECKED: line ends of a clone, because this folder is not a checkout of git")
	}
	dir := filepath.Join(t.TempDir(), "clone")
	git("-c", "core.autocrlf=true", "-c", "core.eol=crlf", "clone", "--quiet", "--shared", "-c", "core.autocrlf=true",
		".", dir)
	for line := range strings.Lines(git("-C", dir, "ls-files", "--eol")) {
		if form := strings.Fields(line); form[0] != "i/"+strings.TrimPrefix(form[1], "w/") || form[1] == "w/crlf" ||
			form[1] == "w/mixed" {
			t.Errorf("a clone changes line ends: %s", line)
		}
	}
	store := runs.Open(filepath.Join(dir, "runs"))
	all, err := store.Addresses()
	if err != nil || len(all) == 0 {
		t.Fatalf("runs %q, %v", all, err)
	}
	if _, err := store.Load(all[0]); err != nil {
		t.Error(err)
	}
}

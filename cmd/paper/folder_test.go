package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestFilesThatAreNotOfARunAreKept(t *testing.T) {
	for _, name := range ownNames() {
		mine := write(t, name, "mine")
		for _, extra := range [][]string{nil, {"-n"}} {
			args := append([]string{"train", "chain(4)", "-o", filepath.Dir(mine)}, extra...)
			refused(t, []string{mine, "did not write it", "another folder"}, append(args, quickly...)...)
		}
		if text, err := os.ReadFile(mine); err != nil || string(text) != "mine" {
			t.Errorf("%s is %q (%v)", mine, text, err)
		}
	}
	other := write(t, "graph.csv", "mine") // no name of train
	args := append([]string{"train", "chain(4)", "-o", filepath.Dir(other)}, quickly...)
	output(t, args...)
	left := content(t, filepath.Dir(other))
	for _, name := range ownNames() {
		if left[name] == "" {
			t.Errorf("%s is not written", name)
		}
		delete(left, name)
	}
	for name := range left {
		if name != ".written.sha256" && !strings.HasPrefix(name, "runs") && left[name] != "mine" {
			t.Errorf("%s is written, and protected by no list", name)
		}
	}
	// What the user changes afterwards stays, also where the run is only loaded.
	for _, name := range []string{"summary.txt", "graph.tex", "summary.json"} {
		path := filepath.Join(filepath.Dir(other), name)
		if err := os.WriteFile(path, []byte(left[name]+"edited"), 0o666); err != nil {
			t.Fatal(err)
		}
		refused(t, []string{path, "has been changed since"}, args...)
		if b, err := os.ReadFile(path); err != nil || string(b) != left[name]+"edited" {
			t.Errorf("%s is %q, %v", name, b, err)
		}
	}
}

// A file that cannot be written is an error of the command, and not a note.
func TestAFileThatCannotBeWrittenIsAnError(t *testing.T) {
	for _, name := range []string{"graph.png", "curve.tex", "weights.npz"} {
		dir := t.TempDir()
		args := append([]string{"train", "chain(4)", "-o", dir}, quickly...)
		output(t, args...)
		if err := os.Chmod(filepath.Join(dir, name), 0o444); err != nil {
			t.Fatal(err)
		}
		refused(t, []string{name, "read-only"}, append(args, "--seed", "4")...)
	}
}

func TestARunThatIsReplacedIsNamed(t *testing.T) {
	dir := t.TempDir()
	train := func(more ...string) string {
		return output(t, append(append([]string{"train", "chain(4)", "-o", dir}, quickly...), more...)...)
	}
	if text := train(); strings.Contains(text, "replace") {
		t.Errorf("replaced nothing:\n%s", text)
	}
	address := regexp.MustCompile(`"run": "([0-9a-f]+)"`).FindStringSubmatch(content(t, dir)["summary.json"])
	if address == nil {
		t.Fatal("no address in summary.json")
	}
	if text := train(); strings.Contains(text, "replace") {
		t.Errorf("the same run:\n%s", text)
	}
	for _, more := range [][]string{{"--seed", "4", "-n"}, {"--seed", "4"}} {
		if text := train(more...); !strings.Contains(text, "replace") || !strings.Contains(text, address[1]) {
			t.Errorf("%q does not say that it replaces %s:\n%s", more, address[1], text)
		}
	}
}

func TestAnEmptyNameOfAFolderIsRefused(t *testing.T) {
	for _, args := range [][]string{
		{"train", "chain(4)", "--out", "", "-n"},
		{"train", "chain(4)", "-o", "", "-n"},
		{"export", "-o", "", "fig-graph-example"},
		{"list", "--store", ""},
		{"show", "173e", "--store", ""},
		{"predict", "173e", "--store="},
	} {
		refused(t, []string{`"" for `, "want the name of a folder"}, args...)
	}
}

// Files that no id names are not replaced, and a figure is written as a whole or not at all.
func TestExportKeepsFilesOfOthers(t *testing.T) {
	for name, ids := range map[string][]string{
		"README.md": nil, "all.tex": nil, "captions.tex": {"fig-graph-example"},
	} {
		mine := write(t, name, "mine")
		words := []string{mine, "did not write it", "nothing is written"}
		refused(t, words, append([]string{"export", "-o", filepath.Dir(mine)}, ids...)...)
		if all := content(t, filepath.Dir(mine)); len(all) != 1 || all[name] != "mine" {
			t.Errorf("the folder with %s has now %q", name, all)
		}
	}
	mine := write(t, "mine", "mine")
	link := filepath.Join(filepath.Dir(mine), "fig-graph-example.pdf")
	if err := os.Symlink("mine", link); err != nil {
		t.Skip(err)
	}
	refused(t, []string{link, "is a link to mine"}, "export", "-o", filepath.Dir(mine), "fig-graph-example")
	if all := content(t, filepath.Dir(mine)); len(all) != 2 || all["mine"] != "mine" {
		t.Errorf("the folder has now %q", all)
	}
}

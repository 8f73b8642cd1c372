// Package repo tests the documents of the repository against its code.
package repo

import (
	"encoding/json"
	"log"
	"maps"
	"os"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The tests run in the root of the repository.
func TestMain(m *testing.M) {
	if err := os.Chdir("../.."); err != nil {
		log.Fatal(err)
	}
	m.Run()
}

// imports returns the folder of each package of this module that is more than tests,
// with the folders of the packages that it imports.
func imports(t *testing.T) map[string][]string {
	t.Helper()
	out, err := exec.Command("go", "list", "-f", `{{if .GoFiles}}{{.ImportPath}} {{join .Imports " "}}{{end}}`, "./...").Output()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]string{}
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		folder := strings.TrimPrefix(words[0], "learncausal/")
		all[folder] = nil
		for _, w := range words[1:] {
			if f, ok := strings.CutPrefix(w, "learncausal/"); ok {
				all[folder] = append(all[folder], f)
			}
		}
	}
	return all
}

// reaches reports whether from imports to, itself or through others.
func reaches(all map[string][]string, from, to string) bool {
	return slices.ContainsFunc(all[from], func(f string) bool { return f == to || reaches(all, f, to) })
}

func document(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// block returns the code block in a language that follows a phrase of a text.
func block(t *testing.T, text, after, language string) string {
	t.Helper()
	_, rest, found := strings.Cut(text, after)
	_, rest, open := strings.Cut(rest, "\n```"+language+"\n")
	code, _, closed := strings.Cut(rest, "\n```\n")
	if !found || !open || !closed {
		t.Fatalf("no block of %s after %q", language, after)
	}
	return code + "\n"
}

// The arrows of the picture are the imports, without those that follow from
// others.
func TestPictureOfTheHouseShowsTheImports(t *testing.T) {
	all := imports(t)
	var want []string
	for _, from := range slices.Sorted(maps.Keys(all)) {
		for _, to := range all[from] {
			if !slices.ContainsFunc(all[from], func(f string) bool { return reaches(all, f, to) }) {
				want = append(want, from+" --> "+to)
			}
		}
	}
	picture := block(t, document(t, "CONTRIBUTING.md"), "# Contributing", "mermaid")
	folder := map[string]string{}
	for _, m := range regexp.MustCompile(`(\w+)\["([^"<]+)`).FindAllStringSubmatch(picture, -1) {
		folder[m[1]] = m[2]
	}
	var got []string
	for _, m := range regexp.MustCompile(`(?m)^\s*(\w+) --> (.+)$`).FindAllStringSubmatch(picture, -1) {
		for to := range strings.SplitSeq(m[2], " & ") {
			got = append(got, folder[m[1]]+" --> "+folder[strings.TrimSpace(to)])
		}
	}
	for _, arrow := range got {
		if !slices.Contains(want, arrow) {
			t.Errorf("CONTRIBUTING.md draws %s, which is no import, or follows from others", arrow)
		}
	}
	for _, arrow := range want {
		if !slices.Contains(got, arrow) {
			t.Errorf("CONTRIBUTING.md does not draw %s", arrow)
		}
	}
}

func TestEveryPackageIsToldInASentence(t *testing.T) {
	var told []string
	row := regexp.MustCompile("(?m)^\\| `([a-z]+(?:/[a-z]+)?)` \\| .+\\. \\|$")
	for _, m := range row.FindAllStringSubmatch(document(t, "CONTRIBUTING.md"), -1) {
		told = append(told, m[1])
	}
	slices.Sort(told)
	if want := slices.Sorted(maps.Keys(imports(t))); !slices.Equal(told, want) {
		t.Errorf("CONTRIBUTING.md tells of %q, want %q", told, want)
	}
}

// Files, folders and targets of make that the documents name are there.
func TestDocumentsNameWhatExists(t *testing.T) {
	file := regexp.MustCompile("`((?:pkg|paper|cmd|tools|notebooks|figures|runs)/[\\w./-]*)`")
	link := regexp.MustCompile(`\]\(([^)#:]+)(?:#[^)]*)?\)`)
	target := regexp.MustCompile("(?m)(?:^|`)make ([a-z]+)")
	makefile := document(t, "Makefile")
	for _, name := range []string{"README.md", "CONTRIBUTING.md", "environment.md"} {
		text := document(t, name)
		files := append(file.FindAllStringSubmatch(text, -1), link.FindAllStringSubmatch(text, -1)...)
		for _, m := range files {
			if _, err := os.Stat(m[1]); err != nil {
				t.Errorf("%s names %s: %v", name, m[1], err)
			}
		}
		if len(files) == 0 {
			t.Errorf("%s names no file: has the form of its names changed?", name)
		}
		for _, m := range target.FindAllStringSubmatch(text, -1) {
			if !strings.Contains(makefile, "\n"+m[1]+":") {
				t.Errorf("%s names make %s, which the Makefile has not", name, m[1])
			}
		}
	}
}

// The modules that the code imports are required directly, and the table in
// environment.md has each with its version.
func TestEnvironmentHasTheDependencies(t *testing.T) {
	list := func(args ...string) []string {
		out, err := exec.Command("go", append([]string{"list"}, args...)...).Output()
		if err != nil {
			t.Fatal(err)
		}
		return strings.Fields(string(out))
	}
	imported := list("-f", `{{join .Imports "\n"}}`, "./...")
	modules := list(append([]string{"-f", `{{with .Module}}{{.Path}}@{{.Version}}{{end}}`}, imported...)...)
	table := document(t, "environment.md")
	goMod := document(t, "go.mod")
	slices.Sort(modules)
	for _, m := range slices.Compact(modules) {
		name, version, _ := strings.Cut(m, "@")
		if name == "learncausal" {
			continue
		}
		if !strings.Contains(goMod, "\t"+name+" "+version+"\n") {
			t.Errorf("go.mod does not require %s directly: go mod tidy", name)
		}
		last := path.Base(regexp.MustCompile(`/v\d+$`).ReplaceAllString(name, ""))
		row := `(?m)^\|.*\b` + last + `\b.*\| ` + regexp.QuoteMeta(version[1:]) + " \\| `go.mod` \\|"
		if !regexp.MustCompile(row).MatchString(table) {
			t.Errorf("environment.md does not have %s %s", name, version)
		}
	}
}

// The container has the Go of go.mod, the packages of the README's apt-get line,
// and is set up by one command in both of its uses.
func TestContainerIsSetUpAsTheReadmeSays(t *testing.T) {
	find := func(name, pattern string) string {
		t.Helper()
		m := regexp.MustCompile(pattern).FindStringSubmatch(document(t, name))
		if m == nil {
			t.Fatalf("%s has no %s", name, pattern)
		}
		return m[1]
	}
	const file = ".binder/Dockerfile"
	var settings struct {
		Build struct {
			Dockerfile string
			Args       struct{ PACKAGES string }
		}
		PostCreateCommand string
	}
	if err := json.Unmarshal([]byte(document(t, ".devcontainer/devcontainer.json")), &settings); err != nil {
		t.Fatal(err)
	}
	packages := find("README.md", `(?m)--no-install-recommends (.*)$`)
	for _, c := range []struct{ what, got, want string }{
		{"Go", find(file, `FROM golang:([\d.]+)-`), find("go.mod", `(?m)^go (\d+\.\d+)`)},
		{"Dockerfile", settings.Build.Dockerfile, "../" + file},
		{"packages", settings.Build.Args.PACKAGES, packages},
		{"set-up", settings.PostCreateCommand, find(file, `(?m)^RUN (make .*)$`)},
	} {
		if c.got != c.want {
			t.Errorf("%s: %q, want %q", c.what, c.got, c.want)
		}
	}
	for p := range strings.FieldsSeq(find(file, `ARG PACKAGES="(.*)"`)) {
		if !slices.Contains(strings.Fields(packages), p) {
			t.Errorf("the README does not install %s", p)
		}
	}
}

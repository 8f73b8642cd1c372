// Package repo tests the documents of the repository against its code.
package repo

import (
	"encoding/json"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// root is the root of the repository. Tests begin with t.Chdir(root), because Go's cache of
// test results knows no change of folder in TestMain.
const root = "../.."

// imports returns the packages of this module, by folder, with the packages of this module
// that each imports. It reads all files, so that Go's cache of test results notices changes.
func imports(t *testing.T) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	for _, top := range []string{"cmd", "internal", "paper", "pkg"} {
		err := filepath.WalkDir(top, func(name string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
			if err != nil {
				return err
			}
			var ours []string
			for _, spec := range file.Imports {
				if f, ok := strings.CutPrefix(spec.Path.Value, `"learncausal/`); ok {
					ours = append(ours, strings.TrimSuffix(f, `"`))
				}
			}
			folder := filepath.ToSlash(filepath.Dir(name))
			all[folder] = append(all[folder], ours...)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// reaches reports whether from imports to, itself or through others.
func reaches(all map[string][]string, from, to string) bool {
	return slices.ContainsFunc(all[from], func(f string) bool { return f == to || reaches(all, f, to) })
}

// The packages of tests, which no production code counts or imports, are imported by tests alone.
func TestPackagesOfTestsAreImportedByTests(t *testing.T) {
	t.Chdir(root)
	for folder, ours := range imports(t) {
		for _, f := range ours {
			if f == "internal/property" || f == "paper/claims/compare" {
				t.Errorf("%s imports %s, a package of tests", folder, f)
			}
		}
	}
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

// drawn returns the name of a package in the documents. The sections of the paper have one name.
func drawn(folder string) string {
	section, ok := strings.CutPrefix(folder, "paper/claims/")
	if ok && section != "instruments" && section != "compare" {
		return "paper/claims/*"
	}
	return folder
}

// The arrows of the picture are the imports, without those that follow from others.
func TestPictureShowsTheImports(t *testing.T) {
	t.Chdir(root)
	all := map[string][]string{}
	for from, direct := range imports(t) {
		for _, to := range direct {
			if drawn(from) == drawn(to) {
				t.Errorf("%s imports %s: sections share names through paper/claims/instruments alone", from, to)
				continue
			}
			all[drawn(from)] = append(all[drawn(from)], drawn(to))
		}
	}
	want := map[string]bool{}
	for from, direct := range all {
		for _, to := range direct {
			if !slices.ContainsFunc(direct, func(f string) bool { return reaches(all, f, to) }) {
				want[from+" --> "+to] = true
			}
		}
	}
	picture := block(t, document(t, "CONTRIBUTING.md"), "# Contributing", "mermaid")
	got := map[string]bool{}
	for line := range strings.Lines(picture) {
		from, targets, arrow := strings.Cut(strings.TrimSpace(line), " --> ")
		for to := range strings.SplitSeq(targets, " & ") {
			if arrow {
				got[from+" --> "+to] = true
			}
		}
	}
	for arrow := range got {
		if !want[arrow] {
			t.Errorf("CONTRIBUTING.md draws %s, which is no import or follows from others", arrow)
		}
	}
	for arrow := range want {
		if !got[arrow] {
			t.Errorf("CONTRIBUTING.md does not draw %s", arrow)
		}
	}
}

func TestTableHasEveryPackage(t *testing.T) {
	t.Chdir(root)
	var listed []string
	row := regexp.MustCompile("(?m)^\\| `([a-z/*]+)` \\|")
	for _, m := range row.FindAllStringSubmatch(document(t, "CONTRIBUTING.md"), -1) {
		listed = append(listed, m[1])
	}
	slices.Sort(listed)
	packages := map[string]bool{}
	for folder := range imports(t) {
		packages[drawn(folder)] = true
	}
	if want := slices.Sorted(maps.Keys(packages)); !slices.Equal(listed, want) {
		t.Errorf("CONTRIBUTING.md lists %q, want %q", listed, want)
	}
}

// Files, folders and targets of make that the documents name exist.
func TestDocumentsNameExistingFiles(t *testing.T) {
	t.Chdir(root)
	file := regexp.MustCompile("`((?:pkg|internal|paper|cmd|tools|web|notebooks|figures|runs)/[\\w./-]*)`")
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
			t.Errorf("%s names no file: update the patterns of this test", name)
		}
		for _, m := range target.FindAllStringSubmatch(text, -1) {
			if !strings.Contains(makefile, "\n"+m[1]+":") {
				t.Errorf("%s names make %s, which is not in the Makefile", name, m[1])
			}
		}
	}
}

// go.mod names the purpose of each module that the code imports.
func TestRequirementsHaveAPurpose(t *testing.T) {
	t.Chdir(root)
	for _, m := range regexp.MustCompile(`(?m)^\t(\S+) v\S+$`).FindAllStringSubmatch(document(t, "go.mod"), -1) {
		t.Errorf("go.mod does not say why %s is required", m[1])
	}
}

// The container has the Go version of go.mod and the packages of the README, and both of
// its uses run the same set-up.
func TestContainerIsSetUpAsInTheReadme(t *testing.T) {
	t.Chdir(root)
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

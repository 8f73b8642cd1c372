package pack

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"gokernel/cell"
)

// project writes a module of two packages and returns its folder.
func project(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":          "module toy\n\ngo 1.26.0\n",
		"a/a.go":          "package a\n\nimport \"toy/internal/b\"\n\nfunc A() string { return b.B() }\n",
		"go-c/c.go":       "package c\n\nconst C = 1\n",
		"internal/b/b.go": "package b\n\nfunc B() string { return \"b\" }\n",
	} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// What the two halves of an archive are for: a program compiles with the one
// and links with the other.
func TestHalvesOfArchivesCompileAndLink(t *testing.T) {
	toy := project(t)
	archives, err := compiled(Config{Project: toy, Packages: []string{"toy/a", "toy/go-c", "fmt"}}, runtime.Version())
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write := func(name string, b []byte) string {
		file := filepath.Join(dir, strings.ReplaceAll(name, "/", "-"))
		if err := os.WriteFile(file, b, 0o644); err != nil {
			t.Fatal(err)
		}
		return file
	}
	var exports, objects bytes.Buffer
	for _, a := range archives {
		whole, err := os.ReadFile(a.file)
		if err != nil {
			t.Fatal(err)
		}
		x, o, err := divide(whole)
		if err != nil {
			t.Fatal(err)
		}
		if len(x)+len(o) > len(whole)+500 {
			t.Errorf("%s: halves of %d and %d bytes, the archive has %d", a.Path, len(x), len(o), len(whole))
		}
		exports.WriteString("packagefile " + a.Path + "=" + write(a.Path+".x", x) + "\n")
		objects.WriteString("packagefile " + a.Path + "=" + write(a.Path+".o", o) + "\n")
	}
	source := write("main.go", []byte("package main\n\nimport (\n\t\"fmt\"\n\t\"toy/a\"\n)\n\nfunc main() { fmt.Println(a.A()) }\n"))
	object, program := filepath.Join(dir, "main.o"), filepath.Join(dir, "main.wasm")
	for _, args := range [][]string{
		{"tool", "compile", "-o", object, "-p", "main", "-complete", "-pack", "-importcfg", write("x.cfg", exports.Bytes()), source},
		{"tool", "link", "-o", program, "-importcfg", write("o.cfg", objects.Bytes()), "-buildmode=exe", object},
	} {
		if _, err := goCommand(toy, args...); err != nil {
			t.Fatal(err)
		}
	}
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is missing, which runs the program")
	}
	root, err := goCommand(toy, "env", "GOROOT")
	if err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(strings.TrimSpace(root), "lib", "wasm", "wasm_exec_node.js")
	out, err := exec.Command(node, script, program).CombinedOutput()
	if err != nil || string(out) != "b\n" {
		t.Errorf("the program prints %q, %v, want b", out, err)
	}
}

func TestDamagedArchivesAreRefused(t *testing.T) {
	for _, c := range []struct{ archive, want string }{
		{"", "no archive"},
		{"<!DOCTYPE html>", "no archive"},
		{arMagic, "does not begin with __.PKGDEF"},
		{arMagic + "__.PKGDEF       0           0     0     644     99        `\n", "cut off"},
		{arMagic + "__.PKGDEF       0           0     0     644     -1        `\n", "cut off"},
		{arMagic + "go.o            0           0     0     644     2         `\nab", "does not begin with __.PKGDEF"},
		{arMagic + "__.PKGDEF       0           0     0     644     2         `\nab", "without export data"},
	} {
		_, _, err := divide([]byte(c.archive))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %s", c.archive, err, c.want)
		}
	}
}

func TestPackagesOfAnotherVersionAreRefused(t *testing.T) {
	_, err := compiled(Config{Project: project(t), Packages: []string{"toy/go-c"}}, "go1.26.99")
	if err == nil || !strings.Contains(err.Error(), "compiled by \""+runtime.Version()+"\", and the page's compiler is go1.26.99") {
		t.Errorf("%v", err)
	}
}

func TestProjectsFaultsAreReported(t *testing.T) {
	toy := project(t)
	if _, err := compiled(Config{Project: toy, Packages: []string{"toy/nothing"}}, runtime.Version()); err == nil || !strings.Contains(err.Error(), "toy/nothing") {
		t.Errorf("a package that is not there: %v", err)
	}
	if err := os.WriteFile(filepath.Join(toy, "a", "bad.go"), []byte("package a\n\nvar x undefined\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := compiled(Config{Project: toy, Packages: []string{"toy/a"}}, runtime.Version()); err == nil || !strings.Contains(err.Error(), "undefined: undefined") {
		t.Errorf("a package that does not compile: %v", err)
	}
}

func TestCellsImportWhatTheListNamesFirst(t *testing.T) {
	var archives []archive
	for _, p := range []cell.Package{
		{Path: "math/rand", Name: "rand"},
		{Path: "toy/internal/b", Name: "b"},
		{Path: "vendor/x", Name: "x"},
		{Path: "toy/go-c", Name: "c"},
		{Path: "math/rand/v2", Name: "rand"},
	} {
		archives = append(archives, archive{p, ""})
	}
	got, err := json.Marshal(importable(archives, []string{"math/rand/v2", "toy/go-c"}))
	want := `[{"path":"math/rand/v2","name":"rand"},{"path":"toy/go-c","name":"c"},{"path":"math/rand","name":"rand"}]`
	if err != nil || string(got) != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestMembersOfArchivesBeginAtEvenPlaces(t *testing.T) {
	member := func(name, size, body string) string {
		return name + strings.Repeat(" ", 16-len(name)) + "0           0     0     644     " + size + strings.Repeat(" ", 10-len(size)) + "`\n" + body
	}
	second := member("_go_.o", "2", "xy")
	x, o, err := divide([]byte(arMagic + member("__.PKGDEF", "13", "odd\n$$B\ndata\n\x00") + second))
	if err != nil {
		t.Fatal(err)
	}
	if want := arMagic + member("__.PKGDEF", "13", "odd\n$$B\ndata\n\x00"); string(x) != want {
		t.Errorf("the compiler's half is %q, want %q", x, want)
	}
	if want := arMagic + member("__.PKGDEF", "5", "odd\n\n\x00") + second; string(o) != want {
		t.Errorf("the linker's half is %q, want %q", o, want)
	}
}

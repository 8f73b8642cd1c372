package cell

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const project = "../.." // whose notebooks are tried

// listed returns the packages that the notebooks may import, and an importer of
// what the compiler has made of them.
func listed(t *testing.T) ([]Package, types.ImporterFrom, *token.FileSet) {
	t.Helper()
	text, err := os.ReadFile(project + "/notebooks/packages.txt")
	if err != nil {
		t.Skipf("no notebooks to try: %v", err)
	}
	args := []string{"list", "-deps", "-export", "-f", "{{if .Export}}{{.ImportPath}} {{.Name}} {{.Export}}{{end}}", "--"}
	for line := range strings.Lines(string(text)) {
		path, _, _ := strings.Cut(line, "#")
		args = append(args, strings.Fields(path)...)
	}
	cmd := exec.Command("go", args...)
	cmd.Dir = project
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var all []Package
	files := map[string]string{}
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		all = append(all, Package{words[0], words[1]})
		files[words[0]] = words[2]
	}
	fset := token.NewFileSet()
	open := func(path string) (io.ReadCloser, error) {
		if files[path] == "" {
			return nil, fmt.Errorf("package %q is not listed", path)
		}
		return os.Open(files[path])
	}
	return all, importer.ForCompiler(fset, "gc", open).(types.ImporterFrom), fset
}

// cell is a cell of code in a notebook.
type cell struct {
	source   string
	exercise bool // declares nothing for later cells
}

// cells returns a notebook's cells of code.
func cells(t *testing.T, file string) []cell {
	t.Helper()
	var notebook struct {
		Cells []struct {
			Kind     string `json:"cell_type"`
			Metadata struct{ Tags []string }
			Source   []string
		}
	}
	text, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(text, &notebook)
	}
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	var all []cell
	for _, c := range notebook.Cells {
		if c.Kind == "code" {
			all = append(all, cell{strings.Join(c.Source, ""), slices.Contains(c.Metadata.Tags, "try")})
		}
	}
	return all
}

// Every cell of every notebook is a program that compiles, after those before
// it.
func TestCellsOfTheNotebooksCompile(t *testing.T) {
	packages, from, fset := listed(t)
	notebooks, err := filepath.Glob(project + "/notebooks/*.ipynb")
	if err != nil || len(notebooks) == 0 {
		t.Fatalf("no notebooks: %v", err)
	}
	programs := 0
	for _, file := range notebooks {
		s := NewSession(packages)
		for i, c := range cells(t, file) {
			label := fmt.Sprintf("%s[%d]", filepath.Base(file), i+1)
			p, err := s.Program(label, c.source)
			if err != nil {
				t.Error(err)
				continue
			}
			if !c.exercise {
				s.Keep(p)
			}
			if p.Source == "" {
				continue
			}
			programs++
			f, err := parser.ParseFile(fset, label, p.Source, 0)
			if err != nil {
				t.Error(err)
				continue
			}
			check := types.Config{Importer: from, Error: func(err error) { t.Error(err) }}
			_, _ = check.Check("main", fset, []*ast.File{f}, nil) // Error has its errors
		}
	}
	t.Logf("%d programs of %d notebooks", programs, len(notebooks))
}

package main

import (
	"bytes"
	"encoding/json"
	"errors"
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
)

// mutated lists the packages whose code is mutated; of some only the files
// named. They hold the checks, the quantities that checks use, and the
// accumulators that turn these into verdicts.
var mutated = map[string][]string{
	"paper/claims": nil,
	"pkg/exact":    nil,
	"pkg/theory":   nil,
	"pkg/graph":    {"dag.go", "distance.go", "forest.go", "families.go"},
	"pkg/markov":   {"prior.go", "stationary.go"},
	"pkg/task":     nil,
	"pkg/ledger":   {"worst.go", "trend.go"},
}

// A unit is a package with its types.
type unit struct {
	folder string // from the root of the module
	fset   *token.FileSet
	pkg    *types.Package
	info   *types.Info
	files  map[string]*ast.File // by path from the root
	source map[string][]byte
	tested bool // tests judge it, and not the rows of the ledger

	describing map[types.Object]bool // functions, and whether descriptions alone use them
}

// load reads and type-checks the packages that are mutated for the rows, in the
// order of their names.
func load(root string) ([]*unit, error) { return loadFor(root, "paper/claims", mutated) }

// loadFor reads and type-checks packages among those that one needs: of each chosen
// folder all files, or those that are named.
func loadFor(root, needs string, chosen map[string][]string) ([]*unit, error) {
	cmd := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Export,Dir,GoFiles", "./"+needs)
	cmd.Dir, cmd.Stderr = root, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("mutants: go list: %w", err)
	}
	type listed struct {
		ImportPath, Export, Dir string
		GoFiles                 []string
	}
	export, inside := map[string]string{}, []listed(nil)
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		export[p.ImportPath] = p.Export
		if folder, err := filepath.Rel(root, p.Dir); err == nil {
			if _, ok := chosen[folder]; ok {
				inside = append(inside, p)
			}
		}
	}
	fset := token.NewFileSet()
	imp := importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(export[path]) })
	var all []*unit
	for _, p := range inside {
		u, err := check(root, p.ImportPath, p.Dir, p.GoFiles, fset, imp, chosen)
		if err != nil {
			return nil, err
		}
		all = append(all, u)
	}
	slices.SortFunc(all, func(a, b *unit) int { return bytes.Compare([]byte(a.folder), []byte(b.folder)) })
	return all, nil
}

func check(
	root, path, dir string, names []string, fset *token.FileSet, imp types.Importer, chosen map[string][]string,
) (*unit, error) {
	folder, err := filepath.Rel(root, dir)
	if err != nil {
		return nil, err
	}
	u := &unit{folder: folder, fset: fset, files: map[string]*ast.File{}, source: map[string][]byte{}}
	u.info = &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{},
		Uses:  map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{},
		Selections: map[*ast.SelectorExpr]*types.Selection{}, Instances: map[*ast.Ident]types.Instance{},
	}
	var files []*ast.File
	for _, name := range names {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return nil, err
		}
		f, err := parser.ParseFile(fset, filepath.Join(dir, name), text, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
		if only := chosen[folder]; only == nil || slices.Contains(only, name) {
			u.files[filepath.Join(folder, name)], u.source[filepath.Join(folder, name)] = f, text
		}
	}
	u.pkg, err = (&types.Config{Importer: imp}).Check(path, fset, files, u.info)
	return u, err
}

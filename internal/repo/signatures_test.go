package repo

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// hidden returns an exported name of a package whose signature names a type of a folder internal, and the type.
func hidden(pkg *types.Package) (names []string) {
	var of string
	seen := map[types.Type]bool{}
	var visit func(t types.Type)
	tuple := func(all *types.Tuple) {
		for v := range all.Variables() {
			visit(v.Type())
		}
	}
	visit = func(t types.Type) {
		if seen[t] {
			return
		}
		seen[t] = true
		switch t := t.(type) {
		case *types.Alias:
			visit(types.Unalias(t))
		case *types.Named:
			if p := t.Obj().Pkg(); p != nil && strings.Contains(p.Path(), "/internal/") {
				names = append(names, of+" names "+p.Path()+"."+t.Obj().Name())
			}
			for a := range t.TypeArgs().Types() {
				visit(a)
			}
		case *types.Signature:
			tuple(t.Params())
			tuple(t.Results())
		case *types.Struct:
			for f := range t.Fields() {
				if f.Exported() {
					visit(f.Type())
				}
			}
		case *types.Interface:
			for m := range t.Methods() {
				visit(m.Type())
			}
		case *types.Map:
			visit(t.Key())
			visit(t.Elem())
		case interface{ Elem() types.Type }:
			visit(t.Elem())
		}
	}
	for _, name := range pkg.Scope().Names() {
		o := pkg.Scope().Lookup(name)
		if of = pkg.Path() + "." + name; !o.Exported() {
			continue
		}
		clear(seen)
		visit(o.Type())
		if _, is := o.(*types.TypeName); is {
			visit(o.Type().Underlying())
			for m := range types.NewMethodSet(types.NewPointer(o.Type())).Methods() {
				if of = pkg.Path() + "." + name + "." + m.Obj().Name(); m.Obj().Exported() {
					visit(m.Type())
				}
			}
		}
	}
	return names
}

// A module of a reader's own can name every type in the exported signatures of pkg.
func TestSignaturesNameNoInternalTypes(t *testing.T) {
	t.Chdir(root)
	imports(t) // reads the files, so that the cache of test results notices changes
	files := token.NewFileSet()
	list, err := exec.Command("go", "list", "-export", "-deps", "-f", "{{.ImportPath}} {{.Export}}", "./pkg/...").Output()
	if err != nil {
		t.Fatal(err)
	}
	export := map[string]string{}
	for line := range strings.Lines(string(list)) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), " ")
		export[path] = file
	}
	from := importer.ForCompiler(files, "gc", func(path string) (io.ReadCloser, error) { return os.Open(export[path]) })
	for path := range export {
		folder, ours := strings.CutPrefix(path, "learncausal/pkg/")
		if !ours || strings.HasPrefix(folder, "internal/") {
			continue
		}
		pkg, err := from.Import(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range hidden(pkg) {
			t.Error(name)
		}
	}
	const bad = "package bad\nimport \"learncausal/pkg/internal/sampler\"\n" +
		"type T struct{}\nfunc (*T) Draw(by []sampler.Drawer) {}\n"
	file, err := parser.ParseFile(files, "bad.go", bad, 0)
	if err != nil {
		t.Fatal(err)
	}
	pkg, err := (&types.Config{Importer: from}).Check("learncausal/pkg/bad", files, []*ast.File{file}, nil)
	if err != nil || len(hidden(pkg)) != 1 {
		t.Errorf("a method that draws by a sampler.Drawer is let through: %v, %v", hidden(pkg), err)
	}
}

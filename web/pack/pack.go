// Package pack writes the files with which a page compiles and runs Go programs: the compiler and the linker of
// the Go toolchain as WebAssembly, and the compiled packages that programs may import.
package pack

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gokernel/cell"
)

// A Config has the sources of a pack.
type Config struct {
	Project  string   // folder of a Go module
	Modfile  string   // a go.mod in place of the project's
	Packages []string // import paths that cells may use; their dependencies are added
	Kernel   string   // folder of this module
	Cache    string   // folder of the compiler and the linker, by version of Go
}

// An Index is the file pack.json of a pack. The other files are compile.wasm, link.wasm and
// cell.wasm, wasm_exec.js of the same version of Go, and exports.bin and objects.bin, which have
// the archives of all packages for the compiler and for the linker, one after another.
type Index struct {
	Go       string         `json:"go"`       // version of the toolchain
	Packages []cell.Package `json:"packages"` // that may be imported
	Exports  []Member       `json:"exports"`
	Objects  []Member       `json:"objects"`
}

// A Member is the archive of a package.
type Member struct {
	Path string `json:"path"`
	Size int    `json:"size"` // in bytes
}

// Write writes a pack into a folder.
func Write(folder string, c Config) error {
	tools, err := Build(c.Project, c.Kernel, c.Cache)
	if err != nil {
		return err
	}
	archives, err := compiled(c, tools.Version)
	if err != nil {
		return err
	}
	index := Index{Go: tools.Version, Packages: importable(archives, c.Packages)}
	var exports, objects bytes.Buffer
	for _, a := range archives {
		b, err := os.ReadFile(a.file)
		if err != nil {
			return err
		}
		x, o, err := divide(b)
		if err != nil {
			return fmt.Errorf("%s of package %s: %w", a.file, a.Path, err)
		}
		exports.Write(x)
		objects.Write(o)
		index.Exports = append(index.Exports, Member{a.Path, len(x)})
		index.Objects = append(index.Objects, Member{a.Path, len(o)})
	}
	text, err := json.Marshal(index)
	if err != nil {
		return err
	}
	files := map[string][]byte{"exports.bin": exports.Bytes(), "objects.bin": objects.Bytes(), "pack.json": text}
	for name, file := range tools.Files {
		if files[name], err = os.ReadFile(file); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	for name, b := range files {
		if err := os.WriteFile(filepath.Join(folder, name), b, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// importable returns the packages that a cell may import, the packages of the list first.
func importable(archives []archive, list []string) []cell.Package {
	var all []cell.Package
	for _, a := range archives {
		hidden := func(folder string) bool { return folder == "internal" || folder == "vendor" }
		if !slices.ContainsFunc(strings.Split(a.Path, "/"), hidden) {
			all = append(all, a.Package)
		}
	}
	place := func(p cell.Package) uint { return uint(slices.Index(list, p.Path)) } // the largest for -1
	slices.SortStableFunc(all, func(a, b cell.Package) int { return cmp.Compare(place(a), place(b)) })
	return all
}

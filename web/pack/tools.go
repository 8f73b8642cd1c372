package pack

import (
	"bytes"
	"errors"
	"fmt"
	goversion "go/version"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"gokernel/cell"
)

// oldest is the oldest version of Go whose compiler and linker run in a page.
const oldest = "go1.26"

// Tools are the programs of a page.
type Tools struct {
	Version string            // of Go
	Files   map[string]string // path of each program by its name in a pack
}

// Build builds the programs of a page. It takes the compiler and the linker, which take
// minutes to build, from the cache if they are there. They have the version of Go that
// builds the project, because a compiler reads packages of the same version only.
func Build(project, kernel, cache string) (*Tools, error) {
	out, err := goCommand(project, "env", "GOVERSION", "GOROOT")
	if err != nil {
		return nil, err
	}
	version, root, _ := strings.Cut(strings.TrimSpace(out), "\n")
	if goversion.Compare(version, oldest) < 0 {
		return nil, fmt.Errorf("the project is built by %s, and a page needs %s or later, "+
			"whose compiler runs there: set GOTOOLCHAIN or the line go of its go.mod", version, oldest)
	}
	built := filepath.Join(cache, version)
	t := &Tools{version, map[string]string{
		"compile.wasm": filepath.Join(built, "compile.wasm"),
		"link.wasm":    filepath.Join(built, "link.wasm"),
		"cell.wasm":    filepath.Join(built, "cell.wasm"),
		"wasm_exec.js": filepath.Join(root, "lib", "wasm", "wasm_exec.js"),
	}}
	for _, name := range []string{"compile", "link"} {
		file := t.Files[name+".wasm"]
		if _, err := os.Stat(file); err == nil {
			continue
		}
		fmt.Fprintf(os.Stderr, "building cmd/%s of %s for the page, once: some minutes\n", name, version)
		if err := module(filepath.Join(root, "src"), file, "cmd/"+name, "-pgo=off"); err != nil {
			return nil, err
		}
	}
	return t, module(kernel, t.Files["cell.wasm"], "./worker")
}

// module builds a program as WebAssembly and writes the file as a whole.
func module(dir, file, program string, flags ...string) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	args := append([]string{"build", "-trimpath", "-ldflags=-s -w", "-o", file + ".part"}, flags...)
	if _, err := goCommand(dir, append(args, program)...); err != nil {
		return err
	}
	return os.Rename(file+".part", file)
}

// An archive is a compiled package.
type archive struct {
	cell.Package
	file string
}

// compiled compiles the packages and their dependencies for a page.
func compiled(c Config, want string) ([]archive, error) {
	args := []string{
		"list", "-deps", "-export", "-trimpath", "-gcflags=all=-dwarf=false",
		"-f", "{{if .Export}}{{.ImportPath}} {{.Name}} {{.Export}}{{end}}", "-modfile=" + c.Modfile, "--",
	}
	out, err := goCommand(c.Project, append(args, c.Packages...)...)
	if err != nil {
		return nil, err
	}
	var all []archive
	for line := range strings.Lines(out) {
		words := strings.SplitN(strings.TrimSpace(line), " ", 3)
		if len(words) != 3 {
			return nil, fmt.Errorf("go list printed %q, want a path, a name and a file", line)
		}
		all = append(all, archive{cell.Package{Path: words[0], Name: words[1]}, words[2]})
	}
	if len(all) == 0 {
		return nil, errors.New("no package to compile: a list of packages is needed")
	}
	first, err := os.ReadFile(all[0].file)
	if err == nil && version(first) != want {
		err = fmt.Errorf("package %s is compiled by %q, and the page's compiler is %s: "+
			"it reads packages of its own version only", all[0].Path, version(first), want)
	}
	return all, err
}

// goCommand runs go for WebAssembly in a folder and returns its standard output.
func goCommand(dir string, args ...string) (string, error) {
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm", "GOWORK=off")
	var faults bytes.Buffer
	cmd.Stderr = &faults
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("go %s in %s: %w\n%s", args[0], dir, err, faults.Bytes())
	}
	return string(out), nil
}

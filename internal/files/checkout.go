package files

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/mod/modfile"
)

// Module is the path of this module.
const Module = "learncausal"

// Checkout returns the path of a file or folder at the top of a checkout of this module: of the one that contains
// the working directory, or else of the one that the variable LEARNCAUSAL_CHECKOUT names, as the kernel of notebooks
// sets it, or else of the one that contains the program, as in .tools/bin.
func Checkout(name string) (string, error) {
	wd, err := os.Getwd()
	if err != nil {
		return "", err
	}
	places := []string{wd}
	if named := os.Getenv("LEARNCAUSAL_CHECKOUT"); named != "" {
		places = append(places, named)
	}
	if program, err := os.Executable(); err == nil {
		if program, err = filepath.EvalSymlinks(program); err == nil {
			places = append(places, filepath.Dir(program))
		}
	}
	for _, dir := range places {
		for ; ; dir = filepath.Dir(dir) {
			mod, err := Read(filepath.Join(dir, "go.mod"), 1<<20)
			if err == nil && modfile.ModulePath(mod) == Module {
				return filepath.Join(dir, name), nil
			}
			if dir == filepath.Dir(dir) {
				break
			}
		}
	}
	return "", fmt.Errorf("no checkout of %s contains %s: change to one, as with paper -C FOLDER",
		Module, strings.Join(places, " or "))
}

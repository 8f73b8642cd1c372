package files

import (
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/mod/modfile"
)

// Module is the path of this module.
const Module = "learncausal"

// Checkout returns the path of a file or folder at the top of the checkout of this module
// that contains the working directory.
func Checkout(name string) (string, error) {
	wd, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for dir := wd; ; dir = filepath.Dir(dir) {
		mod, err := Read(filepath.Join(dir, "go.mod"), 1<<20)
		if err == nil && modfile.ModulePath(mod) == Module {
			return filepath.Join(dir, name), nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("%s is in no checkout of %s: "+
				"change to one, or name the folder (--store, -o)", wd, Module)
		}
	}
}

package main

import (
	"crypto/sha256"
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

//go:embed inside.go.txt
var inside string

//go:embed worker.go.txt
var workerSource string

// build compiles the ledger with the instrumented code and returns the points and
// the program.
func build(root, dir string, units []*unit) (points []point, program string, err error) {
	points, overlay, err := instrument(root, dir, units, map[string]string{"cmd/mutants/main.go": workerSource})
	if err != nil {
		return nil, "", err
	}
	program = filepath.Join(dir, "worker")
	return points, program, compile(root, "build", "-trimpath", "-overlay", overlay, "-o", program, "./cmd/mutants")
}

// instrument writes the instrumented code of the module at root, and more files,
// into the folder dir, and returns the points and the file that has the compiler
// read them in place of the module's own, the rest where it is.
func instrument(root, dir string, units []*unit, more map[string]string) (points []point, overlay string, err error) {
	replace := map[string]string{}
	write := func(name string, text []byte) error {
		to := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		replace[filepath.Join(root, name)] = to
		return os.WriteFile(to, text, 0o644)
	}
	for _, u := range units {
		for _, name := range slices.Sorted(maps.Keys(u.files)) {
			found, text := u.rewrite(name, len(points))
			points = append(points, found...)
			if err := write(name, text); err != nil {
				return nil, "", err
			}
		}
	}
	more = maps.Clone(more)
	more["pkg/mutant/mutant.go"] = inside +
		fmt.Sprintf("\n// Points is how many there are.\nconst Points = %d\n", len(points))
	for name, text := range more {
		if err := write(name, []byte(text)); err != nil {
			return nil, "", err
		}
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return nil, "", err
	}
	overlay = filepath.Join(dir, "overlay.json")
	return points, overlay, os.WriteFile(overlay, text, 0o644)
}

// compile runs the go command at root.
func compile(root string, args ...string) error {
	cmd := nicely("go", args...)
	cmd.Dir, cmd.Stderr = root, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("mutants: the instrumented code does not compile: %w", err)
	}
	return nil
}

// hash returns the hash of a file in hexadecimal.
func hash(file string) (string, error) {
	b, err := os.ReadFile(file)
	return fmt.Sprintf("%x", sha256.Sum256(b)), err
}

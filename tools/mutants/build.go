package main

import (
	"crypto/sha256"
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

//go:embed inside.go.txt
var inside string

//go:embed worker.go.txt
var workerSource string

// build writes the instrumented code of the module at root into the folder dir,
// compiles it together with the rest, which it reads where it is, and returns
// the points and the program.
func build(root, dir string, units []*unit) (points []point, program string, err error) {
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
			more, text := u.rewrite(name, len(points))
			points = append(points, more...)
			if err := write(name, text); err != nil {
				return nil, "", err
			}
		}
	}
	for name, text := range map[string]string{
		"pkg/mutant/mutant.go": inside +
			fmt.Sprintf("\n// Points is how many there are.\nconst Points = %d\n", len(points)),
		"cmd/mutants/main.go": workerSource,
	} {
		if err := write(name, []byte(text)); err != nil {
			return nil, "", err
		}
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return nil, "", err
	}
	file := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(file, overlay, 0o644); err != nil {
		return nil, "", err
	}
	program = filepath.Join(dir, "worker")
	cmd := exec.Command("go", "build", "-trimpath", "-overlay", file, "-o", program, "./cmd/mutants")
	cmd.Dir, cmd.Stderr = root, os.Stderr
	if err := cmd.Run(); err != nil {
		return nil, "", fmt.Errorf("mutants: the instrumented code does not compile: %w", err)
	}
	return points, program, nil
}

// hash returns the hash of a file in hexadecimal.
func hash(file string) (string, error) {
	b, err := os.ReadFile(file)
	return fmt.Sprintf("%x", sha256.Sum256(b)), err
}

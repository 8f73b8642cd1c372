package num

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// fused is an instruction of arm64 that multiplies and adds with one rounding, with
// the line of Go that it comes from. This compiler fuses wherever another compiler does,
// also a product that is stored in one statement and added in the next.
var fused = regexp.MustCompile(`(?m)\(([^()\s]+\.go:\d+)\)\s+(FN?M(?:ADD|SUB)[SD])\b`)

// fusedIn returns the places in the compiled packages of a folder's module that
// multiply and add with one rounding.
func fusedIn(t *testing.T, folder, module string, packages ...string) []string {
	t.Helper()
	cmd := exec.Command("go", append([]string{"build", "-trimpath", "-gcflags=" + module + "/...=-S"}, packages...)...)
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=arm64", "GOWORK=off")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%.2000s", err, out)
	}
	if !strings.Contains(string(out), "\tFMULD\t") {
		t.Fatalf("%v in the code for arm64: no product was found", packages)
	}
	var places []string
	for _, m := range fused.FindAllStringSubmatch(string(out), -1) {
		places = append(places, strings.TrimPrefix(m[1], module+"/")+" "+m[2])
	}
	slices.Sort(places)
	return slices.Compact(places)
}

// readSources reads the sources below a folder, which a test does not know of that has
// them compiled by another program: Go would take its last result for one of today.
func readSources(t *testing.T, folder string) {
	t.Helper()
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err == nil && filepath.Ext(path) == ".go" {
			_, err = os.ReadFile(path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// The code of a run, its measurement or a quantity of the proofs has no
// fused operation in it. The sizes of the arrays of training are whole numbers, which a
// fused operation does not change.
func TestNumericalPackagesFuseNothing(t *testing.T) {
	readSources(t, "..")
	readSources(t, "../../internal")
	counts := []string{"pkg/internal/engine/footprint.go", "pkg/train/memory.go"}
	for _, place := range fusedIn(t, "../..", "learncausal", "./internal/runs", "./pkg/theory") {
		file, _, _ := strings.Cut(place, ":")
		if !slices.Contains(counts, file) {
			t.Errorf("%s: write float64(a*b) + c, also where the product is stored before", place)
		}
	}
}

// assembled is an instruction of assembly for amd64 or arm64 that multiplies and adds
// with one rounding.
var assembled = regexp.MustCompile(`(?m)^\s+(VF(?:N?M(?:ADD|SUB)|MADDSUB|MSUBADD)\w+|FN?M(?:ADD|SUB)[SD]|VFML[AS])\s`)

// The assembly of this module, which is in internal, fuses nothing either.
func TestAssemblyFusesNothing(t *testing.T) {
	files := 0
	err := filepath.WalkDir("../internal", func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".s" {
			return err
		}
		files++
		text, err := os.ReadFile(path)
		if m := assembled.FindSubmatch(text); m != nil {
			t.Errorf("%s: %s", path, m[1])
		}
		return err
	})
	if err != nil || files == 0 {
		t.Fatalf("%d files of assembly, %v", files, err)
	}
}

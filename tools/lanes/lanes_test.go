package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// The committed files in internal/lanes equal the output of this program.
func TestKernelsAreThoseOfTheGenerator(t *testing.T) {
	dir := t.TempDir()
	asm, stubs := filepath.Join(dir, "lanes_amd64.s"), filepath.Join(dir, "stubs_amd64.go")
	if out, err := exec.Command("go", "run", ".", "-out", asm, "-stubs", stubs, "-pkg", "lanes").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, file := range []string{asm, stubs} {
		got, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		want, err := os.ReadFile(filepath.Join("../../internal/lanes", filepath.Base(file)))
		if err != nil {
			t.Fatal(err)
		}
		if below(got) != below(want) {
			t.Errorf("%s differs from what is generated; go generate in this folder writes it", filepath.Base(file))
		}
	}
}

// below returns the text after its first line, which has the command.
func below(text []byte) string {
	for i, c := range text {
		if c == '\n' {
			return string(text[i:])
		}
	}
	return ""
}

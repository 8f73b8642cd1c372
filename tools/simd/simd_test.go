package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// The committed file in pkg/internal/simd equals the output of this program.
func TestKernelsAreThoseOfTheGenerator(t *testing.T) {
	asm := filepath.Join(t.TempDir(), "simd_amd64.s")
	if out, err := exec.Command("go", "run", ".", "-out", asm).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	got, err := os.ReadFile(asm)
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("../../pkg/internal/simd/simd_amd64.s")
	if err != nil {
		t.Fatal(err)
	}
	if below(got) != below(want) {
		t.Error("simd_amd64.s differs from the program's output; go generate in this folder writes it")
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

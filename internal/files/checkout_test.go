package files

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestCheckoutIsInThisModule(t *testing.T) {
	want, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir, err := Checkout("runs")
	if err != nil || dir != filepath.Join(want, "runs") {
		t.Errorf("%s, %v, want runs in %s", dir, err, want)
	}
	t.Chdir(foreign(t))
	if dir, err := Checkout("runs"); err == nil || !strings.Contains(err.Error(), Module) {
		t.Fatalf("%s, %v in another module, want an error that names %s", dir, err, Module)
	}
	t.Setenv("LEARNCAUSAL_CHECKOUT", want) // as the kernel of notebooks sets it
	if dir, err := Checkout("runs"); err != nil || dir != filepath.Join(want, "runs") {
		t.Errorf("%s, %v, want runs in the checkout that the kernel names, %s", dir, err, want)
	}
}

// A program that stands in a checkout finds it from any folder, also behind a link.
func TestCheckoutOfTheProgram(t *testing.T) {
	if os.Getenv("CHECKOUT_OF_THE_PROGRAM") != "" {
		dir, err := Checkout("runs")
		fmt.Printf("%s %v\n", dir, err)
		return
	}
	top, bin := t.TempDir(), t.TempDir()
	program := filepath.Join(top, ".tools", "bin", "paper")
	self, err := os.ReadFile(os.Args[0])
	if err == nil {
		err = os.MkdirAll(filepath.Dir(program), 0o777)
	}
	link := filepath.Join(bin, "paper")
	err = errors.Join(err, os.WriteFile(filepath.Join(top, "go.mod"), []byte("module "+Module+"\n"), 0o666),
		os.WriteFile(program, self, 0o777), os.Symlink(program, link))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{program, link} {
		c := exec.Command(path, "-test.run=^TestCheckoutOfTheProgram$")
		c.Dir, c.Env = bin, append(os.Environ(), "CHECKOUT_OF_THE_PROGRAM=1")
		out, err := c.Output()
		if want := filepath.Join(top, "runs") + " <nil>\n"; err != nil || !strings.HasPrefix(string(out), want) {
			t.Errorf("%s: %s, %v, want %s", path, out, err, want)
		}
	}
}

// foreign returns a folder with another module.
func foreign(t *testing.T) string {
	t.Helper()
	other := t.TempDir()
	if err := os.WriteFile(filepath.Join(other, "go.mod"), []byte("module example.org/other\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	return other
}

package files

import (
	"os"
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

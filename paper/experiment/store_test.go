package experiment

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestDirIsThatOfThisModule(t *testing.T) {
	want, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir, err := Dir("runs")
	if err != nil || dir != filepath.Join(want, "runs") {
		t.Errorf("%s, %v, want runs in %s", dir, err, want)
	}

	// The module of somebody else is passed by.
	other := t.TempDir()
	if err := os.WriteFile(filepath.Join(other, "go.mod"), []byte("module example.org/other\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	t.Chdir(other)
	if dir, err := Dir("runs"); err == nil || !strings.Contains(err.Error(), module) {
		t.Fatalf("%s, %v in another module, want an error that names %s", dir, err, module)
	}
	if _, err := Stored(nil)(t.Context(), Specs()[0]); err == nil {
		t.Error("a run was found in another module")
	}
}

func TestNamesAreFoundAndOthersAreListed(t *testing.T) {
	for _, e := range All() {
		if got, err := Named(e.Name); err != nil || got.Title != e.Title {
			t.Errorf("%s: %v", e.Name, err)
		}
	}
	for _, m := range append(MultiParents(), PrintedParents()...) {
		if got, err := MultiParentNamed(m.Name); err != nil || got.Short != m.Short {
			t.Errorf("%s: %v", m.Name, err)
		}
	}
	if _, err := MultiParentNamed("fivegram"); err == nil || !strings.Contains(err.Error(), "fourgram") {
		t.Errorf("error %v, want one that lists the names", err)
	}
}

package trial

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"learncausal/pkg/graph"
	"learncausal/pkg/train"
)

func TestDirIsInTheCheckoutOfThisModule(t *testing.T) {
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
	if dir, err := Dir("runs"); err == nil || !strings.Contains(err.Error(), Module) {
		t.Fatalf("%s, %v in another module, want an error that names %s", dir, err, Module)
	}
	if _, err := Stored(nil)(t.Context(), liveSpec()); err == nil {
		t.Error("a run was found in another module")
	}
}

func liveSpec() train.Spec {
	return train.Spec{
		Task:      train.Task1{Parents: graph.InContext(6).Parents(), States: 3, Prior: "dirichlet(0.3)"},
		Model:     train.Disentangled{Heads: [2]int{1, 1}},
		Optimiser: train.SGD{Rate: 1, Schedule: train.Constant},
		Batch:     16, Steps: 40, Test: 64, Every: 16,
	}
}

package figures

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"learncausal/internal/files"
	"learncausal/paper/trial"
	"learncausal/pkg/num"
)

// The store has the Bayes losses of the paper's runs and nothing else. The test computes
// some losses of each set again, selected by the day; all with FRESH=1.
func TestStoredBayesLossesAreReproduced(t *testing.T) {
	dir, err := files.Checkout("runs/bayes")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	day := uint64(trial.Today())
	for _, s := range BayesSets() {
		path, err := s.File()
		if err != nil {
			t.Fatal(err)
		}
		k := slices.Index(files, path)
		if k < 0 {
			t.Errorf("%s is not stored: make train", path)
			continue
		}
		files = slices.Delete(files, k, k+1)
		l, err := s.Losses(t.Context())
		if err != nil {
			t.Error(err)
			continue
		}
		some := rand.New(num.Stream(day, filepath.Base(path))).Perm(s.Sequences)
		if os.Getenv("FRESH") == "" {
			some = some[:16]
		}
		if err := s.Confirm(t.Context(), l, some...); err != nil {
			t.Error(err)
		}
	}
	for _, f := range files {
		t.Errorf("nothing asks for %s", f)
	}
}

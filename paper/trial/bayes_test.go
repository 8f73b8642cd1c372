package trial

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"learncausal/internal/files"
	"learncausal/internal/property"
	"learncausal/pkg/train"
)

// smallSet is a set in a checkout of its own, with its losses and their file.
func smallSet(t *testing.T) (s BayesSet, l *BayesLosses, path string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module "+files.Module+"\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	s = BayesSet{
		Version: train.Version, Task: train.Task1{Parents: []int{-1, 0, -1}, States: 2, Prior: "dirichlet(1)"},
		Seed: 3, Sequences: 20, Draws: 10,
	}
	l, err := s.Losses(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if path, err = s.File(); err != nil {
		t.Fatal(err)
	}
	return s, l, path
}

func TestBayesLossesAreStored(t *testing.T) {
	s, want, path := smallSet(t)
	before, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.Losses(t.Context())
	if err != nil || !slices.Equal(got.Loss, want.Loss) || !slices.Equal(got.ESS, want.ESS) {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
	if after, err := os.Stat(path); err != nil || !after.ModTime().Equal(before.ModTime()) {
		t.Errorf("written again: %v", err)
	}
	if err := s.Confirm(t.Context(), got, 0, 7, 19); err != nil {
		t.Error(err)
	}
}

func TestWrongBayesLossesAreFound(t *testing.T) {
	s, l, _ := smallSet(t)
	for what, v := range map[string][]float64{"loss": l.Loss, "effective sample size": l.ESS} {
		right := v[7]
		v[7] = math.Nextafter(right, 100)
		err := s.Confirm(t.Context(), l, 7)
		if err == nil || !strings.Contains(err.Error(), what+" of sequence 7") {
			t.Errorf("%v, want an error that names the %s of sequence 7", err, what)
		}
		v[7] = right
	}
}

func TestDamagedBayesLossesAreRefused(t *testing.T) {
	s, _, path := smallSet(t)
	right, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	other := s
	other.Seed++
	if _, err := other.Losses(t.Context()); err != nil {
		t.Fatal(err)
	}
	file, err := other.File()
	if err != nil {
		t.Fatal(err)
	}
	foreign, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	refuse := func(b []byte) {
		if err := os.WriteFile(path, b, 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Losses(t.Context()); err == nil || !strings.Contains(err.Error(), path) {
			t.Fatalf("%q: %v, want an error that names the file", b, err)
		}
	}
	refuse(foreign)
	refuse(append(slices.Clone(right), 0))
	for i := range right {
		refuse(right[:i])
	}
	property.Damages(right, refuse)
}

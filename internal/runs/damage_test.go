package runs

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"learncausal/internal/property"
	"learncausal/pkg/train"
)

// Every single-bit flip of every file of a run, a light run and a checkpoint is refused by
// name, and so are changes of two bytes.
func TestEveryDamagedBitIsRefused(t *testing.T) {
	spec := fuzzSpec()
	spec.Task, spec.Steps, spec.Every = train.Task1{Parents: []int{-1, -1}, States: 2, Prior: "dirichlet(1)"}, 4, 4
	spec.Optimiser = train.SGD{Rate: 1, Schedule: train.Constant}
	run := func(dir string) error { _, err := decodeRun(dir); return err }
	for _, c := range []struct {
		kind  string
		ctx   context.Context
		light bool
		files string // in the store
		read  func(dir string) error
	}{
		{"run", t.Context(), false, Address(spec) + "/*", run},
		{"light run", t.Context(), true, Address(spec) + "/*", run},
		{
			"checkpoint", &countdown{t.Context(), 3}, false, ".unfinished/*/" + checkpointName,
			func(dir string) error {
				_, _, err := readCheckpoint(filepath.Join(dir, checkpointName), Address(spec))
				return err
			},
		},
	} {
		s := testStore(t.TempDir())
		if _, err := s.Get(c.ctx, spec, Options{WithoutWeights: c.light}); err != nil && !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		paths, err := filepath.Glob(filepath.Join(s.Dir, c.files))
		if err != nil || len(paths) == 0 {
			t.Fatalf("%s: %q, %v", c.kind, paths, err)
		}
		for _, path := range paths {
			good, err1 := os.ReadFile(path)
			f, err2 := os.OpenFile(path, os.O_RDWR, 0)
			if err := errors.Join(err1, err2); err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			accepted := 0
			property.Damages(good, func(b []byte) {
				if _, err := f.WriteAt(b, 0); err != nil {
					t.Fatal(err)
				}
				if err := c.read(filepath.Dir(path)); err == nil || !strings.Contains(err.Error(),
					filepath.Base(path)+" refused: ") {
					accepted++
				}
			})
			if accepted > 0 {
				t.Errorf("%s: %d damages of %s are accepted, or refused without its name", c.kind, accepted, path)
			}
			f.WriteAt(good, 0)
		}
	}
}

// A file whose content is intact is refused with the command that repairs it, without the
// advice to delete the file.
func TestIntactFileIsRepairedByTheCommandOfItsError(t *testing.T) {
	for _, file := range []string{manifestName, curveName, attentionName} {
		s := testStore(t.TempDir())
		path := filepath.Join(s.Dir, get(t, s, Options{WithoutWeights: true}).Address, file)
		b, err := os.ReadFile(path)
		if err == nil {
			err = os.WriteFile(path, bytes.ReplaceAll(b, []byte("\n"), []byte("\r\n")), 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.Get(t.Context(), testSpec, Options{WithoutWeights: true})
		const repair = `s/\r$//`
		property.Mentions(t, err, path+" refused: ", "CRLF", repair)
		if out, err := exec.Command("sed", "-i", repair, path).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		if r := get(t, s, Options{WithoutWeights: true}); r.Origin != Loaded {
			t.Errorf("%s: %s", file, r.Origin)
		}
	}
}

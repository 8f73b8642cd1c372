package report

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"learncausal/pkg/runs"
	"learncausal/pkg/train"
)

// stored is a Getter that loads and never trains.
func stored(_ context.Context, spec train.Spec) (*runs.Run, error) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return Stored(nil)(ctx, spec)
}

func TestEveryRunIsStored(t *testing.T) {
	for _, s := range Specs() {
		if _, err := stored(t.Context(), s); err != nil {
			t.Error(err)
		}
	}
}

// A trained model cannot have a smaller expected loss than the Bayes predictor.
// A paired difference below -4 standard errors has false-alarm probability 3e-5.
func TestNoTrainedModelBeatsTheBayesPredictor(t *testing.T) {
	specs := []train.Spec{ManyGraphs()[0].Spec(0), ManyGraphs()[13].Spec(1)}
	for _, e := range SingleParents() {
		specs = append(specs, e.Spec())
	}
	for _, spec := range specs {
		r, err := stored(t.Context(), spec)
		if err != nil {
			t.Fatal(err)
		}
		l, err := CompareLosses(r, 1<<11, 128)
		if err != nil {
			t.Fatal(err)
		}
		if z := l.ModelLessBayes.Z(); z < -4 {
			t.Errorf("run %s is %.1f standard errors below the Bayes predictor: %+v", r.Address, z, l)
		}
		// The test can fail: who knows pi does beat it.
		if l.Entropy.Mean > l.Bayes.Mean-10*l.Bayes.StdErr {
			t.Errorf("run %s: entropy %v is not far below the Bayes risk %v", r.Address, l.Entropy, l.Bayes)
		}
	}
}

func TestStoredRunsReplay(t *testing.T) {
	var rs []*runs.Run
	for _, spec := range []train.Spec{SingleParents()[2].Spec(), ManyGraphs()[19].Spec(Seeds - 1)} {
		r, err := stored(t.Context(), spec)
		if err != nil {
			t.Fatal(err)
		}
		rs = append(rs, r)
	}
	if _, err := Replay(t.Context(), nil, rs...); err != nil {
		t.Error(err)
	}
	rs[0].Final.Disentangled().W[7] += 1e-15
	if _, err := Replay(t.Context(), nil, rs...); err == nil {
		t.Error("a changed weight was not found")
	}
}

// The committed figures, tables and numbers are what the stored runs give.
func TestExportGivesTheCommittedFiles(t *testing.T) {
	report, err := Build(t.Context(), stored)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := report.Export(dir); err != nil {
		t.Fatal(err)
	}
	made, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range made {
		want, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(filepath.Join(Dir("figures"), f.Name())); err != nil || !bytes.Equal(got, want) {
			t.Errorf("figures/%s is not what the runs give: run make reproduce and commit it (%v)", f.Name(), err)
		}
	}
	kept, err := os.ReadDir(Dir("figures"))
	if err != nil {
		t.Fatal(err)
	}
	if len(kept) != len(made) {
		t.Errorf("figures/ holds %d files, %d are exported", len(kept), len(made))
	}
}

// Package runs stores training runs. The address of a run is a hash of everything that determines its bytes.
// [Store.Get] loads the run of a spec, or trains and stores it:
//
//	run, err := runs.Open("runs").Get(ctx, spec, runs.Options{Meter: runs.Terminal(os.Stderr)})
//
// A finished run is a folder of the store:
//
//	<address>/run.json             spec, version, digests of the state, SHA-256 of all files
//	<address>/curve.csv            step, loss, attention: the evaluations on the test set
//	<address>/attention.csv        attention of the first layer after the last step
//	<address>/weights-<step>.npz   A1, A2, W at a milestone, one file for each
//
// A light run has no weights, see [Options]. [Run.Replay] retrains parts of a run and compares them bit by bit.
//
// Training under way is a checkpoint in <store>/.unfinished, replaced every half minute. A killed process loses
// at most half a minute, and the run ends in the same bytes.
//
// A damaged or altered file is refused with an error that names it. It is never used and never overwritten.
package runs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"learncausal/internal/files"
	"learncausal/pkg/train"
)

// A Store is a folder of runs.
//
// Any number of processes on any number of machines may share it. A finished run appears
// in one rename, which local file systems and NFS perform atomically. If two processes
// train the same run, both write the same bytes and the first to finish is kept.
//
// A lock, flock(2) on <store>/.unfinished/<address>.lock, lets one process train a run
// while the others wait. It ends with its process. It reaches across machines if the file
// system supports that (NFS from version 4 or with lockd; Lustre mounted with flock).
// Without locks, as under WebAssembly, two processes may do the same work.
type Store struct {
	Dir string

	interval time.Duration // between two checkpoints
}

// Open returns the store in the folder dir, which the first training creates.
func Open(dir string) *Store {
	return &Store{Dir: dir, interval: 30 * time.Second}
}

// Options control how Get produces a run. They do not change its bytes.
type Options struct {
	Workers int   // goroutines in training; GOMAXPROCS if not positive
	Meter   Meter // shows the progress of training; may be nil

	// Fresh retrains a stored run in a scratch folder and compares the bytes. Get then
	// returns the stored run with Origin Confirmed, or an error that names the files that
	// differ and both folders. Interrupted, it resumes in the same [Program]; a different
	// program starts from step 0. A run that is not stored is trained as usual.
	Fresh bool

	// WithoutWeights accepts a run without weights, and stores a new one so: curve, attention and digests, a few
	// kilobytes. A run that Get has just trained has its weights in Final, also with Fresh. If a light run is
	// stored and WithoutWeights is false, Get retrains and compares it as with Fresh, and adds the weights.
	WithoutWeights bool
}

// Origin is the way in which Get produced a run.
type Origin string

// The origins.
const (
	Loaded    Origin = "loaded"                             // from the store
	Trained   Origin = "trained"                            // and stored
	Confirmed Origin = "retrained, equal to the stored run" // with Options.Fresh
)

// Run is a finished training run.
type Run struct {
	Spec       train.Spec // canonical
	Address    string
	Origin     Origin
	Final      train.Snapshot   // after the last step; without weights in a light run that is loaded
	Curve      []train.Point    // the evaluations on the test set; Final.Curve
	Edges      []train.Edge     // attention of the first layer after the last step, see train.Spec.Edges
	Milestones []train.Snapshot // the stored snapshots by step, the last without moments; none in a light run

	states []string // digests at the marks of the plan
}

// WithoutWeights reports whether the run is without weights.
func (r *Run) WithoutWeights() bool { return len(r.Milestones) == 0 }

// light returns the run without weights.
func (r *Run) light() *Run {
	l := *r
	l.Milestones, l.Final.Weights, l.Final.Moments = nil, nil, nil
	return &l
}

// Get returns the run of spec: loaded if it is stored; otherwise trained, from its
// checkpoint if there is one, and stored. It returns an error if the spec is wrong or has no
// address, if training takes too much memory, if it diverges, or if a file is refused.
//
// When ctx is cancelled, training stops after the current step and keeps a checkpoint.
// The error wraps ctx.Err() and names the step. The next Get resumes.
func (s *Store) Get(ctx context.Context, spec train.Spec, opt Options) (*Run, error) {
	p, err := newPlan(spec)
	if err != nil {
		return nil, err
	}
	opt.Meter = Quiet(opt.Meter)
	work := filepath.Join(s.Dir, ".unfinished", p.Address)
	j := &job{p, opt, s.interval, filepath.Join(s.Dir, p.Address), work}
	run, err := j.load()
	if err != nil {
		return nil, err
	}
	if j.accepts(run) {
		tidy(j.work, j.stored)
		return run, nil
	}
	if run != nil {
		self, err := Program()
		if err != nil {
			return nil, err
		}
		j.work += "-fresh-" + self
	}
	unlock, err := lock(ctx, j.work+".lock", p.Spec.Steps, j.Meter)
	if err != nil {
		return nil, err
	}
	defer unlock()
	return j.produce(ctx)
}

// A job is one call of Get.
type job struct {
	*plan
	Options
	interval     time.Duration // between two checkpoints
	stored, work string        // folders of the finished run and of its training
}

// load returns the stored run, or nil if the store has no entry of its name.
func (j *job) load() (*Run, error) {
	if _, err := os.Lstat(j.stored); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return decodeRun(j.stored)
}

// accepts reports whether a loaded run satisfies the options.
func (j *job) accepts(r *Run) bool {
	return r != nil && !j.Fresh && (j.WithoutWeights || !r.WithoutWeights())
}

// temporary returns the stem of the temporary files of the run. They are outside of its folder, which is renamed.
func (j *job) temporary() string { return j.work + "~" }

// produce trains the run, stores it or compares it with the stored run, and loads it back. Another process may
// finish the run first: while this one waited for the lock, or during training where there are no locks.
func (j *job) produce(ctx context.Context) (*Run, error) {
	defer files.Clean(j.temporary(), 0)
	run, err := j.load()
	if err != nil || j.accepts(run) {
		return run, err
	}
	origin := Trained
	trained, err := j.train(ctx)
	if err == nil && run == nil {
		err = j.store(trained)
	} else if err == nil {
		origin, err = Confirmed, j.confirm(trained, run.WithoutWeights())
	}
	run, failed := decodeRun(j.stored)
	if err != nil && j.accepts(run) {
		os.RemoveAll(j.work)
		return run, nil
	}
	if err = cmp.Or(err, failed); err != nil {
		return nil, err
	}
	run.Origin = origin
	if run.WithoutWeights() {
		run.Final.Weights = trained.Final.Weights
	}
	return run, nil
}

// store writes the run, without weights if WithoutWeights, and removes its checkpoint. It writes next
// to the checkpoint and renames the folder, so that a process killed before can resume.
func (j *job) store(trained *Run) error {
	if j.WithoutWeights {
		trained = trained.light()
	}
	files := trained.encode()
	clean(j.work, files)
	err := writeFiles(j.temporary(), j.work, files)
	if err == nil {
		err = os.Rename(j.work, j.stored)
	}
	if err == nil {
		syncFolder(filepath.Dir(j.stored))
		os.Remove(filepath.Join(j.stored, checkpointName))
	}
	return err
}

// confirm compares a retrained run with the stored one, and adds weights to a light run if the options require
// them. If the two differ, it leaves the files of the retrained run in the folder of training.
func (j *job) confirm(trained *Run, light bool) error {
	if err := os.RemoveAll(j.work); err != nil {
		return err
	}
	whole := trained.encode()
	same := whole
	if light {
		same = trained.light().encode()
	}
	if names := differing(same, j.stored); len(names) > 0 {
		return errors.Join(writeFiles(j.temporary(), j.work, same),
			fmt.Errorf("runs: retraining gave other bytes than those stored in %s: %q differ, see %s",
				j.stored, names, j.work))
	}
	if light && !j.WithoutWeights {
		return writeFiles(j.temporary(), j.stored, whole)
	}
	return nil
}

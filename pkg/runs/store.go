// Package runs keeps training runs, each under an address that is a hash of
// everything that determines its bytes. Asking for a run loads it or trains it:
//
//	run, err := runs.Open("runs").Get(ctx, spec, runs.Options{Meter: runs.Terminal(os.Stderr)})
//
// A finished run is a folder of the store,
//
//	<address>/run.json             specification, version, SHA-256 of the other files
//	<address>/curve.csv            step, loss, attention: the evaluations on the test set
//	<address>/weights-<step>.npz   A1, A2, W after so many steps, one file per milestone
//
// that appears in one rename and is checked against its sums whenever it is
// loaded. Run.Replay checks more: it trains stretches of the run again.
//
// Training under way lives in <store>/.unfinished, where a checkpoint is
// replaced at least every half minute. A process killed at any moment
// therefore loses half a minute, and the run ends in the same bytes. Only one
// process at a time trains a run; the others wait for it.
//
// A file that is damaged, or is not what its place says, is refused with an
// error naming it. It is never used and never overwritten.
package runs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"learncausal/pkg/train"
)

// Store is a folder of runs.
type Store struct {
	Dir string

	interval time.Duration // between two checkpoints
}

// Open returns the store in the folder dir, which is made when a run is trained.
func Open(dir string) *Store {
	return &Store{Dir: dir, interval: 30 * time.Second}
}

// Options say how to produce a run. None of them changes its bytes.
type Options struct {
	Workers int   // goroutines in training; GOMAXPROCS if not positive
	Meter   Meter // told of the progress of training, not of loading; may be nil

	// Fresh trains a stored run anew, in a scratch folder, and compares the
	// result with the stored bytes: Get returns the stored run with
	// Origin Confirmed, or an error naming the files that differ and where
	// both versions are. Stopped before its end, it resumes when asked again.
	// A run that is not stored is trained as usual.
	Fresh bool
}

// Meter shows the progress of training.
type Meter interface {
	Update(done, total int, status string) // done of total steps
	Done(status string)                    // training ended, well or not
}

// Origin says how Get came by a run.
type Origin string

// The origins.
const (
	Loaded    Origin = "loaded"                                  // from the store
	Trained   Origin = "trained"                                 // and stored
	Confirmed Origin = "trained anew, equal to the stored bytes" // with Options.Fresh
)

// Run is a finished training run.
type Run struct {
	Spec       train.Spec
	Address    string
	Origin     Origin
	Final      train.Snapshot   // after Spec.Steps steps; the last of Milestones
	Curve      []train.Point    // the evaluations on the test set; Final.Curve
	Milestones []train.Snapshot // the snapshots kept, by step
}

// Get returns the run of spec: loaded if it is stored, otherwise trained, from
// its checkpoint if there is one, and stored. Its Spec is the canonical one, see
// [train.Spec.Canonical]. There is an error if the spec is wrong, if it has no
// address, if training it takes too much memory or if it diverges.
//
// When ctx is cancelled, training stops after the step under way, a checkpoint
// is kept, and the error, which wraps ctx.Err(), says where; asking again resumes.
func (s *Store) Get(ctx context.Context, spec train.Spec, opt Options) (*Run, error) {
	if err := spec.Validate(); err != nil {
		return nil, fmt.Errorf("runs: %w", err)
	}
	spec = spec.Canonical()
	id, err := identify(spec)
	if err != nil {
		return nil, err
	}
	if opt.Meter == nil {
		opt.Meter = silent{}
	}
	stored := filepath.Join(s.Dir, id.Address)
	run, err := load(stored, id)
	if err != nil || run != nil && !opt.Fresh {
		return run, err
	}

	work := filepath.Join(s.Dir, ".unfinished", id.Address)
	if run != nil {
		work += "-fresh"
	}
	unlock, err := lock(ctx, work+".lock", spec.Steps, opt.Meter)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if run == nil { // another process may have finished it meanwhile
		if run, err := load(stored, id); err != nil || run != nil {
			return run, err
		}
	}

	milestones, err := s.train(ctx, id, work, opt)
	if err != nil {
		return nil, err
	}
	files, err := encodeRun(id, milestones)
	if err != nil {
		return nil, err
	}
	if run != nil {
		if err := confirm(files, stored, work); err != nil {
			return nil, err
		}
		run.Origin = Confirmed
		return run, os.RemoveAll(work)
	}
	ready := filepath.Join(work, "finished")
	if err := writeFolder(ready, files); err != nil {
		return nil, err
	}
	if err := rename(ready, stored); err != nil {
		return nil, err
	}
	if run, err = load(stored, id); err != nil {
		return nil, err
	}
	run.Origin = Trained
	return run, os.RemoveAll(work)
}

// load returns the run id stored in the folder dir, or nil if there is no such
// folder.
func load(dir string, id manifest) (*Run, error) {
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	milestones, err := decodeRun(dir, id)
	if err != nil {
		return nil, err
	}
	final := milestones[len(milestones)-1]
	return &Run{
		Spec: id.Spec, Address: id.Address, Origin: Loaded,
		Final: final, Curve: final.Curve, Milestones: milestones,
	}, nil
}

// train trains the run id to its end, keeping checkpoints in the folder work, and
// returns the milestones.
func (s *Store) train(ctx context.Context, id manifest, work string, opt Options) ([]train.Snapshot, error) {
	spec, address := id.Spec, id.Address
	t, err := train.New(spec, opt.Workers)
	if err != nil {
		return nil, fmt.Errorf("runs: run %s: %w", address, err)
	}
	path := filepath.Join(work, checkpointName)
	c, err := readCheckpoint(path, address)
	if err != nil {
		return nil, err
	}
	how := "from the start"
	if c.Now.Weights != nil {
		if err := t.Restore(c.Now); err != nil {
			return nil, refuseCheckpoint(path, err.Error())
		}
		how = "resumed"
	}
	if c.Spec, err = json.Marshal(spec); err != nil {
		return nil, err
	}
	save := func() error {
		c.Now = t.Snapshot()
		return writeCheckpoint(path, address, c)
	}

	opt.Meter.Update(t.Step(), spec.Steps, fmt.Sprintf("step %d/%d  %s", t.Step(), spec.Steps, how))
	saved, shown := time.Now(), time.Now()
	for stops := milestones(spec); ; {
		step := t.Step()
		if len(c.Milestones) < len(stops) && step == stops[len(c.Milestones)] {
			c.Milestones = append(c.Milestones, t.Snapshot())
		}
		if step >= spec.Steps {
			opt.Meter.Done(fmt.Sprintf("run %s  %d steps  loss %.3f", address, step, t.Loss()))
			return c.Milestones, nil
		}
		if ctx.Err() != nil {
			opt.Meter.Done(fmt.Sprintf("run %s  stopped at step %d/%d", address, step, spec.Steps))
			if err := save(); err != nil {
				return nil, err
			}
			return nil, fmt.Errorf("runs: run %s stopped at step %d of %d, "+
				"its checkpoint is kept and asking again resumes: %w", address, step, spec.Steps, ctx.Err())
		}
		if time.Since(saved) >= s.interval {
			if err := save(); err != nil {
				return nil, err
			}
			saved = time.Now()
		}
		if err := t.Advance(1); err != nil {
			opt.Meter.Done(fmt.Sprintf("run %s  diverged at step %d", address, t.Step()))
			return nil, fmt.Errorf("runs: run %s: %w", address, err)
		}
		if time.Since(shown) >= 100*time.Millisecond {
			opt.Meter.Update(t.Step(), spec.Steps, fmt.Sprintf("step %d/%d  loss %.3f", t.Step(), spec.Steps, t.Loss()))
			shown = time.Now()
		}
	}
}

// lock makes this process the only one to work on the file path, a lock that the
// operating system takes back when the process ends, however it ends. It waits
// for a process that holds it. The file itself is empty and stays.
func lock(ctx context.Context, path string, steps int, m Meter) (unlock func() error, err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return nil, err
	}
	l := flock.New(path)
	ok, err := l.TryLock()
	if err == nil && !ok {
		m.Update(0, steps, "waiting: another process is training this run")
		_, err = l.TryLockContext(ctx, 100*time.Millisecond)
		m.Done("waited for another process")
	}
	if err != nil {
		return nil, fmt.Errorf("runs: no lock on %s: %w", path, err)
	}
	return l.Unlock, nil
}

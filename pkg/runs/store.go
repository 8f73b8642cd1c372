// Package runs keeps training runs, each under an address that is a hash of
// everything that determines its bytes. Asking for a run loads it or trains it:
//
//	run, err := runs.Open("runs").Get(ctx, spec, runs.Options{Meter: runs.Terminal(os.Stderr)})
//
// A finished run is a folder of the store,
//
//	<address>/run.json             specification, version, digests of the state along
//	                               training, SHA-256 of the other files
//	<address>/curve.csv            step, loss, attention: the evaluations on the test set
//	<address>/attention.csv        where the first layer attends at the end
//	<address>/weights-<step>.npz   A1, A2, W after so many steps, one file per milestone
//
// that appears in one rename and is checked against its sums whenever it is
// loaded. A light run, see [Options], has no weights. [Run.Replay] checks more: it
// trains parts of the run again.
//
// Training under way lives in <store>/.unfinished, where a checkpoint is
// replaced at least every half minute. A process killed at any moment
// therefore loses half a minute, and the run ends in the same bytes. The folder of the
// checkpoint is the one that becomes that of the finished run, so that none is left
// from which training could go on.
//
// Any number of processes, on any number of machines, may share a store: files and
// finished runs appear under their names by a rename, which a file system has to do in
// one step, as local ones and NFS do. Of two that train one run each writes the same
// bytes, and the first to finish is kept. That only one trains a run, and the others
// wait for it, is the work of a lock, flock(2) on <store>/.unfinished/<address>.lock,
// which ends with its process. It reaches across machines where the file system says
// so (NFS from version 4 or with lockd; Lustre mounted with flock); where there are no
// locks at all, as under WebAssembly, two may do the same work, and nothing is lost.
//
// A file that is damaged, or is not what its place says, is refused with an
// error naming it. It is never used and never overwritten. A sum that is right does not
// make it so: nothing but a regular file of the expected size is read, nothing is taken
// but what would be written in the same bytes, and nothing that a file says of sizes is
// believed before that.
package runs

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
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
	// both versions are. Stopped before its end, it resumes when the same
	// [Program] asks again; another one begins anew.
	// A run that is not stored is trained as usual.
	Fresh bool

	// Light is content with a run without weights, and stores one that is trained
	// so: its curve, its attention and the digests of its states, a few kilobytes.
	// What Get has just trained, also with Fresh, has its weights in Final.
	// Where a light run is stored and weights are asked for, it is trained anew,
	// as with Fresh, and they are added to it.
	Light bool
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
	Final      train.Snapshot   // after the last step; has no weights in a light run that is loaded
	Curve      []train.Point    // the evaluations on the test set; Final.Curve
	Edges      []train.Edge     // where the first layer attends after the last step, see train.Spec.Edges
	Milestones []train.Snapshot // the snapshots kept, by step; none in a light run

	states []string // digests at the marks of the plan
}

// Light tells whether the run is without weights.
func (r *Run) Light() bool { return len(r.Milestones) == 0 }

// light returns the run without weights.
func (r *Run) light() *Run {
	l := *r
	l.Milestones, l.Final.Weights, l.Final.Moments = nil, nil, nil
	return &l
}

// answers tells whether the run is what is asked for.
func (r *Run) answers(opt Options) bool { return r != nil && !opt.Fresh && (opt.Light || !r.Light()) }

// Get returns the run of spec: loaded if it is stored, otherwise trained, from
// its checkpoint if there is one, and stored. Its Spec is the canonical one, see
// [train.Spec.Canonical]. There is an error if the spec is wrong, if it has no
// address, if training it takes too much memory or if it diverges.
//
// When ctx is cancelled, training stops after the step under way, a checkpoint
// is kept, and the error, which wraps ctx.Err(), says where; asking again resumes.
func (s *Store) Get(ctx context.Context, spec train.Spec, opt Options) (*Run, error) {
	p, err := newPlan(spec)
	if err != nil {
		return nil, err
	}
	if opt.Meter == nil {
		opt.Meter = silent{}
	}
	stored := filepath.Join(s.Dir, p.Address)
	work := filepath.Join(s.Dir, ".unfinished", p.Address)
	run, err := load(stored, p)
	if err != nil {
		return nil, err
	}
	if run.answers(opt) {
		tidy(work, stored)
		return run, nil
	}
	if run != nil {
		self, err := Program()
		if err != nil {
			return nil, err
		}
		work += "-fresh-" + self
	}
	unlock, err := lock(ctx, work+".lock", p.Spec.Steps, opt.Meter)
	if err != nil {
		return nil, err
	}
	defer unlock()
	// Another process may have finished it meanwhile.
	if run, err = load(stored, p); err != nil || run.answers(opt) {
		return run, err
	}
	made, err := s.produce(ctx, p, run, work, stored, opt)
	if err != nil {
		// Without locks another process may have been first.
		if run, _ := load(stored, p); run.answers(opt) {
			os.RemoveAll(work)
			return run, nil
		}
	}
	return made, err
}

// tidy removes what a killed process may have left of a run that is stored, unless another
// one is at it.
func tidy(work, stored string) {
	if _, err := os.Stat(work); err == nil {
		l := flock.New(work + ".lock")
		if ok, err := l.TryLock(); !ok && !errors.Is(err, errors.ErrUnsupported) {
			return
		}
		defer l.Unlock()
		os.RemoveAll(work)
	}
	os.Remove(filepath.Join(stored, checkpointName))
}

// Program returns the beginning of a hash of this program, in hexadecimal digits. It is
// computed once.
var Program = sync.OnceValues(func() (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", err
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	_, err = io.Copy(h, f)
	return fmt.Sprintf("%x", h.Sum(nil)[:8]), err
})

// produce trains a run in the folder work and stores it, or compares it with the run that
// is stored.
func (s *Store) produce(ctx context.Context, p *plan, run *Run, work, stored string, opt Options) (*Run, error) {
	trained, err := s.train(ctx, p, work, opt)
	if err != nil {
		return nil, err
	}
	if run == nil {
		return store(trained, p, work, stored, opt)
	}
	return confirm(trained, run, p, work, stored, opt)
}

// store stores a run that was trained in the folder work, and returns it.
func store(trained *Run, p *plan, work, stored string, opt Options) (*Run, error) {
	final := trained.Final.Weights
	if opt.Light {
		trained = trained.light()
	}
	if err := publish(trained.encode(), work, stored); err != nil {
		return nil, err
	}
	os.Remove(filepath.Join(stored, checkpointName))
	run, err := decodeRun(stored, p)
	if err != nil {
		return nil, err
	}
	run.Origin = Trained
	if run.Light() {
		run.Final.Weights = final
	}
	return run, nil
}

// publish writes the files of a finished run beside its checkpoint, in the folder work,
// and makes that the folder stored. A process that is killed before the rename goes on
// from the checkpoint; after it there is none in its place.
func publish(files map[string][]byte, work, stored string) error {
	clean(work, files)
	if err := writeFiles(work, files); err != nil {
		return err
	}
	return rename(work, stored)
}

// confirm compares a run that was trained anew in the folder work with the stored one,
// and adds the weights that this one may be without. If they differ it leaves the files
// of the new one, and nothing else, in work and says so.
func confirm(trained, run *Run, p *plan, work, stored string, opt Options) (*Run, error) {
	err := os.RemoveAll(work)
	whole := trained.encode()
	same := whole
	if run.Light() {
		same = trained.light().encode()
	}
	if names := differing(same, stored); len(names) > 0 {
		err = errors.Join(err, writeFiles(work, same),
			fmt.Errorf("runs: training anew gave other bytes than those stored in %s: %q differ, see %s",
				stored, names, work))
	}
	if err != nil {
		return nil, err
	}
	if run.Light() && !opt.Light {
		if err := writeFiles(stored, whole); err != nil {
			return nil, err
		}
		if run, err = decodeRun(stored, p); err != nil {
			return nil, err
		}
	}
	run.Origin = Confirmed
	if run.Light() {
		run.Final.Weights = trained.Final.Weights
	}
	return run, nil
}

// load returns the run of the plan that is stored in the folder dir, or nil if there is
// nothing of this name.
func load(dir string, p *plan) (*Run, error) {
	if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return decodeRun(dir, p)
}

// begin returns a trainer for the run of the plan, where the checkpoint in the file path
// has left it or at the start, and what is kept of the run so far.
func (p *plan) begin(path string, workers int) (t *train.Trainer, c *checkpoint, how string, err error) {
	if err = p.Spec.CheckMemory(workers); err == nil {
		what := fmt.Sprintf("training it and the %d states of it that are kept", len(p.milestones))
		err = train.CheckMemory(p.memory(workers), what)
	}
	if err != nil {
		return nil, nil, "", fmt.Errorf("runs: run %s: %w", p.Address, err)
	}
	if c, _, err = readCheckpoint(path, p.Address); err != nil {
		return nil, nil, "", err
	}
	if c == nil {
		c, how = &checkpoint{}, "from the start"
		t, err = train.New(p.Spec, workers)
	} else {
		how = "resumed"
		t, err = train.Resume(p.Spec, workers, c.now)
	}
	if err != nil {
		return nil, nil, "", fmt.Errorf("runs: run %s: %w", p.Address, err)
	}
	return t, c, how, nil
}

// train trains the run of the plan to its end, keeping checkpoints in the folder work.
func (s *Store) train(ctx context.Context, p *plan, work string, opt Options) (*Run, error) {
	spec, address := p.Spec, p.Address
	path := filepath.Join(work, checkpointName)
	t, c, how, err := p.begin(path, opt.Workers)
	if err != nil {
		return nil, err
	}
	save := func() error {
		c.now = t.Snapshot()
		return writeFile(path, encodeCheckpoint(p, c))
	}

	left := spec.Steps - t.Step()
	outlook, err := pace(t, left)
	if err != nil {
		return nil, fmt.Errorf("runs: run %s: %w", address, err)
	}
	opt.Meter.Update(t.Step(), spec.Steps, fmt.Sprintf("step %d/%d  %s: %d steps take about %v here",
		t.Step(), spec.Steps, how, left, outlook.Round(time.Second)))
	saved, shown := time.Now(), time.Now().Add(outlookShown)
	for {
		step := t.Step()
		p.keep(c, t)
		if step >= spec.Steps {
			opt.Meter.Done(fmt.Sprintf("run %s  %d steps  loss %.3f", address, step, t.Loss()))
			return p.finished(c), nil
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

// outlookShown is how long at least a meter shows what is said before training.
const outlookShown = 2 * time.Second

// pace returns how long n steps take here, by four of them after one that is left out. The
// trainer takes them, and takes them back.
func pace(t *train.Trainer, n int) (time.Duration, error) {
	before := t.Snapshot()
	_ = t.Advance(1) // of a divergence hears who takes this step to keep it
	began := time.Now()
	_ = t.Advance(4)
	return time.Duration(n) * (time.Since(began) / 4), t.Restore(before)
}

// keep adds what is kept at the step of the trainer to the checkpoint, if it is not yet
// there.
func (p *plan) keep(c *checkpoint, t *train.Trainer) {
	mark := len(c.states) < until(t.Step(), p.marks)
	milestone := len(c.milestones) < until(t.Step(), p.milestones)
	if !mark && !milestone {
		return
	}
	now := t.Snapshot()
	if mark {
		c.states = append(c.states, digest(now))
	}
	if milestone {
		c.milestones = append(c.milestones, now)
	}
}

// finished returns the run that a checkpoint at its end has.
func (p *plan) finished(c *checkpoint) *Run {
	r := &Run{Spec: p.Spec, Address: p.Address, Milestones: c.milestones, states: c.states}
	r.Final = c.milestones[len(c.milestones)-1]
	r.Curve, r.Edges = r.Final.Curve, p.Spec.Edges(r.Final.Weights)
	return r
}

// lock makes this process the only one to work on the file path, a lock that the
// operating system takes back when the process ends, however it ends. It waits
// for a process that holds it. The file itself is empty and stays. Where there are no
// locks it does nothing.
func lock(ctx context.Context, path string, steps int, m Meter) (unlock func() error, err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return nil, err
	}
	l := flock.New(path, flock.SetPermissions(0o666))
	ok, err := l.TryLock()
	if errors.Is(err, errors.ErrUnsupported) {
		return func() error { return nil }, nil
	}
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

package trial

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"learncausal/internal/files"
	"learncausal/pkg/task"
	"learncausal/pkg/train"
)

// A BayesSet determines the losses of the Bayes predictor on test sequences of a task.
// Computing the losses takes seconds to a minute; they are stored beside the runs.
type BayesSet struct {
	Version   string      `json:"version"` // train.Version
	Task      train.Task1 `json:"task"`
	Seed      uint64      `json:"seed"` // of the sequences and the draws
	Sequences int         `json:"sequences"`
	Draws     int         `json:"draws"` // of the predictor, for each sequence
}

// BayesLosses are the log-losses of the Bayes predictor, see [task.BayesRisk], and the
// effective sample sizes, of each sequence of a [BayesSet].
type BayesLosses struct{ Loss, ESS []float64 }

// NewBayesSet returns the set of the first n test sequences of a spec of Task 1.
func NewBayesSet(spec train.Spec, n, draws int) BayesSet {
	return BayesSet{train.Version, spec.Canonical().Task.(train.Task1), spec.Seed, n, draws}
}

// address returns the first 16 hexadecimal digits of the SHA-256 of the JSON of s.
func (s BayesSet) address() string {
	b, _ := json.Marshal(s) // strings and integers have JSON
	return files.Sum(b)[:16]
}

// File returns the path of the losses.
func (s BayesSet) File() (string, error) {
	dir, err := files.Checkout("runs")
	return filepath.Join(dir, "bayes", s.address()+".f64"), err
}

// Draw returns the task and the sequences.
func (s BayesSet) Draw() (task.Task, *task.Batch, error) {
	k, err := s.Task.New()
	if err != nil {
		return task.Task{}, nil, err
	}
	spec := train.Spec{ // only Task, Seed and Test determine the sequences
		Task: s.Task, Model: train.Disentangled{Heads: [2]int{1, 1}}, Optimiser: train.SGD{Rate: 1, Schedule: train.Cosine},
		Batch: 1, Steps: 1, Seed: s.Seed, Test: s.Sequences,
	}
	b, err := spec.TestSet()
	return k, b, err
}

// maxHead bounds the size of the first line of a file of losses, in bytes.
const maxHead = 1 << 12

// Losses loads the losses of the set, or computes and stores them. It returns an error
// that names the file if the file is damaged or belongs to another set.
func (s BayesSet) Losses(ctx context.Context) (*BayesLosses, error) {
	path, err := s.File()
	if err != nil {
		return nil, err
	}
	stored, err := files.Read(path, maxHead+16*s.Sequences)
	if err == nil {
		l, err := s.decode(stored)
		if err != nil {
			return nil, fmt.Errorf("trial: %s: %w; remove the file to compute it again", path, err)
		}
		return l, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("trial: %s: %w", path, err)
	}
	k, b, err := s.Draw()
	if err != nil {
		return nil, err
	}
	r, err := task.BayesRisk(ctx, k, b, s.Draws, s.Seed, Counter(ctx, s.Sequences))
	if err != nil {
		return nil, err
	}
	l := &BayesLosses{r.Loss, r.Each}
	return l, files.Write(path, s.encode(l))
}

// Confirm computes the losses of some sequences of the set again, or of all if none is named, on every
// processor, and compares them bit by bit with l.
func (s BayesSet) Confirm(ctx context.Context, l *BayesLosses, sequences ...int) error {
	k, b, err := s.Draw()
	if err != nil {
		return err
	}
	if len(sequences) == 0 {
		for i := range s.Sequences {
			sequences = append(sequences, i)
		}
	}
	done := Counter(ctx, len(sequences))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for _, i := range sequences {
		group.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			bayes, err := task.NewBayes(k, s.Draws)
			if err != nil {
				return err
			}
			defer done()
			return s.confirm(bayes, b, l, i)
		})
	}
	return group.Wait()
}

// confirm is Confirm of sequence i of the batch.
func (s BayesSet) confirm(bayes *task.Bayes, b *task.Batch, l *BayesLosses, i int) error {
	var e task.Prediction
	_, y := b.Seq(i)
	bayes.PredictIn(&e, b, i, s.Seed)
	for _, v := range []struct {
		what        string
		now, stored float64
	}{{"loss", e.Loss(y), l.Loss[i]}, {"effective sample size", e.ESS, l.ESS[i]}} {
		if math.Float64bits(v.now) != math.Float64bits(v.stored) {
			return fmt.Errorf("trial: the Bayes losses %s: the %s of sequence %d is %v, stored %v",
				s.address(), v.what, i, v.now, v.stored)
		}
	}
	return nil
}

// encode returns the file of the losses: a line of JSON with the set and the SHA-256
// of the rest, then the losses and the sample sizes as little-endian float64.
func (s BayesSet) encode(l *BayesLosses) []byte {
	data, _ := binary.Append(nil, binary.LittleEndian, slices.Concat(l.Loss, l.ESS)) // floats have a size
	head, _ := json.Marshal(struct {
		BayesSet
		Sum string `json:"sha256"`
	}{s, files.Sum(data)})
	return append(append(head, '\n'), data...)
}

// decode is the inverse of encode. Losses have one encoding, so that encoding the
// result again detects every damage.
func (s BayesSet) decode(b []byte) (*BayesLosses, error) {
	if head := len(b) - 16*s.Sequences; head > 0 {
		all := make([]float64, 2*s.Sequences)
		_, err := binary.Decode(b[head:], binary.LittleEndian, all)
		l := &BayesLosses{all[:s.Sequences], all[s.Sequences:]}
		if err == nil && bytes.Equal(b, s.encode(l)) {
			return l, nil
		}
	}
	head, _, _ := strings.Cut(string(b[:min(len(b), 400)]), "\n")
	return nil, fmt.Errorf("%d bytes that begin with %.400q are not the losses of %+v: truncated or altered",
		len(b), head, s)
}

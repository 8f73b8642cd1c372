package sweep

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"learncausal/paper/experiment"
	"learncausal/pkg/figure"
	"learncausal/pkg/runs"
)

// A Result is what became of a run, kept as a line of JSON when the run is done.
type Result struct {
	Address  string  `json:"address"`
	Diverged string  `json:"diverged,omitempty"` // what training said, if it diverged; nothing else is known then
	Curve    []Point `json:"curve,omitempty"`    // the evaluations on the test set
	Edges    []Edge  `json:"edges,omitempty"`    // given or learned, see [experiment.OwnEdge]
	Bayes    *Bayes  `json:"bayes,omitempty"`    // where the plan asks for it
}

// A Point is an evaluation on the test set. Attention is that of [train.Spec.Attention].
type Point struct {
	Step      int    `json:"step"`
	Loss      number `json:"loss"`
	Attention number `json:"attention"`
}

// An Edge is one of the graph, or one that is learned beside it, with the head of the
// first layer that pays most attention to it.
type Edge struct {
	Parent    int    `json:"parent"`
	Child     int    `json:"child"`
	Attention number `json:"attention"`
	Head      int    `json:"head,omitempty"` // from 0
	Given     bool   `json:"given,omitempty"`
	Learned   bool   `json:"learned,omitempty"`
}

// A Bayes compares a run with the Bayes predictor, in nats, on the first
// [experiment.OwnSequences] of its test sequences. All is NaN where the predictor
// takes too long.
type Bayes struct {
	Loss        number `json:"loss"`
	Excess      number `json:"excess"` // the loss of the model less that of the predictor
	ExcessError number `json:"excess_error"`
	Effective   number `json:"effective_draws"` // 0 for what is computed exactly
}

// A number is written as null where it is NaN.
type number float64

// MarshalJSON implements [json.Marshaler].
func (x number) MarshalJSON() ([]byte, error) {
	if math.IsNaN(float64(x)) {
		return []byte("null"), nil
	}
	return json.Marshal(float64(x))
}

// UnmarshalJSON implements [json.Unmarshaler].
func (x *number) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		*x = number(math.NaN())
		return nil
	}
	return json.Unmarshal(b, (*float64)(x))
}

// measure returns the result of a run.
func measure(ctx context.Context, r *runs.Run, bayes bool) (*Result, error) {
	out := &Result{Address: r.Address}
	for _, p := range r.Curve {
		out.Curve = append(out.Curve, Point{p.Step, number(p.Loss), number(p.Attention)})
	}
	_, edges := experiment.ReadGraphOff(r)
	for _, e := range edges {
		out.Edges = append(out.Edges, Edge{e.Parent, e.Child, number(e.Attention), e.Head, e.Given, e.Learned})
	}
	if !bayes {
		return out, nil
	}
	own, err := experiment.MeasureOwn(ctx, r)
	if err != nil {
		return nil, err
	}
	none := number(math.NaN())
	out.Bayes = &Bayes{none, none, none, none}
	for _, p := range own.References {
		if p.Name == "Bayes" {
			out.Bayes = &Bayes{
				number(p.Loss.Mean), number(p.ModelLess.Mean), number(p.ModelLess.StdErr), number(p.Effective),
			}
		}
	}
	return out, nil
}

// encode returns the one JSON of a result.
func (r *Result) encode() ([]byte, error) {
	b, err := json.Marshal(r)
	return append(b, '\n'), err
}

func (s *Sweep) resultPath(address string) string {
	return filepath.Join(s.Dir, "results", address+".json")
}

// Result returns what became of run i of the plan, or nil if it is not done, or was
// not compared with the Bayes predictor where the plan asks for that.
func (s *Sweep) Result(i int) (*Result, error) {
	address := s.Plan.Runs[i].Address
	path := s.resultPath(address)
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		path = s.listPath()
		var lines map[string][]byte
		if lines, err = s.listed.read(path); err == nil && lines[address] == nil {
			return nil, nil
		}
		b = lines[address]
	}
	var r *Result
	if err == nil {
		r, err = decode(b)
	}
	if err == nil && r.Address != address {
		err = fmt.Errorf("it is not that of run %s", address)
	}
	if err != nil {
		return nil, fmt.Errorf("sweep: %s refused: %w; delete it to have it measured anew", path, err)
	}
	if s.Plan.Bayes && r.Bayes == nil && r.Diverged == "" {
		return nil, nil
	}
	return r, nil
}

// Results returns what became of all runs, in the order of the plan. It is an error if
// one is not done.
func (s *Sweep) Results() ([]*Result, error) {
	all := make([]*Result, len(s.Plan.Runs))
	for i, r := range s.Plan.Runs {
		var err error
		if all[i], err = s.Result(i); err != nil {
			return nil, err
		}
		if all[i] == nil {
			return nil, fmt.Errorf("sweep: run %s on %s with seed %d is not done", r.Address, r.Graph, r.Spec.Seed)
		}
	}
	return all, nil
}

// decode reads what encode has written, and nothing else.
func decode(b []byte) (*Result, error) {
	r := new(Result)
	if err := json.Unmarshal(b, r); err != nil {
		return nil, err
	}
	again, err := r.encode()
	if err == nil && !bytes.Equal(again, b) {
		err = errors.New("it is not as a result is written")
	}
	return r, err
}

// A listed is a file of results that is read once, when first one is asked for.
type listed struct {
	once  sync.Once
	lines map[string][]byte // by address of run
	err   error
}

func (s *Sweep) listPath() string { return filepath.Join(s.Dir, "results.jsonl") }

func (l *listed) read(path string) (map[string][]byte, error) {
	l.once.Do(func() {
		b, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return
		}
		l.lines, l.err = map[string][]byte{}, err
		n := 0
		for line := range bytes.Lines(b) {
			n++
			var r struct{ Address string }
			if err := json.Unmarshal(line, &r); err != nil && l.err == nil {
				l.err = fmt.Errorf("line %d: %w", n, err)
			}
			l.lines[r.Address] = line
		}
	})
	return l.lines, l.err
}

// list returns the results.jsonl of the results of the plan, and after them, by
// address, those in it of runs that are not in the plan: nothing that was trained is
// lost when a plan gets smaller.
func (s *Sweep) list(results []*Result) ([]byte, error) {
	lines, err := s.listed.read(s.listPath())
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	others := maps.Clone(lines)
	done := map[string]bool{} // two names may be of one graph
	for _, r := range results {
		delete(others, r.Address)
		line, err := r.encode()
		if err != nil {
			return nil, err
		}
		if !done[r.Address] {
			b.Write(line)
		}
		done[r.Address] = true
	}
	for _, address := range slices.Sorted(maps.Keys(others)) {
		b.Write(others[address])
	}
	return b.Bytes(), nil
}

// keep writes a result, and forgets that the run has failed before.
func (s *Sweep) keep(r *Result) error {
	b, err := r.encode()
	if err != nil {
		return err
	}
	if err := figure.WriteFile(s.resultPath(r.Address), b); err != nil {
		return fmt.Errorf("sweep: %w", err)
	}
	if err := os.Remove(s.failurePath(r.Address)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("sweep: %w", err)
	}
	return nil
}

func (s *Sweep) failurePath(address string) string {
	return filepath.Join(s.Dir, "failed", address+".txt")
}

// forgetFailures takes away what is kept of runs that have failed, which are to be
// tried again.
func (s *Sweep) forgetFailures() error {
	if err := os.RemoveAll(filepath.Join(s.Dir, "failed")); err != nil {
		return fmt.Errorf("sweep: %w", err)
	}
	return nil
}

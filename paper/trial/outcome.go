package trial

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"

	"learncausal/internal/files"
	"learncausal/internal/runs"
	"learncausal/pkg/train"
)

// An Outcome has the results of a run of a sweep, stored as a line of JSON.
type Outcome struct {
	Address  string         `json:"address"`
	Spec     train.Spec     `json:"spec"`
	Diverged string         `json:"diverged,omitempty"` // error of training; the fields below are then empty
	Curve    []OutcomePoint `json:"curve,omitempty"`    // the evaluations on the test set
	Edges    []Edge         `json:"edges,omitempty"`    // given or learned
	Bayes    *OutcomeBayes  `json:"bayes,omitempty"`    // if the plan of the sweep requests it
	One      *OutcomeOne    `json:"algorithm_1,omitempty"`
}

// Comparisons selects the comparisons of a run of a sweep.
type Comparisons struct {
	Bayes bool // with the Bayes predictor
	One   bool // with Algorithm 1
}

// An OutcomePoint is an evaluation on the test set. Attention is defined by [train.Spec.Attention].
type OutcomePoint struct {
	Step      int    `json:"step"`
	Loss      Number `json:"loss"`
	Attention Number `json:"attention"`
}

// An OutcomeBayes compares a run with the Bayes predictor, in nats, on the first [mostSequences]
// of its test sequences. Every field is NaN if [Measure] leaves the predictor out.
type OutcomeBayes struct {
	Loss        Number `json:"loss"`
	Excess      Number `json:"excess"` // the loss of the model less that of the predictor
	ExcessError Number `json:"excess_error"`
	Effective   Number `json:"effective_draws"` // 0 if the predictor is exact
}

// An OutcomeOne has the results of Algorithm 1 on the graph of a run, see [AlgorithmOne].
type OutcomeOne struct {
	Loss      Number `json:"loss"`
	Attention Number `json:"attention"`
}

// A Number is a float64 whose JSON is null if it is NaN.
type Number float64

// MarshalJSON implements [json.Marshaler].
func (x Number) MarshalJSON() ([]byte, error) {
	if math.IsNaN(float64(x)) {
		return []byte("null"), nil
	}
	return json.Marshal(float64(x))
}

// UnmarshalJSON implements [json.Unmarshaler].
func (x *Number) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		*x = Number(math.NaN())
		return nil
	}
	return json.Unmarshal(b, (*float64)(x))
}

// NewOutcome returns the results of a run, with the selected comparisons.
func NewOutcome(ctx context.Context, r *runs.Run, with Comparisons) (*Outcome, error) {
	out := &Outcome{Address: r.Address, Spec: r.Spec}
	for _, p := range r.Curve {
		out.Curve = append(out.Curve, OutcomePoint{p.Step, Number(p.Loss), Number(p.Attention)})
	}
	out.Edges = Edges(r.Spec.HeadAttentions(r.Final.Weights), r.Spec)
	var err error
	if with.Bayes {
		out.Bayes, err = newOutcomeBayes(ctx, r)
	}
	if with.One && err == nil {
		out.One, err = AlgorithmOne(r.Spec)
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}

func newOutcomeBayes(ctx context.Context, r *runs.Run) (*OutcomeBayes, error) {
	m, err := Measure(ctx, r)
	if err != nil {
		return nil, err
	}
	for _, p := range m.References {
		if p.Name == "Bayes" {
			return &OutcomeBayes{
				Number(p.Loss.Mean), Number(p.ModelLess.Mean), Number(p.ModelLess.StdErr), Number(p.Effective),
			}, nil
		}
	}
	none := Number(math.NaN())
	return &OutcomeBayes{none, none, none, none}, nil
}

// End returns the last evaluation, NaN if the run has diverged.
func (o *Outcome) End() OutcomePoint {
	if len(o.Curve) == 0 {
		return OutcomePoint{0, Number(math.NaN()), Number(math.NaN())}
	}
	return o.Curve[len(o.Curve)-1]
}

// Encode returns the one line of an outcome.
func (o *Outcome) Encode() ([]byte, error) {
	b, err := json.Marshal(o)
	return append(b, '\n'), err
}

// decodeOutcome is the inverse of [Outcome.Encode]. It refuses every other text.
func decodeOutcome(line []byte) (*Outcome, error) {
	o := new(Outcome)
	if err := json.Unmarshal(line, o); err != nil {
		return nil, err
	}
	again, err := o.Encode()
	if err == nil && !bytes.Equal(again, line) {
		err = errors.New("it is not in the form that paper sweep writes")
	}
	if err == nil && runs.Address(o.Spec) != o.Address {
		err = fmt.Errorf("it has the address %q, but its specification has %s", o.Address, runs.Address(o.Spec))
	}
	if err == nil {
		err = o.check()
	}
	return o, err
}

// check returns an error unless the curve has the steps of the evaluations of the specification.
func (o *Outcome) check() error {
	if err := o.Spec.Validate(); err != nil || o.Diverged != "" {
		return err
	}
	spec := o.Spec.Canonical()
	if want := (spec.Steps-1)/spec.Every + 2; len(o.Curve) != want {
		return fmt.Errorf("the curve has %d points, want %d", len(o.Curve), want)
	}
	for n, p := range o.Curve {
		if step := min(n*spec.Every, spec.Steps); p.Step != step {
			return fmt.Errorf("point %d of the curve is of step %d, want %d", n, p.Step, step)
		}
	}
	return nil
}

// Outcomes reads runs/sweeps/<name>/results.jsonl, the results of a finished sweep of
// this project in the order of its plan.
func Outcomes(name string) ([]*Outcome, error) {
	dir, err := files.Checkout("runs/sweeps")
	if err != nil {
		return nil, err
	}
	return ReadOutcomes(filepath.Join(dir, name, "results.jsonl"))
}

// maxOutcomes is an upper bound on the bytes of a file of outcomes.
const maxOutcomes = 1 << 30

// EncodeOutcomes returns a file of outcomes: the line of [files.AddSum], and a line for each.
func EncodeOutcomes(all ...*Outcome) ([]byte, error) {
	b := make([]byte, files.SumLine)
	for _, o := range all {
		line, err := o.Encode()
		if err != nil {
			return nil, fmt.Errorf("trial: %w", err)
		}
		b = append(b, line...)
	}
	return files.AddSum(b, "}"), nil
}

// ReadOutcomes reads a file of [EncodeOutcomes]. An error about the content names the line.
func ReadOutcomes(path string) ([]*Outcome, error) {
	b, err := files.Read(path, maxOutcomes)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("trial: %w", err)
	}
	var all []*Outcome
	if err == nil {
		all, err = decodeOutcomes(b)
	}
	if err != nil {
		return nil, files.Refused("trial: "+path, err, "restore it, or delete it to measure its runs again")
	}
	return all, nil
}

func decodeOutcomes(b []byte) ([]*Outcome, error) {
	b, err := files.CheckSum(b, "}")
	if err != nil {
		return nil, err
	}
	var all []*Outcome
	lines := map[string]int{} // by address
	for text := range bytes.Lines(b) {
		line := len(all) + 2
		o, err := decodeOutcome(text)
		if err == nil && lines[o.Address] > 0 {
			err = fmt.Errorf("run %s is in line %d as well", o.Address, lines[o.Address])
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
		lines[o.Address] = line
		all = append(all, o)
	}
	return all, nil
}

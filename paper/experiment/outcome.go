package experiment

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path/filepath"

	"learncausal/pkg/runs"
	"learncausal/pkg/train"
)

// An Outcome has the results of a run of a sweep, stored as a line of JSON.
type Outcome struct {
	Address  string         `json:"address"`
	Spec     train.Spec     `json:"spec"`
	Diverged string         `json:"diverged,omitempty"` // error of training; the fields below are then empty
	Curve    []OutcomePoint `json:"curve,omitempty"`    // the evaluations on the test set
	Edges    []OwnEdge      `json:"edges,omitempty"`    // given or learned
	Bayes    *OutcomeBayes  `json:"bayes,omitempty"`    // if the plan of the sweep requests it
	One      *OutcomeOne    `json:"algorithm_1,omitempty"`
}

// Beside selects the comparisons of a run of a sweep.
type Beside struct {
	Bayes bool // with the Bayes predictor
	One   bool // with Algorithm 1
}

// An OutcomePoint is an evaluation on the test set. Attention is defined by
// [train.Spec.Attention].
type OutcomePoint struct {
	Step      int    `json:"step"`
	Loss      Number `json:"loss"`
	Attention Number `json:"attention"`
}

// An OutcomeBayes compares a run with the Bayes predictor, in nats, on the first
// [ownSequences] of its test sequences. Every field is NaN if the predictor takes too
// long.
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
func NewOutcome(ctx context.Context, r *runs.Run, with Beside) (*Outcome, error) {
	out := &Outcome{Address: r.Address, Spec: r.Spec}
	for _, p := range r.Curve {
		out.Curve = append(out.Curve, OutcomePoint{p.Step, Number(p.Loss), Number(p.Attention)})
	}
	out.Edges = readEdges(r.Spec.HeadAttentions(r.Final.Weights), r.Spec)
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
	own, err := MeasureOwn(ctx, r)
	if err != nil {
		return nil, err
	}
	for _, p := range own.References {
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

// DecodeOutcome is the inverse of [Outcome.Encode]. It refuses every other text.
func DecodeOutcome(line []byte) (*Outcome, error) {
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
	return o, err
}

// Outcomes reads runs/sweeps/<name>/results.jsonl, the results of a finished sweep of
// this project in the order of its plan.
func Outcomes(name string) ([]*Outcome, error) {
	dir, err := Dir("runs/sweeps")
	if err != nil {
		return nil, err
	}
	return ReadOutcomes(filepath.Join(dir, name, "results.jsonl"))
}

// MaxOutcome and maxOutcomes are upper bounds on the bytes of an outcome and of a file.
const (
	MaxOutcome  = 1 << 24
	maxOutcomes = 1 << 30
)

// ReadOutcomes reads a file with an outcome in each line. An error about the content
// names the line.
func ReadOutcomes(path string) ([]*Outcome, error) {
	b, err := runs.ReadFile(path, maxOutcomes)
	if err != nil {
		return nil, fmt.Errorf("experiment: %w", err)
	}
	var all []*Outcome
	for line := range bytes.Lines(b) {
		o, err := DecodeOutcome(line)
		if err != nil {
			return nil, fmt.Errorf("experiment: %s refused: line %d: %w", path, len(all)+1, err)
		}
		all = append(all, o)
	}
	return all, nil
}

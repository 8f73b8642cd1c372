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

// An Outcome is what became of a run of a sweep, kept as a line of JSON when the run is
// done.
type Outcome struct {
	Address  string         `json:"address"`
	Spec     train.Spec     `json:"spec"`
	Diverged string         `json:"diverged,omitempty"` // what training said; nothing else is known then
	Curve    []OutcomePoint `json:"curve,omitempty"`    // the evaluations on the test set
	Edges    []OwnEdge      `json:"edges,omitempty"`    // given or learned
	Bayes    *OutcomeBayes  `json:"bayes,omitempty"`    // where the sweep asks for it
	One      *OutcomeOne    `json:"algorithm_1,omitempty"`
}

// Beside says what a run of a sweep is compared with.
type Beside struct {
	Bayes bool // the Bayes predictor
	One   bool // Algorithm 1
}

// An OutcomePoint is an evaluation on the test set. Attention is that of
// [train.Spec.Attention].
type OutcomePoint struct {
	Step      int    `json:"step"`
	Loss      Number `json:"loss"`
	Attention Number `json:"attention"`
}

// An OutcomeBayes compares a run with the Bayes predictor, in nats, on the first
// [OwnSequences] of its test sequences. All is NaN where the predictor takes too long.
type OutcomeBayes struct {
	Loss        Number `json:"loss"`
	Excess      Number `json:"excess"` // the loss of the model less that of the predictor
	ExcessError Number `json:"excess_error"`
	Effective   Number `json:"effective_draws"` // 0 for what is computed exactly
}

// An OutcomeOne is what Algorithm 1 comes to on the graph of a run, see [AlgorithmOne].
type OutcomeOne struct {
	Loss      Number `json:"loss"`
	Attention Number `json:"attention"`
}

// A Number is written as null where it is NaN.
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

// NewOutcome returns that of a run, compared with what is asked for.
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

// DecodeOutcome reads what [Outcome.Encode] has written, and nothing else.
func DecodeOutcome(line []byte) (*Outcome, error) {
	o := new(Outcome)
	if err := json.Unmarshal(line, o); err != nil {
		return nil, err
	}
	again, err := o.Encode()
	if err == nil && !bytes.Equal(again, line) {
		err = errors.New("it is not as an outcome is written")
	}
	if err == nil && runs.Address(o.Spec) != o.Address {
		err = fmt.Errorf("it says address %q, but its run has %s", o.Address, runs.Address(o.Spec))
	}
	return o, err
}

// Outcomes returns those of a sweep of this project that is done, in the order of its
// plan: of runs/sweeps/<name>/results.jsonl.
func Outcomes(name string) ([]*Outcome, error) {
	dir, err := Dir("runs/sweeps")
	if err != nil {
		return nil, err
	}
	return ReadOutcomes(filepath.Join(dir, name, "results.jsonl"))
}

// MaxOutcome is more bytes than an outcome takes, and maxOutcomes than a sweep's do.
const (
	MaxOutcome  = 1 << 24
	maxOutcomes = 1 << 30
)

// ReadOutcomes reads a file with an outcome in each line. An error that is not that of
// the system names the line.
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

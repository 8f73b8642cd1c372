package train

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"learncausal/internal/property"
	"learncausal/pkg/model"
	"learncausal/pkg/task"
)

// A coin is a task of a reader: tokens by coins, and the label by the last one.
type coin struct{ Length int }

func (k coin) Validate() error          { return nil }
func (k coin) Tokens() int              { return 2 }
func (k coin) ParentSets() [][]int      { return make([][]int, k.Length) }
func (k coin) NewSampler() task.Sampler { return k }

func (k coin) Fill(b *task.Batch, src *rand.PCG) {
	clear(b.Y)
	for i := range b.X {
		b.X[i] = int(src.Uint64() & 1)
		if i%b.T == b.T-1 {
			b.Y[2*(i/b.T)+b.X[i]] = 1
		}
	}
}

// forwarded are the weights of a reader: those of package model behind the methods of a Forwarder.
type forwarded struct{ *model.Weights }

func (w forwarded) Zero() model.Model { return forwarded{w.Weights.Zero().(*model.Weights)} }
func (w forwarded) Size() (s, t int)  { return w.S, w.T }

func (w forwarded) Forward(x []int, y []float64, grad model.Model) ([]float64, float64) {
	if grad == nil {
		return w.Weights.Forward(x, y, nil)
	}
	return w.Weights.Forward(x, y, grad.(forwarded).Weights)
}

// dense is the model of a reader with these weights.
type dense struct{ Disentangled }

func (m dense) New(s, t int) model.Model { return forwarded{m.Disentangled.New(s, t).(*model.Weights)} }

func (m dense) Initialise(w model.Model, s Spec) { m.Disentangled.Initialise(w.(forwarded).Weights, s) }

// fading is the optimiser of a reader, whose rate falls like 1/step.
type fading struct{ AdamW }

func (o fading) RateAt(step, _ int) float64 { return o.Rate / float64(1+step) }

func init() {
	Register[coin]("coin")
	Register[dense]("dense")
	Register[fading]("fading")
}

func ownSpec() Spec {
	spec := testSpec()
	spec.Task, spec.Model = coin{4}, dense{Disentangled{[2]int{1, 1}, 0.1}}
	spec.Optimiser = fading{AdamW{Rate: 0.01, Schedule: Constant}}
	spec.Steps, spec.Batch, spec.Every, spec.Test = 20, 32, 20, 64
	return spec
}

// The weights of a reader train as those of package model, to rounding, with equal bytes for any number of workers.
func TestOwnKindsTrain(t *testing.T) {
	spec := ownSpec()
	got := run(t, spec, 1)
	if a, b := digest(got), digest(run(t, spec, 3)); a != b {
		t.Errorf("digest %s by one worker, %s by three", a, b)
	}
	known := spec
	known.Model = spec.Model.(dense).Disentangled
	want := run(t, known, 1)
	for k, m := range model.Trained(got.Weights) {
		if !floats.EqualApprox(m, model.Trained(want.Weights)[k], 1e-9) {
			t.Errorf("matrix %d differs from that of the engine's tables", k)
		}
	}
}

func TestRegisteredKindsHaveJSON(t *testing.T) {
	spec := ownSpec()
	b, err := json.Marshal(spec)
	if err != nil {
		t.Fatal(err)
	}
	const part = `"task":{"name":"coin","value":{"Length":4}},"model":{"name":"dense",`
	if !strings.Contains(string(b), part) {
		t.Errorf("JSON %s, want %s in it", b, part)
	}
	var read Spec
	spaced := strings.ReplaceAll(string(b), ":4", ": 4")
	if err := json.Unmarshal([]byte(spaced), &read); err != nil || read.Task != spec.Task ||
		read.Model != spec.Model || read.Optimiser != spec.Optimiser {
		t.Errorf("%s is read as %+v, %v", b, read, err)
	}
	if want := "task coin, model dense, optimiser fading"; spec.Description() != want {
		t.Errorf("experiment %q, want %q", spec.Description(), want)
	}
	for change, want := range map[string]string{
		`"name":"coin"->"name":"dice"`:    `no train.Task is registered as "dice"`,
		`"name":"coin"->"name":"dense"`:   `no train.Task is registered as "dense"`,
		`"Length":4->"Length":4,"Side":1`: "belongs to no task",
		`"Length":4->"Length":"four"`:     "spec: coin: json",
	} {
		from, to, _ := strings.Cut(change, "->")
		property.Mentions(t, json.Unmarshal([]byte(strings.Replace(string(b), from, to, 1)), &read), want)
	}
	spec.Task = law{parents: make([][]int, 2), states: 2}
	_, err = json.Marshal(spec)
	property.Mentions(t, err, "a train.law has no JSON")
}

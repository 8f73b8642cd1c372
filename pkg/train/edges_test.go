package train

import (
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"testing"

	"learncausal/internal/property"
	"learncausal/pkg/graph"
	"learncausal/pkg/markov"
	"learncausal/pkg/model"
	"learncausal/pkg/task"
)

func trainer(t *testing.T, spec Spec) *Trainer {
	t.Helper()
	tr, err := New(spec, 1)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// drawn returns the sequences that a trainer of the spec draws at a step.
func drawn(t *testing.T, spec Spec, step int) *task.Batch {
	t.Helper()
	draws := taskKind(spec.Task).drawer()
	all := spec.newBatch(0)
	for k := range shards {
		lo, hi := part(spec.Batch, k)
		b := spec.newBatch(hi - lo)
		if err := draws.train(b, spec, step, k); err != nil {
			t.Fatal(err)
		}
		all.X, all.Y = append(all.X, b.X...), append(all.Y, b.Y...)
	}
	return all
}

// A task of a reader with a prior that has a notation gives the same bytes, and
// one with any other prior trains too.
func TestOwnTaskTrains(t *testing.T) {
	spec := testSpec()
	k, err := spec.Task.(Task1).New()
	if err != nil {
		t.Fatal(err)
	}
	own := spec
	own.Task = k
	if got, want := digest(run(t, own, 2)), digest(run(t, spec, 1)); got != want {
		t.Errorf("digest %s of the own task, want %s", got, want)
	}
	// A single matrix, as a literal.
	pi, mu := []float64{0.9, 0.1, 0.2, 0.8}, make([]float64, 2)
	if err := markov.Stationary(mu, pi); err != nil {
		t.Fatal(err)
	}
	single := &markov.Finite{Pi: [][]float64{pi}, Mu: [][]float64{mu}, Weight: []float64{1}}
	own.Task, own.Steps = task.Task{Graph: graph.MustNew(-1, 0, 1, -1), Prior: single}, 400
	curve := run(t, own, 2).Curve
	test, err := own.TestSet()
	if err != nil {
		t.Fatal(err)
	}
	floor := 0.0 // the entropy of the targets, the least loss
	for _, p := range test.Y {
		floor -= p * math.Log(p) / float64(test.Len())
	}
	if last := curve[len(curve)-1].Loss; !(last > floor-1e-9 && last < floor+0.01) {
		t.Errorf("the loss on one matrix is %v, want %v", last, floor)
	}
	_, err = json.Marshal(own)
	property.Mentions(t, err, "a task.Task has no JSON")
	for want, bad := range map[string]Task{
		"task train.law over 1 positions and 2 states": law{parents: make([][]int, 1), states: 2},
		"task train.law over 2 positions and 0 states": law{parents: make([][]int, 2)},
		"task: a task without a graph or a prior":      task.Task{Prior: single},
		"parent 1 of position 1":                       law{parents: [][]int{{}, {1}}, states: 2},
		"parent -1 of position 1":                      law{parents: [][]int{{}, {-1}}, states: 2},
	} {
		own.Task = bad
		_, err := New(own, 1)
		property.Mentions(t, err, "spec: "+want)
	}
	own.Task = law{parents: make([][]int, 2), states: 1}
	if err := own.Validate(); err != nil {
		t.Errorf("the smallest own task: %v", err)
	}
}

// A law is a task of a reader.
type law struct {
	parents [][]int
	states  int
	sampler func() task.Sampler
}

func (k law) Validate() error          { return nil }
func (k law) Tokens() int              { return k.states }
func (k law) ParentSets() [][]int      { return k.parents }
func (k law) NewSampler() task.Sampler { return k.sampler() }

// rounding is a sampler whose targets have the sum 1/scale after the first steps.
type rounding struct {
	task.Sampler
	scale float64
	after int
}

func (r *rounding) Fill(b *task.Batch, src *rand.PCG) {
	r.Sampler.Fill(b, src)
	if r.after--; r.after < 0 {
		for k := range b.Y {
			b.Y[k] /= r.scale
		}
	}
}

func TestTargetsOfOwnTasksAreDividedByTheirSumOrRefused(t *testing.T) {
	spec := testSpec()
	k, err := spec.Task.(Task1).New()
	if err != nil {
		t.Fatal(err)
	}
	const place = "step 3, part 0 of 8: sequence 0 of the sampler: model: target sums to"
	for scale, want := range map[float64]string{1 + 1e-7: "", 1.1: place} {
		sampler := func() task.Sampler { return &rounding{k.NewSampler(), scale, 8 * 3} }
		spec.Task = law{k.ParentSets(), k.Tokens(), sampler}
		trainer, err := New(spec, 1)
		if err == nil {
			err = trainer.Advance(spec.Steps)
		}
		if want != "" {
			property.Mentions(t, err, want)
		} else if err != nil {
			t.Errorf("targets with the sum 1/%v: %v", scale, err)
		}
	}
}

// Specs of one canonical form have the same bytes.
func TestOneRunHasOneForm(t *testing.T) {
	want := testSpec()
	want.Test, want.Every = 4096, 5
	s := want
	s.Task, s.Test, s.Every = Task1{Parents: want.Task.(Task1).Parents, States: 3, Prior: " dirichlet(1e-1) "}, 0, 0
	if got := s.Canonical(); !reflect.DeepEqual(got, want) || digest(run(t, s, 1)) != digest(run(t, want, 1)) {
		t.Errorf("the canonical form %+v, want %+v", got, want)
	}
	two := multiSpec()
	two.Task = Task2{two.Task.(Task2).Parents, 3, "dirichlet(1e-1)", false, 0}
	if got := two.Canonical(); !reflect.DeepEqual(got, multiSpec()) {
		t.Errorf("the canonical form %+v of task 2", got)
	}
	for steps, every := range map[int]int{1: 1, 7: 1, 16: 2, 100: 12} {
		if s := (Spec{Steps: steps}).Canonical(); s.Every != every || s.Test != 4096 {
			t.Errorf("%d steps: test %d, every %d", steps, s.Test, s.Every)
		}
	}
}

// A run that diverges names the cause, makes no further step, and can be restored.
func TestDivergenceIsAnError(t *testing.T) {
	for want, change := range map[string]func(*Spec){
		"a rate below 1e+300":  func(s *Spec) { s.Optimiser = SGD{Rate: 1e300, Schedule: Constant} },
		"a rate below 2e+300":  func(s *Spec) { s.Optimiser = SGD{Rate: 2e300, Schedule: Cosine} },
		"a decay below 1e+308": func(s *Spec) { s.Optimiser = SGD{Rate: 1, Schedule: Constant, Decay: 1e308} },
		"a decay below 1e+307": func(s *Spec) { s.Optimiser = AdamW{Rate: 1, Schedule: Constant, Decay: 1e307} },
		"an init below 1e+308": func(s *Spec) { s.Model = Disentangled{Heads: [2]int{1, 1}, Init: 1e308} },
	} {
		spec := testSpec()
		spec.Model = Disentangled{Heads: [2]int{1, 1}, Init: 0.01}
		change(&spec)
		tr := trainer(t, spec)
		start, err := tr.Snapshot(), tr.Advance(spec.Steps)
		if property.Mentions(t, err, "is not a number; want "+want); !errors.Is(err, ErrDiverged) {
			t.Errorf("%v, want ErrDiverged", err)
		}
		at, again := tr.Step(), tr.Advance(1)
		if tr.Step() != at || again == nil {
			t.Errorf("stopped at step %d, then at %d: %v", at, tr.Step(), again)
		}
		if err := tr.Restore(start); err != nil || tr.Loss() != 0 {
			t.Errorf("restored: %v, loss %v", err, tr.Loss())
		}
		if spec.Steps = at - 1; at < 2 {
			continue
		}
		// At the last step only the test set shows it.
		property.Mentions(t, trainer(t, spec).Advance(spec.Steps), "diverged")
	}
}

// Steps and decay of SGD follow their definition, also with fewer sequences than shards.
func TestSGDDecays(t *testing.T) {
	for _, batch := range []int{decaySpec().Batch, 3} {
		spec := decaySpec()
		spec.Batch, spec.Model = batch, Disentangled{Heads: [2]int{1, 1}, Init: 0.3}
		decay := spec.Optimiser.(SGD).Decay
		tr := trainer(t, spec)
		w := tr.Snapshot().Disentangled()
		for i := range 5 {
			grad, b, loss := w.Zero().(*model.Weights), drawn(t, spec, i), 0.0
			for k := range b.Len() {
				x, y := b.Seq(k)
				_, l := w.Forward(x, y, grad)
				loss += l / float64(batch)
			}
			for k, theta := range model.Trained(w) {
				for j, v := range theta {
					theta[j] = v - spec.Optimiser.RateAt(i, spec.Steps)*(model.Trained(grad)[k][j]/float64(batch)+decay*v)
				}
			}
			tr.Advance(1)
			if d := math.Abs(tr.Loss() - loss); !(d < 1e-13) {
				t.Errorf("batch %d, step %d: loss %v, want %v", batch, i, tr.Loss(), loss)
			}
		}
		got := model.Trained(tr.Snapshot().Disentangled())
		for k, want := range model.Trained(w) {
			if !(property.MaxDiff(got[k], want) < 1e-13) {
				t.Errorf("batch %d: array %d differs from the definition", batch, k)
			}
		}
	}
}

// allocated returns the bytes that f allocates and the bytes still in use after it.
func allocated(f func() any) (total, left float64) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	keep := f()
	runtime.GC()
	runtime.ReadMemStats(&after)
	runtime.KeepAlive(keep)
	return float64(after.TotalAlloc - before.TotalAlloc), float64(after.HeapAlloc) - float64(before.HeapAlloc)
}

// The estimate equals the memory of a trainer within 10 %.
func TestMemoryIsEstimated(t *testing.T) {
	long := make([]int, 60)
	for i := range long {
		long[i] = i - 1
	}
	long[59] = -1
	task1 := func(states int) Task1 { return Task1{Parents: long, States: states, Prior: "dirichlet(0.1)"} }
	one, adamw := Disentangled{Heads: [2]int{1, 1}}, AdamW{Rate: 0.01, Schedule: Constant}
	minimal := Positional{Heads: 1, Relative: true, Linear: true, Init: 1}
	for name, c := range map[string]struct {
		task      Task
		model     Model
		optimiser Optimiser
		sequences int
	}{
		"one head":    {task1(10), one, SGD{Rate: 1, Schedule: Constant}, 1000},
		"heads 2, 3":  {task1(10), Disentangled{Heads: [2]int{2, 3}}, AdamW{Rate: 0.01, Schedule: Constant}, 1000},
		"positional":  {task1(5), Positional{Heads: 3, Values: true, Init: 1}, adamw, 1000},
		"minimal":     {Chain{60, 2, "unigram(1)"}, minimal, SGD{Rate: 1, Schedule: Constant, FirstLayerRate: 9}, 1000},
		"mlp":         {task1(10), MLP{Width: 100}, AdamW{Rate: 0.01, Schedule: Constant}, 1000},
		"many states": {task1(250), one, SGD{Rate: 1, Schedule: Constant}, 8},
		"tensors": {
			Task2{graph.NGram(8, 3).Parents(), 40, "dirichlet(1)", false, 0}, one, SGD{Rate: 1, Schedule: Constant}, 8,
		},
	} {
		spec := Spec{
			Task: c.task, Model: c.model, Optimiser: c.optimiser,
			Batch: c.sequences, Steps: 10, Test: c.sequences,
		}
		_, got := allocated(func() any {
			tr := trainer(t, spec)
			tr.Advance(1)
			return tr
		})
		if want := spec.Memory(1); !(math.Abs(got/want-1) < 0.1) {
			t.Errorf("%s: a trainer holds %.3g bytes, estimated %.3g", name, got, want)
		}
	}
}

func TestTooMuchMemoryIsRefusedBeforeAllocation(t *testing.T) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(math.MaxInt64))
	spec := testSpec()
	spec.Task = Task1{Parents: slices.Repeat([]int{-1}, 4000), States: 20, Prior: "dirichlet(0.1)"}
	for name, change := range map[string]func(*Spec){
		"T":     func(*Spec) {},
		"heads": func(s *Spec) { s.Model = Disentangled{Heads: [2]int{1 << 4, 1 << 4}} },
		"width": func(s *Spec) { s.Model = MLP{Width: 1 << 16} },
		"batch": func(s *Spec) { s.Task, s.Batch = testSpec().Task, 1<<35 },
		"test":  func(s *Spec) { s.Task, s.Test = testSpec().Task, 1<<36 },
	} {
		s := spec
		change(&s)
		taken, _ := allocated(func() any {
			_, err := New(s, 0)
			property.Mentions(t, err, "more than 4 GiB; want less of these")
			return nil
		})
		if taken > 1e7 {
			t.Errorf("%s: %.3g bytes were taken before the refusal", name, taken)
		}
	}
	debug.SetMemoryLimit(1 << 20) // as the environment sets it
	small := testSpec()
	small.Test = 1 << 17
	_, err := New(small, 1)
	property.Mentions(t, err, "GOMEMLIMIT=1GiB")
}

// A size beyond the memory of any machine is refused by name, and nothing overflows.
func TestFieldBeyondAllMemoryIsNamed(t *testing.T) {
	heads := func(m, n int) func(*Spec) {
		return func(s *Spec) { s.Model = Disentangled{Heads: [2]int{m, n}} }
	}
	states := func(s *Spec) {
		s.Task = law{parents: make([][]int, 3), states: 1 << 40}
	}
	for _, large := range []int{1 << 45, math.MaxInt} {
		number := strconv.Itoa(large)
		for want, change := range map[string]func(*Spec){
			"batch is " + number:           func(s *Spec) { s.Batch = large },
			"test is " + number:            func(s *Spec) { s.Test = large },
			"steps is " + number:           func(s *Spec) { s.Steps, s.Every = large, 1 },
			"heads is " + number + ",1 at": heads(large, 1),
			"heads is 1," + number:         heads(1, large),
			"width is " + number:           func(s *Spec) { s.Model = MLP{Width: large} },
			"batch is 100, which takes":    states,
		} {
			s := testSpec()
			change(&s)
			_, err := New(s, 1)
			_, set := s.TestSet()
			_, shot := s.NewSnapshot(0)
			for _, err := range []error{s.Validate(), err, set, shot} {
				property.Mentions(t, err, "spec: "+want, "GiB of memory, want at most 1.6e+04 GiB")
			}
		}
	}
	// A run may be long if it is seldom evaluated.
	s := testSpec()
	s.Steps, s.Every = math.MaxInt, 0
	shot, err := s.NewSnapshot(math.MaxInt)
	if err != nil || len(shot.Curve) < 9 || shot.Curve[len(shot.Curve)-1].Step != math.MaxInt {
		t.Errorf("snapshot %+v, %v", shot, err)
	}
}

// A graph without edges has the NaN that is read from a CSV file.
func TestAttentionWithoutEdgesIsNaN(t *testing.T) {
	spec := testSpec()
	spec.Task = Task1{Parents: []int{-1, -1, -1}, States: 3, Prior: "dirichlet(0.1)"}
	for _, p := range run(t, spec, 1).Curve {
		if math.Float64bits(p.Attention) != math.Float64bits(math.NaN()) {
			t.Fatalf("the attention has the bits %x", math.Float64bits(p.Attention))
		}
	}
}

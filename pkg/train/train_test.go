package train

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"learncausal/internal/property"
	"learncausal/pkg/graph"
	"learncausal/pkg/model"
	"learncausal/pkg/num"
	"learncausal/pkg/task"
)

func testSpec() Spec {
	return Spec{
		Task:  Task1{Parents: []int{-1, 0, 0, 2, -1, 4, -1}, States: 3, Prior: "dirichlet(0.1)"},
		Model: Disentangled{Heads: [2]int{1, 1}}, Optimiser: SGD{Rate: 1, Schedule: Cosine},
		Batch: 100, Steps: 40, Seed: 7, Test: 1500, Every: 15,
	}
}

func run(t *testing.T, spec Spec, workers int) Snapshot {
	t.Helper()
	tr, err := New(spec, workers)
	if err != nil {
		t.Fatal(err)
	}
	tr.Advance(spec.Steps)
	return tr.Snapshot()
}

// TestTrajectoryAgainstGolden follows optimisers step by step from given weights
// on given batches.
func TestTrajectoryAgainstGolden(t *testing.T) {
	for name, c := range map[string]struct {
		heads     [2]int
		optimiser Optimiser
		tol       float64
	}{
		"h11-s3t6":                   {[2]int{1, 1}, SGD{Rate: 1, Schedule: Cosine}, 1e-12},
		"adamw-h21-s3t6":             {[2]int{2, 1}, AdamW{Rate: 0.01, Schedule: Cosine, Decay: 1e-4}, 1e-10},
		"adamw-strongdecay-h21-s3t6": {[2]int{2, 1}, AdamW{Rate: 0.01, Schedule: Cosine, Decay: 0.1}, 1e-10},
	} {
		data, err := os.ReadFile("testdata/sgd-trajectory-" + name + ".json")
		if err != nil {
			t.Fatal(err)
		}
		var g struct {
			S, T, B, Steps int
			X              [][][]int
			Y              [][][]float64
			Initial        goldenParams
			Expected       struct {
				Before []float64 `json:"loss_before_step"`
				Final  goldenParams
			}
		}
		if err := json.Unmarshal(data, &g); err != nil {
			t.Fatal(err)
		}
		spec := testSpec()
		spec.Task = Task1{Parents: []int{-1, 0, 1, 2, 3, -1}, States: 3, Prior: "dirichlet(0.1)"}
		spec.Model, spec.Optimiser = Disentangled{Heads: c.heads}, c.optimiser
		spec.Batch, spec.Steps = g.B, g.Steps
		tr, w := trainer(t, spec), spec.NewWeights().(*model.Weights)
		if g.Initial.A != nil {
			g.Initial.each(w, func(_ string, ours, golden []float64) { copy(ours, golden) })
			if err := tr.Restore(Snapshot{Weights: w, Moments: zeroMoments(spec)}); err != nil {
				t.Fatal(err)
			}
		}
		for i := range g.Steps {
			b := &task.Batch{S: g.S, T: g.T, X: slices.Concat(g.X[i]...), Y: slices.Concat(g.Y[i]...)}
			if err := tr.advanceOn(b); err != nil {
				t.Fatal(err)
			}
			if d := math.Abs(tr.Loss() - g.Expected.Before[i]); !(d < 1e-12) {
				t.Errorf("%s, step %d: loss %v, want %v", name, i, tr.Loss(), g.Expected.Before[i])
			}
		}
		g.Expected.Final.each(tr.Snapshot().Disentangled(), func(array string, ours, golden []float64) {
			if d := property.MaxDiff(ours, golden); !(d < c.tol) {
				t.Errorf("%s, %s: differs by %v, want at most %v", name, array, d, c.tol)
			}
		})
	}
}

func multiSpec() Spec {
	return Spec{
		Task:      Task2{Parents: graph.Halves(9).Parents(), States: 3, Prior: "dirichlet(0.1)"},
		Model:     Disentangled{Heads: [2]int{2, 1}, Init: 1e-2},
		Optimiser: AdamW{Rate: 0.01, Schedule: Cosine, Decay: 1e-4},
		Batch:     64, Steps: 40, Seed: 7, Test: 1500, Every: 15,
	}
}

func decaySpec() Spec {
	s := testSpec()
	s.Optimiser = SGD{Rate: 1, Schedule: Cosine, Decay: 0.1}
	return s
}

func twoHeadsSpec() Spec {
	s := multiSpec()
	s.Task = Task2{Parents: graph.Halves(9).Parents(), States: 3, Prior: "dirichlet(0.1)", UniformRoots: true}
	s.Model = Disentangled{Heads: [2]int{2, 2}, Init: 1e-2}
	return s
}

func mlpSpec(m MLP) Spec {
	s := testSpec()
	s.Model, s.Optimiser = m, AdamW{Rate: 0.01, Schedule: Cosine, Decay: 2e-4}
	return s
}

func zeroMoments(s Spec) []model.Model { return s.Optimiser.Start(s.NewWeights()).Moments() }

// Fixed embeddings keep their drawn or given values, and all other weights change.
func TestFixedEmbeddingsStay(t *testing.T) {
	for k := range 4 {
		fixed, given := k%2 == 1, k >= 2
		tr, err := New(mlpSpec(MLP{Width: 8, FixedEmbeddings: fixed}), 1)
		if err != nil {
			t.Fatal(err)
		}
		if given { // weights that do not say whether theirs are
			w := model.NewMLP(3, 7, 8)
			model.Copy(w, tr.Snapshot().Weights)
			if err := tr.Restore(Snapshot{Weights: w, Moments: zeroMoments(tr.spec)}); err != nil {
				t.Fatal(err)
			}
		}
		before := tr.Snapshot().Weights.(*model.MLP)
		tr.Advance(3)
		after := tr.Snapshot().Weights.(*model.MLP)
		if stayed := mat.Equal(before.E, after.E) && mat.Equal(before.P, after.P); stayed != fixed {
			t.Errorf("embeddings that are fixed, %v, have stayed: %v", fixed, stayed)
		}
		for k, a := range model.Trained(after) {
			if slices.Equal(a, model.Trained(before)[k]) {
				t.Errorf("embeddings that are fixed, %v: array %d has not moved", fixed, k)
			}
		}
	}
}

// Every kind of spec comes back from its JSON, and nothing else is read.
func TestJSONIsReadAndWrittenInOneWay(t *testing.T) {
	uniform := testSpec()
	uniform.Task = Task1{Parents: []int{-1, 0, -1}, States: 3, Prior: "dirichlet(0.1)", UniformRoots: true}
	for _, s := range []Spec{
		uniform, testSpec(), multiSpec(), twoHeadsSpec(), decaySpec(), mlpSpec(MLP{Width: 8}),
		simplifiedSpec(), minimalSpec(),
		mlpSpec(MLP{Width: 8, FixedEmbeddings: true}),
	} {
		b, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		var got Spec
		if err := json.Unmarshal(b, &got); err != nil || !reflect.DeepEqual(got, s) {
			t.Errorf("%s is read as %+v, %v, want %+v", b, got, err, s)
		}
	}
	for _, c := range []struct {
		of        Spec
		old, new  string
		wantError string
	}{
		{multiSpec(), `"parents":null`, `"parents":[-1,-1]`, "belongs to no task"},
		{multiSpec(), `"roots":"dirichlet"`, `"roots":"none"`, `roots is "none", want dirichlet or uniform`},
		{testSpec(), `"every":15`, `"every":15,"roots":"dirichlet"`, "belongs to no task"},
		{multiSpec(), `"heads":2`, `"heads":1`, "belongs to no task"},
		{multiSpec(), `"heads":2`, `"heads":2,"second":-1`, "belongs to no task"},
		{multiSpec(), `"optimiser":"adamw"`, `"optimiser":"adam"`, `optimiser is "adam", want adamw`},
		{multiSpec(), `"optimiser":"adamw",`, ``, "belongs to no task"},
		{decaySpec(), `"coupled":0.1`, `"decay":0.1`, "belongs to no task"},
		{testSpec(), `"prior":"dirichlet(0.1)"`, `"prior":"dirichlet(0.10)"`, "belongs to no task"},
		{testSpec(), `"test":1500`, `"test":0`, "belongs to no task"},
		{multiSpec(), `"init":0.01`, `"init":0.01,"width":8,"embeddings":"fixed"`, "belongs to no task"},
		{
			mlpSpec(MLP{Width: 8}), `"embeddings":"trained"`, `"embeddings":"frozen"`,
			`embeddings is "frozen", want trained or fixed`,
		},
		{simplifiedSpec(), `"positional":"absolute"`, `"positional":"abs"`, `positional is "abs", want absolute or`},
		{simplifiedSpec(), `"betas":[0,0.999]`, `"betas":[0.9,0.999]`, "belongs to no task"},
		{simplifiedSpec(), `"betas":[0,0.999]`, `"betas":[0]`, "belongs to no task"},
		{minimalSpec(), `"chain":6`, `"chain":6,"parents":[-1,-1]`, "belongs to no task"},
		{mlpSpec(MLP{Width: 8}), `,"embeddings":"trained"`, ``, "belongs to no task"},
		{mlpSpec(MLP{Width: 8}), `"width":8,`, `"heads":2,`, "belongs to no task"},
	} {
		b, err := json.Marshal(c.of)
		if err != nil || strings.Count(string(b), c.old) != 1 {
			t.Fatalf("no %s in %s, %v", c.old, b, err)
		}
		var s Spec
		text := strings.Replace(string(b), c.old, c.new, 1)
		property.Mentions(t, json.Unmarshal([]byte(text), &s), c.wantError)
	}
	for _, s := range []Spec{{}, {Task: Task1{}, Model: Disentangled{}, Optimiser: SGD{}}} {
		if b, err := json.Marshal(s); err == nil {
			t.Errorf("a spec without a model has the JSON %s", b)
		}
	}
}

// From zero weights every sequence has the loss log S, also the last one, in a chunk of
// its own.
func TestEvaluationHasEverySequence(t *testing.T) {
	spec := testSpec()
	spec.Test = chunk + 1
	tr, err := New(spec, 2)
	if err != nil {
		t.Fatal(err)
	}
	if got := tr.Snapshot().Curve[0].Loss; math.Abs(got-math.Log(3)) > 1e-9 {
		t.Errorf("loss %v, want log 3", got)
	}
}

// The engine gives the loss, predictions and gradient of the definition.
func TestForwardAgreesWithTheDefinition(t *testing.T) {
	spec := testSpec()
	w, x, y := spec.NewWeights().(*model.Weights), []int{2, 0, 1, 1, 2, 0, 1}, []float64{0.5, 0.2, 0.3}
	src := num.Stream(1, "train/forward")
	for _, a := range model.Trained(w) {
		for i := range a {
			a[i] = num.Normal(src)
		}
	}
	dense, tables := w.Zero().(*model.Weights), w.Zero().(*model.Weights)
	wantF, want := w.Forward(x, y, dense)
	f, loss := Forward(w, x, y, tables)
	if g, _ := Forward(w, x, y, nil); !slices.Equal(f, g) {
		t.Errorf("predictions %v with a gradient, %v without", f, g)
	}
	if f, none := Forward(w, x, nil, tables); none != 0 || !floats.EqualApprox(f, wantF, 1e-14) {
		t.Errorf("without a target: loss %v, predictions %v, want 0 and %v", none, f, wantF)
	}
	got, grad := slices.Concat(model.Trained(tables)...), slices.Concat(model.Trained(dense)...)
	if !(math.Abs(loss-want) < 1e-14) || !floats.EqualApprox(f, wantF, 1e-14) || !floats.EqualApprox(got, grad, 1e-13) {
		t.Errorf("loss %v, predictions %v, want %v and %v; gradients %.3g apart", loss, f, want, wantF,
			floats.Distance(got, grad, math.Inf(1)))
	}
}

func TestPredictionsAreTheForwardsOfABatch(t *testing.T) {
	spec := testSpec()
	b, err := spec.TestSet()
	if err != nil {
		t.Fatal(err)
	}
	w := spec.NewWeights().(*model.Weights)
	for i := range model.Trained(w)[0] {
		model.Trained(w)[0][i] = math.Sin(float64(i))
	}
	for n, f := range Predictions(w, b) {
		x, _ := b.Seq(n)
		if want, _ := Forward(w, x, nil, nil); !slices.Equal(f, want) {
			t.Fatalf("sequence %d: %v, want %v", n, f, want)
		}
	}
}

func TestTask2NeedsADirichletPrior(t *testing.T) {
	k := multiSpec().Task.(Task2)
	k.Prior, k.States = "orbit(0.5 0.5; 0.5 0.5)", 2
	if _, err := k.New(); err == nil || !strings.Contains(err.Error(), k.Prior) {
		t.Errorf("error %v, want one with %s", err, k.Prior)
	}
}

// Runs of every optimiser and model have equal bytes for any number of workers, and when they
// are stopped and resumed.
func TestBytesDoNotDependOnWorkersAndStops(t *testing.T) {
	for name, spec := range map[string]Spec{
		"sgd": testSpec(), "task 2": multiSpec(), "mlp": mlpSpec(MLP{Width: 8}),
		"mlp, fixed": mlpSpec(MLP{Width: 8, FixedEmbeddings: true}),
		"simplified": simplifiedSpec(), "minimal": minimalSpec(),
	} {
		want := run(t, spec, 1)
		for _, workers := range []int{2, 7} {
			if got := run(t, spec, workers); !reflect.DeepEqual(got, want) {
				t.Errorf("%s: %d workers gave other bytes than one", name, workers)
			}
		}
		for _, stop := range []int{0, 1, 15, 39} {
			a, b := trainer(t, spec), trainer(t, spec)
			a.Advance(stop)
			b.Advance(3)
			err := b.Restore(a.Snapshot())
			c, failed := Resume(spec, 2, a.Snapshot())
			if err := errors.Join(err, failed); err != nil {
				t.Fatal(err)
			}
			for _, tr := range []*Trainer{b, c} {
				if tr.Advance(1000); !reflect.DeepEqual(tr.Snapshot(), want) {
					t.Errorf("%s: stopped at step %d and resumed: other bytes", name, stop)
				}
			}
		}
		if want.Curve[3].Step != 40 || want.Curve[3].Loss >= want.Curve[0].Loss {
			t.Errorf("%s: evaluations %v, want them at steps 0, 15, 30, 40 and a loss that falls", name, want.Curve)
		}
		spec.Seed++
		if reflect.DeepEqual(run(t, spec, 1).Weights, want.Weights) {
			t.Errorf("%s: another seed gave the same weights", name)
		}
	}
}

type goldenParams struct {
	A [][][][]float64
	W [][]float64
}

// each calls f with each array of the weights and its rows in the golden file.
func (p goldenParams) each(w *model.Weights, f func(name string, ours, golden []float64)) {
	for l, layer := range p.A {
		for h, a := range layer {
			f(fmt.Sprintf("A%d-%d", l+1, h+1), w.A[l][h].RawMatrix().Data, slices.Concat(a...))
		}
	}
	f("W", w.W.RawMatrix().Data, slices.Concat(p.W...))
}

// Frozen blocks keep their initial values to the last bit, and all others train, under both optimisers with decay.
// Scores of weights that are frozen at zero are zero: to ablate them changes no bit of the output.
func TestFrozenBlocksKeepTheirValues(t *testing.T) {
	names := []string{"A2[tokens,layer1.head1.tokens]", "A1-1"}
	for _, o := range []Optimiser{
		SGD{Rate: 1, Schedule: Constant, Decay: 0.1}, AdamW{Rate: 0.1, Schedule: Constant, Decay: 0.1},
	} {
		spec := testSpec()
		spec.Model, spec.Optimiser, spec.Freeze = Disentangled{[2]int{2, 1}, 0.3}, o, names
		start := spec
		start.Freeze = nil
		tr, err := New(start, 1)
		if err != nil {
			t.Fatal(err)
		}
		before, after := tr.Snapshot().Weights, run(t, spec, 2).Weights
		for name, frozen := range map[string]bool{
			names[0]: true, names[1]: true, "A2[tokens,tokens]": false, "A1-2": false, "W": false,
		} {
			b, err1 := model.Block(before, name)
			a, err2 := model.Block(after, name)
			if err := errors.Join(err1, err2); err != nil {
				t.Fatal(err)
			}
			if mat.Equal(a, b) != frozen {
				t.Errorf("%T: %s keeps its values: %v, want %v", o, name, !frozen, frozen)
			}
		}
	}
	spec := testSpec()
	spec.Freeze = []string{"A1"}
	w, x := run(t, spec, 1).Weights.(*model.Weights), make([]int, 7)
	f, _ := w.Forward(x, nil, nil)
	if p, err := model.Run(w, x, model.Ablate("layer1.head1.scores")); err != nil || !slices.Equal(f, p.F) {
		t.Errorf("ablated frozen zeros: %v, %v, want %v", p.F, err, f)
	}
}

// Freeze is a part of the address unless it is empty, in any order, and its names are those of blocks.
func TestFreezeInTheStoredForm(t *testing.T) {
	spec := testSpec()
	plain, _ := json.Marshal(spec)
	spec.Freeze = []string{}
	if empty, _ := json.Marshal(spec); string(empty) != string(plain) || strings.Contains(string(plain), "freeze") {
		t.Errorf("%s with nothing frozen, want %s", empty, plain)
	}
	spec.Freeze = []string{"W", "A1", "W"}
	frozen, _ := json.Marshal(spec)
	if want := `,"freeze":["A1","W"]}`; !strings.HasSuffix(string(frozen), want) {
		t.Errorf("%s, want %s at the end", frozen, want)
	}
	var again Spec
	if err := json.Unmarshal(frozen, &again); err != nil || !reflect.DeepEqual(again, spec.Canonical()) {
		t.Errorf("%+v, %v, want %+v", again, err, spec.Canonical())
	}
	spec.Freeze = []string{"A1[positons,tokens]"}
	property.Mentions(t, spec.Validate(), "spec: freeze", "positions")
	if _, err := New(spec, 1); err == nil {
		t.Error("an unknown block is trained")
	}
}

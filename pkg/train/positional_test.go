package train

import (
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"learncausal/internal/property"
	"learncausal/pkg/graph"
	"learncausal/pkg/model"
	"learncausal/pkg/num"
)

// simplifiedSpec is a small run of the simplified transformer on a 3-gram.
func simplifiedSpec() Spec {
	return Spec{
		Task:      Task2{Parents: graph.NGram(8, 2).Parents(), States: 3, Prior: "dirichlet(1)", UniformRoots: true},
		Model:     Positional{Heads: 2, Values: true, Init: 1},
		Optimiser: AdamW{Rate: 0.01, Schedule: Cosine, Decay: 1e-4, Betas: [2]float64{0, 0.999}},
		Batch:     20, Steps: 40, Seed: 3, Test: 100, Every: 15, Norms: true,
	}
}

// minimalSpec is a small run of the minimal model on a chain, with its two rates.
func minimalSpec() Spec {
	return Spec{
		Task:      Chain{Length: 6, States: 2, Prior: "doubly-stochastic(uniform)"},
		Model:     Positional{Heads: 1, Relative: true, Linear: true, Everywhere: true, Init: 0.01},
		Optimiser: SGD{Rate: 0.01, Schedule: Constant, FirstLayerRate: 100},
		Batch:     20, Steps: 40, Seed: 3, Test: 100, Every: 15, Norms: true,
	}
}

// meanGradient is the gradient on the test set, by the definition.
func meanGradient(t *testing.T, s Spec, w *model.Positional) (grad *model.Positional, loss float64) {
	b, err := s.TestSet()
	if err != nil {
		t.Fatal(err)
	}
	grad = w.Zero().(*model.Positional)
	for k := range b.Len() {
		x, y := b.Seq(k)
		_, l := w.Forward(x, y, grad)
		loss += l / float64(b.Len())
	}
	for _, g := range model.Trained(grad) {
		floats.Scale(1/float64(b.Len()), g)
	}
	return grad, loss
}

func TestNormsAreOfTheMeanGradient(t *testing.T) {
	for _, spec := range []Spec{simplifiedSpec(), minimalSpec()} {
		end := run(t, spec, 2)
		grad, loss := meanGradient(t, spec, end.Weights.(*model.Positional))
		want := []float64{floats.Norm(slices.Concat(model.Trained(grad)...), 2)}
		for _, g := range model.Trained(grad) {
			want = append(want, floats.Norm(g, 2))
		}
		got := end.Curve[len(end.Curve)-1]
		if !floats.EqualApprox(got.Norms, want, 1e-14) || math.Abs(got.Loss-loss) > 1e-14 {
			t.Errorf("%s: norms %v at loss %v, want %v at %v", modelKind(spec.Model).name(), got.Norms, got.Loss, want, loss)
		}
		if names := spec.NormNames(); len(names) != len(want) || names[1] != grad.Matrices()[0].Name {
			t.Errorf("names %v for %d norms", names, len(want))
		}
		spec.Norms = false
		without := run(t, spec, 2)
		if !reflect.DeepEqual(without.Weights, end.Weights) || without.Curve[2].Norms != nil ||
			without.Curve[2].Loss != end.Curve[2].Loss {
			t.Errorf("%s: a run without norms differs", modelKind(spec.Model).name())
		}
	}
}

// One step of SGD by the definition, with its factor in the first layer; the minimal model at its initial weights
// has a first layer without gradient, so that the weights come from a later step.
func TestSGDHasARateOfTheFirstLayer(t *testing.T) {
	spec := minimalSpec()
	tr := trainer(t, spec)
	if err := tr.Advance(5); err != nil {
		t.Fatal(err)
	}
	w := tr.Snapshot().Weights.(*model.Positional)
	grad, b := w.Zero().(*model.Positional), drawn(t, spec, 5)
	for k := range b.Len() {
		x, y := b.Seq(k)
		w.Forward(x, y, grad)
	}
	if grad.A[0].At(0, 1) == 0 {
		t.Fatal("no gradient in the first layer")
	}
	floats.AddScaled(w.A[0].RawMatrix().Data, -1./20, grad.A[0].RawMatrix().Data)
	floats.AddScaled(w.W.RawMatrix().Data, -0.01/20, grad.W.RawMatrix().Data)
	if err := tr.Advance(1); err != nil {
		t.Fatal(err)
	}
	for k, got := range model.Trained(tr.Snapshot().Weights) {
		if d := property.MaxDiff(got, model.Trained(w)[k]); !(d < 1e-15) {
			t.Errorf("array %d differs by %.2g", k, d)
		}
	}
}

// First is of the first layer alone, also in a model with matrices of a second one.
func TestSGDScalesNoSecondLayer(t *testing.T) {
	spec := Spec{
		Task: Task1{Parents: []int{-1, 0, 1, -1}, States: 2, Prior: "dirichlet(1)"}, Test: 64, Every: 4,
		Model: Disentangled{Heads: [2]int{1, 1}, Init: 0.3}, Batch: 16, Steps: 8, Seed: 1,
	}
	var moved [2][]float64 // the norm of the step of each matrix, without First and with it
	for k, first := range []float64{0, 3} {
		spec.Optimiser = SGD{Rate: 0.5, Schedule: Constant, FirstLayerRate: first}
		tr := trainer(t, spec)
		if err := tr.Advance(1); err != nil { // the first step moves W alone, which is zero before
			t.Fatal(err)
		}
		var before [][]float64
		for _, m := range model.Trained(tr.Snapshot().Weights) {
			before = append(before, slices.Clone(m))
		}
		if err := tr.Advance(1); err != nil {
			t.Fatal(err)
		}
		for i, after := range model.Trained(tr.Snapshot().Weights) {
			moved[k] = append(moved[k], floats.Distance(after, before[i], 2))
		}
	}
	for i, factor := range []float64{3, 1} { // A1, A2; the rest has one rate
		if got := moved[1][i] / moved[0][i]; !(math.Abs(got-factor) < 1e-9) {
			t.Errorf("matrix %d moves %v times as far, want %v", i+1, got, factor)
		}
	}
}

// The first step of AdamW with beta1 = 0 and any beta2 is the rate times the sign of the gradient. In later steps
// the moments remember by their betas.
func TestAdamWHasItsBetas(t *testing.T) {
	spec := simplifiedSpec()
	spec.Optimiser = AdamW{Rate: 0.01, Schedule: Constant, Betas: [2]float64{0, 0.5}}
	tr := trainer(t, spec)
	if err := tr.Advance(1); err != nil {
		t.Fatal(err)
	}
	before := tr.Snapshot()
	w := before.Weights.(*model.Positional)
	grad, b := w.Zero().(*model.Positional), drawn(t, spec, 1)
	for k := range b.Len() {
		x, y := b.Seq(k)
		w.Forward(x, y, grad)
	}
	if err := tr.Advance(1); err != nil {
		t.Fatal(err)
	}
	after := tr.Snapshot().Weights.(*model.Positional)
	for k, g := range model.Trained(grad) {
		for j, v := range g {
			v /= 20
			second := 0.5*model.Trained(before.Moments[1])[k][j] + 0.5*v*v
			want := model.Trained(w)[k][j] - 0.01*v/(math.Sqrt(second/(1-0.25))+1e-8)
			if got := model.Trained(after)[k][j]; !(math.Abs(got-want) < 1e-12) {
				t.Fatalf("entry %d of array %d is %v, want %v", j, k, got, want)
			}
		}
	}
}

// A given default is no other run, and stored bytes have the constants 0.1 and 0.001, which 1-0.9 in floats is not.
func TestGivenDefaultsAreTheDefaults(t *testing.T) {
	spec := multiSpec()
	given := spec
	o := spec.Optimiser.(AdamW)
	o.Betas = [2]float64{0.9, 0.999}
	given.Optimiser = o
	if a, b := digest(run(t, spec, 1)), digest(run(t, given, 1)); a != b {
		t.Errorf("digests %s and %s", a, b)
	}
	sgd := testSpec()
	first := sgd
	first.Optimiser = SGD{Rate: 1, Schedule: sgd.Optimiser.(SGD).Schedule, FirstLayerRate: 1}
	sgd.Optimiser = SGD{Rate: 1, Schedule: sgd.Optimiser.(SGD).Schedule}
	a, err1 := json.Marshal(sgd)
	b, err2 := json.Marshal(first)
	if err1 != nil || err2 != nil || string(a) != string(b) {
		t.Errorf("%s and %s, %v, %v", a, b, err1, err2)
	}
}

// cosineSGD and cosineAdamW have a schedule of a reader.
type (
	cosineSGD   struct{ SGD }
	cosineAdamW struct{ AdamW }
)

func cosine(rate float64, i int) float64 {
	return float64(rate * float64(0.5*(1+num.CosPi(float64(i)/40))))
}

func (o cosineSGD) RateAt(i, _ int) float64   { return cosine(o.Rate, i) }
func (o cosineAdamW) RateAt(i, _ int) float64 { return cosine(o.Rate, i) }

func TestScheduleOfAReaderTrainsAndIsNotStored(t *testing.T) {
	for _, spec := range []Spec{testSpec(), simplifiedSpec()} {
		own, want := spec, spec
		switch o := spec.Optimiser.(type) {
		case SGD:
			own.Optimiser = cosineSGD{o}
			o.Schedule = Cosine
			want.Optimiser = o
		case AdamW:
			own.Optimiser = cosineAdamW{o}
			o.Schedule = Cosine
			want.Optimiser = o
		}
		if a, b := digest(run(t, own, 2)), digest(run(t, want, 1)); a != b {
			t.Errorf("a cosine of one's own has the digest %s, want %s", a, b)
		}
		if b, err := json.Marshal(own); err == nil || !strings.Contains(err.Error(), "has no JSON") {
			t.Errorf("JSON %s, %v", b, err)
		}
	}
	own := testSpec()
	for want, o := range map[string]Optimiser{
		"decay is -1":                     cosineSGD{SGD{Rate: 1, Schedule: Constant, Decay: -1}},
		"betas are [1 0], want numbers":   AdamW{Rate: 1, Schedule: Constant, Betas: [2]float64{1, 0}},
		"first is -1, want a nonnegative": SGD{Rate: 1, Schedule: Constant, FirstLayerRate: -1},
	} {
		own.Optimiser = o
		property.Mentions(t, own.Validate(), want)
	}
}

func TestWrongPositionalModelsAreRefused(t *testing.T) {
	for want, m := range map[string]Positional{
		"heads is 0":                     {Init: 1},
		"init is 0, want a positive":     {Heads: 1},
		"want one head without values":   {Heads: 2, Linear: true, Init: 1},
		"with values true in a linear m": {Heads: 1, Linear: true, Values: true, Init: 1},
	} {
		spec := simplifiedSpec()
		spec.Model = m
		property.Mentions(t, spec.Validate(), want)
	}
	spec := minimalSpec()
	spec.Task = Chain{Length: 1, States: 2, Prior: "unigram(1)"}
	property.Mentions(t, spec.Validate(), "chain is 1, want 2 to 1048576 tokens")
}

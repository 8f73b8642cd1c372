package train

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"learncausal/internal/property"
	"learncausal/pkg/graph"
	"learncausal/pkg/model"
)

func TestProperties(t *testing.T) {
	property.Test(t, property.Table{
		"Spec.Validate New Task1.New Task2.New": eachSpec(validated),
		"Spec.NewSnapshot":                      eachSpec(snapshots),
		"Spec.TestSet Spec.Memory":              eachSpec(testSets),
		"Spec.S Spec.T":                         eachSpec(numbers),
		"Spec.MarshalJSON Spec.UnmarshalJSON Spec.Canonical Spec.Experiment": eachSpec(oneForm),
		"Spec.Attention Spec.HeadAttentions Spec.MeanAttention Spec.Edges":   attentions,
		"Trainer.Advance Trainer.Restore Resume":                             restored,
		"CheckMemory":                                                        memory,
		"Snapshot.Disentangled":                                              disentangled,
	})
}

// eachSpec returns a property that holds f for some specs.
func eachSpec(f func(t *rapid.T, s Spec, right bool)) func(*rapid.T) {
	return func(t *rapid.T) {
		for range 5 {
			s, right := drawSpec(t)
			f(t, s, right)
		}
	}
}

// said returns the message of an error of a spec or of this package, or "".
func said(t *rapid.T, err error) string {
	if err != nil && strings.HasPrefix(err.Error(), "spec: ") {
		return err.Error()
	}
	return property.Said(t, "train", err)
}

// small reports whether a valid spec is within the memory limit.
func small(s Spec) bool { return s.Memory(1) <= limit() }

// rightSpec draws a spec that can be trained at once.
func rightSpec(t *rapid.T) Spec {
	s, right := drawSpec(t)
	if !right || s.Steps > 6 || !small(s) {
		t.Skip("a wrong spec")
	}
	return s
}

func validated(t *rapid.T, s Spec, right bool) {
	property.Decide(t, right, said(t, s.Validate()))
	tr, err := New(s, rapid.IntRange(-1, 20).Draw(t, "workers"))
	property.Decide(t, right && small(s), said(t, err))
	if (tr != nil) != (err == nil) {
		t.Fatal("a trainer and an error, or neither")
	}
	switch k := s.Task.(type) {
	case Task1:
		_, err = k.New()
	case Task2:
		_, err = k.New()
	}
	if refused := said(t, err); right && s.Task != nil && refused != "" {
		t.Fatalf("the task of a right spec is refused: %s", refused)
	}
}

func snapshots(t *rapid.T, s Spec, right bool) {
	step := property.Int().Draw(t, "step")
	if rapid.Bool().Draw(t, "a small step") {
		step = rapid.IntRange(0, 6).Draw(t, "small step")
	}
	c := s.Canonical()
	fits := right && step >= 0 && step <= s.Steps &&
		8*(copies(s.Optimiser)*modelKind(s.Model).footprint(s.S(), s.T()).Weights+c.points()) <= limit()
	got, err := s.NewSnapshot(step)
	if !property.Decide(t, fits, said(t, err)) {
		return
	}
	if got.Step != step || !s.holds(got.Weights) {
		t.Fatalf("snapshot %+v", got)
	}
	for i, p := range got.Curve {
		if last := i == len(got.Curve)-1; p.Step != i*c.Every && !(last && p.Step == s.Steps) || p.Step > step {
			t.Fatalf("%d steps, every %d: snapshot at %d with the curve %v", s.Steps, c.Every, step, got.Curve)
		}
	}
	if n := got.Curve[len(got.Curve)-1].Step; step-n >= c.Every || step == s.Steps && n != step {
		t.Fatalf("%d steps, every %d: snapshot at %d with the curve %v", s.Steps, c.Every, step, got.Curve)
	}
}

// memory asks for any number of bytes, and for the very limit.
func memory(t *rapid.T) {
	bytes := rapid.OneOf(property.Float(), rapid.Just(limit())).Draw(t, "bytes")
	err := CheckMemory(bytes, "the runs at hand")
	if property.Decide(t, bytes <= limit(), said(t, err)) {
		return
	}
	if text := err.Error(); !strings.Contains(text, "the runs at hand") || !strings.Contains(text, gigabytes(limit())) {
		t.Fatalf("%v bytes: %s", bytes, text)
	}
}

func testSets(t *rapid.T, s Spec, right bool) {
	var bytes float64
	if property.Decide(t, right, property.Refused(t, "train", func() { bytes = s.Memory(0) })) &&
		!(bytes > 100 && bytes <= math.MaxFloat64) {
		t.Fatalf("%v bytes", bytes)
	}
	b, err := s.TestSet()
	fits := right && float64(s.Test)*float64(s.S()+s.T())*8 <= limit()
	if !property.Decide(t, fits, said(t, err)) {
		return
	}
	if b.Len() != s.Canonical().Test {
		t.Fatalf("%d test sequences, want %d", b.Len(), s.Canonical().Test)
	}
	for k := range b.Len() {
		x, y := b.Seq(k)
		if err := model.Check(x, y, s.S(), s.T()); err != nil {
			t.Fatal(err)
		}
	}
}

func numbers(t *rapid.T, s Spec, right bool) {
	property.Decide(t, s.Task != nil, property.Refused(t, "train", func() { s.S() }))
	property.Decide(t, s.Task != nil, property.Refused(t, "train", func() { s.T() }))
	if right {
		i := rapid.IntRange(0, s.Steps).Draw(t, "step")
		at := func(i int) float64 { return s.Optimiser.RateAt(i, s.Steps) }
		if !(at(i) >= 0 && at(i) <= at(0)) {
			t.Fatalf("rate %v at step %d of %+v", at(i), i, s)
		}
	}
}

func oneForm(t *rapid.T, s Spec, right bool) {
	c := s.Canonical()
	if fmt.Sprint(c) != fmt.Sprint(c.Canonical()) {
		t.Fatalf("%+v, and again %+v", c, c.Canonical())
	}
	if complete := s.Task != nil && s.Model != nil && s.Optimiser != nil; (s.Description() != "") != complete {
		t.Fatalf("experiment %q of %+v", s.Description(), s)
	}
	text, err := s.MarshalJSON()
	if err == nil {
		same, err := c.MarshalJSON()
		if err != nil || string(same) != string(text) {
			t.Fatalf("%s, and %s of the canonical form", text, same)
		}
	}
	if refused := said(t, err); refused == "" {
		var back Spec
		if err := back.UnmarshalJSON(text); right && (err != nil || !reflect.DeepEqual(back, c)) {
			t.Fatalf("%s is read as %+v, %v", text, back, err)
		}
	} else if right {
		t.Fatalf("a right spec has no JSON: %s", refused)
	}
}

// anyWeights draws weights of any model.
func anyWeights(t *rapid.T, s Spec) model.Model {
	switch rapid.IntRange(0, 5).Draw(t, "weights") {
	case 0:
		return nil
	case 1:
		return model.NewWeights(s.S()+1, s.T(), 1, 1)
	case 2:
		return model.NewWeights(s.S(), s.T(), 1)
	case 3:
		return model.NewMLP(s.S(), s.T(), 9)
	}
	return s.NewWeights()
}

// checkEdges holds edges to the graph of the spec, whose mean attention is given:
// all of its edges are there, in order, and each row has its largest entry.
func checkEdges(t *rapid.T, s Spec, edges []Edge, mean float64) {
	sum, most := 0.0, make([]float64, s.T())
	given := s.Task.ParentSets()
	for k, e := range edges {
		if k > 0 && (e.Child < edges[k-1].Child || e.Child == edges[k-1].Child && e.Parent <= edges[k-1].Parent) {
			t.Fatalf("edges %v are not in order", edges)
		}
		most[e.Child] = max(most[e.Child], e.Attention)
		if at := slices.Index(given[e.Child], e.Parent); at >= 0 {
			sum += e.Attention
		}
	}
	if n := len(slices.Concat(given...)); n > 0 && !property.Near(sum/float64(n), mean, 1e-12) {
		t.Fatalf("the mean over the %d edges of the graph is %v, want %v: %v", n, sum/float64(n), mean, edges)
	}
	for i, p := range most {
		if !(p >= 1/float64(i+1)-1e-12) {
			t.Fatalf("the largest attention of row %d is %v: %v", i, p, edges)
		}
	}
}

func attentions(t *rapid.T) {
	s := rightSpec(t)
	w := anyWeights(t, s)
	right := w != nil && model.SameShape(w, s.NewWeights())
	var mean float64
	if property.Decide(t, right, property.Refused(t, "train", func() { mean = s.Attention(w) })) {
		edges := len(slices.Concat(s.Task.ParentSets()...))
		if math.IsNaN(mean) != (edges == 0) || edges > 0 && !(mean > 0 && mean <= 1) {
			t.Fatalf("attention %v with %d edges", mean, edges)
		}
	}
	var edges []Edge
	if property.Decide(t, right, property.Refused(t, "train", func() { edges = s.Edges(w) })) {
		checkEdges(t, s, edges, mean)
	}
	for _, of := range []func(model.Model) []*mat.Dense{s.MeanAttention, s.HeadAttentions} {
		var heads []*mat.Dense
		if !property.Decide(t, right, property.Refused(t, "train", func() { heads = of(w) })) {
			continue
		}
		for i := range s.T() {
			if row := heads[0].RawRowView(i); !property.Near(floats.Sum(row), 1, 1e-12) {
				t.Fatalf("row %d is %v", i, row)
			}
		}
	}
}

func restored(t *rapid.T) {
	s := rightSpec(t)
	tr, err := New(s, 1)
	if err != nil {
		t.Fatal(err)
	}
	n := property.Int().Draw(t, "n")
	if err := tr.Advance(n); tr.Step() != min(max(n, 0), s.Steps) && err == nil {
		t.Fatalf("%d steps after Advance(%d)", tr.Step(), n)
	}
	shot := tr.Snapshot()
	moments := len(shot.Moments)
	right := true
	switch rapid.IntRange(0, 4).Draw(t, "fault") {
	case 0:
		shot.Step = property.Int().Draw(t, "step")
		right = shot.Step >= 0 && shot.Step <= s.Steps
	case 1:
		shot.Weights = anyWeights(t, s)
		right = shot.Weights != nil && model.SameShape(shot.Weights, s.NewWeights())
	case 2:
		shot.Moments, right = nil, moments == 0
	case 3:
		shot.Moments, right = []model.Model{nil, s.NewWeights()}, moments == 0
	}
	if property.Decide(t, right, said(t, tr.Restore(shot))) && tr.Step() != shot.Step {
		t.Fatalf("brought back to step %d, want %d", tr.Step(), shot.Step)
	}
	again, err := Resume(s, 1, shot)
	if property.Decide(t, right, said(t, err)) && again.Step() != shot.Step {
		t.Fatalf("resumed at step %d, want %d", again.Step(), shot.Step)
	}
}

func disentangled(t *rapid.T) {
	s := rightSpec(t)
	_, right := s.Model.(Disentangled)
	property.Decide(t, right, property.Refused(t, "train", func() { Snapshot{Weights: s.NewWeights()}.Disentangled() }))
	property.Decide(t, false, property.Refused(t, "train", func() { Snapshot{}.Disentangled() }))
}

// choices are the drawn values that a spec of any task, model and optimiser is made of.
type choices struct {
	rate, decay, init float64
	schedule          Schedule
	prior             string
	heads             [2]int
	states, width     int
}

// drawSpec draws a small spec in which at most one thing is wrong, and whether
// that is so.
func drawSpec(t *rapid.T) (s Spec, right bool) {
	s = Spec{
		Batch: rapid.IntRange(1, 9).Draw(t, "batch"), Steps: rapid.IntRange(1, 6).Draw(t, "steps"),
		Seed: rapid.Uint64().Draw(t, "seed"),
		Test: rapid.IntRange(0, 9).Draw(t, "test"), Every: rapid.IntRange(0, 9).Draw(t, "every"),
	}
	c := choices{
		rate:     rapid.Float64Range(0.01, 2).Draw(t, "rate"),
		schedule: rapid.SampledFrom([]Schedule{Constant, Cosine}).Draw(t, "schedule"),
		decay:    rapid.SampledFrom([]float64{0, 0.1}).Draw(t, "decay"),
		states:   rapid.IntRange(2, 3).Draw(t, "states"),
		prior:    rapid.SampledFrom([]string{"dirichlet(0.1)", "dirichlet(0.50)", "dirichlet(1e0)"}).Draw(t, "prior"),
		heads:    [2]int{rapid.IntRange(1, 2).Draw(t, "heads"), rapid.IntRange(1, 2).Draw(t, "second")},
		init:     rapid.SampledFrom([]float64{0, 0.1}).Draw(t, "init"),
		width:    rapid.IntRange(1, 4).Draw(t, "width"),
	}
	right = c.spoil(t, &s)
	if rapid.Bool().Draw(t, "mlp") {
		s.Model = MLP{c.width, rapid.Bool().Draw(t, "fixed"), rapid.Bool().Draw(t, "residual")}
		right = right && c.width > 0 && c.width < 1<<16
	} else {
		s.Model = Disentangled{c.heads, c.init}
		right = right && min(c.heads[0], c.heads[1]) > 0 && max(c.heads[0], c.heads[1]) < 1<<16 &&
			c.init >= 0 && c.init <= math.MaxFloat64
	}
	s.Optimiser = SGD{Rate: c.rate, Schedule: c.schedule, Decay: c.decay}
	if rapid.Bool().Draw(t, "adamw") {
		s.Optimiser = AdamW{Rate: c.rate, Schedule: c.schedule, Decay: c.decay}
	}
	parents := rapid.SliceOfN(rapid.IntRange(-1, 2), 0, 4).Draw(t, "parents")
	_, err := graph.New(parents)
	if err != nil && right && rapid.Bool().Draw(t, "right parents") {
		parents, err = []int{-1, 0, 0, -1}, nil
	}
	uniform := rapid.Bool().Draw(t, "uniform roots")
	s.Task = Task1{Parents: parents, States: c.states, Prior: c.prior, UniformRoots: uniform}
	if rapid.Bool().Draw(t, "task 2") {
		nodes := graph.NGram(3, 2).Parents()
		if rapid.IntRange(0, 5).Draw(t, "bad nodes") == 0 {
			nodes[2] = rapid.SampledFrom([][]int{{2}, {-1}, {0, 0}, {7}}).Draw(t, "node")
		}
		_, err = graph.NewDAG(nodes)
		s.Task = Task2{nodes, c.states, c.prior, rapid.Bool().Draw(t, "uniform roots"), 0}
	}
	right = right && err == nil
	switch rapid.IntRange(0, 30).Draw(t, "missing") {
	case 0:
		s.Task, right = nil, false
	case 1:
		s.Model, right = nil, false
	case 2:
		s.Optimiser, right = nil, false
	}
	return s, right
}

// spoil changes at most one field of s or of the choices, and reports whether it is still right;
// heads, init and width are checked by the caller.
func (c *choices) spoil(t *rapid.T, s *Spec) (right bool) {
	switch rapid.IntRange(0, 14).Draw(t, "fault") {
	case 0:
		s.Batch = property.Int().Draw(t, "any batch")
		return s.Batch > 0 && s.Batch < 1<<36 // of at most 7 numbers each
	case 1:
		s.Steps = property.Int().Draw(t, "any steps")
		return s.Steps > 0 && (s.Every == 0 || s.Steps/s.Every < 7e11)
	case 2:
		s.Test = property.Int().Draw(t, "any test")
		return s.Test >= 0 && s.Test < 1<<36
	case 3:
		s.Every = property.Int().Draw(t, "any every")
		return s.Every >= 0
	case 4:
		c.rate = property.Float().Draw(t, "any rate")
		return c.rate > 0 && c.rate <= math.MaxFloat64
	case 5:
		c.decay = property.Float().Draw(t, "any decay")
		return c.decay >= 0 && c.decay <= math.MaxFloat64
	case 6:
		c.schedule = "linear"
		return false
	case 7:
		c.states = property.Int().Draw(t, "any states")
		return c.states >= 2 && c.states <= 255
	case 8:
		c.prior = rapid.SampledFrom(
			[]string{"", "dirichlet", "dirichlet()", "dirichlet(-1)", "dirichlet(NaN)", "orbit(1)", "beta(1)"},
		).Draw(t, "bad prior")
		return false
	case 9:
		c.heads[rapid.IntRange(0, 1).Draw(t, "layer")] = property.Int().Draw(t, "any heads")
		c.width = property.Int().Draw(t, "any width")
	case 10:
		c.init = property.Float().Draw(t, "any init")
	}
	return true
}

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
	"learncausal/pkg/markov"
	"learncausal/pkg/model"
	"learncausal/pkg/task"
)

func TestProperties(t *testing.T) {
	property.Test(t, property.Table{
		"Spec.Validate New Task1.New Task2.New":     eachSpec(validated),
		"Spec.NewSnapshot":                          eachSpec(snapshots),
		"Spec.TestSet Spec.Memory Spec.CheckMemory": eachSpec(testSets),
		"Spec.S Spec.T":                             eachSpec(numbers),
		"Spec.MarshalJSON Spec.UnmarshalJSON Spec.Canonical Spec.Experiment": eachSpec(oneForm),
		"Spec.Attention Spec.HeadAttentions Spec.MeanAttention Spec.Edges":   attentions,
		"Trainer.Advance Trainer.Restore Resume":                             restored,
		"Own":                                                                own,
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
		8*(copies(s.Optimiser)*s.Model.footprint(s.S(), s.T()).Weights+c.points()) <= limit()
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
	var err error
	if property.Decide(t, right, property.Refused(t, "train", func() { err = s.CheckMemory(0) })) &&
		(err == nil) != (bytes <= limit()) {
		t.Fatalf("%v bytes: %v", bytes, err)
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
		if first, _ := s.Optimiser.rate(); !(s.rateAt(i) >= 0 && s.rateAt(i) <= first) {
			t.Fatalf("rate %v at step %d of %+v", s.rateAt(i), i, s)
		}
	}
}

func oneForm(t *rapid.T, s Spec, right bool) {
	c := s.Canonical()
	if fmt.Sprint(c) != fmt.Sprint(c.Canonical()) {
		t.Fatalf("%+v, and again %+v", c, c.Canonical())
	}
	if complete := s.Task != nil && s.Model != nil && s.Optimiser != nil; (s.Experiment() != "") != complete {
		t.Fatalf("experiment %q of %+v", s.Experiment(), s)
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
	given := s.Task.parents()
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
		edges := len(slices.Concat(s.Task.parents()...))
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

func own(t *rapid.T) {
	prior, err := markov.NewDirichlet(2, 1)
	if err != nil {
		t.Fatal(err)
	}
	k := task.Task{Graph: graph.MustNew(-1, 0, -1), Prior: prior}
	graphs, priors := rapid.Bool().Draw(t, "graph"), rapid.Bool().Draw(t, "prior")
	if !graphs {
		k.Graph = nil
	}
	if !priors {
		k.Prior = nil
	}
	var o OwnTask
	if property.Decide(t, graphs && priors, property.Refused(t, "train", func() { o = Own(k) })) {
		if o.States != 2 || !reflect.DeepEqual(o.Parents, [][]int{nil, {0}, nil}) {
			t.Fatalf("%+v", o)
		}
	}
}

func disentangled(t *rapid.T) {
	s := rightSpec(t)
	_, right := s.Model.(Disentangled)
	property.Decide(t, right, property.Refused(t, "train", func() { Snapshot{Weights: s.NewWeights()}.Disentangled() }))
	property.Decide(t, false, property.Refused(t, "train", func() { Snapshot{}.Disentangled() }))
}

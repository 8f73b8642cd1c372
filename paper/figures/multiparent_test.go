package figures

import (
	"math"
	"reflect"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat/combin"

	"learncausal/pkg/model"
	"learncausal/pkg/runs"
	"learncausal/pkg/train"
)

// planted returns weights whose heads attend to the parents of m in the places
// given by the function for each node.
func planted(m MultiParent, place func(head, node int) int) *MultiRun {
	spec := m.Spec(0)
	heads := spec.Model.(train.Disentangled).Heads
	w := model.NewWeights(spec.S(), spec.T(), heads[:]...)
	for i, ps := range m.Graph.Parents()[:w.T] {
		if len(ps) == 0 {
			continue
		}
		for h, a := range w.A[0] {
			a.Set(w.S+i, w.S+ps[place(h, i)], 20)
		}
	}
	return NewMultiRun(m.Graph, &runs.Run{Spec: spec, Final: train.Snapshot{Weights: w}})
}

func TestHeadsAreMatchedWithTheirParents(t *testing.T) {
	for _, m := range MultiParents() {
		k := len(m.Parents)
		for _, order := range combin.Permutations(k, k) {
			r := planted(m, func(head, _ int) int { return order[head] })
			for l, h := range r.Head {
				if order[h] != l {
					t.Errorf("%s: head %d is matched with parent %d, planted was %d", m.Name, h, l, order[h])
				}
			}
			if !r.HasSplit() || len(r.Split) != len(r.Nodes) || len(r.Swapped) != 0 || r.MeanAttention(r.Attention) < 0.99 {
				t.Errorf("%s, order %v: %d of %d nodes split, agreement %v", m.Name, order, len(r.Split), len(r.Nodes), r.MeanAttention(r.Attention))
			}
		}
	}
}

func TestSwapsAndSharedParentsAreSeen(t *testing.T) {
	m, err := MultiParentNamed("halves")
	if err != nil {
		t.Fatal(err)
	}
	r := planted(m, func(head, i int) int {
		switch {
		case i == 16:
			return 1 - head
		case i < 8:
			return 0
		}
		return head
	})
	if !slices.Equal(r.Swapped, []int{16}) {
		t.Errorf("swapped at %v, want at 16", r.Swapped)
	}
	if r.HasSplit() || slices.Contains(r.Split, 5) || !slices.Contains(r.Split, 8) {
		t.Errorf("split at %v, want all from 8 but 16", r.Split)
	}
	if r.On(r.Attention[0]) < 0.9 || r.On(r.Attention[1]) > 0.8 {
		t.Errorf("attention on the parents is %v and %v, want nearly 1 and about 22/29", r.On(r.Attention[0]), r.On(r.Attention[1]))
	}
}

// The posterior mean given the edges is the Bayes predictor of Task 2. A paired
// difference below -4 standard errors has false-alarm probability 3e-5; that the
// predictor with one parent is far worse shows that the comparison can fail.
func TestNoRunBeatsThePosteriorMean(t *testing.T) {
	for _, m := range MultiParents() {
		r, err := stored(t.Context(), m.Spec(0))
		if err != nil {
			t.Fatal(err)
		}
		l, err := NewMultiRun(m.Graph, r).compare(t.Context(), 1<<12)
		if err != nil {
			t.Fatal(err)
		}
		if z := l.ModelLessEdges.Z(); z < -4 {
			t.Errorf("%s is %.1f standard errors below the Bayes predictor", m.Name, z)
		}
		if l.BestOneParent().Mean < l.Edges.Mean+10*l.Edges.StdErr {
			t.Errorf("%s: one parent gives %v, all of them %v", m.Name, l.BestOneParent(), l.Edges)
		}
	}
}

func TestThePrintedSettingDiffersWhereThePaperDoes(t *testing.T) {
	for _, m := range MultiParents() {
		code, paper := m.Spec(0), m.InPrint().Spec(0)
		task, codeTask := paper.Task.(train.Task2), code.Task.(train.Task2)
		net, codeNet := paper.Model.(train.Disentangled), code.Model.(train.Disentangled)
		adamW, codeAdamW := paper.Optimiser.(train.AdamW), code.Optimiser.(train.AdamW)
		if task.Prior != "dirichlet(1)" || !task.UniformRoots {
			t.Errorf("%s: %+v", m.Name, task)
		}
		if net.Heads[1] != len(m.Parents) || adamW.Decay != 0 || net.Init != 0.01 {
			t.Errorf("%s: %+v, %+v", m.Name, net, adamW)
		}
		task.Prior, task.UniformRoots = codeTask.Prior, codeTask.UniformRoots
		net.Heads[1], net.Init, adamW.Decay = codeNet.Heads[1], codeNet.Init, codeAdamW.Decay
		paper.Task, paper.Model, paper.Optimiser = task, net, adamW
		if !reflect.DeepEqual(paper, code) {
			t.Errorf("%s: the settings differ in more than prior, roots, heads of the second layer, decay and initial weights", m.Name)
		}
	}
}

// The bounds of 1 in 5 and 3 in 3 as tables of the Clopper-Pearson interval give
// them; 0 in n and n in n have one bound in closed form.
func TestBinomialIntervalIsThatOfTables(t *testing.T) {
	for _, c := range []struct {
		k, n      int
		low, high float64
	}{
		{1, 5, 0.00505, 0.71642},
		{3, 3, math.Pow(0.025, 1.0/3), 1},
		{0, 5, 0, 1 - math.Pow(0.025, 1.0/5)},
	} {
		b := BinomialInterval(c.k, c.n)
		if math.Abs(b[0]-c.low) > 1e-5 || math.Abs(b[1]-c.high) > 1e-5 {
			t.Errorf("%d of %d: %v, want %v to %v", c.k, c.n, *b, c.low, c.high)
		}
	}
}

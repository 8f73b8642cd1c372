package figures

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"learncausal/paper/trial"

	"gonum.org/v1/gonum/stat"

	"gonum.org/v1/gonum/stat/combin"

	"learncausal/internal/runs"
	"learncausal/pkg/model"
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
			on := r.MeanAttention(r.Attention)
			if !r.HasSplit() || r.Split != r.Nodes || r.Swapped != 0 || on < 0.99 {
				t.Errorf("%s, order %v: %d of %d split, attention %v", m.Name, order, r.Split, r.Nodes, on)
			}
		}
	}
}

func TestSwapsAndSharedParentsAreCounted(t *testing.T) {
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
	if want := (Splitting{Nodes: 29, Split: 22, Swapped: 1}); r.Splitting != want || r.HasSplit() {
		t.Errorf("%+v, want %+v: split from 8 on, swapped at 16", r.Splitting, want)
	}
	if r.On(r.Attention[0]) < 0.9 || r.On(r.Attention[1]) > 0.8 {
		t.Errorf("attention on the parents %v and %v, want nearly 1 and about 22/29",
			r.On(r.Attention[0]), r.On(r.Attention[1]))
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
			t.Errorf("%s: the settings differ in more than prior, roots, heads, decay and initial weights", m.Name)
		}
	}
}

// The bounds of 1 in 5 and 3 in 3 as tables of the Clopper-Pearson interval give
// them; 0 in n and n in n have one bound in closed form.
func TestBinomialIntervalEqualsTheTables(t *testing.T) {
	for _, c := range []struct {
		k, n      int
		low, high float64
	}{
		{1, 5, 0.00505, 0.71642},
		{3, 3, math.Pow(0.025, 1.0/3), 1},
		{0, 5, 0, 1 - math.Pow(0.025, 1.0/5)},
	} {
		b := trial.BinomialInterval(c.k, c.n)
		if math.Abs(b[0]-c.low) > 1e-5 || math.Abs(b[1]-c.high) > 1e-5 {
			t.Errorf("%d of %d: %v, want %v to %v", c.k, c.n, *b, c.low, c.high)
		}
	}
}

func TestSplitRun(t *testing.T) {
	m := MultiParents()[0] // node i has the parents i-2 and i-1, from the third on
	o := &trial.Outcome{Spec: m.Spec(7), Curve: []trial.OutcomePoint{
		{Step: 0, Loss: 1}, {Step: 10, Loss: 0.2}, {Step: 20, Loss: 0.09}, {Step: 30, Loss: 0},
	}}
	for i, parents := range m.Graph.Parents()[:31] {
		for l, j := range parents {
			o.Edges = append(o.Edges, trial.Edge{Parent: j, Child: i, Attention: 0.9, Head: l, Given: true})
		}
	}
	edge := func(parent, child int) *trial.Edge {
		is := func(e trial.Edge) bool { return e.Parent == parent && e.Child == child }
		return &o.Edges[slices.IndexFunc(o.Edges, is)]
	}
	edge(8, 10).Head, edge(9, 10).Head = 1, 0 // swapped
	edge(11, 12).Attention = 0.5              // neither
	got := newSplitRun(m, o)
	counts := [5]int{got.Nodes, got.Split, got.Swapped, int(got.Seed), got.Fallen()}
	if counts != [5]int{29, 27, 1, 7, 20} || !got.HasSplit() {
		t.Errorf("%+v, fallen at %d", got, got.Fallen())
	}
	edge(12, 13).Attention = 0.3
	if got := newSplitRun(m, o); got.Split != 26 || got.HasSplit() {
		t.Errorf("%d of 29 nodes are split, and so is the run: %v", got.Split, got.HasSplit())
	}
	all := mustLoad(t, severalParents)
	all[0].Spec.Batch /= 2
	if _, err := newSplits(all); err == nil || !strings.Contains(err.Error(), "no setting") {
		t.Errorf("half the batch: error %v", err)
	}
}

// Figure 5 shows the median seed, which is not one that fails where most do not.
func TestFigure5ShowsTheMedianSeed(t *testing.T) {
	all, err := multiRuns(t.Context(), shared)
	if err != nil {
		t.Fatal(err)
	}
	f := headsFigure(all)
	for k, m := range all {
		r := median(m)
		below, above := 0, 0
		on := r.MeanAttention(r.Attention)
		for _, other := range m.Runs {
			switch a := other.MeanAttention(other.Attention); {
			case a < on:
				below++
			case a > on:
				above++
			}
		}
		if n := len(m.Runs); below > n/2 || above > n/2 || 2*m.SplitSeeds() > n && !r.HasSplit() {
			t.Errorf("%s: %d seeds below the one shown, %d above; it has split: %v", m.Name, below, above, r.HasSplit())
		}
		for l := range r.Head {
			title := f.Rows[k][1+l].Title
			if want := fmt.Sprintf("%.2f", r.On(r.Attention[l])); !strings.HasPrefix(title, want+" on ") {
				t.Errorf("%s: head %d stands under %q, want %s", m.Name, l, title, want)
			}
		}
	}
	if strings.Contains(f.Caption, "seeds only") {
		t.Errorf("the caption tells of a seed that fails: %s", f.Caption)
	}
	sharing := *all[1].Runs[0]
	sharing.Split = 0
	all = slices.Clone(all)
	all[1].Runs = append([]*MultiRun{&sharing}, all[1].Runs[1:]...)
	if caption := headsFigure(all).Caption; !strings.Contains(caption, "in 3 of 4 seeds only") {
		t.Errorf("the caption does not tell of the seed that fails: %s", caption)
	}
}

// Figure 7 takes from each row of the position block its mean, and nothing else.
func TestRowsOfThePositionBlockAreCentred(t *testing.T) {
	w := model.NewWeights(2, 4, 1, 1)
	a := w.A[0][0].RawMatrix().Data
	for k := range a {
		a[k] = math.Sin(float64(k))
	}
	before := slices.Clone(a)
	for i, row := range centred(w, w.A[0][0]) {
		for j, v := range row {
			seen := i >= 2 && j >= 2 && j <= i
			if seen && math.Abs(v-row[2]-(before[6*i+j]-before[6*i+2])) > 1e-12 || !seen && v != before[6*i+j] {
				t.Errorf("entry (%d, %d) is %v, was %v", i, j, v, before[6*i+j])
			}
		}
		if i >= 2 && math.Abs(stat.Mean(row[2:i+1], nil)) > 1e-12 {
			t.Errorf("row %d has the mean %v", i, stat.Mean(row[2:i+1], nil))
		}
	}
	if !slices.Equal(a, before) {
		t.Error("the weights have changed")
	}
}

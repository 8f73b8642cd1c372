package model

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"learncausal/internal/property"
)

// transformers are one model of each kind with random weights, over 2 tokens and 3 positions.
func transformers() map[string]Transformer {
	rnd := rand.New(rand.NewPCG(3, 4))
	all := map[string]Transformer{
		"disentangled": randomWeights(rnd, 0.7, 2, 3, 2, 1), "MLP": NewMLP(2, 3, 4), "residual": NewResidualMLP(2, 3, 4),
		"standard": randomWeights(rnd, 0.7, 2, 3, 1, 1).Standard(),
	}
	for k, name := range []string{"MLP", "residual"} {
		property.Fill(rand.New(rand.NewPCG(5, uint64(k))), 0.7, Trained(all[name].(*MLP))...)
	}
	return all
}

var (
	oneSequence, otherSequence = []int{0, 1, 1}, []int{1, 0, 1}
	oneTarget                  = []float64{0.3, 0.7}
)

func mustRun(t *testing.T, w Transformer, x []int, e Edit) *Pass {
	t.Helper()
	p, err := Run(w, x, e)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func take(t *testing.T, a Activations, names ...string) Edit {
	t.Helper()
	e, err := a.Take(names...)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// The pass without an edit is Forward, and a patch by the values of the other sequence, of everything or of any
// stream, gives the output of the other sequence to the last bit. A patch by the model's own values changes nothing.
func TestPatchingAStreamGivesTheOtherOutput(t *testing.T) {
	for name, w := range transformers() {
		one, other := mustRun(t, w, oneSequence, nil), mustRun(t, w, otherSequence, nil)
		if slices.Equal(one.F, other.F) {
			t.Fatalf("%s has one output on both sequences", name)
		}
		every := slices.Sorted(maps.Keys(one.Activations))
		cuts := [][]string{every, {"stream0"}, {"stream1"}, {"stream2"}, {"logits"}, {"logits[2]"}, {"stream2[2]"}}
		for _, cut := range cuts {
			if f := mustRun(t, w, oneSequence, take(t, other.Activations, cut...)).F; !slices.Equal(f, other.F) {
				t.Errorf("%s patched at %q gives %v, want %v", name, cut, f, other.F)
			}
		}
		for _, activation := range every {
			if f := mustRun(t, w, oneSequence, take(t, one.Activations, activation)).F; !slices.Equal(f, one.F) {
				t.Errorf("%s with its own %s gives %v, want %v", name, activation, f, one.F)
			}
		}
		if f := mustRun(t, w, oneSequence, take(t, other.Activations, "stream2[1]")).F; !slices.Equal(f, one.F) {
			t.Errorf("%s: position 1 of the last stream changes the output at position 2", name)
		}
	}
	w := transformers()["disentangled"].(*Weights)
	if f, _ := w.Forward(oneSequence, nil, nil); !slices.Equal(f, mustRun(t, w, oneSequence, nil).F) {
		t.Error("Run is not Forward")
	}
}

// Scores of an attention matrix that is zero are zero: to ablate them changes no bit, and to ablate others does.
func TestAblatingZeroChangesNothing(t *testing.T) {
	w := transformers()["disentangled"].(*Weights)
	w.A[0][1].Zero()
	f := mustRun(t, w, oneSequence, nil).F
	if g := mustRun(t, w, oneSequence, Ablate("layer1.head2.scores")).F; !slices.Equal(f, g) {
		t.Errorf("without the scores of zero weights the output is %v, want %v", g, f)
	}
	if g := mustRun(t, w, oneSequence, Ablate("layer1.head1.scores")).F; slices.Equal(f, g) {
		t.Error("the scores of random weights make no difference")
	}
}

// The gradient by each entry of each activation is the central difference of the loss, with and without an edit
// of other entries.
func TestGradientOfActivationsIsTheCentralDifference(t *testing.T) {
	const step = 1e-5
	for name, w := range transformers() {
		edits := mustRun(t, w, otherSequence, nil).Activations
		for _, base := range []Edit{nil, take(t, edits, "layer1.head1.out[1]", "layer2.head1.pattern[2,1]")} {
			p := mustRun(t, w, oneSequence, base)
			gradient := p.Gradient(oneTarget)
			loss := func(at string, v float64) float64 {
				e := Edit{at: mat.NewDense(1, 1, []float64{v})}
				for name, m := range base {
					if !strings.HasPrefix(at, name) {
						e[name] = m
					}
				}
				return mustRun(t, w, oneSequence, e).Loss(oneTarget)
			}
			for activation, g := range gradient {
				rows, cols := g.Dims()
				for k := range rows * cols {
					at, v := fmt.Sprintf("%s[%d,%d]", activation, k/cols, k%cols), p.Activations[activation].At(k/cols, k%cols)
					want := (loss(at, v+step) - loss(at, v-step)) / (2 * step)
					if activation == "layer1.head1.out" && k/cols == 1 && base != nil {
						continue // the edit of this row would undo the step
					}
					if got := g.At(k/cols, k%cols); !(math.Abs(got-want) < 1e-8) {
						t.Errorf("%s: gradient by %s is %v, want %v", name, at, got, want)
					}
				}
			}
		}
	}
}

// Upstream of an activation that is set, nothing matters.
func TestNoGradientPassesAnEdit(t *testing.T) {
	for name, w := range transformers() {
		p := mustRun(t, w, oneSequence, Ablate("stream2"))
		g := p.Gradient(oneTarget)
		if n := mat.Norm(g["stream1"], 1); n != 0 {
			t.Errorf("%s: gradient by the first stream of norm %v behind a second that is set", name, n)
		}
		if mat.Norm(g["stream2"], 1) == 0 {
			t.Errorf("%s: no gradient by the second stream", name)
		}
	}
}

// Of overlapping edits the one of fewer entries stands, and the mean is entry by entry.
func TestEditsOfFewerEntriesStand(t *testing.T) {
	w := transformers()["MLP"]
	row := mat.NewDense(1, 4, []float64{1, 2, 3, 4})
	nine := mat.NewDense(1, 1, []float64{9})
	p := mustRun(t, w, oneSequence, Edit{"stream1[2,3]": nine, "stream1[2]": row, "stream1": nil})
	if got := p.Activations["stream1"]; mat.Sum(got) != 10-4+9 || got.At(2, 3) != 9 {
		t.Errorf("stream %v", mat.Formatted(got))
	}
	other := mustRun(t, w, otherSequence, nil)
	if got := Mean([]Activations{p.Activations, other.Activations})["stream1"].At(2, 3); got !=
		(9+other.Activations["stream1"].At(2, 3))/2 {
		t.Errorf("mean %v", got)
	}
}

func TestUnknownActivationsAndBlocksAreNamed(t *testing.T) {
	w := transformers()["disentangled"].(*Weights)
	p := mustRun(t, w, oneSequence, nil)
	for at, want := range map[string]string{
		"layer1.head1.patern": "layer1.head1.pattern", "layer3.head1.out": "layer2.head1.out",
		"stream1[3]": "3 x 15", "stream1[0,15]": "3 x 15", "stream1[x]": "stream1[3]", "stream1[-1]": "stream1[3]",
		"stream1[1,2,3]": "stream1[3,0]", "": "no activation",
	} {
		_, err := p.At(at)
		property.Mentions(t, err, want)
		_, err = Run(w, oneSequence, Ablate(at))
		property.Mentions(t, err, want)
		_, err = p.Take("stream0", at)
		property.Mentions(t, err, want)
	}
	_, err := Run(w, oneSequence, Edit{"stream0[1]": mat.NewDense(1, 3, nil)})
	property.Mentions(t, err, "stream0[1]", "1 x 3", "1 x 5")
	for at, want := range map[string]string{
		"A1": "A1-1", "A1-1[position,tokens]": "positions", "A1-1[tokens]": "A1[tokens,tokens]",
		"A1-1[layer1.head1.tokens,tokens]": "no part of stream 0", "A2[tokens,layer2.head1.tokens]": "no part of stream 1",
		"A2[tokens,layer1.head3.tokens]": "layer1.head2.tokens", "W[tokens,tokens]": "W[tokens]", "A2[tokens": "A1[positions",
		"A1-1[]": "form such as",
	} {
		_, err := Block(w, at)
		property.Mentions(t, err, want)
	}
	_, err = Block(NewMLP(2, 3, 4), "V1[tokens,tokens]")
	property.Mentions(t, err, "disentangled")
	headless := &Weights{S: w.S, T: w.T, A: w.A}
	if h := headless.Stream(oneSequence); !mat.Equal(h, p.Activations["stream2"]) {
		t.Error("without W the stream is another one")
	}
	for want, f := range map[string]func(){
		"W is 0 x 0": func() { _, _ = Run(headless, oneSequence, nil) },
		"stream 3":   func() { w.Parts(3) }, "no activations": func() { Mean(nil) },
		"sums to 3": func() { p.Loss([]float64{1, 2}) }, "target": func() { p.Gradient([]float64{1}) },
	} {
		property.Mentions(t, errors.New(property.Refused(t, "model", f)), want)
	}
}

// The columns of a part of a stream hold what its name says, and blocks are entries of the weights.
func TestPartsAreColumnsOfStreams(t *testing.T) {
	w := transformers()["disentangled"].(*Weights)
	p := mustRun(t, w, oneSequence, nil)
	for layer := range 3 {
		parts, h := w.Parts(layer), p.Activations[fmt.Sprintf("stream%d", layer)]
		at := 0
		for _, part := range parts {
			if part.From != at {
				t.Errorf("%s begins at %d, want %d", part.Name, part.From, at)
			}
			at = part.To
			source, base := h.Slice(0, 3, part.From, part.To), p.Activations["stream0"].Slice(0, 3, 0, 2)
			if strings.HasSuffix(part.Name, "positions") {
				base = p.Activations["stream0"].Slice(0, 3, 2, 5)
			}
			names := strings.Split(part.Name, ".")
			for k := len(names) - 3; k >= 0; k -= 2 { // the innermost head stands last
				base = product(p.Activations[names[k]+"."+names[k+1]+".pattern"], base)
			}
			if !mat.EqualApprox(source, base, 1e-15) {
				t.Errorf("%s of stream %d is %v, want %v", part.Name, layer, mat.Formatted(source), mat.Formatted(base))
			}
		}
		if _, d := h.Dims(); at != d {
			t.Errorf("the parts of stream %d have %d columns, want %d", layer, at, d)
		}
	}
	b, err := Block(w, "A2[tokens,layer1.head2.tokens]")
	if err != nil {
		t.Fatal(err)
	}
	b.Set(1, 1, 7)
	if rows, cols := b.Dims(); rows != 2 || cols != 2 || w.A[1][0].At(1, 11) != 7 {
		t.Errorf("a block of %d x %d that is not row 1 and column 10+1 of A2", rows, cols)
	}
	if b, err = Block(w, "W[layer2.head1.tokens]"); err != nil || b.At(0, 0) != w.W.At(15, 0) {
		t.Errorf("the block of W begins elsewhere: %v", err)
	}
}

// An edit of a wrong size is an error, whichever edits are right beside it.
func TestAGoodEditHidesNoBadOne(t *testing.T) {
	for name, w := range transformers() {
		own := mustRun(t, w, oneSequence, nil).Activations
		all := slices.Sorted(maps.Keys(own))
		for _, bad := range all {
			e := Edit{bad: mat.NewDense(7, 5, nil)}
			for _, good := range all {
				if good != bad {
					e[good] = own[good]
				}
			}
			if _, err := Run(w, oneSequence, e); err == nil {
				t.Errorf("%s: an edit of %s of 7 x 5 is accepted beside good ones", name, bad)
			}
		}
	}
}

func TestALinearPositionalModelHasOneHeadWithoutValues(t *testing.T) {
	for _, f := range []PositionalForm{
		{S: 2, T: 3, Heads: 1, Linear: true, Values: true}, {S: 2, T: 3, Heads: 2, Linear: true},
	} {
		said := property.Refused(t, "model", func() { NewPositional(f) })
		property.Mentions(t, errors.New(said), "want one head and no values")
	}
}

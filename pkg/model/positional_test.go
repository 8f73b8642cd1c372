package model

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"learncausal/internal/property"
)

var positionalForms = map[string]PositionalForm{
	"absolute":               {S: 3, T: 5, Heads: 2},
	"relative":               {S: 3, T: 5, Heads: 2, Relative: true},
	"values":                 {S: 3, T: 5, Heads: 2, Values: true},
	"everywhere":             {S: 3, T: 5, Heads: 1, Everywhere: true, Values: true},
	"everywhere, relative":   {S: 3, T: 5, Heads: 2, Everywhere: true, Relative: true},
	"linear":                 {S: 3, T: 5, Heads: 1, Linear: true, Relative: true},
	"linear, everywhere":     {S: 3, T: 5, Heads: 1, Linear: true, Relative: true, Everywhere: true},
	"linear, absolute, wide": {S: 4, T: 6, Heads: 1, Linear: true, Everywhere: true},
}

func randomPositional(rnd *rand.Rand, form PositionalForm) *Positional {
	w := NewPositional(form)
	property.Fill(rnd, 0.8, Trained(w)...)
	return w
}

func TestPositionalGradientAgainstCentralDifferences(t *testing.T) {
	rnd := rand.New(rand.NewPCG(25, 26))
	for name, form := range positionalForms {
		t.Run(name, func(t *testing.T) {
			w := randomPositional(rnd, form)
			grad := w.Zero().(*Positional)
			x, y := property.Sequence(rnd, form.S, form.T)
			w.Forward(x, y, grad)
			loss := func() (loss float64) { _, loss = w.Forward(x, y, nil); return loss }
			centralDifferences(t, loss, Trained(w), Trained(grad))
		})
	}
}

// disentangled returns the disentangled transformer whose Linear is the mixture of w: its second layer compares
// the token parts of the streams by Q K, and its output matrix reads the token part of the second layer.
func disentangled(w *Positional) *Weights {
	d := NewWeights(w.S, w.T, w.Heads, 1)
	for h := range w.A {
		for i := range w.T {
			for j := range i + 1 {
				d.A[0][h].Set(w.S+i, w.S+j, w.A[h].At(w.entry(i, j)))
			}
		}
	}
	u, width := (1+w.Heads)*w.S, (1+w.Heads)*(w.S+w.T)
	embed := mat.NewDense(width, u, nil) // of the token parts
	for b := range 1 + w.Heads {
		for a := range w.S {
			for c := range w.S {
				v := map[bool]float64{true: 1}[a == c]
				if b > 0 && w.Values {
					v = w.V[b-1].At(a, c)
				}
				embed.Set(b*(w.S+w.T)+a, b*w.S+c, v)
			}
		}
	}
	var left, right mat.Dense
	left.Mul(embed, w.Q)
	right.Mul(w.K, embed.T())
	d.A[1][0].Mul(&left, &right)
	for a := range w.S {
		d.W.Set(width+a, a, 1)
	}
	return d
}

func TestMixtureIsTheOutputOfADisentangledTransformer(t *testing.T) {
	rnd := rand.New(rand.NewPCG(27, 28))
	for name, form := range positionalForms {
		if form.Linear {
			continue
		}
		w := randomPositional(rnd, form)
		x, y := property.Sequence(rnd, form.S, form.T)
		got, want := w.Predictions(x), disentangled(w).Linear(x)
		if d := property.MaxDiff(got.RawMatrix().Data, want.RawMatrix().Data); !(d < 1e-14) {
			t.Errorf("%s: the mixtures differ by %.2g", name, d)
		}
		if _, loss := w.Forward(x, y, nil); !(math.Abs(loss-lossOf(w, x, y, 1e-8)) < 1e-13) {
			t.Errorf("%s: loss %v, want %v", name, loss, lossOf(w, x, y, 1e-8))
		}
	}
}

// lossOf is the loss of the predictions of w, to whose probabilities floor is added.
func lossOf(w *Positional, x []int, y []float64, floor float64) (loss float64) {
	f, last := w.Predictions(x), w.T-1
	for s, p := range y {
		loss -= p * math.Log(f.At(last, s)+floor)
	}
	if !w.Everywhere {
		return loss
	}
	for i := range last {
		loss -= math.Log(f.At(i, x[i+1]) + floor)
	}
	return loss / float64(w.T)
}

func TestMinimalModelAgainstItsFormula(t *testing.T) {
	rnd := rand.New(rand.NewPCG(29, 30))
	for name, form := range positionalForms {
		if !form.Linear {
			continue
		}
		w := randomPositional(rnd, form)
		x, y := property.Sequence(rnd, form.S, form.T)
		p, got := w.PositionAttentions()[0], w.Predictions(x)
		for i := range x {
			logits, sum := make([]float64, form.S), 0.0
			for j := range i + 1 {
				for k := range j + 1 {
					logits[x[j]] += w.W.At(x[i], x[k]) * p.At(j, k)
				}
			}
			for _, v := range logits {
				sum += math.Exp(v)
			}
			for s, v := range logits {
				if d := math.Abs(got.At(i, s) - math.Exp(v)/sum); !(d < 1e-14) {
					t.Errorf("%s: f at position %d differs by %.2g", name, i, d)
				}
			}
		}
		if _, loss := w.Forward(x, y, nil); !(math.Abs(loss-lossOf(w, x, y, 0)) < 1e-13) {
			t.Errorf("%s: loss %v, want %v", name, loss, lossOf(w, x, y, 0))
		}
	}
}

// Attention is lower triangular with rows that are distributions, and f is the last prediction, a distribution.
func TestPositionalPredictsDistributions(t *testing.T) {
	for name, form := range positionalForms {
		w := NewPositional(form)
		x, y := random(w, form.S, form.T, 3)
		for _, p := range w.PositionAttentions() {
			attended(t, p)
		}
		f, _ := w.Forward(x, y, nil)
		if err := w.Validate(); err != nil || CheckTarget(f, form.S) != nil {
			t.Errorf("%s: f is %v, weights %v", name, f, err)
		}
		near(t, name, w.Predictions(x).RawRowView(form.T-1), f)
		other := form
		other.T++
		property.Refuses(t, "model", map[string]func(){
			name + ", a gradient of another length": func() { w.Forward(x, nil, NewPositional(other)) },
			name + ", a sequence of another length": func() { w.Forward(x[1:], nil, nil) },
		})
		w.A[0] = mat.NewDense(form.T+1, form.T, nil)
		if w.Validate() == nil {
			t.Errorf("%s: a first layer of another size is valid", name)
		}
		property.Refuses(t, "model", map[string]func(){name + ", wrong": func() { w.Forward(x, nil, nil) }})
	}
	property.Refuses(t, "model", map[string]func(){
		"a form without tokens":      func() { NewPositional(PositionalForm{T: 3, Heads: 1}) },
		"a form without heads":       func() { NewPositional(PositionalForm{S: 2, T: 3}) },
		"a linear form of two heads": func() { NewPositional(PositionalForm{S: 2, T: 3, Heads: 2, Linear: true}) },
		"a linear form with values": func() {
			NewPositional(PositionalForm{S: 2, T: 3, Heads: 1, Linear: true, Values: true})
		},
	})
}

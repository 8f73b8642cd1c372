package train

import (
	"math"

	"learncausal/pkg/model"
	"learncausal/pkg/num"
)

// AdamW's constants, the defaults of Loshchilov and Hutter (ICLR 2019).
const (
	beta1   = 0.9
	beta2   = 0.999
	epsilon = 1e-8
)

// adamW is Adam with decoupled weight decay. With g the gradient of step i,
// counted from 0,
//
//	m <- beta1 m + (1-beta1) g,  v <- beta2 v + (1-beta2) g^2
//	theta <- theta - rate(i) (m/(1-beta1^(i+1)) / (sqrt(v/(1-beta2^(i+1))) + epsilon) + decay theta)
type adamW struct {
	decay         float64
	first, second *model.Weights // m and v
	grad          *model.Weights
}

func newAdamW(spec Spec) *adamW {
	return &adamW{spec.Decay, spec.NewWeights(), spec.NewWeights(), spec.NewWeights()}
}

// step takes step i with the gradient c g.
func (a *adamW) step(w *model.Weights, g *model.Gradient, c, rate float64, i int) {
	for _, p := range a.grad.Arrays() {
		clear(p)
	}
	g.AddTo(a.grad, c)
	unbias1, unbias2 := 1/(1-power(beta1, i+1)), 1/(1-power(beta2, i+1))
	ms, vs, gs := a.first.Trained(), a.second.Trained(), a.grad.Trained()
	for k, theta := range w.Trained() {
		m, v, g := ms[k][:len(theta)], vs[k][:len(theta)], gs[k][:len(theta)]
		for j, x := range theta {
			m[j] = float64(beta1*m[j]) + float64((1-beta1)*g[j])
			v[j] = float64(beta2*v[j]) + float64((1-beta2)*float64(g[j]*g[j]))
			d := float64(m[j]*unbias1) / (math.Sqrt(float64(v[j]*unbias2)) + epsilon)
			theta[j] = x - float64(rate*(d+float64(a.decay*x)))
		}
	}
}

// power returns x^n by squaring.
func power(x float64, n int) float64 {
	p := 1.0
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			p = float64(p * x)
		}
		x = float64(x * x)
	}
	return p
}

// initial returns the weights at step 0.
func initial(spec Spec) *model.Weights {
	w := spec.NewWeights()
	if w.MLP != nil {
		initialMLP(spec, w.MLP)
	}
	if spec.Init == 0 {
		return w
	}
	for l, layer := range w.A {
		for h, a := range layer {
			src := num.Stream(spec.Seed, "init", uint64(l), uint64(h))
			for i := range a {
				a[i] = float64(spec.Init * num.Normal(src))
			}
		}
	}
	return w
}

// initialMLP is the initialisation of the authors' released code: normal
// embeddings, V and In of standard deviation 1/sqrt(d); attention, Out, the
// biases and the output matrix start at zero.
func initialMLP(spec Spec, m *model.MLP) {
	sd := 1 / math.Sqrt(float64(m.Width))
	normal := func(v []float64, purpose string, l int) {
		src := num.Stream(spec.Seed, "init "+purpose, uint64(l))
		for i := range v {
			v[i] = float64(sd * num.Normal(src))
		}
	}
	normal(m.E, "E", 0)
	normal(m.P, "P", 0)
	for l, layer := range m.Layers {
		normal(layer.V, "V", l)
		normal(layer.In, "In", l)
	}
}

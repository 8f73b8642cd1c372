package train

import (
	"fmt"
	"math"

	"learncausal/pkg/internal/engine"
	"learncausal/pkg/internal/simd"
	"learncausal/pkg/model"
)

// An Optimiser updates the weights by the gradient: [SGD] or [AdamW].
type Optimiser interface {
	rate() (float64, Schedule)
	// start returns the optimiser's state at step 0 for weights like w.
	start(w model.Model) state
	validate() error
	name() string
}

// Schedule is the dependence of the learning rate on the step.
type Schedule string

// The rate of step i, counted from 0.
const (
	Constant Schedule = "constant" // Rate
	Cosine   Schedule = "cosine"   // Rate (1 + cos(pi i/Steps)) / 2
)

// SGD is stochastic gradient descent,
//
//	theta <- theta - rate(i) (g + Decay theta)
//
// with g the gradient of the mean cross-entropy of batch i. A rate is required.
type SGD struct {
	Rate     float64 // initial learning rate
	Schedule Schedule
	Decay    float64 // weight decay, coupled to the gradient
}

// AdamW is Adam with decoupled weight decay. With g the gradient of step i, counted from 0,
//
//	m <- beta1 m + (1-beta1) g,  v <- beta2 v + (1-beta2) g^2
//	theta <- theta - rate(i) (m/(1-beta1^(i+1)) / (sqrt(v/(1-beta2^(i+1))) + epsilon) + Decay theta)
//
// A rate is required.
type AdamW struct {
	Rate     float64 // initial learning rate
	Schedule Schedule
	Decay    float64 // weight decay
}

// AdamW's constants, the defaults of Loshchilov and Hutter (ICLR 2019).
const (
	beta1   = 0.9
	beta2   = 0.999
	epsilon = 1e-8
)

// state is the state of an optimiser.
type state interface {
	// step takes step i at the given rate, with g the sum of the gradients of n sequences.
	step(w model.Model, g engine.Gradient, n int, rate float64, i int)
	// moments returns the whole state, shared.
	moments() []model.Model
}

func (o SGD) rate() (float64, Schedule)   { return o.Rate, o.Schedule }
func (o AdamW) rate() (float64, Schedule) { return o.Rate, o.Schedule }

func (o SGD) validate() error { return AdamW(o).validate() }

func (o AdamW) validate() error {
	switch {
	case !(o.Decay == 0 || positive(o.Decay)):
		return fmt.Errorf("spec: decay is %v, want a nonnegative number", o.Decay)
	case !positive(o.Rate):
		return fmt.Errorf("spec: rate is %v, want a positive number", o.Rate)
	case o.Schedule != Constant && o.Schedule != Cosine:
		return fmt.Errorf("spec: schedule is %q, want %s or %s", o.Schedule, Constant, Cosine)
	}
	return nil
}

func (o SGD) name() string   { return ", SGD" }
func (o AdamW) name() string { return "" }

func (o SGD) start(model.Model) state { return sgd{o.Decay} }

func (o AdamW) start(w model.Model) state {
	return &adamW{o.Decay, w.Zero(), w.Zero(), w.Zero()}
}

type sgd struct{ decay float64 }

func (sgd) moments() []model.Model { return nil }

func (o sgd) step(w model.Model, g engine.Gradient, n int, rate float64, _ int) {
	if o.decay > 0 {
		keep := 1 - float64(rate*o.decay)
		for _, theta := range model.Trained(w) {
			for j, x := range theta {
				theta[j] = float64(keep * x)
			}
		}
	}
	g.AddTo(w, -rate/float64(n))
}

type adamW struct {
	decay         float64
	first, second model.Model // m and v
	grad          model.Model
}

func (a *adamW) moments() []model.Model { return []model.Model{a.first, a.second} }

func (a *adamW) step(w model.Model, g engine.Gradient, n int, rate float64, i int) {
	gs := model.Trained(a.grad)
	for _, p := range gs {
		clear(p)
	}
	g.AddTo(a.grad, 1/float64(n))
	unbias1, unbias2 := 1/(1-simd.Power(beta1, i+1)), 1/(1-simd.Power(beta2, i+1))
	ms, vs := model.Trained(a.first), model.Trained(a.second)
	for k, theta := range model.Trained(w) {
		m, v, g := ms[k][:len(theta)], vs[k][:len(theta)], gs[k][:len(theta)]
		for j, x := range theta {
			m[j] = float64(beta1*m[j]) + float64((1-beta1)*g[j])
			v[j] = float64(beta2*v[j]) + float64((1-beta2)*float64(g[j]*g[j]))
			d := float64(m[j]*unbias1) / (math.Sqrt(float64(v[j]*unbias2)) + epsilon)
			theta[j] = x - float64(rate*(d+float64(a.decay*x)))
		}
	}
}

package train

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"learncausal/pkg/internal/engine"
	"learncausal/pkg/internal/simd"
	"learncausal/pkg/model"
)

// An Optimiser updates the weights by the gradient: [SGD], [AdamW] or [OwnRate].
type Optimiser interface {
	rate() (float64, Schedule)
	canonical() Optimiser // without defaults that are given
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
	First    float64 // factor of the rate for attention matrices of the first layer; 0 stands for 1
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
	Decay    float64    // weight decay
	Betas    [2]float64 // beta1 and beta2, in [0, 1); both 0 stand for 0.9 and 0.999
}

// OwnRate is another optimiser at a learning rate that is a function of the step. It has no JSON and so no address.
type OwnRate struct {
	Optimiser                        // SGD or AdamW, whose rate and schedule are not used
	At        func(step int) float64 // the rate of a step, counted from 0
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

func (o SGD) canonical() Optimiser {
	o.First = choose(o.First == 1, 0, o.First)
	return o
}

func (o AdamW) canonical() Optimiser {
	o.Betas = choose(o.Betas == [2]float64{beta1, beta2}, [2]float64{}, o.Betas)
	return o
}

func (o OwnRate) canonical() Optimiser { return o }

func (o SGD) rate() (float64, Schedule)   { return o.Rate, o.Schedule }
func (o AdamW) rate() (float64, Schedule) { return o.Rate, o.Schedule }

func (o SGD) validate() error {
	if !(o.First == 0 || positive(o.First)) {
		return fmt.Errorf("spec: first is %v, want a nonnegative number", o.First)
	}
	return validRate(o.Rate, o.Decay, o.Schedule)
}

func (o AdamW) validate() error {
	for _, beta := range o.Betas {
		if !(beta >= 0 && beta < 1) {
			return fmt.Errorf("spec: betas are %v, want numbers from 0 to below 1", o.Betas)
		}
	}
	return validRate(o.Rate, o.Decay, o.Schedule)
}

func (o OwnRate) validate() error {
	if o.At == nil {
		return errors.New("spec: an own rate without a function of the step")
	}
	switch base := o.Optimiser.(type) {
	case SGD:
		base.Rate, base.Schedule = 1, Constant
		return base.validate()
	case AdamW:
		base.Rate, base.Schedule = 1, Constant
		return base.validate()
	}
	return fmt.Errorf("spec: an own rate of %T, want SGD or AdamW", o.Optimiser)
}

func validRate(rate, decay float64, schedule Schedule) error {
	switch {
	case !(decay == 0 || positive(decay)):
		return fmt.Errorf("spec: decay is %v, want a nonnegative number", decay)
	case !positive(rate):
		return fmt.Errorf("spec: rate is %v, want a positive number", rate)
	case schedule != Constant && schedule != Cosine:
		return fmt.Errorf("spec: schedule is %q, want %s or %s", schedule, Constant, Cosine)
	}
	return nil
}

func (o SGD) name() string   { return ", SGD" }
func (o AdamW) name() string { return "" }

func (o SGD) start(w model.Model) state {
	if o.First == 0 {
		return sgd{decay: o.Decay}
	}
	return sgd{o.Decay, o.First, w.Zero()}
}

func (o AdamW) start(w model.Model) state {
	betas, rests := o.Betas, [2]float64{1 - o.Betas[0], 1 - o.Betas[1]}
	if betas == [2]float64{} {
		betas, rests = [2]float64{beta1, beta2}, [2]float64{1 - beta1, 1 - beta2} // constants, which round once
	}
	return &adamW{o.Decay, betas, rests, w.Zero(), w.Zero(), w.Zero()}
}

type sgd struct {
	decay, first float64
	grad         model.Model // nil for one rate
}

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
	if o.grad == nil {
		g.AddTo(w, -rate/float64(n))
		return
	}
	gs := o.grad.Matrices()
	for _, m := range gs {
		clear(m.Data)
	}
	g.AddTo(o.grad, -rate/float64(n))
	for k, m := range w.Matrices() {
		c := 1.0
		if strings.HasPrefix(m.Name, "A1") {
			c = o.first
		}
		for j, d := range gs[k].Data {
			m.Data[j] += float64(c * d)
		}
	}
}

type adamW struct {
	decay         float64
	betas, rests  [2]float64  // beta and 1 - beta
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
	beta1, beta2, rest1, rest2 := a.betas[0], a.betas[1], a.rests[0], a.rests[1]
	unbias1, unbias2 := 1/(1-simd.Power(beta1, i+1)), 1/(1-simd.Power(beta2, i+1))
	ms, vs := model.Trained(a.first), model.Trained(a.second)
	for k, theta := range model.Trained(w) {
		m, v, g := ms[k][:len(theta)], vs[k][:len(theta)], gs[k][:len(theta)]
		for j, x := range theta {
			m[j] = float64(beta1*m[j]) + float64(rest1*g[j])
			v[j] = float64(beta2*v[j]) + float64(rest2*float64(g[j]*g[j]))
			d := float64(m[j]*unbias1) / (math.Sqrt(float64(v[j]*unbias2)) + epsilon)
			theta[j] = x - float64(rate*(d+float64(a.decay*x)))
		}
	}
}

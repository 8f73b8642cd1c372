package train

import (
	"fmt"
	"math"
	"strings"

	"learncausal/pkg/internal/engine"
	"learncausal/pkg/internal/simd"
	"learncausal/pkg/model"
	"learncausal/pkg/num"
)

// An Optimiser updates the weights by the gradient: [SGD] or [AdamW], which have JSON, or a type of the reader's own. A
// type that embeds one of these has its steps at other rates with a RateAt of its own. [Register] gives a type of one's
// own a JSON.
type Optimiser interface {
	// Validate returns an error that names the wrong field. The other methods are called after it returned none.
	Validate() error
	// RateAt returns the learning rate of a step of a run, counted from 0.
	RateAt(step, steps int) float64
	// Start returns the optimiser at step 0 of weights like w.
	Start(w model.Model) Steps
}

// Steps are the steps of an optimiser on the weights of one run.
type Steps interface {
	// Step takes step i, counted from 0, with the gradient of the mean loss of its batch.
	Step(w model.Model, g Gradient, rate float64, i int)
	// Moments returns the whole state besides the weights, shared. It is stored, and set when a run is resumed.
	Moments() []model.Model
}

// A Gradient is the gradient of the mean loss of a batch.
type Gradient struct {
	sum engine.Gradient
	n   int // sequences
}

// AddTo adds c times the gradient to w, and nothing to matrices that are fixed. It panics if w has other matrices than
// the weights of the run.
func (g Gradient) AddTo(w model.Model, c float64) { g.sum.AddTo(w, c/float64(g.n)) }

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
	// FirstLayerRate is the factor of the rate for attention matrices of the first layer, whose names are A1 or begin with
	// A1-; 0 stands for 1.
	FirstLayerRate float64
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

// AdamW's constants, the defaults of Loshchilov and Hutter (ICLR 2019).
const (
	beta1   = 0.9
	beta2   = 0.999
	epsilon = 1e-8
)

// canonicalOptimiser returns o without defaults that are given.
func canonicalOptimiser(o Optimiser) Optimiser {
	switch o := o.(type) {
	case SGD:
		o.FirstLayerRate = choose(o.FirstLayerRate == 1, 0, o.FirstLayerRate)
		return o
	case AdamW:
		o.Betas = choose(o.Betas == [2]float64{beta1, beta2}, [2]float64{}, o.Betas)
		return o
	}
	return o
}

// RateAt returns the learning rate of a step, counted from 0.
func (o SGD) RateAt(step, steps int) float64 { return o.Schedule.at(o.Rate, step, steps) }

// RateAt returns the learning rate of a step, counted from 0.
func (o AdamW) RateAt(step, steps int) float64 { return o.Schedule.at(o.Rate, step, steps) }

// at returns the rate of a step.
func (s Schedule) at(rate float64, step, steps int) float64 {
	if s == Constant {
		return rate
	}
	return float64(rate * float64(0.5*(1+num.CosPi(float64(step)/float64(steps)))))
}

// Validate returns an error that names the wrong field.
func (o SGD) Validate() error {
	if !(o.FirstLayerRate == 0 || positive(o.FirstLayerRate)) {
		return fmt.Errorf("spec: first is %v, want a nonnegative number", o.FirstLayerRate)
	}
	return validRate(o.Rate, o.Decay, o.Schedule)
}

// Validate returns an error that names the wrong field.
func (o AdamW) Validate() error {
	for _, beta := range o.Betas {
		if !(beta >= 0 && beta < 1) {
			return fmt.Errorf("spec: betas are %v, want numbers from 0 to below 1", o.Betas)
		}
	}
	return validRate(o.Rate, o.Decay, o.Schedule)
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

// optimiserName returns the end of the description of a run.
func optimiserName(o Optimiser) string {
	switch o.(type) {
	case SGD:
		return ", SGD"
	case AdamW:
		return ""
	}
	return ", optimiser " + nameOf(o)
}

// Start returns the optimiser at step 0 of weights like w.
func (o SGD) Start(w model.Model) Steps {
	if o.FirstLayerRate == 0 {
		return sgd{decay: o.Decay}
	}
	return sgd{o.Decay, o.FirstLayerRate, w.Zero()}
}

// Start returns the optimiser at step 0 of weights like w.
func (o AdamW) Start(w model.Model) Steps {
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

func (sgd) Moments() []model.Model { return nil }

func (o sgd) Step(w model.Model, g Gradient, rate float64, _ int) {
	if o.decay > 0 {
		keep := 1 - float64(rate*o.decay)
		for _, theta := range model.Trained(w) {
			for j, x := range theta {
				theta[j] = float64(keep * x)
			}
		}
	}
	if o.grad == nil {
		g.AddTo(w, -rate)
		return
	}
	gs := o.grad.Matrices()
	for _, m := range gs {
		clear(m.Data)
	}
	g.AddTo(o.grad, -rate)
	for k, m := range w.Matrices() {
		c := 1.0
		if m.Name == "A1" || strings.HasPrefix(m.Name, "A1-") {
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

func (a *adamW) Moments() []model.Model { return []model.Model{a.first, a.second} }

func (a *adamW) Step(w model.Model, g Gradient, rate float64, i int) {
	gs := model.Trained(a.grad)
	for _, p := range gs {
		clear(p)
	}
	g.AddTo(a.grad, 1)
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

package theory

import (
	"fmt"
	"math"
	"slices"
	"sort"

	"gonum.org/v1/gonum/mat"

	"learncausal/pkg/graph"
	"learncausal/pkg/num"
)

// Settings are the inputs of Algorithm 1. A rate eta1 = h S T / beta0 moves A1_i by h
// J(softmax(A1_i)) ghat_i in each step, to first order in beta0; h of the order of one is stable.
type Settings struct {
	Beta0        float64 // initial A2 = beta0 I
	Rate1, Rate2 float64 // eta1, eta2
	Tau1, Tau2   int     // steps of each stage, at most

	// Stage 1 ends as soon as 1 - softmax(A1)_{i,p(i)} <= Alpha for all i that have a parent, and
	// stage 2 as soon as beta >= BetaStar. With zero or less they do not end early.
	Alpha, BetaStar float64

	// Every n-th step is recorded, and the first and last of each stage; zero means every step.
	Every int
}

// A Stage returns the gradient of the loss that one stage follows, of A1 (T x T)
// in the first and of A2 (S x S) in the second, with the loss and its gap
// L - L*, or NaN for a loss that is not known. attention is softmax(A1).
type Stage func(m *Reduced, attention *mat.Dense) (gradient *mat.Dense, loss, gap float64)

// Stages returns both stages on the population loss, with exact gradients.
func (p *Population) Stages() (one, two Stage) {
	one = func(m *Reduced, _ *mat.Dense) (*mat.Dense, float64, float64) {
		g := p.Gradient(m)
		return g.G1, g.Loss, g.Gap
	}
	two = func(m *Reduced, _ *mat.Dense) (*mat.Dense, float64, float64) {
		g := p.Gradient(m)
		return g.G2, g.Loss, g.Gap
	}
	return one, two
}

// Jacobian returns J(p) u with J(p) = diag(p) - p p^T, the derivative along u of a softmax whose
// value is the law p: entry j is p_j (u_j - p.u). It panics unless p and u have the same length.
func Jacobian(p, u []float64) []float64 {
	if len(p) != len(u) {
		panic(fmt.Sprintf("theory: a softmax over %d entries along %d", len(p), len(u)))
	}
	mean, out := dot(p, u), make([]float64, len(p))
	for j, q := range p {
		out[j] = float64(q * (u[j] - mean))
	}
	return out
}

// LimitStage returns stage 1 to first order in beta0, in which the rows of A1 move by themselves (Lemma 3,
// lem-gradient-informal, with ghat of [GHat] for g):
//
//	G1_i = -beta0/(S T) J(softmax(A1_i)) ghat_i
//
// It panics unless ghat is finite and beta0 positive and finite, and the stage unless ghat is T x T.
func LimitStage(ghat *mat.Dense, beta0 float64) Stage {
	t, columns := ghat.Dims()
	for i := range t {
		if !isFinite(ghat.RawRowView(i)...) {
			panic(fmt.Sprintf("theory: stage 1 on a ghat that is not finite in row %d", i))
		}
	}
	if !(beta0 > 0 && beta0 <= math.MaxFloat64) {
		panic(fmt.Sprintf("theory: stage 1 at beta0 = %v, want a positive finite number", beta0))
	}
	return func(m *Reduced, attention *mat.Dense) (*mat.Dense, float64, float64) {
		if t != m.T || columns != m.T {
			panic(fmt.Sprintf("theory: a ghat of %d x %d entries for %d positions", t, columns, m.T))
		}
		grad := mat.NewDense(m.T, m.T, nil)
		scale := -beta0 / float64(m.S*m.T)
		for i := range m.T {
			a, g, to := attention.RawRowView(i)[:i+1], ghat.RawRowView(i)[:i+1], grad.RawRowView(i)
			mean := dot(a, g)
			for j, p := range a {
				to[j] = float64(float64(scale*p) * (g[j] - mean))
			}
		}
		return grad, math.NaN(), math.NaN()
	}
}

// TableStage returns stage 2 on a table of [MonteCarlo.Run] for increasing betas, at the attention
// of that run. Delta_beta and L - L* are interpolated linearly between the betas, and constant
// before the first and after the last. The gradient is the one of a symmetric prior,
//
//	G2 = Delta_beta (I - 1 1^T / S)
//
// A step evaluates no sample, so that long runs are fast. It panics unless the betas
// are finite and increase, and there is one.
func TableStage(table []StageTwo) Stage {
	if len(table) == 0 || !isFinite(table[0].Beta, table[len(table)-1].Beta) {
		panic(fmt.Sprintf("theory: table of stage 2 with %d rows, want at least one, and finite betas", len(table)))
	}
	for k := 1; k < len(table); k++ {
		if !(table[k-1].Beta < table[k].Beta) {
			panic(fmt.Sprintf("theory: table of stage 2 with beta = %v before %v", table[k-1].Beta, table[k].Beta))
		}
	}
	return func(m *Reduced, _ *mat.Dense) (*mat.Dense, float64, float64) {
		beta := m.Beta()
		k := sort.Search(len(table), func(k int) bool { return table[k].Beta >= beta })
		lo, hi := table[max(k-1, 0)], table[min(k, len(table)-1)]
		part := 0.0
		if lo.Beta < hi.Beta {
			part = (beta - lo.Beta) / (hi.Beta - lo.Beta)
		}
		between := func(a, b num.Estimate) float64 { return a.Mean + float64(part*(b.Mean-a.Mean)) }
		delta := between(lo.DeltaBeta, hi.DeltaBeta)
		off := -delta / float64(m.S)
		return homogeneous(m.S, off+delta, off), math.NaN(), between(lo.Gap, hi.Gap)
	}
}

// homogeneous returns the s x s matrix with the given entries on and off the diagonal.
func homogeneous(s int, on, off float64) *mat.Dense {
	m := mat.NewDense(s, s, slices.Repeat([]float64{off}, s*s))
	for a := range s {
		m.Set(a, a, on)
	}
	return m
}

// diagonalSum returns the sums of the entries on and off the diagonal.
func diagonalSum(m *mat.Dense) (on, off float64) {
	n, _ := m.Dims()
	for k, v := range m.RawMatrix().Data {
		if k%(n+1) == 0 {
			on += v
		} else {
			off += v
		}
	}
	return on, off
}

// A Trajectory records a run of Algorithm 1.
type Trajectory struct {
	Points     []Point
	Final      *Reduced // theta hat
	Tau1, Tau2 int      // steps taken in each stage
	// Early reports for each stage whether Alpha or BetaStar ended it.
	Early [2]bool
}

// A Point is the state theta^(t) after Step = t steps. The loss is NaN where the stage does not know it.
type Point struct {
	Step, Stage     int // stage 1 or 2, the one that the next step belongs to
	Beta, Loss, Gap float64
	Rows            []Row // T; stage 2 does not change them
}

// A Row measures row i of softmax(A1).
type Row struct {
	Parent float64 // attention on p(i); zero for a root
	Other  float64 // largest attention on another position
	Drift  float64 // sup_j |softmax(A1)_{ij} - 1/(i+1)|
}

// Beta returns beta of A2 = beta I - (beta - beta0)/S 1 1^T (Lemma 9, lem-a2-sym), the mean of the
// diagonal minus the mean of the other entries. It panics if S = 1.
func (m *Reduced) Beta() float64 {
	m.check()
	if m.S < 2 {
		panic("theory: beta of a model over one token, want at least 2")
	}
	on, off := diagonalSum(m.A2)
	return on/float64(m.S) - off/float64(m.S*(m.S-1))
}

// Rows measures each row of the attention of m, T x T. It panics if the graph or the attention has another T.
func (m *Reduced) Rows(g *graph.Forest, attention *mat.Dense) []Row {
	m.checkGraph(g, attention)
	rows := make([]Row, m.T)
	for i := range rows {
		p, uniform := g.Parent(i), 1/float64(i+1)
		r := &rows[i]
		for j, a := range attention.RawRowView(i)[:i+1] {
			r.Drift = max(r.Drift, math.Abs(a-uniform))
			if j == p {
				r.Parent = a
				continue
			}
			r.Other = max(r.Other, a)
		}
	}
	return rows
}

// Algorithm1 runs stage-wise gradient descent on the graph (Algorithm 1, alg-training):
//
//	A1(t) = A1(t-1) - eta1 grad_A1 L(theta^(t-1)),  A2(t) = beta0 I    t = 1, ..., tau1
//	A2(t) = A2(t-1) - eta2 grad_A2 L(theta^(t-1)),  A1(t) = A1(tau1)   t = tau1+1, ..., tau1+tau2
//
// The paper prints t = tau1, ..., tau1+tau2 in the second line, which would begin one step before the end of
// stage 1. states is S. With deterministic stages the result is the same to the bit every time. There is an
// error for settings that are not positive and finite, for S < 2, and where a step leaves the finite numbers,
// which a lower rate prevents. It panics if a gradient has not the entries of its matrix.
func Algorithm1(set Settings, g *graph.Forest, states int, one, two Stage) (*Trajectory, error) {
	if err := set.check(); err != nil {
		return nil, err
	}
	if states < 2 {
		return nil, fmt.Errorf("theory: Algorithm 1 over %d states, want at least 2", states)
	}
	every := max(set.Every, 1)
	m := NewReduced(states, g.T(), set.Beta0)
	tr := &Trajectory{Final: m}
	var attention *mat.Dense
	var rows []Row
	for ; ; tr.Tau1++ {
		attention = m.Attention()
		tr.Early[0] = set.Alpha > 0 && learned(g, attention, set.Alpha)
		end := tr.Early[0] || tr.Tau1 == set.Tau1
		grad, loss, gap := one(m, attention)
		if end || tr.Tau1%every == 0 {
			rows = m.Rows(g, attention)
			tr.Points = append(tr.Points, Point{tr.Tau1, 1, m.Beta(), loss, gap, rows})
		}
		if end {
			break
		}
		if !descend(m.A1, grad, set.Rate1) {
			return nil, diverged(tr, 1, set.Rate1)
		}
	}
	for ; ; tr.Tau2++ {
		tr.Early[1] = set.BetaStar > 0 && m.Beta() >= set.BetaStar
		end := tr.Early[1] || tr.Tau2 == set.Tau2
		grad, loss, gap := two(m, attention)
		if end || tr.Tau2%every == 0 {
			tr.Points = append(tr.Points, Point{tr.Tau1 + tr.Tau2, 2, m.Beta(), loss, gap, rows})
		}
		if end {
			return tr, nil
		}
		if !descend(m.A2, grad, set.Rate2) {
			return nil, diverged(tr, 2, set.Rate2)
		}
	}
}

// learned reports whether every position with a parent has attention 1-alpha on it.
func learned(g *graph.Forest, attention *mat.Dense, alpha float64) bool {
	return !slices.ContainsFunc(g.Edges(), func(e [2]int) bool { return 1-attention.At(e[1], e[0]) > alpha })
}

// descend takes one step of gradient descent, and reports whether x is finite.
func descend(x, grad *mat.Dense, rate float64) bool {
	rows, columns := x.Dims()
	if m, n := grad.Dims(); m != rows || n != columns {
		panic(fmt.Sprintf("theory: a gradient of %d x %d entries for a matrix of %d x %d", m, n, rows, columns))
	}
	finite := true
	for i := range rows {
		row := x.RawRowView(i)
		for j, g := range grad.RawRowView(i) {
			row[j] -= float64(rate * g)
			finite = finite && math.Abs(row[j]) <= math.MaxFloat64
		}
	}
	return finite
}

// diverged returns the error of a step that leaves the finite numbers.
func diverged(tr *Trajectory, stage int, rate float64) error {
	return fmt.Errorf("theory: Algorithm 1 diverges in step %d, of stage %d: want a rate below %v",
		tr.Tau1+tr.Tau2+1, stage, rate)
}

// check returns an error unless the settings are ones to run with.
func (s Settings) check() error {
	positive := s.Beta0 > 0 && s.Rate1 > 0 && s.Rate2 > 0 && isFinite(s.Beta0, s.Rate1, s.Rate2)
	if !positive || s.Tau1 < 0 || s.Tau2 < 0 || s.Every < 0 || !isFinite(s.Alpha, s.BetaStar) {
		return fmt.Errorf("theory: Algorithm 1 with %+v: want positive beta0 and rates, finite numbers, "+
			"and no negative times", s)
	}
	return nil
}

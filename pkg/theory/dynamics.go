package theory

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"learncausal/pkg/graph"
	"learncausal/pkg/markov"
	"learncausal/pkg/num"
	"learncausal/pkg/task"
)

// A Dynamics is Algorithm 1 on a graph too large to enumerate: stage 1 in the
// limit of small beta0, with the exact ghat, and stage 2 on samples. As in the paper,
// eps = T_eff^(-1/2), beta0 is a small multiple of T_eff^(-3/2), and eta2 = 1.
type Dynamics struct {
	Graph      *graph.Forest
	Prior      *markov.Finite
	Eps, Beta0 float64
	GHat       *mat.Dense  // T x T
	One        *Trajectory // stage 1, until 1 - softmax(A1)_{i,p(i)} <= 1/T
	Attention  *mat.Dense  // T x T, softmax(A1) after it
	Table      []StageTwo  // stage 2 for beta in 0, 1/8, ..., 10
}

// DynamicsTau2 is the number of steps of stage 2 of a [Dynamics].
const DynamicsTau2 = 1 << 16

// RunDynamics runs stage 1 with h = eta1 beta0 / (S T), see [Settings], and
// tabulates stage 2 from the given number of samples. It takes a second on 512 positions.
func RunDynamics(g *graph.Forest, prior *markov.Finite, h float64, samples int) (*Dynamics, error) {
	if !(h > 0) || math.IsInf(h, 1) || samples < 2 {
		const want = "want h > 0 and finite, and 2 samples or more"
		return nil, fmt.Errorf("theory: step size h = %v and %d samples, %s", h, samples, want)
	}
	t, s, tEff := g.T(), prior.States(), g.TEff()
	d := &Dynamics{Graph: g, Prior: prior, Eps: 1 / math.Sqrt(tEff), Beta0: 0.01 / (tEff * math.Sqrt(tEff))}
	var err error
	if d.GHat, err = GHat(g, prior, d.Eps, QueryApart); err != nil {
		return nil, err
	}
	set := Settings{
		Beta0: d.Beta0, Rate1: h * float64(s*t) / d.Beta0, Rate2: 1,
		Tau1: int(float64(64*t) / h), Alpha: 1 / float64(t), Every: 1 + t/64,
	}
	nothing := func(*Reduced, *mat.Dense) (*mat.Dense, float64, float64) { return mat.NewDense(s, s, nil), 0, 0 }
	if d.One, err = Algorithm1(set, g, s, LimitStage(d.GHat, d.Beta0), nothing); err != nil {
		return nil, err
	}
	d.One.Points = d.One.Points[:len(d.One.Points)-1] // without the point of stage 2
	d.Attention = d.One.Final.Attention()
	var betas []float64
	for k := range 81 {
		betas = append(betas, float64(k)/8)
	}
	d.Table = d.monteCarlo(prior, samples).Run(betas)
	return d, nil
}

// At returns the row of the table at a value of beta, a multiple of 1/8 up to 10.
func (d *Dynamics) At(beta float64) StageTwo {
	i := slices.IndexFunc(d.Table, func(row StageTwo) bool { return row.Beta == beta })
	if i < 0 {
		panic(fmt.Sprintf("theory: no row for beta = %v, want a multiple of 1/8 from 0 to 10", beta))
	}
	return d.Table[i]
}

func (d *Dynamics) monteCarlo(prior markov.Prior, samples int) MonteCarlo {
	t := d.Graph.T()
	rows := make([][]float64, t)
	for i := range rows {
		rows[i] = d.Attention.RawRowView(i)[:i+1]
	}
	return MonteCarlo{
		Graph: d.Graph, Prior: prior, Rows: rows, Eps: d.Eps, Reading: QueryApart, Samples: samples, Seed: 1,
	}
}

// StageTwo runs stage 2 for [DynamicsTau2] steps, or until beta >= betaStar. A betaStar of zero
// stands for the end of the table. It records every step that is a multiple of every, and the last.
func (d *Dynamics) StageTwo(betaStar float64, every int) *Trajectory {
	t, s := d.Graph.T(), d.Prior.States()
	if betaStar == 0 {
		betaStar = d.Table[len(d.Table)-1].Beta
	}
	set := Settings{Beta0: d.Beta0, Rate1: 1, Rate2: 1, Tau2: DynamicsTau2, BetaStar: betaStar, Every: every}
	still := func(*Reduced, *mat.Dense) (*mat.Dense, float64, float64) {
		return mat.NewDense(t, t, nil), math.NaN(), math.NaN()
	}
	tr, err := Algorithm1(set, d.Graph, s, still, TableStage(d.Table))
	if err != nil {
		panic("theory: " + err.Error())
	}
	tr.Final.A1 = mat.DenseCopyOf(d.One.Final.A1)
	return tr
}

// Trained returns stage 2 after [DynamicsTau2] steps, with the first and the last point.
func (d *Dynamics) Trained() *Trajectory { return d.StageTwo(0, 2*DynamicsTau2) }

// Excess returns the loss at the end of stage 2 less the least value of the perturbed loss,
//
//	L - L* + log(1 + S eps) = E[KL(pi(.|s) || (f + eps)/(1 + S eps))] >= 0
//
// L - L* itself is negative once the prediction is good, since f + eps sums to more than one.
func (d *Dynamics) Excess(tr *Trajectory) float64 {
	return tr.Points[len(tr.Points)-1].Gap + num.Log(1+float64(float64(d.Prior.States())*d.Eps))
}

// Missed returns the positions whose attention on the parent is less than 1 - 1/T.
func (d *Dynamics) Missed() (missed []int) {
	for i, r := range d.One.Points[len(d.One.Points)-1].Rows {
		if d.Graph.Parent(i) >= 0 && 1-r.Parent > 1/float64(d.Graph.T()) {
			missed = append(missed, i)
		}
	}
	return missed
}

// OutOfDistribution returns sup_{s'} |f(X)_{s'} - pi(s'|s_T)| of the trained model on n
// sequences from one transition matrix, in increasing order; see Theorem 2 (thm-ood).
func (d *Dynamics) OutOfDistribution(m *Reduced, pi []float64, n int, seed uint64) ([]float64, error) {
	if n < 1 {
		return nil, fmt.Errorf("theory: %d sequences, want at least 1", n)
	}
	c, err := NewChain(pi, m.S)
	if err != nil {
		return nil, err
	}
	one := &markov.Finite{Pi: [][]float64{c.Pi.RawMatrix().Data}, Mu: [][]float64{c.Mu}, Weight: []float64{1}}
	tk := task.Task{Graph: d.Graph, Prior: one}
	b := tk.NewBatch(n)
	tk.NewSampler().Fill(b, num.Stream(seed, "paper/ood"))
	miss, f := make([]float64, n), make([]float64, m.S)
	predict := d.Predictor(m)
	for k := range n {
		x, y := b.Seq(k)
		predict(f, x)
		for a := range f {
			miss[k] = max(miss[k], math.Abs(f[a]-y[a]))
		}
	}
	slices.Sort(miss)
	return miss, nil
}

// Predictor returns the predictions f of the trained model. The prediction of a token
// that is not in the sequence is 0.
func (d *Dynamics) Predictor(m *Reduced) func(f []float64, x []int) {
	beta := m.Beta()
	return func(f []float64, x []int) {
		clear(f)
		total, q := 0.0, x[m.T-1]
		for i, a := range x {
			z := 0.0
			for j, p := range d.Attention.RawRowView(i)[:i+1] {
				if x[j] == q {
					z += p
				}
			}
			weight := num.Exp(float64(beta * z))
			f[a] += weight
			total += weight
		}
		for a := range f {
			f[a] /= total
		}
	}
}

// IdealBeta returns beta(t) at the given steps, in increasing order, for
// -Delta_beta = force(beta) and eta2 = 1.
func IdealBeta(beta float64, steps []int, force func(beta float64) float64) (betas []float64) {
	t := 0
	for _, step := range steps {
		for ; t < step; t++ {
			beta += force(beta)
		}
		betas = append(betas, beta)
	}
	return betas
}

// GuaranteedForce is the lower bound of Lemma 10 (thm-stage2-lower) on -Delta_beta,
//
//	gamma^8 S^-6 e^(-2 beta) / 4
func GuaranteedForce(gamma float64, s int, beta float64) float64 {
	return 0.25 * math.Pow(gamma, 8) * math.Pow(float64(s), -6) * num.Exp(-2*beta)
}

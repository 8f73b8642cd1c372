package report

import (
	"fmt"
	"math"
	"sync"

	"learncausal/pkg/figure"
	"learncausal/pkg/num"
	"learncausal/pkg/theory"
)

// A Sweep is Algorithm 1 on every family and length.
type Sweep struct {
	Families []Family
	Runs     [][]*Dynamics // by family, T = 16, 32, ...
}

// RunSweep takes some seconds. Stage 1 has h = T/8, which makes about a hundred
// steps whatever T is.
func RunSweep() (*Sweep, error) {
	prior := mustPrior()
	s := &Sweep{Families: Families()}
	s.Runs = make([][]*Dynamics, len(s.Families))
	errs := make([]error, len(s.Families))
	var wg sync.WaitGroup
	for k, f := range s.Families {
		for t := 16; t <= f.Most; t *= 2 {
			s.Runs[k] = append(s.Runs[k], nil)
		}
		wg.Go(func() {
			for i := range s.Runs[k] {
				if s.Runs[k][i], errs[k] = RunDynamics(f.Graph(16<<i), prior, float64(int(2)<<i), 256); errs[k] != nil {
					return
				}
			}
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return s, nil
}

// DynamicsFigures returns every figure on the dynamics of Algorithm 1, with
// their numbers.
func DynamicsFigures() ([]*figure.Figure, figure.Numbers, error) {
	d, err := RunDynamics(RandomGraph(), mustPrior(), 1, 64)
	if err != nil {
		return nil, nil, err
	}
	s, err := RunSweep()
	if err != nil {
		return nil, nil, err
	}
	gap, ns := LossGapFigure(s)
	ood, ms, err := OODFigure(s)
	return []*figure.Figure{StageOneFigure(d), GHatBetaFigure(s), BetaGrowthFigure(s), gap, ood}, append(ns, ms...), err
}

var (
	stepLabel = figure.Label{Text: "Step t", TeX: "Step $t$"}
	betaLabel = figure.Label{Text: "β", TeX: `$\beta$`}
	tEffLabel = figure.Label{Text: "Effective length", TeX: `Effective length $T_{\mathrm{eff}}$`}
)

// StageOneFigure draws stage 1 on one graph: the attention of each position on
// its parent, and the largest attention of each root; what is left
// for others than the parent; and the graph beside the attention at the end.
func StageOneFigure(d *Dynamics) *figure.Figure {
	t := d.Graph.T()
	var all, rest []figure.Series
	named := map[string]bool{}
	for _, parent := range []bool{false, true} {
		for i := range t {
			if d.Graph.Parent(i) >= 0 != parent || i == 0 {
				continue
			}
			s := figure.Series{Color: 2, Mark: 2, Label: figure.Text("largest of a root")}
			left := figure.Series{Color: 1, Mark: 1}
			for _, p := range d.One.Points {
				r := p.Rows[i]
				s.X = append(s.X, float64(p.Step))
				if !parent {
					s.Y = append(s.Y, r.Rival)
					continue
				}
				s.Y = append(s.Y, r.Parent)
				if p.Step > 0 {
					left.X, left.Y = append(left.X, float64(p.Step)), append(left.Y, 1-r.Parent)
				}
			}
			if parent {
				s.Color, s.Mark, s.Label = 1, 1, figure.Text("on the parent")
				rest = append(rest, left)
			}
			if named[s.Label.Text] {
				s.Label = figure.Label{}
			}
			named[s.Label.Text] = true
			all = append(all, s)
		}
	}
	end := math.Ceil(float64(d.One.Tau1)/10) * 10
	unit := figure.Scale{Min: 0, Max: 1}
	graph := &figure.Matrix{Title: figure.Text("Causal graph"), Values: adjacency(d.Graph), Scale: unit, XLabel: positionJ, YLabel: positionI}
	graph.Scale.Hidden = true
	attention := &figure.Matrix{
		Title: figure.Label{Text: "Attention after stage 1", TeX: `$\mathcal S(A^{(1)}(\tau_1))$`}, Values: matrixRows(d.Attention, t),
		Scale: unit, XLabel: positionJ,
	}
	return &figure.Figure{
		ID: "fig-stage-one", Width: figure.TwoColumns,
		Caption: fmt.Sprintf(`Stage 1 of Algorithm 1 in the limit $\beta_0 \to 0$ on a random causal graph, $T=%d$: attention of each position on its parent, and the largest attention in the row of each root; attention left for others than the parent, with the level $1/T$ at which stage 1 ends, after %d steps; the causal graph; the attention at the end.`, t, d.One.Tau1),
		Rows: [][]figure.Panel{{
			&figure.Axes{
				Title: figure.Text("Attention"), X: figure.Axis{Label: stepLabel, Min: 0, Max: end}, Y: figure.Axis{Min: 0, Max: 1}, Series: all,
			},
			&figure.Axes{
				Title: figure.Text("Attention not on the parent"), X: figure.Axis{Label: stepLabel, Log: true}, Y: figure.Axis{Log: true}, Series: rest,
				Levels: []figure.Level{{Label: figure.Label{Text: "1/T", TeX: "$1/T$"}, Y: 1 / float64(t)}},
			},
		}, {graph, attention}},
	}
}

// pick returns those runs of a family whose T is listed.
func (s *Sweep) pick(family int, lengths ...int) (ds []*Dynamics) {
	for _, d := range s.Runs[family] {
		for _, t := range lengths {
			if d.Graph.T() == t {
				ds = append(ds, d)
			}
		}
	}
	return ds
}

// GHatBetaFigure compares -Delta_beta after stage 1 with its limit ghat(beta),
// on chain and in-context-learning graph. Bands are two standard errors.
func GHatBetaFigure(s *Sweep) *figure.Figure {
	f := &figure.Figure{
		ID: "fig-ghat-beta", Width: figure.TwoColumns, Rows: make([][]figure.Panel, 1),
		Caption: `The force on $\beta$ in stage 2: $-\Delta_\beta$ with the attention that stage 1 leaves, for growing $T$ (bands: two standard errors), and the idealised $\hat g(\beta)$ with the fraction of roots of the longest sequence.`,
	}
	for k := range 2 {
		a := &figure.Axes{Title: figure.Text(s.Families[k].Title), X: figure.Axis{Label: betaLabel, Min: 0, Max: 8}, Y: figure.Axis{Label: figure.Label{Text: "−Δ(β)", TeX: `$-\Delta_\beta$`}}}
		ds := s.pick(k, 16, 64, 256, 512)
		for c, d := range ds {
			line := figure.Series{Label: figure.Label{Text: fmt.Sprintf("T = %d", d.Graph.T()), TeX: fmt.Sprintf("$T=%d$", d.Graph.T())}, Color: c + 1, Mark: 1}
			for _, at := range d.Table {
				if at.Beta <= 8 {
					line.X, line.Y = append(line.X, at.Beta), append(line.Y, -at.DeltaBeta.Mean)
					line.Err = append(line.Err, 2*at.DeltaBeta.StdErr)
				}
			}
			a.Series = append(a.Series, line)
		}
		last := ds[len(ds)-1]
		ideal := figure.Series{Label: figure.Label{Text: "ĝ(β)", TeX: `$\hat g(\beta)$`}, Color: 7, Mark: 2}
		for i := range 81 {
			beta := float64(i) / 10
			ideal.X, ideal.Y = append(ideal.X, beta), append(ideal.Y, theory.GHatBeta(last.Prior, theory.RootFraction(last.Graph), beta))
		}
		a.Series = append(a.Series, ideal)
		f.Rows[0] = append(f.Rows[0], a)
	}
	return f
}

// IdealBeta returns beta(t) at the given steps, in increasing order, if -Delta_beta
// were force(beta) and eta2 = 1.
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

// GuaranteedForce is the lower bound of thm:stage2 on -Delta_beta,
//
//	gamma^8 S^-6 e^(-2 beta) / 4
func GuaranteedForce(gamma float64, s int, beta float64) float64 {
	return 0.25 * math.Pow(gamma, 8) * math.Pow(float64(s), -6) * num.Exp(-2*beta)
}

// BetaGrowthFigure draws beta(t) through stage 2 on the chain, its prediction by
// ghat(beta), and what thm:stage2 guarantees.
func BetaGrowthFigure(s *Sweep) *figure.Figure {
	var steps []int
	for t := 1; t <= Tau2; t += 1 + t/16 {
		steps = append(steps, t)
	}
	x := make([]float64, len(steps))
	for i, t := range steps {
		x[i] = float64(t)
	}
	a := &figure.Axes{X: figure.Axis{Label: stepLabel, Log: true}, Y: figure.Axis{Label: betaLabel}}
	ds := s.pick(0, 16, 64, 256, 512)
	for c, d := range ds {
		line := figure.Series{Label: figure.Label{Text: fmt.Sprintf("T = %d", d.Graph.T()), TeX: fmt.Sprintf("$T=%d$", d.Graph.T())}, Color: c + 1, Mark: 1}
		points := d.StageTwo(0, 1).Points
		for _, t := range steps {
			if t < len(points) {
				line.X, line.Y = append(line.X, float64(t)), append(line.Y, points[t].Beta)
			}
		}
		a.Series = append(a.Series, line)
	}
	d := ds[len(ds)-1]
	r := theory.RootFraction(d.Graph)
	a.Series = append(a.Series,
		figure.Series{
			Label: figure.Label{Text: "by ĝ(β)", TeX: `by $\hat g(\beta)$`}, X: x, Color: 7, Mark: 2,
			Y: IdealBeta(d.Beta0, steps, func(b float64) float64 { return theory.GHatBeta(d.Prior, r, b) }),
		},
		figure.Series{
			Label: figure.Text("guaranteed"), X: x, Color: 5, Mark: 3,
			Y: IdealBeta(d.Beta0, steps, func(b float64) float64 { return GuaranteedForce(theory.Gamma(d.Prior), d.Prior.States(), b) }),
		})
	return &figure.Figure{
		ID: "fig-beta-growth", Width: figure.OneColumn, Rows: [][]figure.Panel{{a}},
		Caption: `Growth of $\beta$ in stage 2 on the chain ($\eta_2=1$), its prediction from $\hat g(\beta)$, and the growth that the lower bound of the stage-2 theorem guarantees.`,
	}
}

// BetaStarConstant is the constant C of beta* in LossGapFigure.
const BetaStarConstant = 10

// excesses returns T_eff and the excess loss of the runs of a family, with
// stage 2 run to its end or stopped at beta*.
func (s *Sweep) excesses(family int, stopped bool) (x, y []float64) {
	for _, d := range s.Runs[family] {
		betaStar := 0.0
		if stopped {
			betaStar = theory.BetaStar(BetaStarConstant, d.Graph.TEff(), d.Graph.T())
		}
		x, y = append(x, d.Graph.TEff()), append(y, d.Excess(d.StageTwo(betaStar, 1<<20)))
	}
	return x, y
}

// LossGapFigure draws the excess loss after Algorithm 1 against the effective
// length for all families, on logarithmic axes with fitted power laws where
// T_eff grows, and returns the exponents.
func LossGapFigure(s *Sweep) (*figure.Figure, figure.Numbers) {
	f := &figure.Figure{
		ID: "fig-loss-gap", Width: figure.TwoColumns, Rows: make([][]figure.Panel, 1),
		Caption: fmt.Sprintf(`Excess of the loss over the least value of the perturbed loss after Algorithm 1, against $T_{\mathrm{eff}}$, for $T=16,32,\dots$ in six families: stage 2 run for $2^{16}$ steps, and stopped at $e^{\beta^*} = %d\, T_{\mathrm{eff}}^{1/12}\log^{-1/6}T$. Lines are fitted power laws. $T_{\mathrm{eff}}$ of binary tree and star does not grow with $T$.`, BetaStarConstant),
	}
	var ns figure.Numbers
	for _, stopped := range []bool{false, true} {
		title, id := figure.Text("Stage 2 to its end"), ""
		if stopped {
			title, id = figure.Label{Text: "Stage 2 stopped at β*", TeX: `Stage 2 stopped at $\beta^*$`}, "-stopped"
		}
		a := &figure.Axes{Title: title, X: figure.Axis{Label: tEffLabel, Log: true, Min: 1, Max: 700}, Y: figure.Axis{Label: figure.Text("Excess loss"), Log: true, Min: 0.01, Max: 0.4}}
		for k, family := range s.Families {
			x, y := s.excesses(k, stopped)
			a.Series = append(a.Series, figure.Series{Label: figure.Text(family.Title), X: x, Y: y, Points: true, Color: k + 1, Mark: k%4 + 1})
			if x[len(x)-1] < 2*x[0] {
				continue
			}
			law := theory.FitPowerLaw(x, y)
			a.Series = append(a.Series, figure.Series{X: []float64{x[0], x[len(x)-1]}, Y: []float64{law.At(x[0]), law.At(x[len(x)-1])}, Color: k + 1, Mark: 1})
			ns = append(ns, figure.Number{
				ID: "loss-gap-exponent-" + family.ID() + id, Value: law.Exponent, Digits: 2,
				Interval: &[2]float64{law.Exponent - law.Half, law.Exponent + law.Half},
			})
		}
		f.Rows[0] = append(f.Rows[0], a)
	}
	return f, ns
}

// Sticky is a transition matrix outside of the support of DynamicsPrior, with
// the same least entry: each state stays with probability 0.8.
var Sticky = []float64{0.8, 0.1, 0.1, 0.1, 0.8, 0.1, 0.1, 0.1, 0.8}

// OODFigure draws sup |f - pi| of the trained models on sequences from Sticky,
// median and 99 % quantile, and the 99 % quantile for a matrix of the prior. It
// returns the exponents of the second.
func OODFigure(s *Sweep) (*figure.Figure, figure.Numbers, error) {
	const n = 1000
	f := &figure.Figure{
		ID: "fig-ood", Width: figure.TwoColumns, Rows: make([][]figure.Panel, 1),
		Caption: fmt.Sprintf(`Largest error of the prediction, $\sup_{s'}|f_{\hat\theta}(s_{1:T})_{s'}-\tilde\pi(s'\mid s_T)|$, of the trained model on %d sequences from a transition matrix outside the support of the prior (states stay with probability 0.8), and from one inside.`, n),
	}
	var ns figure.Numbers
	for k := range 2 {
		median := figure.Series{Label: figure.Text("outside, median"), Color: 1, Mark: 1}
		tail := figure.Series{Label: figure.Text("outside, 99 %"), Color: 2, Mark: 2}
		inside := figure.Series{Label: figure.Text("inside, 99 %"), Color: 3, Mark: 3}
		for _, d := range s.Runs[k] {
			m := d.StageTwo(0, 1<<20).Final
			out, err := d.OutOfDistribution(m, Sticky, n, 1)
			if err != nil {
				return nil, nil, err
			}
			in, err := d.OutOfDistribution(m, d.Prior.Pi[0], n, 2)
			if err != nil {
				return nil, nil, err
			}
			for _, q := range []struct {
				s *figure.Series
				v float64
			}{{&median, out[n/2]}, {&tail, out[n*99/100]}, {&inside, in[n*99/100]}} {
				q.s.X, q.s.Y = append(q.s.X, d.Graph.TEff()), append(q.s.Y, q.v)
			}
		}
		f.Rows[0] = append(f.Rows[0], &figure.Axes{
			Title: figure.Text(s.Families[k].Title), X: figure.Axis{Label: tEffLabel, Log: true}, Y: figure.Axis{Label: figure.Text("Largest error"), Log: true, Min: 0.01, Max: 1},
			Series: []figure.Series{median, tail, inside},
		})
		law := theory.FitPowerLaw(tail.X, tail.Y)
		ns = append(ns, figure.Number{
			ID: "ood-exponent-" + s.Families[k].ID(), Value: law.Exponent, Digits: 2,
			Interval: &[2]float64{law.Exponent - law.Half, law.Exponent + law.Half},
		})
	}
	return f, ns, nil
}

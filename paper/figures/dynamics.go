package figures

import (
	"context"
	"fmt"
	"math"
	"sort"

	"learncausal/internal/figure"
	"learncausal/paper/trial"
	"learncausal/pkg/theory"
)

// theoryFamilies are the families of the paper's own examples, T_eff = T.
var theoryFamilies = []string{"markov-chain", "in-context-learning"}

func stageOneOnRandomGraph(context.Context, *Results) (*figure.Figure, error) {
	prior := trial.MustPrior(trial.DynamicsPrior)
	d, err := trial.RunDynamics(trial.RandomGraph(), prior, 1, 64)
	if err != nil {
		return nil, err
	}
	return stageOneFigure(d), nil
}

// stageOneFigure draws stage 1 on one graph: attention on the parents and in the rows of roots,
// attention not on the parent, the graph, and the attention at the end.
func stageOneFigure(d *trial.Dynamics) *figure.Figure {
	t := d.Graph.T()
	all, rest := stageOneCurves(d)
	end := math.Ceil(float64(d.One.Tau1)/10) * 10
	graph := adjacencyMatrix("Causal graph", matrixRows(d.Graph.Adjacency()))
	attention := &figure.Matrix{
		Title:  figure.Label{Text: "Attention after stage 1", TeX: `$\mathcal S(A^{(1)}(\tau_1))$`},
		Values: matrixRows(d.Attention), Scale: figure.Scale{Min: 0, Max: 1}, XLabel: positionJ,
	}
	return &figure.Figure{
		ID: "fig-stage-one", Width: figure.TwoColumns,
		Caption: fmt.Sprintf(`Stage 1 of Algorithm 1 in the limit $\beta_0 \to 0$ on a random causal graph, `+
			`$T=%d$: attention of each position on its parent, and the largest attention in the row of each root; `+
			`attention left for others than the parent, with the level $1/T$ at which stage 1 ends, after %d `+
			`steps; the causal graph; the attention at the end.`, t, d.One.Tau1),
		Rows: [][]figure.Panel{{
			&figure.Axes{
				Title: figure.Text("Attention"), Series: all,
				X: figure.Axis{Label: stepLabel, Min: 0, Max: end}, Y: figure.Axis{Min: 0, Max: 1},
			},
			&figure.Axes{
				Title: figure.Text("Attention not on the parent"), Series: rest,
				X: figure.Axis{Label: stepLabel, Log: true}, Y: figure.Axis{Log: true},
				Levels: []figure.Level{{Label: figure.Label{Text: "1/T", TeX: "$1/T$"}, Y: 1 / float64(t)}},
			},
		}, {graph, attention}},
	}
}

// stageOneCurves returns the attention of each position on its parent, with the largest
// attention of each root except the first, and the attention not on the parent.
func stageOneCurves(d *trial.Dynamics) (all, rest []figure.Series) {
	var onParent []figure.Series
	for i := 1; i < d.Graph.T(); i++ {
		root, parent := figure.Series{Color: 2, Mark: 2}, figure.Series{Color: 1, Mark: 1}
		left := figure.Series{Color: 1, Mark: 1}
		for _, p := range d.One.Points {
			step, r := float64(p.Step), p.Rows[i]
			root.X, root.Y = append(root.X, step), append(root.Y, r.Other)
			parent.X, parent.Y = append(parent.X, step), append(parent.Y, r.Parent)
			if p.Step > 0 {
				left.X, left.Y = append(left.X, step), append(left.Y, 1-r.Parent)
			}
		}
		if d.Graph.Parent(i) < 0 {
			all = append(all, root)
			continue
		}
		onParent, rest = append(onParent, parent), append(rest, left)
	}
	all[0].Label = figure.Text("largest of a root") // the query is a root
	if len(onParent) > 0 {
		onParent[0].Label = figure.Text("on the parent")
	}
	return append(all, onParent...), rest
}

// gHatBetaFigure compares -Delta_beta after stage 1 with its limit ghat(beta),
// on chain and in-context-learning graph. Bands are two standard errors.
func gHatBetaFigure(s Sweep) *figure.Figure {
	f := oneRow(figure.TwoColumns,
		`The force on $\beta$ in stage 2: $-\Delta_\beta$ with the attention that stage 1 leaves, for `+
			`growing $T$ (bands: two standard errors), and the idealised $\hat g(\beta)$ with the fraction of `+
			`roots of the longest sequence.`)
	for _, family := range s.Only(theoryFamilies...) {
		a := &figure.Axes{
			Title: figure.Text(family.Title),
			X:     figure.Axis{Label: betaLabel, Min: 0, Max: 8},
			Y:     figure.Axis{Label: figure.Label{Text: "−Δ(β)", TeX: `$-\Delta_\beta$`}},
		}
		ds := family.Of(16, 64, 256, 512)
		for c, d := range ds {
			line := figure.Series{Label: lengthLabel(d.Graph.T()), Color: c + 1, Mark: c + 1}
			for _, at := range d.Table {
				if at.Beta <= 8 {
					line.X, line.Y = append(line.X, at.Beta), append(line.Y, -at.DeltaBeta.Mean)
					line.Err = append(line.Err, 2*at.DeltaBeta.StdErr)
				}
			}
			a.Series = append(a.Series, line)
		}
		last := ds[len(ds)-1]
		ideal := figure.Series{Label: figure.Label{Text: "ĝ(β)", TeX: `$\hat g(\beta)$`}, Color: 7, Mark: 5}
		for i := range 81 {
			beta := float64(i) / 10
			ghat := theory.GHatBeta(last.Prior, last.Graph, beta)
			ideal.X, ideal.Y = append(ideal.X, beta), append(ideal.Y, ghat)
		}
		a.Series = append(a.Series, ideal)
		f.Rows[0] = append(f.Rows[0], a)
	}
	return f
}

// whyItStopsFigure draws stage 2 against beta on the chain: the distance of the
// prediction from the row of pi, the force on beta, and the value of beta at the end.
func whyItStopsFigure(s Sweep) *figure.Figure {
	const most = 10
	x := figure.Axis{Label: betaLabel, Min: 0, Max: most}
	miss := &figure.Axes{
		Title: figure.Text("Error of the prediction"), X: x,
		Y: figure.Axis{Log: true, Label: figure.Label{
			Text: "Root mean square of f − π", TeX: `Root mean square of $f-\pi$`,
		}},
	}
	force := &figure.Axes{
		Title: figure.Text("Force on β"), X: x,
		Y: figure.Axis{Log: true, Min: 1e-6, Max: 0.1, Label: figure.Label{Text: "−Δ(β)", TeX: `$-\Delta_\beta$`}},
	}
	force.Title.TeX = `Force on $\beta$`
	ends := figure.Series{Label: figure.Text("end of stage 2"), Points: true, Color: 7, Mark: 4}
	endForces := ends
	endForces.Label = figure.Label{}
	for c, d := range s.Only("markov-chain")[0].Of(16, 64, 256, 512) {
		style := figure.Series{Label: lengthLabel(d.Graph.T()), Color: c + 1, Mark: c + 1}
		errors, forces := style, style
		forces.Label = figure.Label{}
		positive := true // the force is above the noise
		for _, at := range d.Table {
			errors.X, errors.Y = append(errors.X, at.Beta), append(errors.Y, at.RMS())
			if positive = positive && -at.DeltaBeta.Mean > force.Y.Min; positive {
				forces.X, forces.Y = append(forces.X, at.Beta), append(forces.Y, -at.DeltaBeta.Mean)
			}
		}
		miss.Series, force.Series = append(miss.Series, errors), append(force.Series, forces)
		end := d.Trained().Final.Beta()
		ends.X, ends.Y = append(ends.X, end), append(ends.Y, between(errors, end))
		if end <= forces.X[len(forces.X)-1] {
			endForces.X, endForces.Y = append(endForces.X, end), append(endForces.Y, between(forces, end))
		}
	}
	miss.Series = append(miss.Series, ends)
	if len(endForces.X) > 0 {
		force.Series = append(force.Series, endForces)
	}
	return oneRow(figure.TwoColumns,
		fmt.Sprintf(`Why stage 2 stops, on the chain. (a)~The error of the prediction, `+
			`$(\mathbb E(f_{s'}-\pi(s'\mid s))^2)^{1/2}$ over all $s$ and $s'$, by $\beta$, with the place that `+
			`$2^{%d}$ steps of size 1 reach. (b)~The force $-\Delta_\beta$, as far as it is positive. For short `+
			`sequences $\beta$ rests where the force vanishes; for long ones the force falls off exponentially, so `+
			`that $\beta$ grows like the logarithm of the time while the error has long been flat.`, 16), miss, force)
}

// between interpolates a curve linearly at x.
func between(s figure.Series, x float64) float64 {
	k := max(1, sort.SearchFloat64s(s.X, x))
	k = min(k, len(s.X)-1)
	t := (x - s.X[k-1]) / (s.X[k] - s.X[k-1])
	return s.Y[k-1] + t*(s.Y[k]-s.Y[k-1])
}

// betaGrowthFigure draws beta(t) in stage 2 on the chain, its prediction by ghat(beta),
// and the lower bound of Lemma 10 (thm-stage2-lower).
func betaGrowthFigure(s Sweep) *figure.Figure {
	var steps []int
	for t := 1; t <= trial.Tau2; t += 1 + t/16 {
		steps = append(steps, t)
	}
	x := make([]float64, len(steps))
	for i, t := range steps {
		x[i] = float64(t)
	}
	a := &figure.Axes{X: figure.Axis{Label: stepLabel, Log: true}, Y: figure.Axis{Label: betaLabel}}
	ds := s.Only("markov-chain")[0].Of(16, 64, 256, 512)
	for c, d := range ds {
		line := figure.Series{Label: lengthLabel(d.Graph.T()), Color: c + 1, Mark: c + 1}
		points := d.StageTwo(0, 1).Points
		for _, t := range steps {
			if t < len(points) {
				line.X, line.Y = append(line.X, float64(t)), append(line.Y, points[t].Beta)
			}
		}
		a.Series = append(a.Series, line)
	}
	d := ds[len(ds)-1]
	a.Series = append(a.Series,
		figure.Series{
			Label: figure.Label{Text: "by ĝ(β)", TeX: `by $\hat g(\beta)$`}, X: x, Color: 7, Mark: 5,
			Y: trial.IdealBeta(d.Beta0, steps, func(b float64) float64 {
				return theory.GHatBeta(d.Prior, d.Graph, b)
			}),
		},
		figure.Series{
			Label: figure.Text("guaranteed"), X: x, Color: 5, Mark: 6,
			Y: trial.IdealBeta(d.Beta0, steps, func(b float64) float64 {
				return trial.GuaranteedForce(theory.Gamma(d.Prior), d.Prior.States(), b)
			}),
		})
	return oneRow(figure.OneColumn,
		`Growth of $\beta$ in stage 2 on the chain ($\eta_2=1$), its prediction from $\hat g(\beta)$, and `+
			`the growth that the lower bound of the stage-2 theorem guarantees.`, a)
}

// lossGapFigure draws the excess loss after Algorithm 1 against the effective length, with
// power laws for the families with growing T_eff.
func lossGapFigure(gap LossGap) *figure.Figure {
	panel := func(title figure.Label, all []Scaling, name func(string) figure.Label) figure.Panel {
		a := &figure.Axes{
			Title: title,
			X:     figure.Axis{Label: tEffLabel, Log: true, Min: 0.8, Max: 700},
			Y:     figure.Axis{Label: figure.Text("Excess loss"), Log: true, Min: 0.01, Max: 0.4},
		}
		for k, c := range all {
			a.Series = append(a.Series, figure.Series{
				Label: name(c.Family.Title), X: c.TEff, Y: c.Value, Points: true, Color: k + 1, Mark: k + 1,
			})
			if c.Grows {
				x, y := c.TEff[0], c.TEff[len(c.TEff)-1]
				a.Series = append(a.Series, figure.Series{
					X: []float64{x, y}, Y: []float64{c.Law.At(x), c.Law.At(y)}, Color: k + 1, Mark: k + 1,
				})
			}
		}
		return a
	}
	return &figure.Figure{
		Width: figure.TwoColumns,
		Rows: [][]figure.Panel{{
			panel(figure.Text("Stage 2 to its end"), gap.ToEnd, figure.Text),
			panel(figure.Label{Text: "Stage 2 stopped at β*", TeX: `Stage 2 stopped at $\beta^*$`}, gap.Stopped,
				func(string) figure.Label { return figure.Label{} }),
		}},
		Caption: fmt.Sprintf(`Excess of the loss over the least value of the perturbed loss after Algorithm 1, `+
			`against $T_{\mathrm{eff}}$, for $T=16,32,\dots$ in six families: stage 2 run for $2^{16}$ steps, and `+
			`stopped at $e^{\beta^*} = %d\, T_{\mathrm{eff}}^{1/12}\log^{-1/6}T$. Lines are fitted power laws; both `+
			`panels have the legend of the first. `+
			`$T_{\mathrm{eff}}$ of binary tree and star does not grow with $T$.`, BetaStarConstant),
	}
}

func lossGapNumbers(gap LossGap) figure.Numbers {
	var ns figure.Numbers
	for _, part := range []struct {
		suffix string
		all    []Scaling
	}{{"", gap.ToEnd}, {"-stopped", gap.Stopped}} {
		for _, c := range part.all {
			if c.Grows {
				ns = append(ns, exponent("loss-gap-exponent-"+c.Family.Name+part.suffix, c.Law))
			}
		}
	}
	return ns
}

func exponent(id string, law theory.PowerLaw) figure.Number {
	return figure.Number{
		ID: id, Value: law.Exponent, Digits: 2,
		Interval: &[2]float64{law.Exponent - law.Half, law.Exponent + law.Half},
	}
}

// oodFigure draws sup |f - pi| of the trained models on sequences from a matrix
// outside of the prior and from one inside, median and 99 % quantile.
func oodFigure(all []OOD) *figure.Figure {
	f := oneRow(figure.TwoColumns,
		fmt.Sprintf(`Largest error of the prediction, `+
			`$\sup_{s'}|f_{\hat\theta}(s_{1:T})_{s'}-\tilde\pi(s'\mid s_T)|$, of the trained model on %d sequences `+
			`from a transition matrix outside the support of the prior (states stay with probability 0.8), and `+
			`from one inside: median and 99\,\%% quantile.`, OODSequences))
	for _, o := range all {
		f.Rows[0] = append(f.Rows[0], &figure.Axes{
			Title: figure.Text(o.Family.Title),
			X:     figure.Axis{Label: tEffLabel, Log: true},
			Y:     figure.Axis{Label: figure.Text("Largest error"), Log: true, Min: 0.01, Max: 1},
			Series: []figure.Series{
				{Label: figure.Text("outside, median"), X: o.TEff, Y: o.Median, Color: 1, Mark: 1},
				{Label: figure.Text("outside, 99 %"), X: o.TEff, Y: o.Tail, Color: 2, Mark: 2},
				{Label: figure.Text("inside, median"), X: o.TEff, Y: o.InsideMedian, Color: 5, Mark: 4},
				{Label: figure.Text("inside, 99 %"), X: o.TEff, Y: o.InsideTail, Color: 3, Mark: 3},
			},
		})
	}
	return f
}

// oodNumbers are the exponents of the 99 % quantile outside the prior.
func oodNumbers(all []OOD) figure.Numbers {
	var ns figure.Numbers
	for _, o := range all {
		ns = append(ns, exponent("ood-exponent-"+o.Family.Name, o.Law))
	}
	return ns
}

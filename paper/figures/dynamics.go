package figures

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sort"

	"golang.org/x/sync/errgroup"

	"learncausal/internal/figure"
	"learncausal/paper/trial"
	"learncausal/pkg/graph"
	"learncausal/pkg/num"
	"learncausal/pkg/theory"
)

// A Family has a causal graph for every length.
type Family struct {
	Name  string // also in the ids of its numbers
	Title string
	Graph func(t int) *graph.Forest
	Most  int // largest T of a sweep
}

// Families returns the families on which Algorithm 1 is run. T_eff is T for the first
// two, of the order of sqrt(T) for the spider, and at most 2 for binary tree and star.
func Families() []Family {
	spider := graph.FamilyNamed("spider").New
	random := func(t int) *graph.Forest { return graph.Random(t, 0.5, num.Stream(1, "families")) }
	return []Family{
		{"markov-chain", "Markov chain", graph.Chain, 512},
		{"in-context-learning", "In-context learning", graph.InContext, 512},
		{"spider", "Spider", spider, 512},
		{"random-forest", "Random forest", random, 512},
		{"binary-tree", "Binary tree", graph.BinaryTree, 256},
		{"star", "Star", graph.Star, 64},
	}
}

// leastLength is the first length of each family; each next one is twice as long.
const leastLength = 16

// FamilyRuns is Algorithm 1 on a family, by length.
type FamilyRuns struct {
	Family
	Runs []*theory.Dynamics
}

// A Sweep is Algorithm 1 on every family and length.
type Sweep []FamilyRuns

// Algorithms runs Algorithm 1 on every family and length, in some seconds.
func Algorithms(ctx context.Context, r *Results) (Sweep, error) {
	return once(r, "algorithm-1", func() (Sweep, error) { return newSweep(ctx) })
}

// newSweep runs stage 1 with h = T/8, which gives about a hundred steps for every T.
func newSweep(ctx context.Context) (Sweep, error) {
	prior := trial.MustPrior(trial.DynamicsPrior)
	s := make(Sweep, len(Families()))
	lengths := 0
	for _, f := range Families() {
		for t := leastLength; t <= f.Most; t *= 2 {
			lengths++
		}
	}
	done := trial.Counter(ctx, lengths)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for k, f := range Families() {
		s[k].Family = f
		group.Go(func() error {
			for t := leastLength; t <= f.Most && ctx.Err() == nil; t *= 2 {
				d, err := theory.RunDynamics(f.Graph(t), prior, float64(t)/8, 256)
				if err != nil {
					return err
				}
				s[k].Runs = append(s[k].Runs, d)
				done()
			}
			return ctx.Err()
		})
	}
	return s, group.Wait()
}

// Only returns the runs on the families with the given names.
func (s Sweep) Only(names ...string) Sweep {
	return slices.DeleteFunc(slices.Clone(s), func(f FamilyRuns) bool { return !slices.Contains(names, f.Name) })
}

// Of returns the runs with the given lengths.
func (f FamilyRuns) Of(lengths ...int) (ds []*theory.Dynamics) {
	for _, d := range f.Runs {
		if slices.Contains(lengths, d.Graph.T()) {
			ds = append(ds, d)
		}
	}
	return ds
}

// A Scaling is the excess loss of the runs on a family as a function of T_eff.
type Scaling struct {
	Family Family
	TEff   []float64
	Value  []float64
	Law    trial.PowerLaw // fitted where Grows
	Grows  bool           // T_eff at least doubles over the runs
}

// BetaStarConstant is the constant C in beta*, at which stage 2 is stopped.
const BetaStarConstant = 10

// LossGap is the excess loss after Algorithm 1, by family.
type LossGap struct {
	ToEnd   []Scaling // stage 2 run to its end
	Stopped []Scaling // stage 2 stopped at beta*
}

// LossGaps returns the excess losses of fig-loss-gap.
func LossGaps(ctx context.Context, r *Results) (LossGap, error) {
	return once(r, "loss-gap", func() (LossGap, error) { return then(Algorithms, Sweep.LossGap)(ctx, r) })
}

// LossGap returns the excess losses of the sweep.
func (s Sweep) LossGap() LossGap {
	return LossGap{
		ToEnd: s.excess(func(*graph.Forest) float64 { return 0 }),
		Stopped: s.excess(func(g *graph.Forest) float64 {
			return theory.BetaStar(BetaStarConstant, g.TEff(), g.T())
		}),
	}
}

func (s Sweep) excess(betaStar func(*graph.Forest) float64) []Scaling {
	var all []Scaling
	for _, f := range s {
		c := Scaling{Family: f.Family}
		for _, d := range f.Runs {
			c.TEff = append(c.TEff, d.Graph.TEff())
			c.Value = append(c.Value, d.Excess(d.StageTwo(betaStar(d.Graph), 2*theory.DynamicsTau2)))
		}
		if c.Grows = c.TEff[len(c.TEff)-1] >= 2*c.TEff[0]; c.Grows {
			c.Law = trial.FitPowerLaw(c.TEff, c.Value)
		}
		all = append(all, c)
	}
	return all
}

// lazyChain is a transition matrix outside the support of [DynamicsPrior],
// with the same least entry: each state stays with probability 0.8.
func lazyChain() []float64 { return []float64{0.8, 0.1, 0.1, 0.1, 0.8, 0.1, 0.1, 0.1, 0.8} }

// OODSequences is the number of sequences on which [Sweep.OutOfDistribution] measures each model.
const OODSequences = 1000

// OOD is the largest error sup_{s'} |f(X)_{s'} - pi(s'|s_T)| of the models of a
// family, by T_eff, on sequences from [lazyChain] and from a matrix of the prior.
type OOD struct {
	Family Family
	TEff   []float64
	Median []float64      // outside the prior
	Tail   []float64      // outside the prior, the 99 % quantile
	Law    trial.PowerLaw // of Tail
	// InsideMedian and InsideTail are median and 99 % quantile for the matrix of the prior.
	InsideMedian, InsideTail []float64
}

// OutOfDistribution returns the errors of fig-ood.
func OutOfDistribution(ctx context.Context, r *Results) ([]OOD, error) {
	return once(r, "out-of-distribution", func() ([]OOD, error) {
		s, err := Algorithms(ctx, r)
		if err != nil {
			return nil, err
		}
		return s.Only(theoryFamilies...).OutOfDistribution(ctx)
	})
}

// OutOfDistribution measures every model of the sweep.
func (s Sweep) OutOfDistribution(ctx context.Context) ([]OOD, error) {
	const n = OODSequences
	var all []OOD
	for _, f := range s {
		o := OOD{Family: f.Family}
		for _, d := range f.Runs {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			m := d.Trained().Final
			out, err1 := d.OutOfDistribution(m, lazyChain(), n, 1)
			in, err2 := d.OutOfDistribution(m, d.Prior.Pi[0], n, 2)
			if err := errors.Join(err1, err2); err != nil {
				return nil, fmt.Errorf("figures: %s: %w", f.Name, err)
			}
			o.TEff = append(o.TEff, d.Graph.TEff())
			o.Median, o.Tail = append(o.Median, out[n/2]), append(o.Tail, out[n*99/100])
			o.InsideMedian, o.InsideTail = append(o.InsideMedian, in[n/2]), append(o.InsideTail, in[n*99/100])
		}
		o.Law = trial.FitPowerLaw(o.TEff, o.Tail)
		all = append(all, o)
	}
	return all, nil
}

// theoryFamilies are the families of the paper's own examples, T_eff = T.
var theoryFamilies = []string{"markov-chain", "in-context-learning"}

// stageOneFigure draws stage 1 on one graph: attention on the parents and in the rows of roots,
// attention not on the parent, the graph, and the attention at the end.
func stageOneFigure(context.Context, *Results) (*figure.Figure, error) {
	d, err := theory.RunDynamics(trial.RandomGraph(), trial.MustPrior(trial.DynamicsPrior), 1, 64)
	if err != nil {
		return nil, err
	}
	t := d.Graph.T()
	all, rest := stageOneCurves(d)
	end := math.Ceil(float64(d.One.Tau1)/10) * 10
	graph := adjacencyMatrix("Causal graph", matrixRows(d.Graph.Adjacency()))
	attention := &figure.Matrix{
		Title:  figure.Label{Text: "Attention after stage 1", TeX: `$\mathcal S(A^{(1)}(\tau_1))$`},
		Values: matrixRows(d.Attention), Scale: figure.Scale{Min: 0, Max: 1}, XLabel: positionJ,
	}
	return &figure.Figure{
		Width: figure.TwoColumns,
		Alt: "Attention on the parents, which grows to 1 in all rows, and the largest of each root, which grows " +
			"more slowly; what is left falls to a dashed line. Below, the graph and the attention at the end: " +
			"the same bright cells, and one in the row of each root.",
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
	}, nil
}

// stageOneCurves returns the attention of each position on its parent, with the largest
// attention of each root except the first, and the attention not on the parent.
func stageOneCurves(d *theory.Dynamics) (all, rest []figure.Series) {
	var onParent []figure.Series
	for i := 1; i < d.Graph.T(); i++ {
		root, parent := figure.Series{Color: 2, Mark: 2, Width: 0.7}, figure.Series{Color: 1, Mark: 1, Width: 0.7}
		left := parent
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
	f := figure.OneRow(figure.TwoColumns,
		"Force against beta for four lengths on two graphs: curves that rise, peak between 0 and 2 and fall to "+
			"zero, the higher the longer the sequence, below a dashed curve that is their limit.",
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
	f.ShareLegend(f.Rows[0][0].(*figure.Axes))
	return f
}

// whyItStopsFigure draws stage 2 against beta on the chain: the distance of the
// prediction from the row of pi, the force on beta, and the value of beta at the end.
func whyItStopsFigure(s Sweep) *figure.Figure {
	const most = 10
	x := figure.Axis{Label: betaLabel, Min: 0, Max: most}
	miss := &figure.Axes{
		Ends: true, Title: figure.Text("Error of the prediction"), X: x,
		Y: figure.Axis{Log: true, Label: figure.Label{
			Text: "Root mean square of f − π", TeX: `Root mean square of $f-\pi$`,
		}},
	}
	force := &figure.Axes{
		Title: figure.Label{Text: "Force on β", TeX: `Force on $\beta$`}, X: x,
		Y: figure.Axis{Log: true, Min: 1e-6, Max: 0.1, Label: figure.Label{Text: "−Δ(β)", TeX: `$-\Delta_\beta$`}},
	}
	ends := figure.Series{Label: figure.Text("end of stage 2"), Points: true, Color: 7, Mark: 4}
	endForces := ends
	endForces.Label = figure.Label{}
	for c, d := range s.Only("markov-chain")[0].Of(16, 64, 256, 512) {
		errors := figure.Series{Label: lengthLabel(d.Graph.T()), Color: c + 1, Mark: c + 1}
		forces := figure.Series{Color: c + 1, Mark: c + 1}
		for _, at := range d.Table {
			errors.X, errors.Y = append(errors.X, at.Beta), append(errors.Y, at.RMS())
		}
		for k, at := range d.Table {
			b, f := at.Beta, -at.DeltaBeta.Mean
			if f < force.Y.Min { // it leaves the frame where the line from the point before does
				b0, f0 := d.Table[k-1].Beta, -d.Table[k-1].DeltaBeta.Mean
				b, f = b0+float64((f0-force.Y.Min)/(f0-f)*(b-b0)), force.Y.Min
			}
			if forces.X, forces.Y = append(forces.X, b), append(forces.Y, f); f == force.Y.Min {
				break
			}
		}
		miss.Series, force.Series = append(miss.Series, errors), append(force.Series, forces)
		end := d.Trained().Final.Beta()
		ends.X, ends.Y = append(ends.X, end), append(ends.Y, between(errors, end))
		endForces.X = append(endForces.X, end)
		endForces.Y = append(endForces.Y, max(force.Y.Min, between(forces, end)))
	}
	miss.Series = append(miss.Series, ends)
	force.Series = append(force.Series, endForces)
	return figure.OneRow(figure.TwoColumns,
		"Left, the error against beta: it falls and is flat long before the mark where stage 2 ends, the lower "+
			"the longer the sequence. Right, the force: it vanishes for short sequences and falls off "+
			"exponentially for long ones.",
		fmt.Sprintf(`Why stage 2 stops, on the chain. (a)~The error of the prediction, `+
			`$(\mathbb E(f_{s'}-\pi(s'\mid s))^2)^{1/2}$ over all $s$ and $s'$, by $\beta$, with the place that `+
			`%s steps of size 1 reach. (b)~The force $-\Delta_\beta$, in the colours of (a); a mark on the axis means that `+
			`it has vanished. For short sequences $\beta$ rests where the force vanishes; for long ones the force falls `+
			`off exponentially, so that $\beta$ grows like the logarithm of the time while the error has long been flat.`,
			powerTeX(theory.DynamicsTau2)), miss, force)
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
	for t := 1; t <= theory.DynamicsTau2; t += 1 + t/16 {
		steps = append(steps, t)
	}
	x := make([]float64, len(steps))
	for i, t := range steps {
		x[i] = float64(t)
	}
	a := &figure.Axes{Ends: true, X: figure.Axis{Label: stepLabel, Log: true}, Y: figure.Axis{Label: betaLabel}}
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
			Y: theory.IdealBeta(d.Beta0, steps, func(b float64) float64 {
				return theory.GHatBeta(d.Prior, d.Graph, b)
			}),
		},
		figure.Series{
			Label: figure.Text("guaranteed"), X: x, Color: 5, Mark: 6,
			Y: theory.IdealBeta(d.Beta0, steps, func(b float64) float64 {
				return theory.GuaranteedForce(theory.Gamma(d.Prior), d.Prior.States(), b)
			}),
		})
	return figure.OneRow(figure.OneColumn,
		"Beta against the logarithm of the step: S-shaped curves that rest at a level for short sequences and "+
			"keep growing slowly for long ones, near the predicted curve. The guaranteed growth stays at zero.",
		`Growth of $\beta$ in stage 2 on the chain ($\eta_2=1$), its prediction from $\hat g(\beta)$, and `+
			`the growth that the lower bound of the stage-2 theorem guarantees.`, a)
}

// lossGapFigure draws the excess loss after Algorithm 1 against the effective length, with
// power laws for the families with growing T_eff.
func lossGapFigure(gap LossGap) *figure.Figure {
	panel := func(title figure.Label, all []Scaling) *figure.Axes {
		a := &figure.Axes{
			Title: title,
			X:     figure.Axis{Label: tEffLabel, Log: true, Min: 0.8, Max: 700},
			Y:     figure.Axis{Label: figure.Text("Excess loss"), Log: true, Min: 0.01, Max: 0.4},
		}
		for k, c := range all {
			a.Series = append(a.Series, figure.Series{
				Label: figure.Text(c.Family.Title), X: c.TEff, Y: c.Value, Points: true, Color: k + 1, Mark: k + 1,
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
	toEnd := panel(figure.Text("Stage 2 to its end"), gap.ToEnd)
	f := figure.OneRow(figure.TwoColumns,
		"Excess loss against the effective length on logarithmic axes: straight falling lines for four "+
			"families, steeper where stage 2 runs to its end; two families stay at the left.",
		fmt.Sprintf(`Excess of the loss over the least value of the perturbed loss after Algorithm 1, `+
			`against $T_{\mathrm{eff}}$, for $T=%d,%d,\dots$ in %s families: stage 2 run for %s steps, and `+
			`stopped at $e^{\beta^*} = %d\, T_{\mathrm{eff}}^{1/12}\log^{-1/6}T$. Lines are fitted power laws. `+
			`$T_{\mathrm{eff}}$ of binary tree and star does not grow with $T$.`,
			leastLength, 2*leastLength, inWords(len(gap.ToEnd)), powerTeX(theory.DynamicsTau2), BetaStarConstant),
		toEnd, panel(figure.Label{Text: "Stage 2 stopped at β*", TeX: `Stage 2 stopped at $\beta^*$`}, gap.Stopped))
	f.ShareLegend(toEnd)
	return f
}

// oodFigure draws sup |f - pi| of the trained models on sequences from a matrix
// outside of the prior and from one inside, median and 99 % quantile.
func oodFigure(all []OOD) *figure.Figure {
	f := figure.OneRow(figure.TwoColumns,
		"Largest error against the effective length on logarithmic axes for two graphs: median and 99 % "+
			"quantile fall, outside of the prior no slower than inside.",
		fmt.Sprintf(`Largest error of the prediction, `+
			`$\sup_{s'}|f_{\hat\theta}(s_{1:T})_{s'}-\tilde\pi(s'\mid s_T)|$, of the trained model on %d sequences `+
			`from a transition matrix outside the support of the prior (states stay with probability %g), and `+
			`from one inside: median and 99\,\%% quantile.`, OODSequences, lazyChain()[0]))
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
	f.ShareLegend(f.Rows[0][0].(*figure.Axes))
	return f
}

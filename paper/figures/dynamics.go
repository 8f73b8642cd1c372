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
	attention, _ := figure.Matrix(`Attention after stage 1, $\mathcal S(A^{(1)}(\tau_1))$`, matrixRows(d.Attention), false)
	attention.Axes(positionJ, "")
	graph.Most, attention.Most = 170, 170
	rest.Log(&rest.X, &rest.Y)
	rest.Level("$1/T$", 1/float64(t))
	all.XRange(0, end)
	return &figure.Figure{
		Width: figure.TwoColumns,
		Alt: "Attention on the parents, which grows to 1 in all rows, and the largest of each root, which grows " +
			"more slowly; what is left falls to a dashed line. Below, the graph and the attention at the end: " +
			"the same bright cells, and one in the row of each root.",
		Caption: fmt.Sprintf(`Stage 1 of Algorithm 1 in the limit $\beta_0 \to 0$ on a random causal graph, `+
			`$T=%d$: attention of each position on its parent, and the largest attention in the row of each root; `+
			`attention left for others than the parent, with the level $1/T$ at which stage 1 ends, after %d `+
			`steps; the causal graph; the attention at the end.`, t, d.One.Tau1),
		Rows: [][]*figure.Panel{{all, rest}, {graph, attention}},
	}, nil
}

// stageOneCurves returns panels of the attention of each position on its parent, with the largest
// attention of each root except the first, and of the attention not on the parent.
func stageOneCurves(d *theory.Dynamics) (all, rest *figure.Panel) {
	all = figure.New("Attention").Axes(stepLabel, "").YRange(0, 1)
	rest = figure.New("Attention not on the parent").Axes(stepLabel, "")
	curve := func(i int, of func(row theory.Row) float64, from int) (x, y []float64) {
		for _, p := range d.One.Points[from:] {
			x, y = append(x, float64(p.Step)), append(y, of(p.Rows[i]))
		}
		return x, y
	}
	names := [2]string{"on the parent", "largest of a root"}
	for _, root := range []int{1, 0} { // curves on parents over those of roots
		for i := 1; i < d.Graph.T(); i++ {
			if (d.Graph.Parent(i) < 0) != (root == 1) {
				continue
			}
			x, y := curve(i, func(r theory.Row) float64 { return []float64{r.Parent, r.Other}[root] }, 0)
			all.Curve(root, names[root], x, y).Width = 0.7
			names[root] = ""
			if root == 0 {
				x, y := curve(i, func(r theory.Row) float64 { return 1 - r.Parent }, 1)
				rest.Curve(0, "", x, y).Width = 0.7
			}
		}
	}
	return all, rest
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
		a := figure.New(family.Title).Axes(betaLabel, `$-\Delta_\beta$`).XRange(0, 8)
		ds := family.Of(16, 64, 256, 512)
		for c, d := range ds {
			var x, y, half []float64
			for _, at := range d.Table {
				if at.Beta <= 8 {
					x, y, half = append(x, at.Beta), append(y, -at.DeltaBeta.Mean), append(half, 2*at.DeltaBeta.StdErr)
				}
			}
			a.Curve(c, lengthLabel(d.Graph.T()), x, y, half...)
		}
		last := ds[len(ds)-1]
		var x, y []float64
		for i := range 81 {
			x = append(x, float64(i)/10)
			y = append(y, theory.GHatBeta(last.Prior, last.Graph, x[i]))
		}
		a.Curve(4, `$\hat g(\beta)$`, x, y).Color = figure.Black
		f.Rows[0] = append(f.Rows[0], a)
	}
	f.Share(f.Rows[0][0])
	return f
}

// whyItStopsFigure draws stage 2 against beta on the chain: the distance of the
// prediction from the row of pi, the force on beta, and the value of beta at the end.
func whyItStopsFigure(s Sweep) *figure.Figure {
	const most, least = 10, 1e-6
	miss := figure.New("Error of the prediction").Axes(betaLabel, `Root mean square of $f-\pi$`).XRange(0, most)
	force := figure.New(`Force on $\beta$`).Axes(betaLabel, `$-\Delta_\beta$`).XRange(0, most).YRange(least, 0.1)
	miss.Log(&miss.Y)
	force.Log(&force.Y)
	var ends, endErrors, endForces []float64
	for c, d := range s.Only("markov-chain")[0].Of(16, 64, 256, 512) {
		var betas, errors, x, forces []float64
		for k, at := range d.Table {
			betas, errors = append(betas, at.Beta), append(errors, at.RMS())
			b, f := at.Beta, -at.DeltaBeta.Mean
			if n := len(forces); n > 0 && forces[n-1] == least {
				continue
			}
			if f < least { // it leaves the frame where the line from the point before does
				b0, f0 := d.Table[k-1].Beta, -d.Table[k-1].DeltaBeta.Mean
				b, f = b0+float64((f0-least)/(f0-f)*(b-b0)), least
			}
			x, forces = append(x, b), append(forces, f)
		}
		miss.Curve(c, lengthLabel(d.Graph.T()), betas, errors)
		force.Curve(c, "", x, forces)
		end := d.Trained().Final.Beta()
		ends = append(ends, end)
		endErrors = append(endErrors, between(betas, errors, end))
		endForces = append(endForces, max(least, between(x, forces, end)))
	}
	miss.Points(3, "end of stage 2", ends, endErrors).Color = figure.Black
	force.Points(3, "", ends, endForces).Color = figure.Black
	miss.Ends()
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

// between interpolates a curve linearly at v.
func between(x, y []float64, v float64) float64 {
	k := max(1, sort.SearchFloat64s(x, v))
	k = min(k, len(x)-1)
	t := (v - x[k-1]) / (x[k] - x[k-1])
	return y[k-1] + t*(y[k]-y[k-1])
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
	a := figure.New("").Axes(stepLabel, betaLabel)
	a.Log(&a.X)
	ds := s.Only("markov-chain")[0].Of(16, 64, 256, 512)
	for c, d := range ds {
		points := d.StageTwo(0, 1).Points
		var beta []float64
		for _, t := range steps {
			if t < len(points) {
				beta = append(beta, points[t].Beta)
			}
		}
		a.Curve(c, lengthLabel(d.Graph.T()), x[:len(beta)], beta)
	}
	d := ds[len(ds)-1]
	a.Curve(4, `by $\hat g(\beta)$`, x, theory.IdealBeta(d.Beta0, steps, func(b float64) float64 {
		return theory.GHatBeta(d.Prior, d.Graph, b)
	})).Color = figure.Black
	a.Curve(5, "guaranteed", x, theory.IdealBeta(d.Beta0, steps, func(b float64) float64 {
		return theory.GuaranteedForce(theory.Gamma(d.Prior), d.Prior.States(), b)
	})).Color = figure.Colors[4]
	a.Ends()
	return figure.OneRow(figure.OneColumn,
		"Beta against the logarithm of the step: S-shaped curves that rest at a level for short sequences and "+
			"keep growing slowly for long ones, near the predicted curve. The guaranteed growth stays at zero.",
		`Growth of $\beta$ in stage 2 on the chain ($\eta_2=1$), its prediction from $\hat g(\beta)$, and `+
			`the growth that the lower bound of the stage-2 theorem guarantees.`, a)
}

// lossGapFigure draws the excess loss after Algorithm 1 against the effective length, with
// power laws for the families with growing T_eff.
func lossGapFigure(gap LossGap) *figure.Figure {
	panel := func(title string, all []Scaling) *figure.Panel {
		a := figure.New(title).Axes(tEffLabel, "Excess loss").XRange(0.8, 700).YRange(0.01, 0.4)
		a.Log(&a.X, &a.Y)
		for k, c := range all {
			a.Points(k, c.Family.Title, c.TEff, c.Value)
			if c.Grows {
				x, y := c.TEff[0], c.TEff[len(c.TEff)-1]
				a.Curve(k, " "+c.Family.Title+", fit", []float64{x, y}, []float64{c.Law.At(x), c.Law.At(y)})
			}
		}
		return a
	}
	toEnd := panel("Stage 2 to its end", gap.ToEnd)
	f := figure.OneRow(figure.TwoColumns,
		"Excess loss against the effective length on logarithmic axes: straight falling lines for four "+
			"families, steeper where stage 2 runs to its end; two families stay at the left.",
		fmt.Sprintf(`Excess of the loss over the least value of the perturbed loss after Algorithm 1, `+
			`against $T_{\mathrm{eff}}$, for $T=%d,%d,\dots$ in %s families: stage 2 run for %s steps, and `+
			`stopped at $e^{\beta^*} = %d\, T_{\mathrm{eff}}^{1/12}\log^{-1/6}T$. Lines are fitted power laws. `+
			`$T_{\mathrm{eff}}$ of binary tree and star does not grow with $T$.`,
			leastLength, 2*leastLength, inWords(len(gap.ToEnd)), powerTeX(theory.DynamicsTau2), BetaStarConstant),
		toEnd, panel(`Stage 2 stopped at $\beta^*$`, gap.Stopped))
	f.Share(toEnd)
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
		a := figure.New(o.Family.Title).Axes(tEffLabel, "Largest error").YRange(0.01, 1)
		a.Log(&a.X, &a.Y)
		a.Curve(0, "outside, median", o.TEff, o.Median)
		a.Curve(1, "outside, 99 %", o.TEff, o.Tail)
		a.Curve(3, "inside, median", o.TEff, o.InsideMedian).Color = figure.Colors[4]
		a.Curve(2, "inside, 99 %", o.TEff, o.InsideTail)
		f.Rows[0] = append(f.Rows[0], a)
	}
	f.Share(f.Rows[0][0])
	return f
}

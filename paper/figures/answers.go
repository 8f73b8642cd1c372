package figures

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"

	"learncausal/internal/figure"
	"learncausal/paper/trial"
	"learncausal/pkg/train"
)

// Names of the sweeps.
const (
	severalParents = "several-parents"
	jointTraining  = "joint-training"
	stagesSweep    = "stages"
)

// Replay trains one run of each sweep, selected by the day among runs of at most 64 positions,
// up to the second evaluation and compares the results bit by bit with the stored ones. It
// returns a summary, which does not depend on the day, or an error that names a difference.
func ReplaySweeps(ctx context.Context) (string, error) {
	sweeps := []string{
		Figure9, Figure9QuarterBatch, severalParents, jointTraining, stagesSweep, Figure8,
	}
	for _, name := range sweeps {
		all, err := trial.Outcomes(name)
		if err != nil {
			return "", err
		}
		if err := ctx.Err(); err != nil {
			return "", err
		}
		all = slices.DeleteFunc(all, func(o *trial.Outcome) bool { return o.Spec.T() > 64 })
		o := all[trial.Today()%len(all)]
		if err := begins(o); err != nil {
			return "", fmt.Errorf("figures: run %s of %s: %w", o.Address, name, err)
		}
	}
	return "A run of each of six sweeps was begun again and gave the stored evaluations.", nil
}

// begins trains a run up to its second evaluation and compares both evaluations, and the
// results of Algorithm 1, with the stored ones.
func begins(o *trial.Outcome) error {
	spec := o.Spec.Canonical()
	t, err := train.New(spec, 0)
	if err != nil {
		return err
	}
	if err := t.Advance(min(spec.Every, spec.Steps)); err != nil {
		return err
	}
	for k, p := range t.Snapshot().Curve {
		if q := o.Curve[k]; q.Step != p.Step || float64(q.Loss) != p.Loss || float64(q.Attention) != p.Attention {
			return fmt.Errorf("it has the evaluation %+v, stored is %+v", p, q)
		}
	}
	if o.One == nil {
		return nil
	}
	one, err := trial.AlgorithmOne(spec)
	if err != nil {
		return err
	}
	if got, want := fmt.Sprint(*one), fmt.Sprint(*o.One); got != want { // NaN equals NaN here
		return fmt.Errorf("loss and attention of Algorithm 1 are %s, stored is %s", got, want)
	}
	return nil
}

// shownPrior is the prior of the figure of joint training and of the experiments.
const shownPrior = "dirichlet(0.1)"

// A target is a quantity of joint training on a graph, and the same quantity of Algorithm 1.
type target struct {
	title      string
	axis       figure.Axis
	joint, one func(*Joint) float64
}

// targets are the rows of jointFigure and the groups of predictTable.
func targets() []target {
	return []target{
		{
			"Loss above a predictor that knows π",
			figure.Axis{Label: figure.Text("Nats"), Log: true},
			(*Joint).Above, func(j *Joint) float64 { return j.One.Above },
		},
		{
			"Loss above the Bayes predictor",
			figure.Axis{Label: figure.Text("Nats"), Log: true},
			(*Joint).Excess, func(j *Joint) float64 { return j.One.Excess },
		},
		{
			"Mean attention on the parents",
			figure.Axis{Label: figure.Text("Attention"), Min: 0, Max: 1},
			(*Joint).Attention, func(j *Joint) float64 { return j.One.Attention },
		},
	}
}

// jointFigure draws the targets against three possible predictors, for three states and
// the prior of the experiments.
func jointFigure(all []*Joint) *figure.Figure {
	all = ofPrior(all, shownPrior, 3)
	longest := slices.MaxFunc(all, func(a, b *Joint) int { return cmp.Compare(a.Graph.T(), b.Graph.T()) })
	f := &figure.Figure{
		Width: figure.TwoColumns,
		Caption: fmt.Sprintf(`Both layers trained at once, with three states and rows from Dirichlet$(0.1)$, on `+
			`five families of graphs with $T=10$ to $%d$, each mark the mean over the seeds of a graph: the loss `+
			`less the loss of a predictor that knows the transition matrix $\pi$, the loss less the loss of the Bayes `+
			`predictor, and the mean attention on the parents. Each is shown against the effective length, the length `+
			`and the same quantity of Algorithm 1.`, longest.Graph.T()),
	}
	for i, y := range targets() {
		one := y.axis
		one.Label.Text += ", Algorithm 1"
		against := jointPanel(all, one, y.axis, y.one, y.joint)
		low, high := extent(against.Series)
		equal := figure.Series{
			Label: figure.Text("equal values"), X: []float64{low, high}, Y: []float64{low, high}, Color: 7, Mark: 7,
		}
		against.Series = append(against.Series, equal)
		row := []*figure.Axes{
			jointPanel(all, figure.Axis{Label: tEffLabel, Log: true}, y.axis, tEffOf, y.joint),
			jointPanel(all, figure.Axis{Label: lengthAxis, Log: true}, y.axis, lengthOf, y.joint),
			against,
		}
		f.Rows = append(f.Rows, nil)
		for _, a := range row {
			a.Title = figure.Text(y.title)
			if a == against {
				a.Title = figure.Text("The same for Algorithm 1")
			}
			f.Rows[i] = append(f.Rows[i], a)
		}
	}
	f.ShareLegend(f.Rows[0][2].(*figure.Axes))
	return f
}

// extent returns the least and the largest coordinate of the points, in either direction.
func extent(points []figure.Series) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, s := range points {
		low = min(low, floats.Min(s.X), floats.Min(s.Y))
		high = max(high, floats.Max(s.X), floats.Max(s.Y))
	}
	return low, high
}

var lengthAxis = figure.Label{Text: "Length T", TeX: "Length $T$"}

func tEffOf(j *Joint) float64 { return j.Graph.TEff() }

func lengthOf(j *Joint) float64 { return float64(j.Graph.T()) }

func ofPrior(all []*Joint, prior string, states int) []*Joint {
	other := func(j *Joint) bool { return j.Prior != prior || j.S != states }
	return slices.DeleteFunc(slices.Clone(all), other)
}

// jointPanel draws a family in a colour.
func jointPanel(all []*Joint, xAxis, yAxis figure.Axis, x, y func(*Joint) float64) *figure.Axes {
	a := &figure.Axes{X: xAxis, Y: yAxis}
	for _, j := range all {
		k := slices.IndexFunc(a.Series, func(s figure.Series) bool { return s.Label.Text == j.Family })
		if k < 0 {
			k = len(a.Series)
			a.Series = append(a.Series, figure.Series{Label: figure.Text(j.Family), Points: true})
		}
		a.Series[k].X, a.Series[k].Y = append(a.Series[k].X, x(j)), append(a.Series[k].Y, y(j))
	}
	return a
}

func jointTable(all []*Joint) *figure.Table {
	t := newTable(
		`Both layers trained at once, and Algorithm 1, with three states and rows from `+
			`Dirichlet$(0.1)$: the share of the edges that joint training learns, mean attention on the parents `+
			`(uniform: for uniform attention), and losses in nats less the loss of a predictor that knows the `+
			`transition matrix (above) and less the loss of the Bayes predictor (excess); means over the seeds. The `+
			`column Eff. has the effective length, the last column the loss of the Bayes predictor less the loss of `+
			`the predictor that knows the matrix.`,
		"Graph", "T", "Eff.", "Seeds", "Joint: learned, attention, above, excess",
		"Algorithm 1: attention, above, excess", "Uniform", "Bayes")
	shown := ofPrior(all, shownPrior, 3)
	slices.SortStableFunc(shown, func(a, b *Joint) int { return cmp.Compare(a.Family, b.Family) })
	for _, j := range shown {
		addRow(t, j.Family, j.Graph.T(), figure.Value(tEffOf(j), 1), len(j.Seeds),
			figure.Value(j.Learned(), 2), figure.Value(j.Attention(), 2), j.Above(), figure.Value(j.Excess(), 4),
			figure.Value(j.One.Attention, 2), j.One.Above, j.One.Excess, figure.Value(j.Uniform(), 2), j.Bayes())
	}
	return t
}

// predictTable has the rank correlations over the graphs of the targets with their possible predictors.
func predictTable(all []*Joint) *figure.Table {
	t := newTable(
		`What predicts joint training: Kendall's $\tau_b$, over the graphs with a prior, of the loss above `+
			`the loss of a predictor that knows the transition matrix, of the excess over the Bayes predictor, and `+
			`of the attention on the parents, with the effective length (eff.), the length $T$, and the same `+
			`quantity of Algorithm 1 (one), which was run with two and with three states; and of the Bayes `+
			`predictor's loss above the loss of the predictor that knows the matrix. A law of the kind of Theorem 1 `+
			`would have $\tau_b=-1$ for losses against the effective length.`,
		"Prior", "States", "Graphs", "Above: eff., T, one", "Over Bayes: eff., T, one", "Attention: eff., T, one",
		"Bayes: eff., T")
	type kind struct {
		prior  string
		states int
	}
	var kinds []kind
	for _, j := range all {
		if k := (kind{j.Prior, j.S}); !slices.Contains(kinds, k) {
			kinds = append(kinds, k)
		}
	}
	for _, k := range kinds {
		of := ofPrior(all, k.prior, k.states)
		tau := func(x, y func(*Joint) float64) figure.Cell { return figure.Value(kendall(of, x, y), 2) }
		row := []any{priorName(k.prior), k.states, len(of)}
		for _, y := range targets() {
			row = append(row, tau(tEffOf, y.joint), tau(lengthOf, y.joint))
			if of[0].One == nil {
				row = append(row, "")
				continue
			}
			row = append(row, tau(y.one, y.joint))
		}
		addRow(t, append(row, tau(tEffOf, (*Joint).Bayes), tau(lengthOf, (*Joint).Bayes))...)
	}
	return t
}

// priorName returns the family of a prior, with its parameter if that is one number.
func priorName(prior string) string {
	name, of, _ := strings.Cut(prior, "(")
	if strings.Contains(of, " ") {
		return name
	}
	return prior
}

// jointNumbers are the rank correlations of predictTable for the graphs of jointFigure.
func jointNumbers(all []*Joint) figure.Numbers {
	of := ofPrior(all, shownPrior, 3)
	number := func(id string, x, y func(*Joint) float64) figure.Number {
		return figure.Number{ID: id, Value: kendall(of, x, y), Digits: 2}
	}
	return figure.Numbers{
		number("joint-tau-above-t-eff", tEffOf, (*Joint).Above),
		number("joint-tau-excess-t-eff", tEffOf, (*Joint).Excess),
		number("joint-tau-excess-length", lengthOf, (*Joint).Excess),
		number("joint-tau-attention-length", lengthOf, (*Joint).Attention),
	}
}

// kendall returns Kendall's rank correlation over graphs,
//
//	tau_b = (concordant - discordant) / sqrt(n_x n_y)
//
// n_x is the number of pairs that differ in x, and n_y of pairs that differ in y.
func kendall(all []*Joint, x, y func(*Joint) float64) float64 {
	var both, inX, inY float64
	for i, a := range all {
		for _, b := range all[:i] {
			dx, dy := cmp.Compare(x(a), x(b)), cmp.Compare(y(a), y(b))
			both, inX, inY = both+float64(dx*dy), inX+float64(dx*dx), inY+float64(dy*dy)
		}
	}
	return both / math.Sqrt(inX*inY)
}

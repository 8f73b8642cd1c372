package figures

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	"learncausal/internal/figure"
	"learncausal/paper/trial"
	"learncausal/pkg/graph"
	"learncausal/pkg/num"
	"learncausal/pkg/train"
)

// jointTraining is the name of the sweep.
const jointTraining = "joint-training"

// A Joint has the results of joint training of both layers, and of Algorithm 1, on a graph with
// a prior. Losses are in nats. Above is the loss less the loss of a predictor that knows the
// transition matrix, on the test set of a run.
type Joint struct {
	Family string
	Graph  *graph.Forest
	S      int
	Prior  string
	Seeds  []JointRun
	One    *AlgorithmOne // nil if it was not run
	Spec   train.Spec    // of the first seed
}

// A JointRun is one run of both layers.
type JointRun struct {
	Above     float64
	Excess    num.Estimate // over the Bayes predictor
	Attention float64      // mean over the edges, on the parents
	Learned   int          // edges
}

// AlgorithmOne has the results of Algorithm 1, see [trial.AlgorithmOne], on the test
// set of the first seed.
type AlgorithmOne struct {
	Above     float64
	Excess    float64 // over the Bayes predictor
	Attention float64 // mean over the edges, on the parents
}

// mean returns the mean of f over the seeds.
func (j *Joint) mean(f func(JointRun) float64) float64 {
	sum := 0.0
	for _, r := range j.Seeds {
		sum += f(r)
	}
	return sum / float64(len(j.Seeds))
}

// Above returns the mean loss of joint training above the least one.
func (j *Joint) Above() float64 { return j.mean(func(r JointRun) float64 { return r.Above }) }

// Excess returns the mean loss of joint training less the loss of the Bayes predictor.
func (j *Joint) Excess() float64 { return j.mean(func(r JointRun) float64 { return r.Excess.Mean }) }

// Bayes returns the mean loss of the Bayes predictor above the least one.
func (j *Joint) Bayes() float64 { return j.Above() - j.Excess() }

// Attention returns the mean attention of joint training on the parents.
func (j *Joint) Attention() float64 { return j.mean(func(r JointRun) float64 { return r.Attention }) }

// Learned returns the share of the edges that joint training learns.
func (j *Joint) Learned() float64 {
	return j.mean(func(r JointRun) float64 { return float64(r.Learned) }) / float64(len(j.Graph.Edges()))
}

// Uniform returns the mean over the edges of uniform attention on the parent.
func (j *Joint) Uniform() float64 {
	var on []float64
	for _, e := range j.Graph.Edges() {
		on = append(on, 1/float64(e[1]+1))
	}
	return stat.Mean(on, nil)
}

// LoadJoint reads the results of runs/sweeps/joint-training.toml, in the order of the plan.
func LoadJoint() ([]*Joint, error) {
	outcomes, err := trial.Outcomes(jointTraining)
	if err != nil {
		return nil, err
	}
	return newJoint(outcomes)
}

func joint(_ context.Context, r *Results) ([]*Joint, error) { return once(r, "joint", LoadJoint) }

func newJoint(outcomes []*trial.Outcome) ([]*Joint, error) {
	var all []*Joint
	for _, o := range outcomes {
		of, ok := o.Spec.Task.(train.Task1)
		if !ok || o.Diverged != "" || o.Bayes == nil || o.One == nil {
			return nil, fmt.Errorf("figures: run %s of %s is not of Task 1, has diverged, "+
				"or is not compared with Bayes and Algorithm 1", o.Address, jointTraining)
		}
		k := slices.IndexFunc(all, func(j *Joint) bool {
			return slices.Equal(j.Graph.Parents(), of.Parents) && j.S == of.States && j.Prior == of.Prior
		})
		if k < 0 {
			k = len(all)
			j := &Joint{Graph: graph.MustNew(of.Parents...), S: of.States, Prior: of.Prior, Spec: o.Spec}
			var err error
			if j.Family, err = familyOf(j.Graph); err != nil {
				return nil, err
			}
			all = append(all, j)
		}
		run, least, err := newJointRun(o)
		if err != nil {
			return nil, err
		}
		if loss := float64(o.One.Loss); len(all[k].Seeds) == 0 && !math.IsNaN(loss) {
			above := loss - least
			all[k].One = &AlgorithmOne{above, above - run.Above + run.Excess.Mean, float64(o.One.Attention)}
		}
		all[k].Seeds = append(all[k].Seeds, run)
	}
	return all, nil
}

// familyOf returns the name of the family of a graph.
func familyOf(g *graph.Forest) (string, error) {
	for _, f := range graph.Families() {
		if slices.Equal(f.New(g.T()).Parents(), g.Parents()) {
			return f.Name, nil
		}
	}
	return "", fmt.Errorf("figures: no family has the graph with the parents %v", g.Parents())
}

// newJointRun returns the results of a run, and the least loss on its test set.
func newJointRun(o *trial.Outcome) (run JointRun, least float64, err error) {
	b, err := o.Spec.TestSet()
	if err != nil {
		return run, 0, err
	}
	end := o.End()
	least = num.Average(trial.Entropies(b)).Mean
	run = JointRun{
		Above:     float64(end.Loss) - least,
		Excess:    num.Estimate{Mean: float64(o.Bayes.Excess), StdErr: float64(o.Bayes.ExcessError)},
		Attention: float64(end.Attention),
	}
	_, run.Learned, _ = trial.CountEdges(o.Edges)
	return run, least, nil
}

// Prior and number of states of the figure of joint training, the prior of the experiments.
const (
	shownPrior  = "dirichlet(0.1)"
	shownStates = 3
)

// A target is a quantity of joint training on a graph, and the same quantity of Algorithm 1.
type target struct {
	title      string
	joint, one func(*Joint) float64
}

// targets are the groups of predictTable.
func targets() []target {
	return []target{
		{"Loss above a predictor that knows π", (*Joint).Above, func(j *Joint) float64 { return j.One.Above }},
		{"Loss above the Bayes predictor", (*Joint).Excess, func(j *Joint) float64 { return j.One.Excess }},
		{"Mean attention on the parents", (*Joint).Attention, func(j *Joint) float64 { return j.One.Attention }},
	}
}

// jointFigure draws the excess over the Bayes predictor against what might predict it, for three states and the prior
// of the experiments.
func jointFigure(all []*Joint) *figure.Figure {
	all = ofPrior(all, shownPrior, shownStates)
	lengths, excess := mapped(all, lengthOf), targets()[1]
	families := map[string]bool{}
	for _, j := range all {
		families[j.Family] = true
	}
	row := []*figure.Panel{
		jointPanel(all, "Length $T$", lengthOf), jointPanel(all, tEffLabel, tEffOf),
		jointPanel(all, "Loss of Algorithm 1 above Bayes", excess.one),
	}
	f := figure.OneRow(figure.TwoColumns,
		"Three panels of marks in five shapes, one for each family of graphs. The loss above the Bayes predictor rises with "+
			"the length, in one band for all families but the star; against the effective length and Algorithm 1 the "+
			"families stand apart.",
		fmt.Sprintf(`Both layers trained at once, with %s states and rows from Dirichlet$(%s)$, on `+
			`%s families of graphs with $T=%.0f$ to $%.0f$, each mark the mean over the seeds of a graph: the loss `+
			`less the loss of the Bayes predictor, in nats, against the length, the effective length and the same quantity of `+
			`Algorithm 1. Of the three the length orders the graphs, but for the star.`,
			inWords(shownStates), alpha(shownPrior), inWords(len(families)), slices.Min(lengths), slices.Max(lengths)), row...)
	f.Share(row[0])
	return f
}

func tEffOf(j *Joint) float64 { return j.Graph.TEff() }

func lengthOf(j *Joint) float64 { return float64(j.Graph.T()) }

func ofPrior(all []*Joint, prior string, states int) []*Joint {
	other := func(j *Joint) bool { return j.Prior != prior || j.S != states }
	return slices.DeleteFunc(slices.Clone(all), other)
}

// jointPanel draws the excess over the Bayes predictor against x, a family in a colour.
func jointPanel(all []*Joint, label string, x func(*Joint) float64) *figure.Panel {
	p := figure.New("").Axes(label, "Loss above Bayes")
	p.Log(&p.X, &p.Y)
	byLength := func(a, b *Joint) int { return cmp.Compare(a.Graph.T(), b.Graph.T()) }
	all = slices.SortedStableFunc(slices.Values(all), byLength)
	var families []string
	for _, j := range all {
		if !slices.Contains(families, j.Family) {
			families = append(families, j.Family)
		}
	}
	for k, family := range families {
		of := slices.DeleteFunc(slices.Clone(all), func(j *Joint) bool { return j.Family != family })
		p.Points(k, family, mapped(of, x), mapped(of, (*Joint).Excess))
	}
	return p
}

func jointTable(all []*Joint) *figure.Table {
	t := figure.NewTable(
		fmt.Sprintf(`Both layers trained at once, and Algorithm 1, with %s states and rows from `+
			`Dirichlet$(%s)$: the share of the edges that joint training learns, mean attention on the parents `+
			`(uniform: for uniform attention), and losses in nats less the loss of a predictor that knows the `+
			`transition matrix (above) and less the loss of the Bayes predictor (excess); means over the seeds. The `+
			`column Eff. has the effective length, the last column the loss of the Bayes predictor less the loss of `+
			`the predictor that knows the matrix.`, inWords(shownStates), alpha(shownPrior)),
		"Graph", "T", "Eff.", "Seeds", "Joint: learned, attention, above, excess",
		"Algorithm 1: attention, above, excess", "Uniform", "Bayes")
	shown := ofPrior(all, shownPrior, shownStates)
	slices.SortStableFunc(shown, func(a, b *Joint) int { return cmp.Compare(a.Family, b.Family) })
	for _, j := range shown {
		t.Add(j.Family, j.Graph.T(), figure.Value(tEffOf(j), 1), len(j.Seeds),
			figure.Value(j.Learned(), 2), figure.Value(j.Attention(), 2), j.Above(), figure.Value(j.Excess(), 4),
			figure.Value(j.One.Attention, 2), j.One.Above, j.One.Excess, figure.Value(j.Uniform(), 2), j.Bayes())
	}
	return t
}

// predictTable has the rank correlations over the graphs of the targets with their possible predictors.
func predictTable(all []*Joint) *figure.Table {
	t := figure.NewTable(
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
		t.Add(append(row, tau(tEffOf, (*Joint).Bayes), tau(lengthOf, (*Joint).Bayes))...)
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

package figures

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

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

// FamilyRuns is Algorithm 1 on a family, T = 16, 32, ...
type FamilyRuns struct {
	Family
	Runs []*trial.Dynamics
}

// A Sweep is Algorithm 1 on every family and length.
type Sweep []FamilyRuns

// RunSweep runs Algorithm 1 on every family and length, in some seconds. Stage 1 has
// h = T/8, which gives about a hundred steps for every T.
func RunSweep(ctx context.Context) (Sweep, error) {
	prior := trial.MustPrior(trial.DynamicsPrior)
	s := make(Sweep, len(Families()))
	lengths := 0
	for _, f := range Families() {
		for t := 16; t <= f.Most; t *= 2 {
			lengths++
		}
	}
	done := trial.Counter(ctx, lengths)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for k, f := range Families() {
		s[k].Family = f
		group.Go(func() error {
			for t := 16; t <= f.Most && ctx.Err() == nil; t *= 2 {
				d, err := trial.RunDynamics(f.Graph(t), prior, float64(t)/8, 256)
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
func (f FamilyRuns) Of(lengths ...int) (ds []*trial.Dynamics) {
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
	Law    theory.PowerLaw // fitted where Grows
	Grows  bool            // T_eff at least doubles over the runs
}

// BetaStarConstant is the constant C in beta*, at which stage 2 is stopped.
const BetaStarConstant = 10

// LossGap is the excess loss after Algorithm 1, by family.
type LossGap struct {
	ToEnd   []Scaling // stage 2 run to its end
	Stopped []Scaling // stage 2 stopped at beta*
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
			c.Value = append(c.Value, d.Excess(d.StageTwo(betaStar(d.Graph), 2*trial.Tau2)))
		}
		if c.Grows = c.TEff[len(c.TEff)-1] >= 2*c.TEff[0]; c.Grows {
			c.Law = theory.FitPowerLaw(c.TEff, c.Value)
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
	Median []float64       // outside the prior
	Tail   []float64       // outside the prior, the 99 % quantile
	Law    theory.PowerLaw // of Tail
	// InsideMedian and InsideTail are median and 99 % quantile for the matrix of the prior.
	InsideMedian, InsideTail []float64
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
		o.Law = theory.FitPowerLaw(o.TEff, o.Tail)
		all = append(all, o)
	}
	return all, nil
}

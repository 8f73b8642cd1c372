package figures

import (
	"context"
	"errors"
	"fmt"
	"math"

	"learncausal/internal/figure"
	"learncausal/paper/trial"
	"learncausal/pkg/graph"
	"learncausal/pkg/markov"
	"learncausal/pkg/num"
	"learncausal/pkg/theory"
)

// enough returns the least N = 2^(k/2), k >= 6, rounded up, for which every parent is
// found in all samples, or 0 if there is none up to most.
func enough(ctx context.Context, s *theory.EmpiricalStage, samples, most int) (int, error) {
	for k := 6; ; k++ {
		n := int(math.Ceil(math.Pow(2, float64(k)/2)))
		if n > most {
			return 0, nil
		}
		if r, err := s.Try(ctx, n, samples); err != nil || r.Found > 1-1e-9 {
			return n, err
		}
	}
}

// An ErrorCurve is the error of the gradient of stage 1 on one graph, by the number of sequences.
type ErrorCurve struct {
	T      int
	Trials []theory.Trials // by the number of sequences
	Law    trial.PowerLaw  // of the error
}

// RunErrorCurves draws samples of N = 16, 32, ..., 8192 sequences, for the graph of each of the lengths.
func RunErrorCurves(
	ctx context.Context, graphs func(t int) *graph.Forest, prior *markov.Finite, lengths []int, samples int,
) ([]ErrorCurve, error) {
	if len(lengths) == 0 {
		return nil, errors.New("figures: error curves for no length, want at least one")
	}
	return trial.Each(ctx, lengths, func(ctx context.Context, t int) (ErrorCurve, error) {
		c := ErrorCurve{T: t}
		s, err := theory.NewEmpiricalStage(graphs(t), prior)
		if err != nil {
			return c, err
		}
		var n, e []float64
		for k := 16; k <= 8192; k *= 2 {
			r, err := s.Try(ctx, k, samples)
			if err != nil {
				return c, err
			}
			c.Trials = append(c.Trials, r)
			n, e = append(n, float64(k)), append(e, r.Error)
		}
		c.Law = trial.FitPowerLaw(n, e)
		return c, nil
	})
}

// SampleSizes is the number of sequences with which stage 1 finds every parent, by family of graphs.
type SampleSizes struct {
	Title   string
	T       []int
	TEff    []float64
	N       []int     // 0 if more than 2^14
	PerTEff []float64 // N / (T_eff log T)
}

// RunSampleSizes finds the sample sizes for the first three families, whose T_eff is of the
// order of T or sqrt(T). Every parent must be found in each of the samples.
func RunSampleSizes(
	ctx context.Context, prior *markov.Finite, lengths []int, samples int,
) ([]SampleSizes, error) {
	return trial.Each(ctx, Families()[:3], func(ctx context.Context, f Family) (SampleSizes, error) {
		sizes, done := SampleSizes{Title: f.Title}, trial.Counter(ctx, len(lengths))
		for _, t := range lengths {
			g := f.Graph(t)
			s, err := theory.NewEmpiricalStage(g, prior)
			if err != nil {
				return sizes, err
			}
			n, err := enough(ctx, s, samples, 1<<14)
			if err != nil {
				return sizes, err
			}
			sizes.T, sizes.TEff, sizes.N = append(sizes.T, t), append(sizes.TEff, g.TEff()), append(sizes.N, n)
			sizes.PerTEff = append(sizes.PerTEff, float64(n)/(g.TEff()*num.Log(float64(t))))
			done()
		}
		return sizes, nil
	})
}

// finiteSamples is the number of samples behind each point of the two figures.
const finiteSamples = 10

// finiteSampleFigure shows, against the number N of sequences and for several lengths, (a) the largest error of
// the gradient of stage 1 and (b) how often a parent is the largest entry of its row.
func finiteSampleFigure(ctx context.Context, _ *Results) (*figure.Figure, error) {
	prior := trial.MustPrior(trial.DynamicsPrior)
	curves, err := RunErrorCurves(ctx, graph.Chain, prior, []int{16, 32, 64}, finiteSamples)
	if err != nil {
		return nil, err
	}
	errors := figure.New("").Axes("Number of sequences $N$", `$\max_{i,j}|\hat g^{\mathrm{emp}}_{i,j}-\hat g_{i,j}|$`)
	found := figure.New("").Axes("Number of sequences $N$", "Parents found").YRange(0, 1)
	errors.Log(&errors.X, &errors.Y)
	found.Log(&found.X)
	var x, e, guide []float64
	for k, c := range curves {
		var share []float64
		x, e = nil, nil
		for _, r := range c.Trials {
			x, e, share = append(x, float64(r.N)), append(e, r.Error), append(share, r.Parents)
		}
		errors.Curve(k, lengthLabel(c.T), x, e)
		found.Curve(k, lengthLabel(c.T), x, share)
	}
	for _, n := range x {
		guide = append(guide, 1.6*e[0]*math.Sqrt(x[0]/n))
	}
	errors.Curve(3, "slope $-1/2$", x, guide).Color = figure.Colors[5]
	f := figure.OneRow(figure.TwoColumns,
		"Left, error against the number of sequences on logarithmic axes: parallel lines of slope minus one "+
			"half. Right, the share of parents found, which rises to 1.",
		fmt.Sprintf(`Stage 1 from $N$ sequences, each with a transition matrix of its own. (a)~The `+
			`largest error of an entry of the gradient, the mean of %d samples. (b)~The fraction of the positions `+
			`with a parent whose row of the gradient is largest there.`, finiteSamples), errors, found)
	f.Share(errors)
	return f, nil
}

// sampleSizeFigure shows N against T, beside T_eff log T: T_eff is T on the first two graphs,
// and of the order of the root on the spider.
func sampleSizeFigure(ctx context.Context, _ *Results) (*figure.Figure, error) {
	prior := trial.MustPrior(trial.DynamicsPrior)
	all, err := RunSampleSizes(ctx, prior, []int{16, 32, 64, 128, 256}, finiteSamples)
	if err != nil {
		return nil, err
	}
	a := figure.New("").Axes(lengthAxis, "Sequences to find all parents")
	a.Log(&a.X, &a.Y)
	laws := []string{0: `$T\log T$`, 2: `$\sqrt T\log T$`}
	for i, s := range all {
		var t, law, found, n []float64
		for k := range s.N {
			t, law = append(t, float64(s.T[k])), append(law, s.TEff[k]*num.Log(float64(s.T[k])))
			if s.N[k] > 0 {
				found, n = append(found, t[k]), append(n, float64(s.N[k]))
			}
		}
		if i != 1 { // the first two families have one law
			l := a.Curve(5, laws[i], t, law)
			l.Color, l.Width = figure.Black, 0.7
		}
		a.Points(i, s.Title, found, n)
		a.Curve(i, "", found, n).Width = 0.7
	}
	a.Ends()
	return figure.OneRow(figure.OneColumn,
		"Sequences needed against the length on logarithmic axes: three nearly flat curves of some hundred, "+
			"beside two rising lines of comparison.",
		`The number of sequences with which the gradient of stage 1 is largest at the parent in every row `+
			`that has one, in all samples tried, beside $T_{\mathrm{eff}}\log T$ (dashed): $T\log T$ for the first two `+
			`families, of the order of $\sqrt T\log T$ for the spider.`, a), nil
}

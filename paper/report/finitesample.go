package report

import (
	"context"
	"fmt"
	"math"

	"learncausal/internal/figure"
	"learncausal/paper/experiment"
	"learncausal/pkg/graph"
	"learncausal/pkg/num"
)

// finiteSamples is the number of samples behind each point of the two figures.
const finiteSamples = 10

func finiteSampleFigure(ctx context.Context, _ *Results) (*figure.Figure, error) {
	prior := experiment.MustPrior(experiment.DynamicsPrior)
	curves, err := experiment.RunErrorCurves(ctx, graph.Chain, prior, []int{16, 32, 64}, finiteSamples)
	if err != nil {
		return nil, err
	}
	return ErrorCurvesFigure("", curves), nil
}

func sampleSizeFigure(ctx context.Context, _ *Results) (*figure.Figure, error) {
	prior := experiment.MustPrior(experiment.DynamicsPrior)
	sizes, err := experiment.RunSampleSizes(ctx, prior, []int{16, 32, 64, 128, 256}, finiteSamples)
	if err != nil {
		return nil, err
	}
	return SampleSizesFigure("", sizes), nil
}

// ErrorCurvesFigure shows, against the number N of sequences and for several lengths, (a) the largest error of
// the gradient of stage 1 and (b) how often a parent is the largest entry of its row.
func ErrorCurvesFigure(id string, curves []experiment.ErrorCurve) *figure.Figure {
	errors := &figure.Axes{
		X: figure.Axis{Label: figure.Label{Text: "Number of sequences N", TeX: "Number of sequences $N$"}, Log: true},
		Y: figure.Axis{Log: true, Label: figure.Label{
			Text: "max |ĝ(emp) − ĝ|", TeX: `$\max_{i,j}|\hat g^{\mathrm{emp}}_{i,j}-\hat g_{i,j}|$`,
		}},
	}
	found := &figure.Axes{
		X: errors.X,
		Y: figure.Axis{Label: figure.Text("Parents found"), Min: 0, Max: 1},
	}
	for _, c := range curves {
		e, f := figure.Series{Label: lengthLabel(c.T)}, figure.Series{Label: lengthLabel(c.T)}
		for _, r := range c.Trials {
			e.X, e.Y = append(e.X, float64(r.N)), append(e.Y, r.Error)
			f.X, f.Y = append(f.X, float64(r.N)), append(f.Y, r.Parents)
		}
		errors.Series, found.Series = append(errors.Series, e), append(found.Series, f)
	}
	last := errors.Series[len(errors.Series)-1]
	guide := figure.Series{Label: figure.Label{Text: "slope −1/2", TeX: "slope $-1/2$"}, X: last.X, Color: 6}
	for _, n := range last.X {
		guide.Y = append(guide.Y, 1.6*last.Y[0]*math.Sqrt(last.X[0]/n))
	}
	errors.Series = append(errors.Series, guide)
	return &figure.Figure{
		ID: id, Width: figure.TwoColumns, Rows: [][]figure.Panel{{errors, found}},
		Caption: fmt.Sprintf(`Stage 1 from $N$ sequences, each with a transition matrix of its own. (a)~The `+
			`largest error of an entry of the gradient, the mean of %d samples. (b)~The fraction of the positions `+
			`with a parent whose row of the gradient is largest there.`, curves[0].Samples),
	}
}

// sequencesNeeded is the curve T_eff log T of a family.
func sequencesNeeded(label figure.Label, s experiment.SampleSizes, color, mark int) figure.Series {
	line := figure.Series{Label: label, Color: color, Mark: mark}
	for k, t := range s.T {
		line.X = append(line.X, float64(t))
		line.Y = append(line.Y, s.TEff[k]*num.Log(float64(t)))
	}
	return line
}

// SampleSizesFigure shows N against T, beside T_eff log T: T_eff is T on the first two graphs,
// and of the order of the root on the spider.
func SampleSizesFigure(id string, all []experiment.SampleSizes) *figure.Figure {
	a := &figure.Axes{
		X: figure.Axis{Label: figure.Label{Text: "Length T", TeX: "Length $T$"}, Log: true},
		Y: figure.Axis{Label: figure.Text("Sequences to find all parents"), Log: true},
	}
	for _, s := range all {
		line := figure.Series{Label: figure.Text(s.Title)}
		for k, n := range s.N {
			if n > 0 {
				line.X, line.Y = append(line.X, float64(s.T[k])), append(line.Y, float64(n))
			}
		}
		if len(line.X) > 0 {
			a.Series = append(a.Series, line)
		}
	}
	linear := figure.Label{Text: "T log T: chain, in-context", TeX: `$T\log T$: chain, in-context`}
	root := figure.Label{Text: "√T log T: spider", TeX: `$\sqrt T\log T$: spider`}
	a.Series = append(a.Series, sequencesNeeded(linear, all[0], 7, 4), sequencesNeeded(root, all[len(all)-1], 5, 5))
	return &figure.Figure{
		ID: id, Width: figure.OneColumn, Rows: [][]figure.Panel{{a}},
		Caption: `The number of sequences with which the gradient of stage 1 is largest at the parent in every row ` +
			`that has one, in all samples tried, beside $T_{\mathrm{eff}}\log T$: $T\log T$ for the first two ` +
			`families, of the order of $\sqrt T\log T$ for the spider.`,
	}
}

package figures

import (
	"context"
	_ "embed"
	"fmt"
	"math"
	"slices"

	"learncausal/internal/figure"
	"learncausal/paper/exact"
	"learncausal/paper/trial"
)

// certifiedModelFigure draws the bounds by n.
func certifiedModelFigure(context.Context, *Results) (*figure.Figure, error) {
	all, err := exact.CertifiedModels()
	if err != nil {
		return nil, err
	}
	var panels []*figure.Panel
	for k, m := range all {
		spec := trial.CertifiedSpecs()[k]
		size, n := float64(spec.S()), mapped(m.Eps[1:], func(int64) float64 { return 0 })
		eps, smooth := slices.Clone(n), slices.Clone(n)
		for i := range n {
			n[i] = float64(i + 1)
			eps[i] = float64(m.Eps[i+1]) / 1e9
			smooth[i] = (size - 1) * trial.CertifiedPseudo / (n[i] + size*trial.CertifiedPseudo)
		}
		p := figure.New(fmt.Sprintf("$S=%d$, $T=%d$", spec.S(), spec.T())).YRange(1e-3, 1)
		p.Axes("Occurrences $n$", "Largest distance").Log(&p.Y)
		p.Points(0, "to the frequencies", n, eps)
		p.Curve(1, "of the smoothed frequencies to them", n, smooth)
		p.Level("to the circuit", float64(m.Gap)/1e9)
		panels = append(panels, p)
	}
	spec := trial.CertifiedSpecs()[0]
	return figure.OneRow(figure.TwoColumns,
		"Two panels of distances by the number of occurrences, on a logarithmic axis. The distance of the model from "+
			"the frequencies falls and lies above a curve of smoothed frequencies. Its distance from the circuit is a "+
			"flat line below 0.01.",
		fmt.Sprintf(`Largest distance over all $S^T$ sequences, in interval arithmetic, of two trained models (%s, %d steps) `+
			`from a circuit of four numbers, and from the frequencies $n_s/n$ of the tokens after the $n$ occurrences of the `+
			`query's token. Dashed: the distance of $(n_s+\alpha)/(n+S\alpha)$ from these frequencies, with the $\alpha=%g$ of `+
			`the prior.`, priorOf(spec.Task), spec.Steps, trial.CertifiedPseudo), panels...), nil
}

// certifiedRows are rows of the summary: the largest distances from the circuits, rounded up.
func certifiedRows(context.Context, *Results) (rows []Row, err error) {
	all, err := exact.CertifiedModels()
	for k, m := range all {
		spec, gap := trial.CertifiedSpecs()[k], math.Ceil(float64(m.Gap+2)/1e5)/1e4
		rows = append(rows, Row{
			ID: fmt.Sprintf("certified-gap-%d", spec.S()), Setting: "ours", Interval: "exact", Verdict: notStated,
			What: fmt.Sprintf("trained model and circuit on all %d^%d sequences: distance", spec.S(), spec.T()),
			Ours: words("at most %.4f", gap),
		})
	}
	return rows, err
}

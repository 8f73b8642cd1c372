package figures

import (
	"fmt"
	"math"
	"slices"

	"learncausal/internal/figure"
	"learncausal/pkg/graph"
	"learncausal/pkg/model"
	"learncausal/pkg/num"
	"learncausal/pkg/task"
)

// A ConstructionError has mean total-variation distances over all S^T sequences, with equal weights.
type ConstructionError struct {
	Finite  float64 // between the construction at finite scales and its exact limit
	Largest float64 // the largest of these distances, in place of their mean
	Limit   float64 // between the limit and the empirical transition, over the sequences where it is defined
	Total   float64 // between the construction at finite scales and the empirical transition
}

// ConstructionErrors enumerates all sequences, with beta1 = beta2 = beta.
func ConstructionErrors(c *model.Construction, beta float64) ConstructionError {
	var e ConstructionError
	w := c.Weights(beta, beta)
	limit, empirical := make([]float64, c.S), make([]float64, c.S)
	n, defined := 0.0, 0.0
	for x := range task.Sequences(c.S, w.T) {
		f := w.Linear(x).RawRowView(w.T - 1)
		c.Limit(limit, x)
		distance := totalVariation(f, limit)
		e.Finite += distance
		e.Largest = max(e.Largest, distance)
		n++
		if c.Empirical(empirical, x) {
			e.Limit += totalVariation(limit, empirical)
			e.Total += totalVariation(f, empirical)
			defined++
		}
	}
	return ConstructionError{e.Finite / n, e.Largest, e.Limit / defined, e.Total / defined}
}

// constructionErrorFigure draws the distance of both constructions from the empirical
// transition, by scale and length.
func constructionErrorFigure() *figure.Figure {
	var betas []float64
	for b := 1.0; b < 100; b *= math.Sqrt2 {
		betas = append(betas, b)
	}
	var row []figure.Panel
	for _, k := range []struct {
		title string
		of    func(t int) *model.Construction
	}{
		{"Construction 1, chain", func(t int) *model.Construction { return model.ConstructionOne(graph.Chain(t), 2) }},
		{"Construction 2, 3-gram", func(t int) *model.Construction {
			return model.ConstructionTwo(graph.NGram(t, 2), 2)
		}},
	} {
		a := &figure.Axes{
			Title: figure.Text(k.title),
			X:     figure.Axis{Label: figure.Label{Text: "Scale β", TeX: `Scale $\beta$`}, Log: true},
			Y:     figure.Axis{Label: figure.Text("Mean distance"), Min: 0, Max: 0.5},
		}
		for _, t := range []int{6, 8, 10} {
			s := figure.Series{Label: figure.Text(fmt.Sprintf("T = %d", t)), X: betas}
			for _, b := range betas {
				s.Y = append(s.Y, ConstructionErrors(k.of(t), b).Total)
			}
			a.Series = append(a.Series, s)
		}
		row = append(row, a)
	}
	return oneRow(figure.TwoColumns,
		`Error of the constructions against the empirical transition, by the scale `+
			`$\beta_1=\beta_2=\beta$: total-variation distance averaged over all sequences of two tokens for which `+
			`it is defined, by enumeration. What remains as $\beta$ grows is the distance of the exact limit: `+
			`roots, and in Construction 2 the query itself, are counted along.`, row...)
}

func agreementTable(as []*Agreement) *figure.Table {
	many := as[slices.IndexFunc(as, func(a *Agreement) bool { return a.Name == "many-graphs" })]
	t := newTable(
		fmt.Sprintf(`Trained against constructed, with standard errors over %d test sequences (%d on the `+
			`random graphs together). Layer 1: mean attention on the parents. Matched: share of the sequences in `+
			`which some parent has the query's token, so that the empirical transition is defined. On these: `+
			`overlap of the query's attention in layer 2 with the construction's, and total-variation distance of `+
			`the trained prediction to the construction's exact limit. On all sequences: the same distance, and `+
			`that to the posterior mean given the edges.`, as[0].Sequences, many.Sequences),
		"Graph", "Layer 1", "Matched", "Layer 2", "To limit", "all", "To posterior")
	pm := func(e num.Estimate) figure.Cell { return figure.PlusMinus(e.Mean, e.StdErr, 3) }
	for _, a := range as {
		addRow(t, a.Title, a.First, a.Matched.Mean, pm(a.Second), pm(a.Limit), pm(a.All), pm(a.Posterior))
	}
	return t
}

func agreementNumbers(as []*Agreement) figure.Numbers {
	var ns figure.Numbers
	for _, a := range as {
		number := func(id string, e num.Estimate) figure.Number {
			return figure.Number{ID: "construction-" + a.Name + "-" + id, Value: e.Mean, StdErr: e.StdErr, Runs: a.Runs}
		}
		ns = append(ns, number("second", a.Second), number("limit", a.Limit), number("posterior", a.Posterior))
	}
	return ns
}

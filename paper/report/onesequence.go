package report

import (
	"gonum.org/v1/gonum/floats"

	"learncausal/paper/experiment"
	"learncausal/paper/figure"
	"learncausal/pkg/graph"
	"learncausal/pkg/model"
	"learncausal/pkg/task"
)

// OneSequenceFigure compares trained weights with the limit of Construction 1 on the
// sequence x: the query's attention, and the prediction with the posterior mean under
// Dirichlet(alpha) given the edges of g.
func OneSequenceFigure(id string, g *graph.Forest, w *model.Weights, alpha float64, x []int) *figure.Figure {
	c := model.ConstructionOne(g, w.S)
	constructed, limit, posterior := make([]float64, len(x)), make([]float64, c.S), make([]float64, c.S)
	attended := c.Attended(x)
	for _, i := range attended {
		constructed[i] = 1 / float64(len(attended))
	}
	c.Limit(limit, x)
	task.PosteriorGivenEdges(posterior, g, alpha, x)
	trained, _ := w.Forward(x, nil, nil)
	return &figure.Figure{
		ID: id, Width: figure.TwoColumns,
		Caption: `On one sequence, Construction 1 in its limit and a trained model: (a) the attention of the query ` +
			`in the second layer, (b) the prediction, with the posterior mean given the edges. Positions and tokens ` +
			`are counted from 1.`,
		Alt: "Two panels of points by number. Left: the attention of the query by position, even over a few " +
			"positions for the construction, largest there but nowhere zero for the trained model. " +
			"Right: the probabilities of the tokens for the construction, the trained model and the posterior mean.",
		Rows: [][]figure.Panel{{
			byNumber("The query's attention", "Position", "Attention",
				namedValues{"construction", constructed}, namedValues{"trained", experiment.QueryAttention(w, x)}),
			byNumber("Prediction", "Token", "Probability", namedValues{"construction", limit},
				namedValues{"trained", trained}, namedValues{"posterior mean", posterior}),
		}},
	}
}

// namedValues are the values of a series at 1, 2, …
type namedValues struct {
	name   string
	values []float64
}

// byNumber draws series as points, from 0 to above the largest value.
func byNumber(title, x, y string, series ...namedValues) *figure.Axes {
	a := &figure.Axes{Title: figure.Text(title)}
	a.X.Label, a.Y.Label = figure.Text(x), figure.Text(y)
	most := 0.0
	for _, s := range series {
		points := figure.Series{Label: figure.Text(s.name), Y: s.values, Points: true}
		for i := range s.values {
			points.X = append(points.X, float64(i+1))
		}
		most = max(most, floats.Max(s.values))
		a.Series = append(a.Series, points)
	}
	a.Y.Max = 1.08 * most
	a.Y.Min = -0.02 * a.Y.Max // for the marks at zero
	return a
}

package report

import (
	"fmt"

	"learncausal/internal/figure"
	"learncausal/paper/answers"
)

// stagesFigure draws the test loss along training on each n-gram, a curve a run, and the
// losses of the predictors from fewer tokens.
func stagesFigure(all []answers.Stages) *figure.Figure {
	names := []string{"uniform", "tokens", "after 1", "after 2", "after 3"}
	var panels []figure.Panel
	for _, n := range all {
		a := lossAxes(figure.Text(fmt.Sprintf("%d-gram", n.Parents+1)))
		for _, r := range n.Runs {
			s := figure.Series{Color: 1, Mark: 1}
			for i, step := range r.Steps[1:] {
				s.X, s.Y = append(s.X, float64(step)/1000), append(s.Y, r.Loss[i+1])
			}
			a.Series = append(a.Series, s)
		}
		x := a.Series[0].X
		for m, loss := range n.Levels {
			line := level(names[m], x, loss)
			line.Color, line.Mark = m+2, m+2
			a.Series = append(a.Series, line)
		}
		panels = append(panels, a)
	}
	return oneRow(figure.TwoColumns,
		fmt.Sprintf(`Test loss along training on two $n$-grams over three tokens, %d seeds each, with the Dirichlet `+
			`parameters 1 and 0.3, between the losses of the uniform prediction, of counts of all tokens, and of counts after `+
			`the same last tokens.`, len(all[0].Runs)), panels...)
}

package report

import (
	"fmt"

	"learncausal/paper/figure"
	"learncausal/pkg/train"
)

// LiveFigure draws the attention of the first layer in states of a run, a row for each head;
// for a transformer with MLPs, the mean over sequences.
func LiveFigure(spec train.Spec, shots []train.Snapshot) *figure.Figure {
	f := &figure.Figure{
		ID: "live", Width: figure.TwoColumns,
		Alt: "Attention of the first layer, position by position, after more and more steps of training.",
	}
	for i, s := range shots {
		heads := spec.HeadAttentions(s.Weights)
		for h, attention := range heads {
			if i == 0 {
				f.Rows = append(f.Rows, nil)
			}
			title := fmt.Sprintf("step %d", s.Step)
			if len(heads) > 1 {
				title = fmt.Sprintf("head %d, %s", h+1, title)
			}
			f.Rows[h] = append(f.Rows[h], &figure.Matrix{
				Title:  figure.Text(title),
				Values: matrixRows(attention),
				Scale:  figure.Scale{Min: 0, Max: 1, Hidden: i+1 < len(shots)},
			})
		}
	}
	return f
}

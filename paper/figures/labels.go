package figures

import (
	"fmt"

	"learncausal/internal/figure"
)

var (
	token    = figure.Text("Token")
	position = figure.Text("Position")

	// Labels of narrow blocks.
	shortToken    = figure.Label{Text: "X", TeX: "$X$"}
	shortPosition = figure.Label{Text: "I", TeX: "$I$"}

	// Rows and columns of an adjacency or an attention matrix.
	positionI = figure.Label{Text: "Position i", TeX: "Position $i$"}
	positionJ = figure.Label{Text: "Position j", TeX: "Position $j$"}

	titleA1 = figure.Label{Text: "Ã⁽¹⁾", TeX: `$\widetilde A^{(1)}$`}
	titleA2 = figure.Label{Text: "Ã⁽²⁾", TeX: `$\widetilde A^{(2)}$`}
	titleW  = figure.Label{Text: "W̃ₒ", TeX: `$\widetilde W_O$`}

	stepLabel = figure.Label{Text: "Step t", TeX: "Step $t$"}
	betaLabel = figure.Label{Text: "β", TeX: `$\beta$`}
	tEffLabel = figure.Label{Text: "Effective length", TeX: `Effective length $T_{\mathrm{eff}}$`}
)

func lengthLabel(t int) figure.Label {
	return figure.Label{Text: fmt.Sprintf("T = %d", t), TeX: fmt.Sprintf("$T=%d$", t)}
}

// edgeLabel returns an edge with its positions counted from 1.
func edgeLabel(parent, child int) figure.Label {
	return figure.Label{
		Text: fmt.Sprintf("%d → %d", parent+1, child+1),
		TeX:  fmt.Sprintf(`$%d \to %d$`, parent+1, child+1),
	}
}

func oneRow(width figure.Width, caption string, panels ...figure.Panel) *figure.Figure {
	return &figure.Figure{Width: width, Caption: caption, Rows: [][]figure.Panel{panels}}
}

func adjacencyMatrix(title string, rows [][]float64) *figure.Matrix {
	return &figure.Matrix{
		Title: figure.Text(title), Values: rows, Scale: figure.Scale{Min: 0, Max: 1, Hidden: true},
		XLabel: positionJ, YLabel: positionI,
	}
}

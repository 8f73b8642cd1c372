package figures

import (
	"fmt"
	"math/bits"
	"strings"

	"learncausal/internal/figure"
	"learncausal/pkg/train"
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

// settingTeX returns the sizes and the number of steps of a run, as in "$S=10$, $T=20$, $2^{17}$ steps".
func settingTeX(spec train.Spec) string {
	return fmt.Sprintf(`$S=%d$, $T=%d$, %s steps`, spec.S(), spec.T(), powerTeX(spec.Steps))
}

// powerTeX returns a formula of n, as in $2^{17}$ if it is a power of two.
func powerTeX(n int) string {
	if k := bits.TrailingZeros(uint(n)); n == 1<<k {
		return fmt.Sprintf("$2^{%d}$", k)
	}
	return fmt.Sprintf("$%d$", n)
}

// inWords returns a number below eight in words.
func inWords(n int) string {
	return []string{"no", "one", "two", "three", "four", "five", "six", "seven"}[n]
}

// priorOf returns the prior of a task.
func priorOf(t train.Task) string {
	if several, ok := t.(train.Task2); ok {
		return several.Prior
	}
	return t.(train.Task1).Prior
}

// alpha returns the parameter of a Dirichlet prior, such as dirichlet(0.1).
func alpha(prior string) string {
	return strings.TrimSuffix(strings.TrimPrefix(prior, "dirichlet("), ")")
}

func adjacencyMatrix(title string, rows [][]float64) *figure.Matrix {
	return &figure.Matrix{
		Title: figure.Text(title), Values: rows, Scale: figure.Scale{Min: 0, Max: 1, Hidden: true},
		XLabel: positionJ, YLabel: positionI,
	}
}

func words(format string, args ...any) figure.Cell {
	return figure.CellOf(fmt.Sprintf(format, args...))
}

package figures

import (
	"fmt"
	"math/bits"
	"strings"

	"learncausal/internal/figure"
	"learncausal/pkg/train"
)

// Names of the blocks of tokens and of positions, and the symbols in their places where a block is narrow.
const (
	token, shortToken       = "Token", "$X$"
	position, shortPosition = "Position", "$I$"
)

const (
	// Rows and columns of an adjacency or an attention matrix.
	positionI = "Position $i$"
	positionJ = "Position $j$"

	titleA1 = `$\widetilde A^{(1)}$`
	titleA2 = `$\widetilde A^{(2)}$`
	titleW  = `$\widetilde W_O$`

	stepLabel  = "Step $t$"
	betaLabel  = `$\beta$`
	lengthAxis = "Length $T$"
	tEffLabel  = `Effective length $T_{\mathrm{eff}}$`
)

func lengthLabel(t int) string { return fmt.Sprintf("$T=%d$", t) }

// edgeLabel returns an edge with its positions counted from 1.
func edgeLabel(parent, child int) string { return fmt.Sprintf(`$%d \to %d$`, parent+1, child+1) }

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

// adjacencyMatrix returns a panel of a matrix of zeros and ones, without a bar.
func adjacencyMatrix(title string, rows [][]float64) *figure.Panel {
	p, h := figure.Matrix(title, rows, false)
	h.Bar = false
	p.Axes(positionJ, positionI)
	return p
}

func words(format string, args ...any) figure.Cell {
	return figure.CellOf(fmt.Sprintf(format, args...))
}

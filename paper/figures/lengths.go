package figures

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/plot/vg"

	"learncausal/internal/figure"
	"learncausal/paper/exact"
	"learncausal/paper/finitelength"
	"learncausal/pkg/graph"
	"learncausal/pkg/markov"
	"learncausal/pkg/theory"
)

// ChildLead returns the least lead of a parent on the chain of t positions, which is enclosed to 1e-11, with the prior
// and the eps of [finitelength.New].
func ChildLead(t int, orbits ...exact.Matrix) float64 {
	th := finitelength.Theorem{Orbits: orbits, T: t, Eps: exact.Frac(1, int64(math.Sqrt(float64(t))))}
	lead := math.Inf(1)
	for i, row := range th.GHat()[:t-1] {
		for j, v := range row {
			if j != i-1 && i > 0 {
				lead = min(lead, row[i-1].Lo-v.Hi)
			}
		}
	}
	return lead
}

// LimitLead returns the lead of the idealized gradient g, the limit of [ChildLead] for long chains.
func LimitLead(orbits ...exact.Matrix) (float64, error) {
	prior, err := markov.NewOrbit(2, mapped(orbits, exact.Matrix.Floats)...)
	if err != nil {
		return 0, err
	}
	const t = 32
	lead, g := math.Inf(1), theory.G(prior, graph.Chain(t))
	for i := 1; i < t-1; i++ {
		row := slices.Clone(g.RawRowView(i)[:i+1])
		parent := row[i-1]
		row[i-1] = math.Inf(-1)
		lead = min(lead, parent-slices.Max(row))
	}
	return lead, nil
}

// Removed returns the share of the excess loss of the uniform guess that Algorithm 1 provably removes at length t on
// the chain that stays in its state with probability stay, or changes it, and 0 if that is not proved of any share.
func Removed(t int, stay *big.Rat) float64 {
	change := exact.Sub(exact.Int(1), stay)
	stays, changes := exact.Vector{stay, change}, exact.Vector{change, stay}
	th, err := finitelength.New(t, exact.Matrix{stays, changes}, exact.Matrix{changes, stays})
	if err != nil {
		return 0
	}
	return max(0, 1-exact.Float(exact.Quo(th.Excess, th.Guess().Lo)))
}

// lengthsFigure shows (a) the leads of stage 1 by length and (b) what is proved of the loss by length and persistence.
func lengthsFigure(context.Context, *Results) (*figure.Figure, error) {
	leads := figure.New("").Axes("$T$", "Least lead of a parent")
	leads.Log(&leads.X, &leads.Y)
	theorems := finitelength.Theorems()
	for k, th := range []finitelength.Theorem{theorems[0], theorems[len(theorems)/2]} {
		var x, y []float64
		for t := 4; t <= 512; t *= 2 {
			x, y = append(x, float64(t)), append(y, ChildLead(t, th.Orbits...))
		}
		limit, err := LimitLead(th.Orbits...)
		if err != nil {
			return nil, err
		}
		gamma, ends := exact.Float(exact.FloorGamma(th.Orbits[0])), []float64{x[0], x[len(x)-1]}
		leads.Points(k, "("+th.Rows()+")", x, y)
		leads.Curve(k, "", ends, []float64{limit, limit})
		leads.Curve(k, "", ends, slices.Repeat([]float64{gamma * gamma * gamma / 4}, 2)).Dashes = []vg.Length{1.2, 1.2}
	}
	lengths, stays := []int{3, 4, 5, 6, 8, 12, 16, 24, 32, 48, 64}, []int64{55, 60, 65, 70, 75, 80, 85, 90, 95}
	removed := mat.NewDense(len(stays), len(lengths), nil)
	var persistences []string
	for k, stay := range stays {
		persistences = append(persistences, fmt.Sprintf("%.2f", float64(stay)/100))
		for l, t := range lengths {
			removed.Set(k, l, Removed(t, exact.Frac(stay, 100)))
		}
	}
	m, h := figure.Matrix("", matrixRows(removed), false)
	h.Format, h.RowNames, h.ColumnNames = "%.2f", persistences, mapped(lengths, strconv.Itoa)
	m.Axes("$T$", "Persistence")
	return figure.OneRow(figure.TwoColumns,
		"Left: the least lead of a parent against the length, for two priors, with the limit above and a bound far "+
			"below. Right: a table of shares by persistence and length, which grow with both, from 0 to about 0.9.",
		`Algorithm~1 at given lengths, on chains over two states. (a) The least lead $\hat g_{i,p(i)}-\max_j\hat g_{i,j}$ of a `+
			`parent in stage~1 (points), the lead of its limit $g$ for long chains, and below both the bound $\gamma^3/S^2$ of `+
			`Lemma~5. (b) The share of the excess loss of the uniform guess that the trained model provably removes, on chains `+
			`that stay in their state with the given probability, or change it; 0 where no share is proved.`,
		leads, m), nil
}

package proofsketch

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"learncausal/paper/claims/compare"
	"learncausal/paper/claims/instruments"
	"learncausal/paper/exact"
	"learncausal/paper/ledger"
	"learncausal/pkg/graph"
	"learncausal/pkg/num"
	"learncausal/pkg/task"
	"learncausal/pkg/theory"
)

// idealPrediction returns f(X;s) of the reduced model after stage 1 in the ideal case: positions with a parent
// attend to the parent alone, roots uniformly to the positions up to their own.
func idealPrediction(g *graph.Forest, x []int, s, states int, beta float64) []float64 {
	seen := 0
	return theory.Prediction(x, states, beta, func(i int) float64 {
		seen += int(instruments.Indicator(x[i] == s))
		if p := g.Parent(i); p != graph.Root {
			return instruments.Indicator(x[p] == s)
		}
		return float64(seen) / float64(i+1)
	})
}

// TestPredictionOfTheIdealGraph compares idealPrediction with the reduced model
// at a large A1.
func TestPredictionOfTheIdealGraph(t *testing.T) {
	r := rand.New(num.Stream(4, "claims/ideal"))
	for k := range 30 {
		g := graph.Random(2+r.IntN(8), 0.4, num.Stream(4, "claims/ideal/graph", uint64(k)))
		s, beta := 2+r.IntN(2), 5*r.Float64()
		m := theory.NewReduced(s, g.T(), beta)
		for _, edge := range g.Edges() {
			m.A1.Set(edge[1], edge[0], 200)
		}
		x := instruments.RandomTokens(r, s, g.T())
		for query := range s {
			want, _, _ := m.Predict(x, query)
			if got := idealPrediction(g, x, query, s, beta); instruments.Distance(got, want) > 1e-13 {
				t.Errorf("%v, want %v", got, want)
			}
		}
	}
}

// TestStepOnSecondMatrix recomputes the exact witness of eq-a2-form in floats.
func TestStepOnSecondMatrix(t *testing.T) {
	const want = 35.0 / 3588
	sum := 0.0
	for _, a := range []float64{2.0 / 3, 1.0 / 3} {
		pi := []float64{a, 1 - a, 1 - a, a}
		m := theory.NewReduced(2, 3, 0)
		m.A1 = mat.NewDense(3, 3, []float64{3: 200, 8: 200})
		for x := range task.Sequences(2, 3) {
			weight := 0.5 * 0.5 * pi[x[0]*2+x[1]] * 0.5 // of the matrix, the root, the edge, the query
			grad := theory.NewReduced(2, 3, 0)
			m.Loss(x, x[2], pi[2*x[2]:2*x[2]+2], 0.1, grad)
			sum -= weight * grad.A2.At(0, 0)
		}
	}
	if math.Abs(sum-want) > 1e-15 {
		t.Errorf("A2 after a step: %v on the diagonal, want %v", sum, want)
	}
}

// The prediction after stage 1 in an enclosure, against its floats.
func TestEnclosedPredictionOfTheIdealGraph(t *testing.T) {
	check := compare.With(t)
	for _, u := range compare.Asymmetrics() {
		s := len(u.First)
		x := []int{0, 1, 1, 0, 1, 0}[:u.Graph.T()]
		for query := range s {
			got := idealPredictionEnclosed(u.Graph, x, query, exact.Frac(3, 2)).Float()
			check("a prediction", got, idealPrediction(u.Graph, x, query, s, 1.5)[query])
		}
	}
}

// The distance of ghat from g on a small instance.
func TestDistanceToIdealByHand(t *testing.T) {
	const reading = theory.QueryInSequence
	g, pi, far := graph.Chain(4), exact.Rats("3/5 3/10 1/10; 1/5 1/5 3/5; 3/10 1/2 1/5"), 0.0
	for i := range 4 {
		for j, v := range instruments.ExactPopulation(g, exact.Frac(1, 2), reading, exact.Relabelings(pi)...).GHat(i) {
			if j < 3 {
				far = max(far, math.Abs(exact.Float(exact.Sub(v, instruments.EnumeratedGradient(pi, g, i, j)))))
			}
		}
	}
	compare.With(t)("the distance of ghat from g", distanceToIdeal(g, instruments.UnevenPrior(), reading), far)
}

// Eq. (29) is open where a side is not a number, and where no instance satisfies its hypotheses.
func TestSquaresCanBeOpen(t *testing.T) {
	undecided := instruments.FarLength{Pi: exact.Rats("293/1000 707/1000; 707/1000 293/1000"), InPairs: true, Power: 345}
	compare.Verdicts(t, eqFPointwise, map[string]compare.Outcome{
		"bound not a number":         {Check: farSquares(0.5, math.NaN(), instruments.FarLengths(345)...), Want: ledger.Open},
		"exponent that is undecided": {Check: farSquares(0.5, 8, undecided), Want: ledger.Open},
		"hypotheses not met":         {Check: farSquares(0.5, 1, instruments.FarLengths(250)...), Want: ledger.Open},
	})
}

package claims

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"learncausal/paper/exact"
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
		seen += int(unit(x[i] == s))
		if p := g.Parent(i); p != graph.Root {
			return unit(x[p] == s)
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
		x := randomTokens(r, s, g.T())
		for query := range s {
			want, _, _ := m.Predict(x, query)
			if got := idealPrediction(g, x, query, s, beta); distance(got, want) > 1e-13 {
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

// inBoth returns g_ij and the chi-squared information of s_i and s_j under their law.
func inBoth(c *theory.Chain, law []float64) (g, info float64) {
	g = -1
	for k, p := range law {
		to, from := c.Mu[k/c.S], c.Mu[k%c.S]
		g += c.Pi.At(k%c.S, k/c.S) / to * p
		info += (p - to*from) * (p - to*from) / (to * from)
	}
	return g, info
}

// twoNorms returns |B|_F^2 and alpha.
func twoNorms(c *theory.Chain) (norm, alpha float64) {
	norm = -1
	for a := range c.S {
		for b, p := range c.Pi.RawRowView(a) {
			norm += c.Mu[a] * p * p / c.Mu[b]
		}
		for other := range c.S {
			far := 0.0
			for b := range c.S {
				far += math.Abs(c.Pi.At(a, b)-c.Pi.At(other, b)) / 2
			}
			alpha = max(alpha, far)
		}
	}
	return norm, alpha
}

// The inequalities on g_ij and two informations, in floats and in rationals, against the laws of two
// positions.
func TestInequalitiesFromTheAncestor(t *testing.T) {
	check := comparing(t)
	for _, u := range asymmetrics() {
		c := u.chain()
		norm, alpha := twoNorms(c)
		for _, at := range ancestorPairs {
			i, j := at[0], at[1]
			k, toI, toJ := nearForest.Meet(i, j)
			g, info := inBoth(c, c.Joint(nearForest, i, j).RawMatrix().Data)
			_, up := inBoth(c, c.Joint(nearForest, k, i).RawMatrix().Data)
			var inFloats, want []float64
			for _, line := range printedLines.inFloats(c, i, j) {
				inFloats = append(inFloats, line[0], line[1])
			}
			for n, power := range []int{toJ, toI - 1, toI + toJ - 1} {
				if power > 0 {
					want = append(want, []float64{info, up, info}[n], math.Pow(alpha, float64(power))*[]float64{up, norm, norm}[n])
				}
			}
			gap := []float64{(1 - alpha) / 2 * norm, norm - g}
			check.each("the lines from the ancestor", inFloats, slices.Concat([]float64{g, (norm + info) / 2}, want, gap))
			var inRationals []float64
			for _, line := range printedLines.inRationals(u.first, i, j) {
				inRationals = append(inRationals, exact.Float(line.lhs), exact.Float(line.rhs))
			}
			check.each("the lines from the ancestor in rationals", inRationals, slices.Concat(
				[]float64{g, (norm + info) / 2, info, info, info, info},
				[]float64{info, math.Pow(alpha, float64(toJ)) * up, up, math.Pow(alpha, float64(toI-1)) * norm},
				[]float64{info, math.Pow(alpha, float64(toI+toJ-1)) * norm}, gap))
		}
	}
}

// The prediction after stage 1 in an enclosure, against its floats.
func TestEnclosedPredictionOfTheIdealGraph(t *testing.T) {
	check := comparing(t)
	for _, u := range asymmetrics() {
		s := len(u.first)
		x := []int{0, 1, 1, 0, 1, 0}[:u.graph.T()]
		for query := range s {
			got := idealPredictionEnclosed(u.graph, x, query, exact.Frac(3, 2)).Float()
			check("a prediction", got, idealPrediction(u.graph, x, query, s, 1.5)[query])
		}
	}
}

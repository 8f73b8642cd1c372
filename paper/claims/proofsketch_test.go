package claims

import (
	"fmt"
	"math"
	"math/big"
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

// TestInformationsAgreeWithFloats compares the rational informations, the
// oracle and the weight of the heaviest forest with package theory.
func TestInformationsAgreeWithFloats(t *testing.T) {
	r := rand.New(num.Stream(3, "claims/oracle"))
	floats := []theory.Divergence{theory.ChiSquared, theory.TotalVariation, theory.Hinge(1.5), theory.Hinge(2)}
	for k := range 10 {
		g := graph.Random(6, 0.3, num.Stream(3, "claims/oracle/graph", uint64(k)))
		pi := traceOneMatrix(r, 3, 6+r.IntN(8))
		if pi.Trace().Cmp(exact.Frac(1, 1)) != 0 || exact.CheckRows(pi) != nil {
			t.Fatalf("not of trace one: %v", pi.Strings())
		}
		c := theory.MustChain(pi.Floats(), 3)
		for d, f := range floats {
			info := ratDivergences[d].informations(g, []exact.Matrix{pi})
			table := mat.NewDense(6, 6, nil)
			for i := range info {
				for j := range i {
					want := c.Information(f, g, i, j)
					table.Set(i, j, exact.Float(info[i][j]))
					if math.Abs(table.At(i, j)-want) > 1e-13 {
						t.Errorf("%s at %d, %d: %v, want %v", f.Name, i, j, table.At(i, j), want)
					}
				}
			}
			sum := 0.0
			for _, edge := range theory.ChowLiu(table, make([]float64, 6)) {
				sum += table.At(edge[1], edge[0])
			}
			if math.Abs(sum-exact.Float(kruskal(info))) > 1e-12 {
				t.Errorf("heaviest forest %v, want %v", exact.Float(kruskal(info)), sum)
			}
			if d < 2 && fmt.Sprint(oracleParents(info, new(big.Rat))) != theory.Oracle(table, make([]float64, 6)).String() {
				t.Errorf("oracle %v, want %v", oracleParents(info, new(big.Rat)), theory.Oracle(table, make([]float64, 6)))
			}
		}
	}
}

// TestTieIsOfAnAdmissibleChain checks that the second example of alg-oracle is
// irreducible and aperiodic, and that a perturbation parts the informations.
func TestTieIsOfAnAdmissibleChain(t *testing.T) {
	if ok, why := isPrimitive(tie); !ok {
		t.Error(why)
	}
	g := graph.MustNew(graph.Root, 0, 0, graph.Root)
	near := exact.Rats("1/2 1/10 2/5; 1/2 0 1/2; 0 1 0")
	for _, d := range ratDivergences[:2] {
		if info := d.informations(g, []exact.Matrix{tie}); info[2][0].Cmp(info[2][1]) != 0 || info[2][0].Sign() == 0 {
			t.Errorf("%s: %v and %v do not tie", d.name, info[2][0], info[2][1])
		}
		if info := d.informations(g, []exact.Matrix{near}); info[2][0].Cmp(info[2][1]) <= 0 {
			t.Errorf("%s: %v and %v tie", d.name, info[2][0], info[2][1])
		}
	}
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

// printedDivergences are the f of [theory.Divergences] as the paper and the literature print them.
var printedDivergences = map[string]func(z float64) float64{
	"chi-squared":              func(z float64) float64 { return (z - 1) * (z - 1) },
	"Kullback-Leibler":         func(z float64) float64 { return z*math.Log(z) - (z - 1) },
	"reverse Kullback-Leibler": func(z float64) float64 { return -math.Log(z) + (z - 1) },
	"total variation":          func(z float64) float64 { return math.Abs(z-1) / 2 },
	"squared Hellinger":        func(z float64) float64 { return (math.Sqrt(z) - 1) * (math.Sqrt(z) - 1) / 2 },
	"Jensen-Shannon":           func(z float64) float64 { return z/2*math.Log(2*z/(z+1)) + math.Log(2/(z+1))/2 },
	"hinge at 2":               func(z float64) float64 { return max(z-2, 0) },
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
			lhs, rhs := twoInformationsInFloats(c, nearForest, i, j, 0.45)
			check.each("g_ij and two informations", []float64{lhs, rhs}, []float64{g, norm/2 + 0.45*info})
			l, r := twoInformationSides(u.first, nearForest, i, j, exact.Frac(9, 20))
			check.each("g_ij and two informations", []float64{exact.Float(l), exact.Float(r)}, []float64{g, norm/2 + 0.45*info})
		}
	}
}

// The informations of W, Y and Z against sums over all three, where Z depends on Y, and where it
// depends on both.
func TestInformationsOfProcessedLaws(t *testing.T) {
	check := comparing(t)
	p, y := exact.Rats("1/5 1/2 3/10")[0], exact.Rats("1/4 3/4; 2/3 1/3; 1/2 1/2")
	z := exact.Rats("1/6 1/3 1/2; 3/5 1/5 1/5; 1/7 2/7 4/7; 1/10 1/5 7/10; 1/2 1/4 1/4; 1/3 1/9 5/9")
	of := func(row func(w, y int) int, f func(z float64) float64) []float64 {
		var joint [2][3][3]float64 // of W and Z, and of Y and Z
		for w := range 3 {
			for b := range 2 {
				for c := range 3 {
					q := exact.Float(p[w]) * exact.Float(y[w][b]) * exact.Float(z[row(w, b)][c])
					joint[0][w][c] += q
					joint[1][b][c] += q
				}
			}
		}
		out := make([]float64, 2)
		for k, law := range joint {
			for a, r := range law {
				for c, q := range r {
					product := (r[0] + r[1] + r[2]) * (law[0][c] + law[1][c] + law[2][c])
					if k == 0 || a < 2 {
						out[k] += product * f(q/product)
					}
				}
			}
		}
		return out
	}
	onY, onBoth := func(_, b int) int { return b }, func(w, b int) int { return 3*b + w }
	var x []float64
	for _, q := range slices.Concat(p, slices.Concat(y...), slices.Concat(z...)) {
		x = append(x, num.Log(exact.Float(q)))
	}
	for _, d := range theory.Divergences() {
		wz, yz := lawAt(x, 3, 2, 3, throughY).informations(d)
		check.each("the informations along a chain", []float64{wz, yz}, of(onY, printedDivergences[d.Name]))
		wz, yz = lawAt(x, 3, 2, 3, throughBoth).informations(d)
		check.each("the informations of three", []float64{wz, yz}, of(onBoth, printedDivergences[d.Name]))
	}
	for k, f := range []func(z float64) float64{
		printedDivergences["chi-squared"], printedDivergences["total variation"],
		func(z float64) float64 { return max(z-1.5, 0) }, func(z float64) float64 { return max(z-2, 0) },
	} {
		wz, yz := ratDivergences[k].processed(p, y, z[:2])
		check.each("the informations in rationals", []float64{exact.Float(wz), exact.Float(yz)}, of(onY, f))
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

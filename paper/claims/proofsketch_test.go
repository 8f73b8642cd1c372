package claims

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
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
			m.A1[edge[1]*g.T()+edge[0]] = 200
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
		m.A1 = []float64{0, 0, 0, 200, 0, 0, 0, 0, 200}
		for x := range task.Sequences(2, 3) {
			weight := 0.5 * 0.5 * pi[x[0]*2+x[1]] * 0.5 // of the matrix, the root, the edge, the query
			grad := theory.NewReduced(2, 3, 0)
			m.Loss(x, x[2], pi[2*x[2]:2*x[2]+2], 0.1, grad)
			sum -= weight * grad.A2[0]
		}
	}
	if math.Abs(sum-want) > 1e-15 {
		t.Errorf("A2 after a step: %v on the diagonal, want %v", sum, want)
	}
}

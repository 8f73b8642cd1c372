package proofsketch

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"learncausal/paper/claims/compare"
	"learncausal/paper/claims/instruments"
	"learncausal/paper/exact"
	"learncausal/pkg/graph"
	"learncausal/pkg/num"
	"learncausal/pkg/theory"
)

// TestInformationsAgreeWithFloats compares the rational informations, the
// oracle and the weight of the heaviest forest with package theory.
func TestInformationsAgreeWithFloats(t *testing.T) {
	r := rand.New(num.Stream(3, "claims/oracle"))
	floats := []theory.Divergence{theory.ChiSquared, theory.TotalVariation, theory.Hinge(1.5), theory.Hinge(2)}
	for k := range 10 {
		g := graph.Random(6, 0.3, num.Stream(3, "claims/oracle/graph", uint64(k)))
		pi := instruments.TraceOneMatrix(r, 3, 6+r.IntN(8))
		if pi.Trace().Cmp(exact.Int(1)) != 0 || exact.CheckRows(pi) != nil {
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
	var power mat.Dense // all entries of the power (S-1)^2+1 of a primitive matrix are positive
	if power.Pow(mat.NewDense(3, 3, tie.Floats()), 5); mat.Min(&power) <= 0 {
		t.Error("the chain is periodic or reducible")
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

// The informations of W, Y and Z against sums over all three, where Z depends on Y, and where it
// depends on both.
func TestInformationsOfProcessedLaws(t *testing.T) {
	check := compare.With(t)
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
		if printedDivergences[d.Name] == nil {
			continue // added since
		}
		wz, yz := lawAt(x, 3, 2, 3, throughY).informations(d)
		check.Each("the informations along a chain", []float64{wz, yz}, of(onY, printedDivergences[d.Name]))
		wz, yz = lawAt(x, 3, 2, 3, throughBoth).informations(d)
		check.Each("the informations of three", []float64{wz, yz}, of(onBoth, printedDivergences[d.Name]))
	}
	for k, f := range []func(z float64) float64{
		printedDivergences["chi-squared"], printedDivergences["total variation"],
		func(z float64) float64 { return max(z-1.5, 0) }, func(z float64) float64 { return max(z-2, 0) },
	} {
		wz, yz := ratDivergences[k].processed(p, y, z[:2])
		check.Each("the informations in rationals", []float64{exact.Float(wz), exact.Float(yz)}, of(onY, f))
	}
}

package learned

import (
	"math/big"
	"slices"
	"testing"

	"learncausal/paper/claims/compare"
	"learncausal/paper/claims/instruments"
	"learncausal/paper/exact"
	"learncausal/paper/ledger"
	"learncausal/pkg/graph"
	"learncausal/pkg/model"
	"learncausal/pkg/task"
)

// The formula of the corrected Construction 1 names the positions of largest
// score, which do not come from it.
func TestExactLimitIsTheHardMax(t *testing.T) {
	same := func(a, b []int) bool {
		seen := map[int]int{}
		for _, i := range a {
			seen[i]++
		}
		for _, i := range b {
			seen[i]--
		}
		for _, n := range seen {
			if n != 0 {
				return false
			}
		}
		return true
	}
	wrong := 0
	for n := 2; n <= 6; n++ {
		for g := range graph.All(n) {
			c := model.ConstructionOne(g, 2)
			for x := range task.Sequences(2, n) {
				if !same(childrenAndFirstRoots(g, x), c.Attended(x)) {
					t.Errorf("graph %v, sequence %v: %v, want %v", g, x, childrenAndFirstRoots(g, x), c.Attended(x))
				}
				if !same(childrenOfMatches(g, x), c.Attended(x)) {
					wrong++
				}
				if t.Failed() {
					break
				}
			}
		}
	}
	if wrong == 0 {
		t.Error("the printed limit is never wrong")
	}
}

// The distance of two laws, and, where positions 1 and 4 alone have children, the bound of the share
// of the roots: mu = (4/7, 3/7), and 2/5 and 1/5 are the least entries of the columns.
func TestShareOfRootsByHand(t *testing.T) {
	check := compare.With(t)
	x := []int{0, 1, 2, 1}
	three, one := instruments.Shares([]int{0, 2, 3}, x, 3), instruments.Shares([]int{3}, x, 3)
	check("a distance", instruments.Distance(three, one), 2./3)
	g := graph.MustNew(graph.Root, 0, 0, 0, 3, graph.Root)
	check("the positions with children", float64(parentsOf(g)), 2)
	bound := statedMean.bound(g, exact.Rats("2/5 3/5; 4/5 1/5"))
	check("the bound of the share of the roots", exact.Float(bound), (4./7/(2./5*3/7)+3./7/(1./5*4/7))/4)
}

// The blocks of the query's last residual stream in the limit, against the dense transformer, on graphs
// where a position has two children.
func TestResidualStreamInTheLimit(t *testing.T) {
	check := compare.With(t)
	for _, u := range compare.Asymmetrics() {
		s := len(u.First)
		k := model.ConstructionOne(u.Graph, s)
		weights, d := k.Weights(instruments.BetaOne, instruments.BetaTwo), s+u.Graph.T()
		for x := range task.Sequences(s, u.Graph.T()) {
			stream := weights.Stream(x).RawRowView(u.Graph.T() - 1)
			for block := range 4 {
				check.Each("a block", limitBlock(u.Graph, x, k.Attended(x), s, block).Floats(), stream[block*d:(block+1)*d])
			}
		}
	}
}

// The error of Construction 1 on a chain against its mean over all sequences.
func TestErrorOfConstructionOneOnChains(t *testing.T) {
	check := compare.With(t)
	pi := exact.Rats("4/5 1/5; 3/10 7/10")
	mu := exact.MustStationary(pi)
	got, mean := exact.PairMean(pi, mu, 4, constructionError, 0), new(big.Rat)
	for x, p := range exact.Sequences(graph.Chain(5), pi) { // the query is last
		in := exact.Pairs{First: x[0], Last: x[3]}
		for i := range 3 {
			in.N[x[i]][x[i+1]]++
		}
		mean.Add(mean, exact.Mul(p, new(big.Rat).SetFloat64(constructionError(in))))
	}
	far, _ := errorByDefinition(graph.Chain(5), pi)
	check("the error of Construction 1 on a chain", got.Float(), far)
	check("whether it is enclosed", instruments.Indicator(got.Contains(mean)), 1)
	for _, u := range compare.Asymmetrics() {
		far, share := errorByDefinition(u.Graph, u.First)
		inRationals, ofRoots := statedMean.means(u.Graph, u.First)
		check.Each("the error of Construction 1, and the share of roots",
			[]float64{exact.Float(inRationals), exact.Float(ofRoots)}, []float64{far, share})
	}
}

// errorByDefinition returns the mean of |f - pihat|_inf over all sequences, and of the
// share of positions that do not count, where the tokens are not all equal.
func errorByDefinition(g *graph.Forest, pi exact.Matrix) (far, share float64) {
	s := len(pi)
	built := model.ConstructionOne(g, s)
	for x, p := range exact.Sequences(g, pi) {
		if counted := childrenOfMatches(g, x); counted != nil && slices.Min(x) < slices.Max(x) {
			attended := built.Attended(x)
			far += exact.Float(p) * instruments.Distance(instruments.Shares(attended, x, s), instruments.Shares(counted, x, s))
			share += exact.Float(p) * (1 - float64(len(counted))/float64(len(attended)))
		}
	}
	return far, share
}

// The distance of a limit from pihat, where each entry differs by a quarter.
func TestDistanceToTheEmpiricalLaw(t *testing.T) {
	check := compare.With(t)
	f, hat := exact.Rats("1/4 3/4")[0], exact.Rats("1/2 1/2")[0]
	check.Inequalities("the distance to pihat", func(w *ledger.Worst) {
		limitDistance(1)(w, f, hat, 2, 5, func() ledger.Instance { return nil })
	}, [2]float64{0.25, 0.5}, [2]float64{0.25, 0.5})
}

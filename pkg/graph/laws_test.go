package graph_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"learncausal/internal/property"
	"learncausal/pkg/graph"
)

// On every forest of at most 6 positions, by the paths to the roots.
func TestDistancesAreThoseOfPaths(t *testing.T) {
	above := func(f *graph.Forest, i int) (path []int) {
		for ; i != graph.Root; i = f.Parent(i) {
			path = append(path, i)
		}
		return path
	}
	for n := 2; n <= 6; n++ {
		for f := range graph.All(n) {
			sums := map[float64]float64{0: 0, 0.3: 0, 1: 0}
			for i := range n {
				for j := range n {
					want := [4]int{graph.Root, -1, -1, -1}
					for down, a := range above(f, i) {
						if at := slices.Index(above(f, j), a); at >= 0 {
							want = [4]int{a, down, at, down + at}
							break
						}
					}
					k, toI, toJ := f.Meet(i, j)
					if got := [4]int{k, toI, toJ, f.Distance(i, j)}; got != want {
						t.Fatalf("%v: %d and %d meet at %v, want %v", f, i, j, got, want)
					}
					for lambda := range sums {
						if want[3] >= 0 {
							sums[lambda] += math.Pow(lambda, float64(want[3]))
						}
					}
				}
			}
			for lambda, sum := range sums {
				if got, want := f.TEffLambda(lambda), float64(n*n)/sum; !property.Near(got, want, 1e-12) {
					t.Fatalf("%v: T_eff(%v) is %v, want %v", f, lambda, got, want)
				}
			}
		}
	}
}

func TestNamesAreWrittenAndRead(t *testing.T) {
	names := []string{"y", "graph", `say "hi"`, "Łódź 1", "→ 2", "query"}
	f := graph.MustNew(-1, 0, 0, 1, 1, -1)
	var dot strings.Builder
	if err := f.WriteDOT(&dot, names...); err != nil {
		t.Fatal(err)
	}
	again, _, read, err := graph.Read(strings.NewReader(dot.String()))
	if err != nil || !slices.Equal(again.Parents(), f.Parents()) || !slices.Equal(read, names) {
		t.Errorf("%v %q becomes %v %q, error %v", f, names, again, read, err)
	}
}

func TestWrongArgumentsAreRefused(t *testing.T) {
	f, src, out := graph.Chain(4), rand.NewPCG(1, 1), &strings.Builder{}
	var none *graph.Forest
	var dag *graph.DAG
	property.Refuses(t, "graph", map[string]func(){
		"a position -1":      func() { f.Parent(-1) },
		"a position T":       func() { f.Distance(0, 4) },
		"Meet of T":          func() { f.Meet(4, 0) },
		"lambda NaN":         func() { f.TEffLambda(math.NaN()) },
		"lambda 1.1":         func() { f.TEffLambda(1.1) },
		"too few names":      func() { _ = f.WriteDOT(out, "a") },
		"a forest of 1":      func() { graph.Chain(1) },
		"too many positions": func() { graph.Star(graph.MaxT + 1) },
		"all forests of -1":  func() { graph.All(-1) },
		"a later parent":     func() { graph.Grow(3, func(i int) int { return i }) },
		"a parent -2":        func() { graph.MustNew(-1, -2, -1) },
		"no legs":            func() { graph.Spider(5, 0) },
		"a probability NaN":  func() { graph.Random(5, math.NaN(), src) },
		"an unknown family":  func() { graph.FamilyNamed("tree") },
		"no parents":         func() { graph.NGram(5, 0) },
		"six parents of 5":   func() { graph.RandomDAG(5, 6, 0.5, src) },
		"no forest":          func() { none.T() },
		"no forest's roots":  func() { none.Roots() },
		"an empty forest":    func() { new(graph.Forest).Parents() },
		"no DAG":             func() { dag.Parents() },
		"an empty DAG":       func() { _, _ = new(graph.DAG).Uniform() },
	})
	for _, parents := range [][][]int{{{}}, {{}, {}}, {{}, {1}}, {{}, {0, 0}}, {{}, {-1}}, {{}, {0}, {2}}} {
		if _, err := graph.NewDAG(parents); err == nil || !strings.HasPrefix(err.Error(), "graph: ") {
			t.Errorf("%v: error %v", parents, err)
		}
	}
}

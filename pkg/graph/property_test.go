package graph_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"learncausal/internal/property"
	"learncausal/pkg/graph"
)

func TestProperties(t *testing.T) {
	property.Test(t, property.Table{
		"New MustNew MustOneBased": lists,
		"NewDAG":                   dagLists,
		"Grow":                     grown,
		"Chain InContext BinaryTree Star Spider All Random": families,
		"NGram Halves RandomDAG":                            dags,
		"Forest.Parent Forest.Distance Forest.Meet":         positions,
		"Forest.TEffLambda":                                 effective,
		"Forest.WriteDOT DAG.WriteDOT":                      named,
	})
}

// forest draws a forest on at most 9 positions.
func forest(t *rapid.T) *graph.Forest {
	n := rapid.IntRange(2, 9).Draw(t, "T")
	return graph.Grow(n, func(i int) int { return rapid.IntRange(graph.Root, i-1).Draw(t, "parent") })
}

// named writes graphs with names of their own, and reads them.
func named(t *rapid.T) {
	f := forest(t)
	n := f.T()
	g := graph.RandomDAG(n-1, rapid.IntRange(1, n-1).Draw(t, "k"), 0.3, rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
	word := rapid.OneOf(
		rapid.SampledFrom([]string{
			"y", "graph", "Node", "s2", "7", "query", `say "hi"`, `a\\b`, "Łódź 1", "→", "a,b",
			"é.é",
		}),
		rapid.StringMatching(`[a-z<">= ;{}é]{1,3}-`),
	)
	names := rapid.SliceOfNDistinct(word, n, n, rapid.ID[string]).Draw(t, "names")
	var dot, dag strings.Builder
	if err := errors.Join(f.WriteDOT(&dot, names...), g.WriteDOT(&dag, names...)); err != nil {
		t.Fatal(err)
	}
	f2, other, read, err := graph.Read(strings.NewReader(dot.String()))
	if slices.ContainsFunc(names, func(s string) bool { return s[0] == '<' }) {
		if err == nil {
			t.Fatalf("HTML is read: %s", dot.String())
		}
		return
	}
	if err != nil || other != nil || !slices.Equal(f2.Parents(), f.Parents()) || !slices.Equal(read, names) {
		t.Fatalf("%v %q becomes %v %q, error %v", f, names, f2, read, err)
	}
	none, g2, read, err := graph.Read(strings.NewReader(dag.String()))
	if err != nil || none != nil || !slices.EqualFunc(g2.Parents(), g.Parents(), slices.Equal) ||
		!slices.Equal(read, names) {
		t.Fatalf("%v %q becomes %v %q, error %v", g.Parents(), names, g2, read, err)
	}
	if property.Refused(t, "graph", func() { _ = f.WriteDOT(&dot, names[1:]...) }) == "" {
		t.Fatal("a name too few is written")
	}
}

func lists(t *rapid.T) {
	parents := rapid.SliceOfN(rapid.OneOf(rapid.IntRange(-1, 3), property.Int()), 0, 5).Draw(t, "parents")
	n := len(parents)
	right := n >= 2 && parents[n-1] == graph.Root
	for i, p := range parents {
		right = right && p >= graph.Root && p < i
	}
	oneBased := slices.Clone(parents)
	for i := range oneBased {
		oneBased[i]++
	}
	for _, make := range []func() (*graph.Forest, error){
		func() (*graph.Forest, error) { return graph.New(parents) },
		recovered(t, func() *graph.Forest { return graph.MustNew(parents...) }),
		recovered(t, func() *graph.Forest { return graph.MustOneBased(oneBased...) }),
	} {
		f, err := make()
		if property.Decide(t, right, property.Said(t, "graph", err)) && !slices.Equal(f.Parents(), parents) {
			t.Fatalf("%v is made of %v", f, parents)
		}
	}
}

// recovered returns the panic of f as an error.
func recovered(t *rapid.T, f func() *graph.Forest) func() (*graph.Forest, error) {
	return func() (g *graph.Forest, err error) {
		if message := property.Refused(t, "graph", func() { g = f() }); message != "" {
			err = errors.New(message)
		}
		return g, err
	}
}

func dagLists(t *rapid.T) {
	parents := rapid.SliceOfN(rapid.SliceOfN(rapid.OneOf(rapid.IntRange(0, 2), property.Int()), 0, 3), 0, 5).Draw(t,
		"parents")
	right := len(parents) >= 2 && len(parents[len(parents)-1]) > 0
	for i, ps := range parents {
		for k, p := range ps {
			right = right && p >= 0 && p < i && !slices.Contains(ps[:k], p)
		}
	}
	g, err := graph.NewDAG(parents)
	if !property.Decide(t, right, property.Said(t, "graph", err)) {
		return
	}
	for i, ps := range g.Parents() {
		if !slices.Equal(ps, parents[i]) {
			t.Fatalf("%v is made of %v", g.Parents(), parents)
		}
	}
}

func grown(t *rapid.T) {
	n := rapid.OneOf(rapid.IntRange(-1, 6), rapid.SampledFrom([]int{math.MinInt, graph.MaxT + 1, math.MaxInt})).Draw(t,
		"T")
	right := n >= 2 && n <= graph.MaxT
	refusal := property.Refused(t, "graph", func() {
		graph.Grow(n, func(i int) int {
			p := rapid.OneOf(rapid.IntRange(-1, i-1), property.Int()).Draw(t, "parent")
			right = right && p >= graph.Root && p < i
			return p
		})
	})
	property.Decide(t, right, refusal)
}

func families(t *rapid.T) {
	for _, f := range []func(){func() { graph.FamilyNamed("tree") }, func() { graph.Spider(5, 0) }} {
		property.Decide(t, false, property.Refused(t, "graph", f))
	}
	n, legs, p := property.Int().Draw(t, "T"), property.Int().Draw(t, "legs"), property.Float().Draw(t, "p")
	sized := n >= 2 && n <= graph.MaxT
	for name, c := range map[string]struct {
		make   func() *graph.Forest
		right  bool
		parent func(i, p int) bool
	}{
		"chain":  {func() *graph.Forest { return graph.Chain(n) }, sized, func(i, p int) bool { return p == i-1 }},
		"star":   {func() *graph.Forest { return graph.Star(n) }, sized, func(i, p int) bool { return p == 0 }},
		"binary": {func() *graph.Forest { return graph.BinaryTree(n) }, sized, func(i, p int) bool { return p == (i-1)/2 }},
		"in-context": {
			func() *graph.Forest { return graph.InContext(n) }, sized,
			func(i, p int) bool { return p == i-1 && i%2 == 1 || p == graph.Root && i%2 == 0 },
		},
		"spider": {
			func() *graph.Forest { return graph.Spider(n, legs) }, sized && legs >= 1,
			func(i, p int) bool { return p == i-legs || p == 0 && i <= legs },
		},
		"random": {
			func() *graph.Forest { return graph.Random(n, p, rand.NewPCG(1, 1)) }, sized && p >= 0 && p <= 1,
			func(i, q int) bool { return q >= graph.Root && q < i && (p > 0 || q >= 0) && (p < 1 || q < 0) },
		},
		"all": {
			func() *graph.Forest {
				for f := range graph.All(n) {
					return f
				}
				return nil
			}, sized, func(_, p int) bool { return p == graph.Root },
		},
	} {
		var f *graph.Forest
		if !property.Decide(t, c.right, property.Refused(t, "graph", func() { f = c.make() })) {
			continue
		}
		if f.T() != n || f.Parent(0) != graph.Root || f.Parent(n-1) != graph.Root {
			t.Fatalf("%s on %d positions is %v", name, n, f)
		}
		for i := 1; i < n-1; i++ {
			if !c.parent(i, f.Parent(i)) {
				t.Fatalf("%s: the parent of %d is %d", name, i, f.Parent(i))
			}
		}
	}
}

func dags(t *rapid.T) {
	n, k, p := property.Int().Draw(t, "T"), property.Int().Draw(t, "k"), property.Float().Draw(t, "p")
	right := k >= 1 && k <= n && n <= graph.MaxT
	for name, c := range map[string]struct {
		make  func() *graph.DAG
		right bool
		want  int
	}{
		"n-gram": {func() *graph.DAG { return graph.NGram(n, k) }, right, k},
		"halves": {func() *graph.DAG { return graph.Halves(n) }, n >= 2 && n <= graph.MaxT, 2},
		"random": {func() *graph.DAG { return graph.RandomDAG(n, k, p, rand.NewPCG(1, 1)) }, right && p >= 0 && p <= 1, k},
	} {
		var g *graph.DAG
		if !property.Decide(t, c.right, property.Refused(t, "graph", func() { g = c.make() })) {
			continue
		}
		if got, err := g.Uniform(); err != nil || got != c.want || g.T() != n {
			t.Fatalf("%s on %d positions has in-degree %d, %v, want %d", name, g.T(), got, err, c.want)
		}
		if _, err := graph.NewDAG(g.Parents()); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
}

func positions(t *rapid.T) {
	f, i, j := forest(t), property.Int().Draw(t, "i"), property.Int().Draw(t, "j")
	inside := func(i int) bool { return i >= 0 && i < f.T() }
	property.Decide(t, inside(i), property.Refused(t, "graph", func() { f.Parent(i) }))
	both := inside(i) && inside(j)
	d, k, toI, toJ := 0, 0, 0, 0
	property.Decide(t, both, property.Refused(t, "graph", func() { d = f.Distance(i, j) }))
	if !property.Decide(t, both, property.Refused(t, "graph", func() { k, toI, toJ = f.Meet(i, j) })) {
		return
	}
	above := func(i int) (path []int) {
		for ; i != graph.Root; i = f.Parents()[i] {
			path = append(path, i)
		}
		return path
	}
	wantK, wantI, wantJ, want := graph.Root, -1, -1, -1
	for down, a := range above(i) {
		if at := slices.Index(above(j), a); at >= 0 {
			wantK, wantI, wantJ, want = a, down, at, down+at
			break
		}
	}
	if k != wantK || toI != wantI || toJ != wantJ || d != want {
		t.Fatalf("%v: %d and %d meet in %d, %d and %d below it, at distance %d", f, i, j, k, toI, toJ, d)
	}
}

func effective(t *rapid.T) {
	f, lambda := forest(t), property.Float().Draw(t, "lambda")
	got := 0.0
	right := lambda >= 0 && lambda <= 1
	if !property.Decide(t, right, property.Refused(t, "graph", func() { got = f.TEffLambda(lambda) })) {
		return
	}
	sum, n := 0.0, f.T()
	for i := range n {
		for j := range n {
			if d := f.Distance(i, j); d >= 0 {
				sum += math.Pow(lambda, float64(d))
			}
		}
	}
	if want := float64(n*n) / sum; !property.Near(got, want, 1e-12) {
		t.Fatalf("%v: T_eff(%v) is %v, want %v", f, lambda, got, want)
	}
}

func TestMethodsOfNoGraphPanic(t *testing.T) {
	var f *graph.Forest
	var g *graph.DAG
	for name, call := range map[string]func(){
		"Forest.T": func() { f.T() }, "Forest.Parent": func() { f.Parent(0) }, "Forest.Parents": func() { f.Parents() },
		"Forest.Roots": func() { f.Roots() }, "Forest.WriteDOT": func() { _ = f.WriteDOT(&strings.Builder{}) },
		"zero Forest": func() { new(graph.Forest).T() }, "zero DAG": func() { new(graph.DAG).T() },
		"DAG.T": func() { g.T() }, "DAG.Parents": func() { g.Parents() }, "DAG.Uniform": func() { _, _ = g.Uniform() },
	} {
		if said := property.Refused(t, "graph", call); !strings.HasPrefix(said, "graph: there is no ") {
			t.Errorf("%s panics with %q", name, said)
		}
	}
}

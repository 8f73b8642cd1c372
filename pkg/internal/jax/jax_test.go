package jax

import (
	_ "embed"
	"encoding/json"
	"math"
	"os"
	"slices"
	"strconv"
	"testing"

	"learncausal/pkg/markov"
)

// vectorsJSON is the output of testdata/vectors.py.
//
//go:embed testdata/vectors.json
var vectorsJSON []byte

type vectors struct {
	Split     map[string][]Key
	Keys      []Key
	Bits      []uint32
	Uniform   []float32
	Int       []int
	Law       []float32
	Choice    []int
	Normal    []float32
	Normals   []float32 // of one key
	LogGamma  map[string][]float32
	Dirichlet [][]float32
	Parents   []int
	Sequences []string
	Targets   [][]float32
	Nodes     [][]int // parents of Task 2
	Several   []string
	Labels    [][]float32
}

func printed(t *testing.T) (v vectors) {
	t.Helper()
	if err := json.Unmarshal(vectorsJSON, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestIntegersEqualJAX(t *testing.T) {
	v := printed(t)
	root := NewKey(42)
	for text, keys := range v.Split {
		n, _ := strconv.Atoi(text)
		for i, want := range keys {
			if got := root.Of(n, i); got != want {
				t.Errorf("key %d of %d is %v, want %v", i, n, got, want)
			}
		}
	}
	first, second := root.Split()
	if !slices.Equal([]Key{first, second}, v.Split["2"]) {
		t.Errorf("split into %v and %v, want %v", first, second, v.Split["2"])
	}
	a, b, c := root.split3()
	if !slices.Equal([]Key{a, b, c}, v.Split["3"]) {
		t.Errorf("split into %v, %v, %v, want %v", a, b, c, v.Split["3"])
	}
	for i, k := range v.Keys {
		if k != root.Of(len(v.Keys), i) || k.Bits() != v.Bits[i] || k.Uniform() != v.Uniform[i] || k.Int(10) != v.Int[i] {
			t.Fatalf("key %d: %v, %d, %v, %d; want %v, %d, %v, %d", i, root.Of(len(v.Keys), i), k.Bits(), k.Uniform(), k.Int(10),
				k, v.Bits[i], v.Uniform[i], v.Int[i])
		}
		if got := k.Choice(v.Law); got != v.Choice[i] {
			t.Errorf("key %d chooses %d, want %d", i, got, v.Choice[i])
		}
	}
}

// XLA rounds its logarithms and exponentials otherwise, in the last places of float32.
func TestRealNumbersEqualJAXToRounding(t *testing.T) {
	v := printed(t)
	largest := map[string]float64{}
	compare := func(what string, got, want float32, scale float64) {
		off := math.Abs(float64(got)-float64(want)) / max(scale, math.Abs(float64(want)))
		largest[what] = max(largest[what], off)
	}
	for i, k := range v.Keys {
		compare("normal", k.Normal(1, 0), v.Normal[i], 1e-3)
		for text, want := range v.LogGamma {
			alpha, _ := strconv.ParseFloat(text, 32)
			compare("log gamma", k.LogGamma(float32(alpha)), want[i], 1)
		}
		p := make([]float32, 6)
		k.Dirichlet(p, 3, 0.5)
		for j := range p {
			compare("dirichlet", p[j], v.Dirichlet[i][j], 1e-3)
		}
	}
	for i, want := range v.Normals {
		compare("normal", NewKey(42).Normal(len(v.Normals), i), want, 1e-3)
	}
	for what, off := range largest {
		t.Logf("%s: %.2g", what, off)
		if off > 4e-6 {
			t.Errorf("%s: off by %.2g of its size, want 4e-6", what, off)
		}
	}
}

func TestSequencesEqualTheReleasedSampler(t *testing.T) {
	v := printed(t)
	one, several := NewSampler(v.Parents, 3, 0.1), NewMultiSampler(v.Nodes, 3, 0.1)
	// The measure in float32 has rare errors, which change some tokens.
	sequencesEqual(t, one.Draw, make([]int, len(v.Parents)), v.Sequences, v.Targets, 3)
	sequencesEqual(t, several.Draw, make([]int, len(v.Nodes)-1), v.Several, v.Labels, 0)
	keys := map[Key]int{}
	for epoch := range 4 {
		want := NewBatches(7, 2, Epoch).Of(epoch*Epoch + 5)
		keys[want]++
		for before := range 4 { // also one epoch back
			b := NewBatches(7, 2, Epoch)
			b.Of(before * Epoch)
			if got := b.Of(epoch*Epoch + 5); got != want {
				t.Errorf("a key of epoch %d is %v after one of epoch %d, and %v at first", epoch, got, before, want)
			}
		}
	}
	if len(keys) != 4 {
		t.Errorf("the keys of 4 epochs are %v", keys)
	}
}

func sequencesEqual(
	t *testing.T, draw func([]int, []float64, Key), x []int, tokens []string, laws [][]float32, most int,
) {
	t.Helper()
	keys, y, others := NewBatches(7, 2, Epoch), make([]float64, 3), 0
	for i, want := range tokens {
		draw(x, y, keys.Of(2*Epoch-len(tokens)+i))
		got := ""
		for _, a := range x {
			got += strconv.Itoa(a)
		}
		if got != want {
			others++
			continue
		}
		for a := range y {
			if math.Abs(y[a]-float64(laws[i][a])) > 1e-6 {
				t.Errorf("sequence %d: target %v, want %v", i, y, laws[i])
			}
		}
	}
	if others > most {
		t.Errorf("%d of %d sequences differ, want at most %d", others, len(tokens), most)
	}
	t.Logf("%d of %d sequences differ", others, len(tokens))
}

// Far from reducible, the law of roots is the stationary measure to the rounding of float32.
func TestLawOfRootsIsStationary(t *testing.T) {
	for s := 2; s <= 12; s++ {
		d, pi, mu := NewSampler([]int{-1, -1}, s, 1), make([]float64, s*s), make([]float64, s)
		for i := range 100 {
			NewKey(3).Of(100, i).Dirichlet(d.pi, s, 1)
			d.measure()
			for k, p := range d.pi {
				pi[k] = float64(p)
			}
			if err := markov.Stationary(mu, pi); err != nil {
				t.Fatal(err)
			}
			for a := range mu {
				if off := math.Abs(float64(d.mu[a]) - mu[a]); off > 1e-4 {
					t.Fatalf("S = %d, matrix %d: the law of roots is %v, want %v", s, i, d.mu, mu)
				}
			}
		}
	}
}

// The seed 0 gives the paper's twenty random graphs: a position i > 0 has one of the positions before it as its
// parent, or none with probability 1/2.
func TestSeedGivesTheGraphsOfThePaper(t *testing.T) {
	var file struct{ Graphs []struct{ Parents []int } }
	b, err := os.ReadFile("../../../paper/trial/many_graphs.json")
	if err == nil {
		err = json.Unmarshal(b, &file)
	}
	if err != nil {
		t.Fatal(err)
	}
	for g, want := range file.Graphs {
		parents, none := NewKey(0).Next(0).Of(len(file.Graphs), g).Split()
		high, low := parents.Split()
		got := []int{-1}
		for i := range 18 {
			got = append(got, below(i+1, high.word(18, i), low.word(18, i)))
		}
		for i := range got {
			if none.word(19, i) < 1<<31 {
				got[i] = -1
			}
		}
		if !slices.Equal(got, want.Parents) {
			t.Errorf("graph %d has the parents %v, want %v", g, got, want.Parents)
		}
	}
}

// The seed 0 gives the random graph of Figures 6 and 8: position i has a parent in -1, 0, ..., i-1.
func TestSeedGivesTheRandomGraph(t *testing.T) {
	want := []int{-1, -1, 1, -1, -1, 4, -1, 5, 3, 4, 8, 6, 1, 3, 5, -1, 6, 1, 3}
	high, low := NewKey(0).Next(0).Split()
	for i, parent := range want {
		if got := below(i+1, high.word(19, i), low.word(19, i)) - 1; got != parent {
			t.Errorf("position %d has the parent %d, want %d", i, got, parent)
		}
	}
}

func BenchmarkDraw(b *testing.B) {
	chain := []int{-1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, -1}
	keys, d := NewBatches(7, 2, Epoch), NewSampler(chain, 3, 0.1)
	x, y := make([]int, 20), make([]float64, 3)
	i := 0
	for b.Loop() {
		d.Draw(x, y, keys.Of(i%Epoch))
		i++
	}
}

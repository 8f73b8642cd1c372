package lanes

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"learncausal/pkg/property"
)

// checkSpread compares with plain Go, whatever number of tokens has vectors.
func checkSpread(t *testing.T, seed uint64, n, tokens int) {
	rnd := rand.New(rand.NewPCG(seed, 6))
	x := make([]int, n)
	for j := range x {
		x[j] = rnd.IntN(tokens)
	}
	v, table, y, sums := numbers(rnd, n), numbers(rnd, tokens), numbers(rnd, n), numbers(rnd, tokens)
	before := [][]float64{slices.Clone(y.whole), slices.Clone(sums.whole)}
	spreadGo(sums.part, v.part, x)
	collectGo(y.part, table.part, v.part, x)
	wantY, wantSums := slices.Clone(y.whole), slices.Clone(sums.whole)
	atLevels(t, func(t *testing.T) {
		what := fmt.Sprintf("%d numbers, %d tokens", n, tokens)
		copy(sums.whole, before[1])
		spread(sums.part, v.part, x)
		same(t, what+": spread", sums.whole, wantSums)
		if tokens <= collectTokens {
			copy(y.whole, before[0])
			collect(y.part, table.part, v.part, x)
			same(t, what+": collect", y.whole, wantY)
		}
	})
}

func TestSpreadAndCollectAreThoseOfPlainGo(t *testing.T) {
	for n := 1; n <= 40; n++ {
		for tokens := 1; tokens <= 20; tokens++ {
			checkSpread(t, uint64(n), n, tokens)
		}
	}
}

func FuzzSpread(f *testing.F) {
	f.Fuzz(func(t *testing.T, seed uint64, n, tokens uint8) {
		checkSpread(t, seed, 1+int(n), 1+int(tokens)%40)
	})
}

// Numbers of a token are added in their order.
func TestSpreadAddsInOrder(t *testing.T) {
	sums, v, x := make([]float64, 3), []float64{1, 5, 1e17, -1e17, 3}, []int{2, 0, 2, 2, 2}
	atLevels(t, func(t *testing.T) {
		Spread(sums, v, x)
		same(t, "spread", sums, []float64{5, 0, 3})
		y := make([]float64, len(x))
		Collect(y, []float64{10, 20, 30}, v, x)
		same(t, "collect", y, []float64{31, 15, 1e17 + 30, -1e17 + 30, 33})
	})
}

func spreads(t *rapid.T) {
	tokens := rapid.IntRange(1, 20).Draw(t, "tokens")
	x := rapid.SliceOfN(rapid.IntRange(0, tokens-1), 0, 20).Draw(t, "x")
	v, y := make([]float64, length(t, "v", len(x))), make([]float64, length(t, "y", len(x)))
	for j := range v {
		v[j] = 1
	}
	table := make([]float64, tokens)
	if property.Decide(t, len(v) == len(x), property.Refused(t, "lanes", func() { Spread(table, v, x) })) {
		count := make([]float64, tokens)
		for _, a := range x {
			count[a]++
		}
		if !slices.Equal(table, count) {
			t.Fatalf("ones for the tokens %v add up to %v", x, table)
		}
	}
	right := len(v) == len(x) && len(y) == len(x)
	if property.Decide(t, right, property.Refused(t, "lanes", func() { Collect(y, table, v, x) })) {
		for j, a := range x {
			if y[j] != table[a]+1 {
				t.Fatalf("entry %d, of token %d, is %v, want %v and one", j, a, y[j], table[a])
			}
		}
	}
}

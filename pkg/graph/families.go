package graph

import (
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"slices"
)

// Grow returns the forest on t positions with p(i) = parent(i) for 1 <= i <= t-2; position
// 0 and the query are roots. It calls parent once for each position in increasing order, so
// that random parents come from one stream:
//
//	graph.Grow(t, rand.New(src).IntN) // a random recursive tree
//
// It panics unless 2 <= t <= [MaxT] and each parent(i) is Root or in 0..i-1.
func Grow(t int, parent func(i int) int) *Forest {
	if err := checkT(t); err != nil {
		panic(err.Error())
	}
	parents := make([]int, t)
	parents[0], parents[t-1] = Root, Root
	for i := 1; i < t-1; i++ {
		p := parent(i)
		if p < Root || p >= i {
			panic(fmt.Sprintf("graph: position %d has the parent %d, want 0..%d, or %d for a root", i, p, i-1, Root))
		}
		parents[i] = p
	}
	return &Forest{parents}
}

// Chain returns the Markov chain on t positions: p(i) = i-1 for 1 <= i <= t-2.
// It panics unless 2 <= t <= [MaxT].
func Chain(t int) *Forest {
	return Grow(t, func(i int) int { return i - 1 })
}

// InContext returns the in-context-learning graph on t positions (Section 2.3, ex-icl): an odd
// position i <= t-2 has the parent i-1, all others are roots. It panics unless 2 <= t <= [MaxT].
func InContext(t int) *Forest {
	return Grow(t, func(i int) int {
		if i%2 == 1 {
			return i - 1
		}
		return Root
	})
}

// Spider returns the tree of paths, the legs, that share only position 0: p(i) = max(i-legs, 0) for 1 <= i <=
// t-2. The lengths of the legs differ by at most one edge. It panics unless 2 <= t <= [MaxT] and legs >= 1.
func Spider(t, legs int) *Forest {
	if legs < 1 {
		panic(fmt.Sprintf("graph: a spider with %d legs, want at least 1", legs))
	}
	return Grow(t, func(i int) int { return max(i-legs, 0) })
}

// BinaryTree returns the complete binary tree on t positions, level by level:
// p(i) = floor((i-1)/2) for 1 <= i <= t-2. It panics unless 2 <= t <= [MaxT].
func BinaryTree(t int) *Forest {
	return Grow(t, func(i int) int { return (i - 1) / 2 })
}

// Star returns the tree in which position 0 is the parent of every other position except
// the query. It panics unless 2 <= t <= [MaxT].
func Star(t int) *Forest {
	return Grow(t, func(int) int { return 0 })
}

// Figure1 returns the graph of the paper's Figure 1, on 6 positions:
// 0 -> 1, 0 -> 2, 1 -> 3, 2 -> 4 and the query.
func Figure1() *Forest { return MustNew(Root, 0, 0, 1, 2, Root) }

// A Family has one causal graph for each number of positions t >= 2.
type Family struct {
	Name string
	New  func(t int) *Forest
}

// Families returns the deterministic families, by decreasing effective sequence length (see [Forest.TEff]):
//
//	chain        T_eff = T
//	in-context   T_eff = T
//	spider       T_eff = T / floor(sqrt(T)), with floor(sqrt(T)) legs
//	binary tree  T_eff = 2 for even T, 2 + 2/(T-1) for odd T
//	star         T_eff = T / (T-2), and 2 for T = 2
func Families() []Family {
	return []Family{
		{"chain", Chain},
		{"in-context", InContext},
		{"spider", func(t int) *Forest { return Spider(t, int(math.Sqrt(float64(t)))) }},
		{"binary tree", BinaryTree},
		{"star", Star},
	}
}

// FamilyNamed returns the family of [Families] with the given name. It panics if there is none.
func FamilyNamed(name string) Family {
	families := Families()
	k := slices.IndexFunc(families, func(f Family) bool { return f.Name == name })
	if k < 0 {
		panic(fmt.Sprintf("graph: no family is named %q, see graph.Families", name))
	}
	return families[k]
}

// Random returns a random forest on t positions, as in the paper's quantitative comparison
// (Figure 9, fig-many-graphs, with p = 1/2): each position i in 1..t-2 is a root with
// probability p, independently, and otherwise has a parent drawn uniformly from 0..i-1.
// Positions 0 and t-1 are roots. It panics unless 2 <= t <= [MaxT] and p is in [0, 1].
func Random(t int, p float64, src rand.Source) *Forest {
	checkProbability(p)
	rnd := rand.New(src)
	return Grow(t, func(i int) int {
		if rnd.Float64() < p {
			return Root
		}
		return rnd.IntN(i)
	})
}

func checkProbability(p float64) {
	if !(0 <= p && p <= 1) {
		panic(fmt.Sprintf("graph: probability %v of a root is not in [0, 1]", p))
	}
}

// All returns the (t-1)! forests on t positions in the lexicographic order of their lists of
// parents. It panics unless 2 <= t <= [MaxT].
func All(t int) iter.Seq[*Forest] {
	if err := checkT(t); err != nil {
		panic(err.Error())
	}
	return func(yield func(*Forest) bool) {
		parents := slices.Repeat([]int{Root}, t)
		var extend func(i int) bool
		extend = func(i int) bool {
			if i == t-1 {
				return yield(&Forest{slices.Clone(parents)})
			}
			for parents[i] = Root; parents[i] < i; parents[i]++ {
				if !extend(i + 1) {
					return false
				}
			}
			return true
		}
		extend(0)
	}
}

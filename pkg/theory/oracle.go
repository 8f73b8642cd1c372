package theory

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	gonum "gonum.org/v1/gonum/graph"
	"gonum.org/v1/gonum/graph/iterator"
	"gonum.org/v1/gonum/graph/path"
	"gonum.org/v1/gonum/graph/simple"
	"gonum.org/v1/gonum/mat"

	"learncausal/pkg/graph"
	"learncausal/pkg/markov"
	"learncausal/pkg/num"
	"learncausal/pkg/task"
)

// Oracle returns the forest of the oracle algorithm (Algorithm 2, alg-oracle)
// from the T x T matrix of the pairwise mutual information I_f(s_i; s_j | pi):
//
//	p(i) = argmax_{j<i} I_f(s_i; s_j | pi)  if the maximum exceeds floor[i],
//	       none                             otherwise,  i < T-1
//
// and the first of equal maxima. The algorithm as printed has floor zero; from samples the mutual
// information of a root with another position is positive too, see [Recover].
//
// The attention of a trained model shows a graph in the same way:
//
//	Oracle(weights.PositionAttention(), slices.Repeat([]float64{0.5}, t))
//
// Oracle reads the entries of info with j < i only. It panics unless info is T x T and
// floor has T entries, T >= 2, none of them NaN.
func Oracle(info mat.Matrix, floor []float64) *graph.Forest {
	t := checkSquare(info, floor)
	return graph.Grow(t, func(i int) int {
		parent, best := graph.Root, floor[i]
		for j := range i {
			if v := info.At(i, j); v > best {
				parent, best = j, v
			}
		}
		return parent
	})
}

// ChowLiu returns the edges (j, i), j < i, in the order of i and then j, of the forest of greatest total mutual
// information (Section 5.1.1, rem-chow-liu): Kruskal's algorithm on the pairs j < i < T-1 whose information
// exceeds floor[i]. Unlike [Oracle] it does not use that the order of the positions is known, so that from
// samples a position may be the later end of several edges. It panics unless info is T x T and
// floor has T entries, T >= 2, none of them NaN.
func ChowLiu(info mat.Matrix, floor []float64) [][2]int {
	t := checkSquare(info, floor)
	g := pairGraph{WeightedUndirectedGraph: simple.NewWeightedUndirectedGraph(0, 0)}
	for i := range t - 1 {
		g.AddNode(simple.Node(i))
		for j := range i {
			if v := info.At(i, j); v > floor[i] {
				e := g.NewWeightedEdge(simple.Node(j), simple.Node(i), -v)
				g.SetWeightedEdge(e)
				g.list = append(g.list, e)
			}
		}
	}
	tree := simple.NewWeightedUndirectedGraph(0, 0)
	path.Kruskal(tree, g)
	var edges [][2]int
	for _, e := range gonum.WeightedEdgesOf(tree.WeightedEdges()) {
		j, i := int(e.From().ID()), int(e.To().ID())
		edges = append(edges, [2]int{min(i, j), max(i, j)})
	}
	slices.SortFunc(edges, func(a, b [2]int) int { return slices.Compare([]int{a[1], a[0]}, []int{b[1], b[0]}) })
	return edges
}

// pairGraph lists its edges in a fixed order, and so has the same spanning
// forest every time, also with equal weights.
type pairGraph struct {
	*simple.WeightedUndirectedGraph
	list []gonum.WeightedEdge
}

func (g pairGraph) WeightedEdges() gonum.WeightedEdges {
	return iterator.NewOrderedWeightedEdges(g.list)
}

// checkSquare returns T, and panics unless info is T x T and there are numbers to compare.
func checkSquare(info mat.Matrix, floor []float64) int {
	t := len(floor)
	if rows, columns := info.Dims(); rows != t || columns != t || t < 2 {
		panic(fmt.Sprintf("theory: mutual information of %d x %d positions and %d floors, want T x T and T >= 2",
			rows, columns, t))
	}
	for i := range t - 1 {
		if math.IsNaN(floor[i]) {
			panic(fmt.Sprintf("theory: the floor of position %d is NaN", i))
		}
		for j := range i {
			if math.IsNaN(info.At(i, j)) {
				panic(fmt.Sprintf("theory: the mutual information of positions %d and %d is NaN", i, j))
			}
		}
	}
	return t
}

// A sample replaces the law of a task for the oracle. The mutual information is
// conditional on pi, and one sequence for each pi says nothing about it. So a sample
// has groups of sequences: the sequences of one group share a draw of pi.
type sample struct {
	t, s   int
	groups [][][]int // for each group and position the tokens, one of each sequence
}

// newSample draws a pi for each group, and from every pi as many sequences as each says. It panics unless both numbers
// are positive.
func newSample(t task.Task, groups, each int, src *rand.PCG) *sample {
	if groups < 1 || each < 1 {
		panic(fmt.Sprintf("theory: a sample of %d groups of %d sequences, want at least 1 of each", groups, each))
	}
	s := t.Prior.States()
	out := &sample{t: t.Graph.T(), s: s}
	for range groups {
		one := &markov.Finite{
			Pi: [][]float64{make([]float64, s*s)}, Mu: [][]float64{make([]float64, s)}, Weight: []float64{1},
		}
		t.Prior.Draw(one.Pi[0], one.Mu[0], src)
		given := task.Task{Graph: t.Graph, Prior: one, UniformRoots: t.UniformRoots}
		b := given.NewBatch(each)
		given.NewSampler().Fill(b, src)
		group := make([][]int, out.t)
		for k, a := range b.X {
			group[k%out.t] = append(group[k%out.t], a)
		}
		out.groups = append(out.groups, group)
	}
	return out
}

// information returns the plug-in estimate of the pairwise mutual information, see [Information], T
// x T, symmetric with a diagonal of zeros: with P^g the frequencies of pairs in group g, of G,
//
//	I(i,j) = 1/G sum_g D_f(P^g_{i,j} || P^g_i x P^g_j)
//
// It is biased upwards: for chi-squared and independent s_i, s_j by about
// (S-1)^2 over the number of sequences of a group.
func (s *sample) information(f Divergence) *mat.Dense {
	info := mat.NewDense(s.t, s.t, nil)
	for _, x := range s.groups {
		for i := range s.t {
			for j := range i {
				v := info.At(i, j) + plugIn(f, x[i], x[j], s.s)/float64(len(s.groups))
				info.Set(i, j, v)
				info.Set(j, i, v)
			}
		}
	}
	return info
}

// floor returns for each position the largest mutual information with an earlier one over the given
// number of rounds, in each of which the tokens of the position are permuted within each group.
// Permuted, they are independent of all earlier positions given pi, as a root's are: so [Oracle]
// gives a root a parent with probability at most 1/(rounds+1), whatever f, S and the size of the
// sample. It is zero for no rounds, and panics if their number is negative.
func (s *sample) floor(f Divergence, rounds int, src *rand.PCG) []float64 {
	if rounds < 0 {
		panic(fmt.Sprintf("theory: %d rounds of permutations, want 0 or more", rounds))
	}
	rnd := rand.New(src)
	floor := make([]float64, s.t)
	for i := range s.t - 1 {
		for range rounds {
			info := make([]float64, i)
			for _, y := range s.groups {
				x := slices.Clone(y[i])
				rnd.Shuffle(len(x), func(k, l int) { x[k], x[l] = x[l], x[k] })
				for j := range i {
					info[j] += plugIn(f, x, y[j], s.s) / float64(len(s.groups))
				}
			}
			floor[i] = slices.Max(append(info, floor[i]))
		}
	}
	return floor
}

// plugIn returns the f-mutual information of the frequencies of the pairs (x_k, y_k).
func plugIn(f Divergence, x, y []int, s int) float64 {
	room := make([]float64, 2*s*s+2*s)
	joint, product, u, v := room[:s*s], room[s*s:2*s*s], room[2*s*s:2*s*s+s], room[2*s*s+s:]
	n := float64(len(x))
	for k, a := range x {
		joint[a*s+y[k]]++
	}
	for a := range s {
		for b := range s {
			joint[a*s+b] /= n
			u[a] += joint[a*s+b]
			v[b] += joint[a*s+b]
		}
	}
	for a := range s {
		for b := range s {
			product[a*s+b] = u[a] * v[b]
		}
	}
	return f.Between(joint, product)
}

// Recovery says how often the graph is found from samples.
type Recovery struct {
	Trials    int
	Oracle    float64 // fraction of trials in which Oracle returns the graph
	Positions float64 // fraction of the positions 1..T-2 whose parent, or lack of one, it finds; 1 for T = 2
	ChowLiu   float64 // fraction of trials in which ChowLiu returns the edges of the graph
}

// Recover runs both algorithms on samples of the given number of groups with each sequences, with
// floors of the given rounds. Trial k takes its draws from num.Stream(seed, "theory/recover", k).
// It panics unless groups, each and trials are positive and rounds is not negative.
func Recover(t task.Task, f Divergence, groups, each, rounds, trials int, seed uint64) Recovery {
	if trials < 1 {
		panic(fmt.Sprintf("theory: %d trials, want at least 1", trials))
	}
	want := t.Graph.Parents()
	oracle, positions, chowLiu := 0, 0, 0
	for k := range trials {
		src := num.Stream(seed, "theory/recover", uint64(k))
		s := newSample(t, groups, each, src)
		info, floor := s.information(f), s.floor(f, rounds, src)
		got := Oracle(info, floor).Parents()
		if slices.Equal(got, want) {
			oracle++
		}
		for i := 1; i < s.t-1; i++ {
			if got[i] == want[i] {
				positions++
			}
		}
		if slices.Equal(ChowLiu(info, floor), t.Graph.Edges()) {
			chowLiu++
		}
	}
	n, found := float64(trials), 1.0
	if len(want) > 2 {
		found = float64(positions) / (n * float64(len(want)-2))
	}
	return Recovery{trials, float64(oracle) / n, found, float64(chowLiu) / n}
}

package task

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"learncausal/pkg/graph"
	"learncausal/pkg/markov"
	"learncausal/pkg/num"
)

func multi(t *testing.T, parents [][]int, states int, alpha float64) Multi {
	t.Helper()
	g, err := graph.NewDAG(parents)
	if err != nil {
		t.Fatal(err)
	}
	p, err := markov.NewDirichlet(states, alpha)
	if err != nil {
		t.Fatal(err)
	}
	return Multi{Graph: g, Prior: p}
}

// flatten returns the numbers of nested lists in row-major order.
func flatten(v any) []float64 {
	if x, ok := v.(float64); ok {
		return []float64{x}
	}
	var out []float64
	for _, e := range v.([]any) {
		out = append(out, flatten(e)...)
	}
	return out
}

func TestMultiAgainstGolden(t *testing.T) {
	for _, name := range []string{"dag-k2-s2t5", "dag-mixed-s2t5"} {
		b, err := os.ReadFile("testdata/" + name + ".json")
		if err != nil {
			t.Fatal(err)
		}
		var g struct {
			S, T     int
			Alpha    float64
			Dag      [][]int
			Pi       map[string]any
			Expected struct {
				Joint []float64
				Label [][]float64
				Bayes [][]float64
			}
		}
		if err := json.Unmarshal(b, &g); err != nil {
			t.Fatal(err)
		}
		m := multi(t, g.Dag, g.S, g.Alpha)
		pi := Tensors{}
		for k, v := range g.Pi {
			n, _ := strconv.Atoi(k)
			pi[n] = flatten(v)
		}
		f := make([]float64, g.S)
		for k, want := range g.Expected.Joint {
			x := sequence(k, g.S, g.T)
			p, y := m.Probability(pi, x)
			if math.Abs(p-want) > 1e-15 {
				t.Errorf("%s: P(%v) = %v, want %v", name, x, p, want)
			}
			m.Posterior(f, x)
			for a := range y {
				if y[a] != g.Expected.Label[k][a] {
					t.Errorf("%s: label law after %v is %v, want %v", name, x, y, g.Expected.Label[k])
				}
				if math.Abs(f[a]-g.Expected.Bayes[k][a]) > 1e-15 {
					t.Errorf("%s: posterior after %v is %v, want %v", name, x, f, g.Expected.Bayes[k])
				}
			}
		}
	}
}

// graphs are those on which the laws of Task 2 are held to enumeration, on 5
// positions each.
func graphs(t *testing.T) map[string][][]int {
	t.Helper()
	file, err := graph.ReadDAG(strings.NewReader(`digraph {
		{s1 s2} -> s3
		s3 -> s4 [headlabel=1]; s1 -> s4 [headlabel=2]
		s2 -> s5 [headlabel=2]; s4 -> s5 [headlabel=1]
		s3 -> y [headlabel=2]; s5 -> y [headlabel=1]
	}`))
	if err != nil {
		t.Fatal(err)
	}
	return map[string][][]int{
		"k = 2":  graph.NGram(5, 2).Parents(),
		"k = 3":  graph.NGram(5, 3).Parents(),
		"random": graph.RandomDAG(5, 2, 0.2, num.Stream(1, "multi/graph")).Parents(),
		"mixed":  {{}, {0}, {1, 0}, {1, 2, 0}, {0, 3}, {4, 1}},
		"DOT":    file.Parents(),
	}
}

// sequences returns all sequences in lexicographic order.
func sequences(m Multi) [][]int {
	n := 1
	for range m.Graph.T() {
		n *= m.Prior.S
	}
	all := make([][]int, n)
	for k := range all {
		all[k] = sequence(k, m.Prior.S, m.Graph.T())
	}
	return all
}

// urn returns P(x) and the mean of the label's law given x. With the tensors
// integrated out, each token is drawn from the posterior mean of its row, as from
// an urn of Polya's.
func urn(m Multi, x []int) (p float64, y []float64) {
	s, alpha := m.Prior.S, m.Prior.Alpha
	p = 1
	urns := map[string][]float64{}
	for i, ps := range m.Graph.Parents() {
		key := strconv.Itoa(len(ps))
		for _, q := range ps {
			key += "," + strconv.Itoa(x[q])
		}
		if urns[key] == nil {
			urns[key] = slices.Repeat([]float64{alpha}, s)
		}
		u, sum := urns[key], 0.0
		for _, v := range u {
			sum += v
		}
		switch {
		case i == len(x):
			for _, v := range u {
				y = append(y, v/sum)
			}
		case len(ps) == 0 && m.UniformRoots:
			p /= float64(s)
		default:
			p *= u[x[i]] / sum
			u[x[i]]++
		}
	}
	return p, y
}

// quadrature returns P(x) and the mean of the label's law given x for every
// sequence of a task with S = 2 and alpha = 1/2, as sums of Probability over
// tensors. Under this prior an entry of a row is cos^2 of a uniform angle, and
// the mean over n equally spaced angles (Gauss-Chebyshev) is exact for
// polynomials of degree below 2n in it, where the degree is at most the number
// of nodes that share the tensor.
func quadrature(t *testing.T, m Multi) (p []float64, y [][]float64) {
	t.Helper()
	if m.Prior.S != 2 || m.Prior.Alpha != 0.5 {
		t.Fatal("quadrature is for S = 2 and alpha = 1/2")
	}
	pi, nodes := Tensors{}, map[int]int{}
	for _, ps := range m.Graph.Parents() {
		pi[len(ps)] = make([]float64, 2<<len(ps))
		nodes[len(ps)]++
	}
	var rows [][]float64
	var rules []int
	for k, tensor := range pi {
		for r := 0; r < len(tensor); r += 2 {
			rows, rules = append(rows, tensor[r:r+2]), append(rules, nodes[k]/2+1)
		}
	}
	all := sequences(m)
	p, y = make([]float64, len(all)), make([][]float64, len(all))
	for k := range y {
		y[k] = make([]float64, 2)
	}
	var sum func(r int, w float64)
	sum = func(r int, w float64) {
		if r == len(rows) {
			for k, x := range all {
				q, law := m.Probability(pi, x)
				p[k] += w * q
				for a := range law {
					y[k][a] += w * q * law[a]
				}
			}
			return
		}
		n := rules[r]
		for j := range n {
			c := math.Cos(math.Pi / 4 * float64(2*j+1) / float64(n))
			rows[r][0], rows[r][1] = c*c, 1-c*c
			sum(r+1, w/float64(n))
		}
	}
	sum(0, 1)
	for k := range y {
		for a := range y[k] {
			y[k][a] /= p[k]
		}
	}
	return p, y
}

func TestMultiPosteriorIsTheQuadrature(t *testing.T) {
	for name, parents := range graphs(t) {
		for _, uniform := range []bool{false, true} {
			m := multi(t, parents, 2, 0.5)
			m.UniformRoots = uniform
			p, y := quadrature(t, m)
			f := make([]float64, 2)
			for k, x := range sequences(m) {
				q, u := urn(m, x)
				m.Posterior(f, x)
				if math.Abs(q/p[k]-1) > 1e-13 {
					t.Errorf("%s: P(%v) is %v by urns and %v by quadrature", name, x, q, p[k])
				}
				for a := range f {
					if math.Abs(f[a]-y[k][a]) > 1e-13 || math.Abs(u[a]-y[k][a]) > 1e-13 {
						t.Errorf("%s: posterior mean after %v is %v, by urns %v, by quadrature %v", name, x, f, u, y[k])
					}
				}
			}
		}
	}
}

func TestGivenIsThePosteriorOfTheThinnedGraph(t *testing.T) {
	for name, parents := range graphs(t) {
		m := multi(t, parents, 2, 0.5)
		k := len(parents[m.Graph.T()])
		kept := [][]int{{0}, {k - 1}}
		if k == 3 {
			kept = append(kept, []int{0, 2})
		}
		for _, indices := range kept {
			thin := m.Graph.Parents()
			for i, ps := range thin {
				thin[i] = nil
				for _, l := range indices {
					if len(ps) == k {
						thin[i] = append(thin[i], ps[l])
					}
				}
			}
			_, y := quadrature(t, multi(t, thin, 2, 0.5))
			f := make([]float64, 2)
			for n, x := range sequences(m) {
				m.GivenParents(f, x, indices...)
				if math.Abs(f[0]-y[n][0]) > 1e-13 || math.Abs(f[1]-y[n][1]) > 1e-13 {
					t.Errorf("%s: with parents %d after %v: %v, by quadrature %v", name, indices, x, f, y[n])
				}
			}
		}
	}
	f := make([]float64, 2)
	multi(t, graph.NGram(6, 2).Parents(), 2, 0.5).GivenParents(f, []int{1, 1, 0, 1, 0, 0})
	if f[0] != (0.5+3)/(1+4) {
		t.Errorf("without parents, the share of three tokens of four is %v, want 0.7", f[0])
	}
}

// Sampled sequences and the mean of their labels' laws against the exact ones:
// by quadrature of Probability, and for another alpha and S by urns. A right
// sampler fails in one of 10^6 choices of the seed for each chi-squared value,
// and in one of 2 * 10^6 for each mean.
func TestMultiSamplerLaw(t *testing.T) {
	const n, falseAlarm = 100_000, 5e-7
	limit := distuv.UnitNormal.Quantile(1 - falseAlarm/2)
	for name, parents := range graphs(t) {
		for _, test := range []struct {
			s       int
			alpha   float64
			uniform bool
			defined bool // the sequences of Multi.Draw
		}{{2, 0.5, false, false}, {2, 0.5, true, false}, {3, 0.35, false, false}, {2, 0.5, true, true}} {
			m := multi(t, parents, test.s, test.alpha)
			m.UniformRoots = test.uniform
			b, fill := m.NewBatch(n), m.NewSampler().Fill
			if test.defined {
				fill = drawn(m.Draw)
			}
			fill(b, num.Stream(1, "multi"))
			all := sequences(m)
			cells := len(all)
			seen, label, pairs := make([]float64, cells), make([]float64, cells), make([]float64, cells*cells)
			last := 0
			for k := range n {
				x, y := b.Seq(k)
				c := index(x, test.s)
				seen[c]++
				label[c] += y[0]
				pairs[last*cells+c] += float64(k % 2)
				last = c
			}
			p, y, product := make([]float64, cells), make([][]float64, cells), make([]float64, cells*cells)
			for c, x := range all {
				p[c], y[c] = urn(m, x)
			}
			if test.s == 2 {
				p, y = quadrature(t, m)
			}
			for c, x := range all {
				mean := label[c] / seen[c]
				if z := (mean - y[c][0]) / (0.5 / math.Sqrt(seen[c])); seen[c] > 50 && math.Abs(z) > limit {
					t.Errorf("%s: mean label law after %v is %v, want %v", name, x, mean, y[c][0])
				}
			}
			for c := range product {
				product[c] = p[c/cells] * p[c%cells]
			}
			// A sequence is independent of the one before it: it has other tensors. Pairs of three states are too rare.
			one, two := chiSquare(seen, p), 0.0
			if test.s == 2 {
				two = chiSquare(pairs, product)
			}
			if max(one, two) > 1 {
				t.Errorf("%s, %+v: chi-squared is %.2f of its 1-1e-6 quantile, %.2f for pairs", name, test, one, two)
			}
		}
	}
}

// A batch depends only on its stream, not on earlier draws of the sampler, and a short
// one is the beginning of a long one.
func TestBatchDependsOnlyOnItsStream(t *testing.T) {
	d, err := markov.NewDirichlet(3, 0.5)
	if err != nil {
		t.Fatal(err)
	}
	one := Task{Graph: graph.InContext(9), Prior: d}
	multi := Multi{Graph: graph.NGram(9, 2), Prior: d}
	for name, c := range map[string]struct {
		fill func(*Batch, *rand.PCG)
		room func(int) *Batch
	}{"one parent": {one.NewSampler().Fill, one.NewBatch}, "several parents": {multi.NewSampler().Fill, multi.NewBatch}} {
		first, again, short := c.room(100), c.room(100), c.room(19)
		c.fill(first, num.Stream(1, "test"))
		c.fill(again, num.Stream(2, "test"))
		if slices.Equal(first.X, again.X) {
			t.Errorf("%s: two streams give one batch", name)
		}
		c.fill(again, num.Stream(1, "test"))
		c.fill(short, num.Stream(1, "test"))
		if !slices.Equal(first.X, again.X) || !slices.Equal(first.Y, again.Y) {
			t.Errorf("%s: another batch of the same stream", name)
		}
		if !slices.Equal(short.X, first.X[:len(short.X)]) || !slices.Equal(short.Y, first.Y[:len(short.Y)]) {
			t.Errorf("%s: a short batch is not the beginning of a long one", name)
		}
	}
}

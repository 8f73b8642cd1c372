package model

import "learncausal/pkg/graph"

// A Construction is a two-layer disentangled transformer with explicit weights for a graph: Construction 1
// (construct-single) for a forest or Construction 2 (construct-multi) for a graph with k parents.
type Construction struct {
	S       int     // tokens
	parents [][]int // of each position, none for a root
	asked   []int   // the positions whose tokens the query compares, one for each head
	label   bool    // asked are the label's parents (Construction 2), not the query itself
}

// ConstructionOne returns Construction 1 of the forest over s tokens. It panics if s is below one.
func ConstructionOne(g *graph.Forest, s int) *Construction {
	must(sizeError(s, g.T()))
	c := &Construction{S: s, parents: make([][]int, g.T()), asked: []int{g.T() - 1}}
	for _, e := range g.Edges() {
		c.parents[e[1]] = []int{e[0]}
	}
	return c
}

// ConstructionTwo returns Construction 2 of the graph over s tokens. It panics
// if the nodes with parents do not have equally many, or s is below one.
func ConstructionTwo(g *graph.DAG, s int) *Construction {
	must(sizeError(s, g.T()))
	if _, err := g.Uniform(); err != nil {
		panic("model: " + err.Error())
	}
	nodes, t := g.Parents(), g.T()
	return &Construction{S: s, parents: nodes[:t], asked: nodes[t], label: true}
}

// copied returns the positions that the heads of the first layer copy to position i, one each; none for a root,
// which attends to 0, ..., i equally. In Construction 2 the last position copies the label's parents.
func (c *Construction) copied(i int) []int {
	if c.label && i == len(c.parents)-1 {
		return c.asked
	}
	return c.parents[i]
}

// Weights returns the weights at finite scales:
//
//	(A1_l)_ij = beta1 1(j = p(i)_l)        position-position block of head l
//	A2        = beta2 I_S                  between the compared token blocks
//	W         = I_S                        of the token block of attn(h1; A2)
//
// The second layer compares the token copied to a position with the query's own token in
// Construction 1, and with the token copied to the query in Construction 2. It panics if a
// scale is NaN or infinite; Limit has the limit of large scales.
func (c *Construction) Weights(beta1, beta2 float64) *Weights {
	checkFinite("beta1", beta1)
	checkFinite("beta2", beta2)
	s, t, k := c.S, len(c.parents), len(c.asked)
	w := NewWeights(s, t, k, 1)
	d := s + t
	for l := range k {
		for i := range t {
			if ps := c.copied(i); len(ps) > 0 {
				w.A[0][l].Set(s+i, s+ps[l], beta1)
			}
		}
		query := 0
		if c.label {
			query = (l + 1) * d
		}
		for a := range s {
			w.A[1][0].Set(query+a, (l+1)*d+a, beta2)
		}
	}
	for a := range s {
		w.W.Set((k+1)*d+a, a, 1)
	}
	return w
}

// Attended returns the positions that the query attends to, equally, in the limit beta1 -> inf and then beta2
// -> inf: those with the largest score
//
//	sum_l 1(x_{p(i)_l} = a_l)                       position i has parents
//	sum_l #{j <= i : x_j = a_l} / (i+1)             position i is a root
//
// where a_l is the query's token, or in Construction 2 the token of the label's parent l; there the query's own
// parents are the label's. Roots after a constant prefix are among them (construct-single-step-limit-corrected,
// construct-multi-step-limit). It panics if x has another length than the graph, or a token outside 0..S-1.
func (c *Construction) Attended(x []int) []int {
	must(Check(x, nil, c.S, len(c.parents)))
	var best []int
	num, den, seen := -1, 1, 0
	for i, a := range x {
		for _, q := range c.asked {
			if a == x[q] {
				seen++
			}
		}
		n, d := seen, i+1
		if ps := c.copied(i); len(ps) > 0 {
			n, d = 0, 1
			for l, p := range ps {
				if x[p] == x[c.asked[l]] {
					n++
				}
			}
		}
		switch diff := n*den - num*d; {
		case diff > 0:
			best, num, den = []int{i}, n, d
		case diff == 0:
			best = append(best, i)
		}
	}
	return best
}

// Matches returns the positions that enter the empirical transition: the positions whose
// parents have the query's token, or the tokens of the label's parents. It panics if x has
// another length than the graph, or a token outside 0..S-1.
func (c *Construction) Matches(x []int) []int {
	must(Check(x, nil, c.S, len(c.parents)))
	var at []int
	for i, ps := range c.parents {
		same := len(ps) > 0
		for l, p := range ps {
			same = same && x[p] == x[c.asked[l]]
		}
		if same {
			at = append(at, i)
		}
	}
	return at
}

// Limit writes to f, of length S, the exact limit of the construction's output, the law of x_i for
// i uniform on Attended(x). It panics if f or x has another length, or x a token outside 0..S-1.
func (c *Construction) Limit(f []float64, x []int) {
	checkLength("f", f, c.S)
	law(f, x, c.Attended(x))
}

// Empirical writes to f, of length S, the empirical transition, the law of x_i for i uniform on
// Matches(x). Without matches it returns false and leaves f alone. It panics if f or x
// has another length, or x a token outside 0..S-1.
func (c *Construction) Empirical(f []float64, x []int) bool {
	checkLength("f", f, c.S)
	at := c.Matches(x)
	if at != nil {
		law(f, x, at)
	}
	return at != nil
}

func law(f []float64, x, at []int) {
	clear(f)
	for _, i := range at {
		f[x[i]] += 1 / float64(len(at))
	}
}

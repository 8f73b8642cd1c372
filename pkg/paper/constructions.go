package paper

import (
	"fmt"
	"math"

	"learncausal/pkg/figure"
	"learncausal/pkg/graph"
	"learncausal/pkg/model"
)

// A Construction is a two-layer disentangled transformer whose weights are
// written down from the graph: Construction 1 of a forest (construct-single) or
// Construction 2 of a graph with k parents (construct-multi).
type Construction struct {
	S int // tokens
	// parents[i][l] is the position that head l of the first layer copies to
	// position i; nothing for a root, which attends to 0, ..., i equally.
	parents [][]int
	last    []int // the parents of the last position in the graph
	heads   int
	// The second layer compares what was copied to a position with the query's
	// token (Construction 1) or with what was copied to the query.
	byParents bool
}

// ConstructionOne returns Construction 1 of the forest over s tokens.
func ConstructionOne(g *graph.Forest, s int) *Construction {
	c := &Construction{S: s, heads: 1}
	for _, p := range g.Parents() {
		var ps []int
		if p != graph.Root {
			ps = []int{p}
		}
		c.parents = append(c.parents, ps)
	}
	return c
}

// ConstructionTwo returns Construction 2 of the graph over s tokens. The row of
// the last position serves the label: its heads copy the label's parents. It
// panics if the nodes with parents do not have equally many.
func ConstructionTwo(g *graph.DAG, s int) *Construction {
	k, err := g.Uniform()
	if err != nil {
		panic("paper: " + err.Error())
	}
	nodes := g.Parents()
	last := g.T() - 1
	own := nodes[last]
	nodes[last] = nodes[last+1]
	return &Construction{S: s, parents: nodes[:last+1], last: own, heads: k, byParents: true}
}

// Weights returns the weights at finite scales:
//
//	(A1_l)_ij = beta1 1(j = p(i)_l)        position-position block of head l
//	A2        = beta2 I_S                  between what is compared
//	W         = I_S                        of the token block of attn(h1; A2)
func (c *Construction) Weights(beta1, beta2 float64) *model.Weights {
	s, t, k := c.S, len(c.parents), c.heads
	w := model.NewWeights(s, t, k, 1)
	d := s + t
	wide := (k + 1) * d
	for i, ps := range c.parents {
		for l, p := range ps {
			w.A[0][l][(s+i)*d+s+p] = beta1
		}
	}
	for l := range k {
		query := 0
		if c.byParents {
			query = (l + 1) * d
		}
		for a := range s {
			w.A[1][0][(query+a)*wide+(l+1)*d+a] = beta2
		}
	}
	for a := range s {
		w.W[(wide+a)*s+a] = 1
	}
	return w
}

// Attended returns the positions that the query attends to, equally, in the
// limit beta1 -> inf and then beta2 -> inf: those with the largest score
//
//	sum_l 1(x_{p(i)_l} = a_l)                       position i has parents
//	sum_l #{j <= i : x_j = a_l} / (i+1)             position i is a root
//
// where a_l is the query's token, or that of its parent l in Construction 2.
// So roots behind a constant prefix take part (construct-single-step-limit-corrected,
// construct-multi-step-limit).
func (c *Construction) Attended(x []int) []int {
	last := len(c.parents) - 1
	if len(x) != last+1 {
		panic(fmt.Sprintf("paper: sequence of length %d, want %d", len(x), last+1))
	}
	var best []int
	num, den := -1, 1
	for i, ps := range c.parents {
		n, d := 0, 1
		if len(ps) == 0 {
			d = i + 1
		}
		for l := range c.heads {
			a := c.wanted(x, l)
			if len(ps) > 0 {
				n += count(x[ps[l]:ps[l]+1], a)
			} else {
				n += count(x[:i+1], a)
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

// wanted returns a_l.
func (c *Construction) wanted(x []int, l int) int {
	last := len(x) - 1
	if c.byParents {
		return x[c.parents[last][l]]
	}
	return x[last]
}

func count(x []int, a int) int {
	n := 0
	for _, v := range x {
		if v == a {
			n++
		}
	}
	return n
}

// Limit writes to f the exact limit of the construction's output, the law of
// x_i for i uniform on the positions attended to.
func (c *Construction) Limit(f []float64, x []int) {
	at := c.Attended(x)
	clear(f)
	for _, i := range at {
		f[x[i]] += 1 / float64(len(at))
	}
}

// Empirical writes to f the empirical transition from the query's token, or from
// the tokens of the label's parents: the law of x_i for i uniform on the
// positions of the graph whose parents have these tokens. It returns false, and
// leaves f alone, if there is none.
func (c *Construction) Empirical(f []float64, x []int) bool {
	var at []int
	for i, ps := range c.parents {
		if i == len(x)-1 {
			ps = c.last
		}
		same := len(ps) > 0
		for l, p := range ps {
			same = same && x[p] == c.wanted(x, l)
		}
		if same {
			at = append(at, i)
		}
	}
	if at == nil {
		return false
	}
	clear(f)
	for _, i := range at {
		f[x[i]] += 1 / float64(len(at))
	}
	return true
}

// A ConstructionError are mean total-variation distances over all S^T sequences,
// equally likely.
type ConstructionError struct {
	Finite float64 // between the construction at finite scales and its exact limit
	Limit  float64 // between the limit and the empirical transition, where that is defined
	Total  float64 // between the construction at finite scales and the empirical transition
}

// Errors enumerates all sequences, with beta1 = beta2 = beta.
func (c *Construction) Errors(beta float64) ConstructionError {
	var e ConstructionError
	w := c.Weights(beta, beta)
	limit, empirical := make([]float64, c.S), make([]float64, c.S)
	n, defined := 0.0, 0.0
	x := make([]int, w.T)
	for {
		f := w.Linear(x).RawRowView(w.T - 1)
		c.Limit(limit, x)
		e.Finite += totalVariation(f, limit)
		n++
		if c.Empirical(empirical, x) {
			e.Limit += totalVariation(limit, empirical)
			e.Total += totalVariation(f, empirical)
			defined++
		}
		i := w.T - 1
		for ; i >= 0 && x[i] == c.S-1; i-- {
			x[i] = 0
		}
		if i < 0 {
			break
		}
		x[i]++
	}
	return ConstructionError{e.Finite / n, e.Limit / defined, e.Total / defined}
}

// ConstructionErrorFigure draws how far both constructions are from the empirical
// transition, by scale and length.
func ConstructionErrorFigure() *figure.Figure {
	f := &figure.Figure{
		ID: "fig-construction-error", Width: figure.TwoColumns,
		Caption: `Error of the constructions against the empirical transition, by the scale $\beta_1=\beta_2=\beta$: total-variation distance averaged over all sequences of two tokens for which it is defined, by enumeration. What remains as $\beta$ grows is the distance of the exact limit: roots, and in Construction 2 the query itself, are counted along.`,
	}
	var betas []float64
	for b := 1.0; b < 100; b *= math.Sqrt2 {
		betas = append(betas, b)
	}
	var row []figure.Panel
	for _, k := range []struct {
		title string
		of    func(t int) *Construction
	}{
		{"Construction 1, chain", func(t int) *Construction { return ConstructionOne(graph.Chain(t), 2) }},
		{"Construction 2, 3-gram", func(t int) *Construction { return ConstructionTwo(graph.NGram(t, 2), 2) }},
	} {
		a := &figure.Axes{
			Title: figure.Text(k.title),
			X:     figure.Axis{Label: figure.Label{Text: "Scale β", TeX: `Scale $\beta$`}, Log: true},
			Y:     figure.Axis{Label: figure.Text("Mean distance"), Min: 0, Max: 0.5},
		}
		for _, t := range []int{6, 8, 10} {
			s := figure.Series{Label: figure.Text(fmt.Sprintf("T = %d", t)), X: betas}
			for _, b := range betas {
				s.Y = append(s.Y, k.of(t).Errors(b).Total)
			}
			a.Series = append(a.Series, s)
		}
		row = append(row, a)
	}
	f.Rows = [][]figure.Panel{row}
	return f
}

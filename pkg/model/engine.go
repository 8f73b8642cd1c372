package model

import "fmt"

// An engine is that of a disentangled transformer with m heads in the first
// layer and n in the second. It rests on three exact facts:
//
//   - A row of h0 is two-hot (token, position), so whatever multiplies the row at
//     position j is a look-up at the joint index r_j = j*S + x_j in a table that
//     is built once for the weights.
//   - Only the last position is read: layer 2 has a single query, T-1.
//   - The gradient with respect to each layer-1 attention is then of rank two for
//     each head of layer 2.
type engine struct {
	s, t, m, n int
	d, wide    int // d = S+T and (1+m) d, the widths of h0 and h1

	head []headTables // m

	// Layer 2. A2_l^T h1_{T-1} = query[l][x_{T-1}] + sum_h sum_j P_h[T-1,j] head[h].key[l][r_j].
	query [][]float64 // n, each S x (1+m)d

	// Output. With R_l the layer-2 attentions of the query, block b of W, of d
	// rows, meets block b of h2_{T-1}: base for its token and position, then
	// out[b-1] for P_1[T-1], ..., P_m[T-1], and for each l for R_l, R_l P_1, ...,
	// R_l P_m.
	base []float64   // S x S
	out  [][]float64 // m + n(1+m), each TS x S
}

// headTables are the tables of one head of layer 1.
type headTables struct {
	scores
	key [][]float64 // for each head of layer 2, TS x (1+m)d
}

// NewEngine returns an engine loaded with w. It panics if w has not two layers.
func (w *Weights) NewEngine() Engine {
	w.check()
	if len(w.A) != 2 {
		panic(fmt.Sprintf("model: engine for %d layers, want 2", len(w.A)))
	}
	s, t, m, n := w.S, w.T, len(w.A[0]), len(w.A[1])
	d, ts := s+t, s*t
	wide := (1 + m) * d
	e := &engine{
		s: s, t: t, m: m, n: n, d: d, wide: wide, head: make([]headTables, m),
		query: zeros(n, s*wide), base: make([]float64, s*s), out: zeros(m+n*(1+m), ts*s),
	}
	for h := range e.head {
		e.head[h] = headTables{newScores(s, t), zeros(n, ts*wide)}
	}
	e.Load(w)
	return e
}

// Load builds the tables for the weights w, of type [*Weights].
func (e *engine) Load(m Model) {
	w := e.weights(m)
	s, t, d, wide := e.s, e.t, e.d, e.wide
	for k := range s {
		for l, a2 := range w.A[1] {
			addTo(e.query[l][k*wide:(k+1)*wide], a2[k*wide:], a2[(s+t-1)*wide:])
		}
		addTo(e.base[k*s:(k+1)*s], w.W[k*s:], w.W[(s+t-1)*s:])
	}
	for h := range e.head {
		e.head[h].load(w.A[0][h])
	}
	for r := range t * s {
		j, k := r/s, r%s
		for h := range e.head {
			for l, a2 := range w.A[1] {
				rows := a2[(h+1)*d*wide:]
				addTo(e.head[h].key[l][r*wide:(r+1)*wide], rows[k*wide:], rows[(s+j)*wide:])
			}
		}
		for b := range e.out {
			rows := w.W[(b+1)*d*s:]
			addTo(e.out[b][r*s:(r+1)*s], rows[k*s:], rows[(s+j)*s:])
		}
	}
}

// AddTo is the backward pass of Load.
func (g *gradient) AddTo(m Model, c float64) {
	w := g.e.weights(m)
	s, t, d, wide := g.e.s, g.e.t, g.e.d, g.e.wide
	for k := range s {
		for l, a2 := range w.A[1] {
			axpy(a2[k*wide:(k+1)*wide], c, g.query[l][k*wide:])
			axpy(a2[(s+t-1)*wide:(s+t)*wide], c, g.query[l][k*wide:])
		}
		axpy(w.W[k*s:(k+1)*s], c, g.base[k*s:])
		axpy(w.W[(s+t-1)*s:(s+t)*s], c, g.base[k*s:])
	}
	for h := range g.head {
		g.head[h].addTo(w.A[0][h], c)
	}
	for r := range t * s {
		j, k := r/s, r%s
		for h := range g.head {
			for l, a2 := range w.A[1] {
				rows := a2[(h+1)*d*wide:]
				axpy(rows[k*wide:(k+1)*wide], c, g.head[h].key[l][r*wide:])
				axpy(rows[(s+j)*wide:(s+j+1)*wide], c, g.head[h].key[l][r*wide:])
			}
		}
		for b := range g.out {
			rows := w.W[(b+1)*d*s:]
			axpy(rows[k*s:(k+1)*s], c, g.out[b][r*s:])
			axpy(rows[(s+j)*s:(s+j+1)*s], c, g.out[b][r*s:])
		}
	}
}

// weights returns m as weights of the size of the engine.
func (e *engine) weights(m Model) *Weights {
	w, ok := m.(*Weights)
	if !ok {
		panic(fmt.Sprintf("model: the engine of a disentangled transformer was given a %T", m))
	}
	if h := w.heads(); w.S != e.s || w.T != e.t || len(h) != 2 || h[0] != e.m || h[1] != e.n {
		panic(fmt.Sprintf("model: engine for S=%d, T=%d, heads [%d %d] given weights for S=%d, T=%d, heads %v",
			e.s, e.t, e.m, e.n, w.S, w.T, h))
	}
	w.check()
	return w
}

// own returns g as a gradient of e.
func (e *engine) own(g Gradient) *gradient {
	own, ok := g.(*gradient)
	if !ok || own.e != e {
		panic(otherGradient)
	}
	return own
}

const otherGradient = "model: gradient of another engine than that of the pass"

// outOf returns the tables for R_l, R_l P_1, ..., R_l P_m among those of the
// output.
func (e *engine) outOf(out [][]float64, l int) [][]float64 { return out[e.m+l*(1+e.m):] }

// A gradient is that of an engine: of each of its tables.
type gradient struct {
	e   *engine
	sum []float64 // all of the following

	head       []headGradient
	query, out [][]float64
	base       []float64
}

type headGradient struct {
	scoresGradient
	key [][]float64
}

// Sum returns the gradients by all tables.
func (g *gradient) Sum() []float64 { return g.sum }

// NewGradient returns a zero gradient.
func (e *engine) NewGradient() Gradient {
	tables := append(append([][]float64{e.base}, e.query...), e.out...)
	for h := range e.head {
		tables = append(append(tables, e.head[h].posLogit, e.head[h].tokLogit), e.head[h].key...)
	}
	sum, parts := like(tables)
	g := &gradient{e: e, sum: sum, base: parts[0], query: parts[1 : 1+e.n]}
	g.out, parts = parts[1+e.n:1+e.n+len(e.out)], parts[1+e.n+len(e.out):]
	for range e.head {
		g.head = append(g.head, headGradient{scoresGradient{e.s, e.t, parts[0], parts[1]}, parts[2 : 2+e.n]})
		parts = parts[2+e.n:]
	}
	return g
}

// like returns zero arrays of the sizes of the given ones, one after the other in
// sum.
func like(tables [][]float64) (sum []float64, parts [][]float64) {
	total := 0
	for _, t := range tables {
		total += len(t)
	}
	sum = make([]float64, total)
	rest := sum
	for _, t := range tables {
		n := len(t)
		parts, rest = append(parts, rest[:n:n]), rest[n:]
	}
	return sum, parts
}

// MeanAttention returns the mean of S(MASK(h0 A1 h0^T)) over sequences.
func (e *engine) MeanAttention(x []int) [][][]float64 {
	p := e.newPass()
	heads := make([]*rows, e.m)
	for h := range heads {
		heads[h] = &p.head[h].rows
	}
	return meanAttention(x, e.s, e.t, heads, p.forward)
}

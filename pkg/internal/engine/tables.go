package engine

import (
	"gonum.org/v1/gonum/mat"

	"learncausal/pkg/internal/simd"
	"learncausal/pkg/model"
)

// An engine holds the tables of a disentangled transformer with m heads in the first
// layer and n in the second. It rests on three exact facts:
//
//   - A row of h0 is two-hot (token, position). Its product with a matrix is the sum of
//     two rows, and the attention of layer 1 is a product of four factors.
//   - Only the last position is read: layer 2 has a single query, T-1.
//   - The gradient by each attention of layer 1 then has rank two for each head of
//     layer 2, and one more in its last row.
//
// Layer 2 and the output of a sequence are therefore products of a vector and a matrix,
// and of two matrices for a block of sequences.
type engine struct {
	s, t, m, n int
	d, wide    int // S+T and (1+m) d, the widths of h0 and h1
	shape      shape

	head  []headTable   // one per head of layer 1
	layer []layerTables // n: A2_l, wide x wide
	out   layerTables   // W, (1+n) wide x S
}

// layerTables hold a matrix that multiplies a stream from the right. Its first d rows
// meet h0_{T-1}, which is two-hot with a known position.
type layerTables struct {
	query simd.Matrix // S x columns: row s is the sum of the rows of token s and position T-1
	rest  simd.Matrix // the rows from d on
	back  simd.Matrix // the transpose of rest
}

func newLayerTables(s, rows, columns int) layerTables {
	return layerTables{aligned(s, columns), aligned(rows, columns), aligned(columns, rows)}
}

// aligned returns a zero matrix, rows x cols, whose rows begin at a multiple of eight
// numbers: a vector across two cache lines costs more to read.
func aligned(rows, cols int) simd.Matrix {
	down := simd.Padded(cols)
	return simd.Matrix{Rows: rows, Cols: cols, Down: down, Right: 1, Data: make([]float64, rows*down)}
}

// newEngine returns an engine loaded with w. It panics if w has not two layers.
func newEngine(w *model.Weights) *engine {
	s, t, m, n := w.S, w.T, len(w.A[0]), len(w.A[1])
	d := s + t
	wide := (1 + m) * d
	e := &engine{s: s, t: t, m: m, n: n, d: d, wide: wide, shape: shapeOf(w), out: newLayerTables(s, (1+n)*wide-d, s)}
	for range m {
		e.head = append(e.head, newHeadTable(s, t))
	}
	for range n {
		e.layer = append(e.layer, newLayerTables(s, wide-d, wide))
	}
	e.Load(w)
	return e
}

// Load builds the tables for the weights w, of type [*model.Weights].
func (e *engine) Load(m model.Model) {
	e.shape.check(m)
	w := m.(*model.Weights)
	for h, a1 := range w.A[0] {
		e.head[h].load(a1.RawMatrix().Data)
	}
	for l, a2 := range w.A[1] {
		e.layer[l].load(e.s, e.t, a2.RawMatrix().Data)
	}
	e.out.load(e.s, e.t, w.W.RawMatrix().Data)
}

// load builds the tables of a matrix, row-major.
func (l *layerTables) load(s, t int, matrix []float64) {
	n, d := l.rest.Cols, s+t
	for k := range s {
		addTo(rowOf(l.query, k), matrix[k*n:], matrix[(d-1)*n:])
	}
	for i := range l.rest.Rows {
		copy(rowOf(l.rest, i), matrix[(d+i)*n:])
	}
	transpose(l.back, l.rest)
}

// AddTo is the backward pass of Load.
func (g *gradient) AddTo(m model.Model, c float64) {
	e := g.e
	e.shape.check(m)
	w := m.(*model.Weights)
	for h, a1 := range w.A[0] {
		e.head[h].addTo(a1.RawMatrix().Data, g.head[h], c)
	}
	for l, a2 := range w.A[1] {
		g.layer[l].addTo(a2.RawMatrix().Data, e.s, e.t, c)
	}
	g.out.addTo(w.W.RawMatrix().Data, e.s, e.t, c)
}

// addTo is the backward pass of load: it adds c times the gradient to the matrix.
func (l *layerGradient) addTo(matrix []float64, s, t int, c float64) {
	n, d := l.query.Cols, s+t
	for k := range s {
		axpy(matrix[k*n:(k+1)*n], c, rowOf(l.query, k))
		axpy(matrix[(d-1)*n:d*n], c, rowOf(l.query, k))
	}
	for i := range l.rest.Rows {
		row := matrix[(d+i)*n : (d+i+1)*n]
		addColumn(row, c, l.rest.Data[i*l.rest.Down:], l.rest.Right)
	}
}

// A gradient is the gradient by the factors of each head and by the rows of each matrix.
type gradient struct {
	e   *engine
	sum []float64 // all of the following

	head  []simd.Factors // by the logarithms of the factors
	layer []layerGradient
	out   layerGradient
}

// A layerGradient is the gradient by the tables of a matrix.
type layerGradient struct {
	query simd.Matrix
	rest  simd.Matrix // for the output, which has few columns, a transpose
}

// own returns g as a gradient of e.
func (e *engine) own(g Gradient) *gradient {
	own, ok := g.(*gradient)
	if !ok || own.e != e {
		panic(otherGradient)
	}
	return own
}

func (g *gradient) Sum() []float64 { return g.sum }

func (e *engine) NewGradient() Gradient {
	size := len(e.out.query.Data) + len(e.out.back.Data) + e.m*factorSize(e.s, e.t)
	for _, l := range e.layer {
		size += len(l.query.Data) + len(l.rest.Data)
	}
	g := &gradient{e: e, sum: make([]float64, size)}
	rest := g.sum
	for range e.head {
		g.head = append(g.head, factorsIn(cut(&rest, factorSize(e.s, e.t)), e.s, e.t))
	}
	like := func(m simd.Matrix) simd.Matrix {
		m.Data = cut(&rest, len(m.Data))
		return m
	}
	for _, l := range e.layer {
		g.layer = append(g.layer, layerGradient{like(l.query), like(l.rest)})
	}
	g.out = layerGradient{like(e.out.query), like(e.out.back).T()}
	return g
}

func (e *engine) MeanAttention(x []int) []*mat.Dense { return meanAttention(x, e.s, e.t, e.head...) }

// meanAttention returns the attention of each head, T x T, averaged over the sequences in x.
func meanAttention(x []int, s, t int, heads ...headTable) []*mat.Dense {
	n := sequences(x, t)
	for k := range n {
		check(x[k*t:(k+1)*t], nil, s, t)
	}
	tokens, p := make([]int, simd.Padded(t)), simd.NewAttention(t, s)
	all := make([]*mat.Dense, len(heads))
	for h := range all {
		all[h] = mat.NewDense(t, t, nil)
		for k := range n {
			copy(tokens, x[k*t:(k+1)*t])
			heads[h].attend(p, tokens)
			keys := p.Keys()
			for i := range t {
				addColumn(all[h].RawRowView(i)[:i+1], 1/float64(n), keys.Data[i:], keys.Down)
			}
		}
	}
	return all
}

package model

import (
	"cmp"
	"fmt"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"learncausal/pkg/num"
)

// A node is a value of a forward pass, and its part of the backward pass.
type node struct {
	v, d *mat.Dense         // the value, and the gradient of the loss by it
	back func(d *mat.Dense) // adds to the gradients by the operands, given the gradient by the value
	held [][]int            // entries that an edit has set: they do not depend on the operands
}

// A tape records the values of a forward pass in their order. Each operation appends a node.
type tape struct {
	nodes  []*node
	named  map[string]*node // activations
	params map[string]*node // parameters, under the names of Matrices
	edits  []edit
	err    error // of an edit whose matrix has another size than its activation
}

// A Transformer is a model with a forward pass: [*Weights], [*MLP] or [*Standard]. Its pass ends with the logits.
type Transformer interface{ pass(t *tape, x []int) }

// record returns the tape of a forward pass with edits.
func record(w Transformer, x []int, edits []edit) *tape {
	t := &tape{named: map[string]*node{}, params: map[string]*node{}, edits: edits}
	w.pass(t, x)
	return t
}

// add appends a value, an activation if it has a name.
func (t *tape) add(name string, v *mat.Dense, back func(d *mat.Dense)) *node {
	n := &node{v: v, back: back}
	t.nodes = append(t.nodes, n)
	if name != "" {
		t.named[name] = n
		for _, e := range t.edits {
			if e.name == name {
				t.err = cmp.Or(t.err, e.apply(n))
			}
		}
	}
	return n
}

// param appends a parameter.
func (t *tape) param(name string, m *mat.Dense) *node {
	t.params[name] = t.add("", m, func(*mat.Dense) {})
	return t.params[name]
}

// mul appends a b.
func (t *tape) mul(name string, a, b *node) *node {
	return t.add(name, product(a.v, b.v), func(d *mat.Dense) {
		a.d.Add(a.d, product(d, b.v.T()))
		b.d.Add(b.d, product(a.v.T(), d))
	})
}

// mulT appends a b^T.
func (t *tape) mulT(name string, a, b *node) *node {
	return t.add(name, product(a.v, b.v.T()), func(d *mat.Dense) {
		a.d.Add(a.d, product(d, b.v))
		b.d.Add(b.d, product(d.T(), a.v))
	})
}

func product(a, b mat.Matrix) *mat.Dense {
	var c mat.Dense
	c.Mul(a, b)
	return &c
}

// softmax appends S(MASK(a)): the softmax of the first i+1 entries of row i, and zeros.
func (t *tape) softmax(name string, a *node) *node {
	n, _ := a.v.Dims()
	p := mat.NewDense(n, n, nil)
	for i := range n {
		num.LogSumExp(p.RawRowView(i)[:i+1], a.v.RawRowView(i)[:i+1])
	}
	return t.add(name, mat.DenseCopyOf(p), func(d *mat.Dense) { // an edit does not change p
		for i := range n { // da = p (d - <p, d>)
			da, prob, row := a.d.RawRowView(i), p.RawRowView(i)[:i+1], d.RawRowView(i)
			mean := dot(prob, row)
			for j, q := range prob {
				da[j] += float64(q * (row[j] - mean))
			}
		}
	})
}

// sum appends the sum of nodes, a copy of a single one.
func (t *tape) sum(name string, all ...*node) *node {
	v := mat.DenseCopyOf(all[0].v)
	for _, a := range all[1:] {
		v.Add(v, a.v)
	}
	return t.add(name, v, func(d *mat.Dense) {
		for _, a := range all {
			a.d.Add(a.d, d)
		}
	})
}

// concat appends [a_1, a_2, ...].
func (t *tape) concat(name string, all ...*node) *node {
	v := mat.DenseCopyOf(all[0].v)
	for _, a := range all[1:] {
		v = concat(v, a.v)
	}
	return t.add(name, v, func(d *mat.Dense) {
		at := 0
		for _, a := range all {
			rows, cols := a.v.Dims()
			a.d.Add(a.d, d.Slice(0, rows, at, at+cols))
			at += cols
		}
	})
}

// concat returns [a, b].
func concat(a, b *mat.Dense) *mat.Dense {
	var c mat.Dense
	c.Augment(a, b)
	return &c
}

// rows appends the rows x of a.
func (t *tape) rows(name string, a *node, x []int) *node {
	_, cols := a.v.Dims()
	v := mat.NewDense(len(x), cols, nil)
	for i, k := range x {
		v.SetRow(i, a.v.RawRowView(k))
	}
	return t.add(name, v, func(d *mat.Dense) {
		for i, k := range x {
			floats.Add(a.d.RawRowView(k), d.RawRowView(i))
		}
	})
}

// shift appends a with c b, b a row, added to each of its rows.
func (t *tape) shift(name string, a, b *node, c float64) *node {
	var v mat.Dense
	v.Apply(func(_, k int, x float64) float64 { return x + float64(c*b.v.At(0, k)) }, a.v)
	return t.add(name, &v, func(d *mat.Dense) {
		a.d.Add(a.d, d)
		rows, _ := d.Dims()
		for i := range rows {
			addScaled(b.d.RawRowView(0), c, d.RawRowView(i))
		}
	})
}

// relu appends max(0, a).
func (t *tape) relu(name string, a *node) *node {
	var v mat.Dense
	v.Apply(func(_, _ int, x float64) float64 { return max(0, x) }, a.v)
	return t.add(name, &v, func(d *mat.Dense) {
		a.d.Apply(func(i, k int, x float64) float64 {
			if a.v.At(i, k) > 0 {
				return x + d.At(i, k)
			}
			return x
		}, a.d)
	})
}

// attention appends attn(h; A) = S(MASK(h A h^T)) h of head i of layer l, both counted from 0 (Definition 1).
// h: T x d; a: d x d.
func (t *tape) attention(l, i int, h, a *node) *node {
	at := fmt.Sprintf("layer%d.head%d.", l+1, i+1)
	query, key, value := t.sum(at+"query", h), t.sum(at+"key", h), t.sum(at+"value", h)
	scores := t.mulT(at+"scores", t.mul("", query, a), key)
	return t.mul(at+"out", t.softmax(at+"pattern", scores), value)
}

// patterns returns the attention of each head of each layer.
func (t *tape) patterns() (all [][]*mat.Dense) {
	for l := 1; ; l++ {
		var layer []*mat.Dense
		for h := 1; ; h++ {
			n := t.named[fmt.Sprintf("layer%d.head%d.pattern", l, h)]
			if n == nil {
				break
			}
			layer = append(layer, n.v)
		}
		if layer == nil {
			return all
		}
		all = append(all, layer)
	}
}

// output returns the softmax f of the last row of the logits, and -sum_s y_s log f_s, or 0 without y.
func (t *tape) output(y []float64) (f []float64, loss float64) {
	logits := t.nodes[len(t.nodes)-1].v
	n, s := logits.Dims()
	f = make([]float64, s)
	last := logits.RawRowView(n - 1)
	logZ := num.LogSumExp(f, last)
	for k, p := range y {
		loss += float64(p * (logZ - last[k]))
	}
	return f, loss
}

// byLogits returns the gradient of -sum_s y_s log f_s by the logits of a pass that ends with them.
func (t *tape) byLogits(f, y []float64) *mat.Dense {
	rows, s := t.nodes[len(t.nodes)-1].v.Dims()
	d := mat.NewDense(rows, s, nil)
	floats.SubTo(d.RawRowView(rows-1), f, y) // since y sums to one
	return d
}

// backward sets the gradient of the loss by every node, given the gradient by the last one.
func (t *tape) backward(last *mat.Dense) {
	for _, n := range t.nodes {
		rows, cols := n.v.Dims()
		n.d = mat.NewDense(rows, cols, nil)
	}
	t.nodes[len(t.nodes)-1].d = last
	for i := len(t.nodes) - 1; i >= 0; i-- {
		n, d := t.nodes[i], t.nodes[i].d
		if len(n.held) > 0 {
			d = mat.DenseCopyOf(d)
		}
		for _, index := range n.held {
			part(d, index).Zero()
		}
		n.back(d)
	}
}

// evaluate returns the output and the loss of a model, and adds the gradient of the loss to grad unless y is nil.
func evaluate(w Transformer, x []int, y []float64, grad Model) (f []float64, loss float64) {
	t := record(w, x, nil)
	f, loss = t.output(y)
	if y == nil || grad == nil {
		return f, loss
	}
	t.backward(t.byLogits(f, y))
	t.addTo(grad)
	return f, loss
}

// addTo adds the gradient by the parameters to grad.
func (t *tape) addTo(grad Model) {
	for _, m := range grad.Matrices() {
		if !m.Fixed {
			floats.Add(m.Data, t.params[m.Name].d.RawMatrix().Data)
		}
	}
}

// addScaled adds c x to dst.
func addScaled(dst []float64, c float64, x []float64) {
	dst = dst[:len(x)]
	for i, v := range x {
		dst[i] += float64(c * v)
	}
}

// dot returns sum_i a_i b_i.
func dot(a, b []float64) (sum float64) {
	b = b[:len(a)]
	for i, v := range a {
		sum += float64(v * b[i])
	}
	return sum
}

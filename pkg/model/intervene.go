package model

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"

	"learncausal/internal/names"
)

// Activations are the values of a forward pass by name, or the gradients of the loss by them. Layers and heads
// count from 1 and positions from 0, as in the names of Matrices and in At. At each position t:
//
//	name                  size     value                                 of              TransformerLens
//	tokens, positions     T x d    E[x_t], P[t]                          MLP, Standard   hook_embed, hook_pos_embed
//	stream0               T x d_0  h0                                    all             blocks.0.hook_resid_pre
//	layer1.head1.query    T x d_0  h0 as the left side of h A h^T        all             blocks.0.hook_q_input
//	layer1.head1.key      T x d_0  h0 as the right side                  all             blocks.0.hook_k_input
//	layer1.head1.scores   T x T    h0 A h0^T; not read above diagonal    all             blocks.0.attn.hook_attn_scores
//	layer1.head1.pattern  T x T    S(MASK(h0 A h0^T))                    all             blocks.0.attn.hook_pattern
//	layer1.head1.value    T x d_0  h0, of which the pattern takes means  all             blocks.0.hook_v_input
//	layer1.head1.out      T x d_0  attn(h0; A)                           all             -
//	layer1.head1.result   T x d    attn(h0; A) V                         MLP, Standard   blocks.0.attn.hook_result
//	layer1.middle         T x d    z                                     residual MLP    blocks.0.hook_resid_mid
//	layer1.pre            T x d    z In + sqrt(d) BIn                    MLP             blocks.0.mlp.hook_pre
//	layer1.hidden         T x d    relu of it                            MLP             blocks.0.mlp.hook_post
//	layer1.mlp            T x d    mlp(z)                                MLP             blocks.0.hook_mlp_out
//	stream1               T x d_1  h1                                    all             blocks.0.hook_resid_post
//	logits                T x S    h_L W                                 all             the output
//
// A position, or a position and an entry, may follow a name: layer2.head1.pattern[5,2] is the attention of
// position 5 on position 2, and stream1[3] is row 3.
type Activations map[string]*mat.Dense

// An Edit replaces activations under their names by matrices of the same sizes, a row for a position. A nil
// matrix stands for zeros. Rows replace entries of whole activations, and entries replace entries of rows.
type Edit map[string]mat.Matrix

// Ablate returns the edit that sets the activations to zero.
func Ablate(names ...string) Edit {
	e := Edit{}
	for _, name := range names {
		e[name] = nil
	}
	return e
}

// At returns an activation, a row or an entry of it, and shares its memory. It returns an error if there is none.
func (a Activations) At(name string) (*mat.Dense, error) {
	e, err := parse(name, nil)
	if err != nil {
		return nil, err
	}
	m := a[e.name]
	if m == nil {
		return nil, unknown("activation", e.name, slices.Sorted(maps.Keys(a)))
	}
	return e.of(m)
}

// Take returns the edit that sets the named activations to their values here: a patch, if they are the
// activations on another sequence. It returns an error if a name is unknown.
func (a Activations) Take(names ...string) (Edit, error) {
	e := Edit{}
	for _, name := range names {
		m, err := a.At(name)
		if err != nil {
			return nil, err
		}
		e[name] = m
	}
	return e, nil
}

// Mean returns the mean of activations of one model. It panics if there are none, or if they differ in shape.
func Mean(all []Activations) Activations {
	if len(all) == 0 {
		panic("model: the mean of no activations")
	}
	mean := Activations{}
	for name, first := range all[0] {
		sum := mat.NewDense(first.RawMatrix().Rows, first.RawMatrix().Cols, nil)
		for _, a := range all {
			checkDims(name, a[name], first.RawMatrix().Rows, first.RawMatrix().Cols)
			sum.Add(sum, a[name])
		}
		sum.Scale(1/float64(len(all)), sum)
		mean[name] = sum
	}
	return mean
}

// A Pass is a forward pass with its activations.
type Pass struct {
	Activations
	F    []float64 // the distribution after the sequence, the softmax of the last row of the logits
	tape *tape
}

// Run returns the forward pass of m, a [*Weights], [*MLP] or [*Standard], on the sequence x. It sets the
// activations of the edit in the order of the pass, so that later ones depend on them. It returns an error if
// the edit names no activation or has a matrix of another size, and panics where Forward of m does.
func Run(m Transformer, x []int, e Edit) (*Pass, error) {
	if w, ok := m.(Model); ok {
		must(w.Validate())
	}
	var all []edit
	for _, at := range slices.Sorted(maps.Keys(e)) {
		part, err := parse(at, e[at])
		if err != nil {
			return nil, err
		}
		all = append(all, part)
	}
	slices.SortStableFunc(all, func(a, b edit) int { return len(a.index) - len(b.index) })
	t := record(m, x, all)
	for _, part := range all {
		if t.named[part.name] == nil {
			return nil, unknown("activation", part.name, slices.Sorted(maps.Keys(t.named)))
		}
	}
	if t.err != nil {
		return nil, t.err
	}
	p := &Pass{Activations: Activations{}, tape: t}
	for name, n := range t.named {
		p.Activations[name] = n.v
	}
	p.F, _ = t.output(nil)
	return p, nil
}

// Loss returns -sum_s y_s log F_s in nats. It panics if y is no target, see [CheckTarget].
func (p *Pass) Loss(y []float64) float64 {
	must(CheckTarget(y, len(p.F)))
	_, loss := p.tape.output(y)
	return loss
}

// Gradient returns the gradient of Loss(y) by each activation. Entries that an edit has set have a gradient too, and
// no effect on the gradient by earlier activations. It panics if y is no target, see [CheckTarget].
func (p *Pass) Gradient(y []float64) Activations {
	must(CheckTarget(y, len(p.F)))
	p.tape.backward(p.tape.byLogits(p.F, y))
	all := Activations{}
	for name, n := range p.tape.named {
		all[name] = n.d
	}
	return all
}

// An edit is an entry of an [Edit].
type edit struct {
	at    string // as in the Edit
	name  string
	index []int // nothing, a row, or a row and a column
	to    mat.Matrix
}

var places = regexp.MustCompile(`^([^\[\]]*)(?:\[(\d{1,9})(?:,(\d{1,9}))?\])?$`)

func parse(at string, to mat.Matrix) (edit, error) {
	m := places.FindStringSubmatch(at)
	if m == nil {
		return edit{}, fmt.Errorf("model: activation %q, want a form such as stream1, stream1[3] or stream1[3,0]", at)
	}
	e := edit{at: at, name: m[1], to: to}
	for _, digits := range m[2:] {
		if n, err := strconv.Atoi(digits); err == nil {
			e.index = append(e.index, n)
		}
	}
	return e, nil
}

// of returns the entries of m.
func (e edit) of(m *mat.Dense) (*mat.Dense, error) {
	rows, cols := m.Dims()
	for k, size := range []int{rows, cols}[:len(e.index)] {
		if e.index[k] >= size {
			return nil, fmt.Errorf("model: %s of a matrix of %d x %d, want indices below its size", e.at, rows, cols)
		}
	}
	return part(m, e.index), nil
}

// apply sets the entries of a node.
func (e edit) apply(n *node) error {
	to, err := e.of(n.v)
	if err != nil {
		return err
	}
	n.held = append(n.held, e.index)
	if e.to == nil {
		to.Zero()
		return nil
	}
	r, c := to.Dims()
	if rows, cols := e.to.Dims(); rows != r || cols != c {
		return fmt.Errorf("model: an edit of %s by a matrix of %d x %d, want %d x %d", e.at, rows, cols, r, c)
	}
	to.Copy(e.to)
	return nil
}

// part returns m, a row or an entry of it, sharing its memory.
func part(m *mat.Dense, index []int) *mat.Dense {
	rows, cols := m.Dims()
	from, to := [2]int{}, [2]int{rows, cols}
	for k, i := range index {
		from[k], to[k] = i, i+1
	}
	return m.Slice(from[0], to[0], from[1], to[1]).(*mat.Dense)
}

// unknown returns the error of a name that is not among all.
func unknown(what, name string, all []string) error {
	return fmt.Errorf("model: no %s %q, want one such as %s", what, name, strings.Join(names.Nearest(name, all), ", "))
}

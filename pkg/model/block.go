package model

import (
	"fmt"
	"regexp"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// A Part is a range of columns of a stream of the disentangled transformer.
type Part struct {
	Name     string
	From, To int // columns From..To-1
}

// Parts returns the parts of the stream h_l, l = 0..len(A), in their order:
//
//	h_0      tokens, positions
//	h_{l+1}  the parts of h_l, and for each head i of layer l+1 the parts with the prefix layer<l+1>.head<i>
//
// It panics if there is no such stream.
func (w *Weights) Parts(l int) []Part {
	if l < 0 || l > len(w.A) {
		panic(fmt.Sprintf("model: stream %d of %d layers", l, len(w.A)))
	}
	if l == 0 {
		return []Part{{"tokens", 0, w.S}, {"positions", w.S, w.S + w.T}}
	}
	below := w.Parts(l - 1)
	all, width := below, below[len(below)-1].To
	for i := range w.A[l-1] {
		for _, p := range below {
			name := fmt.Sprintf("layer%d.head%d.%s", l, i+1, p.Name)
			all = append(all, Part{name, p.From + (i+1)*width, p.To + (i+1)*width})
		}
	}
	return all
}

var blocks = regexp.MustCompile(`^([^\[\],]*)(?:\[([^\[\],]+)(?:,([^\[\],]+))?\])?$`)

// Block returns a matrix of w under its name in Matrices, such as A2-1 for head 1 of layer 2, or a block of it, and
// shares its memory. A block of a disentangled transformer has names of [Weights.Parts]: of its rows and its columns
// in an attention matrix, of its rows in W:
//
//	A1[positions,positions]         the position-position block of layer 1
//	A2[tokens,layer1.head1.tokens]  compares the query's token with the token that head 1 copied to the key
//	W[layer2.head1.tokens]          reads the token that layer 2 copied
//
// It returns an error if there is no such matrix or part.
func Block(w Model, name string) (*mat.Dense, error) {
	at := blocks.FindStringSubmatch(name)
	if at == nil {
		return nil, fmt.Errorf("model: block %q, want a form such as A1 or A1[positions,positions]", name)
	}
	var all []string
	for _, m := range w.Matrices() {
		if m.Name != at[1] {
			all = append(all, m.Name)
			continue
		}
		whole := mat.NewDense(m.Rows, m.Cols, m.Data)
		if at[2] == "" {
			return whole, nil
		}
		d, ok := w.(*Weights)
		if !ok || (m.Name == "W") != (at[3] == "") {
			return nil, fmt.Errorf("model: block %q, want %s, or of a disentangled transformer "+
				"A1[tokens,tokens] or W[tokens]", name, m.Name)
		}
		return d.within(whole, m.Name, at[2], at[3])
	}
	return nil, unknown("matrix", at[1], all)
}

// within returns the entries of the matrix m in the rows of a part and the columns of another, all if it is empty.
func (w *Weights) within(m *mat.Dense, name, row, col string) (*mat.Dense, error) {
	layer := len(w.A)
	if name != "W" {
		_, err := fmt.Sscanf(name, "A%d", &layer)
		must(err)
		layer--
	}
	rows, cols := m.Dims()
	at := [2]Part{{"", 0, rows}, {"", 0, cols}}
	for k, name := range []string{row, col} {
		if name == "" {
			continue
		}
		parts := w.Parts(layer)
		i := slices.IndexFunc(parts, func(p Part) bool { return p.Name == name })
		if i < 0 {
			var all []string
			for _, p := range parts {
				all = append(all, p.Name)
			}
			return nil, unknown(fmt.Sprintf("part of stream %d", layer), name, all)
		}
		at[k] = parts[i]
	}
	return m.Slice(at[0].From, at[0].To, at[1].From, at[1].To).(*mat.Dense), nil
}

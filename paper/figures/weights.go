package figures

import (
	"fmt"
	"strconv"

	"gonum.org/v1/gonum/mat"

	"learncausal/internal/figure"
	"learncausal/pkg/graph"
	"learncausal/pkg/model"
)

// A Graph is the causal graph of either task, a [*graph.Forest] or a [*graph.DAG].
type Graph interface{ T() int }

// WeightsFigure draws all weights of a disentangled transformer in the layout of Figure 2: the
// causal graph, the attention matrices layer by layer, and the output matrix. It is as wide as
// two columns, or wider if the labels need it. It returns an error for another model, for
// matrices that do not match w.S and w.T, and for a graph on other than w.T positions.
func WeightsFigure(id string, w model.Model, g Graph) (*figure.Figure, error) {
	d, ok := w.(*model.Weights)
	if !ok || d == nil {
		return nil, fmt.Errorf("figures: weights of a %T, want those of a disentangled transformer, *model.Weights", w)
	}
	if g == nil || g.T() != d.T {
		return nil, fmt.Errorf("figures: weights over T = %d positions beside the graph %v, want one on as many", d.T, g)
	}
	if err := d.Validate(); err != nil {
		return nil, fmt.Errorf("figures: %w", err)
	}
	f := &figure.Figure{ID: id, Caption: weightsCaption(d)}
	var first []*figure.Panel
	switch g := g.(type) {
	case *graph.Forest:
		forest := &figure.Forest{Parents: g.Parents(), Query: g.Parent(g.T()-1) == graph.Root}
		f.Rows = [][]*figure.Panel{{figure.Causal("Causal graph", forest)}}
	case *graph.DAG:
		first = []*figure.Panel{dagMatrix("Causal graph", g)}
	default:
		return nil, fmt.Errorf("figures: a graph of type %T, want a *graph.Forest or a *graph.DAG", g)
	}
	attention, out := weightMatrices(d)
	if len(attention) == 2 && len(attention[0])+len(attention[1]) == 2 && first == nil {
		attention = [][]*figure.Panel{{attention[0][0], attention[1][0]}}
	}
	for _, layer := range attention {
		f.Rows, first = append(f.Rows, append(first, layer...)), nil
	}
	f.Rows = append(f.Rows, append(first, out))
	least, err := f.LeastWidth()
	f.Width = max(figure.TwoColumns, least)
	return f, err
}

func weightsCaption(w *model.Weights) string {
	caption := `All weights of the model below the causal graph; each colour scale covers all entries of its matrix.`
	if singleHeads(w) {
		caption += ` The outlined blocks are those that the paper says training grows.`
	} else {
		caption += ` Outlined is where the first layer compares positions.`
	}
	if narrow(w.S, token) || narrow(w.T, position) {
		caption += ` $X$ marks the coordinates of the tokens, $I$ those of the positions.`
	}
	return caption
}

// singleHeads reports whether the model has two layers with one head each, as in the paper's theorems.
func singleHeads(w *model.Weights) bool {
	return len(w.A) == 2 && len(w.A[0]) == 1 && len(w.A[1]) == 1
}

// narrow reports whether a block of n columns, of 3 points each, is too narrow for a name.
func narrow(n int, name string) bool { return figure.TextWidth(name, 7)+2 > 3*float64(n) }

// innermost returns n times (S tokens, T positions).
func innermost(w *model.Weights, n int) []figure.Group {
	var groups []figure.Group
	for range n {
		groups = append(groups, figure.Group{Name: token, Short: shortToken, Size: w.S},
			figure.Group{Name: position, Short: shortPosition, Size: w.T})
	}
	return groups
}

// streamGroups names the coordinates of the residual stream that layer l, from 0, reads:
// tokens and positions, and in an outer head the parts of the stream.
func streamGroups(w *model.Weights, l int) [][]figure.Group {
	d := w.S + w.T
	parts := []figure.Group{{Name: `$\widetilde X$`, Size: d}}
	for k, layer := range w.A[:l] {
		for h := range layer {
			parts = append(parts, figure.Group{
				Name: "$" + attentionOf(k, headName(layer, h)) + "$", Size: d,
				Short: "$" + matrixLabel(k, headName(layer, h)) + "$",
			})
		}
		d *= 1 + len(layer)
	}
	return [][]figure.Group{innermost(w, d/(w.S+w.T)), parts}
}

// headName is the number of a head, from 1, empty if it is the only one.
func headName(layer []*mat.Dense, h int) string {
	if len(layer) == 1 {
		return ""
	}
	return strconv.Itoa(h + 1)
}

// matrixLabel returns the symbol of a matrix of layer l, from 0.
func matrixLabel(l int, head string) string {
	label := fmt.Sprintf(`\widetilde A^{(%d)}`, l+1)
	if head != "" {
		label += "_{" + head + "}"
	}
	return label
}

// attentionOf returns the name of the output of a head of layer l, from 0.
func attentionOf(l int, head string) string {
	of := `\widetilde X`
	if l > 0 {
		of = fmt.Sprintf("h^{(%d)}", l)
	}
	return `\mathrm{attn}(` + of + `;` + matrixLabel(l, head) + `)`
}

// weightMatrices returns the attention matrices by layer and head, and W_O. The three blocks of the sparsity
// pattern are outlined if singleHeads, and otherwise the position blocks of the first layer.
func weightMatrices(w *model.Weights) (attention [][]*figure.Panel, out *figure.Panel) {
	d := w.S + w.T
	for l, layer := range w.A {
		var row []*figure.Panel
		for h, a := range layer {
			p, m := weightMatrix("$"+matrixLabel(l, headName(layer, h))+"$", a, streamGroups(w, l), streamGroups(w, l))
			switch {
			case l == 0:
				m.Blocks, m.Numbered = [][4]int{{w.S, w.S, w.T, w.T}}, true
			case singleHeads(w):
				m.Blocks = [][4]int{{0, d, w.S, w.S}}
			}
			row = append(row, p)
		}
		attention = append(attention, row)
	}
	rows := [][]figure.Group{{{Name: token, Short: shortToken, Size: w.S}}}
	out, m := weightMatrix(titleW, w.W.T(), rows, streamGroups(w, len(w.A)))
	if singleHeads(w) {
		m.Blocks = [][4]int{{0, 2 * d, w.S, w.S}}
	}
	return attention, out
}

// weightMatrix returns a panel of weights with the names of their blocks.
func weightMatrix(title string, m mat.Matrix, rows, columns [][]figure.Group) (*figure.Panel, *figure.Heat) {
	p, h := figure.Matrix(title, matrixRows(m), true)
	h.Rows, h.Columns = rows, columns
	return p, h
}

// dagMatrix draws the (T+1) x T adjacency matrix of a graph of Task 2. Its last row is the row of the label.
func dagMatrix(title string, g *graph.DAG) *figure.Panel { return adjacencyMatrix(title, dagRows(g)) }

func dagRows(g *graph.DAG) (rows [][]float64) {
	for _, ps := range g.Parents() {
		row := make([]float64, g.T())
		for _, p := range ps {
			row[p] = 1
		}
		rows = append(rows, row)
	}
	return rows
}

func matrixRows(m mat.Matrix) [][]float64 {
	n, _ := m.Dims()
	rows := make([][]float64, n)
	for i := range rows {
		rows[i] = mat.Row(nil, i, m)
	}
	return rows
}

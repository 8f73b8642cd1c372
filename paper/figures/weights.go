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
	var first []figure.Panel
	switch g := g.(type) {
	case *graph.Forest:
		f.Rows = [][]figure.Panel{{&figure.Graph{
			Title: figure.Text("Causal graph"), Parents: g.Parents(), Query: g.Parent(g.T()-1) == graph.Root,
		}}}
	case *graph.DAG:
		first = []figure.Panel{dagMatrix(g)}
	default:
		return nil, fmt.Errorf("figures: a graph of type %T, want a *graph.Forest or a *graph.DAG", g)
	}
	attention, out := weightMatrices(d)
	if len(attention) == 2 && len(attention[0])+len(attention[1]) == 2 && first == nil {
		attention = [][]*figure.Matrix{{attention[0][0], attention[1][0]}}
	}
	for _, layer := range attention {
		row := first
		for _, m := range layer {
			row = append(row, m)
		}
		f.Rows, first = append(f.Rows, row), nil
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
func narrow(n int, name figure.Label) bool { return name.Width(7)+2 > 3*float64(n) }

// blockOf returns a group of n columns with its name, or with its symbol if it is narrow.
func blockOf(n int, name, symbol figure.Label) figure.Group {
	if narrow(n, name) {
		return figure.Group{Label: symbol, Size: n}
	}
	return figure.Group{Label: name, Size: n}
}

// innermost returns n times (S tokens, T positions).
func innermost(w *model.Weights, n int) []figure.Group {
	var groups []figure.Group
	for range n {
		groups = append(groups, blockOf(w.S, token, shortToken), blockOf(w.T, position, shortPosition))
	}
	return groups
}

// streamGroups names the coordinates of the residual stream that layer l, from 0, reads:
// tokens and positions, and in an outer head the parts of the stream.
func streamGroups(w *model.Weights, l int) [][]figure.Group {
	d := w.S + w.T
	parts := []figure.Group{{Label: figure.Label{Text: "X̃", TeX: `$\widetilde X$`}, Size: d}}
	for k, layer := range w.A[:l] {
		for h := range layer {
			parts = append(parts, figure.Group{Label: attentionOf(k, headName(layer, h)), Size: d})
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

// superscripted returns n in brackets and Unicode superscripts, as in A⁽¹⁾.
func superscripted(n int) string { return "⁽" + figure.Superscript(n) + "⁾" }

// matrixLabel returns Ã of layer l, from 0.
func matrixLabel(l int, head string) figure.Label {
	label := figure.Label{Text: "Ã" + superscripted(l+1), TeX: fmt.Sprintf(`\widetilde A^{(%d)}`, l+1)}
	if n, err := strconv.Atoi(head); err == nil {
		label.Text += figure.Subscript(n)
		label.TeX += "_{" + head + "}"
	}
	return label
}

// attentionOf returns the name of the output of a head of layer l, from 0.
func attentionOf(l int, head string) figure.Label {
	text, tex := "X̃", `\widetilde X`
	if l > 0 {
		text, tex = "h"+superscripted(l), fmt.Sprintf("h^{(%d)}", l)
	}
	a := matrixLabel(l, head)
	return figure.Label{Text: "attn(" + text + "; " + a.Text + ")", TeX: `$\mathrm{attn}(` + tex + `;` + a.TeX + `)$`}
}

// weightMatrices returns the attention matrices by layer and head, and W_O. The three blocks of the sparsity
// pattern are outlined if singleHeads, and otherwise the position blocks of the first layer.
func weightMatrices(w *model.Weights) (attention [][]*figure.Matrix, out *figure.Matrix) {
	signed := figure.Scale{Palette: figure.Signed}
	for l, layer := range w.A {
		var row []*figure.Matrix
		for h, a := range layer {
			title := matrixLabel(l, headName(layer, h))
			title.TeX = "$" + title.TeX + "$"
			m := &figure.Matrix{
				Title: title, Values: matrixRows(a), Scale: signed,
				Rows: streamGroups(w, l), Columns: streamGroups(w, l),
			}
			if l == 0 {
				m.Blocks = []figure.Block{{Row: w.S, Column: w.S, Rows: w.T, Columns: w.T}}
				m.Numbered = []int{1}
			}
			row = append(row, m)
		}
		attention = append(attention, row)
	}
	out = &figure.Matrix{
		Title: titleW, Values: matrixRows(w.W.T()), Scale: signed,
		Rows:    [][]figure.Group{{blockOf(w.S, token, shortToken)}},
		Columns: streamGroups(w, len(w.A)),
	}
	if singleHeads(w) {
		d := w.S + w.T
		attention[1][0].Blocks = []figure.Block{{Column: d, Rows: w.S, Columns: w.S}}
		out.Blocks = []figure.Block{{Column: 2 * d, Rows: w.S, Columns: w.S}}
	}
	return attention, out
}

// dagMatrix draws the (T+1) x T adjacency matrix of a graph of Task 2. Its last row is the row of the label.
func dagMatrix(g *graph.DAG) *figure.Matrix {
	var rows [][]float64
	for _, ps := range g.Parents() {
		row := make([]float64, g.T())
		for _, p := range ps {
			row[p] = 1
		}
		rows = append(rows, row)
	}
	return adjacencyMatrix("Causal graph", rows)
}

func matrixRows(m mat.Matrix) [][]float64 {
	n, _ := m.Dims()
	rows := make([][]float64, n)
	for i := range rows {
		rows[i] = mat.Row(nil, i, m)
	}
	return rows
}

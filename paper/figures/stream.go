package figures

import (
	"learncausal/internal/figure"
	"learncausal/pkg/graph"
)

// Sizes of the diagram of the stream.
const (
	streamToken    = 27.0 // width of a block of tokens
	streamPosition = 33.0
	streamHeight   = 15.0
	streamLeft     = 30.0
	streamRight    = 386.0 // of the matrices
	streamLabel    = 15.0  // space of a bracket and its label
)

// A streamRow is one residual stream, with alternating blocks of tokens and positions.
type streamRow struct {
	d figure.Pen
	y float64 // of its lower edge
}

func (r streamRow) x(k int) float64 {
	return streamLeft + float64((k+1)/2)*streamToken + float64(k/2)*streamPosition
}

func (r streamRow) middle(k int) float64 { return (r.x(k) + r.x(k+1)) / 2 }

// draw draws n blocks and the name of the stream.
func (r streamRow) draw(name string, n int) {
	r.d.Text(figure.Black, 8, -1, name, 0, r.y+streamHeight/2)
	for k := range n {
		ink, word := figure.Colors[0], "token"
		if k%2 == 1 {
			ink, word = figure.Colors[2], "position"
		}
		r.d.Box(ink, r.x(k), r.y, r.x(k+1)-r.x(k), streamHeight)
		r.d.Text(figure.Black, 6.5, 0, word, r.middle(k), r.y+streamHeight/2)
	}
}

// bracket labels the blocks from, ..., to-1 from above.
func (r streamRow) bracket(from, to int, label string) {
	const end = 2.0
	y, a, b := r.y+streamHeight+3.5, r.x(from)+1, r.x(to)-1
	r.d.Line(figure.Grey, 0.6, a, y, b, y)
	r.d.Line(figure.Grey, 0.6, a, y, a, y-end)
	r.d.Line(figure.Grey, 0.6, b, y, b, y-end)
	r.d.Text(figure.Black, 7, 0, label, (a+b)/2, y+6)
}

// read frames a block that a matrix reads in red.
func (r streamRow) read(k int) {
	r.d.Frame(figure.Red, 1.25, r.x(k), r.y, r.x(k+1)-r.x(k), streamHeight)
}

// A pattern draws a trained block in the square with the given side and upper left corner.
type pattern func(d figure.Pen, side, x, y float64)

// diagonal draws a multiple of the identity.
func diagonal(d figure.Pen, side, x, y float64) {
	d.Line(figure.Black, 0.9, x+1, y-1, x+side-1, y-side+1)
}

// adjacency draws the adjacency matrix of the paper's example, one row for each child.
func adjacency(d figure.Pen, side, x, y float64) {
	parents := graph.Figure1().Parents()
	cell := (side - 2) / float64(len(parents))
	for i, p := range parents {
		if p >= 0 {
			left, middle := x+1+float64(p)*cell, y-1-(float64(i)+0.5)*cell
			d.Line(figure.Black, cell, left, middle, left+cell, middle)
		}
	}
}

// streamMatrix draws a small matrix of blocks with its upper left corner at
// (streamRight, top), one of them framed and with a pattern.
func streamMatrix(
	d figure.Pen, name string, top float64, rows, columns, row, column int, draw pattern,
) {
	const small, large = 9.0, 12.5
	at := func(k int) float64 { return float64((k+1)/2)*small + float64(k/2)*large }
	d.Text(figure.Black, 8, 1, name, streamRight-4, top-at(rows)/2)
	for k := 1; k < rows; k++ {
		d.Line(figure.Grey, 0.4, streamRight, top-at(k), streamRight+at(columns), top-at(k))
	}
	for k := 1; k < columns; k++ {
		d.Line(figure.Grey, 0.4, streamRight+at(k), top, streamRight+at(k), top-at(rows))
	}
	d.Frame(figure.Grey, 0.6, streamRight, top-at(rows), at(columns), at(rows))
	x0, x1, y0, y1 := at(column), at(column+1), at(row), at(row+1)
	draw(d, x1-x0, streamRight+x0, top-y0)
	d.Frame(figure.Red, 1.25, streamRight+x0, top-y1, x1-x0, y1-y0)
}

// streamDiagram shows the blocks of the residual stream, layer by layer, and the blocks
// that each matrix reads. It explains the pictures of weights.
func streamDiagram() *figure.Figure {
	const w, h = 474, 238
	draw := func(d figure.Pen) {
		rows := [3]streamRow{{d, 203}, {d, 125}, {d, 47}}
		input := `$\widetilde X$`
		names := []string{
			"$h^{(0)}$", "$h^{(1)}$", "$h^{(2)}$",
		}
		for l, name := range names {
			rows[l].draw(name, 2<<l)
		}
		rows[0].bracket(0, 2, input)
		rows[1].bracket(0, 2, input)
		rows[1].bracket(2, 4, "$"+attentionOf(0, "")+"$")
		rows[2].bracket(0, 4, names[1])
		rows[2].bracket(4, 8, "$"+attentionOf(1, "")+"$")

		// The block that each matrix reads, and the blocks to which it writes.
		write := func(from streamRow, block int, to streamRow, target float64) {
			from.read(block)
			high := to.y + streamHeight + streamLabel
			d.Arrow(figure.Red, 0.8, false, from.middle(block), from.y-0.6, 270, target, high, 90, 0.16)
		}
		write(rows[0], 1, rows[1], rows[1].x(3))
		write(rows[1], 0, rows[2], rows[2].x(6)-2)
		write(rows[1], 2, rows[2], rows[2].x(6)+2)
		rows[2].read(4)
		out := rows[2].middle(4)
		d.Arrow(figure.Red, 0.8, false, out, rows[2].y-0.6, 0, out, 17, 0, 0)
		d.Text(figure.Black, 7.5, 0, "$f$", out, 10)

		note := func(x, y float64, lines ...string) {
			for k, line := range lines {
				d.Text(figure.Black, 7, -1, line, x, y-9*float64(k))
			}
		}
		note(rows[1].x(4)+22, 187, "compares the positions of query and key:", "each attends to its parent and copies it")
		note(rows[2].x(7)+4, 109, "compares the query’s token", "with the copied one of the key:",
			"selects the children of its symbol")
		note(out+16, 28, "reads the mean of the tokens", "selected: the prediction")
		d.Text(figure.Grey, 7, -1, "blocks of the weights", streamRight, h-30)
		streamMatrix(d, titleA1, 193, 2, 2, 1, 1, adjacency)
		streamMatrix(d, titleA2, 124, 4, 4, 0, 2, diagonal)
		streamMatrix(d, titleW, 26, 1, 8, 0, 4, diagonal)
	}
	return figure.OneRow(figure.TwoColumns,
		"Three rows of blocks, tokens and positions by turns, two, four and eight of them; red arrows lead from "+
			"the blocks that a matrix reads to those that it writes. At the right the blocks of the three "+
			"matrices, one framed in each.",
		`The disentangled residual stream. Each attention appends what it has read: $h^{(0)}=\widetilde X$ `+
			`holds a position's token and the position itself, $h^{(1)}$ a copy of both from the parent, $h^{(2)}$ `+
			`the mean of these four over the positions that are selected. Framed in red is what a matrix reads, `+
			`in the stream and, at the right, in the weights, where training grows a diagonal or, in `+
			`$\widetilde A^{(1)}$, the causal graph.`, figure.Drawing("", w, h, draw))
}

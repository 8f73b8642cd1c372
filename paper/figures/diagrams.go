package figures

import (
	"fmt"
	"slices"
	"strings"

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
	d *figure.Drawing
	y float64 // of its lower edge
}

func (r streamRow) x(k int) float64 {
	return streamLeft + float64((k+1)/2)*streamToken + float64(k/2)*streamPosition
}

func (r streamRow) middle(k int) float64 { return (r.x(k) + r.x(k+1)) / 2 }

// draw draws n blocks and the name of the stream.
func (r streamRow) draw(name figure.Label, n int) {
	r.d.Text(figure.Black, 8, -1, name, 0, r.y+streamHeight/2)
	for k := range n {
		ink, word := figure.Ink(1), "token"
		if k%2 == 1 {
			ink, word = 3, "position"
		}
		r.d.Box(ink, r.x(k), r.y, r.x(k+1)-r.x(k), streamHeight)
		r.d.Text(figure.Black, 6.5, 0, figure.Text(word), r.middle(k), r.y+streamHeight/2)
	}
}

// bracket labels the blocks from, ..., to-1 from above.
func (r streamRow) bracket(from, to int, label figure.Label) {
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
type pattern func(d *figure.Drawing, side, x, y float64)

// diagonal draws a multiple of the identity.
func diagonal(d *figure.Drawing, side, x, y float64) {
	d.Line(figure.Black, 0.9, x+1, y-1, x+side-1, y-side+1)
}

// adjacency draws the adjacency matrix of the paper's example, one row for each child.
func adjacency(d *figure.Drawing, side, x, y float64) {
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
	d *figure.Drawing, name figure.Label, top float64, rows, columns, row, column int, draw pattern,
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
	d := &figure.Drawing{W: 474, H: 238}
	rows := [3]streamRow{{d, 203}, {d, 125}, {d, 47}}
	input := figure.Label{Text: "X̃", TeX: `$\widetilde X$`}
	names := []figure.Label{
		{Text: "h⁽⁰⁾", TeX: "$h^{(0)}$"}, {Text: "h⁽¹⁾", TeX: "$h^{(1)}$"}, {Text: "h⁽²⁾", TeX: "$h^{(2)}$"},
	}
	for l, name := range names {
		rows[l].draw(name, 2<<l)
	}
	rows[0].bracket(0, 2, input)
	rows[1].bracket(0, 2, input)
	rows[1].bracket(2, 4, attentionOf(0, ""))
	rows[2].bracket(0, 4, names[1])
	rows[2].bracket(4, 8, attentionOf(1, ""))

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
	d.Text(figure.Black, 7.5, 0, figure.Label{Text: "f", TeX: "$f$"}, out, 10)

	note := func(x, y float64, lines ...string) {
		for k, line := range lines {
			d.Text(figure.Black, 7, -1, figure.Text(line), x, y-9*float64(k))
		}
	}
	note(rows[1].x(4)+22, 187, "compares the positions of query and key:", "each attends to its parent and copies it")
	note(rows[2].x(7)+4, 109, "compares the query’s token", "with the copied one of the key:",
		"selects the children of its symbol")
	note(out+16, 28, "reads the mean of the tokens", "selected: the prediction")
	d.Text(figure.Grey, 7, -1, figure.Text("blocks of the weights"), streamRight, d.H-30)
	streamMatrix(d, titleA1, 193, 2, 2, 1, 1, adjacency)
	streamMatrix(d, titleA2, 124, 4, 4, 0, 2, diagonal)
	streamMatrix(d, titleW, 26, 1, 8, 0, 4, diagonal)
	return oneRow(figure.TwoColumns,
		`The disentangled residual stream. Each attention appends what it has read: $h^{(0)}=\widetilde X$ `+
			`holds a position's token and the position itself, $h^{(1)}$ a copy of both from the parent, $h^{(2)}$ `+
			`the mean of these four over the positions that are selected. Framed in red is what a matrix reads, `+
			`in the stream and, at the right, in the weights, where training grows a diagonal or, in `+
			`$\widetilde A^{(1)}$, the causal graph.`, d)
}

// workedCounts counts each token at the positions whose parent has the query's token.
func workedCounts(g *graph.Forest, x []int) (counts []int, kept int) {
	counts = make([]int, slices.Max(x)+1)
	for i, a := range x {
		if p := g.Parent(i); p != graph.Root && x[p] == x[len(x)-1] {
			counts[a], kept = counts[a]+1, kept+1
		}
	}
	return counts, kept
}

// shares lists each token with its share of the kept tokens.
func shares(counts []int, kept int) string {
	var parts []string
	for a, c := range counts {
		parts = append(parts, fmt.Sprintf("%s: %d/%d", letter(a).Text, c, kept))
	}
	return strings.Join(parts, ", ")
}

// workedExample shows in three steps, on the sequence of Figure 3, how to continue a sequence with a known
// graph: look at the parents, keep the positions whose parent has the query's token, count.
func workedExample() *figure.Figure {
	g, x := graph.Figure1(), forwardPassTokens
	const left, column, w, h = 128.0, 40.0, 26.0, 15.0
	n, query := len(x), x[len(x)-1]
	d := &figure.Drawing{W: left + column*float64(n) + 8, H: 205}
	at := func(i int) float64 { return left + (float64(i)+0.5)*column }
	letterBox := func(i int, y float64, a int) {
		d.Box(figure.Ink(a+1), at(i)-w/2, y, w, h)
		d.Text(figure.Black, 8, 0, letter(a), at(i), y+h/2)
	}
	step := func(number string, y float64, lines ...string) {
		d.Text(figure.Black, 9, -1, figure.Text(number), 0, y+h/2)
		for k, line := range lines {
			d.Text(figure.Black, 7, -1, figure.Text(line), 14, y+h/2+(float64(len(lines)-1)/2-float64(k))*9)
		}
	}
	const tokens, parents, keep, count = 132.0, 90.0, 52.0, 14.0
	step("", tokens, "the sequence,", "with its causal graph")
	step("1", parents, "look at the parent’s token")
	step("2", keep, "keep where it is the query’s, "+letter(query).Text)
	step("3", count, "count what is kept")
	counts, kept := workedCounts(g, x)
	for i, a := range x {
		letterBox(i, tokens, a)
		if i == n-1 {
			d.Frame(figure.Black, 1.3, at(i)-w/2, tokens, w, h)
		}
		d.Text(figure.Black, 8, 0, figure.Node(i), at(i), tokens-7)
		p := g.Parent(i)
		if p == graph.Root {
			word := "root"
			if i == n-1 {
				word = "query"
			}
			d.Text(figure.Grey, 7, 0, figure.Text(word), at(i), parents+h/2)
			continue
		}
		span := at(i) - at(p)
		height := min(0.5*span, 48)
		d.Arrow(1, 0.9, false, at(p)+2, tokens+h+1, 60, at(i)-2, tokens+h+1, 120, height/(0.75*0.87*span))
		letterBox(i, parents, x[p])
		if x[p] != query {
			d.Text(figure.Grey, 8, 0, figure.Text("no"), at(i), keep+h/2)
			continue
		}
		d.Frame(figure.Black, 1.3, at(i)-w/2, parents, w, h)
		d.Text(figure.Black, 8, 0, figure.Text("yes"), at(i), keep+h/2)
		letterBox(i, count, a)
		d.Arrow(figure.Black, 0.7, true, at(i), keep+2, 0, at(i), count+h+1, 0, 0)
	}
	d.Text(figure.Red, 7.5, 0, figure.Text("f = ("+shares(counts, kept)+")"), (at(0)+at(2))/2, count+h/2)
	return oneRow(figure.FullText,
		fmt.Sprintf(`The prediction by hand, on the sequence of Figure 3. What follows the last token, the `+
			`query? The transition matrix is unknown, but the sequence shows it at work: each token was drawn given `+
			`its parent. Of the %d tokens with a parent, %d have one that equals the query; these %[2]d tokens are `+
			`the estimate.`, len(g.Edges()), kept), d)
}

// covariancePaths draws the argument of Lemma 19 (lem-covariance) and Appendix G.1
// (eq-strong-dpi): paths lead from the last common ancestor k to j and to i.
func covariancePaths() *figure.Figure {
	const toJ, toI = 2, 3
	covariance := pathTree(figure.Label{Text: "The covariance of two tokens", TeX: ""}, toJ, toI,
		func(int) (figure.Ink, figure.Label) { return 1, figure.Label{Text: "B", TeX: "$B$"} },
		figure.Label{Text: "[(B²)ᵀB³](s,s′), at most λ⁵", TeX: `$[(B^2)^\top B^3]_{s,s'}$, at most $\lambda^5$`})
	information := pathTree(figure.Text("The information of two tokens"), toJ, toI,
		func(k int) (figure.Ink, figure.Label) {
			if k == 0 {
				return figure.Red, figure.Label{Text: "|B|²", TeX: `$\|B\|_F^2$`}
			}
			return 1, figure.Label{Text: "× α", TeX: `$\times\,\alpha$`}
		},
		figure.Label{Text: "at most α⁴ |B|²", TeX: `at most $\alpha^4\,\|B\|_F^2$`})
	return oneRow(figure.TwoColumns,
		`Two positions $j$ and $i$ with their last common ancestor $k$, at the distances 2 and 3. (a)~Given `+
			`$s_k$ the two tokens are independent. Centred and normalised, each edge of a path is a factor $B_\pi$, `+
			`and the covariance of $s_j=s$ and $s_i=s'$, over $\sqrt{\mu_\pi(s)\mu_\pi(s')}$, is an entry of `+
			`$(B_\pi^{d(k,j)})^\top B_\pi^{d(k,i)}$: it decays like $\lambda^{d(i,j)}$ (Lemma 19). (b)~The walk from `+
			`$i$ to $j$ starts with the pair of $i$ and its parent, whose information is $\|B_\pi\|_F^2$; each `+
			`further step keeps at most the share $\alpha$ of it (Appendix G.1). So no position tells more about `+
			`$s_i$ than its parent.`, covariance, information)
}

// pathTree draws an ancestor with a path to j at the left and one to i at the right.
// edge returns colour and label of the k-th edge of the walk from i to j.
func pathTree(
	title figure.Label, toJ, toI int, edge func(k int) (figure.Ink, figure.Label), result figure.Label,
) *figure.Drawing {
	const dx, dy, r = 31.0, 30.0, 8.5
	d := &figure.Drawing{Title: title, W: 215, H: 30 + dy*float64(max(toJ, toI)) + 2*r + 4}
	top, x := d.H-r-2, 92.0
	place := func(k int) (float64, float64) { // of the k-th position of the walk
		side, depth := 1.0, float64(toI-k)
		if k > toI {
			side, depth = -1, float64(k-toI)
		}
		return x + side*dx*depth, top - dy*depth
	}
	for k := range toI + toJ {
		ink, label := edge(k)
		x0, y0 := place(k)
		x1, y1 := place(k + 1)
		width := 1.0
		if ink == figure.Red {
			width = 1.6
		}
		d.Line(ink, width, x0, y0, x1, y1)
		side := 1.0
		if k >= toI {
			side = -1
		}
		d.Text(figure.Black, 8, -int(side), label, (x0+x1)/2+6*side, (y0+y1)/2+4)
	}
	names := map[int]figure.Label{
		0: {Text: "sᵢ", TeX: "$s_i$"}, toI: {Text: "sₖ", TeX: "$s_k$"}, toI + toJ: {Text: "sⱼ", TeX: "$s_j$"},
	}
	for k := range toI + toJ + 1 {
		x0, y0 := place(k)
		d.Disc(figure.Black, x0, y0, r)
		d.Text(figure.Black, 8, 0, names[k], x0, y0)
	}
	px, py := place(1)
	d.Text(figure.Grey, 7, -1, figure.Label{Text: "p(i)", TeX: "$p(i)$"}, px+r+3, py+4)
	d.Text(figure.Red, 8, 0, result, x, 6)
	return d
}

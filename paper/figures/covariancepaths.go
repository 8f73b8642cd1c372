package figures

import (
	"image/color"

	"learncausal/internal/figure"
)

// covariancePaths draws the argument of Lemma 19 (lem-covariance) and Appendix G.1
// (eq-strong-dpi): paths lead from the last common ancestor k to j and to i.
func covariancePaths() *figure.Figure {
	const toJ, toI = 2, 3
	covariance := pathTree("The covariance of two tokens", toJ, toI,
		func(int) (color.RGBA, string) { return figure.Colors[0], "$B$" },
		`$[(B^2)^\top B^3]_{s,s'}$, at most $\lambda^5$`)
	information := pathTree("The information of two tokens", toJ, toI,
		func(k int) (color.RGBA, string) {
			if k == 0 {
				return figure.Red, `$\|B\|_F^2$`
			}
			return figure.Colors[0], `$\times\,\alpha$`
		},
		`at most $\alpha^4\,\|B\|_F^2$`)
	return figure.OneRow(figure.FullText,
		"Two trees: an ancestor with a path of two edges to j at the left and of three to i at the right. In "+
			"the first each edge is a factor B; in the second the last edge to i is red and each other one is "+
			"a factor alpha.",
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
	title string, toJ, toI int, edge func(k int) (color.RGBA, string), result string,
) *figure.Panel {
	const dx, dy, r = 31.0, 30.0, 8.5
	h := 14 + dy*float64(max(toJ, toI)) + 2*r + 4
	top, x := h-r-2, 80.0
	return figure.Drawing(title, 188, h, func(d figure.Pen) {
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
		names := map[int]string{
			0: "$s_i$", toI: "$s_k$", toI + toJ: "$s_j$",
		}
		for k := range toI + toJ + 1 {
			x0, y0 := place(k)
			d.Disc(figure.Black, x0, y0, r, figure.White)
			d.Text(figure.Black, 8, 0, names[k], x0, y0)
		}
		px, py := place(1)
		d.Text(figure.Grey, 7, -1, "$p(i)$", px+r+3, py+4)
		d.Text(figure.Black, 8, 0, result, x, 6)
	})
}

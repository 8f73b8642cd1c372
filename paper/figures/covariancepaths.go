package figures

import (
	"learncausal/internal/figure"
)

// covariancePaths draws the argument of Lemma 19 (lem-covariance) and Appendix G.1
// (eq-strong-dpi): paths lead from the last common ancestor k to j and to i.
func covariancePaths() *figure.Figure {
	const toJ, toI = 2, 3
	covariance := pathTree(figure.Text("The covariance of two tokens"), toJ, toI,
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
	title figure.Label, toJ, toI int, edge func(k int) (figure.Ink, figure.Label), result figure.Label,
) *figure.Drawing {
	const dx, dy, r = 31.0, 30.0, 8.5
	d := &figure.Drawing{Title: title, W: 188, H: 14 + dy*float64(max(toJ, toI)) + 2*r + 4}
	top, x := d.H-r-2, 80.0
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
	d.Text(figure.Black, 8, 0, result, x, 6)
	return d
}

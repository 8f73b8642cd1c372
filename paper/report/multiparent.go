package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"learncausal/internal/figure"
	"learncausal/paper/answers"
	"learncausal/paper/experiment"
	"learncausal/pkg/model"
	"learncausal/pkg/num"
)

// parentTeX has the names of parents and graphs in LaTeX.
var parentTeX = map[string]string{
	"i − 1": "$i-1$", "i − 2": "$i-2$", "i − 3": "$i-3$",
	"⌊i/2⌋":           `$\lfloor i/2\rfloor$`,
	"i − 1 and ⌊i/2⌋": `$i-1$ and $\lfloor i/2\rfloor$`,
}

func parentLabel(name string) figure.Label { return figure.Label{Text: name, TeX: parentTeX[name]} }

// Size of a cell and side of a 32 x 32 matrix, of which four fit in a row.
const (
	headCell = 2.625
	headSide = 32 * headCell
)

// headsFigure is Figure 5: the causal graph, the attention of each head of the first
// layer in the run with the median attention on the parents, and the attention by seed.
func headsFigure(all []experiment.MultiResult) *figure.Figure {
	f := &figure.Figure{
		Width: figure.TwoColumns,
		Caption: `Attention $\mathcal S(A^{(1)})$ of the heads of the first layer ($S=5$, $T=32$, $2^{16}$ steps) ` +
			`beside the causal graph: of the seeds that were run, the one with the median attention on the ` +
			`parents, and at the right every seed where there are several. ` + seedsWords(all) + headsCaption,
	}
	for _, m := range all {
		row := headsRow(m, median(m))
		if len(m.Runs) > 1 {
			row = append(row, seedStrip(m))
		}
		f.Rows = append(f.Rows, row)
	}
	return f
}

// seedsWords returns the number of seeds whose heads split the parents, for each graph where not all do.
func seedsWords(all []experiment.MultiResult) string {
	words := ""
	for _, m := range all {
		if n := m.SplitSeeds(); n < len(m.Runs) {
			words += fmt.Sprintf(`On the graph with the parents %s the heads share them out in %d of %d seeds only. `,
				parentLabel(m.Title).TeX, n, len(m.Runs))
		}
	}
	return words
}

// median returns the run with the median attention on the parents, or with the lower of
// the two medians of an even number.
func median(m experiment.MultiResult) *experiment.MultiRun {
	sorted := slices.SortedStableFunc(slices.Values(m.Runs), func(a, b *experiment.MultiRun) int {
		return cmp.Compare(a.MeanAttention(a.Attention), b.MeanAttention(b.Attention))
	})
	return sorted[(len(sorted)-1)/2]
}

// seedStrip has the mean attention of each head on its parents by seed.
func seedStrip(m experiment.MultiResult) figure.Panel {
	a := &figure.Axes{
		Title: figure.Text("every seed"), Height: headSide,
		X: figure.Axis{Label: figure.Text("Seed"), Min: -0.5, Max: float64(len(m.Runs)) - 0.5, Every: 1},
		Y: figure.Axis{Label: figure.Text("On the parents"), Min: 0, Max: 1},
	}
	least := 1.0
	for l, name := range m.Parents {
		s := marks(parentLabel(name), l+1)
		for _, r := range m.Runs {
			x := float64(r.Run.Spec.Seed) + 0.24*(float64(l)-float64(len(m.Parents)-1)/2) // side by side
			s.X, s.Y = append(s.X, x), append(s.Y, r.On(r.Attention[l]))
		}
		a.Series = append(a.Series, s)
		least = min(least, floats.Min(s.Y))
	}
	a.Y.Min = min(0.8, math.Floor(5*least)/5)
	return a
}

// printedHeadsFigure is headsFigure in the setting that the paper prints.
func printedHeadsFigure(all []experiment.MultiResult) *figure.Figure {
	f := headsFigure(all)
	f.Caption = `Attention $\mathcal S(A^{(1)})$ of the heads of the first layer beside the causal graph, in the ` +
		`setting that the paper prints: $\alpha=1$, uniform roots, two heads in the second layer as well, Adam ` +
		`without decay, initial standard deviation $0.01$. ` + headsCaption
	return f
}

const headsCaption = `Each head stands under the parents that it is matched with, with its mean attention on them. ` +
	`Positions are counted from 1. The last row of a graph is that of the label, on whose parents the last position ` +
	`is to attend.`

// headsRow has the causal graph and the attention of each head of a run.
func headsRow(m experiment.MultiResult, r *experiment.MultiRun) []figure.Panel {
	row := []figure.Panel{attended(m)}
	var heads []*figure.Matrix
	p := r.Run.Final.Disentangled().PositionAttentions()
	for l, h := range r.Head {
		title := parentLabel(m.Parents[l])
		on := fmt.Sprintf(": %.2f", r.On(r.Attention[l]))
		title.Text, title.TeX = title.Text+on, title.TeX+on
		x := &figure.Matrix{Title: title, Values: matrixRows(p[h]), Cell: headCell, XLabel: positionJ}
		heads = append(heads, x)
		row = append(row, x)
	}
	figure.ShareScale(figure.Scale{Min: 0, Max: 1}, heads...)
	return row
}

// attended draws the positions that each position attends to in Construction 2: its
// parents, and in the last row the parents of the label.
func attended(m experiment.MultiResult) *figure.Matrix {
	a := dagMatrix(m.Graph)
	a.Title, a.Cell = parentLabel(m.Title), headCell
	last := len(a.Values) - 1
	a.Values = append(a.Values[:last-1], a.Values[last])
	return a
}

// headWeightsFigure is Figure 7: the causal graph and all weights of the first layer. Each row
// of the position block is shown less its mean, to which the softmax is invariant.
func headWeightsFigure(all []experiment.MultiResult) *figure.Figure {
	f := &figure.Figure{
		Width: figure.TwoColumns,
		Caption: `All attention weights $\widetilde A^{(1)}$ of the first layer in the runs of Figure 5, with the ` +
			`position-position block outlined; $X$ marks the coordinates of the tokens. ` +
			`From each row of the block its mean over $j\le i$ is subtracted, which no softmax sees and which would ` +
			`hide the parents. The colour scale of a row covers all entries of its matrices.`,
	}
	for _, m := range all {
		r := median(m)
		w := r.Run.Final.Disentangled()
		row := []figure.Panel{attended(m)}
		var heads []*figure.Matrix
		for l, h := range r.Head {
			groups := [][]figure.Group{{{Label: shortToken, Size: w.S}, {Label: position, Size: w.T}}}
			x := &figure.Matrix{
				Title: parentLabel(m.Parents[l]), Values: centred(w, w.A[0][h]), Cell: 2.25,
				Rows: groups, Columns: groups, Numbered: []int{1},
				Blocks: []figure.Block{{Row: w.S, Column: w.S, Rows: w.T, Columns: w.T}},
			}
			heads = append(heads, x)
			row = append(row, x)
		}
		figure.ShareScale(figure.Scale{Palette: figure.Signed}, heads...)
		f.Rows = append(f.Rows, row)
	}
	return f
}

// centred returns a matrix of the first layer without the means of the rows of
// its position block over the positions j <= i.
func centred(w *model.Weights, a mat.Matrix) [][]float64 {
	rows := matrixRows(a)
	for i, row := range rows[w.S:] {
		seen := row[w.S : w.S+i+1]
		floats.AddConst(-stat.Mean(seen, nil), seen)
	}
	return rows
}

// multiTable lists the runs with several parents, with the split of the parents among the
// heads and the final losses of the model and the reference predictors.
func multiTable(all []experiment.MultiResult) *figure.Table {
	t := newTable(
		fmt.Sprintf(`Runs with several parents: mean attention of each head on the parent that it is `+
			`matched with, by the position block alone as Figure 5 shows it and on 1024 test sequences; nodes at `+
			`which each head has more than half of its attention there by the block, of all (split), and those at `+
			`which that holds for another assignment of the heads (swapped); and log-loss in nats `+
			`on %d test sequences beside the posterior mean given the edges and the best of those that compare one `+
			`parent only, with the paired excess of the trained model over the posterior mean and its standard `+
			`error. Halves is the graph with the parents $\lfloor i/2\rfloor$ and $i-1$, counted from 1; printed `+
			`is the setting of the paper ($\alpha=1$), the other rows are in that of its code ($\alpha=0.1$).`,
			experiment.MultiSequences),
		"Graph", "Seed", "Attention on parents: block, sequences", "Nodes",
		"Loss: trained, posterior, one parent, excess")
	for _, m := range all {
		for _, r := range m.Runs {
			l := r.Losses
			addRow(t, m.Short, int(r.Run.Spec.Seed), onParents(r, r.Attention), onParents(r, r.OnSequences),
				words("%d/%d; %d", len(r.Split), len(r.Nodes), len(r.Swapped)),
				l.Model.Mean, l.Edges.Mean, l.BestOneParent().Mean, l.ModelLessEdges)
		}
	}
	return t
}

// onParents lists the mean of each row of Attention or OnSequences.
func onParents(r *experiment.MultiRun, rows [][]float64) string {
	var s []string
	for _, row := range rows {
		s = append(s, fmt.Sprintf("%.2f", r.On(row)))
	}
	return strings.Join(s, ", ")
}

func multiNumbers(all []experiment.MultiResult) figure.Numbers {
	var ns figure.Numbers
	for _, m := range all {
		id, n, split := "multi-"+m.Name, float64(len(m.Runs)), m.SplitSeeds()
		swapped, nodes, attention, onSequences := 0, 0, 0.0, 0.0
		var hashes []string
		for _, r := range m.Runs {
			swapped += len(r.Swapped)
			nodes += len(r.Split)
			attention += r.MeanAttention(r.Attention) / n
			onSequences += r.MeanAttention(r.OnSequences) / n
			hashes = append(hashes, r.Run.Address)
		}
		whole := func(name string, value int) figure.Number {
			return figure.Number{ID: id + name, Value: float64(value), Whole: true, Runs: hashes}
		}
		mean := func(name string, value float64, digits int) figure.Number {
			return figure.Number{ID: id + name, Value: value, Digits: digits, Runs: hashes}
		}
		loss := func(name string, e num.Estimate) figure.Number {
			return figure.Number{ID: id + name, Value: e.Mean, StdErr: e.StdErr, Runs: hashes[:1]}
		}
		share := mean("-share-split", float64(split)/n, 2)
		share.Interval = BinomialInterval(split, len(m.Runs))
		l := m.Runs[0].Losses
		ns = append(ns,
			whole("-seeds", len(m.Runs)), whole("-seeds-split", split), share,
			figure.Number{ID: id + "-nodes", Value: float64(len(m.Runs[0].Nodes)), Whole: true},
			mean("-nodes-split", float64(nodes)/n, 1), mean("-nodes-swapped", float64(swapped)/n, 1),
			mean("-attention", attention, 3), mean("-attention-on-sequences", onSequences, 3),
			loss("-loss", l.Model), loss("-loss-posterior", l.Edges), loss("-loss-one-parent", l.BestOneParent()),
			loss("-loss-less-posterior", l.ModelLessEdges),
		)
	}
	return ns
}

// splitRows are the rows on Figure 5, of all stored runs of each setting.
func splitRows(all []answers.Splits) []Row {
	var rows []Row
	for _, m := range all {
		split, n, nodes := m.HaveSplit(), len(m.Runs), m.Runs[0].Nodes
		bound, least, most := BinomialInterval(split, n), nodes, 0
		for _, r := range m.Runs {
			least, most = min(least, r.Split), max(most, r.Split)
		}
		row := Row{
			Figure: 5, ID: "fig-multi-parent", What: m.Short, Paper: "each head learns one set of parents",
			Ours: words("split in %d of %d seeds; over half on its own parent at %d to %d of %d positions (split: %.0f %%)",
				split, n, least, most, nodes, 100*experiment.SplitShare),
			Interval: fmt.Sprintf("%.2f to %.2f (95 %%)", bound[0], bound[1]),
			Verdict:  mostly(split, n, fmt.Sprintf("the heads share parents in %d of %d seeds", n-split, n)),
		}
		if m.Printed {
			row.ID, row.Setting = row.ID+"-printed", "text"
		}
		rows = append(rows, row)
	}
	return rows
}

// outsideRows are the rows on the entries of Figure 7 outside of the blocks.
func outsideRows(all []experiment.MultiResult) (rows []Row) {
	for _, m := range all {
		rows = append(rows, Row{
			Figure: 7, ID: "fig-multi-parent-full", What: m.Short + ", other entries", Interval: "the largest",
			Ours:    words("up to %.0f %% of the block's largest in %d runs", 100*m.Outside(), len(m.Runs)),
			Verdict: notStated,
		})
	}
	return rows
}

// BinomialInterval returns the Clopper-Pearson interval of 95 % confidence for
// the probability of k successes among n.
func BinomialInterval(k, n int) *[2]float64 {
	bound := [2]float64{0, 1}
	if k > 0 {
		bound[0] = distuv.Beta{Alpha: float64(k), Beta: float64(n - k + 1)}.Quantile(0.025)
	}
	if k < n {
		bound[1] = distuv.Beta{Alpha: float64(k + 1), Beta: float64(n - k)}.Quantile(0.975)
	}
	return &bound
}

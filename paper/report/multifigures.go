package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"learncausal/pkg/figure"
)

// The cells of a 32 x 32 matrix of which four fit beside each other.
const multiCell = 2.625

// MultiFigure is Figure 5: the causal graph beside the attention of each head of
// the first layer, in the runs of seed 0.
func MultiFigure(all [][]*MultiRun) *figure.Figure {
	return attentionFigure("fig-multi-parent",
		`Attention $\mathcal S(A^{(1)})$ of the heads of the first layer ($S=5$, $T=32$, $2^{16}$ steps, seed 0) beside the adjacency matrix of the causal graph, whose last row is that of the label. `+headsCaption, firsts(all))
}

// PrintedFigure is MultiFigure in the setting that the paper prints.
func PrintedFigure(all [][]*MultiRun) *figure.Figure {
	return attentionFigure("fig-multi-parent-printed",
		`Attention $\mathcal S(A^{(1)})$ of the heads of the first layer beside the causal graph, in the setting that the paper prints: $\alpha=1$, uniform roots, two heads in the second layer as well, Adam without decay, initial standard deviation $0.01$. `+headsCaption, firsts(all))
}

// MultiSeedsFigure is a row of MultiFigure for each seed.
func MultiSeedsFigure(rs []*MultiRun) *figure.Figure {
	f := attentionFigure("fig-multi-parent-seeds",
		fmt.Sprintf(`Attention $\mathcal S(A^{(1)})$ of the heads of the first layer in %d runs on the graph with the parents $\lfloor i/2\rfloor$ and $i-1$, from seed %d at the top. `, len(rs), rs[0].Run.Spec.Seed)+headsCaption, rs)
	for i, row := range f.Rows {
		row[0].(*figure.Matrix).Title = figure.Text(fmt.Sprintf("seed %d", rs[i].Run.Spec.Seed))
	}
	return f
}

const headsCaption = `Each head stands under the parents that it is matched with, with its mean attention on them. Positions are counted from 1.`

// firsts returns the first run on each graph.
func firsts(all [][]*MultiRun) []*MultiRun {
	var ms []*MultiRun
	for _, rs := range all {
		if len(rs) > 0 {
			ms = append(ms, rs[0])
		}
	}
	return ms
}

func attentionFigure(id, caption string, ms []*MultiRun) *figure.Figure {
	f := &figure.Figure{ID: id, Width: figure.TwoColumns, Caption: caption}
	for _, m := range ms {
		row := []figure.Panel{multiAdjacency(m.Of)}
		var heads []*figure.Matrix
		p := m.Run.Final.Disentangled().PositionAttentions()
		for l, h := range m.Head {
			x := &figure.Matrix{Title: headTitle(m, l), Values: p[h], Cell: multiCell, XLabel: positionJ}
			heads = append(heads, x)
			row = append(row, x)
		}
		figure.ShareScale(figure.Scale{Min: 0, Max: 1}, heads...)
		f.Rows = append(f.Rows, row)
	}
	return f
}

// headTitle names the parents that a head is matched with, and its attention on
// them.
func headTitle(m *MultiRun, l int) figure.Label {
	n := m.Of.Names[l]
	on := fmt.Sprintf(": %.2f", m.On(m.Attention[l]))
	return figure.Label{Text: n.Text + on, TeX: n.TeX + on}
}

// multiAdjacency draws the (T+1) x T adjacency matrix of a graph.
func multiAdjacency(m MultiParent) *figure.Matrix {
	a := &figure.Matrix{
		Title: m.Title, Scale: figure.Scale{Hidden: true}, Cell: multiCell,
		XLabel: positionJ, YLabel: positionI,
	}
	for _, ps := range m.Graph.Parents() {
		row := make([]float64, m.Graph.T())
		for _, p := range ps {
			row[p] = 1
		}
		a.Values = append(a.Values, row)
	}
	return a
}

// MultiWeightsFigure is Figure 7: the causal graph beside all weights of the
// first layer.
func MultiWeightsFigure(all [][]*MultiRun) *figure.Figure {
	f := &figure.Figure{
		ID: "fig-multi-parent-full", Width: figure.TwoColumns,
		Caption: `All attention weights $\widetilde A^{(1)}$ of the first layer in the runs of Figure 5, with the position-position block outlined. The first rows and columns belong to the tokens. The colour scale of a row covers all entries of its matrices.`,
	}
	for _, m := range firsts(all) {
		w := m.Run.Final.Disentangled()
		row := []figure.Panel{multiAdjacency(m.Of)}
		var heads []*figure.Matrix
		for l, h := range m.Head {
			x := &figure.Matrix{
				Title: m.Of.Names[l], Values: matrixRows(w.A[0][h], w.S+w.T), Cell: 2.25,
				Rows: shortGroups(w.S, w.T), Columns: shortGroups(w.S, w.T),
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

// shortGroups are the tokens and positions of a small matrix.
func shortGroups(s, t int) [][]figure.Group {
	return [][]figure.Group{{{Label: figure.Text(""), Size: s}, {Label: position, Size: t}}}
}

// MultiPositionsFigure is the attention of each head on its parent, position by
// position, in all runs.
func MultiPositionsFigure(all [][]*MultiRun) *figure.Figure {
	f := &figure.Figure{
		ID: "fig-multi-parent-positions", Width: figure.TwoColumns,
		Caption: `Attention of each head on the parent that it is matched with, averaged over 1024 test sequences, by position, one mark a seed. Positions are counted from 1; at the last one it is the attention on the label's parent.`,
	}
	var row []figure.Panel
	for _, rs := range all {
		if len(rs) == 0 {
			continue
		}
		a := &figure.Axes{
			Title: rs[0].Of.Title,
			X:     figure.Axis{Label: figure.Label{Text: "Position i", TeX: "Position $i$"}, Min: 0, Max: 33},
			Y:     figure.Axis{Label: figure.Text("Attention on the parent"), Min: 0, Max: 1.05},
		}
		for l, name := range rs[0].Of.Names {
			s := figure.Series{Label: name, Points: true}
			for _, m := range rs {
				for i, v := range m.OnSequences[l] {
					if i == len(m.OnSequences[l])-1 || len(m.Of.Graph.Parents()[i]) > 0 {
						s.X, s.Y = append(s.X, float64(i+1)), append(s.Y, v)
					}
				}
			}
			a.Series = append(a.Series, s)
		}
		row = append(row, a)
	}
	f.Rows = [][]figure.Panel{row}
	return f
}

// MultiLossFigure draws the test loss along training of all runs, with the
// predictors that they are measured against; a row in the setting of the released
// code, a row in the printed one.
func MultiLossFigure(all, printed [][]*MultiRun) *figure.Figure {
	f := &figure.Figure{
		ID: "fig-multi-parent-loss", Width: figure.TwoColumns,
		Caption: `Test loss along training, one curve a seed, in the setting of the released code (above) and in the printed one (below), with the loss of two predictors for seed 0: the posterior mean given the edges (all parents), and the best of those that compare one parent only. Before training the loss is $\log 5=1.609$.`,
	}
	f.Rows = [][]figure.Panel{lossPanels(all), lossPanels(printed)}
	return f
}

func lossPanels(all [][]*MultiRun) []figure.Panel {
	var row []figure.Panel
	for _, rs := range all {
		if len(rs) == 0 {
			continue
		}
		a := &figure.Axes{
			Title: rs[0].Of.Title,
			X:     figure.Axis{Label: figure.Text("Step / 1000"), Log: true},
			Y:     figure.Axis{Label: figure.Text("Test loss")},
		}
		// The predictors were evaluated on a part of the test set: their paired
		// differences to the trained model are what carries over.
		l, curve := rs[0].Losses, rs[0].Run.Curve
		level := func(name string, loss Estimate, color int) figure.Series {
			v := rs[0].finalLoss() + loss.Mean - l.Model.Mean
			first, last := float64(curve[1].Step)/1000, float64(curve[len(curve)-1].Step)/1000
			return figure.Series{Label: figure.Text(name), X: []float64{first, last}, Y: []float64{v, v}, Color: color}
		}
		a.Series = append(a.Series, level("all parents", l.Edges, 2), level("one parent", l.bestOneParent(), 3))
		for _, m := range rs {
			s := figure.Series{Color: 1}
			for _, p := range m.Run.Curve[1:] {
				s.X, s.Y = append(s.X, float64(p.Step)/1000), append(s.Y, p.Loss)
			}
			a.Series = append(a.Series, s)
		}
		row = append(row, a)
	}
	return row
}

// finalLoss is that on the whole test set.
func (m *MultiRun) finalLoss() float64 { return m.Run.Curve[len(m.Run.Curve)-1].Loss }

// bestOneParent is the smallest of the losses with one parent.
func (l *MultiLosses) bestOneParent() Estimate {
	best := Estimate{Mean: math.Inf(1)}
	for _, e := range l.OneParent {
		if e.Mean < best.Mean {
			best = e
		}
	}
	return best
}

// MultiTable lists the runs with several parents: how the heads split the
// parents, and the final loss beside the reference predictors.
func MultiTable(all [][]*MultiRun) *figure.Table {
	t := head(&figure.Table{
		ID:      "tab-multi-parent",
		Caption: fmt.Sprintf(`Runs with several parents: mean attention of each head on the parent that it is matched with, by the position block alone as Figure 5 shows it and on 1024 test sequences; nodes at which each head has more than half of its attention there by the block (split); and log-loss in nats on %d test sequences beside the posterior mean given the edges and the best of those that compare one parent only, with the paired excess of the trained model over the posterior mean and its standard error. Halves is the graph with the parents $\lfloor i/2\rfloor$ and $i-1$, counted from 1; printed is the setting of the paper ($\alpha=1$), the other rows are in that of its code ($\alpha=0.1$).`, MultiSequences),
	}, "Graph", "Seed", "Attention on parents: block, sequences", "Split", "Loss: trained, posterior, one parent, excess")
	for _, rs := range all {
		for _, m := range rs {
			l := m.Losses
			t.Rows = append(t.Rows, []figure.Cell{
				figure.Words(figure.Text(m.Of.Short)), figure.Value(float64(m.Run.Spec.Seed), 0), figure.Words(figure.Text(m.onParents(m.Attention))), figure.Words(figure.Text(m.onParents(m.OnSequences))),
				figure.Words(figure.Text(fmt.Sprintf("%d/%d", len(m.Split), len(m.Nodes)))),
				figure.Value(l.Model.Mean, 3), figure.Value(l.Edges.Mean, 3), figure.Value(l.bestOneParent().Mean, 3),
				figure.PlusMinus(l.ModelLessEdges.Mean, l.ModelLessEdges.StdErr, 4),
			})
		}
	}
	return t
}

// onParents lists the mean of each row of Attention or OnSequences.
func (m *MultiRun) onParents(rows [][]float64) string {
	var s []string
	for _, row := range rows {
		s = append(s, fmt.Sprintf("%.2f", m.On(row)))
	}
	return strings.Join(s, ", ")
}

// MultiPositionsTable lists the attention of each head on its parent, position by
// position, in the runs of seed 0.
func MultiPositionsTable(all [][]*MultiRun) *figure.Table {
	t := &figure.Table{
		ID: "tab-multi-parent-positions", Long: true,
		Caption: `Attention of each head on the parent that it is matched with, averaged over 1024 test sequences, by position $i$, counted from 1, in the runs of seed 0. The last row is the attention on the label's parents.`,
		Columns: []figure.Label{{Text: "i", TeX: "$i$"}},
		Groups:  []figure.Group{{Size: 1}},
	}
	for i := range 32 {
		t.Rows = append(t.Rows, []figure.Cell{figure.Value(float64(i+1), 0)})
	}
	for _, m := range firsts(all) {
		parents := m.Of.Graph.Parents()
		t.Groups = append(t.Groups, figure.Group{Label: figure.Text(m.Of.Short), Size: len(m.Of.Names)})
		for l, name := range m.Of.Names {
			t.Columns = append(t.Columns, name)
			for i := range t.Rows {
				c := figure.Words(figure.Text("root"))
				if len(parents[i]) > 0 || i == len(t.Rows)-1 {
					c = figure.Value(m.OnSequences[l][i], 3)
				}
				t.Rows[i] = append(t.Rows[i], c)
			}
		}
	}
	return t
}

// MultiNumbers are the numbers of the runs with several parents, by graph.
func MultiNumbers(all [][]*MultiRun) figure.Numbers {
	var ns figure.Numbers
	for _, rs := range all {
		if len(rs) == 0 {
			continue
		}
		id := "multi-" + rs[0].Of.ID
		split, swapped, nodes, agreement, onSequences := 0, 0, 0, 0.0, 0.0
		var hashes []string
		for _, m := range rs {
			if m.HasSplit() {
				split++
			}
			swapped += len(m.Swapped)
			nodes += len(m.Split)
			agreement += m.Agreement(m.Attention) / float64(len(rs))
			onSequences += m.Agreement(m.OnSequences) / float64(len(rs))
			hashes = append(hashes, m.Run.Address)
		}
		first := hashes[:1]
		l := rs[0].Losses
		one := l.bestOneParent()
		ns = append(ns,
			figure.Number{ID: id + "-seeds", Value: float64(len(rs)), Whole: true, Runs: hashes},
			figure.Number{ID: id + "-seeds-split", Value: float64(split), Whole: true, Runs: hashes},
			figure.Number{ID: id + "-share-split", Value: float64(split) / float64(len(rs)), Interval: BinomialInterval(split, len(rs)), Digits: 2, Runs: hashes},
			figure.Number{ID: id + "-nodes", Value: float64(len(rs[0].Nodes)), Whole: true},
			figure.Number{ID: id + "-nodes-split", Value: float64(nodes) / float64(len(rs)), Digits: 1, Runs: hashes},
			figure.Number{ID: id + "-nodes-swapped", Value: float64(swapped) / float64(len(rs)), Digits: 1, Runs: hashes},
			figure.Number{ID: id + "-attention", Value: agreement, Digits: 3, Runs: hashes},
			figure.Number{ID: id + "-attention-on-sequences", Value: onSequences, Digits: 3, Runs: hashes},
			figure.Number{ID: id + "-loss", Value: l.Model.Mean, StdErr: l.Model.StdErr, Runs: first},
			figure.Number{ID: id + "-loss-posterior", Value: l.Edges.Mean, StdErr: l.Edges.StdErr, Runs: first},
			figure.Number{ID: id + "-loss-one-parent", Value: one.Mean, StdErr: one.StdErr, Runs: first},
			figure.Number{ID: id + "-loss-less-posterior", Value: l.ModelLessEdges.Mean, StdErr: l.ModelLessEdges.StdErr, Runs: first},
		)
	}
	return ns
}

// MultiRows returns Figures 5 and 7 with their verdicts: whether each head learns
// a single set of parents, in how many seeds, in the setting of the released code
// and in the printed one.
func MultiRows(all, printed [][]*MultiRun) []Row {
	var rows, full []Row
	for _, rs := range append(slices.Clone(all), printed...) {
		if len(rs) == 0 {
			continue
		}
		split, outside := 0, 0.0
		var on []float64
		for _, m := range rs {
			if m.HasSplit() {
				split++
			}
			on = append(on, m.Agreement(m.Attention))
			outside = max(outside, m.outside())
		}
		v := verdict(split == len(rs), fmt.Sprintf("the heads share parents in %d of %d seeds", len(rs)-split, len(rs)))
		id := "fig-multi-parent"
		if rs[0].Of.Printed {
			id += "-printed"
		}
		ours := words("split in %d of %d seeds; attention on its parent %.2f", split, len(rs), stat.Mean(on, nil))
		rows = append(rows, Row{5, id, rs[0].Of.Short, "each head learns one set of parents", ours, overSeeds(on, 2), v})
		if rs[0].Of.Printed {
			continue
		}
		full = append(full, Row{7, "fig-multi-parent-full", rs[0].Of.Short, "the same, in all of A1", words("as in Figure 5; other entries up to %.0f %% of the block's largest", 100*outside), overSeeds(on, 2), v})
	}
	return append(rows, full...)
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

// Extremes returns the smallest and the largest entry of the position-position
// block of the head matched with parent l, and the largest magnitude outside of
// the block.
func (m *MultiRun) Extremes(l int) (least, most, outside float64) {
	w := m.Run.Final.Disentangled()
	d := w.S + w.T
	for k, v := range w.A[0][m.Head[l]] {
		if k/d >= w.S && k%d >= w.S {
			least, most = min(least, v), max(most, v)
		} else {
			outside = max(outside, math.Abs(v))
		}
	}
	return least, most, outside
}

// outside returns the largest magnitude outside the position-position blocks of
// the first layer over the largest inside.
func (m *MultiRun) outside() float64 {
	in, out := 0.0, 0.0
	for l := range m.Head {
		least, most, o := m.Extremes(l)
		in, out = max(in, -least, most), max(out, o)
	}
	return out / in
}

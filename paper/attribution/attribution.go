// Package attribution scores interpretability methods on trained transformers whose causal graph is known.
//
// A [Case] is a trained transformer, its graph and sequences of its task. A [Method] scores the edges of layer 1 of
// a case. [Evaluate] compares its scores with the graph:
//
//	row, err := attribution.Evaluate(c, attribution.Method{Name: "mine", Score: mine})
//
// [Cases] are stored runs, and [Stored] are the rows of eight methods on them, from the file rows.csv. A line of
// another method is the Row.CSV of its result.
package attribution

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"learncausal/pkg/model"
	"learncausal/pkg/task"
)

// A Case is a trained transformer whose graph is known.
type Case struct {
	Set     string // see Cases
	Graph   string // name
	Run     string // address
	Step    int    // of training
	Parents []int  // of each position, -1 for a root
	Model   model.Transformer
	Test    *task.Batch // sequences on which the methods run the model
	Data    *task.Batch // more of them, for methods that look at data alone
}

// Name returns the name of the case in files: set, run and step.
func (c Case) Name() string { return fmt.Sprintf("%s-%s-%d", c.Set, c.Run, c.Step) }

// Attention returns the attention of layer 1, T x T, averaged over the test sequences.
func (c Case) Attention() (*mat.Dense, error) {
	sum, err := attention(c)
	if err == nil {
		sum.Scale(1/float64(c.Test.Len()), sum)
	}
	return sum, err
}

// edges returns the pairs i, j that methods score: j < i, i not the query.
func (c Case) edges() (all [][2]int) {
	for i := 1; i < c.Test.T-1; i++ {
		for j := range i {
			all = append(all, [2]int{i, j})
		}
	}
	return all
}

// each runs the model with an edit on every test sequence.
func (c Case) each(e model.Edit, visit func(n int, p *model.Pass, y []float64) error) error {
	for n := range c.Test.Len() {
		x, y := c.Test.Seq(n)
		p, err := model.Run(c.Model, x, e)
		if err == nil {
			err = visit(n, p, y)
		}
		if err != nil {
			return fmt.Errorf("attribution: run %s: %w", c.Run, err)
		}
	}
	return nil
}

// at returns the name of a row of an activation.
func at(name string, i int) string { return fmt.Sprintf("%s[%d]", name, i) }

// A Row is the result of a method on a case.
type Row struct {
	Set, Graph, Run string
	Step            int
	Method          string
	// AUC is the probability that an edge of the graph has a larger score than another pair, ties counting half.
	AUC float64
	// Learned is AUC with the edges p -> i on which the model has attention of a half or more, in place of the
	// graph, and Edges is the number of such pairs.
	Learned float64
	Edges   int
	// Top is the share of the positions with a parent at which the parent has the largest score.
	Top float64
	// Kept is the share of the loss that the model gains by layer 1 and keeps if each position keeps its attention on
	// its largest score, and the rest of its attention is spread evenly:
	//
	//	(L(even) - L(largest)) / (L(even) - L(model))
	//
	// where even has even attention at every position. The attention of the query stays.
	Kept float64
}

// Evaluate returns the result of a method on a case. It returns the error of the method, and one if its scores are
// not T x T or not numbers.
func Evaluate(c Case, m Method) (Row, error) {
	scores, err := m.Score(c)
	if err != nil {
		return Row{}, err
	}
	if rows, cols := scores.Dims(); rows != c.Test.T || cols != c.Test.T {
		return Row{}, fmt.Errorf("attribution: %s has scores of %d x %d, want %d x %[4]d", m.Name, rows, cols, c.Test.T)
	}
	for _, e := range c.edges() {
		if math.IsNaN(scores.At(e[0], e[1])) {
			return Row{}, fmt.Errorf("attribution: %s has the score NaN at %d, %d", m.Name, e[0], e[1])
		}
	}
	p, err := attention(c)
	if err != nil {
		return Row{}, err
	}
	r := Row{Set: c.Set, Graph: c.Graph, Run: c.Run, Step: c.Step, Method: m.Name, Top: c.top(scores)}
	r.AUC = c.auc(scores, func(i, j int) bool { return c.Parents[i] == j })
	learned := func(i, j int) bool { return 2*p.At(i, j) >= float64(c.Test.Len()) }
	for _, e := range c.edges() {
		if learned(e[0], e[1]) {
			r.Edges++
		}
	}
	r.Learned = c.auc(scores, learned)
	r.Kept, err = c.kept(scores)
	return r, err
}

// auc returns the probability that a positive pair has a larger score than another pair.
func (c Case) auc(scores *mat.Dense, positive func(i, j int) bool) float64 {
	var yes, no []float64
	for _, e := range c.edges() {
		if v := scores.At(e[0], e[1]); positive(e[0], e[1]) {
			yes = append(yes, v)
		} else {
			no = append(no, v)
		}
	}
	sum := 0.0
	for _, a := range yes {
		for _, b := range no {
			if a > b {
				sum++
			} else if a == b {
				sum += 0.5
			}
		}
	}
	return sum / float64(len(yes)*len(no))
}

// top returns the share of the parents with the largest score; of k equal ones each counts 1/k.
func (c Case) top(scores *mat.Dense) float64 {
	sum, n := 0.0, 0
	for i, p := range c.Parents[:c.Test.T-1] {
		if p < 0 {
			continue
		}
		row := scores.RawRowView(i)[:i]
		n++
		if most := floats.Max(row); row[p] == most {
			sum += 1 / float64(floats.Count(func(v float64) bool { return v == most }, row))
		}
	}
	return sum / float64(n)
}

// kept returns Row.Kept.
func (c Case) kept(scores *mat.Dense) (float64, error) {
	var losses [3][]float64 // of even attention, of the largest, and of the model
	err := c.each(nil, func(n int, p *model.Pass, y []float64) error {
		x, _ := c.Test.Seq(n)
		for k := range 2 {
			part := mat.DenseCopyOf(p.Activations[pattern])
			for i := 1; i < c.Test.T-1; i++ {
				row, best, keep := part.RawRowView(i)[:i+1], i, 1/float64(i+1)
				if k == 1 {
					best = floats.MaxIdx(scores.RawRowView(i)[:i])
					keep = row[best]
				}
				for j := range row {
					row[j] = (1 - keep) / float64(i)
				}
				row[best] = keep
			}
			q, err := model.Run(c.Model, x, model.Edit{pattern: part})
			if err != nil {
				return err
			}
			losses[k] = append(losses[k], q.Loss(y))
		}
		losses[2] = append(losses[2], p.Loss(y))
		return nil
	})
	even, largest, own := stat.Mean(losses[0], nil), stat.Mean(losses[1], nil), stat.Mean(losses[2], nil)
	return (even - largest) / (even - own), err
}

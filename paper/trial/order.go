package trial

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat"

	"learncausal/pkg/graph"
	"learncausal/pkg/num"
	"learncausal/pkg/train"
)

// An Order compares the order in which a run learns the edges of a graph with [LearningOrder]. Its times have
// an entry for each position, 0 for a root.
type Order struct {
	Set     string // printed, fresh, uniform-rows or figure-6
	Parents []int
	States  int
	Alpha   float64 // of the Dirichlet prior
	Steps   int     // of the run

	// Predicted has the times of [LearningOrder], in units of its own, null for an edge that is never learned.
	Predicted []Number
	// Measured has the step of the first evaluation at which half of the attention is on the parent. For an edge
	// without one it is Steps (2 - a) with the attention a at the end.
	Measured []float64
}

// Settings of the predictions and runs of [Orders]. The dilution was chosen on the graphs of the set printed.
const (
	orderDilution  = 3
	orderSequences = 1 << 14
	orderBatch     = 256
	orderEvery     = 64
)

//go:embed order.jsonl
var storedOrders []byte

// Orders returns the stored predictions and runs.
func Orders() (all []Order, err error) {
	for d := json.NewDecoder(bytes.NewReader(storedOrders)); ; {
		var o Order
		if err := d.Decode(&o); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, fmt.Errorf("trial: order.jsonl: %w", err)
		}
		all = append(all, o)
	}
}

// task returns the task of the run.
func (o Order) task() train.Task1 {
	return train.Task1{Parents: o.Parents, States: o.States, Prior: fmt.Sprintf("dirichlet(%g)", o.Alpha)}
}

// Predict returns the times of [LearningOrder] with a dilution.
func (o Order) Predict(dilution float64) (times []Number, err error) {
	t, err := o.task().New()
	if err != nil {
		return nil, err
	}
	exact, err := LearningOrder(t, dilution, orderSequences, num.Stream(0, "learning order"))
	for _, time := range exact {
		if math.IsInf(time, 1) {
			time = math.NaN()
		}
		times = append(times, Number(time))
	}
	return times, err
}

// Measure trains the run for the given number of steps, and returns Measured as if it ended there.
func (o Order) Measure(steps int) ([]float64, error) {
	t, err := train.New(train.Spec{
		Task: o.task(), Model: train.Disentangled{Heads: [2]int{1, 1}},
		Optimiser: train.SGD{Rate: 1, Schedule: train.Constant},
		Batch:     orderBatch, Steps: o.Steps, Test: 1, Every: o.Steps,
	}, 0)
	if err != nil {
		return nil, err
	}
	measured := make([]float64, len(o.Parents))
	for step := orderEvery; step <= steps; step += orderEvery {
		if err := t.Advance(orderEvery); err != nil {
			return nil, err
		}
		attention := t.Snapshot().Disentangled().PositionAttention()
		for i, p := range o.Parents {
			switch {
			case p == graph.Root || 0 < measured[i] && measured[i] < float64(step):
			case attention.At(i, p) >= 0.5:
				measured[i] = float64(step)
			case step == steps:
				measured[i] = float64(float64(steps) * (2 - attention.At(i, p)))
			}
		}
	}
	return measured, nil
}

// A LearnedEdge is an edge of an Order.
type LearnedEdge struct {
	In                  Order
	Child, Parent       int
	Predicted, Measured float64 // see [Order]; +Inf for an edge that is predicted never to be learned
}

// Learned reports whether the run learned the edge.
func (e LearnedEdge) Learned() bool { return e.Measured <= float64(e.In.Steps) }

// LearnedEdges returns the edges of all graphs.
func LearnedEdges(all ...Order) (edges []LearnedEdge) {
	for _, o := range all {
		for i, p := range o.Parents {
			if p == graph.Root {
				continue
			}
			e := LearnedEdge{o, i, p, float64(o.Predicted[i]), o.Measured[i]}
			if math.IsNaN(e.Predicted) {
				e.Predicted = math.Inf(1)
			}
			edges = append(edges, e)
		}
	}
	return edges
}

// An OrderScore is Spearman's rank correlation of a prediction with the runs, with mean ranks for ties.
type OrderScore struct {
	Pooled   float64    // over the edges of all graphs
	Interval [2]float64 // of Pooled, 95 % confidence by bootstrap over the graphs
	Within   float64    // mean over the graphs
}

// ScoreOrder compares a prediction of the times of the edges with the runs.
func ScoreOrder(all []Order, predict func(e LearnedEdge) float64) (score OrderScore) {
	p, m := make([][]float64, len(all)), make([][]float64, len(all))
	for k, o := range all {
		for _, e := range LearnedEdges(o) {
			p[k], m[k] = append(p[k], predict(e)), append(m[k], e.Measured)
		}
		score.Within += rankCorrelation(p[k], m[k]) / float64(len(all))
	}
	score.Pooled = rankCorrelation(slices.Concat(p...), slices.Concat(m...))
	rnd, pooled := rand.New(num.Stream(0, "graphs")), []float64(nil)
	for range 1000 {
		var some, same []float64
		for range all {
			k := rnd.IntN(len(all))
			some, same = append(some, p[k]...), append(same, m[k]...)
		}
		pooled = append(pooled, rankCorrelation(some, same))
	}
	slices.Sort(pooled)
	score.Interval = [2]float64{pooled[25], pooled[975]}
	return score
}

func rankCorrelation(a, b []float64) float64 { return stat.Correlation(Ranks(a), Ranks(b), nil) }

// Ranks returns the ranks of values from 0, with mean ranks for ties.
func Ranks(v []float64) []float64 {
	order, rank := make([]int, len(v)), make([]float64, len(v))
	for k := range order {
		order[k] = k
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(v[a], v[b]) })
	for from := 0; from < len(v); {
		to := from + 1
		for to < len(v) && v[order[from]] == v[order[to]] {
			to++
		}
		for _, k := range order[from:to] {
			rank[k] = float64(from+to-1) / 2
		}
		from = to
	}
	return rank
}

package trial

import (
	"fmt"
	"math"
	"math/rand/v2"

	"learncausal/pkg/graph"
	"learncausal/pkg/markov"
	"learncausal/pkg/task"
)

// LearningOrder predicts when each edge is learned if both layers are trained at once, in the order of the
// positions: a time in units of its own, 0 for a root and +Inf for an edge that is never learned. It is a heuristic of
// this project, not a statement of the paper; notebook 13 compares it with runs.
//
// Row i of the first layer is moved by the residual force at its parent,
//
//	F_i = E[(y - f)_{x_i} (1[x_{p(i)} = x_{T-1}] - #{j <= i : x_j = x_{T-1}}/(i+1)) / (1 + dilution m)]
//
// where f is [task.PosteriorGivenEdges] of the edges that are learned so far, and m the number of these whose parent
// has the token x_{T-1}: the second layer attends to them, and so less to position i. An edge is learned once its
// force, summed over time, reaches the [Work] of i+1 positions.
//
// The mean is over n sequences from src. The error is for a prior other than [markov.Dirichlet]. LearningOrder panics
// unless dilution is at least 0 and finite, and n positive.
func LearningOrder(t task.Task, dilution float64, n int, src *rand.PCG) ([]float64, error) {
	prior, ok := t.Prior.(*markov.Dirichlet)
	if !ok {
		return nil, fmt.Errorf("trial: learning order under the prior %v, want dirichlet(alpha)", t.Prior)
	}
	if n < 1 || !(dilution >= 0) || math.IsInf(dilution, 1) {
		panic(fmt.Sprintf("trial: learning order of %d sequences with dilution %g", n, dilution))
	}
	b, parents := t.NewBatch(n), t.Graph.Parents()
	t.NewSampler().Fill(b, src)
	waiting, learned := map[int]bool{}, make([]int, len(parents))
	for i, p := range parents {
		learned[i] = graph.Root
		if p != graph.Root {
			waiting[i] = true
		}
	}
	times, done, now := make([]float64, len(parents)), make([]float64, len(parents)), 0.0
	for len(waiting) > 0 {
		force := residualForce(b, parents, graph.MustNew(learned...), prior.Alpha, dilution)
		next, wait := -1, math.Inf(1)
		for i := range parents {
			if !waiting[i] || force[i] <= 0 {
				continue
			}
			if d := max(Work(i+1)-done[i], 0) / force[i]; d < wait {
				next, wait = i, d
			}
		}
		if next < 0 {
			break
		}
		for i, f := range force {
			done[i] += float64(f * wait)
		}
		now += wait
		times[next], learned[next] = now, parents[next]
		delete(waiting, next)
	}
	for i := range waiting {
		times[i] = math.Inf(1)
	}
	return times, nil
}

// residualForce returns F_i of [LearningOrder] for each position with a parent.
func residualForce(b *task.Batch, parents []int, learned *graph.Forest, alpha, dilution float64) []float64 {
	force, f := make([]float64, b.T), make([]float64, b.S)
	for k := range b.Len() {
		x, y := b.Seq(k)
		query, witnesses, seen := x[b.T-1], 0.0, 0.0
		for _, e := range learned.Edges() {
			if x[e[0]] == query {
				witnesses++
			}
		}
		task.PosteriorGivenEdges(f, learned, alpha, x)
		weight := 1 / (float64(b.Len()) * (1 + float64(dilution*witnesses)))
		for i, p := range parents {
			if x[i] == query {
				seen++
			}
			if p == graph.Root {
				continue
			}
			above := -seen / float64(i+1)
			if x[p] == query {
				above++
			}
			force[i] += float64(float64(weight*(y[x[i]]-f[x[i]])) * above)
		}
	}
	return force
}

// Work returns the integral over time of a force F on one of n entries A of a softmax S that moves S from 1/n to 1/2,
//
//	dA/dt = J(S) F e = S_j (1[j] - S) F for entry j,  W(n) = (n-1)/n (n-1 - 1/(n-1) + 2 log(n-1))
//
// where the others stay equal. It panics unless n >= 2.
func Work(n int) float64 {
	if n < 2 {
		panic(fmt.Sprintf("trial: work on a softmax of %d entries, want at least 2", n))
	}
	m := float64(n - 1)
	return m / (m + 1) * (m - 1/m + float64(2*math.Log(m)))
}

package task

import (
	"fmt"
	"math"

	"learncausal/pkg/graph"
	"learncausal/pkg/num"
)

// edgeCounts writes to counts, S x S, the number of edges with each transition,
//
//	counts[s*S+s'] = #{i < T-1 : i has a parent, x_{p(i)} = s, x_i = s'}
//
// a sufficient statistic of the edges for pi: under a [markov.Dirichlet] prior, the
// posterior of row s is Dirichlet(alpha + counts[s*S], ..., alpha + counts[s*S+S-1]). It
// panics unless x has a token in 0..S-1 for each position.
func edgeCounts(counts []int, g *graph.Forest, x []int) {
	s := int(math.Sqrt(float64(len(counts))))
	checkTokens(x, g.T(), s)
	clear(counts)
	for _, e := range g.Edges() {
		counts[x[e[0]]*s+x[e[1]]]++
	}
}

// checkTokens panics unless x has a token in 0..s-1 for each of t positions.
func checkTokens(x []int, t, s int) {
	if len(x) != t {
		panic(fmt.Sprintf("task: %d tokens for %d positions", len(x), t))
	}
	for i, a := range x {
		if a < 0 || a >= s {
			panic(fmt.Sprintf("task: token %d at position %d, want one of 0..%d", a, i, s-1))
		}
	}
}

// PosteriorGivenEdges writes to fhat, of length S, the posterior mean of pi(.|q),
// q = x_{T-1}, under independent Dirichlet(alpha) rows, given the edges of the graph:
//
//	fhat(s) = (alpha + c(s)) / (S alpha + sum_s' c(s'))
//	c(s) = #{i < T-1 : i has a parent, x_{p(i)} = q, x_i = s}
//
// It ignores roots, although their law mu_pi depends on pi; [Bayes] uses them. It panics
// unless alpha is positive and finite, and x has a token in 0..S-1 for each position.
func PosteriorGivenEdges(fhat []float64, g *graph.Forest, alpha float64, x []int) {
	posterior(fhat, g, alpha, x, -1)
}

// ReleasedFormula writes to fhat the predictor that the authors' released code plots as the Bayes error. It
// differs from [PosteriorGivenEdges] in that every root counts as a child of position T-2, because the parent
// -1 of a root, as an index in Python, is the last element of x_0, ..., x_{T-2}. It shows the effect on the
// dashed line of the paper's figures. It panics unless alpha is positive and finite, and x has a token
// in 0..S-1 for each position.
func ReleasedFormula(fhat []float64, g *graph.Forest, alpha float64, x []int) {
	posterior(fhat, g, alpha, x, g.T()-2)
}

// posterior is PosteriorGivenEdges in which roots are children of position wrap, unless that is negative.
func posterior(fhat []float64, g *graph.Forest, alpha float64, x []int, wrap int) {
	if !(alpha > 0 && alpha <= math.MaxFloat64) {
		panic(fmt.Sprintf("task: Dirichlet parameter %v, want a positive number", alpha))
	}
	last := g.T() - 1
	checkTokens(x, last+1, len(fhat))
	clear(fhat)
	total := float64(alpha * float64(len(fhat)))
	for i := range last {
		p := g.Parent(i)
		if p < 0 {
			p = wrap
		}
		if p >= 0 && x[p] == x[last] {
			fhat[x[i]]++
			total++
		}
	}
	for s, c := range fhat {
		fhat[s] = (alpha + c) / total
	}
}

// LogLoss returns the cross-entropy of the prediction fhat against the row y,
//
//	-sum_s y(s) log fhat(s)
//
// in nats, where terms with y(s) = 0 are zero. It is +Inf if fhat(s) = 0 < y(s) for some s,
// and NaN if an entry is NaN. It panics if the lengths differ.
func LogLoss(y, fhat []float64) float64 {
	if len(y) != len(fhat) {
		panic(fmt.Sprintf("task: log-loss of %d probabilities against %d", len(fhat), len(y)))
	}
	loss := 0.0
	for s, p := range y {
		if p > 0 {
			loss -= float64(p * num.Log(fhat[s]))
		}
	}
	return loss
}

// Losses returns the [LogLoss] of a predictor on each sequence of b. predict writes the
// prediction for x to fhat, of length S.
func Losses(b *Batch, predict func(fhat []float64, x []int)) []float64 {
	loss, fhat := make([]float64, b.Len()), make([]float64, b.S)
	for k := range loss {
		x, y := b.Seq(k)
		predict(fhat, x)
		loss[k] = LogLoss(y, fhat)
	}
	return loss
}

// PairedDifference returns the mean of a - b and its standard error, where a and b are the
// losses of two predictors on the same sequences. It panics if the lengths differ.
func PairedDifference(a, b []float64) num.Estimate {
	if len(a) != len(b) {
		panic(fmt.Sprintf("task: difference of %d losses and %d, want one pair for each sequence", len(a), len(b)))
	}
	d := make([]float64, len(a))
	for k := range d {
		d[k] = a[k] - b[k]
	}
	return num.Average(d)
}

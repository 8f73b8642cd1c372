package task

import (
	"fmt"

	"learncausal/pkg/graph"
	"learncausal/pkg/num"
)

// PosteriorGivenEdges writes to fhat, of length S, the posterior mean of
// pi(.|q), q = x_{T-1}, under independent Dirichlet(alpha) rows, given what
// the edges of the graph show:
//
//	fhat(s) = (alpha + c(s)) / (S alpha + sum_s' c(s'))
//	c(s) = #{i < T-1 : i has a parent, x_{p(i)} = q, x_i = s}
//
// Roots are left out. They are drawn from mu_pi, and so tell something of pi;
// the predictor that uses them as well is [Bayes].
func PosteriorGivenEdges(fhat []float64, g *graph.Forest, alpha float64, x []int) {
	posterior(fhat, g, alpha, x, -1)
}

// ReleasedFormula writes to fhat the predictor that the authors' released code
// plots as the Bayes error. It is [PosteriorGivenEdges], but for the parent -1 of
// a root, which as an index stands for the last element of x_0, ..., x_{T-2}:
// every root counts as a child of position T-2. It is kept to show what that
// does to the dashed line of the paper's figures.
func ReleasedFormula(fhat []float64, g *graph.Forest, alpha float64, x []int) {
	posterior(fhat, g, alpha, x, g.T()-2)
}

// posterior takes roots to be children of position wrap, if that is not negative.
func posterior(fhat []float64, g *graph.Forest, alpha float64, x []int, wrap int) {
	last := g.T() - 1
	if len(x) != last+1 {
		panic(fmt.Sprintf("task: sequence of length %d for a graph on %d positions", len(x), last+1))
	}
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
// in nats, where terms with y(s) = 0 are zero.
func LogLoss(y, fhat []float64) float64 {
	loss := 0.0
	for s, p := range y {
		if p > 0 {
			loss -= float64(p * num.Log(fhat[s]))
		}
	}
	return loss
}

// Losses returns the log-loss of a predictor on each sequence of b.
func Losses(b *Batch, predict func(fhat []float64, x []int)) []float64 {
	loss, fhat := make([]float64, b.Len()), make([]float64, b.S)
	for k := range loss {
		x, y := b.Seq(k)
		predict(fhat, x)
		loss[k] = LogLoss(y, fhat)
	}
	return loss
}

// PairedDifference returns the mean of a - b, the losses of two predictors on
// the same sequences.
func PairedDifference(a, b []float64) num.Estimate {
	d := make([]float64, len(a))
	for k := range d {
		d[k] = a[k] - b[k]
	}
	return num.Average(d)
}

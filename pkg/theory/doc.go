// Package theory has the quantities that the paper's proofs are made of, and
// the algorithms that they analyse.
//
// A Chain is one transition matrix with its stationary measure. What the paper
// writes as an expectation over the prior is Mean of a function of the chain,
// a finite sum over a markov.Finite prior:
//
//	g := theory.Mean(prior, func(c *theory.Chain) float64 { return c.G(forest, i, j) })
//
// Positions and states are 0-based, matrices row-major, logarithms natural.
package theory

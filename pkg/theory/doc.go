// Package theory has the quantities that the paper's proofs are made of, and
// the algorithms that they analyse.
//
// A [Chain] is one transition matrix with its stationary measure, spectral gap and
// mutual information. The paper's expectation over the prior is [Mean] of a function of
// the chain, a finite sum over a [markov.Finite] prior:
//
//	g := theory.Mean(prior, func(c *theory.Chain) float64 { return c.G(forest, i, j) })
//
// [markov.NewFinite] makes other priors, and [markov.Sampled] draws one in place of a
// Dirichlet prior; the comment of [G] has the number of draws that it takes.
//
// By the paper's sections:
//
//   - Algorithm 2, the oracle: [Oracle], [ChowLiu], [Information]; from samples
//     [Recover]
//   - the reduced model: [Reduced]; its population loss and gradients, [Population]
//   - Algorithm 1: [Algorithm1], for stages of one's choice
//   - stage 1: [G], [GHat], [LimitStage]; from samples [EmpiricalGHat]
//   - stage 2: [GHatBeta], [MonteCarlo], [TableStage], [BetaStar]
//
// [Population] sums over all sequences and suits T up to 16 or so; [GHat] and
// [MonteCarlo] go to hundreds of positions. Positions and states are 0-based, logarithms
// natural, and matrices are gonum's: entry (i, j) of G is g.At(i, j), and
// mat.Formatted(g) prints it. Every result is the same to the bit each time, for any
// number of workers. An argument outside a function's domain is an error, or a panic
// where the function returns no error. A result is never NaN unless its comment says so.
package theory

// Package theory has the quantities of the paper's proofs and the algorithms that they analyse. The expectation
// over the prior is [Mean] of a function of a [Chain]:
//
//	g := theory.Mean(prior, func(c *theory.Chain) float64 { return c.G(forest, i, j) })
//
// By the paper's sections:
//
//   - Algorithm 2, the oracle: [Oracle], [ChowLiu], [Information]; from samples [Recover]
//   - the model [Reduced] and its loss: [Population], for T up to 16 or so
//   - Algorithm 1: [Algorithm1], [RunDynamics]; stage 1: [G], [GHat], [LimitStage], [EmpiricalGHat], [EmpiricalStage]
//   - stage 2: [GHatBeta], [MonteCarlo], [TableStage], [BetaStar]
//
// Positions and states are 0-based, logarithms natural. Results are the same to the bit for any number of
// workers. An argument outside the domain is an error, or a panic if the function returns no error.
package theory

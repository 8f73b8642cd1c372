package task

import (
	"math/rand/v2"

	"learncausal/pkg/markov"
	"learncausal/pkg/num"
)

// Chain is a Markov chain from its stationary measure, whose next token is the label. A sequence of T tokens and
// the law y of the label are drawn by
//
//	pi ~ P_pi
//	s_0 ~ mu_pi, s_i ~ pi(.|s_{i-1}) for i = 1, ..., T-1
//	y = pi(.|s_{T-1})
//
// In [Task] the query is uniform and no token of the chain. With a Dirichlet prior, [Multi.Posterior] on the graph of
// a 2-gram has the posterior mean given the pairs of tokens. The first token says more, little for long chains.
type Chain struct {
	T     int // tokens, at least one
	Prior markov.Prior
}

// NewBatch returns a batch of n sequences of zeros. It panics if n is negative.
func (c Chain) NewBatch(n int) *Batch { return newBatch(n, c.T, c.Prior.States()) }

// Fill draws every sequence of b, each with an independent transition matrix. It panics unless S and T of b are
// those of the chain.
func (c Chain) Fill(b *Batch, src *rand.PCG) {
	s := c.Prior.States()
	b.check(s, c.T)
	pi, mu := make([]float64, s*s), make([]float64, s)
	for k := range b.Len() {
		x, y := b.Seq(k)
		c.Prior.Draw(pi, mu, src)
		law := mu
		for i := range x {
			x[i] = choose(law, num.Uniform(src))
			law = pi[x[i]*s : x[i]*s+s]
		}
		copy(y, law)
	}
}

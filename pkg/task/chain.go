package task

import (
	"fmt"
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

// NewSampler returns a sampler of sequences, each with an independent transition matrix.
func (c Chain) NewSampler() Sampler { return chain(c) }

type chain Chain

func (c chain) Fill(b *Batch, src *rand.PCG) {
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

// Validate returns an error if there is no prior, or fewer than two tokens.
func (c Chain) Validate() error {
	if c.Prior == nil || c.T < 2 {
		return fmt.Errorf("task: a chain of %d tokens with the prior %v, want at least 2 and a prior", c.T, c.Prior)
	}
	return nil
}

// Tokens returns S.
func (c Chain) Tokens() int { return c.Prior.States() }

// ParentSets returns the parents of each of the T positions, of which each but the first has the one before it.
func (c Chain) ParentSets() [][]int {
	all := make([][]int, c.T)
	for i := 1; i < len(all); i++ {
		all[i] = []int{i - 1}
	}
	return all
}

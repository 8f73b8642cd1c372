package trial

import (
	"fmt"

	"learncausal/pkg/markov"
	"learncausal/pkg/num"
)

// DynamicsPrior is the prior of the figures on the proof. It satisfies Assumption 1 with every gamma below 0.3.
const DynamicsPrior = "orbit(0.1 0.7 0.2; 0.2 0.1 0.7; 0.1 0.1 0.8)"

// FinitePrior reads an orbit prior.
func FinitePrior(text string, states int) (*markov.Finite, error) {
	p, err := markov.ParsePrior(text, states)
	if err != nil {
		return nil, err
	}
	f, ok := p.(*markov.Finite)
	if !ok {
		return nil, fmt.Errorf("trial: the prior %s has no finite support, want orbit(...)", text)
	}
	return f, nil
}

// SampledPrior is [markov.Sampled] with the stream of draws that the paper's figures and notebooks use.
func SampledPrior(prior markov.Prior, n int, seed uint64) (*markov.Finite, error) {
	return markov.Sampled(prior, n, num.Stream(seed, "paper/sampled prior"))
}

// MustPrior is [FinitePrior] over three states with a panic in place of an error.
func MustPrior(text string) *markov.Finite {
	p, err := FinitePrior(text, 3)
	if err != nil {
		panic(err.Error())
	}
	return p
}

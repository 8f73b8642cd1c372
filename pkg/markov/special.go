package markov

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"

	"learncausal/pkg/num"
)

// doublyStochastic is the uniform distribution over the doubly stochastic matrices, whose rows and columns sum to
// one. The stationary measure is uniform, so that the frequencies of tokens say nothing. [newDoublyStochastic]
// makes one.
type doublyStochastic struct{ S int }

// newDoublyStochastic returns the prior over S states. It returns an error unless 2 <= S <= 4: a draw rejects
// matrices, 7 of 8 at S = 3 and about 1,000 of them at S = 4.
func newDoublyStochastic(states int) (*doublyStochastic, error) {
	if states < 2 || states > 4 {
		return nil, fmt.Errorf("markov: doubly stochastic prior over %d states, want 2 to 4", states)
	}
	return &doublyStochastic{states}, nil
}

// States returns S.
func (d *doublyStochastic) States() int { return d.S }

// String returns the prior in the notation of [ParsePrior].
func (d *doublyStochastic) String() string { return "doubly-stochastic(uniform)" }

// Draw implements [Prior]. It draws all rows and columns but the last ones uniformly, until the others that
// follow from the sums are nonnegative.
func (d *doublyStochastic) Draw(pi, mu []float64, src *rand.PCG) {
	s, last := d.S, d.S-1
	checkRoom(pi, mu, s)
	for accepted := false; !accepted; accepted = slices.Min(pi) >= 0 {
		for k := range s {
			pi[k*s+last], pi[last*s+k] = 1, 1
		}
		rest := 2 - float64(s) // of the corner, 1 - (S-1) + the sum of the inner entries
		for a := range last {
			for b := range last {
				v := num.Uniform(src)
				pi[a*s+b] = v
				pi[a*s+last] -= v
				pi[last*s+b] -= v
				rest += v
			}
		}
		pi[s*s-1] = rest
	}
	for k := range mu {
		mu[k] = 1 / float64(s)
	}
}

// unigram is the prior of sequences without memory: all rows of pi are one draw of Dirichlet(alpha, ..., alpha),
// which is the stationary measure. [newUnigram] makes one.
type unigram struct{ row *Dirichlet }

// newUnigram returns the prior with parameter alpha over S states. It returns the errors of [NewDirichlet].
func newUnigram(states int, alpha float64) (*unigram, error) {
	row, err := NewDirichlet(states, alpha)
	if err != nil {
		return nil, err
	}
	return &unigram{row}, nil
}

// States returns S.
func (u *unigram) States() int { return u.row.S }

// String returns the prior in the notation of [ParsePrior].
func (u *unigram) String() string {
	return "unigram(" + strconv.FormatFloat(u.row.Alpha, 'g', -1, 64) + ")"
}

// Draw implements [Prior].
func (u *unigram) Draw(pi, mu []float64, src *rand.PCG) {
	checkRoom(pi, mu, u.row.S)
	u.row.DrawRow(mu, src)
	for row := range slices.Chunk(pi, len(mu)) {
		copy(row, mu)
	}
}

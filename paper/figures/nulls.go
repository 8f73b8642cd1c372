package figures

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"learncausal/pkg/num"
)

// TwoKinds fits two normal distributions of one variance to values, by expectation and maximisation from every
// division of the sorted values into two parts of at least three. It returns the gain over one normal distribution by
// the Bayesian information criterion, 2 (log-likelihoods' difference) - 2 log n, and the share of the smaller kind.
// It panics for fewer than six values.
func TwoKinds(values []float64) (gain, less float64) {
	v := slices.Sorted(slices.Values(values))
	one, best, sd := 0.0, math.Inf(-1), stat.PopStdDev(v, nil)
	for _, x := range v {
		one += distuv.Normal{Mu: stat.Mean(v, nil), Sigma: sd}.LogProb(x)
	}
	for split := 3; split <= len(v)-3; split++ {
		m := mixture{float64(split) / float64(len(v)), stat.Mean(v[:split], nil), stat.Mean(v[split:], nil), sd}
		for range 60 {
			next, likelihood := m.step(v)
			if likelihood > best {
				best, less = likelihood, min(m.share, 1-m.share)
			}
			m = next
		}
	}
	return 2*(best-one) - 2*math.Log(float64(len(v))), less
}

// A mixture of two normal distributions, the first with weight share.
type mixture struct{ share, first, second, sd float64 }

// step returns the next mixture of expectation and maximisation, and the log-likelihood of m.
func (m mixture) step(v []float64) (next mixture, likelihood float64) {
	n, sum, square := float64(len(v)), 0.0, 0.0
	for _, x := range v {
		a := m.share * distuv.Normal{Mu: m.first, Sigma: m.sd}.Prob(x)
		b := (1 - m.share) * distuv.Normal{Mu: m.second, Sigma: m.sd}.Prob(x)
		r := a / (a + b)
		sum, next.first, next.second = sum+r, next.first+r*x, next.second+(1-r)*x
		square += r*(x-m.first)*(x-m.first) + (1-r)*(x-m.second)*(x-m.second)
		likelihood += math.Log(a + b)
	}
	return mixture{sum / n, next.first / sum, next.second / (n - sum), math.Sqrt(square / n)}, likelihood
}

// PrintedRank returns the mean over the graphs of the share of our runs below the printed value, and the two-sided
// p-value if each share is uniform, by the normal approximation.
func (c *Comparison) PrintedRank() (mean, p float64) {
	n := float64(len(c.Mean))
	for g, runs := range c.Mean {
		for _, v := range runs {
			if v < c.Printed[g] {
				mean += 1 / (n * float64(len(runs)))
			}
		}
	}
	return mean, 2 * distuv.UnitNormal.Survival(math.Abs(mean-0.5)*math.Sqrt(12*n))
}

// SiblingChance returns the probability that each unlearned edge has an older sibling, if as many edges of each graph
// fail at random.
func (c *Comparison) SiblingChance() float64 {
	edges, siblings, p := map[int]float64{}, map[int]float64{}, 1.0
	for _, e := range c.Edges() {
		edges[e.Graph]++
		if e.Sibling {
			siblings[e.Graph]++
		}
	}
	for _, e := range c.Unlearned() {
		p *= siblings[e.Graph] / edges[e.Graph]
		edges[e.Graph]--
		siblings[e.Graph]--
	}
	return p
}

// Chance returns how many graphs have a correlation above least in size, between the attention at an evaluation and at
// the end, if the ends belong to other seeds: a mean over 1000 permutations.
func (c *Comparison) Chance(evaluation int, least float64) (graphs float64) {
	rnd := rand.New(num.Stream(0, "ends of other seeds"))
	for _, along := range c.Along {
		var now, end []float64
		for _, run := range along {
			now, end = append(now, run[evaluation]), append(end, run[len(run)-1])
		}
		for range 1000 {
			rnd.Shuffle(len(end), func(a, b int) { end[a], end[b] = end[b], end[a] })
			if math.Abs(stat.Correlation(now, end, nil)) > least {
				graphs += 1e-3
			}
		}
	}
	return graphs
}

// RunVariance returns the ratio of the variances between runs of one graph, those of c by those of other, and its
// bootstrap interval of 95 % confidence over graphs and seeds. The two have the same graphs.
func (c *Comparison) RunVariance(other *Comparison) (ratio float64, interval [2]float64) {
	rnd, graphs, ratios := rand.New(num.Stream(0, "variance of runs")), make([]int, len(c.Mean)), []float64(nil)
	for range 10_000 {
		for k := range graphs {
			graphs[k] = rnd.IntN(len(graphs))
		}
		ratios = append(ratios, c.resampled(graphs, rnd)/other.resampled(graphs, rnd))
	}
	slices.Sort(ratios)
	return math.Pow(c.Variance().Run/other.Variance().Run, 2), [2]float64{ratios[250], ratios[9750]}
}

// resampled returns the mean over graphs of the variance of resampled runs, which is smaller by 1 - 1/n in the mean.
func (c *Comparison) resampled(graphs []int, rnd *rand.Rand) (variance float64) {
	n := float64(c.Seeds())
	for _, g := range graphs {
		v := make([]float64, c.Seeds())
		for k := range v {
			v[k] = c.Mean[g][rnd.IntN(len(v))]
		}
		variance += stat.Variance(v, nil) * n / (n - 1) / float64(len(graphs))
	}
	return variance
}

// OrderedPairs counts the pairs of graphs of equal length and unequal effective length, and those in which the larger
// effective length has the lower loss. p is the share of 10,000 permutations of the losses, among graphs of equal
// length, with as many.
func OrderedPairs(graphs []*Joint, loss []float64) (ordered, pairs int, p float64) {
	count := func(loss []float64) (ordered, pairs int) {
		for i, a := range graphs {
			for k, b := range graphs[:i] {
				if a.Graph.T() == b.Graph.T() && a.Graph.TEff() != b.Graph.TEff() {
					pairs++
					if (a.Graph.TEff() > b.Graph.TEff()) == (loss[i] < loss[k]) {
						ordered++
					}
				}
			}
		}
		return ordered, pairs
	}
	ordered, pairs = count(loss)
	rnd, dealt, earlier := rand.New(num.Stream(0, "ordered pairs")), slices.Clone(loss), make([][]int, len(graphs))
	for i, a := range graphs {
		for k, b := range graphs[:i+1] {
			if a.Graph.T() == b.Graph.T() {
				earlier[i] = append(earlier[i], k)
			}
		}
	}
	for range 10_000 {
		for i, of := range earlier {
			k := of[rnd.IntN(len(of))]
			dealt[i], dealt[k] = dealt[k], dealt[i]
		}
		if as, _ := count(dealt); as >= ordered {
			p += 1e-4
		}
	}
	return ordered, pairs, p
}

package claims

import (
	"math"
	"math/big"
	"slices"

	"learncausal/paper/exact"
	"learncausal/paper/ledger"
	"learncausal/pkg/graph"
	"learncausal/pkg/model"
	"learncausal/pkg/num"
	"learncausal/pkg/theory"
)

// This file has second routes to the lines lhs <= rhs that a check decides, on one small
// instance: a line that is far from its bound, or behind a tighter one, decides nothing,
// and is held to what its sides are.

// lines compares the inequalities that a decision gives to a Worst with the given ones: the
// sides of the tightest, and their number.
func (tell told) lines(what string, decide func(w *ledger.Worst), lines ...[2]float64) {
	var got, want ledger.Worst
	decide(&got)
	for _, line := range lines {
		want.AtMost(line[0], line[1], func() ledger.Instance { return nil })
	}
	f, g := got.Finding(""), want.Finding("")
	tell.each(what, []float64{f.LHS, f.RHS, float64(f.Instances)}, []float64{g.LHS, g.RHS, float64(g.Instances)})
}

// inBoth returns g_ij and the chi-squared information of s_i and s_j under their law.
func inBoth(c *theory.Chain, law []float64) (g, info float64) {
	g = -1
	for k, p := range law {
		to, from := c.Mu[k/c.S], c.Mu[k%c.S]
		g += c.Pi[k%c.S*c.S+k/c.S] / to * p
		info += (p - to*from) * (p - to*from) / (to * from)
	}
	return g, info
}

// twoNorms returns |B|_F^2 and alpha.
func twoNorms(c *theory.Chain) (norm, alpha float64) {
	norm = -1
	for a := range c.S {
		for b, p := range c.Pi[a*c.S : a*c.S+c.S] {
			norm += c.Mu[a] * p * p / c.Mu[b]
		}
		for other := range c.S {
			far := 0.0
			for b := range c.S {
				far += math.Abs(c.Pi[a*c.S+b]-c.Pi[other*c.S+b]) / 2
			}
			alpha = max(alpha, far)
		}
	}
	return norm, alpha
}

// informationsByLaws compares the lines on g_ij and two informations, in floats and in
// rationals, with what they print, from the laws of two positions.
func informationsByLaws(tell told) {
	for _, u := range unlikes() {
		c := u.chain()
		norm, alpha := twoNorms(c)
		for _, at := range somePairs {
			i, j := at[0], at[1]
			k, toI, toJ := nearForest.Meet(i, j)
			g, info := inBoth(c, c.Joint(nearForest, i, j).RawMatrix().Data)
			_, up := inBoth(c, c.Joint(nearForest, k, i).RawMatrix().Data)
			var inFloats, want []float64
			for _, line := range printedLines.inFloats(c, i, j) {
				inFloats = append(inFloats, line[0], line[1])
			}
			for n, power := range []int{toJ, toI - 1, toI + toJ - 1} {
				if power > 0 {
					want = append(want, []float64{info, up, info}[n], math.Pow(alpha, float64(power))*[]float64{up, norm, norm}[n])
				}
			}
			gap := []float64{(1 - alpha) / 2 * norm, norm - g}
			tell.each("the lines from the ancestor", inFloats, slices.Concat([]float64{g, (norm + info) / 2}, want, gap))
			var inRationals []float64
			for _, line := range printedLines.inRationals(u.first, i, j) {
				inRationals = append(inRationals, exact.Float(line.lhs), exact.Float(line.rhs))
			}
			tell.each("the lines from the ancestor in rationals", inRationals, slices.Concat(
				[]float64{g, (norm + info) / 2, info, info, info, info},
				[]float64{info, math.Pow(alpha, float64(toJ)) * up, up, math.Pow(alpha, float64(toI-1)) * norm},
				[]float64{info, math.Pow(alpha, float64(toI+toJ-1)) * norm}, gap))
			lhs, rhs := twoInformationsInFloats(c, nearForest, i, j, 0.45)
			tell.each("g_ij and two informations", []float64{lhs, rhs}, []float64{g, norm/2 + 0.45*info})
			l, r := twoInformationSides(u.first, nearForest, i, j, exact.Frac(9, 20))
			tell.each("g_ij and two informations", []float64{exact.Float(l), exact.Float(r)}, []float64{g, norm/2 + 0.45*info})
		}
	}
}

// processedByDefinition compares the informations of W, Y and Z with sums over all three,
// where Z depends on Y, and where it depends on both.
func processedByDefinition(tell told) {
	p, y := exact.Rats("1/5 1/2 3/10")[0], exact.Rats("1/4 3/4; 2/3 1/3; 1/2 1/2")
	z := exact.Rats("1/6 1/3 1/2; 3/5 1/5 1/5; 1/7 2/7 4/7; 1/10 1/5 7/10; 1/2 1/4 1/4; 1/3 1/9 5/9")
	of := func(row func(w, y int) int, f func(z float64) float64) []float64 {
		var joint [2][3][3]float64 // of W and Z, and of Y and Z
		for w := range 3 {
			for b := range 2 {
				for c := range 3 {
					q := exact.Float(p[w]) * exact.Float(y[w][b]) * exact.Float(z[row(w, b)][c])
					joint[0][w][c] += q
					joint[1][b][c] += q
				}
			}
		}
		out := make([]float64, 2)
		for k, law := range joint {
			for a, r := range law {
				for c, q := range r {
					product := (r[0] + r[1] + r[2]) * (law[0][c] + law[1][c] + law[2][c])
					if k == 0 || a < 2 {
						out[k] += product * f(q/product)
					}
				}
			}
		}
		return out
	}
	onY, onBoth := func(_, b int) int { return b }, func(w, b int) int { return 3*b + w }
	var x []float64
	for _, q := range slices.Concat(p, slices.Concat(y...), slices.Concat(z...)) {
		x = append(x, num.Log(exact.Float(q)))
	}
	for _, d := range theory.Divergences() {
		wz, yz := triedLaw(x, 3, 2, 3, throughY).informations(d)
		tell.each("the informations along a chain", []float64{wz, yz}, of(onY, printedDivergences[d.Name].f))
		wz, yz = triedLaw(x, 3, 2, 3, throughBoth).informations(d)
		tell.each("the informations of three", []float64{wz, yz}, of(onBoth, printedDivergences[d.Name].f))
	}
	for k, f := range []func(z float64) float64{
		printedDivergences["chi-squared"].f, printedDivergences["total variation"].f,
		func(z float64) float64 { return max(z-1.5, 0) }, func(z float64) float64 { return max(z-2, 0) },
	} {
		wz, yz := ratDivergences[k].processed(p, y, z[:2])
		tell.each("the informations in rationals", []float64{exact.Float(wz), exact.Float(yz)}, of(onY, f))
	}
}

// decaysByLaws compares the slack of the tightest lines on covariances and on dependent
// pairs with that over all pairs of positions, or distances, and of states.
func decaysByLaws(tell told) {
	for _, u := range unlikes() {
		c := u.chain()
		covariance, dependent := 2.0, 2.0
		for i, j := range pairs(nearForest.T() - 1) {
			decay := math.Pow(c.Lambda(), float64(nearForest.Distance(i, j)+1))
			for k, p := range c.Joint(nearForest, i, j).RawMatrix().Data {
				product := c.Mu[k/c.S] * c.Mu[k%c.S]
				covariance = min(covariance, ledger.Slack(math.Abs(p-product)/math.Sqrt(product), decay))
			}
		}
		tell("the tightest covariance", ledger.Slack(covarianceSides(c, 1)), covariance)
		for d := range 4 {
			decay := math.Pow(1-slices.Min(c.Pi), float64(d))
			for k, p := range c.Pi {
				m, m2 := c.Mu[k/c.S], c.Mu[k%c.S]
				first, middle := m*p*p*(c.Power(d).At(k%c.S, k/c.S)-m), math.Pow(m, 1.5)/math.Sqrt(m2)*p*p*decay
				dependent = min(dependent, ledger.Slack(first, middle), ledger.Slack(middle, math.Sqrt(m*m2)*p*decay))
			}
		}
		bounds := []decayBound{decayOfPowers, decayOfFlow}
		tell("the tightest dependent pair", ledger.Slack(dependentSides(c, lambdaOf, bounds)), dependent)
	}
}

// contractionsByHand compares what a contraction is of: the divergences of hockey sticks,
// the next law, and the distances of the rows of three states, 2/5, 17/42 and 16/35.
func contractionsByHand(tell told) {
	x, y := exact.Rats("1/2 1/2")[0], exact.Rats("1/10 9/10")[0]
	for t, want := range map[string]float64{"1": 0.4, "2": 0.3, "2/3": 0.1, "1/4": 0} {
		tell("the divergence of a hockey stick", exact.Float(hockeyStick(x, y, exact.Rat(t))), want)
	}
	tell.each("the next law", nextLaw([]float64{0.25, 0.75}, []float64{0.8, 0.2, 0.3, 0.7}), []float64{0.425, 0.575})
	u := unlikes()[1]
	for _, of := range []struct {
		distance rowDistance
		want     float64
	}{{alphaOfRows, 16. / 35}, {closestRows, 2. / 5}} {
		tell("a distance of rows", of.distance.float(u.chain()), of.want)
		tell("a distance of rows", exact.Float(of.distance.rat(u.first)), of.want)
	}
	for _, u := range unlikes() {
		for _, g := range []gammaOf{ofBoth, ofEntries, ofSpread} {
			tell("gamma^2", math.Pow(g.float(u.chain()), 2), exact.Float(g.square(u.first)))
		}
	}
}

// lengthsByHand compares the bounds of T_eff(lambda) on three positions beside the query,
// a path at lambda = 1/2, where it is 32/13, and two siblings at 1/3, where it is 72/25;
// and the pairs of siblings and parent by their distance.
func lengthsByHand(tell told) {
	bounds := []lengthBound{printedLength, lengthByCount, lengthByRatio}
	star := graph.Star(4)
	tell.lines("the bounds for a path", func(w *ledger.Worst) {
		decideLength(w, familyMember{"", graph.Chain(4)}, exact.Rats("1/2")[0], anyForest, bounds)
	}, [2]float64{2, 32. / 13}, [2]float64{4. / 3, 32. / 13}, [2]float64{4. / 3, 32. / 13})
	tell.lines("the bounds for siblings", func(w *ledger.Worst) {
		decideLength(w, familyMember{"", star}, exact.Rats("1/3")[0], anyForest, bounds)
	}, [2]float64{4. / 3, 2.88}, [2]float64{1.6, 2.88}, [2]float64{1, 2.88})
	for g := range graph.All(5) {
		for _, lambda := range exact.Rats("1/3 1")[0] {
			tell("T_eff(lambda)", 25/exact.Float(sumOfDecays(g, lambda)), exact.Float(exact.TEffLambda(g, lambda)))
		}
	}
	tell.lines("the pairs at a distance", func(w *ledger.Worst) { decideDistances(w, star, []int{0, 1, 2}, exact.Frac(5, 3)) },
		[2]float64{3, 10}, [2]float64{4, 10}, [2]float64{2, 10})
}

// errorsOnChains compares the error of Construction 1 on a chain with its mean over all
// sequences, and the tail and the square of a binomial deviation with theirs.
func errorsOnChains(tell told) {
	pi := exact.Rats("4/5 1/5; 3/10 7/10")
	mu := exact.MustStationary(pi)
	got, mean := exact.PairMean(pi, mu, 4, constructionError, 0), new(big.Rat)
	for in, p := range exact.PairCounts(pi, mu, 4) {
		mean.Add(mean, exact.Mul(p, ratOf(constructionError(in))))
	}
	far, _ := errorByDefinition(graph.Chain(5), pi)
	tell("the error of Construction 1 on a chain", got.Float(), far)
	tell("whether it is enclosed", unit(got.Contains(mean)), 1)
	for _, u := range unlikes() {
		far, share := errorByDefinition(u.graph, u.first)
		inRationals, ofRoots := constructionMean{}.means(u.graph, u.first)
		tell.each("the error of Construction 1, and the share of roots",
			[]float64{exact.Float(inRationals), exact.Float(ofRoots)}, []float64{far, share})
	}
	tail, square := binomialDeviation(3, exact.Frac(1, 5), exact.Frac(3, 10))
	tell.each("a binomial deviation", []float64{exact.Float(tail), exact.Float(square)}, []float64{0.104, 0.16 / 3})
	tail, square = binomialDeviation(2, exact.Frac(1, 2), exact.Frac(1, 2))
	tell.each("a binomial deviation", []float64{exact.Float(tail), exact.Float(square)}, []float64{0.5, 0.125})
}

// errorByDefinition returns the mean of |f - pihat|_inf over all sequences, and of the
// share of positions that do not count, where the tokens are not all equal.
func errorByDefinition(g *graph.Forest, pi exact.Matrix) (far, share float64) {
	s := len(pi)
	built := model.ConstructionOne(g, s)
	for x, p := range exact.Sequences(g, pi) {
		if counted := childrenOfMatches(g, x); counted != nil && slices.Min(x) < slices.Max(x) {
			attended := built.Attended(x)
			far += exact.Float(p) * distance(shares(attended, x, s), shares(counted, x, s))
			share += exact.Float(p) * (1 - float64(len(counted))/float64(len(attended)))
		}
	}
	return far, share
}

// limitsByHand compares the lines on how far a limit is from pihat, where they differ by a
// quarter to either side.
func limitsByHand(tell told) {
	f, hat := exact.Rats("1/4 3/4")[0], exact.Rats("1/2 1/2")[0]
	tell.lines("the distance to pihat", func(w *ledger.Worst) {
		limitDistance(1)(w, f, hat, 2, 5, func() ledger.Instance { return nil })
	}, [2]float64{0.25, 0.5}, [2]float64{0.25, 0.5})
}

package theory_test

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"pgregory.net/rapid"

	"learncausal/internal/property"
	"learncausal/paper/exact"
	"learncausal/pkg/graph"
	"learncausal/pkg/markov"
	"learncausal/pkg/num"
	"learncausal/pkg/task"
	"learncausal/pkg/theory"
)

func TestProperties(t *testing.T) {
	property.Test(t, property.Table{
		"NewChain MustChain": chains,
		"Chain.B Chain.Power Chain.FrobeniusSquared Chain.Lambda Chain.Alpha Chain.Gamma Chain.GammaBounds": chainNumbers,
		"Chain.Marginal Chain.Joint Chain.Correlation Chain.Information Chain.G":                            pairsOfPositions,
		"E12Terms Chain.GHatBeta GHatBeta BetaStar":                                                         stageTwo,
		"Chains Mean Gamma OptimalLoss G Information GHat NewPopulation":                                    priors,
		"Chain.CountLaw Chain.MomentsOfSum":                                                                 counts,
		"Hinge Divergence.F Divergence.Between":                                                             divergences,
		"EmpiricalGHat Recover":                                                                             samples,
		"Oracle ChowLiu":                                                                                    oracles,
		"NewReduced Reduced.Attention Reduced.Beta Reduced.Predict Reduced.Loss Reduced.Rows":               reduced,
		"Population.Loss Population.Gradient Population.Errors Population.Stages":                           populations,
		"Algorithm1 LimitStage TableStage Jacobian":                                                         algorithms,
		"ScoreGradient":               scoreGradients,
		"MonteCarlo.Run StageTwo.RMS": monteCarlos,
		"Reading.String":              readings,
		"RowFlow":                     flows,
		"MixtureWeight Chain.ExcessInTheLimit Prediction": mixtures,
	})
}

func refused(t *rapid.T, f func()) string { return property.Refused(t, "theory", f) }

// dyadic draws a transition matrix with positive entries in multiples of 1/64, which
// floats hold exactly.
func dyadic(t *rapid.T, s int) []float64 {
	var pi []float64
	for range s {
		left := 64
		for b := range s - 1 {
			k := rapid.IntRange(1, left-(s-1-b)).Draw(t, "sixty-fourths")
			pi = append(pi, float64(k)/64)
			left -= k
		}
		pi = append(pi, float64(left)/64)
	}
	return pi
}

// forest draws a forest on at most n positions.
func forest(t *rapid.T, n int) *graph.Forest {
	return graph.Grow(rapid.IntRange(2, n).Draw(t, "T"), func(i int) int {
		return rapid.IntRange(graph.Root, i-1).Draw(t, "parent")
	})
}

// prior draws a prior of two matrices over s states, or of the relabelings of one.
func prior(t *rapid.T, s int) *markov.Finite {
	p, err := markov.NewFinite(s, dyadic(t, s), dyadic(t, s))
	if rapid.Bool().Draw(t, "orbit") {
		p, err = markov.NewOrbit(s, dyadic(t, s))
	}
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// finite fails unless all of x is finite and in [lo, hi], up to rounding.
func finite(t *rapid.T, what string, lo, hi float64, x ...float64) {
	t.Helper()
	for _, v := range x {
		if !(v >= lo-1e-9 && v <= hi+1e-9) || math.IsInf(v, 0) {
			t.Fatalf("%s is %v, want numbers in [%v, %v]", what, x, lo, hi)
		}
	}
}

// same fails unless x is near want, entry by entry.
func same(t *rapid.T, what string, x, want []float64) {
	t.Helper()
	if len(x) != len(want) {
		t.Fatalf("%s has %d entries, want %d", what, len(x), len(want))
	}
	for i := range x {
		if !property.Near(x[i], want[i], 1e-9) {
			t.Fatalf("%s is %v, want %v", what, x, want)
		}
	}
}

func chains(t *rapid.T) {
	s := rapid.IntRange(-1, 4).Draw(t, "S")
	pi := property.Kernel(max(s, 1)).Draw(t, "pi")
	right := s >= 2
	switch rapid.SampledFrom([]string{"right", "entry", "short", "transient", "rare"}).Draw(t, "kind") {
	case "entry":
		k := rapid.IntRange(0, len(pi)-1).Draw(t, "at")
		v := property.Float().Draw(t, "entry")
		right = right && math.Abs(v-pi[k]) < 1e-12
		pi[k] = v
	case "short":
		pi, right = pi[1:], false
	case "transient":
		pi, right = []float64{0.5, 0.5, 0, 1}, false
	case "rare":
		s, pi, right = 2, []float64{1, 1e-110, 0.5, 0.5}, false
	}
	c, err := theory.NewChain(pi, s)
	if property.Decide(t, right, property.Said(t, "theory", err)) {
		finite(t, "mu", 1e-100, 1, c.Mu...)
	}
	property.Decide(t, right, refused(t, func() { theory.MustChain(pi, s) }))
}

// extreme draws a chain, at times with a state that is next to never visited.
func extreme(t *rapid.T) *theory.Chain {
	if rapid.Bool().Draw(t, "rare") {
		e := rapid.SampledFrom([]float64{1e-90, 1e-60, 1e-12}).Draw(t, "rate")
		return theory.MustChain([]float64{1 - e, e, 1, 0}, 2)
	}
	s := rapid.IntRange(2, 4).Draw(t, "S")
	return theory.MustChain(dyadic(t, s), s)
}

func chainNumbers(t *rapid.T) {
	c := extreme(t)
	finite(t, "|B|^2", 0, float64(c.S-1), c.FrobeniusSquared())
	finite(t, "lambda", 0, 1, c.Lambda())
	finite(t, "alpha", 0, 1, c.Alpha())
	finite(t, "gamma", 0, 1, c.Gamma())
	entries, rows := c.GammaBounds()
	same(t, "gamma of the entries", []float64{entries},
		[]float64{exact.Float(exact.FloorGamma(exact.FromFloats(c.Pi.RawMatrix().Data, c.S)))})
	if slices.Min(c.Mu) > 1e-9 {
		spread := exact.Float(exact.RowSpread(exact.FromFloats(c.Pi.RawMatrix().Data, c.S)))
		same(t, "gamma of the rows", []float64{rows * rows}, []float64{float64(c.S) * spread})
	}
	finite(t, "B", -1, 1, c.B().RawMatrix().Data...)
	k := rapid.IntRange(-2, 5).Draw(t, "k")
	var p *mat.Dense
	right := property.Decide(t, k >= 0, refused(t, func() { p = c.Power(k) }))
	if !right {
		return
	}
	finite(t, "power", 0, 1, p.RawMatrix().Data...)
	if slices.Min(c.Mu) < 1e-9 {
		return
	}
	pi := exact.FromFloats(c.Pi.RawMatrix().Data, c.S)
	same(t, "power", p.RawMatrix().Data, pi.Power(k).Floats())
	same(t, "|B|^2", []float64{c.FrobeniusSquared()}, []float64{exact.Float(exact.FrobeniusSquared(pi))})
	same(t, "alpha", []float64{c.Alpha()}, []float64{exact.Float(exact.Alpha(pi))})
	if above := exact.FromFloats([]float64{c.Lambda() + 1e-6}, 1)[0][0]; !exact.LambdaAtMost(pi, above) {
		t.Fatalf("lambda is above %v", c.Lambda())
	}
	if below := exact.FromFloats([]float64{c.Lambda() - 1e-6}, 1)[0][0]; below.Sign() > 0 &&
		exact.LambdaAtMost(pi, below) {
		t.Fatalf("lambda is below %v", c.Lambda())
	}
}

func pairsOfPositions(t *rapid.T) {
	c, g := extreme(t), forest(t, 6)
	i, j := rapid.IntRange(-1, 6).Draw(t, "i"), rapid.IntRange(-1, 6).Draw(t, "j")
	f := rapid.SampledFrom(theory.Divergences()).Draw(t, "f")
	var joint, correlation *mat.Dense
	var law []float64
	var value, information float64
	right := i >= 0 && i < g.T() && j >= 0 && j < g.T()
	property.Decide(t, i >= 0 && i < g.T(), property.Refused(t, "graph", func() { law = c.Marginal(g, i) }))
	for _, call := range []func(){
		func() { joint = c.Joint(g, i, j) }, func() { correlation = c.Correlation(g, i, j) },
		func() { value = c.G(g, i, j) }, func() { information = c.Information(f, g, i, j) },
	} {
		property.Decide(t, right, property.Refused(t, "graph", call))
	}
	if !right {
		return
	}
	finite(t, "marginal", 0, 1, law...)
	finite(t, "joint", 0, 1, joint.RawMatrix().Data...)
	finite(t, "correlation", -1, 1, correlation.RawMatrix().Data...)
	finite(t, "g", -float64(c.S), 1e101, value)
	if !math.IsInf(f.F(0), 1) { // else it is infinite at zeros
		finite(t, f.Name, 0, 100, information)
	} else if !(information >= 0) {
		t.Fatalf("%s is %v", f.Name, information)
	}
	if slices.Min(c.Mu) < 1e-9 {
		return
	}
	pi := exact.FromFloats(c.Pi.RawMatrix().Data, c.S)
	want := exact.Joint(pi, g, i, j)
	same(t, "joint", joint.RawMatrix().Data, want.Floats())
	same(t, "g", []float64{value}, []float64{exact.Float(exact.G(pi, g, i, j))})
	chi := exact.Float(exact.ChiSquaredInformation(want))
	same(t, "information", []float64{c.Information(theory.ChiSquared, g, i, j)}, []float64{chi})
}

func stageTwo(t *rapid.T) {
	c := extreme(t)
	a, b := rapid.IntRange(-1, c.S).Draw(t, "s"), rapid.IntRange(-1, c.S).Draw(t, "s'")
	r, beta := property.Float().Draw(t, "r"), property.Float().Draw(t, "beta")
	right := r >= 0 && r <= 1 && beta >= 0 && !math.IsInf(beta, 0)
	inside := func(a int) bool { return a >= 0 && a < c.S }
	var v float64
	if right && inside(a) && inside(b) {
		v = c.E12Limit(a, b, r, beta)
		finite(t, "E12", 0, 1e101, v)
		if small := beta < 30; small && slices.Min(c.Mu) > 1e-9 {
			p, ma, mb := c.Pi.At(a, b), c.Mu[a], c.Mu[b]
			e, em := math.Exp(beta), math.Exp(beta*ma)
			want := ((1-r)*e*ma*p + r*em*ma*mb) / ((1-r)*(e-1)*ma*p + (1-r)*mb + r*em*mb)
			same(t, "E12", []float64{v}, []float64{want})
		}
		if r == 1 {
			same(t, "E12 of roots alone", []float64{v}, []float64{c.Mu[a]})
		}
	}
	if right && inside(a) {
		finite(t, "E3", 0, 1e101, c.E3Limit(a, r, beta))
	}
	if property.Decide(t, right, refused(t, func() { v = c.GHatBeta(r, beta) })) {
		finite(t, "ghat(beta)", 0, 1e101, v)
	}
	p, g := prior(t, 2), forest(t, 5)
	if property.Decide(t, beta >= 0 && !math.IsInf(beta, 0), refused(t, func() { v = theory.GHatBeta(p, g, beta) })) {
		want, r := 0.0, g.RootFraction()
		for k, c := range theory.Chains(p) {
			want += p.Weight[k] * c.GHatBeta(r, beta)
		}
		same(t, "ghat(beta)", []float64{v}, []float64{want})
	}
	constant, tEff, n := property.Float().Draw(t, "constant"), property.Float().Draw(t, "T_eff"),
		property.Int().Draw(t, "T")
	right = constant > 0 && !math.IsInf(constant, 0) && n >= 2 && tEff >= 1 && tEff <= float64(n)
	if property.Decide(t, right, refused(t, func() { v = theory.BetaStar(constant, tEff, n) })) {
		finite(t, "beta*", -1000, 1000, v)
	}
}

// spoilt draws a prior, right or with an error.
func spoilt(t *rapid.T) (p *markov.Finite, right bool) {
	p = prior(t, rapid.IntRange(2, 3).Draw(t, "S"))
	switch rapid.SampledFrom([]string{
		"right", "right", "nil", "empty", "weight", "measure", "entry", "short",
		"one state",
	}).Draw(t, "kind") {
	case "nil":
		return nil, false
	case "empty":
		return &markov.Finite{}, false
	case "one state":
		return &markov.Finite{Pi: [][]float64{{1}}, Mu: [][]float64{{1}}, Weight: []float64{1}}, false
	case "weight":
		p.Weight[0] = rapid.SampledFrom([]float64{-1, 2, math.NaN(), math.Inf(1)}).Draw(t, "weight")
		return p, false
	case "measure":
		p.Mu[0][0] = rapid.SampledFrom([]float64{0, -1, math.NaN(), 1e-101, 2}).Draw(t, "mu")
		return p, false
	case "entry":
		p.Pi[0][0] = rapid.SampledFrom([]float64{-1, 2, math.NaN()}).Draw(t, "pi")
		return p, false
	case "short":
		p.Mu[len(p.Mu)-1] = p.Mu[0][1:]
		return p, false
	}
	return p, true
}

func priors(t *rapid.T) {
	p, right := spoilt(t)
	g, eps := forest(t, 5), rapid.OneOf(property.Float(), rapid.Float64Range(1e-3, 1)).Draw(t, "eps")
	reading := theory.Reading(rapid.IntRange(-1, 2).Draw(t, "reading"))
	one := func(*theory.Chain) float64 { return 1 }
	f := rapid.SampledFrom(theory.Divergences()).Draw(t, "f")
	var mean, gamma, loss float64
	var values, information *mat.Dense
	for _, call := range []func(){
		func() { theory.Chains(p) }, func() { mean = theory.Mean(p, one) }, func() { gamma = theory.Gamma(p) },
		func() { loss = theory.OptimalLoss(p) }, func() { values = theory.G(p, g) },
		func() { information = theory.Information(f, p, g) },
	} {
		property.Decide(t, right, refused(t, call))
	}
	known := reading == theory.QueryInSequence || reading == theory.QueryApart
	ghat, err := theory.GHat(g, p, eps, reading)
	solved := property.Decide(t, right && known && eps >= 1e-6 && eps <= 1e6, property.Said(t, "theory", err))
	population, err := theory.NewPopulation(g, p, eps, reading)
	property.Decide(t, right && known && eps >= 1e-100 && eps <= 1e100, property.Said(t, "theory", err))
	if !right {
		return
	}
	s, n := p.States(), g.T()
	same(t, "the mean of one", []float64{mean}, []float64{1})
	finite(t, "gamma", 0, 1, gamma)
	finite(t, "L*", 0, math.Log(float64(s)), loss)
	if !math.IsInf(f.F(0), 1) { // else it is infinite at zeros
		finite(t, f.Name, 0, 1e3, information.RawMatrix().Data...)
	}
	for i := range n {
		for j := range n {
			want := 0.0
			for k, c := range theory.Chains(p) {
				if j <= i {
					want += p.Weight[k] * c.G(g, i, j)
				}
			}
			same(t, "g", []float64{values.At(i, j)}, []float64{want})
			pair := theory.Mean(p, func(c *theory.Chain) float64 { return c.Information(f, g, i, j) })
			same(t, f.Name, []float64{information.At(i, j)}, []float64{pair})
		}
	}
	if solved {
		got := population.Gradient(theory.NewReduced(s, n, 0)).GStar
		for k, v := range ghat.RawMatrix().Data {
			if d := math.Abs(v - got.RawMatrix().Data[k]); !(d < 1e-14+1e-16/eps*100) {
				t.Fatalf("ghat at eps = %v is %v, and by enumeration %v", eps, ghat, got)
			}
		}
	}
}

func counts(t *rapid.T) {
	g, s := forest(t, 5), rapid.IntRange(2, 3).Draw(t, "S")
	c := theory.MustChain(dyadic(t, s), s)
	state := rapid.IntRange(-1, s).Draw(t, "state")
	var law []float64
	if property.Decide(t, state >= 0 && state < s, refused(t, func() { law = c.CountLaw(g, state) })) {
		want := make([]float64, g.T()+1)
		for x, p := range exact.Sequences(g, exact.FromFloats(c.Pi.RawMatrix().Data, s)) {
			n := 0
			for _, a := range x {
				if a == state {
					n++
				}
			}
			want[n] += exact.Float(p)
		}
		same(t, "the law of a count", law, want)
		mean, variance := c.MomentsOfSum(g, func(_, _, own int) int {
			if own == state {
				return 1
			}
			return 0
		})
		first, second := 0.0, 0.0
		for n, p := range want {
			first += float64(n) * p
			second += float64(n*n) * p
		}
		same(t, "mean and variance of a count", []float64{mean, variance}, []float64{first, second - first*first})
	}
}

func divergences(t *rapid.T) {
	k := property.Float().Draw(t, "k")
	property.Decide(t, k >= 1 && !math.IsInf(k, 0), refused(t, func() { theory.Hinge(k) }))
	f := rapid.SampledFrom(append(theory.Divergences(), theory.Divergence{})).Draw(t, "f")
	z := property.Float().Draw(t, "z")
	known := f.Name != ""
	var v float64
	right := known && z >= 0 && !math.IsInf(z, 0)
	if property.Decide(t, right, refused(t, func() { v = f.F(z) })) && !(v >= 0) {
		t.Fatalf("%s of %v is %v", f.Name, z, v)
	}
	n := rapid.IntRange(1, 4).Draw(t, "n")
	p, q := property.Law(n).Draw(t, "p"), property.Law(rapid.IntRange(n, n+1).Draw(t, "n'")).Draw(t, "q")
	right = known && len(p) == len(q)
	switch rapid.SampledFrom([]string{"right", "right", "p", "q", "rare"}).Draw(t, "kind") {
	case "p":
		p[0], right = rapid.SampledFrom([]float64{-1, 2, math.NaN()}).Draw(t, "entry"), false
	case "q":
		q[0], right = rapid.SampledFrom([]float64{-1, 2, math.NaN(), 1e-160}).Draw(t, "entry"), false
	case "rare":
		q[0] = 1e-150
	}
	if !property.Decide(t, right, refused(t, func() { v = f.Between(p, q) })) {
		return
	}
	slopes := map[string]float64{
		theory.TotalVariation.Name: 0.5, theory.Hellinger.Name: 0.5, theory.JensenShannon.Name: math.Ln2 / 2,
		theory.ReverseKL.Name: 1, theory.Hinge(2).Name: 1,
		theory.ChiSquared.Name: math.Inf(1), theory.KullbackLeibler.Name: math.Inf(1),
	}
	want := 0.0
	for x := range p {
		slope, listed := slopes[f.Name]
		switch {
		case q[x] > 0:
			want += q[x] * f.F(p[x]/q[x])
		case p[x] > 0 && !listed:
			return
		case p[x] > 0:
			want += p[x] * slope
		}
	}
	if !property.Near(v, want, 1e-9) {
		t.Fatalf("%s of %v from %v is %v, want %v", f.Name, p, q, v, want)
	}
}

func samples(t *rapid.T) {
	g, p := forest(t, 4), prior(t, 2)
	tk := task.Task{Graph: g, Prior: p}
	eps, n := property.Float().Draw(t, "eps"), rapid.IntRange(-1, 3).Draw(t, "n")
	var ghat *mat.Dense
	right := eps >= 1e-100 && eps <= 1e100 && n >= 1
	src := num.Stream(1, "property")
	if property.Decide(t, right, refused(t, func() { ghat = theory.EmpiricalGHat(tk, eps, n, src) })) {
		finite(t, "ghat", -1e101, 1e101, ghat.RawMatrix().Data...)
	}
	groups, each := rapid.IntRange(-1, 3).Draw(t, "groups"), rapid.IntRange(-1, 3).Draw(t, "each")
	rounds, trials := rapid.IntRange(-1, 2).Draw(t, "rounds"), rapid.IntRange(-1, 2).Draw(t, "trials")
	f := rapid.SampledFrom(theory.Divergences()).Draw(t, "f")
	var r theory.Recovery
	right = groups >= 1 && each >= 1 && rounds >= 0 && trials >= 1
	if property.Decide(t, right, refused(t, func() { r = theory.Recover(tk, f, groups, each, rounds, trials, 1) })) {
		finite(t, "recovery", 0, 1, r.Oracle, r.Positions, r.ChowLiu)
	}
}

func oracles(t *rapid.T) {
	n := rapid.IntRange(-1, 5).Draw(t, "T")
	floor := rapid.SliceOfN(rapid.Float64Range(-0.5, 0.5), max(n, 0), max(n, 0)).Draw(t, "floor")
	info := mat.NewDense(max(n, 1), max(n, 1), rapid.SliceOfN(rapid.Float64Range(0, 1), max(n*n, 1), max(n*n, 1)).Draw(t,
		"info"))
	right := n >= 2
	switch kind := rapid.SampledFrom([]string{"right", "short", "NaN", "NaN floor"}).Draw(t, "kind"); {
	case kind == "short" && n >= 2:
		info, right = info.Slice(1, n, 0, n).(*mat.Dense), false
	case kind == "NaN" && n >= 3:
		right = false
		info.Set(1, 0, math.NaN())
	case kind == "NaN floor" && n >= 2:
		floor[0], right = math.NaN(), false
	}
	var f *graph.Forest
	var edges [][2]int
	property.Decide(t, right, refused(t, func() { edges = theory.ChowLiu(info, floor) }))
	if !property.Decide(t, right, refused(t, func() { f = theory.Oracle(info, floor) })) {
		return
	}
	for _, e := range edges {
		if j, i := e[0], e[1]; !(j < i && i < n-1 && info.At(i, j) > floor[i]) {
			t.Fatalf("Chow and Liu find %v in %v", edges, info)
		}
	}
	for i := range n - 1 {
		for j := range i {
			best := f.Parent(i)
			if best == graph.Root && info.At(i, j) > floor[i] || best >= 0 && info.At(i, j) > info.At(i, best) {
				t.Fatalf("the oracle finds %v in %v", f, info)
			}
		}
	}
}

func reduced(t *rapid.T) {
	s, n, beta := rapid.IntRange(-1, 4).Draw(t, "S"), rapid.IntRange(-1, 5).Draw(t, "T"), property.Float().Draw(t, "beta0")
	var m *theory.Reduced
	right := s >= 1 && n >= 1 && !math.IsNaN(beta) && !math.IsInf(beta, 0)
	if !property.Decide(t, right, refused(t, func() { m = theory.NewReduced(s, n, beta) })) {
		property.Decide(t, false, refused(t, func() { theory.NewReduced(math.MaxInt, 2, 1) }))
		return
	}
	for k := range m.A1.RawMatrix().Data {
		m.A1.RawMatrix().Data[k] = rapid.SampledFrom([]float64{0, 1, -2, 1e5, -1e300}).Draw(t, "A1")
	}
	switch rapid.SampledFrom([]string{"right", "right", "A1", "A2"}).Draw(t, "kind") {
	case "A1":
		m.A1, right = mat.NewDense(n+1, n, nil), false
	case "A2":
		m.A2, right = mat.NewDense(s, s+1, nil), false
	}
	var attention *mat.Dense
	property.Decide(t, right && s >= 2, refused(t, func() { m.Beta() }))
	if property.Decide(t, right, refused(t, func() { attention = m.Attention() })) {
		for i := range n {
			sum := 0.0
			for j, p := range attention.RawRowView(i) {
				finite(t, "attention", 0, 1, p)
				if sum += p; j > i && p != 0 {
					t.Fatalf("position %d attends to %d", i, j)
				}
			}
			same(t, "the sum of a row", []float64{sum}, []float64{1})
		}
		if n >= 2 {
			g := forest(t, 5)
			property.Decide(t, g.T() == n, refused(t, func() { m.Rows(g, attention) }))
		}
	}
	predictions(t, m, right && math.Abs(beta) < 1e300)
}

// predictions tries Predict and Loss of a model that is right, or not.
func predictions(t *rapid.T, m *theory.Reduced, right bool) {
	x := rapid.SliceOfN(rapid.IntRange(0, m.S-1), m.T, m.T).Draw(t, "x")
	a := rapid.IntRange(-1, m.S).Draw(t, "s")
	y := property.Law(m.S).Draw(t, "y")
	eps := rapid.OneOf(property.Float(), rapid.Float64Range(1e-3, 1)).Draw(t, "eps")
	fits := a >= 0 && a < m.S
	switch rapid.SampledFrom([]string{"right", "right", "token", "length"}).Draw(t, "x is") {
	case "token":
		x[0], fits = rapid.SampledFrom([]int{-1, m.S}).Draw(t, "token"), false
	case "length":
		x, fits = x[1:], false
	}
	if !right && len(m.A1.RawMatrix().Data) == m.T*m.T && len(m.A2.RawMatrix().Data) == m.S*m.S {
		return // parameters so large that sums overflow
	}
	var f, v, z []float64
	predicted := property.Decide(t, right && fits, refused(t, func() { f, v, z = m.Predict(x, a) }))
	if predicted {
		finite(t, "prediction", 0, 1, slices.Concat(f, v, z)...)
	}
	grad := theory.NewReduced(m.S, m.T+rapid.IntRange(0, 1).Draw(t, "longer"), 0)
	same, target := grad.T == m.T, rapid.IntRange(0, 1).Draw(t, "more")
	y = append(y, make([]float64, target)...)
	right = right && fits && same && target == 0 && eps >= 1e-100 && eps <= 1e100
	var loss float64
	if property.Decide(t, right, refused(t, func() { loss = m.Loss(x, a, y, eps, grad) })) {
		want := 0.0
		for b, p := range y {
			want -= p * math.Log(f[b]+eps)
		}
		if !property.Near(loss, want, 1e-9) {
			t.Fatalf("loss %v, want %v", loss, want)
		}
	}
}

func populations(t *rapid.T) {
	p, g := prior(t, 2), forest(t, 4)
	population, err := theory.NewPopulation(g, p, 0.1, theory.QueryApart)
	if err != nil {
		t.Fatal(err)
	}
	s, n := rapid.IntRange(2, 3).Draw(t, "S"), rapid.IntRange(2, 4).Draw(t, "T")
	m := theory.NewReduced(s, n, rapid.Float64Range(-3, 3).Draw(t, "beta0"))
	right := s == 2 && n == g.T()
	if rapid.IntRange(0, 4).Draw(t, "short") == 0 {
		m.A2, right = mat.NewDense(s, s+1, nil), false
	}
	var loss, gap, total float64
	var gradient *theory.Gradient
	var square *mat.Dense
	one, two := population.Stages()
	for _, call := range []func(){
		func() { loss, gap = population.Loss(m) }, func() { gradient = population.Gradient(m) },
		func() { square = population.Errors(m) }, func() { one(m, nil) }, func() { two(m, nil) },
		func() {
			population.Each(m, func(o theory.Outcome) {
				total += o.Weight
				finite(t, "an outcome", 0, 1, slices.Concat(o.F, o.Row())...)
			})
		},
	} {
		property.Decide(t, right, refused(t, call))
	}
	if right {
		same(t, "the weight of all outcomes", []float64{total}, []float64{1})
		same(t, "loss and gap", []float64{loss, gap}, []float64{gradient.Loss, gradient.Gap})
		finite(t, "errors", 0, 1, square.RawMatrix().Data...)
		finite(t, "gap", -0.2, 10, gap)
	}
}

// The formula agrees with dual numbers in rational arithmetic.
func scoreGradients(t *rapid.T) {
	hit := []bool{true, false, true}[:rapid.IntRange(1, 3).Draw(t, "groups")]
	eighths := rapid.SliceOfN(rapid.Int64Range(1, 8), 2, 3)
	above, score := eighths.Draw(t, "p"), eighths.Draw(t, "z")
	p, z := make([]float64, len(above)), make([]float64, len(score))
	weights, scores := make(exact.Vector, len(p)), make(exact.Vector, len(z))
	total := int64(0)
	for _, n := range above {
		total += n
	}
	for k, n := range above {
		weights[k], p[k] = exact.Frac(n, total), float64(n)/float64(total)
	}
	for k, n := range score {
		scores[k], z[k] = exact.Frac(n, 8), float64(n)/8
	}
	var norm float64
	right := len(p) == len(z) && len(p) == len(hit)
	if property.Decide(t, right, refused(t, func() { norm = theory.ScoreGradient(2, 0.5, p, z, hit) })) {
		want := exact.Float(exact.ScoreGradient(exact.Frac(2, 1), exact.Frac(1, 2), weights, scores, hit))
		if !property.Near(norm, want, 1e-12) {
			t.Fatalf("|grad q|_1 is %v, want %v", norm, want)
		}
	}
}

func flows(t *rapid.T) {
	entry := rapid.OneOf(rapid.Float64Range(-2, 2), rapid.Float64Range(-2, 2), property.Float())
	h := rapid.SliceOfN(entry, 0, 4).Draw(t, "h")
	end := rapid.OneOf(rapid.Float64Range(0, 50), rapid.SampledFrom([]float64{
		-1, math.NaN(), 1e300,
		math.Inf(1),
	})).Draw(t, "end")
	right := len(h) > 0 && end >= 0 && !slices.ContainsFunc(h, func(v float64) bool { return !(math.Abs(v) <= 1e100) })
	var at float64
	var s []float64
	if property.Decide(t, right, refused(t, func() { at, s = theory.RowFlow(h, end, nil) })) {
		finite(t, "the attention", 0, 1, s...)
		if !(at <= end) || slices.Max(h) > slices.Min(h) && s[slices.Index(h, slices.Max(h))] < slices.Min(s) {
			t.Fatalf("the row is at %v at time %v of %v", s, at, end)
		}
	}
}

func mixtures(t *rapid.T) {
	c := extreme(t)
	number := rapid.OneOf(rapid.Float64Range(0, 1), property.Float())
	mu, r, beta, eps := number.Draw(t, "mu"), number.Draw(t, "r"), number.Draw(t, "beta"), number.Draw(t, "eps")
	right := r >= 0 && r < 1 && beta >= 0 && !math.IsInf(beta, 0)
	var w float64
	if property.Decide(t, right && mu >= 1e-100 && mu <= 1, refused(t, func() { w = theory.MixtureWeight(mu, r, beta) })) {
		finite(t, "the weight of mu", 0, 1, w)
	}
	right = right && eps >= 1e-100 && eps <= 1e100
	if property.Decide(t, right, refused(t, func() { w = c.ExcessInTheLimit(r, eps, beta) })) {
		finite(t, "the excess loss", 0, 1e3, w)
	}
	x := rapid.SliceOfN(rapid.IntRange(-1, 2), 1, 4).Draw(t, "X")
	states, beta := rapid.IntRange(1, 3).Draw(t, "S"), rapid.Float64Range(0, 50).Draw(t, "beta")
	right = slices.Min(x) >= 0 && slices.Max(x) < states
	var f []float64
	z := func(i int) float64 { return float64(i%2) / 2 }
	if property.Decide(t, right, refused(t, func() { f = theory.Prediction(x, states, beta, z) })) {
		finite(t, "a prediction", 0, 1, f...)
		finite(t, "the sum of a prediction", 1, 1, floats.Sum(f))
	}
}

func algorithms(t *rapid.T) {
	number := func(name string) float64 {
		return rapid.OneOf(rapid.Just(0.5), rapid.Just(0.5), rapid.Just(0.5), property.Float()).Draw(t, name)
	}
	set := theory.Settings{
		Beta0: number("beta0"), Rate1: number("eta1"), Rate2: number("eta2"), Alpha: number("alpha"),
		BetaStar: number("beta*"), Tau1: rapid.IntRange(-1, 3).Draw(t, "tau1"), Tau2: rapid.IntRange(-1, 3).Draw(t, "tau2"),
		Every: rapid.IntRange(-1, 3).Draw(t, "every"),
	}
	g, s := forest(t, 5), rapid.IntRange(-1, 3).Draw(t, "S")
	n := g.T()
	entries := rapid.SliceOfN(rapid.Float64Range(-2, 2), n*n, n*n).Draw(t, "ghat")
	if rapid.IntRange(0, 4).Draw(t, "NaN") == 0 {
		entries[0] = property.Float().Draw(t, "entry")
	}
	law, along := property.Law(n).Draw(t, "p"), rapid.SliceOfN(rapid.Float64Range(-2, 2), n, n+1).Draw(t, "u")
	var slope []float64
	if property.Decide(t, len(along) == n, refused(t, func() { slope = theory.Jacobian(law, along) })) {
		want := exact.Jacobian(exact.FromFloats(law, 1)[0], exact.FromFloats(along, 1)[0])
		same(t, "the derivative of a softmax", slope, want.Floats())
	}
	finiteNumber := func(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
	var one, two theory.Stage
	right := finiteNumber(entries[0]) && set.Beta0 > 0 && finiteNumber(set.Beta0)
	if !property.Decide(t, right, refused(t, func() { one = theory.LimitStage(mat.NewDense(n, n, entries), set.Beta0) })) {
		return
	}
	betas := rapid.SliceOfN(rapid.OneOf(rapid.Float64Range(0, 5), property.Float()), 0, 3).Draw(t, "betas")
	right = len(betas) > 0 && !slices.ContainsFunc(betas, math.IsNaN)
	var table []theory.StageTwo
	for k, b := range betas {
		right = right && finiteNumber(b) && (k == 0 || b > betas[k-1])
		table = append(table, theory.StageTwo{Beta: b, DeltaBeta: num.Estimate{Mean: -0.1}})
	}
	if !property.Decide(t, right, refused(t, func() { two = theory.TableStage(table) })) {
		return
	}
	tr, err := theory.Algorithm1(set, g, s, one, two)
	right = set.Rate1 > 0 && set.Rate2 > 0 && set.Tau1 >= 0 && set.Tau2 >= 0 && set.Every >= 0 && s >= 2
	for _, v := range []float64{set.Rate1, set.Rate2, set.Alpha, set.BetaStar} {
		right = right && finiteNumber(v)
	}
	if set.Rate1 > 1e100 || set.Rate2 > 1e100 || set.Beta0 > 1e100 || entries[0] > 1e100 || entries[0] < -1e100 {
		right = right && err == nil // it may diverge
	}
	if property.Decide(t, right, property.Said(t, "theory", err)) {
		finite(t, "parameters", -math.MaxFloat64, math.MaxFloat64, slices.Concat(tr.Final.A1.RawMatrix().Data,
			tr.Final.A2.RawMatrix().Data)...)
		if tr.Tau1 > set.Tau1 || tr.Tau2 > set.Tau2 {
			t.Fatalf("%+v takes %d and %d steps", set, tr.Tau1, tr.Tau2)
		}
	}
}

func monteCarlos(t *rapid.T) {
	g := forest(t, 5)
	c := theory.MonteCarlo{
		Graph: g, Prior: prior(t, 2), Samples: rapid.IntRange(0, 5).Draw(t, "samples"), Workers: 1,
		Eps:     rapid.OneOf(property.Float(), rapid.Float64Range(1e-3, 1)).Draw(t, "eps"),
		Reading: theory.Reading(rapid.IntRange(0, 2).Draw(t, "reading")),
	}
	right := c.Samples >= 2 && c.Eps >= 1e-100 && c.Eps <= 1e100 && c.Reading <= theory.QueryApart
	betas := rapid.SliceOfN(rapid.OneOf(rapid.Float64Range(0, 9), property.Float()), 0, 2).Draw(t, "betas")
	for _, b := range betas {
		right = right && b >= 0 && b <= 700
	}
	switch rapid.SampledFrom([]string{"none", "uniform", "few", "long", "NaN", "sum"}).Draw(t, "rows") {
	case "uniform":
		c.Rows = make([][]float64, g.T())
		c.Rows[1] = []float64{0.5, 0.5}
	case "few":
		c.Rows, right = make([][]float64, g.T()-1), false
	case "long":
		c.Rows, right = make([][]float64, g.T()), false
		c.Rows[0] = []float64{0.5, 0.5}
	case "NaN":
		c.Rows, right = make([][]float64, g.T()), false
		c.Rows[0] = []float64{math.NaN()}
	case "sum":
		c.Rows, right = make([][]float64, g.T()), false
		c.Rows[0] = []float64{2}
	}
	var out []theory.StageTwo
	if property.Decide(t, right, refused(t, func() { out = c.Run(betas) })) {
		for _, at := range out {
			finite(t, "stage 2", -1e101, 1e101, at.DeltaBeta.Mean, at.Gap.Mean, at.Ideal.Mean, at.DeltaBeta.StdErr)
			finite(t, "RMS", 0, 1, at.RMS())
			for _, e := range at.Square {
				finite(t, "square", 0, 1, e.Mean)
			}
		}
	}
	property.Decide(t, false, refused(t, func() { _ = theory.StageTwo{}.RMS() }))
}

func readings(t *rapid.T) {
	r := theory.Reading(property.Int().Draw(t, "reading"))
	if r.String() == "" {
		t.Fatalf("reading %d has no name", int(r))
	}
}

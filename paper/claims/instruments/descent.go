package instruments

import (
	"math"
	"math/big"
	"slices"
	"sync"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"learncausal/paper/exact"
	"learncausal/paper/ledger"
	"learncausal/pkg/graph"
	"learncausal/pkg/markov"
	"learncausal/pkg/num"
	"learncausal/pkg/theory"
)

// A Memo computes a value once for each key, for all claims of the process.
type Memo[K comparable, V any] struct{ values sync.Map }

// Get returns the value for the key, which compute returns at the first call.
func (m *Memo[K, V]) Get(key K, compute func() V) V {
	once, _ := m.values.LoadOrStore(key, sync.OnceValue(compute))
	return once.(func() V)()
}

// MustOrbit is markov.NewOrbit with a panic in place of an error.
func MustOrbit(s int, bases ...[]float64) *markov.Finite {
	p, err := markov.NewOrbit(s, bases...)
	if err != nil {
		panic("instruments: " + err.Error())
	}
	return p
}

// StageOnePriors returns the priors of the trends of stage 1, both symmetric with
// constant mean. The first is over the relabelings of PullAway: mu = (2/3, 1/6, 1/6),
// sum_s pi(s|s)/mu(s) = S - 21/20, and roots are drawn to themselves.
var StageOnePriors = sync.OnceValue(func() []*markov.Finite {
	return []*markov.Finite{
		MustOrbit(3, []float64{0.9, 0.05, 0.05, 0.2, 0.05, 0.75, 0.2, 0.75, 0.05}),
		MustOrbit(2, []float64{0.8, 0.2, 0.2, 0.8}, []float64{0.3, 0.7, 0.9, 0.1}),
	}
})

// StageTwoPriors returns the priors of the trends of stage 2, both symmetric with constant mean: one over two
// states with gamma = 2/5, and the first of StageOnePriors, with gamma = 3/20.
var StageTwoPriors = sync.OnceValue(func() []*markov.Finite {
	return []*markov.Finite{
		MustOrbit(2, []float64{0.8, 0.2, 0.4, 0.6}, []float64{0.2, 0.8, 0.6, 0.4}),
		StageOnePriors()[0],
	}
})

// A FirstStage is stage 1 in the limit beta0 -> 0 on one graph, where each row of A1 moves independently of the
// others along its row of ghat.
type FirstStage struct {
	Family string
	Graph  *graph.Forest
	Prior  *markov.Finite
	T, S   int // positions and states
	TEff   float64
	GHat   *mat.Dense // T x T, at eps = T_eff^{-1/2}, query in sequence
}

var ghats Memo[[2]string, *mat.Dense] // by graph and prior

// NewFirstStage returns stage 1 on the graph of a family on t positions.
func NewFirstStage(family graph.Family, t int, prior *markov.Finite) *FirstStage {
	g := family.New(t)
	teff := g.TEff()
	ghat := ghats.Get([2]string{g.String(), prior.String()}, func() *mat.Dense {
		ghat, err := theory.GHat(g, prior, 1/math.Sqrt(teff), theory.QueryInSequence)
		if err != nil {
			panic("instruments: " + err.Error())
		}
		return ghat
	})
	return &FirstStage{family.Name, g, prior, t, prior.States(), teff, ghat}
}

// EachStageOne calls visit with stage 1 under each of StageOnePriors, on the graphs of
// each family by increasing T, until the run is interrupted.
func EachStageOne(e *ledger.Env, families []string, visit func(c *FirstStage)) {
	for _, prior := range StageOnePriors() {
		for _, family := range families {
			for _, t := range []int{16, 32, 64, 128, 256, 512}[:e.Budget(6, 4)] {
				if e.Err() == nil {
					visit(NewFirstStage(FamilyNamed(e, family), t, prior))
				}
			}
		}
	}
}

// Row returns ghat_i, of length i+1.
func (c *FirstStage) Row(i int) []float64 { return c.GHat.RawRowView(i)[:i+1] }

// Force returns ghat_i / S, the h of [theory.RowFlow] for row i of A1.
func (c *FirstStage) Force(i int) []float64 {
	return floats.ScaleTo(make([]float64, i+1), 1/float64(c.S), c.Row(i))
}

// Instance describes graph and prior.
func (c *FirstStage) Instance() ledger.Instance {
	return ledger.Instance{"family": c.Family, "T": c.T, "T_eff": c.TEff, "prior": c.Prior.String()}
}

// SampledChildren returns up to n positions with a parent at even distances, the last one included.
func (c *FirstStage) SampledChildren(n int) []int {
	return evenSample(n, c.T, func(i int) bool { return c.Graph.Parent(i) >= 0 })
}

// SampledRoots returns up to n roots other than position 0 and the query at even
// distances, the last one included.
func (c *FirstStage) SampledRoots(n int) []int {
	return evenSample(n, c.T-1, func(i int) bool { return i > 0 && c.Graph.Parent(i) < 0 })
}

// evenSample returns up to n of the wanted i < t at even distances, the last one included.
func evenSample(n, t int, wanted func(int) bool) []int {
	var all []int
	for i := range t {
		if wanted(i) {
			all = append(all, i)
		}
	}
	if len(all) <= n {
		return all
	}
	out := make([]int, n)
	for k := range out {
		out[k] = all[(k+1)*len(all)/n-1]
	}
	return out
}

// AttentionAfter returns the attention of row i at t = constant T log T.
func (c *FirstStage) AttentionAfter(i int, constant float64) []float64 {
	n := float64(c.T)
	_, s := theory.RowFlow(c.Force(i), constant*n*num.Log(n), nil)
	return s
}

// PullAway is a transition matrix with sum_s pi(s|s)/mu(s) = S - 21/20. For eps > 0 the gradient draws a root
// other than the query to itself, and the query away from itself.
var PullAway = exact.Rats("9/10 1/20 1/20; 1/5 1/20 3/4; 1/5 3/4 1/20")

// PullToward are two transition matrices under whose mean the query is drawn to itself.
var PullToward = []exact.Matrix{exact.Rats("9/10 1/10; 1/2 1/2"), exact.Rats("1/10 9/10; 1/2 1/2")}

// driftConstants are the candidate constants for the drift of a row.
var driftConstants = []*big.Rat{exact.Int(1), exact.Int(1000), exact.Int(1000000)}

// A GradientBound is a bound in terms of S, gamma and T_eff, such as 35 S^2 gamma^-2 T_eff^(-1/2).
// Both sides have no factor beta0/T.
type GradientBound struct{ ledger.Bound }

const effective = `T_{\mathrm{eff}}`

// Constant returns the factor of the power of T_eff for the largest gamma with pi >= gamma/S.
func (b GradientBound) Constant(pi exact.Matrix) *big.Rat {
	return b.Without(effective, "T", `\beta_0`).Rat(ledger.At[*big.Rat]{
		"S": exact.Int(len(pi)), `\gamma`: exact.FloorGamma(pi),
	})
}

// Rate returns the power of 1/T_eff.
func (b GradientBound) Rate() *big.Rat { return new(big.Rat).Neg(b.Exponent(effective)) }

// FloatAt returns the bound.
func (b GradientBound) FloatAt(s int, gamma, teff float64) float64 {
	return b.Without("T", `\beta_0`).Float(ledger.At[float64]{"S": float64(s), `\gamma`: gamma, effective: teff})
}

// GradientRounding exceeds the error of theory.GHat at eps >= 1/25.
const GradientRounding = 1e-9

// DecideRoot decides |v|_inf T/beta0 <= b for root i, v modulo constants.
func (c *FirstStage) DecideRoot(w *ledger.Worst, b GradientBound, i int) {
	bound := b.FloatAt(c.S, theory.Gamma(c.Prior), c.TEff)
	w.AtMostRounded(OffCentre(c.Force(i)), bound, GradientRounding, func() ledger.Instance {
		return c.Instance().With("i", i+1)
	})
}

// OffCentre returns min_c |v - c|_inf, the distance of v from the constant rows.
func OffCentre(v []float64) float64 { return (slices.Max(v) - slices.Min(v)) / 2 }

// DecideLead decides that ghat_ip, p the parent, exceeds the other entries of row i by the bound.
func (c *FirstStage) DecideLead(w *ledger.Worst, i int, bound float64) {
	row, p := c.Row(i), c.Graph.Parent(i)
	for j, v := range row {
		if j != p {
			w.AtMostRounded(bound, row[p]-v, GradientRounding, func() ledger.Instance {
				return c.Instance().With("i", i+1).With("j", j+1)
			})
		}
	}
}

// RunawayTime returns the number of steps after which row T has attention 1/2 to itself, by Lemma 8
// (lem-a1-dynamics-sharp) with delta = min_j (g*_TT - g*_Tj)/S. It is T if delta may not be positive.
func RunawayTime(c exact.StageOne) *big.Rat {
	t, delta := exact.Pow(c.Root, 2), c.Gap(exact.Query, exact.Query).Lo
	if delta.Sign() <= 0 {
		return t
	}
	delta = exact.Quo(delta, exact.Int(len(c.Pis[0])))
	return exact.Ceil(exact.TimeBound(exact.Frac(1, 2), t, delta, exact.Int(1)).Hi)
}

// QueryRunsAway encloses sup_j |S_j - 1/T| for row T after the given steps.
func QueryRunsAway(c exact.StageOne, steps *big.Rat) (*big.Rat, exact.Interval) {
	t := exact.Pow(c.Root, 2)
	if c.Gap(exact.Query, exact.Query).Lo.Sign() <= 0 || steps.Cmp(RunawayTime(c)) < 0 {
		return t, exact.Interval{Lo: new(big.Rat), Hi: exact.Int(1)}
	}
	return t, exact.Interval{Lo: exact.Sub(exact.Frac(1, 2), exact.Inv(t)), Hi: exact.Int(1)}
}

// LateRootRests encloses sup_j |S_j - 1/i| for the last root i other than the query while 4 V steps <= i, by
// Lemma 7 (lem-no-parents-corrected). After that the claim is void, and the enclosure zero.
func LateRootRests(c exact.StageOne, steps *big.Rat) (*big.Rat, exact.Interval) {
	i := exact.Sub(exact.Pow(c.Root, 2), exact.Int(2))
	drive := exact.Mul(exact.Mul(exact.Int(4), steps), c.Drive(exact.OwnRoot).Hi)
	if drive.Cmp(i) > 0 {
		return i, exact.Point(new(big.Rat))
	}
	return i, exact.Interval{Lo: new(big.Rat), Hi: exact.Quo(drive, exact.Pow(i, 2))}
}

// A RootDrift is the claim sup_j |S_j - 1/i| <= C Bound after a number of steps of size eta1 beta0/T = 1, under
// the matrices PullToward. Of returns the row i and an enclosure of the left side.
type RootDrift struct {
	Of    func(c exact.StageOne, steps *big.Rat) (i *big.Rat, off exact.Interval)
	Steps func(c exact.StageOne) *big.Rat
	Bound func(c exact.StageOne, steps, i *big.Rat) exact.Interval
}

// Check decides the claim at T = 3^12 to 3^42 for C = 1, 1000 and 10^6.
func (q RootDrift) Check(_ *ledger.Env, w *ledger.Worst) string {
	type state struct {
		at       ledger.Instance
		lhs, rhs exact.Interval
	}
	states := map[*big.Rat]state{}
	roots := RootsOfT()[1:7]
	for _, root := range roots {
		c := exact.NewStageOne(root, exact.Inv(root), PullToward...)
		steps := q.Steps(c)
		i, off := q.Of(c, steps)
		at := StageOneInstance(c, exact.Query).With("i", i).With("eta1", exact.Pow(root, 6)).
			With("tau", steps).With("gamma", GammaToward)
		states[root] = state{at: at, lhs: off, rhs: q.Bound(c, steps, i)}
	}
	Order{
		LHS: func(root *big.Rat) exact.Interval { return states[root].lhs },
		RHS: func(root *big.Rat) exact.Interval { return states[root].rhs },
		At:  func(root *big.Rat) ledger.Instance { return states[root].at },
	}.Decide(w, roots, driftConstants...)
	return ""
}

// DriftRounding exceeds the rounding error of a row after 300 steps. Each step
// rounds entries of A below 1. Errors in A grow by a factor of at most e^2 in all,
// as J(S)v moves by at most 4 eta V max S per unit, and max S <= 2/i.
const DriftRounding = 1e-12

// GammaToward is a gamma with which the prior of PullToward satisfies assumption 1.
var GammaToward = exact.Frac(19, 100)

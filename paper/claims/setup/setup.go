// Package setup is Section 2, which defines the transformer and the task, with two examples.
package setup

import (
	"iter"
	"math/big"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"learncausal/paper/claims/instruments"
	"learncausal/paper/exact"
	"learncausal/paper/ledger"
	"learncausal/pkg/graph"
	"learncausal/pkg/task"
)

// Section lists the claims in the order of the paper.
var Section = ledger.Section{Title: "Setup", Claims: []ledger.Claim{
	defAttentionRow, exInductionHead, exICL,
}}

var defAttentionRow = ledger.Claim{
	ID: "def-attention-row", Number: "Section 2.1", Title: "A row of the attention pattern",
	Statement:  `$\mathcal S(\mathrm{MASK}(XAX^\top))_{i,j} = \mathcal S(X_{\le i}A^\top x_i)_j$ for $j \le i$`,
	Hypotheses: sizesFit, Tried: `random integers, $T\le5$, $d\le4$`,
	Check:  attentionRow(exact.Matrix.T),
	Faults: []ledger.Fault{ledger.Plant("A for its transpose", attentionRow(instruments.Identity))},
	Spare:  []ledger.Spare{ledger.Spared(sizesFit, "the formula means nothing for other sizes")},
}

const sizesFit = `$X \in \mathbb R^{T\times d}$, $A \in \mathbb R^{d\times d}$`

// attentionRow compares the scores (X A X^T)_{ij}, j <= i, with X_{<=i} M x_i for
// M = of(A), in integers. Equal scores have equal softmax.
func attentionRow(of func(exact.Matrix) exact.Matrix) ledger.Check {
	return func(e *ledger.Env, w *ledger.Worst) string {
		r := rand.New(e.Stream("integers"))
		for range e.Budget(500, 100) {
			t, d := 1+r.IntN(5), 1+r.IntN(4)
			x, a := instruments.SmallIntegers(r, t, d), instruments.SmallIntegers(r, d, d)
			scores := x.Mul(a).Mul(x.T())
			for i := range t {
				row, query := scores[i : i+1].T()[:i+1], x[i:i+1].T()
				w.EqualMatrix("", row, x[:i+1].Mul(of(a)).Mul(query), func() ledger.Instance {
					return ledger.Instance{"X": x, "A": a, "i": i + 1}
				})
			}
		}
		return "A polynomial identity: entry j of both is the scalar x_i^T A x_j, which is its own " +
			"transpose; checked in integers."
	}
}

var exInductionHead = ledger.Claim{
	ID: "ex-induction-head", Number: "Section 2.3", Title: "The induction head is the empirical transition",
	Statement:  `for $p(i)=i-1$: $|\{i:(s_{i-1},s_i)=(s_T,s')\}|\,/\,|\{i:s_{i-1}=s_T\}| = \hat\pi_{s_{1:T}}(s'\mid s_T)$`,
	Hypotheses: `$s_T$ is the value of some parent, so that $\hat\pi$ is defined; $i$ runs over $2,\dots,T$`,
	Tried:      triedChains,
	Defect:     ledger.Misprint,
	Check: inductionHeadIs(0).Noted("Read with i up to T, as written, the pair (s_{T-1}, s_T) is counted, which is " +
		"no edge because s_T is drawn uniformly. A matter of the range of i: with i < T it is the empirical " +
		"transition, and either way the two agree in the limit. "),
	Correction: &ledger.Claim{
		ID: "ex-induction-head-corrected", Title: "The induction head without the query's own pair",
		Statement:  `for $p(i)=i-1$ and $2\le i\le T-1$ in both counts: $|\{i:(s_{i-1},s_i)=(s_T,s')\}|\,/\,|\{i:s_{i-1}=s_T\}| = \hat\pi_{s_{1:T}}(s'\mid s_T)$; with $i = T$ counted as printed, the two differ by at most $1/(n+1)$, $n = |\{i<T : s_{i-1}=s_T\}|$`,
		Parts:      []string{"without the last pair", "with it"},
		Hypotheses: positiveCount, Tried: triedChains,
		Check: headAndPair(1, 1),
		Faults: []ledger.Fault{
			ledger.PlantIn("without the last pair", "the last two pairs left out of the count", headAndPair(2, 1)),
			ledger.PlantIn("with it", "1/(n+2) in place of 1/(n+1)", headAndPair(1, 2)),
		},
		Spare: []ledger.Spare{ledger.Spared(positiveCount, "else the shares are 0/0")},
	},
}

// inductionHeadIs is the check of inductionHead alone.
func inductionHeadIs(left int) ledger.Check {
	return func(e *ledger.Env, w *ledger.Worst) string {
		inductionHead(e, w, left)
		return inductionHeadNote
	}
}

const (
	positiveCount = `$n > 0$`
	triedChains   = `every sequence over two states up to $T=8$ and over three up to $T=7$`
)

// headAndPair checks the shares without the last pairs, and that the pair of the
// query changes no share by more than 1/(n+more).
func headAndPair(left int, more int64) ledger.Check {
	return func(e *ledger.Env, w *ledger.Worst) string {
		inductionHead(e, w, left)
		onePairMore(e, w, more)
		return inductionHeadNote
	}
}

const inductionHeadNote = "Compared on every sequence in exact counts."

// chainSequences yields the number of states S and every sequence over them, up to S = 3 and T = 8.
func chainSequences(e *ledger.Env) iter.Seq2[int, []int] {
	sizes := [][2]int{{2, 3}, {2, 4}, {2, 5}, {2, 6}, {2, 7}, {2, 8}, {3, 4}, {3, 5}, {3, 6}, {3, 7}}
	return func(yield func(int, []int) bool) {
		for _, st := range sizes[:e.Budget(10, 5)] {
			for x := range task.Sequences(st[0], st[1]) {
				if !yield(st[0], x) {
					return
				}
			}
		}
	}
}

// follow returns how often each of s states follows the value of the query among
// the pairs (x_{i-1}, x_i), i = 1, ..., last, and how many such pairs there are.
func follow(x []int, s, last int) (counts exact.Vector, n int64) {
	counts = exact.Zero(1, s)[0]
	for i := 1; i <= last; i++ {
		if x[i-1] == x[len(x)-1] {
			counts[x[i]].Add(counts[x[i]], exact.Int(1))
			n++
		}
	}
	return counts, n
}

// inductionHead compares the shares among the pairs (s_{i-1}, s_i), i = 2, ...,
// T-left, with the empirical transition over the edges of the chain, the pairs
// with i < T. It stops at the first difference, which is the smallest.
func inductionHead(e *ledger.Env, w *ledger.Worst, left int) {
	for s, x := range chainSequences(e) {
		t := len(x)
		edges, n := follow(x, s, t-2)
		head, m := follow(x, s, t-1-left)
		if n == 0 {
			continue
		}
		share := func(of exact.Vector, n int64) exact.Matrix {
			return exact.Matrix{of}.Scale(exact.Frac(1, max(n, 1)))
		}
		w.EqualMatrix("", share(head, m), share(edges, n), func() ledger.Instance {
			return ledger.Instance{"S": s, "X": ledger.OneBased(x), "graph": graph.Chain(t)}
		})
		if w.Failed() {
			break
		}
	}
}

// onePairMore decides that the pair of the query changes no share by more than 1/(n+more).
func onePairMore(e *ledger.Env, w *ledger.Worst, more int64) {
	for s, x := range chainSequences(e) {
		edges, n := follow(x, s, len(x)-2)
		head, m := follow(x, s, len(x)-1)
		if n == 0 || m == n {
			continue
		}
		for a := range s {
			moved := exact.Abs(exact.Sub(exact.Quo(head[a], exact.Int(m)), exact.Quo(edges[a], exact.Int(n))))
			w.AtMostRat(moved, exact.Frac(1, n+more), func() ledger.Instance {
				return ledger.Instance{"S": s, "X": ledger.OneBased(x), "graph": graph.Chain(len(x)), "s'": a + 1}
			})
		}
	}
}

var exICL = ledger.Claim{
	ID: "ex-icl", Number: "Section 2.3", Title: "Learning a function in context is an instance of Task 1",
	Statement:  `$\pi(s'\mid s)=\mathbf 1(s'=f(s))$, $f:[S]\to[S]$, is a chain that the prior of Task 1 admits`,
	Hypotheses: `the prior is over irreducible and aperiodic chains; $S \ge 2$`, Tried: triedFunctions,
	Defect: ledger.Missing,
	Check: functionChains(noiseToAll, always(0),
		0).Noted("None of the functions gives an irreducible and " +
		"aperiodic chain: irreducible forces a cyclic permutation, whose period is S (the sides: how many functions " +
		"on two states there are, and how many do). A gap in the hypotheses; the graph of the example is a valid " +
		"one, and noise makes the chain valid too. (With T = 20 and p(2i) = 2i-1 for all i, as in Figure 2, the query " +
		"has a parent, against Task 1; the runs leave that edge out.)"),
	Correction: &ledger.Claim{
		ID: "ex-icl-corrected", Title: "A noisy function is an instance of Task 1",
		Statement:  `for $0<\delta\le1$ every $\pi_\delta = (1-\delta)\mathbf 1(s'=f(s)) + \delta/S$ is irreducible and aperiodic, and $\mathrm{TV}(\pi_\delta(\cdot\mid s), \mathbf 1_{f(s)}) = \delta(1-1/S)$`,
		Parts:      []string{"irreducible and aperiodic", "distance"},
		Hypotheses: noise, Tried: triedFunctions + `; $\delta=1,\frac12,\frac1{10}$`,
		Check: functionChains(noiseToAll, missingOne, 1, 2, 10).Noted("For every function the chain has only positive " +
			"entries. Its stationary measure follows f: for constant f the inputs s_{2k-1} show f's value only, in the " +
			"limit of no noise, where the example has free inputs."),
		Faults: []ledger.Fault{
			ledger.PlantIn("irreducible and aperiodic", "noise to the next state alone",
				functionChains(noiseToNext, always(1), 2)),
			ledger.PlantIn("distance", "delta in place of delta (1 - 1/S)",
				functionChains(noiseToAll, always(1), 1, 2, 10)),
			ledger.Drop(noise, "no noise", functionChains(noiseToAll, missingOne, 0)),
		},
	},
}

const (
	noise          = `$0<\delta\le1$`
	triedFunctions = `all $S^S$ functions for $S=2,\dots,5$`
)

// always returns x for each number of states.
func always(x int) func(states int) *big.Rat { return func(int) *big.Rat { return exact.Int(x) } }

// missingOne is 1 - 1/S.
func missingOne(s int) *big.Rat { return exact.Frac(int64(s-1), int64(s)) }

// functionChains decides, for S = 2, ..., 5 and each delta = 1/d, or delta = 0 for
// d = 0, that all S^S functions f: [S] -> [S] with noise give irreducible and
// aperiodic chains, and that each row has the distance delta far(S) from f.
func functionChains(
	noisy func(f []int, delta *big.Rat) exact.Matrix, far func(states int) *big.Rat, ds ...int64,
) ledger.Check {
	return func(_ *ledger.Env, w *ledger.Worst) string {
		for _, d := range ds {
			delta := new(big.Rat)
			if d > 0 {
				delta = exact.Frac(1, d)
			}
			for s := 2; s <= 5; s++ {
				all, good := int64(0), int64(0)
				for f := range task.Sequences(s, s) {
					if w.Failed() {
						break
					}
					all++
					pi, sure := noisy(f, delta), noisy(f, new(big.Rat))
					if isPrimitive(pi) {
						good++
					}
					for a := range pi {
						distance := exact.TV(pi[a], sure[a])
						w.EqualRat("the distance of a row", distance, exact.Mul(delta, far(s)), func() ledger.Instance {
							return ledger.Instance{"S": s, "delta": delta, "f": ledger.OneBased(f), "row": a + 1}
						})
					}
				}
				w.AtMostRat(exact.Int(all), exact.Int(good), func() ledger.Instance {
					return ledger.Instance{"S": s, "delta": delta}
				})
			}
		}
		return ""
	}
}

// noiseToNext returns (1-delta) 1(s' = f(s)) + delta 1(s' = f(s) + 1).
func noiseToNext(f []int, delta *big.Rat) exact.Matrix {
	pi := exact.Zero(len(f), len(f))
	for a, row := range pi {
		row[f[a]].Sub(exact.Int(1), delta)
		row[(f[a]+1)%len(f)].Add(row[(f[a]+1)%len(f)], delta)
	}
	return pi
}

// noiseToAll returns (1-delta) 1(s' = f(s)) + delta/S.
func noiseToAll(f []int, delta *big.Rat) exact.Matrix {
	pi := exact.Zero(len(f), len(f))
	for a, row := range pi {
		for b, p := range row {
			if b == f[a] {
				p.Sub(exact.Int(1), delta)
			}
			p.Add(p, exact.Quo(delta, exact.Int(len(f))))
		}
	}
	return pi
}

// isPrimitive reports whether a chain is irreducible and aperiodic: its power
// (S-1)^2 + 1 is then positive, by Wielandt's theorem.
func isPrimitive(pi exact.Matrix) bool {
	s := len(pi)
	var power mat.Dense
	power.Pow(mat.NewDense(s, s, pi.Floats()), (s-1)*(s-1)+1)
	return mat.Min(&power) > 0
}

package claims

import (
	"fmt"
	"iter"
	"math/big"
	"math/rand/v2"
	"slices"

	"learncausal/pkg/exact"
	"learncausal/pkg/graph"
	"learncausal/pkg/ledger"
	"learncausal/pkg/task"
)

// setup is the section that defines the transformer and the task, with its two
// examples.
var setup = ledger.Section{Title: "Setup", Claims: []ledger.Claim{
	defAttentionRow, exInductionHead, exInductionHeadCorrected, exICL, exICLCorrected,
}}

var defAttentionRow = ledger.Claim{
	ID: "def-attention-row", Number: "Section 2.1", Title: "A row of the attention pattern", Quick: true,
	Statement:  `$\mathcal S(\mathrm{MASK}(XAX^\top))_{i,j} = \mathcal S(X_{\le i}A^\top x_i)_j$ for $j \le i$`,
	Hypotheses: `any $X \in \mathbb R^{T\times d}$, $A \in \mathbb R^{d\times d}$`,
	Check:      attentionRow(exact.Matrix.T),
	Faults: []ledger.Fault{{
		What:  "A for its transpose",
		Check: attentionRow(func(a exact.Matrix) exact.Matrix { return a }),
	}},
}

// attentionRow compares the scores (X A X^T)_{ij}, j <= i, with X_{<=i} M x_i for
// M = of(A), in integers. Equal scores have equal softmax.
func attentionRow(of func(exact.Matrix) exact.Matrix) ledger.Check {
	return func(e *ledger.Env) ledger.Finding {
		r := rand.New(e.Stream("integers"))
		var w ledger.Worst
		for range e.Budget(500, 100) {
			t, d := 1+r.IntN(5), 1+r.IntN(4)
			x, a := smallIntegers(r, t, d), smallIntegers(r, d, d)
			scores := x.Mul(a).Mul(x.T())
			for i := range t {
				row, query := scores[i : i+1].T()[:i+1], x[i:i+1].T()
				w.EqualMatrix("", row, x[:i+1].Mul(of(a)).Mul(query), func() ledger.Instance {
					return ledger.Instance{"X": x, "A": a, "i": i + 1}
				})
			}
		}
		return w.Finding("A polynomial identity: entry j of both is the scalar x_i^T A x_j, which is its own transpose; checked in integers.")
	}
}

// smallIntegers returns a random matrix with entries from -3 to 3.
func smallIntegers(r *rand.Rand, rows, columns int) exact.Matrix {
	m := exact.Zero(rows, columns)
	for _, row := range m {
		for _, v := range row {
			v.SetInt64(int64(r.IntN(7) - 3))
		}
	}
	return m
}

var exInductionHead = ledger.Claim{
	ID: "ex-induction-head", Number: "Section 2.3", Title: "The induction head is the empirical transition", Quick: true,
	Statement:  `for $p(i)=i-1$: $|\{i:(s_{i-1},s_i)=(s_T,s')\}|\,/\,|\{i:s_{i-1}=s_T\}| = \hat\pi_{s_{1:T}}(s'\mid s_T)$`,
	Hypotheses: `$s_T$ is the value of some parent, so that $\hat\pi$ is defined; $i$ runs over $2,\dots,T$`,
	Corrected:  "ex-induction-head-corrected",
	Check: func(e *ledger.Env) ledger.Finding {
		f := inductionHead(e, 0).Finding(inductionHeadNote)
		if f.Failed() {
			f.Note = "Read with i up to T, as written, the pair (s_{T-1}, s_T) is counted, which is no edge because s_T is drawn uniformly. A matter of the range of i: with i < T it is the empirical transition, and either way the two agree in the limit. Both are 0/0 when no parent has the value of s_T."
		}
		return f
	},
	Faults: []ledger.Fault{{
		What:  "the last two pairs left out of the count instead of none",
		Check: func(e *ledger.Env) ledger.Finding { return inductionHead(e, 2).Finding("") },
	}},
}

var exInductionHeadCorrected = ledger.Claim{
	ID: "ex-induction-head-corrected", Number: "Section 2.3", Title: "The induction head without the query's own pair", Quick: true,
	Statement:  `the same with $i \le T-1$ in both counts; with $i = T$ counted as printed, the two differ by at most $1/(n+1)$, $n = |\{i<T : s_{i-1}=s_T\}|$`,
	Hypotheses: `$n > 0$`,
	Check: func(e *ledger.Env) ledger.Finding {
		w := inductionHead(e, 1)
		onePairMore(e, w)
		return w.Finding(inductionHeadNote)
	},
	Faults: []ledger.Fault{{
		What:  "the last two pairs left out of the count",
		Check: func(e *ledger.Env) ledger.Finding { return inductionHead(e, 2).Finding("") },
	}},
}

const inductionHeadNote = "Compared on every sequence in exact counts."

// chainSequences yields every sequence up to S = 3 and T = 8 with the number of
// its states.
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
			counts[x[i]].Add(counts[x[i]], exact.Frac(1, 1))
			n++
		}
	}
	return counts, n
}

// inductionHead compares the shares among the pairs (s_{i-1}, s_i), i = 2, ...,
// T-left, with the empirical transition over the edges of the chain, which are
// those with i < T. It stops at the first difference, which is the smallest.
func inductionHead(e *ledger.Env, left int) *ledger.Worst {
	w := new(ledger.Worst)
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
	return w
}

// onePairMore decides that the pair of the query, where it is counted, moves no
// share by more than 1/(n+1).
func onePairMore(e *ledger.Env, w *ledger.Worst) {
	for s, x := range chainSequences(e) {
		edges, n := follow(x, s, len(x)-2)
		head, m := follow(x, s, len(x)-1)
		if n == 0 || m == n {
			continue
		}
		for a := range s {
			moved := exact.Abs(exact.Sub(exact.Quo(head[a], exact.Frac(m, 1)), exact.Quo(edges[a], exact.Frac(n, 1))))
			w.AtMostRat(moved, exact.Frac(1, n+1), func() ledger.Instance {
				return ledger.Instance{"S": s, "s": ledger.OneBased(x), "graph": graph.Chain(len(x)), "s'": a + 1}
			})
		}
	}
}

var exICL = ledger.Claim{
	ID: "ex-icl", Number: "Section 2.3", Title: "Learning a function in context is an instance of Task 1", Quick: true,
	Statement:  `$\pi(s'\mid s)=\mathbf 1(s'=f(s))$, $f:[S]\to[S]$, is a chain that the prior of Task 1 admits`,
	Hypotheses: `the prior is over irreducible and aperiodic chains; $S \ge 2$`,
	Corrected:  "ex-icl-corrected",
	Check:      functionChains(new(big.Rat)),
	Faults: []ledger.Fault{{
		What: "the noise of the corrected statement put at 0", Check: functionChains(new(big.Rat)),
	}},
}

var exICLCorrected = ledger.Claim{
	ID: "ex-icl-corrected", Number: "Section 2.3", Title: "A noisy function is an instance of Task 1", Quick: true,
	Statement:  `for $0<\delta\le1$ every $\pi_\delta = (1-\delta)\mathbf 1(s'=f(s)) + \delta/S$ is irreducible and aperiodic, and $\mathrm{TV}(\pi_\delta(\cdot\mid s), \mathbf 1_{f(s)}) = \delta(1-1/S)$`,
	Hypotheses: `all $S^S$ functions for $S=2,\dots,5$; $\delta = 1/10$`,
	Check:      functionChains(big.NewRat(1, 10)),
	Faults:     []ledger.Fault{{What: "no noise", Check: functionChains(new(big.Rat))}},
}

// functionChains counts, for each S, the f: [S] -> [S] whose chain, mixed with
// noise delta over the uniform law, is irreducible and aperiodic with rows at the
// distance delta (1 - 1/S) from f; all S^S should be.
func functionChains(delta *big.Rat) ledger.Check {
	return func(*ledger.Env) ledger.Finding {
		var w ledger.Worst
		total := 0
		for s := 2; s <= 5; s++ {
			far := exact.Mul(delta, exact.Frac(int64(s-1), int64(s)))
			all, good := int64(0), int64(0)
			for f := range task.Sequences(s, s) {
				all++
				pi := noisyFunction(f, delta)
				if primitive, _ := isPrimitive(pi); primitive && exact.TV(pi[0], noisyFunction(f, new(big.Rat))[0]).Cmp(far) == 0 {
					good++
				}
			}
			total += int(all)
			w.AtMostRat(exact.Frac(all, 1), exact.Frac(good, 1), func() ledger.Instance {
				return ledger.Instance{"S": s, "delta": delta}
			})
		}
		w.Instances = total
		f := w.Finding("For every function the chain has only positive entries. Its stationary measure follows f: for constant f the inputs s_{2k-1} show f's value only, in the limit of no noise, where the example has free inputs.")
		if f.Failed() {
			f.Note = fmt.Sprintf("None of the %d functions for S = 2..5 gives an irreducible and aperiodic chain: irreducible forces a cyclic permutation, whose period is S (the sides: how many functions on two states there are, and how many do). A gap in the hypotheses; the graph of the example is a valid one, and noise makes the chain valid too.", total)
		}
		return f
	}
}

// noisyFunction returns (1-delta) 1(s' = f(s)) + delta/S.
func noisyFunction(f []int, delta *big.Rat) exact.Matrix {
	pi := exact.Zero(len(f), len(f))
	for a, row := range pi {
		for b, p := range row {
			if b == f[a] {
				p.Sub(exact.Frac(1, 1), delta)
			}
			p.Add(p, exact.Quo(delta, exact.Frac(int64(len(f)), 1)))
		}
	}
	return pi
}

// isPrimitive tells whether a chain is irreducible and aperiodic, and if not,
// which of the two it lacks.
func isPrimitive(pi exact.Matrix) (bool, string) {
	s := len(pi)
	step, lazy := make([]uint, s), make([]uint, s) // bit j of entry i: from i to j
	for i, row := range pi {
		for j, p := range row {
			step[i] |= uint(p.Sign()) << j
		}
		lazy[i] = step[i] | 1<<i
	}
	full := func(step []uint, steps int) bool { // from everywhere to everywhere
		reach := slices.Clone(step)
		for range steps - 1 {
			for i, from := range reach {
				reach[i] = 0
				for j := range s {
					reach[i] |= step[j] * (from >> j & 1)
				}
			}
		}
		return !slices.ContainsFunc(reach, func(r uint) bool { return r != 1<<s-1 })
	}
	switch {
	case full(step, (s-1)*(s-1)+1): // Wielandt's bound for a primitive matrix
		return true, ""
	case full(lazy, s):
		return false, "periodic"
	}
	return false, "reducible"
}

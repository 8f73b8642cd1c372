package claims

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"sort"

	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat/distuv"

	"learncausal/pkg/exact"
	"learncausal/pkg/graph"
	"learncausal/pkg/markov"
	"learncausal/pkg/task"
)

const sectionMainResults = "Main Results"

func assumptionClaims() []Claim {
	return []Claim{
		{
			ID: "alg-training", Title: "The loop of stage 2", Section: sectionMainResults, Quick: true,
			Statement:  `stage 2, $t=\tau_1,\dots,\tau_1+\tau_2$, is $\tau_2$ steps of gradient descent on $A^{(2)}$ at $A^{(1)}(\tau_1)$`,
			Hypotheses: `$\tau_1,\tau_2\ge1$; the indices of the pseudocode followed literally`,
			Corrected:  "alg-training-corrected",
			Check:      func(e *Env) Finding { return stageTwoLoop(0, false) },
			Fault:      "the loop begun one step earlier still",
			Faulty:     func(e *Env) Finding { return stageTwoLoop(-1, false) },
		},
		{
			ID: "alg-training-corrected", Title: "The loop of stage 2, begun at the next index", Section: sectionMainResults, Quick: true,
			Statement:  `with $A^{(2)}(\tau_1) := A^{(2)}(0)$ and $t=\tau_1+1,\dots,\tau_1+\tau_2$, stage 2 is $\tau_2$ steps on $A^{(2)}$ at $A^{(1)}(\tau_1)$`,
			Hypotheses: `$\tau_1,\tau_2\ge1$`,
			Check:      func(e *Env) Finding { return stageTwoLoop(1, true) },
			Fault:      "the loop begun at tau_1",
			Faulty:     func(e *Env) Finding { return stageTwoLoop(0, true) },
		},
		{
			ID: "assume-prior-remark", Title: "What the assumptions on the prior imply, and who meets them", Section: sectionMainResults, Quick: true,
			Statement:  `symmetry and constant mean make all $\pi(s'\mid s)$, $s'\ne s$, alike in law, and all $\pi(s\mid s)$, with mean $1/S$; Dirichlet rows with $\alpha=\Theta(1)$ meet the assumptions with probability $0.99$ for a $\gamma=\Theta(1)$`,
			Hypotheses: `the constant in $\Theta(1)$ does not depend on $S$`,
			Corrected:  "assume-prior-remark-corrected",
			Check:      func(e *Env) Finding { return priorRemark(e, false, false) },
			Fault:      "relabelings by cycles only",
			Faulty:     func(e *Env) Finding { return priorRemark(e, true, true) },
		},
		{
			ID: "assume-prior-remark-corrected", Title: "Dirichlet rows meet the assumptions with a gamma that falls with S", Section: sectionMainResults, Quick: true,
			Statement:  `the marginals as printed; for $\alpha=1$, $P(\min\pi(s'\mid s)>\gamma/S) = (1-\gamma)^{S(S-1)}$, so that $0.99$ needs $\gamma \le 1-0.99^{1/(S(S-1))} \approx 0.01/S^2$, and with a third of that both bullets on $\pi$ hold with probability $0.99$`,
			Hypotheses: `$S \in \{2,3,5,10\}$; rows independent and uniform on the simplex`,
			Check:      func(e *Env) Finding { return dirichletGamma(e, 1) },
			Fault:      "gamma ten times as large",
			Faulty:     func(e *Env) Finding { return dirichletGamma(e, 10) },
		},
		{
			ID: "def-teff-examples", Title: "Effective length of the two examples", Section: sectionMainResults, Quick: true,
			Statement:  `each tree of the chain $p(i)=i-1$ and of the graph $p(2k)=2k-1$ has one leaf, so $T_{\mathrm{eff}} = T$`,
			Hypotheses: `$T=2,\dots,200$, position $T$ a root`,
			Check:      func(e *Env) Finding { return effectiveLengths(graph.Chain, graph.InContext) },
			Fault:      "the chain for a star",
			Faulty: func(e *Env) Finding {
				return effectiveLengths(graph.Star, graph.InContext)
			},
		},
	}
}

// stageTwoLoop follows the indices of Algorithm 1 with stage 2 over
// t = tau1+first, ..., tau1+tau2: which iterates are read before they are
// written, at which A1 each gradient is taken, and how many updates there are.
// carry writes A2(tau1) := A2(0) between the stages.
func stageTwoLoop(first int, carry bool) Finding {
	f := Finding{Tier: Exact, Verdict: Holds, Note: "Followed for tau_1, tau_2 = 1..6."}
	for _, tau1 := range []int{2, 1, 3, 4, 5, 6} { // 2 shows all faults
		for tau2 := 1; tau2 <= 6; tau2++ {
			f.Instances++
			written := map[int]bool{0: true} // indices of A2
			at := map[int]int{}              // theta^(t) has A1(at[t])
			for t := range tau1 + 1 {
				at[t] = t
			}
			if carry {
				written[tau1] = true
			}
			updates := 0
			var faults []string
			for t := tau1 + first; t <= tau1+tau2; t++ {
				if !written[t-1] {
					faults = append(faults, fmt.Sprintf("t=%d reads A2(%d), which is not written", t, t-1))
				}
				if a, ok := at[t-1]; !ok || a != tau1 {
					faults = append(faults, fmt.Sprintf("t=%d takes the gradient at A1(%d), not A1(%d)", t, a, tau1))
				}
				written[t], at[t] = true, tau1
				updates++
			}
			if updates != tau2 {
				faults = append(faults, fmt.Sprintf("%d updates, not %d", updates, tau2))
			}
			if f.Instance == nil || len(faults) > 0 && f.Verdict == Holds {
				f.LHS, f.RHS = float64(updates), float64(tau2)
				f.Instance = Instance{"tau1": tau1, "tau2": tau2}
			}
			if len(faults) > 0 && f.Verdict == Holds {
				f.Verdict, f.Margin = Fails, Deviation(f.LHS, f.RHS)
				f.Witness = Instance{"tau1": tau1, "tau2": tau2, "what goes wrong": faults}
				f.Note = "An off-by-one in the printed loop: it makes tau_2+1 steps, the first from A2(tau_1-1), which stage 1 never writes, with a gradient taken before the last step of stage 1. The proofs use the corrected loop."
			}
		}
	}
	return f
}

// priorRemark checks the marginals over the orbits of random rational matrices
// of trace one, all relabelings or cycles only, and then decides the remark on
// Dirichlet rows at gamma = 1/1000 for alpha = 1.
func priorRemark(e *Env, cyclic, marginalsOnly bool) Finding {
	r := rand.New(e.Stream("bases"))
	f := Finding{Tier: Exact, Verdict: Holds, Seed: Seed}
	for range e.Budget(100, 30) {
		s := 3 + r.IntN(2)
		den := 2*s + r.IntN(20)
		base := traceOne(r, s, den)
		f.Instances++
		marginal := make([][]int, s*s) // numerators of pi(b|a) over the orbit, sorted
		permutations(s, func(sigma []int) {
			if cyclic && (sigma[1]-sigma[0]+s)%s != 1 || cyclic && (sigma[2]-sigma[1]+s)%s != 1 {
				return
			}
			for a := range s {
				for b := range s {
					to := sigma[a]*s + sigma[b]
					marginal[to] = append(marginal[to], base[a*s+b])
				}
			}
		})
		for k, m := range marginal {
			sort.Ints(m)
			sum := 0
			for _, v := range m {
				sum += v
			}
			like := marginal[0]
			if k%(s+1) != 0 {
				like = marginal[1]
			}
			if fmt.Sprint(m) != fmt.Sprint(like) || s*sum != den*len(m) {
				rows := make([][]*big.Rat, s)
				for i := range rows {
					for j := range s {
						rows[i] = append(rows[i], big.NewRat(int64(base[i*s+j]), int64(den)))
					}
				}
				f.Verdict, f.LHS, f.RHS = Fails, float64(sum)/float64(den*len(m)), 1/float64(s)
				f.Margin = min(Deviation(f.LHS, f.RHS), -1/float64(len(m)))
				f.Witness = Instance{"S": s, "base": exact.Matrix(rows).Strings(), "entry": []int{k/s + 1, k%s + 1}}
				f.Note = "An entry whose law differs from that of its like."
				return f
			}
		}
	}
	if marginalsOnly {
		return f
	}
	// A row of Dirichlet(1) has all entries above x with probability (1 - S x)^(S-1).
	for s := int64(2); ; s++ {
		p := big.NewRat(1, 1)
		for range s * (s - 1) {
			p.Mul(p, big.NewRat(999, 1000))
		}
		f.Instances++
		if p.Cmp(big.NewRat(99, 100)) >= 0 {
			continue
		}
		f.Verdict, f.LHS, f.RHS = Fails, 0.99, exact.Float(p)
		f.Margin = Slack(f.LHS, f.RHS)
		f.Instance = Instance{"alpha": 1, "gamma": "1/1000", "S": s}
		f.Witness = Instance{"alpha": 1, "gamma": "1/1000", "S": s, "P(min entry > gamma/S)": fmt.Sprintf("(999/1000)^%d = %s", s*(s-1), p.FloatString(6))}
		f.Note = fmt.Sprintf("The marginals are as printed. The second half depends on what Theta(1) may depend on: it holds for each S by itself, but with no gamma for all S: at alpha = 1 the first bullet has probability (1-gamma)^(S(S-1)), below 0.99 for every gamma once S is large (here for gamma = 1/1000). For the S = 10, alpha = 0.1 of the experiments even probability 0.99 needs gamma < %.0e.", gammaAbove(10, 0.1))
		return f
	}
}

// gammaAbove returns an upper bound on the gamma for which all entries of S
// independent rows of Dirichlet(alpha) exceed gamma/S with probability 0.99: one
// entry of each row does, and these are independent Beta(alpha, (S-1) alpha).
func gammaAbove(s, alpha float64) float64 {
	p := 1 - math.Pow(0.99, 1/s)
	return s * mathext.InvRegIncBeta(alpha, (s-1)*alpha, p)
}

// traceOne returns the numerators over den of a random matrix with positive
// entries, rows that sum to one and trace one. It needs den >= 2 s.
func traceOne(r *rand.Rand, s, den int) []int {
	diagonal := composition(r, s, den)
	m := make([]int, s*s)
	for a := range s {
		rest := composition(r, s-1, den-diagonal[a])
		for b := range s {
			switch {
			case b == a:
				m[a*s+b] = diagonal[a]
			case b < a:
				m[a*s+b] = rest[b]
			default:
				m[a*s+b] = rest[b-1]
			}
		}
	}
	return m
}

// composition returns n positive integers that sum to total.
func composition(r *rand.Rand, n, total int) []int {
	parts := make([]int, n)
	for i := range parts {
		parts[i] = 1
	}
	for range total - n {
		parts[r.IntN(n)]++
	}
	return parts
}

// permutations calls f with each permutation of 0..n-1.
func permutations(n int, f func(sigma []int)) {
next:
	for x := range task.Sequences(n, n) {
		seen := make([]bool, n)
		for _, v := range x {
			if seen[v] {
				continue next
			}
			seen[v] = true
		}
		f(x)
	}
}

// dirichletGamma draws rows of Dirichlet(1) and bounds from below the
// probability that the first two bullets of the assumption hold with
// gamma = factor (1 - 0.99^(1/(S(S-1)))) / 3.
func dirichletGamma(e *Env, factor float64) Finding {
	const draws, level = 40000, 1e-6 / 4 // four values of S
	f := Finding{Tier: Enclosed, Verdict: Holds, RHS: 1, Margin: 1, Seed: Seed}
	for i, s := range []int{2, 3, 5, 10}[:e.Budget(4, 3)] {
		gamma := factor * (1 - math.Pow(0.99, 1/float64(s*(s-1)))) / 3
		prior, err := markov.NewDirichlet(s, 1)
		if err != nil {
			panic("claims: " + err.Error())
		}
		src := e.Stream("dirichlet", uint64(i))
		pi, mu, good := make([]float64, s*s), make([]float64, s), 0
		for range draws {
			prior.Draw(pi, mu, src)
			if tightGamma(pi, mu) > gamma {
				good++
			}
		}
		// Clopper and Pearson's lower limit.
		low := distuv.Beta{Alpha: float64(good), Beta: float64(draws - good + 1)}.Quantile(level)
		f.Instances++
		if low < f.RHS {
			f.LHS, f.RHS, f.Margin = 0.99, low, Slack(0.99, low)
			f.Instance = Instance{"S": s, "alpha": 1, "gamma": fmt.Sprintf("%.6g", gamma), "draws": draws}
		}
	}
	f.Note = "Lower confidence limit of the probability, at error 1e-6 over all S. At S = 2 the second bullet, that the chain does not mix at once, costs about as much as the first, at S = 10 nothing. For general alpha the first one gives gamma of order S^(-2/alpha), a power of S, so constants polynomial in S and 1/gamma remain so."
	if f.Margin < 0 {
		f.Verdict, f.Witness = Fails, f.Instance
	}
	return f
}

// effectiveLengths checks T_eff = T, once by the package and once by counting
// the leaves below each root.
func effectiveLengths(families ...func(int) *graph.Forest) Finding {
	c := comparison{}
	for _, family := range families {
		for t := 2; t <= 200; t++ {
			g := family(t)
			most := 0
			for _, tree := range g.Trees() {
				leaves := 0
				for _, i := range tree {
					inner := false
					for _, j := range tree {
						inner = inner || g.Parent(j) == i
					}
					if !inner {
						leaves++
					}
				}
				most = max(most, leaves)
			}
			c.equal([]float64{g.TEff(), float64(most)}, []float64{float64(t), 1}, func() Instance {
				return Instance{"T": t, "graph": parentList(g)}
			})
		}
	}
	return c.finding(Exact, "A path has one leaf, and the query is a tree of its own.")
}

package claims

import (
	"math/big"

	"learncausal/pkg/exact"
)

// The old forms of what markov.go shares with the sections after it.

func eachKernel(e *Env, n int, f func(pi exact.Matrix)) {
	for pi := range rationalKernels(e.Env, n) {
		f(pi)
	}
}

func differ(a, b exact.Matrix) (i, j int, ok bool) {
	for i := range a {
		for j := range a[i] {
			if a[i][j].Cmp(b[i][j]) != 0 {
				return i, j, true
			}
		}
	}
	return 0, 0, false
}

type identity struct{ Finding }

func newIdentity() *identity { return &identity{Finding{Tier: Exact, Verdict: Holds}} }

func (f *identity) equal(what string, pi, left, right exact.Matrix) {
	f.Instances++
	i, j, bad := differ(left, right)
	f.decide(what, pi, left[i][j], right[i][j], i, j, bad)
}

func (f *identity) decide(what string, pi exact.Matrix, left, right *big.Rat, i, j int, bad bool) {
	if f.Verdict == Fails {
		return
	}
	f.LHS, f.RHS = exact.Float(left), exact.Float(right)
	f.Instance = Instance{"S": len(pi), "pi": pi.Strings()}
	if bad {
		f.Verdict, f.Margin = Fails, Deviation(f.LHS, f.RHS)
		f.Witness = Instance{
			"S": len(pi), "pi": pi.Strings(), "equation": what, "s": i + 1, "s'": j + 1,
			"lhs": left.RatString(), "rhs": right.RatString(),
		}
	}
}

func piWitness(pi exact.Matrix) Instance {
	return Instance{
		"S": len(pi), "pi": pi.Strings(),
		"mu": exact.MustStationary(pi).Strings(), "gamma": exactFloorGamma(pi).RatString(),
	}
}

func timesPower(x, gamma *big.Rat, k int) *big.Rat { return exact.Mul(x, exact.Pow(gamma, k)) }

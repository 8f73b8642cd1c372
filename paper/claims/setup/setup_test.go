package setup

import (
	"math/big"
	"slices"
	"testing"

	"learncausal/paper/claims/compare"
	"learncausal/paper/claims/instruments"
	"learncausal/paper/exact"
	"learncausal/pkg/task"
)

// The primitive chains over three states, and the one over four that takes longest, have a positive
// power up to the twelfth, and no others have.
func TestPrimitiveChainsHaveAPositivePower(t *testing.T) {
	check := compare.With(t)
	chains := []exact.Matrix{exact.Rats("0 1 0 0; 0 0 1 0; 0 0 0 1; 1/2 1/2 0 0")}
	for x := range task.Sequences(7, 3) {
		pi := exact.Zero(3, 3)
		for a, k := range x {
			subset := k + 1
			for b := range pi[a] {
				pi[a][b].SetInt64(int64(subset >> b & 1))
			}
		}
		chains = append(chains, pi)
	}
	for _, pi := range chains {
		positive := false
		for k, power := 1, pi; k <= 12; k, power = k+1, power.Mul(pi) {
			positive = positive || !slices.ContainsFunc(slices.Concat(power...), func(x *big.Rat) bool { return x.Sign() == 0 })
		}
		check("whether a chain is primitive", instruments.Indicator(isPrimitive(pi)), instruments.Indicator(positive))
	}
}

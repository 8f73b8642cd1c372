package claims

import (
	"math/big"

	"learncausal/paper/exact"
	"learncausal/pkg/num"
)

// unit returns 1 if b holds, and 0 otherwise.
func unit(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// sigmoid maps a coordinate of a search to (0, 1).
func sigmoid(x float64) float64 { return 1 / (1 + num.Exp(-x)) }

func isZero(x *big.Rat) bool { return x.Sign() == 0 }

// zeros returns the vector of n zeros, each its own.
func zeros(n int) exact.Vector { return exact.Zero(1, n)[0] }

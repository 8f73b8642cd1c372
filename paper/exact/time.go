package exact

import (
	"fmt"
	"math/big"
)

// TimeBound encloses the bound of Lemma 8 (lem-a1-dynamics-sharp) on the number of steps
// after which a row of i positions has attention 1-alpha at a position whose gradient
// exceeds the others by delta, with eta = eta1 beta0/T:
//
//	e^(eta delta/4) (1/alpha + i + 2 log(i/alpha)) / (eta delta)
//
// It panics unless all are positive.
func TimeBound(alpha, i, delta, eta *big.Rat) Interval {
	for _, x := range []*big.Rat{alpha, i, delta, eta} {
		if x.Sign() <= 0 {
			panic(fmt.Sprintf("exact: the time of a row with %v, want positive numbers", x.RatString()))
		}
	}
	step := Point(Mul(eta, delta))
	sum := Point(Add(Quo(Int(1), alpha), i))
	sum = sum.Add(Point(Int(2)).Mul(Point(Quo(i, alpha)).Log()))
	return step.Quo(Point(Int(4))).Exp().Mul(sum).Quo(step)
}

// LeaderTime encloses int dw/(P(1-P)), w = log(P/(1-P)), from P = 1/n to 1-alpha,
//
//	1/alpha - 1 - alpha/(1-alpha) + n - 1 - 1/(n-1) + 2 log((1-alpha)(n-1)/alpha)
//
// The time of a row of n positions of which one leads by delta is (n-1)/(n delta) times
// this, in small steps. It panics unless n > 1 and 0 < alpha < 1.
func LeaderTime(n, alpha *big.Rat) Interval {
	one := Int(1)
	if n.Cmp(one) <= 0 || alpha.Sign() <= 0 || alpha.Cmp(one) >= 0 {
		panic(fmt.Sprintf("exact: a leader of %v positions until alpha = %v", n.RatString(), alpha.RatString()))
	}
	up, down := Quo(Sub(one, alpha), alpha), Sub(n, one)
	sum := Add(Sub(up, Quo(one, up)), Sub(down, Quo(one, down)))
	return Point(sum).Add(Point(Int(2)).Mul(Point(Mul(up, down)).Log()))
}

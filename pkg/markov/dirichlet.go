package markov

import (
	"fmt"
	"math/rand/v2"
	"strconv"

	"learncausal/pkg/internal/sampler"
	"learncausal/pkg/num"
)

// Dirichlet is the prior of the paper's experiments: the rows of pi are independent, each
// Dirichlet(alpha, ..., alpha). [NewDirichlet] makes one.
type Dirichlet struct {
	S     int
	Alpha float64
	zig   func() *sampler.Ziggurat // built by the first draw
}

// NewDirichlet returns the prior with parameter alpha over S states. It returns an error
// unless 2 <= S <= 255 and 0.001 <= alpha <= 1000.
func NewDirichlet(states int, alpha float64) (*Dirichlet, error) {
	if states < 2 || states > 255 {
		return nil, fmt.Errorf("markov: Dirichlet prior over %d states, want 2 to 255", states)
	}
	if !(alpha >= 0.001 && alpha <= 1000) {
		return nil, fmt.Errorf("markov: Dirichlet parameter %v, want 0.001 to 1000", alpha)
	}
	return &Dirichlet{states, alpha, sampler.ZigguratOf(alpha)}, nil
}

// States returns S.
func (d *Dirichlet) States() int { return d.S }

// String returns the prior in the notation of [ParsePrior].
func (d *Dirichlet) String() string {
	return "dirichlet(" + strconv.FormatFloat(d.Alpha, 'g', -1, 64) + ")"
}

// Draw implements [Prior]. Small entries may underflow; each row has an entry of at least
// 1/S. The stationary measure is computed before entries underflow.
//
// For alpha < 0.1 it uses logarithms and takes ten to thirty times as long as for larger
// alpha. The samplers of package task do not.
func (d *Dirichlet) Draw(pi, mu []float64, src *rand.PCG) {
	s := d.S
	checkRoom(pi, mu, s)
	var scratch [maxStack * maxStack]float64
	a := room(scratch[:], s*s)
	if d.Alpha >= small {
		for r := 0; r < s*s; r += s {
			d.DrawRow(pi[r:r+s], src)
		}
		sampler.MustBeIrreducible(stationary(mu, pi, a))
		return
	}
	for r := 0; r < s*s; r += s {
		d.logRow(a[r:r+s], src)
	}
	exponentiate(pi, a)
	sampler.MustBeIrreducible(sampler.StationaryLog(mu, a))
}

// small is the alpha below which powers of draws of a ziggurat may underflow. At 0.1 the smallest is 2^-530.
const small = 0.1

// DrawRow writes one Dirichlet(alpha, ..., alpha) vector, of any length, to row.
func (d *Dirichlet) DrawRow(row []float64, src *rand.PCG) {
	if d.Alpha < small {
		d.logRow(row, src)
		exponentiate(row, row)
		return
	}
	z, sum := d.zig(), 0.0
	for j := range row {
		_, x := z.Draw(src)
		row[j] = x
		sum += x
	}
	inv := 1 / sum
	for j := range row {
		row[j] *= inv
	}
}

func exponentiate(dst, x []float64) {
	for j, v := range x {
		dst[j] = num.Exp(v)
	}
}

// logRow writes the logarithms of a vector of DrawRow, which cannot underflow.
func (d *Dirichlet) logRow(row []float64, src *rand.PCG) {
	z := d.zig()
	for j := range row {
		y, _ := z.Draw(src)
		row[j] = z.Log(y)
	}
	total := sampler.LogSum(row)
	for j := range row {
		row[j] -= total
	}
}

package markov

import (
	"fmt"
	"math/rand/v2"
	"strconv"

	"learncausal/pkg/num"
)

// Dirichlet is the prior of the paper's experiments: the rows of pi are
// independent, each Dirichlet(alpha, ..., alpha). It is made by [NewDirichlet].
type Dirichlet struct {
	S     int
	Alpha float64
	zig   func() *ziggurat // is built when it is drawn from
}

// NewDirichlet returns the prior with parameter alpha over S states,
// 2 <= S <= 255 and 0.001 <= alpha <= 1000.
func NewDirichlet(states int, alpha float64) (*Dirichlet, error) {
	if states < 2 || states > 255 {
		return nil, fmt.Errorf("markov: Dirichlet prior over %d states, want 2 to 255", states)
	}
	if !(alpha >= 0.001 && alpha <= 1000) {
		return nil, fmt.Errorf("markov: Dirichlet parameter %v, want 0.001 to 1000", alpha)
	}
	return &Dirichlet{states, alpha, zigguratOf(alpha)}, nil
}

// States returns S.
func (d *Dirichlet) States() int { return d.S }

// String returns the prior in the notation of [ParsePrior].
func (d *Dirichlet) String() string {
	return "dirichlet(" + strconv.FormatFloat(d.Alpha, 'g', -1, 64) + ")"
}

// Draw implements [Prior]. Entries may be as small as the smallest positive
// float64, or zero below it; each row has an entry of at least 1/S. The
// stationary measure is that of the exact draw, also where entries underflow.
//
// Where alpha is below 0.1 entries may underflow, and a draw goes by logarithms,
// which takes ten to thirty times as long; not so those of [Dirichlet.NewDrawer].
func (d *Dirichlet) Draw(pi, mu []float64, src *rand.PCG) {
	s := d.S
	checkRoom(pi, mu, s)
	var scratch [maxStack * maxStack]float64
	a := scratch[:]
	if len(a) < s*s {
		a = make([]float64, s*s)
	}
	a = a[:s*s]
	if d.Alpha >= small {
		for r := 0; r < s*s; r += s {
			d.DrawRow(pi[r:r+s], src)
		}
		if stationary(mu, pi, a) != nil {
			panic("markov: a matrix of positive entries is reducible")
		}
		return
	}
	for r := 0; r < s*s; r += s {
		row := a[r : r+s]
		d.logRow(row, src)
		for j, v := range row {
			pi[r+j] = num.Exp(v)
		}
	}
	if stationaryLog(mu, a) != nil {
		panic("markov: a matrix of positive entries is reducible")
	}
}

// small is the alpha below which powers of what a ziggurat draws may underflow. At
// 0.1 the least is 2^-530.
const small = 0.1

// DrawRow writes one Dirichlet(alpha, ..., alpha) vector, of any length, to row.
func (d *Dirichlet) DrawRow(row []float64, src *rand.PCG) {
	if d.Alpha < small {
		d.logRow(row, src)
		for j, v := range row {
			row[j] = num.Exp(v)
		}
		return
	}
	z, sum := d.zig(), 0.0
	for j := range row {
		_, x := z.draw(src)
		row[j] = x
		sum += x
	}
	inv := 1 / sum
	for j := range row {
		row[j] *= inv
	}
}

// logRow writes the logarithms of such a vector, which cannot underflow.
func (d *Dirichlet) logRow(row []float64, src *rand.PCG) {
	z := d.zig()
	for j := range row {
		y, _ := z.draw(src)
		row[j] = z.log(y)
	}
	total := logSum(row)
	for j := range row {
		row[j] -= total
	}
}

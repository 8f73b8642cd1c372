package exact

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"

	"learncausal/pkg/graph"
)

// A CertifiedRun is Algorithm 1 on an instance so small that the population loss is a finite sum. Outward
// rounded arithmetic encloses theta from the first step of stage 1 to the last step of stage 2. An integer n
// stands for a number from n to n+2 billionths.
type CertifiedRun struct {
	Parents             []int    // counted from 1, 0 for a root
	Orbits              []Matrix // the prior is uniform over their relabelings
	Eps                 *big.Rat
	Beta0, Rate1, Rate2 *big.Rat
	Tau1, Tau2          int
	Path                [][]int64 // after each step, the rows of the matrix that it moved
	Attention           int64     // least attention of a child to its parent at the end
	Excess              int64     // L - L* + log(1 + S eps) at the end
}

//go:embed certified.json
var certifiedRuns []byte

// CertifiedRuns returns the stored runs.
func CertifiedRuns() (all []CertifiedRun, err error) { return all, json.Unmarshal(certifiedRuns, &all) }

// Graph returns the graph. It panics if a parent does not come before its child.
func (r CertifiedRun) Graph() *graph.Forest {
	return graph.Grow(len(r.Parents), func(i int) int { return r.Parents[i] - 1 })
}

// Enclose returns the run with its path and results computed by [Descent]. There
// is an error if an enclosure is wider than a billionth.
func (r CertifiedRun) Enclose() (CertifiedRun, error) {
	d := Descent{
		Population: Population{Graph: r.Graph(), Pis: Orbits(r.Orbits...), Eps: r.Eps},
		Beta0:      r.Beta0, Rate1: r.Rate1, Rate2: r.Rate2, Tau1: r.Tau1, Tau2: r.Tau2,
	}
	var err error
	units := func(x Interval) int64 {
		n, wide := billionths(x)
		err = cmp.Or(err, wide)
		return n
	}
	path := d.Run()
	r.Path = nil
	for t, m := range path[1:] {
		moved := m.A1
		if t >= r.Tau1 {
			moved = m.A2
		}
		var row []int64
		for _, x := range slices.Concat(moved...) {
			row = append(row, units(x))
		}
		r.Path = append(r.Path, row)
	}
	last := path[len(path)-1]
	attention := last.Attention()
	r.Attention, r.Excess = 1e9, units(d.Excess(last))
	for _, e := range d.Graph.Edges() {
		r.Attention = min(r.Attention, units(attention[e[1]][e[0]]))
	}
	return r, err
}

// billionths returns the n for which x lies between n and n+2 billionths, or an error if x is wider than one.
func billionths(x Interval) (int64, error) {
	billion := Frac(1e9, 1)
	lo, hi := Mul(x.Lo, billion), Mul(x.Hi, billion)
	if Sub(hi, lo).Cmp(Frac(1, 1)) > 0 {
		return 0, fmt.Errorf("exact: an enclosure %v of a certified run, want a width of at most 1e-9", x)
	}
	return new(big.Int).Div(lo.Num(), lo.Denom()).Int64(), nil
}

// Decide returns an error that names the first step whose stored enclosure is wrong.
func (r CertifiedRun) Decide() error {
	fresh, err := r.Enclose()
	if err != nil {
		return err
	}
	for t := range max(len(fresh.Path), len(r.Path)) {
		if len(fresh.Path) != len(r.Path) || !slices.Equal(fresh.Path[t], r.Path[t]) {
			return fmt.Errorf("exact: step %d of the certified run on %v is not in the stored enclosure", t+1, r.Parents)
		}
	}
	if got, want := [2]int64{r.Attention, r.Excess}, [2]int64{fresh.Attention, fresh.Excess}; got != want {
		return fmt.Errorf("exact: the certified run on %v stores the attention and excess %d, want %d",
			r.Parents, got, want)
	}
	return nil
}

package markov

import (
	"encoding/json"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"learncausal/pkg/internal/sampler"
	"learncausal/pkg/num"
)

func TestStationaryAgreesWithReference(t *testing.T) {
	raw, err := os.ReadFile("testdata/task-stationary.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Cases []struct {
			Label string
			S     int
			Pi    [][]float64
			Mu    []float64
		}
	}
	if err := json.Unmarshal(raw, &file); err != nil || len(file.Cases) == 0 {
		t.Fatal(err, "no cases")
	}
	for _, c := range file.Cases {
		checkStationary(t, c.Label, slices.Concat(c.Pi...), c.Mu, 1e-14)
	}
}

// checkStationary compares both paths with want, by the largest relative error.
func checkStationary(t *testing.T, name string, pi, want []float64, tol float64) {
	t.Helper()
	mu := make([]float64, len(want))
	if err := Stationary(mu, pi); err != nil {
		t.Errorf("%s: %v", name, err)
	} else if r := relative(mu, want); !(r <= tol) {
		t.Errorf("%s: %v, want %v: relative error %.2g, want %v", name, mu, want, r, tol)
	}
	if err := sampler.StationaryLog(mu, logs(pi)); err != nil {
		t.Errorf("%s, on logarithms: %v", name, err)
	} else if r := relative(mu, want); !(r <= 1e-12) {
		t.Errorf("%s, on logarithms: %v, want %v: relative error %.2g, want 1e-12", name, mu, want, r)
	}
}

func relative(got, want []float64) (worst float64) {
	for i, w := range want {
		if got[i] != w {
			worst = max(worst, math.Abs(got[i]/w-1))
		}
	}
	return worst
}

func logs(pi []float64) []float64 {
	l := make([]float64, len(pi))
	for i, p := range pi {
		l[i] = num.Log(p)
	}
	return l
}

// exact is the stationary measure in rational numbers: mu solves mu (pi - diag(row sums)) = 0,
// by Gauss, after which mu(s) is weighed with the row sum.
func exact(pi []float64, s int) []float64 {
	rat := func(x float64) *big.Rat { return new(big.Rat).SetFloat64(x) }
	m := make([][]*big.Rat, s) // equations in nu; the last one is that mu sums to one
	for j := range m {
		m[j] = slices.Repeat([]*big.Rat{new(big.Rat)}, s+1)
	}
	sums := make([]*big.Rat, s+1)
	sums[s] = rat(1)
	for i := range s {
		sums[i] = new(big.Rat)
		for j := range s {
			sums[i].Add(sums[i], rat(pi[i*s+j]))
			m[j][i] = rat(pi[i*s+j])
		}
		m[i][i].Sub(m[i][i], sums[i])
	}
	m[s-1] = sums
	for c := range s {
		p := c
		for m[p][c].Sign() == 0 {
			p++
		}
		m[c], m[p] = m[p], m[c]
		for r := range s {
			if r == c || m[r][c].Sign() == 0 {
				continue
			}
			f := new(big.Rat).Quo(m[r][c], m[c][c])
			row := make([]*big.Rat, s+1)
			for k := range row {
				row[k] = new(big.Rat).Sub(m[r][k], new(big.Rat).Mul(f, m[c][k]))
			}
			m[r] = row
		}
	}
	mu := make([]float64, s)
	for i := range s {
		v := new(big.Rat).Quo(m[i][s], m[i][i])
		mu[i], _ = v.Mul(v, sums[i]).Float64()
	}
	return mu
}

func TestStationaryOfSpecialChains(t *testing.T) {
	const tiny = 1e-300
	for _, c := range []struct {
		name string
		pi   []float64
		want []float64
	}{
		{"one state", []float64{1}, []float64{1}},
		{"two-cycle", []float64{0, 1, 1, 0}, []float64{0.5, 0.5}},
		{"three-cycle", []float64{0, 1, 0, 0, 0, 1, 1, 0, 0}, []float64{1. / 3, 1. / 3, 1. / 3}},
		{"three-cycle, rows not normalised", []float64{0, 2, 0, 0, 0, 3, 5, 0, 0}, []float64{1. / 3, 1. / 3, 1. / 3}},
		{"rows not normalised", []float64{8, 2, 0.5, 0.5}, []float64{5. / 7, 2. / 7}},
		{"rows of very different size", []float64{8e200, 2e200, 5e-200, 5e-200}, []float64{5. / 7, 2. / 7}},
		{"nearly reducible", []float64{1, tiny, 3 * tiny, 1}, []float64{0.75, 0.25}},
		{"nearly reducible, three states", []float64{1, tiny, tiny, tiny, 1, tiny, tiny, 2 * tiny, 1}, nil},
		{"smallest numbers", []float64{1, 5e-324, 1e-323, 1}, []float64{2. / 3, 1. / 3}},
		{"a transient first state", []float64{0.5, 0.5, 0, 1}, []float64{0, 1}},
		{"a transient last state", []float64{1, 0, 0.5, 0.5}, []float64{1, 0}},
		{"transient in the middle", []float64{0.5, 0, 0.5, 0.2, 0.3, 0.5, 0.25, 0, 0.75}, []float64{1. / 3, 0, 2. / 3}},
		{"only the last state is closed", []float64{0.5, 0.5, 0, 0, 0.5, 0.5, 0, 0, 1}, []float64{0, 0, 1}},
	} {
		if c.want == nil {
			c.want = exact(c.pi, int(math.Sqrt(float64(len(c.pi)))))
		}
		checkStationary(t, c.name, c.pi, c.want, 1e-12)
	}
}

// Entries from 1 down to 1e-302, against rational arithmetic.
func TestStationaryOfExtremeChains(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 1))
	ordinary, log := 0, 0
	for range 60 {
		s := 2 + rnd.IntN(5)
		span := []float64{1, 10, 120, 250}[rnd.IntN(4)]
		leave := 1.0
		if span == 10 && rnd.IntN(2) == 0 {
			leave = 1e-292 // too slow for the plain elimination
		}
		pi := make([]float64, s*s)
		for i := range pi {
			pi[i] = math.Pow(10, -span*rnd.Float64())
			if i%(s+1) != 0 {
				pi[i] *= leave
			}
		}
		want := exact(pi, s)
		// Measures below the normal range have lost digits by themselves.
		small := false
		for _, w := range want {
			small = small || w < 1e-300
		}
		if small {
			continue
		}
		checkStationary(t, "random", pi, want, 1e-12)
		if eliminate(make([]float64, s), append([]float64(nil), pi...)) {
			ordinary++
		} else {
			log++
		}
	}
	if ordinary < 5 || log < 5 {
		t.Errorf("%d chains by plain elimination and %d on logarithms, want some of each", ordinary, log)
	}
}

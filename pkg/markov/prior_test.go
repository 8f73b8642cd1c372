package markov

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/combin"
	"gonum.org/v1/gonum/stat/distuv"

	"learncausal/pkg/num"
)

// checkDraw returns an error unless pi is a transition matrix and mu its stationary measure,
// up to relative errors of tol.
func checkDraw(pi, mu []float64, tol float64) error {
	s := len(mu)
	total := 0.0
	for r := range s {
		total += mu[r]
		sum, top := 0.0, 0.0
		for _, p := range pi[r*s : r*s+s] {
			if !(p >= 0) {
				return fmt.Errorf("row %d is %v", r, pi[r*s:r*s+s])
			}
			sum, top = sum+p, max(top, p)
		}
		if math.Abs(sum-1) > tol || top < 1/float64(s)-tol {
			return fmt.Errorf("row %d sums to %v with largest entry %v", r, sum, top)
		}
	}
	if math.Abs(total-1) > tol {
		return fmt.Errorf("mu sums to %v", total)
	}
	for j := range s {
		flow := 0.0
		for i := range s {
			if !(mu[i] >= 0) {
				return fmt.Errorf("mu is %v", mu)
			}
			flow += mu[i] * pi[i*s+j]
		}
		if math.Abs(flow-mu[j]) > tol {
			return fmt.Errorf("(mu pi)(%d) = %v, want %v", j, flow, mu[j])
		}
	}
	return nil
}

// The law of one entry is Beta(alpha, (S-1) alpha), in the first row as in the last.
func TestDirichletDraws(t *testing.T) {
	for _, alpha := range []float64{0.001, 0.01, 0.05, 0.1, 0.5, 0.7, 1, 10, 1000} {
		for _, s := range []int{2, 3, 10, 20} {
			d, err := NewDirichlet(s, alpha)
			if err != nil {
				t.Fatal(err)
			}
			src := rand.NewPCG(1, uint64(s))
			pi, mu := make([]float64, s*s), make([]float64, s)
			n := 3000
			if s > 3 {
				n = 600
			}
			entry, last := make([]float64, n), make([]float64, n)
			for k := range n {
				d.Draw(pi, mu, src)
				// Logarithms of gamma variables are of size 10/alpha, and carry
				// an absolute error of as many units of 2**-53.
				if err := checkDraw(pi, mu, 1e-14*float64(s)+4e-15/alpha); err != nil {
					t.Fatalf("alpha %v, S=%d, draw %d: %v", alpha, s, k, err)
				}
				entry[k], last[k] = pi[1], pi[s*s-2]
			}
			law := distuv.Beta{Alpha: alpha, Beta: float64(s-1) * alpha}
			for _, x := range [][]float64{entry, last} {
				if k := kolmogorov(x, law.CDF); k > ksBound {
					t.Errorf("alpha %v, S=%d: Kolmogorov-Smirnov statistic %.2f, want below %v", alpha, s, k, ksBound)
				}
			}
			wrong := distuv.Beta{Alpha: 1.5 * alpha, Beta: 1.5 * float64(s-1) * alpha}
			if s == 3 && alpha >= 0.1 && alpha <= 1 && kolmogorov(entry, wrong.CDF) < ksBound {
				t.Errorf("alpha %v, S=%d: the law of parameter %v is accepted", alpha, s, wrong.Alpha)
			}
		}
	}
}

func TestCheckDrawDetectsFaults(t *testing.T) {
	for _, pi := range [][]float64{{0, 0, 0.5, 0.5}, {math.NaN(), 1, 0.5, 0.5}, {0.5, 0.6, 0.5, 0.5}, {0.4, 0.6, 0.5, 0.5}} {
		if checkDraw(pi, []float64{0.5, 0.5}, 1e-2) == nil {
			t.Errorf("%v passes with a uniform measure", pi)
		}
	}
}

// Bits as drawn for the stored runs, which depend on them.
func TestFirstDrawsArePinned(t *testing.T) {
	for _, c := range []struct {
		prior  string
		pi, mu [2]float64 // first and last entry
	}{
		{"dirichlet(0.1)", [2]float64{0.00225113122584442, 0.8130248466190118}, [2]float64{0.1597101862396228, 0.8371441340355914}},
		{"dirichlet(0.7)", [2]float64{0.17499103899115573, 0.47410603528548295}, [2]float64{0.38592352117588774, 0.38018803357934383}},
		{"dirichlet(0.001)", [2]float64{9.053961699282406e-261, 1}, [2]float64{4.9711594282455964e-82, 1}},
		{"orbit(0.9 0.1 0; 0 0.05 0.95; 0.5 0.45 0.05)", [2]float64{0.9, 0.05}, [2]float64{0.7142857142857142, 0.1428571428571429}},
	} {
		p, err := ParsePrior(c.prior, 3)
		if err != nil {
			t.Fatal(err)
		}
		pi, mu := make([]float64, 9), make([]float64, 3)
		p.Draw(pi, mu, rand.NewPCG(5, 6))
		if pi[0] != c.pi[0] || pi[8] != c.pi[1] || mu[0] != c.mu[0] || mu[2] != c.mu[1] {
			t.Errorf("%s: pi starts with %v and ends with %v, mu with %v and %v, want %v and %v",
				c.prior, pi[0], pi[8], mu[0], mu[2], c.pi, c.mu)
		}
	}
}

// The four conditions of Assumption 1 for bases of mean trace one, with
// gamma = 0.15.
func TestOrbitSatisfiesTheAssumption(t *testing.T) {
	const gamma = 0.15
	for _, c := range []struct {
		s    int
		text string
	}{
		{3, "orbit(0.6 0.3 0.1; 0.2 0.1 0.7; 0.45 0.25 0.3)"},
		{2, "orbit(0.8 0.2; 0.4 0.6 | 0.2 0.8; 0.6 0.4)"},
		{4, "orbit(0.1 0.2 0.3 0.4; 0.4 0.1 0.2 0.3; 0.3 0.4 0.1 0.2; 0.1 0.1 0.1 0.7)"},
	} {
		p, err := ParsePrior(c.text, c.s)
		if err != nil {
			t.Fatal(err)
		}
		f := p.(*Finite)
		s := c.s
		weight, mean := 0.0, make([]float64, s*s)
		for k, pi := range f.Pi {
			weight += f.Weight[k]
			if err := checkDraw(pi, f.Mu[k], 1e-14); err != nil {
				t.Errorf("%s: matrix %d: %v", c.text, k, err)
			}
			dist := 0.0
			for i, v := range pi {
				if !(v > gamma/float64(s)) {
					t.Errorf("%s: matrix %d has the entry %v, want above %v", c.text, k, v, gamma/float64(s))
				}
				mean[i] += f.Weight[k] * v
				dist += (v - f.Mu[k][i%s]) * (v - f.Mu[k][i%s])
			}
			if dist < gamma*gamma/float64(s) {
				t.Errorf("%s: matrix %d mixes in one step: %v, want at least %v", c.text, k, dist, gamma*gamma/float64(s))
			}
		}
		if math.Abs(weight-1) > 1e-14 {
			t.Errorf("%s: weights sum to %v", c.text, weight)
		}
		for i, m := range mean {
			if math.Abs(m-1/float64(s)) > 1e-14 {
				t.Errorf("%s: E pi(%d|%d) = %v, want 1/%d", c.text, i%s, i/s, m, s)
			}
		}
		if !symmetric(f.Pi, s) {
			t.Errorf("%s: not invariant under relabeling", c.text)
		}
		if symmetric(f.Pi[1:], s) {
			t.Errorf("%s: without its first matrix still taken for invariant", c.text)
		}
	}
}

// symmetric reports whether every relabeling maps the multiset of matrices to itself.
func symmetric(all [][]float64, s int) bool {
	key := func(relabel []int) (keys []string) {
		for _, pi := range all {
			q := make([]float64, s*s)
			for i := range q {
				q[relabel[i/s]*s+relabel[i%s]] = pi[i]
			}
			keys = append(keys, fmt.Sprint(q))
		}
		slices.Sort(keys)
		return keys
	}
	perms := combin.Permutations(s, s)
	for _, sigma := range perms {
		if !slices.Equal(key(sigma), key(perms[0])) {
			return false
		}
	}
	return true
}

// Binomial counts within 6 standard deviations: false-alarm probability 2e-9 each.
func TestFiniteDrawsByWeight(t *testing.T) {
	p, err := ParsePrior("orbit(0.6 0.3 0.1; 0.2 0.1 0.7; 0.45 0.25 0.3 | 0.1 0.9 0; 0 0.2 0.8; 0.7 0 0.3)", 3)
	if err != nil {
		t.Fatal(err)
	}
	f := p.(*Finite)
	const n = 60000
	src := rand.NewPCG(7, 7)
	pi, mu := make([]float64, 9), make([]float64, 3)
	count := make([]float64, len(f.Pi))
	for range n {
		f.Draw(pi, mu, src)
		k := slices.IndexFunc(f.Pi, func(q []float64) bool { return slices.Equal(q, pi) })
		if k < 0 || !slices.Equal(mu, f.Mu[k]) {
			t.Fatalf("drew %v with measure %v, which is not in the support", pi, mu)
		}
		count[k]++
	}
	for k, c := range count {
		w := f.Weight[k]
		if z := (c - n*w) / math.Sqrt(n*w*(1-w)); math.Abs(z) > 6 {
			t.Errorf("matrix %d is drawn %v times of %d, want %v", k, c, n, n*w)
		}
	}
}

func TestParsePriorRoundTrip(t *testing.T) {
	for text, want := range map[string]string{
		"dirichlet(0.1)":                  "dirichlet(0.1)",
		" dirichlet(1e-3) ":               "dirichlet(0.001)",
		"orbit(0.8 0.2;0.3 0.7)":          "orbit(0.8 0.2; 0.3 0.7)",
		"orbit(0.8 .2; 0.3 0.7|0 1;1 0)":  "orbit(0.8 0.2; 0.3 0.7 | 0 1; 1 0)",
		"finite(0.8 .2; .3 .7|0 1;1 0)":   "finite(0.8 0.2; 0.3 0.7 | 0 1; 1 0)",
		"dirichlet( 0.1 )":                "dirichlet(0.1)",
		"dirichlet (\t0.1)":               "dirichlet(0.1)",
		"Dirichlet(.1,)":                  "dirichlet(0.1)",
		"orbit ( 0.8,0.2;0.3,\n0.7; )":    "orbit(0.8 0.2; 0.3 0.7)",
		"finite(0.8, 0.2, 0.3, 0.7)":      "finite(0.8 0.2; 0.3 0.7)",
		"finite(0.8 0.2000005;0.5 0.5)":   "finite(0.7999996000002 0.2000003999998; 0.5 0.5)",
		"finite(0.8 0.2000000000004;1 0)": "finite(0.8 0.2000000000004; 1 0)", // as a stored prior, rounded or not
	} {
		p, err := ParsePrior(text, 2)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if p.String() != want || p.States() != 2 {
			t.Errorf("%q reads as %q on %d states, want %q on 2", text, p, p.States(), want)
		}
		if again, err := ParsePrior(p.String(), 2); err != nil || again.String() != want {
			t.Errorf("%q does not read back: %v, %v", p, again, err)
		}
	}
}

// Rows that were printed with eight digits are divided by their sum.
func TestRoundedRowsAreNormalised(t *testing.T) {
	p, err := ParsePrior("finite(0.33333333 0.66666666 0; 0.5 0.25 0.25; 1 0 0)", 3)
	if err != nil {
		t.Fatal(err)
	}
	pi := p.(*Finite).Pi[0]
	if math.Abs(pi[0]-1.0/3) > 1e-15 || math.Abs(pi[1]-2.0/3) > 1e-15 || pi[3] != 0.5 {
		t.Errorf("rows %v", pi)
	}
}

func TestPriorErrors(t *testing.T) {
	for _, c := range []struct {
		text   string
		states int
		want   string
	}{
		{"dirichlet", 3, `prior "dirichlet": want dirichlet(alpha), orbit(matrix) or finite(matrix)`},
		{"dirichlet(0.1", 3, "want dirichlet(alpha), orbit(matrix) or finite(matrix)"},
		{"dirichlet(x)", 3, `"x" is not a number`},
		{"dirichlet(0)", 3, "Dirichlet parameter 0, want 0.001 to 1000"},
		{"dirichlet(NaN)", 3, "Dirichlet parameter NaN, want"},
		{"dirichlet(1001)", 3, "Dirichlet parameter 1001, want"},
		{"dirichlet(1)", 1, "over 1 states, want 2 to 255"},
		{"dirichlet(1)", 256, "over 256 states, want 2 to 255"},
		{"beta(1)", 3, `unknown family "beta", want dirichlet(alpha), orbit(matrix) or finite(matrix)`},
		{"orbit(0.5 x; 0 1)", 2, `"x" is not a number`},
		{"orbit(0.5; 0.5 0 1)", 2, "matrix 0: row 0 has 1 entries, want 2"},
		{"finite(1 0; 0 1 | 1 0 0; 1)", 2, "matrix 1: row 0 has 3 entries, want 2"},
		{"orbit(0.5 0.5)", 2, "matrix 0: 2 entries, want 2 x 2, with rows split by \";\""},
		{"orbit(0.7 0.2 0.1 0.1; 0.7 0.2; 0.2 0.1 0.7)", 3, "matrix 0: row 0 has 4 entries, want 3"},
		{"orbit(0.7 0.2 0.1; 0.1 0.7 0.2)", 3, "matrix 0: 6 entries, want 3 x 3"},
		{"orbit(0,8 0,2; 0,3 0,7)", 2, "matrix 0: row 0 has 4 entries, want 2"},
		{"finite(0.8 0.200002; 0.5 0.5)", 2, "matrix 0: row 0 sums to 1.000002, want 1"},
		{"finite(0.8,x;0.5,0.5)", 2, `"x" is not a number`},
		{"dirichlet(0.1 0.1 2)", 3, "3 parameters, want one for all states, as in dirichlet(0.1)"},
		{"dirichlet(0,1)", 3, "2 parameters, want one"},
		{"dirichlet()", 3, "0 parameters, want one"},
		{"orbit()", 2, "matrix 0: 0 entries, want 2 x 2"},
		{"orbit(0.8 0.2; 0.3 0.7 | 0.5 0.4; 0 1)", 2, "matrix 1: row 0 sums to 0.9, want 1"},
		{"orbit(1.5 -0.5; 0 1)", 2, "row 0, column 1 is -0.5, want a probability"},
		{"orbit(NaN 1; 0 1)", 2, "row 0, column 0 is NaN, want a probability"},
		{"orbit(1 0; 0 1)", 2, "matrix 0: markov: the chain is reducible"},
		{"orbit(1 0; 1 0)", 2, "matrix 0: the stationary measure of state 1 is 0, want at least 1e-100"},
		{"finite(0.5 0.5; 0.2 0.8 | 1 0; 1 0)", 2, "matrix 1: the stationary measure of state 1 is 0, want"},
		{"finite(0.5 0.5; 0.2 0.8 | 1 0; 0 1)", 2, "finite prior, matrix 1: markov: the chain is reducible"},
		{"finite(0.5 0.5)", 2, "matrix 0: 2 entries, want 2 x 2"},
		{"finite(1)", 1, "finite prior over 1 states, want 2 to 255"},
		{"orbit(1)", 1, "over 1 states, want 2 to 8"},
	} {
		_, err := ParsePrior(c.text, c.states)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q on %d states: error %v, want one with %q", c.text, c.states, err, c.want)
		}
	}
	if _, err := NewOrbit(3); err == nil || !strings.Contains(err.Error(), "orbit prior without a matrix") {
		t.Errorf("no matrix: error %v", err)
	}
	if _, err := NewOrbit(9); err == nil || !strings.Contains(err.Error(), "over 9 states, want 2 to 8") {
		t.Errorf("9 states: error %v", err)
	}
	if _, err := NewFinite(3); err == nil || !strings.Contains(err.Error(), "finite prior without a matrix") {
		t.Errorf("no matrix: error %v", err)
	}
}

// Sampled contains the draws of the prior, each with all its relabelings.
func TestSampledIsTheOrbitOfDraws(t *testing.T) {
	prior, err := NewDirichlet(3, 0.5)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Sampled(prior, 4, num.Stream(3, "sampled"))
	if err != nil {
		t.Fatal(err)
	}
	src, pi, mu := num.Stream(3, "sampled"), make([]float64, 9), make([]float64, 3)
	for k := range 4 {
		prior.Draw(pi, mu, src)
		if !slices.Equal(got.Pi[6*k], pi) || len(got.Pi) != 24 {
			t.Errorf("draw %d of %d is %v, want %v", k, len(got.Pi)/6, got.Pi[6*k], pi)
		}
	}
	if _, err := Sampled(prior, 0, src); err == nil || !strings.Contains(err.Error(), "0 draws") {
		t.Errorf("no draws: error %v", err)
	}
}

func TestNoStatesAreNoMatrix(t *testing.T) {
	for states, want := range map[int]string{0: "0 entries, want 0 x 0, and at least 1 state", -1: "0 entries, want -1 x -1, and at least 1 state"} {
		if err := CheckRows(nil, states); err == nil || err.Error() != want {
			t.Errorf("%d states: %v, want %s", states, err, want)
		}
	}
}

// By a uniform variable the matrix is drawn in whose part of the weights it falls, the last
// one where they leave something.
func TestFiniteDrawsWhereTheVariableFalls(t *testing.T) {
	f := &Finite{Weight: []float64{0.5, 0.3, 0.1}}
	for k := range f.Weight {
		p := float64(k) / 4
		f.Pi, f.Mu = append(f.Pi, []float64{p, 1 - p, p, 1 - p}), append(f.Mu, []float64{p, 1 - p})
	}
	for seed := range uint64(200) {
		u := num.Uniform(num.Stream(seed, "falls"))
		want := 0
		if u >= 0.5 {
			want = 1
		}
		if u >= 0.8 {
			want = 2
		}
		pi, mu := make([]float64, 4), make([]float64, 2)
		f.Draw(pi, mu, num.Stream(seed, "falls"))
		if !slices.Equal(pi, f.Pi[want]) || !slices.Equal(mu, f.Mu[want]) {
			t.Fatalf("%v draws %v, %v, want matrix %d", u, pi, mu, want)
		}
	}
}

// Equal weights are not walked along where the end of the walk is plain, and the draw is that
// of the walk everywhere: at random places, and within some roundings of each border.
func TestEqualWeightsAreDrawnAsByTheLoop(t *testing.T) {
	src := num.Stream(1, "equal weights")
	for _, n := range []int{1, 2, 3, 6, 24, 720, 5040, 40320} {
		f := &Finite{uniform: true}
		for range n {
			f.Weight = append(f.Weight, 1/float64(n))
		}
		walked := &Finite{Weight: f.Weight}
		var all []float64
		for range 200 {
			all = append(all, num.Uniform(src))
			border := float64(src.Uint64()%uint64(n)) / float64(n)
			for _, far := range []float64{0, 1e-16, 1e-15, 1e-14, 1e-12, 1e-10} {
				all = append(all, border+far, math.Abs(border-far))
			}
		}
		for _, u := range all {
			if got, want := f.index(u), walked.index(u); got != want {
				t.Fatalf("of %d matrices %v draws %d, and on a walk %d", n, u, got, want)
			}
		}
	}
}

// A prior that would fill the memory is refused before its matrices are made.
func TestTooManyMatricesAreRefused(t *testing.T) {
	base := make([]float64, 64)
	for i := range base {
		base[i] = 1. / 8
	}
	bases := make([][]float64, 12)
	for k := range bases {
		bases[k] = base
	}
	const want = "orbit prior of 483840 matrices over 8 states, want at most 466033"
	if _, err := NewOrbit(8, bases...); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want %q in it", err, want)
	}
	for _, most := range []struct{ states, matrices int }{{2, 5592405}, {255, 514}} {
		if err := checkMost("finite", most.states, most.matrices); err != nil {
			t.Error(err)
		}
		if err := checkMost("finite", most.states, most.matrices+1); err == nil {
			t.Errorf("%d matrices over %d states: no error", most.matrices+1, most.states)
		}
	}
}

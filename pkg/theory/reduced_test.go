package theory

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"learncausal/pkg/graph"
	"learncausal/pkg/num"
)

func randomReduced(s, t int, scale float64, seed uint64) *Reduced {
	m := NewReduced(s, t, 0)
	r := rand.New(num.Stream(seed, "theory/reduced"))
	for i := range t {
		for j := range i + 1 {
			raw(m.A1)[i*t+j] = scale * r.NormFloat64()
		}
	}
	for i := range raw(m.A2) {
		raw(m.A2)[i] = scale * r.NormFloat64()
	}
	return m
}

// The matrix products of eq. (13), written with dense matrices.
func TestPredictIsTheMatrixProduct(t *testing.T) {
	const s, n = 3, 5
	m := randomReduced(s, n, 2, 1)
	x := []int{2, 0, 1, 1, 2}
	X := mat.NewDense(n, s, nil)
	for i, a := range x {
		X.Set(i, a, 1)
	}
	A1 := mat.NewDense(n, n, nil)
	for i := range n {
		sum := 0.0
		for j := range i + 1 {
			sum += math.Exp(raw(m.A1)[i*n+j])
		}
		for j := range i + 1 {
			A1.Set(i, j, math.Exp(raw(m.A1)[i*n+j])/sum)
		}
	}
	for q := range s {
		e := mat.NewVecDense(s, nil)
		e.SetVec(q, 1)
		var z, axa, u, f mat.VecDense
		var ax mat.Dense
		ax.Mul(A1, X)
		z.MulVec(&ax, e)
		axa.MulVec(mat.NewDense(s, s, raw(m.A2)), e)
		u.MulVec(&ax, &axa)
		v := mat.NewVecDense(n, nil)
		for i := range n {
			v.SetVec(i, math.Exp(u.AtVec(i)))
		}
		v.ScaleVec(1/mat.Sum(v), v)
		f.MulVec(X.T(), v)
		gf, gv, gz := m.Predict(x, q)
		for name, pair := range map[string][2][]float64{
			"f": {gf, f.RawVector().Data}, "v": {gv, v.RawVector().Data}, "z": {gz, z.RawVector().Data},
		} {
			if d := distance(pair[0], pair[1]); d > 1e-14 {
				t.Errorf("query %d: %s deviates by %g", q, name, d)
			}
		}
	}
}

// raw returns the entries of a matrix, row by row.
func raw(m *mat.Dense) []float64 { return m.RawMatrix().Data }

// distance returns the largest absolute difference; NaN counts as infinite.
func distance(a, b []float64) float64 {
	if len(a) != len(b) {
		return math.Inf(1)
	}
	d := 0.0
	for i := range a {
		e := math.Abs(a[i] - b[i])
		if math.IsNaN(e) {
			return math.Inf(1)
		}
		d = max(d, e)
	}
	return d
}

// differences returns the central differences of f in each entry of x.
func differences(x []float64, h float64, f func() float64) []float64 {
	g := make([]float64, len(x))
	for i, was := range x {
		x[i] = was + h
		up := f()
		x[i] = was - h
		g[i] = (up - f()) / (2 * h)
		x[i] = was
	}
	return g
}

func TestGradientOfOneSequence(t *testing.T) {
	const s, n, eps = 3, 5, 0.1
	m := randomReduced(s, n, 1.5, 2)
	x, y := []int{0, 2, 2, 1, 0}, []float64{0.5, 0.2, 0.3}
	for q := range s {
		g := NewReduced(s, n, 0)
		m.Loss(x, q, y, eps, g)
		loss := func() float64 { return m.Loss(x, q, y, eps, nil) }
		if d := distance(raw(g.A1), differences(raw(m.A1), 1e-5, loss)); d > 1e-9 {
			t.Errorf("query %d: gradient of A1 deviates by %g", q, d)
		}
		if d := distance(raw(g.A2), differences(raw(m.A2), 1e-5, loss)); d > 1e-9 {
			t.Errorf("query %d: gradient of A2 deviates by %g", q, d)
		}
		raw(g.A2)[q] += 1e-6
		if d := distance(raw(g.A2), differences(raw(m.A2), 1e-5, loss)); d < 1e-9 {
			t.Error("a spoilt gradient passes")
		}
	}
}

func TestInitialPredictionIsTheFrequency(t *testing.T) {
	f, v, z := NewReduced(2, 4, 0).Predict([]int{1, 0, 1, 1}, 1)
	for name, d := range map[string]float64{
		"f": distance(f, []float64{0.25, 0.75}),
		"v": distance(v, []float64{0.25, 0.25, 0.25, 0.25}),
		"z": distance(z, []float64{1, 0.5, 2. / 3, 0.75}),
	} {
		if d > 1e-15 {
			t.Errorf("%s deviates by %g", name, d)
		}
	}
}

// Row 3 attends to its parent 1, and less to the others, most of all to 2; a token beyond the last
// is refused.
func TestRowsAreMeasured(t *testing.T) {
	m := NewReduced(2, 5, 1)
	copy(raw(m.A1)[3*5:], []float64{0.5, 2, 1, -1})
	row := m.Rows(graph.MustNew(-1, 0, 0, 1, -1), m.Attention())[3]
	sum := math.Exp(0.5) + math.Exp(2) + math.E + math.Exp(-1)
	want := Row{math.Exp(2) / sum, math.E / sum, math.Exp(2)/sum - 0.25}
	for _, d := range []float64{row.Parent - want.Parent, row.Other - want.Other, row.Drift - want.Drift} {
		if !(math.Abs(d) < 1e-14) {
			t.Errorf("row %+v, want %+v", row, want)
		}
	}
	defer func() {
		if said := recover(); said != "theory: token 2 at position 2, want one of 0..1" {
			t.Errorf("token 2 is refused with %v", said)
		}
	}()
	m.Predict([]int{0, 1, 2, 0, 0}, 0)
}

func TestReadingsInWords(t *testing.T) {
	for r, want := range map[Reading]string{
		QueryInSequence: "query in sequence", QueryApart: "query apart", -1: "Reading(-1)", 2: "Reading(2)",
	} {
		if got := r.String(); got != want {
			t.Errorf("%d is %q, want %q", int(r), got, want)
		}
	}
}

// A matrix x I + y 1 1^T has one number on the diagonal and one off it.
func TestRelabels(t *testing.T) {
	for _, c := range []struct {
		a    []float64
		want bool
	}{
		{[]float64{3, 1, 1, 1, 3, 1, 1, 1, 3}, true},
		{[]float64{3, 1, 1, 1, 3, 1, 1, 1, 2}, false},
		{[]float64{3, 1, 1, 1, 1, 1, 1, 1, 3}, false},
		{[]float64{3, 1, 1, 1, 3, 1, 1, 2, 3}, false},
		{[]float64{3, 1, 3, 1, 3, 1, 1, 1, 3}, false},
		{[]float64{1, 1, 1, 1, 1, 1, 1, 1, 1}, true},
	} {
		if got := relabels(c.a, 3); got != c.want {
			t.Errorf("%v: %v, want %v", c.a, got, c.want)
		}
	}
}

// A token that the model does not have is refused by its place.
func TestTokensBeyondTheModelAreRefused(t *testing.T) {
	m := NewReduced(2, 3, 1)
	for _, c := range []struct {
		x    []int
		want string
	}{
		{[]int{0, 2, 1}, "theory: token 2 at position 1, want one of 0..1"},
		{[]int{0, 1, -1}, "theory: token -1 at position 2, want one of 0..1"},
		{[]int{0, 1}, "theory: sequence of length 2 for a model of length 3"},
	} {
		func() {
			defer func() {
				if got := recover(); got != c.want {
					t.Errorf("%v: panic %v, want %s", c.x, got, c.want)
				}
			}()
			m.Predict(c.x, 0)
		}()
	}
}

// The ends of the range of beta.
func TestMonteCarloEndsAt700(t *testing.T) {
	c := MonteCarlo{Graph: graph.Chain(3), Prior: orbit2(), Eps: 0.4, Reading: QueryApart, Samples: 2, Seed: 1}
	for beta, right := range map[float64]bool{0: true, 700: true, 700.5: false, -0.5: false, math.NaN(): false} {
		func() {
			defer func() {
				if said := recover(); (said == nil) != right {
					t.Errorf("beta = %v: panic %v", beta, said)
				}
			}()
			c.check([]float64{1, beta})
		}()
	}
}

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
	}
}

// Row 3 attends to its parent 1, and less to the others, most of all to 2.
func TestRowsAreMeasured(t *testing.T) {
	m := NewReduced(2, 5, 1)
	copy(raw(m.A1)[3*5:], []float64{0.5, 2, 1, -1})
	row := m.Rows(graph.MustNew(-1, 0, 0, 1, -1), m.Attention())[3]
	sum := math.Exp(0.5) + math.Exp(2) + math.E + math.Exp(-1)
	want := []float64{math.Exp(2) / sum, math.E / sum, math.Exp(2)/sum - 0.25}
	if !(distance([]float64{row.Parent, row.Other, row.Drift}, want) < 1e-14) {
		t.Errorf("row %+v, want %+v", row, want)
	}
}

package exact

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"learncausal/internal/property"
	"learncausal/pkg/graph"
)

// unevenForest has a root in the middle, a path of length two and a position with two
// children.
var unevenForest = graph.MustNew(graph.Root, 0, 0, graph.Root, 1, graph.Root)

// The mean of SecondGradientLaw is minus G2, with attention at the parents, uniform for roots.
func TestSecondGradientLawHasTheMeanOfG2(t *testing.T) {
	eps := Frac(1, 2)
	for _, in := range []struct {
		g  *graph.Forest
		pi Matrix
	}{
		{unevenForest, Rats("4/5 1/5; 3/10 7/10")},
		{graph.MustNew(graph.Root, 0, graph.Root, 1, graph.Root), Rats("1/2 1/3 1/6; 1/10 3/5 3/10; 2/7 1/7 4/7")},
	} {
		attention := Zero(in.g.T(), in.g.T())
		for i, row := range attention {
			for j := range i + 1 {
				row[j] = Frac(1, int64(i+1))
				if p := in.g.Parent(i); p != graph.Root {
					row[j] = Indicator(j == p)
				}
			}
		}
		g2 := Population{Graph: in.g, Pis: []Matrix{in.pi}, Eps: eps}.G2(attention, Int(1))
		for s := range in.pi {
			for q := range in.pi {
				mean := SecondGradientLaw(in.g, s, q, eps, in.pi).Moment(1)
				if sum := Add(mean, g2[s][q]); sum.Sign() != 0 {
					t.Errorf("%v: the entry (%d, %d) of G2 is off by %v", in.g, s, q, sum)
				}
			}
		}
	}
}

// The tail of the mean of two samples, the variance and the fourth moment, against sums
// over pairs of values.
func TestTailOfTwoSamples(t *testing.T) {
	near := func(what string, got, want float64) {
		t.Helper()
		if !property.Near(got, want, 1e-9) {
			t.Errorf("%s is %v, want %v", what, got, want)
		}
	}
	l := SecondGradientLaw(unevenForest, 0, 1, Frac(1, 2), Rats("4/5 1/5; 3/10 7/10"))
	mean, spread := Float(l.Moment(1)), math.Sqrt(Float(l.Central(2)))
	for _, far := range []float64{0, 0.37 * spread, 1.43 * spread} {
		sum, square, fourth := 0.0, 0.0, 0.0
		for i, a := range l.Values {
			for j, b := range l.Values {
				p, x, y := Float(Mul(l.Weights[i], l.Weights[j])), Float(a), Float(b)
				square += p * (x - y) * (x - y) / 2
				fourth += p * math.Pow(x-y, 4) / 2
				if math.Abs((x+y)/2-mean) >= far {
					sum += p
				}
			}
		}
		near("the tail of the mean of two samples", l.Tail(2, far), sum)
		near("the variance", square, spread*spread)
		near("the fourth moment", fourth, Float(l.Central(4))+3*math.Pow(spread, 4))
	}
}

func sampleLaws(t *rapid.T) {
	var l SampleLaw
	for _, x := range rapid.SliceOfNDistinct(rapid.Int64Range(-4, 4), 0, 3, rapid.ID[int64]).Draw(t, "values") {
		l.Values = append(l.Values, Frac(x, 3))
	}
	n := len(l.Values)
	for k := range l.Values {
		l.Weights = append(l.Weights, Frac(int64(2*k+1), int64(n*n)))
	}
	more := rapid.IntRange(0, 4).Draw(t, "one weight too many") == 0
	if more {
		l.Weights = append(l.Weights, new(big.Rat))
	}
	samples := rapid.IntRange(0, 20).Draw(t, "n")
	var p float64
	right := !more && n > 0 && samples > 0
	if property.Decide(t, right, refused(t, func() { p = l.Tail(samples, 0.1) })) {
		if most := Float(l.Central(2)) / float64(samples) / 0.01; p < -TailRounding || p > min(1, most)+TailRounding {
			t.Fatalf("the tail is %v, want at most %v", p, most)
		}
	}
	if property.Decide(t, !more, refused(t, func() { l.Moment(1) })) {
		equal(t, "the variance", l.Central(2), Sub(l.Moment(2), Mul(l.Moment(1), l.Moment(1))))
		equal(t, "the second moment", l.Absolute(2), l.Moment(2))
	}
}

func gradientLaws(t *rapid.T) {
	g, pi, eps := smallGraph(t), kernel(t, rapid.IntRange(2, 3).Draw(t, "S")), rational().Draw(t, "eps")
	place := rapid.IntRange(-1, 3)
	i, j := place.Draw(t, "i"), place.Draw(t, "j")
	_, err := Stationary(pi)
	right := err == nil && eps.Sign() > 0 && i >= 0 && j >= 0
	one := Int(1)
	var l SampleLaw
	if property.Decide(t, right && max(i, j) < g.T(), refused(t, func() { l = GradientLaw(g, i, j, eps, pi) })) {
		equal(t, "the sum of the weights", Dot(l.Weights), one)
		if j <= i {
			p := Population{Graph: g, Pis: []Matrix{pi}, Eps: eps}
			equal(t, "the mean", l.Moment(1), p.GHat(i)[j])
		}
	}
	if property.Decide(t, right && max(i, j) < len(pi), refused(t, func() { l = SecondGradientLaw(g, i, j, eps, pi) })) {
		equal(t, "the sum of the weights", Dot(l.Weights), one)
	}
}

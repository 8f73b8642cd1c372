package markov_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"learncausal/internal/property"
	"learncausal/pkg/markov"
)

// closedClasses counts the closed classes of a chain.
func closedClasses(pi []float64, s int) int {
	reach := make([]bool, s*s)
	for k := range reach {
		reach[k] = k/s == k%s || pi[k] > 0
	}
	for k := range s {
		for a := range s {
			for b := range s {
				reach[a*s+b] = reach[a*s+b] || reach[a*s+k] && reach[k*s+b]
			}
		}
	}
	classes := 0
	for a := range s {
		closed, first := true, true
		for b := range s {
			closed = closed && (!reach[a*s+b] || reach[b*s+a])
			first = first && !(b < a && reach[a*s+b] && reach[b*s+a])
		}
		if closed && first {
			classes++
		}
	}
	return classes
}

// Over all patterns of zeros of three states: a chain has one stationary measure if it has one closed class.
func TestStationaryIsThatOfTheClosedClass(t *testing.T) {
	for pattern := range 1 << 9 {
		pi, mu, flow := make([]float64, 9), make([]float64, 3), make([]float64, 3)
		for k := range pi {
			pi[k] = float64(pattern>>k&1) * float64(1+k*k%7)
		}
		proper := true
		for row := range slices.Chunk(pi, 3) {
			sum := row[0] + row[1] + row[2]
			proper = proper && sum > 0
			for k := range row {
				row[k] /= max(sum, 1)
			}
		}
		err := markov.Stationary(mu, pi)
		if (err == nil) != (proper && closedClasses(pi, 3) == 1) {
			t.Errorf("%v: error %v", pi, err)
		}
		if (markov.CheckRows(pi, 3) == nil) != proper {
			t.Errorf("rows %v: error %v", pi, markov.CheckRows(pi, 3))
		}
		if err != nil {
			continue
		}
		for k, p := range pi {
			flow[k%3] += mu[k/3] * p
		}
		for k := range mu {
			if !property.Near(mu[k], flow[k], 1e-14) || !property.Near(mu[0]+mu[1]+mu[2], 1, 1e-14) {
				t.Errorf("%v: measure %v, one step later %v", pi, mu, flow)
			}
		}
	}
}

func TestDrawsIntoWrongRoomAreRefused(t *testing.T) {
	d, err := markov.NewDirichlet(2, 0.5)
	if err != nil {
		t.Fatal(err)
	}
	f, err := markov.NewFinite(2, []float64{0.5, 0.5, 0.2, 0.8})
	if err != nil {
		t.Fatal(err)
	}
	src := rand.NewPCG(1, 2)
	two, four := make([]float64, 2), make([]float64, 4)
	property.Refuses(t, "markov", map[string]func(){
		"too few entries":        func() { d.Draw(make([]float64, 3), two, src) },
		"too many measures":      func() { f.Draw(four, make([]float64, 3), src) },
		"an unknown query":       func() { d.DrawNext(four, make([]int, 4), 2, src) },
		"too few counts":         func() { d.DrawNext(four, make([]int, 3), 0, src) },
		"a negative count":       func() { d.DrawNext(four, []int{0, 0, -1, 0}, 0, src) },
		"a matrix of 3 entries":  func() { _ = markov.Stationary(two, four[:3]) },
		"a measure of no states": func() { _ = markov.Stationary(nil, nil) },
	})
	for _, pi := range [][]float64{{math.NaN(), 1, 0.5, 0.5}, {-1, 2, 0.5, 0.5}, {math.Inf(1), 0, 0, 1}, {0, 0, 1, 0}} {
		if markov.Stationary(two, pi) == nil || markov.CheckRows(pi, 2) == nil {
			t.Errorf("%v has a measure %v", pi, two)
		}
	}
	for s, n := range map[int]int{3: 0, 9: 1} { // no draws; 9! relabelings
		p, err := markov.NewDirichlet(s, 1)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := markov.Sampled(p, n, src); err == nil {
			t.Errorf("%d draws over %d states are a prior", n, s)
		}
	}
	if markov.CheckRows(four, 3) == nil || markov.CheckRows(nil, 0) == nil {
		t.Error("a matrix of another size is accepted")
	}
}

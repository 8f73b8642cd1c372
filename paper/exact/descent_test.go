package exact

import (
	"errors"
	"math"
	"math/big"
	"testing"

	"learncausal/internal/property"
	"learncausal/pkg/graph"
	"learncausal/pkg/markov"
	"learncausal/pkg/theory"
)

// The enclosures hold the iterates of Algorithm 1 in floats, up to the rounding of the floats.
func TestDescentEnclosesAlgorithmOne(t *testing.T) {
	a, b := Rats("4/5 1/5; 3/10 7/10"), Rats("1/5 4/5; 9/10 1/10")
	prior, err := markov.NewOrbit(2, a.Floats(), b.Floats())
	if err != nil {
		t.Fatal(err)
	}
	g := graph.Chain(3)
	set := theory.Settings{Beta0: 0.25, Rate1: 40, Rate2: 8, Tau1: 3, Tau2: 2}
	for _, reading := range []theory.Reading{theory.QueryInSequence, theory.QueryApart} {
		population, err := theory.NewPopulation(g, prior, 0.3, reading)
		if err != nil {
			t.Fatal(err)
		}
		one, two := population.Stages()
		want, err := theory.Algorithm1(set, g, 2, one, two)
		if err != nil {
			t.Fatal(err)
		}
		d := Descent{
			Population{g, Orbits(a, b), Rat("3/10"), reading == theory.QueryApart},
			Frac(1, 4), Int(40), Int(8), 3, 2,
		}
		path := d.Run()
		if len(path) != 6 {
			t.Fatalf("%d iterates", len(path))
		}
		last := path[5]
		near := func(what string, got Interval, want float64) {
			if math.Abs(got.Float()-want) > 1e-12 || Float(Sub(got.Hi, got.Lo)) > 1e-40 {
				t.Errorf("%v: %s is in %v, want %v", reading, what, got, want)
			}
		}
		for i, row := range last.A1 {
			for j, x := range row {
				near("A1", x, want.Final.A1.At(i, j))
			}
		}
		for i, row := range last.A2 {
			for j, x := range row {
				near("A2", x, want.Final.A2.At(i, j))
			}
		}
		near("the excess", d.Excess(last), want.Points[len(want.Points)-1].Gap+math.Log(1.6))
	}
}

func TestDescentRefusesItsSettings(t *testing.T) {
	for want, d := range map[string]Descent{
		"want positive numbers": {Beta0: new(big.Rat), Rate1: Int(1), Rate2: Int(1)},
		"tau1 = -1":             {Beta0: Int(1), Rate1: Int(1), Rate2: Int(1), Tau1: -1},
		"tau2 = -1":             {Beta0: Int(1), Rate1: Int(1), Rate2: Int(1), Tau2: -1},
	} {
		d.Population = Population{graph.Chain(3), []Matrix{Rats("1/2 1/2; 1/2 1/2")}, Frac(1, 2), false}
		property.Mentions(t, errors.New(property.Refused(t, "exact", func() { d.Run() })), want)
	}
}

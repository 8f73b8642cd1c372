package report

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"learncausal/paper/answers"
)

// Pairs that are equal count neither for nor against, and the order of the graphs does
// not matter. By hand: of the ten pairs six differ in both, five of them alike and one
// not; eight differ in x and eight in y.
func TestKendallWithTies(t *testing.T) {
	type point struct{ x, y float64 }
	points := []point{{1, 1}, {1, 2}, {2, 2}, {2, 1}, {3, 3}}
	graphs := make([]*answers.Joint, len(points))
	at := map[*answers.Joint]point{}
	for i, p := range points {
		graphs[i] = &answers.Joint{S: i}
		at[graphs[i]] = p
	}
	x := func(j *answers.Joint) float64 { return at[j].x }
	y := func(j *answers.Joint) float64 { return at[j].y }
	fallen := func(j *answers.Joint) float64 { return -at[j].x }
	rng := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		rng.Shuffle(len(graphs), func(i, k int) { graphs[i], graphs[k] = graphs[k], graphs[i] })
		for _, c := range []struct {
			name string
			y    func(*answers.Joint) float64
			want float64
		}{{"itself", x, 1}, {"its negative", fallen, -1}, {"y", y, 0.5}} {
			if got := kendall(graphs, x, c.y); math.Abs(got-c.want) > 1e-15 {
				t.Errorf("x against %s: %v, want %v", c.name, got, c.want)
			}
		}
	}
	// Without ties it is what Kendall (1938) has: of the three pairs two agree.
	three := slices.DeleteFunc(graphs, func(j *answers.Joint) bool { return j.S != 0 && j.S != 1 && j.S != 4 })
	at[three[0]], at[three[1]], at[three[2]] = point{1, 1}, point{2, 3}, point{3, 2}
	if got := kendall(three, x, y); math.Abs(got-1./3) > 1e-15 {
		t.Errorf("of three graphs %v, want 1/3", got)
	}
}

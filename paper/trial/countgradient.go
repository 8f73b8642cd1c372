package trial

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// A countState is what a sequence of two tokens has shown so far: its last two tokens, its ones, the positions that
// are counted, and the ones among these.
type countState struct{ last, ones, counted, hits int }

// A countEntry is a state with its probability and, on it, the means of the sums of the shares of both tokens over
// the counted positions with token 0 and with token 1.
type countEntry struct {
	countState
	p float64
	v [2]float64
}

// CountGradient returns the norm of the gradient of the population loss
//
//	L = -E sum_s y_s log(f_s + 1/T)
//
// of the reduced model with two heads on 3-grams of T tokens over two, at the weights that count tokens or, if pairs,
// tokens after the last one, in the limit of large weights. The rows of the tensor have the probabilities 1/4 and 3/4
// of a one, all 16 tensors alike. Only the gradient by B of a head that is not in use is left; it depends on
// a sequence through the counts of a countState, so that T up to 512 takes seconds. It panics unless T >= 3.
func CountGradient(T int, pairs bool) float64 {
	if T < 3 {
		panic("trial: a 3-gram of fewer than 3 tokens has no gradient")
	}
	sum := 0.0
	for n := range 16 {
		pi := make([]float64, 4)
		for c := range pi {
			pi[c] = 0.25 + 0.5*float64(n>>c&1)
		}
		for _, e := range countStates(T, pi, pairs) {
			if e.last&1 == 1 { // the two tokens are alike in law
				sum += e.force(T, pi) / 16
			}
		}
	}
	unused := map[bool]float64{true: 1, false: 2}[pairs]
	return 2 * math.Sqrt(unused) * math.Abs(sum) // entries of the gradient by B are equal but for their signs
}

// countStates returns the states after T tokens, where pi has the probability of a one after each two tokens.
func countStates(T int, pi []float64, pairs bool) []countEntry {
	now := []countEntry{{p: 1}}
	for i := range T {
		var next []countEntry
		index := map[countState]int{}
		for _, e := range now {
			for a := range 2 {
				counted := !pairs || e.last&1 == 1 || i == 0 && a == 1 || i == T-1
				n := e.step(i, a, pi, counted)
				k, ok := index[n.countState]
				if !ok {
					index[n.countState] = len(next)
					next = append(next, n)
					continue
				}
				next[k].p += n.p
				floats.Add(next[k].v[:], n.v[:])
			}
		}
		now = next
	}
	return now
}

// step draws token a at position i.
func (e countEntry) step(i, a int, pi []float64, counted bool) countEntry {
	p := 0.5
	if i >= 2 {
		p = pi[e.last]
		if a == 0 {
			p = 1 - p
		}
	}
	n := countEntry{countState{(2*e.last + a) & 3, e.ones + a, e.counted, e.hits}, p * e.p, e.v}
	floats.Scale(p, n.v[:])
	if counted {
		n.counted++
		n.hits += a
		n.v[a] += n.p * float64(n.ones) / float64(i+1)
	}
	return n
}

// force is the part of a final state in an entry of the gradient by B.
func (e countEntry) force(T int, pi []float64) float64 {
	f, y, eps := float64(e.hits)/float64(e.counted), pi[e.last], 1/float64(T)
	difference := (1-y)/(1-f+eps) - y/(f+eps) // g_1 - g_0
	inner := (float64((1-f)*e.v[1]) - float64(f*e.v[0])) / float64(e.counted)
	return difference * inner * (2*float64(e.ones)/float64(T) - 1)
}

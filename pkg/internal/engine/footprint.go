package engine

import (
	"fmt"
	"slices"

	"learncausal/pkg/internal/simd"
	"learncausal/pkg/model"
)

// A Footprint counts the float64 numbers in the parts of training. The counts are floats,
// so that a count larger than any memory does not overflow.
type Footprint struct {
	Weights  float64 // all matrices of a model
	Engine   float64 // the tables of an engine, with room to build them
	Gradient float64 // a gradient of the engine
	Pass     float64 // a pass of the engine
}

// WeightsFootprint returns the counts for [model.Weights] over s tokens and t positions with m and
// n heads in two layers, without an allocation. It panics if one of them is below one.
func WeightsFootprint(s, t, m, n int) Footprint {
	checkCounts(s, t, m, n)
	S, T, first, second := float64(s), float64(t), float64(m), float64(n)
	tokens, positions := padded(S), padded(T)
	d := S + T
	wide := (1 + first) * d
	factors := factorFootprint(tokens, positions)
	rest, last := wide-d, (1+second)*wide-d // rows of A2, and of the output, after the first d
	query, output := rest*padded(wide), S*padded(last)
	turned := second*wide*padded(rest) + last*tokens
	firsts := second*S*padded(wide) + S*tokens                        // layerTables.query
	vectors := positions*(3+first+2*second+4*first*second) + 2*second // for each sequence
	block, attentions := blockSize(first, positions), blockSize(first, positions)
	if inParts(first, positions) {
		attentions = 1
		vectors += first * tokens * positions
	}
	return Footprint{
		Weights:  first*d*d + second*wide*wide + (1+second)*wide*S,
		Engine:   first*(factors+d*d+lastFootprint(S, T)) + second*query + output + turned + firsts,
		Gradient: first*factors + second*query + output + firsts,
		Pass: attentionFootprint(tokens, positions) + attentions*first*positions*positions +
			block*(vectors+2*tokens+2*(1+second)*wide+2*second*padded(wide)+3),
	}
}

// factorFootprint counts the factors of a head of layer 1, in padded numbers, lastFootprint the
// factors of its last query, and attentionFootprint the arrays that all attention of a pass shares.
func factorFootprint(tokens, positions float64) float64 {
	return (tokens + positions) * (tokens + positions)
}

func lastFootprint(s, t float64) float64 { return 2*s*t + s*s }

func attentionFootprint(tokens, positions float64) float64 {
	return 3*positions + 2*tokens + tokens*positions
}

// padded is simd.Padded for counts of any size.
func padded(n float64) float64 {
	if n < 1<<40 {
		return float64(simd.Padded(int(n)))
	}
	return n
}

// MLPFootprint returns the counts for a [model.MLP] of the given width over s tokens and t
// positions, without an allocation. It panics if one of them is below one.
func MLPFootprint(s, t, width int, residual bool) Footprint {
	checkCounts(s, t, width)
	S, T, d := float64(s), float64(t), float64(width)
	h, self, weights := d, 0.0, 8*d*d+(2*S+T+4)*d
	if residual {
		h, self, weights = 2*d, 1, 6*d*d+(2*S+T+2)*d
	}
	tokens, positions, wide := padded(S), padded(T), padded(h)
	n := S + T + 1 + h
	factors := factorFootprint(tokens, positions)
	turned := (n+S)*h + n*d + d*S // the tables with transposes
	tables := S*T*(h+self*d) + S*(n+S) + turned
	matrices := 8*d*d + n*(3*d+n+S) + (d+1)*(d+S) + 2*d + d*S + (S+T)*(S+T+2*h)
	own := self * positions * padded(d)
	sequence := 3*positions*wide + own + 3*positions + positions*positions
	return Footprint{
		Weights:  weights,
		Engine:   factors + (S+T)*(S+T) + lastFootprint(S, T) + tables + turned + 2*matrices,
		Gradient: factors + tables,
		Pass: mlpBlock*(sequence+2*(h+d+2*n+2*S)) + 4*positions*wide + own + 4*positions + 2*wide + T +
			attentionFootprint(tokens, positions),
	}
}

// checkCounts panics if a count is below one.
func checkCounts(counts ...int) {
	if slices.Min(counts) < 1 {
		panic(fmt.Sprintf("engine: tokens, positions and heads or width are %v, want at least one of each", counts))
	}
}

// PositionalFootprint returns the counts for a [model.Positional].
func PositionalFootprint(f model.PositionalForm) Footprint {
	checkCounts(f.S, f.T, f.Heads)
	S, T, m := float64(f.S), float64(f.T), float64(f.Heads)
	d := (1 + m) * S
	first, rest := T*T, 2*d*d
	if f.Relative {
		first = T
	}
	if f.Linear {
		rest = S * S
	}
	if f.Values {
		rest += m * S * S
	}
	scratch := T*(2*d+(1+m)*S+1) + 4*d + T + 3*S
	return Footprint{
		Weights: m*first + rest, Engine: m*(first+T*T) + rest + scratch, Gradient: m*T*T + rest, Pass: scratch + T*S,
	}
}

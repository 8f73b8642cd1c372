package main

import (
	"fmt"
	"math"
	"math/bits"
	"os"
	"text/tabwriter"
	"time"

	"learncausal/internal/lanes"
	"learncausal/paper/figure"
)

// A kernel is a piece of a step in one size: its numbers of flops and of bytes, each array
// read or written once.
type kernel struct {
	name         string
	positions    int
	flops, bytes float64
	run          func()
}

// kernels returns the kernels of a step over ten tokens: the attention of a head of layer 1
// and its gradient, and the product of eight queries with A2.
func kernels(positions int) []kernel {
	const tokens, sequences = 10, lanes.Eight
	t, s := lanes.Padded(positions), lanes.Padded(tokens)
	a, x, y := lanes.NewAttention(positions, tokens), make([]int, t), make([]float64, t)
	f := lanes.Factors{
		PosPos: make([]float64, t*t), TokPos: make([]float64, s*t),
		TokTok: make([]float64, s*s), PosTok: make([]float64, t*s),
	}
	d := lanes.Rank{Queries: make([]float64, 2*t), Keys: make([]float64, 2*t), Mean: y, Last: y}
	dense := func(rows, columns int) lanes.Matrix { return lanes.Dense(rows, columns, make([]float64, rows*columns)) }
	wide := 2 * (tokens + positions)
	q, h, a2 := dense(sequences, wide), dense(sequences, wide/2), dense(wide/2, wide)
	pairs := float64(positions*(positions+1)) / 2
	v, w, m, n, k := make([]float64, t), make([]float64, t), float64(sequences), float64(wide), float64(wide/2)
	return []kernel{
		{"attention", positions, 5 * pairs, 16 * pairs, func() { a.Fill(f, x) }},
		{"keys to queries", positions, 2 * pairs, 8 * pairs, func() { a.Combine(v, w, y) }},
		{"queries to keys", positions, 2 * pairs, 8 * pairs, func() { a.Dots(v, y) }},
		{"its gradient", positions, 9 * pairs, 24 * pairs, func() { a.Back(f, d, x) }},
		{"product with A2", positions, 2 * m * n * k, 8 * (m*k + k*n + 2*m*n), func() { q.AddMul(h, a2) }},
	}
}

// perSecond returns the number of calls of f in a second.
func perSecond(f func()) float64 {
	f()
	for n := 1; ; n *= 2 {
		start := time.Now()
		for range n {
			f()
		}
		if passed := time.Since(start); passed > 50*time.Millisecond {
			return float64(n) / passed.Seconds()
		}
	}
}

// clock returns the cycles in a second, measured by dependent rotations, one cycle each.
func clock() float64 {
	const n = 1 << 12
	word := uint64(1)
	hz := n * perSecond(func() {
		for range n / 8 {
			word = bits.RotateLeft64(word, 1) ^ 1
			word = bits.RotateLeft64(word, 1) ^ 1
			word = bits.RotateLeft64(word, 1) ^ 1
			word = bits.RotateLeft64(word, 1) ^ 1
		}
	})
	if word == 0 {
		panic("bench: no rotation gives zero")
	}
	return hz
}

// drawRoofline measures one core and the kernels on it, prints them, and draws the kernels
// below the limits of the core: two vectors of products or sums a cycle, or the bandwidth of
// the first-level cache, the second-level cache or memory.
func drawRoofline(file string) error {
	width := map[string]float64{"avx512": 8, "avx2": 4}[lanes.Level()]
	most := 2 * max(width, 1) * clock()
	fmt.Printf("one core, vectors: %s: at most %.0f Gflop/s\n", lanes.Level(), most/1e9)
	axes := &figure.Axes{
		X: figure.Axis{Label: figure.Text("Flops for each byte"), Log: true},
		Y: figure.Axis{Label: figure.Text("Gflop in a second"), Log: true},
	}
	var x []float64
	for k := -32; k <= 24; k++ {
		x = append(x, math.Exp2(float64(k)/8))
	}
	for _, level := range []struct {
		name string
		size int
	}{{"first-level cache", 16 << 10}, {"second-level cache", 512 << 10}, {"memory", 256 << 20}} {
		from, to := make([]byte, level.size), make([]byte, level.size)
		rate := 2 * float64(level.size) * perSecond(func() { copy(to, from) })
		fmt.Printf("%s: %.0f GB/s\n", level.name, rate/1e9)
		axes.Series = append(axes.Series, figure.Curve(figure.Text(level.name), x,
			func(x float64) float64 { return min(most, rate*x) / 1e9 }))
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 3, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "kernel\tT\tµs\tflops a byte\tGflop/s\tof the most\t")
	var marks []figure.Series
	for _, positions := range []int{20, 128, 512} {
		for i, k := range kernels(positions) {
			if len(marks) == i {
				marks = append(marks, figure.Series{Label: figure.Text(k.name), Points: true, Color: 4 + i})
			}
			rate := perSecond(k.run)
			marks[i].X, marks[i].Y = append(marks[i].X, k.flops/k.bytes), append(marks[i].Y, rate*k.flops/1e9)
			fmt.Fprintf(w, "%s\t%d\t%.3g\t%.2f\t%.1f\t%.0f %%\t\n", k.name, k.positions, 1e6/rate, k.flops/k.bytes,
				rate*k.flops/1e9, 100*rate*k.flops/most)
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	axes.Series = append(axes.Series, marks...)
	picture, err := (&figure.Figure{ID: "roofline", Width: figure.FullText, Rows: [][]figure.Panel{{axes}}}).PNG()
	if err != nil {
		return err
	}
	return figure.WriteFile(file, picture)
}

package markov_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"learncausal/internal/property"
	"learncausal/pkg/internal/simd"
	"learncausal/pkg/markov"
	"learncausal/pkg/num"
)

func TestProperties(t *testing.T) {
	property.Test(t, property.Table{
		"Stationary CheckRows": matrices,
		"NewDirichlet Dirichlet.Draw Dirichlet.States Dirichlet.String":         dirichlet,
		"Dirichlet.DrawRow Dirichlet.DrawNext":                                  rows,
		"NewFinite NewOrbit Finite.Draw Finite.States Finite.String ParsePrior": finite,
		"Sampled":                     sampled,
		"NewBlock NewDrawer":          blocks,
		"Dirichlet.NewRows Rows.Draw": rowsSideBySide,
	})
}

// entries draws the entries of a matrix over s states, valid or not.
func entries(t *rapid.T, s int) []float64 {
	pi := property.Kernel(max(s, 1)).Draw(t, "kernel")
	switch rapid.SampledFrom([]string{"right", "wrong entry", "wrong length", "zeros"}).Draw(t, "kind") {
	case "wrong entry":
		pi[rapid.IntRange(0, len(pi)-1).Draw(t, "at")] = property.Float().Draw(t, "entry")
	case "wrong length":
		return rapid.SliceOfN(property.Float(), 0, 10).Draw(t, "pi")
	case "zeros":
		for i := range pi {
			pi[i] *= float64(rapid.IntRange(0, 1).Draw(t, "zero"))
		}
	}
	return pi
}

// isLaws reports whether pi has s probability vectors.
func isLaws(pi []float64, s int) bool {
	if s < 1 || len(pi) != s*s {
		return false
	}
	for row := range slices.Chunk(pi, s) {
		sum := 0.0
		for _, p := range row {
			if !(p >= 0) {
				return false
			}
			sum += p
		}
		if !(math.Abs(sum-1) < 1e-12) {
			return false
		}
	}
	return true
}

func matrices(t *rapid.T) {
	s := rapid.IntRange(-1, 4).Draw(t, "S")
	pi := entries(t, s)
	err := markov.CheckRows(pi, s)
	if (err == nil) != isLaws(pi, s) {
		t.Fatalf("rows %v over %d states: %v", pi, s, err)
	}
	mu := make([]float64, max(s, 0))
	shaped := s >= 1 && len(pi) == s*s
	if !property.Decide(t, shaped, property.Refused(t, "markov", func() { err = markov.Stationary(mu, pi) })) {
		return
	}
	rates := true
	for row := range slices.Chunk(pi, s) {
		rates = rates && slices.Max(row) > 0
		for _, p := range row {
			rates = rates && p >= 0 && !math.IsInf(p, 0)
		}
	}
	if property.Decide(t, rates && closedClasses(pi, s) == 1, property.Said(t, "markov", err)) {
		checkStationary(t, pi, mu)
	}
}

// closedClasses counts the closed classes of a chain.
func closedClasses(pi []float64, s int) int {
	reach := make([][]bool, s)
	for a := range reach {
		reach[a] = make([]bool, s)
		for b := range reach[a] {
			reach[a][b] = a == b || pi[a*s+b] > 0
		}
	}
	for k := range s {
		for a := range s {
			for b := range s {
				reach[a][b] = reach[a][b] || reach[a][k] && reach[k][b]
			}
		}
	}
	classes := 0
	for a := range s {
		closed, first := true, true
		for b := range s {
			closed = closed && (!reach[a][b] || reach[b][a])
			first = first && !(b < a && reach[a][b] && reach[b][a])
		}
		if closed && first {
			classes++
		}
	}
	return classes
}

// checkStationary fails unless mu is a law with mu pi = mu, for pi with its rows
// normalised, up to rounding.
func checkStationary(t *rapid.T, pi, mu []float64) {
	s, sum := len(mu), 0.0
	flow := make([]float64, s)
	for a, row := range slices.Collect(slices.Chunk(pi, s)) {
		total := new(big.Float)
		for _, p := range row {
			total.Add(total, big.NewFloat(p))
		}
		for b, p := range row {
			q, _ := new(big.Float).Quo(big.NewFloat(p), total).Float64()
			flow[b] += mu[a] * q
		}
		sum += mu[a]
	}
	for b, m := range mu {
		if !(m >= 0 && m <= 1) || !property.Near(m, flow[b], 1e-13) || !property.Near(sum, 1, 1e-13) {
			t.Fatalf("the stationary measure of %v is %v, and one step later %v", pi, mu, flow)
		}
	}
}

func dirichlet(t *rapid.T) {
	s := rapid.OneOf(property.Int(), rapid.SampledFrom([]int{3, 20, 255, 256})).Draw(t, "S")
	alpha := rapid.OneOf(property.Float(), rapid.SampledFrom([]float64{0.001, 0.05, 0.1, 0.3, 1000, 1001})).Draw(t,
		"alpha")
	d, err := markov.NewDirichlet(s, alpha)
	right := s >= 2 && s <= 255 && alpha >= 0.001 && alpha <= 1000
	if !property.Decide(t, right, property.Said(t, "markov", err)) || s > 20 {
		return
	}
	again, err := markov.ParsePrior(d.String(), s)
	if err != nil || again.String() != d.String() || d.States() != s {
		t.Fatalf("%v reads back as %v, %v", d, again, err)
	}
	pi := make([]float64, s*s+rapid.IntRange(-1, 1).Draw(t, "more entries"))
	mu := make([]float64, s+rapid.IntRange(-1, 1).Draw(t, "more states"))
	src := num.Stream(rapid.Uint64().Draw(t, "seed"), "property")
	shaped := len(pi) == s*s && len(mu) == s
	if !property.Decide(t, shaped, property.Refused(t, "markov", func() { d.Draw(pi, mu, src) })) {
		return
	}
	if err := markov.CheckRows(pi, s); err != nil {
		t.Fatalf("a draw of %v: %v", d, err)
	}
	if alpha >= 0.05 { // below, entries underflow, and mu belongs to the exact draw
		checkStationary(t, pi, mu)
	}
}

func rows(t *rapid.T) {
	s := rapid.IntRange(2, 5).Draw(t, "S")
	alpha := rapid.SampledFrom([]float64{0.001, 0.05, 0.1, 0.3, 1, 1.5, 1000}).Draw(t, "alpha")
	d, err := markov.NewDirichlet(s, alpha)
	if err != nil {
		t.Fatal(err)
	}
	src := num.Stream(rapid.Uint64().Draw(t, "seed"), "property")
	row := make([]float64, rapid.IntRange(0, 7).Draw(t, "length"))
	d.DrawRow(row, src)
	sum := 0.0
	for _, p := range row {
		sum += p
	}
	if len(row) > 0 && (!property.Near(sum, 1, 1e-12) || slices.Min(row) < 0) {
		t.Fatalf("a row of %v is %v", d, row)
	}
	mu := make([]float64, s*s+rapid.IntRange(-1, 1).Draw(t, "more entries"))
	counts := rapid.SliceOfN(rapid.IntRange(0, 30), s*s, s*s).Draw(t, "counts")
	switch rapid.SampledFrom([]string{"right", "negative", "short"}).Draw(t, "kind") {
	case "negative":
		counts[rapid.IntRange(0, s*s-1).Draw(t, "at")] = -1
	case "short":
		counts = counts[1:]
	}
	q := rapid.IntRange(-1, s).Draw(t, "q")
	right := len(mu) == s*s && len(counts) == s*s && slices.Min(counts) >= 0 && q >= 0 && q < s
	if !property.Decide(t, right, property.Refused(t, "markov", func() { d.DrawNext(mu, counts, q, src) })) {
		return
	}
	if err := markov.CheckRows(mu, s); err != nil {
		t.Fatalf("measures %v of %v: %v", mu, d, err)
	}
}

func finite(t *rapid.T) {
	s := rapid.IntRange(-1, 9).Draw(t, "S")
	var pis [][]float64
	right := s >= 2
	for range rapid.IntRange(0, 3).Draw(t, "matrices") {
		pi := entries(t, min(s, 3))
		pis = append(pis, pi)
		right = right && isLaws(pi, s) && closedClasses(pi, s) == 1
		if right { // no state is transient
			mu := make([]float64, s)
			right = markov.Stationary(mu, pi) == nil && slices.Min(mu) >= markov.MinMu
		}
	}
	right = right && len(pis) > 0
	for family, make := range map[string]func(int, ...[]float64) (*markov.Finite, error){
		"finite": markov.NewFinite, "orbit": markov.NewOrbit,
	} {
		p, err := make(s, pis...)
		if property.Decide(t, right, property.Said(t, "markov", err)) {
			checkFinite(t, p, family, s, pis)
		}
	}
}

// checkFinite fails unless p is uniform over the matrices or their relabelings.
func checkFinite(t *rapid.T, p *markov.Finite, family string, s int, bases [][]float64) {
	again, err := markov.ParsePrior(p.String(), s)
	if err != nil || again.String() != p.String() || !strings.HasPrefix(p.String(), family) || p.States() != s {
		t.Fatalf("%v over %d states reads back as %v, %v", p, p.States(), again, err)
	}
	images := 1
	if family == "orbit" {
		for k := range s {
			images *= k + 1
		}
	}
	if len(p.Pi) != images*len(bases) || !slices.Equal(again.(*markov.Finite).Pi[len(p.Pi)-1], p.Pi[len(p.Pi)-1]) {
		t.Fatalf("%v has %d matrices for %d", p, len(p.Pi), len(bases))
	}
	total := 0.0
	for k, pi := range p.Pi {
		total += p.Weight[k]
		checkStationary(t, pi, p.Mu[k])
		trace, want := 0.0, 0.0
		for a := range s {
			trace += pi[a*s+a]
			want += bases[k/images][a*s+a]
		}
		if !property.Near(trace, want, 1e-12) || family == "finite" && !slices.Equal(pi, bases[k]) {
			t.Fatalf("%v has the matrix %v", p, pi)
		}
	}
	if !property.Near(total, 1, 1e-12) {
		t.Fatalf("%v has the total weight %v", p, total)
	}
	pi, mu := make([]float64, s*s), make([]float64, s+rapid.IntRange(0, 1).Draw(t, "more states"))
	src := rand.NewPCG(1, 2)
	if !property.Decide(t, len(mu) == s, property.Refused(t, "markov", func() { p.Draw(pi, mu, src) })) {
		return
	}
	if !slices.ContainsFunc(p.Pi, func(m []float64) bool { return slices.Equal(m, pi) }) {
		t.Fatalf("%v draws %v", p, pi)
	}
}

func sampled(t *rapid.T) {
	n, s := rapid.IntRange(-1, 3).Draw(t, "n"), rapid.IntRange(2, 9).Draw(t, "S")
	d, err := markov.NewDirichlet(s, rapid.SampledFrom([]float64{0.5, 1, 20}).Draw(t, "alpha"))
	if err != nil {
		t.Fatal(err)
	}
	if s > 5 && s < 9 {
		s = 5 // 8! relabelings take their time
		d.S = s
	}
	p, err := markov.Sampled(d, n, rand.NewPCG(1, 2))
	if property.Decide(t, n >= 1 && s <= 8, property.Said(t, "markov", err)) && p.States() != s {
		t.Fatalf("%d draws of %v are a prior over %d states", n, d, p.States())
	}
}

// wrongRoom draws -1, 0 or 1, and mostly 0.
func wrongRoom(t *rapid.T) int {
	return rapid.SampledFrom([]int{0, 0, 0, -1, 1}).Draw(t, "more entries")
}

func blocks(t *rapid.T) {
	s := rapid.IntRange(-1, 5).Draw(t, "S")
	var b *markov.Block
	if !property.Decide(t, s >= 1, property.Refused(t, "markov", func() { b = markov.NewBlock(s) })) || s < 2 {
		return
	}
	alpha := rapid.SampledFrom([]float64{0.001, 0.05, 0.1, 0.3, 1, 1.5, 1000}).Draw(t, "alpha")
	var prior markov.Prior
	prior, err := markov.NewDirichlet(s+rapid.SampledFrom([]int{0, 0, 0, 1}).Draw(t, "more states"), alpha)
	if err != nil {
		t.Fatal(err)
	}
	if rapid.Bool().Draw(t, "finite") {
		if prior, err = markov.NewFinite(s, property.Kernel(s).Draw(t, "pi")); err != nil {
			t.Fatal(err)
		}
	}
	src := num.Stream(rapid.Uint64().Draw(t, "seed"), "property")
	draw, right := markov.NewDrawer(prior), prior.States() == s
	if !property.Decide(t, right, property.Refused(t, "markov", func() { draw(b, simd.NewWords(src), src) })) {
		return
	}
	for l := range markov.Lanes {
		total := 0.0
		for k := l; k < len(b.Mu); k += markov.Lanes {
			total += b.Mu[k]
		}
		for k := l; k < len(b.Pi); k += markov.Lanes {
			if !(b.Pi[k] >= 0) || !(b.Sums[k] >= b.Pi[k]) || !property.Near(total, 1, 1e-12) {
				t.Fatalf("matrices %v with sums %v and measures %v", b.Pi, b.Sums, b.Mu)
			}
		}
	}
}

func rowsSideBySide(t *rapid.T) {
	s := rapid.IntRange(2, 5).Draw(t, "S")
	d, err := markov.NewDirichlet(s, rapid.SampledFrom([]float64{0.001, 0.05, 0.1, 0.3, 1, 1.5, 1000}).Draw(t, "alpha"))
	if err != nil {
		t.Fatal(err)
	}
	n := rapid.IntRange(0, 3).Draw(t, "n")
	var r *markov.Rows
	if !property.Decide(t, n > 0, property.Refused(t, "markov", func() { r = d.NewRows(n) })) {
		return
	}
	size := markov.Lanes * s
	x, sums := make([]float64, n*size+wrongRoom(t)), make([]float64, n*size+wrongRoom(t))
	src := num.Stream(rapid.Uint64().Draw(t, "seed"), "property")
	words, right := simd.NewWords(src), len(x) == n*size && len(sums) == len(x)
	if !property.Decide(t, right, property.Refused(t, "markov", func() { r.Draw(x, sums, words, src) })) {
		return
	}
	for from := 0; from < len(x); from += size {
		if !(slices.Min(x) >= 0 && slices.Min(sums[from+size-markov.Lanes:from+size]) >= 0x1p-900) {
			t.Fatalf("rows %v with sums %v", x, sums)
		}
	}
}

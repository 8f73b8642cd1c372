package simd

import "fmt"

// Padded returns the smallest multiple of eight that is at least n, or the next one if that is
// a multiple of 128: rows a power of two apart compete for the same cache lines.
func Padded(n int) int {
	p := (n + 7) &^ 7
	if p%128 == 0 {
		p += 8
	}
	return p
}

// An Attention is the causal attention of n queries to n keys, stored by key: the attention
// of query i to key j <= i is entry (j, i) of a row-major matrix, the other entries are
// zero. Vectors over positions have Padded(n) entries, zero from n on.
type Attention struct {
	n, stride int       // stride = Padded(n)
	tokens    int       // Padded
	p         []float64 // stride x stride, (j, i)
	sum       []float64 // stride, sums of the columns before the division
	unit      []float64 // stride, 1 at n-1
	row       []float64 // stride, scratch
	weight    []float64 // 2 x tokens, scratch
	posTok    []float64 // tokens x stride, scratch, zero between calls
}

// NewAttention returns attention for n positions and a number of tokens. It panics if one of them is below one.
func NewAttention(n, tokens int) *Attention { return NewAttentions(1, n, tokens)[0] }

// NewAttentions returns several for one goroutine: they share their scratch memory and the result of Fill.
func NewAttentions(many, n, tokens int) []*Attention {
	if n < 1 || tokens < 1 {
		panic(fmt.Sprintf("simd: attention of %d positions and %d tokens, want at least one", n, tokens))
	}
	stride := Padded(n)
	shared := Attention{
		n: n, stride: stride, tokens: Padded(tokens), sum: make([]float64, stride),
		unit: make([]float64, stride), row: make([]float64, stride), weight: make([]float64, 2*Padded(tokens)),
		posTok: make([]float64, Padded(tokens)*stride),
	}
	shared.unit[n-1] = 1
	all := make([]*Attention, many)
	for i := range all {
		a := shared
		a.p = make([]float64, stride*stride)
		all[i] = &a
	}
	return all
}

// Keys returns the matrix, n x n: the attention of query i to key j is (j, i).
func (a *Attention) Keys() Matrix { return Matrix{a.n, a.n, a.stride, 1, a.p} }

// Factors are a number for each pair of a key and a query, as a product of four factors of
// their positions j, i and tokens a, b; or the gradient by these factors. The row belongs
// to the key and the column to the query. Padding is zero, and so is PosPos where i < j.
type Factors struct {
	PosPos []float64 // Padded(n) x Padded(n), (j, i)
	TokPos []float64 // Padded(tokens) x Padded(n), (a, i)
	TokTok []float64 // Padded(tokens) x Padded(tokens), (a, b)
	PosTok []float64 // Padded(n) x Padded(tokens), (j, b); in a gradient its transpose
}

// Least is the smallest divisor of Fill.
const Least = 1e-200

// Fill sets entry (j, i) to (PosPos_ji TokPos_aj,i) (TokTok_aj,ai PosTok_j,ai), where a_j = x[j] is the token
// of position j, and divides each column by the larger of its sum and Least. It returns the sums, Padded(n). x
// has Padded(n) tokens, zeros from n on; Fill does not check that they are in range.
func (a *Attention) Fill(f Factors, x []int) []float64 {
	a.fits(&f, x)
	if assembly && level > none {
		attendVectors(&a.p[0], &a.sum[0], &f.PosPos[0], &f.TokPos[0], &f.TokTok[0], &f.PosTok[0], &a.weight[0],
			&x[0], a.stride, a.tokens, Least)
		return a.sum
	}
	clear(a.sum)
	sum, x := a.sum[:a.n], x[:a.n]
	t := a.tokens
	for j, token := range x {
		w, tokTok, posTok := a.weight[:t], f.TokTok[token*t:][:t], f.PosTok[j*t:][:t]
		for b := range w {
			w[b] = float64(tokTok[b] * posTok[b])
		}
		row, posPos, tokPos := a.p[j*a.stride:][:a.n], f.PosPos[j*a.stride:][:a.n], f.TokPos[token*a.stride:][:a.n]
		row, posPos, tokPos = row[:len(x)], posPos[:len(x)], tokPos[:len(x)]
		for i := j; i < len(x); i++ {
			v := float64(float64(posPos[i]*tokPos[i]) * w[x[i]])
			row[i] = v
			sum[i] += v
		}
	}
	inverse := a.row[:len(sum)]
	for i, s := range sum {
		if !(s > Least) {
			s = Least
		}
		inverse[i] = 1 / s
	}
	for j := range x {
		row := a.p[j*a.stride:][j:len(inverse)]
		for i, v := range inverse[j:] {
			row[i] = float64(row[i] * v)
		}
	}
	return a.sum
}

func (a *Attention) fits(f *Factors, x []int) {
	t := a.tokens
	if len(x) != a.stride || len(f.PosPos) != len(a.p) || len(f.TokPos) != t*a.stride || len(f.TokTok) != t*t ||
		len(f.PosTok) != a.stride*t {
		panic(fmt.Sprintf("simd: factors for another size than %d positions and up to %d tokens", a.n, t))
	}
}

// Combine sets y_i to the sum over j <= i, in this order, of x_j times entry (j, i), and adds
// y to total. y, total, x: Padded(n).
func (a *Attention) Combine(y, total, x []float64) {
	a.vectors(y, x)
	a.vectors(total, x)
	if assembly && level > none {
		combineVectors(&y[0], &total[0], &x[0], &a.p[0], a.stride)
		return
	}
	clear(y)
	y = y[:a.n]
	j := 0
	for ; j+3 < a.n; j += 4 {
		r0, r1 := a.p[j*a.stride:][j:a.n], a.p[(j+1)*a.stride:][j:a.n]
		r2, r3 := a.p[(j+2)*a.stride:][j:a.n], a.p[(j+3)*a.stride:][j:a.n]
		x0, x1, x2, x3, y := x[j], x[j+1], x[j+2], x[j+3], y[j:]
		r0, r1, r2, r3 = r0[:len(y)], r1[:len(y)], r2[:len(y)], r3[:len(y)]
		for i, v := range y {
			v += float64(x0 * r0[i])
			v += float64(x1 * r1[i])
			v += float64(x2 * r2[i])
			v += float64(x3 * r3[i])
			y[i] = v
		}
	}
	for ; j < a.n; j++ {
		row, y := a.p[j*a.stride:][j:a.n], y[j:]
		row = row[:len(y)]
		for i := range y {
			y[i] += float64(x[j] * row[i])
		}
	}
	total = total[:len(y)]
	for i, v := range y {
		total[i] += v
	}
}

// Dots sets y_j to the sum over i of entry (j, i) times x_i, in lanes. y, x: Padded(n).
func (a *Attention) Dots(y, x []float64) {
	a.vectors(y, x)
	if assembly && level > none {
		dotsVectors(&y[0], &a.p[0], &x[0], a.stride)
		return
	}
	for j := range y {
		begin := j &^ 7
		row, x := a.p[j*a.stride:][begin:a.stride], x[begin:]
		y[j] = dot(row, x)
	}
}

// dot returns the sum of a_i b_i in lanes; the length is a multiple of eight.
func dot(a, b []float64) float64 {
	var s0, s1, s2, s3, s4, s5, s6, s7 float64
	for len(a) >= 8 && len(b) >= 8 {
		s0 += float64(a[0] * b[0])
		s1 += float64(a[1] * b[1])
		s2 += float64(a[2] * b[2])
		s3 += float64(a[3] * b[3])
		s4 += float64(a[4] * b[4])
		s5 += float64(a[5] * b[5])
		s6 += float64(a[6] * b[6])
		s7 += float64(a[7] * b[7])
		a, b = a[8:], b[8:]
	}
	return ((s0 + s4) + (s2 + s6)) + ((s1 + s5) + (s3 + s7))
}

func (a *Attention) vectors(y, x []float64) {
	if len(x) != a.stride || len(y) != a.stride {
		panic(fmt.Sprintf("simd: vectors of %d and %d entries with attention of %d positions, want %d",
			len(y), len(x), a.n, a.stride))
	}
}

// A Rank is a gradient by attention of low rank, minus its mean under the attention: entry
// (j, i) is sum_r Queries_ri Keys_rj - Mean_i, plus Last_j for the last query.
type Rank struct {
	Queries, Keys []float64 // terms x Padded(n)
	Mean, Last    []float64 // Padded(n)
}

// Back adds to g the gradient by the logarithms of the factors, z_ji = p_ji d_ji. In g, PosTok is transposed.
// The gradient by PosTok is first summed separately, and the gradient by TokTok is the sum of its entries.
func (a *Attention) Back(g Factors, d Rank, x []int) {
	part := g
	part.PosTok = a.posTok
	a.Gather(part, d, x)
	a.Fold(g, a.posTok, x)
}

// Gather is Back without its second half, Fold: it adds the gradient by PosTok to g.PosTok
// and leaves g.TokTok alone.
func (a *Attention) Gather(g Factors, d Rank, x []int) {
	a.fits(&g, x)
	a.rankFits(&d)
	if assembly && level > none {
		attendGradVectors(&g.PosPos[0], &g.TokPos[0], &g.PosTok[0], &a.p[0], &d.Queries[0], &d.Keys[0], &d.Mean[0],
			&d.Last[0], &a.unit[0], &x[0], a.n, a.stride, len(d.Keys)/a.stride)
		return
	}
	n := a.n
	x = x[:n]
	for j, token := range x {
		z := a.row[j:n]
		clear(z)
		r := 0
		for ; r+a.stride < len(d.Keys); r += 2 * a.stride {
			q0, q1 := d.Queries[r:][j:n], d.Queries[r+a.stride:][j:n]
			q0, q1 = q0[:len(z)], q1[:len(z)]
			k0, k1 := d.Keys[r+j], d.Keys[r+a.stride+j]
			for i, v := range z {
				v += float64(q0[i] * k0)
				z[i] = v + float64(q1[i]*k1)
			}
		}
		if r < len(d.Keys) {
			q, k := d.Queries[r:][j:n], d.Keys[r+j]
			q = q[:len(z)]
			for i := range z {
				z[i] += float64(q[i] * k)
			}
		}
		mean := d.Mean[j:n]
		mean = mean[:len(z)]
		for i := range z {
			z[i] -= mean[i]
		}
		z[len(z)-1] += d.Last[j]
		p, posPos := a.p[j*a.stride:][j:n], g.PosPos[j*a.stride:][j:n]
		tokPos := g.TokPos[token*a.stride:][j:n]
		p, posPos, tokPos, x := p[:len(z)], posPos[:len(z)], tokPos[:len(z)], x[j:][:len(z)]
		posTok := g.PosTok[j:]
		for i, v := range z {
			v = float64(p[i] * v)
			posPos[i] += v
			tokPos[i] += v
			posTok[x[i]*a.stride] += v
		}
	}
}

func (a *Attention) rankFits(d *Rank) {
	n := len(d.Keys)
	if n == 0 || n%a.stride != 0 || len(d.Queries) != n || len(d.Mean) != a.stride || len(d.Last) != a.stride {
		panic(fmt.Sprintf("simd: gradient of another size than that of attention of %d positions", a.n))
	}
}

// Fold adds sum, the g.PosTok of calls of Gather, to g.PosTok and its entries to g.TokTok,
// and clears it. sum: Padded(tokens) x Padded(n).
func (a *Attention) Fold(g Factors, sum []float64, x []int) {
	a.fits(&g, x)
	if len(sum) != len(g.PosTok) {
		panic(fmt.Sprintf("simd: sum of %d numbers added to %d", len(sum), len(g.PosTok)))
	}
	if assembly && level > none {
		foldVectors(&g.PosTok[0], &g.TokTok[0], &sum[0], &x[0], a.stride, a.tokens)
		return
	}
	t := a.tokens
	for b := range t {
		row, to, pairs := sum[b*a.stride:][:a.stride], g.PosTok[b*a.stride:][:a.stride], g.TokTok[b:]
		x, to := x[:len(row)], to[:len(row)]
		for j, v := range row {
			to[j] += v
			pairs[x[j]*t] += v
		}
	}
	clear(sum)
}

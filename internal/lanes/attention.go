package lanes

import "fmt"

// Padded returns the multiple of eight that is next to n from above, or the one after
// it if that is a multiple of 128: rows a power of two apart compete for the same
// places in a cache.
func Padded(n int) int {
	p := (n + 7) &^ 7
	if p%128 == 0 {
		p += 8
	}
	return p
}

// An Attention is causal attention of n queries to n keys, kept by keys: what query
// i >= j gives to key j is entry (j, i) of a matrix of Padded(n) x Padded(n), row-major,
// with zeros everywhere else. Vectors that go with it have Padded(n) entries, of
// which those from n on are zero.
type Attention struct {
	n, stride int
	tokens    int // Padded
	p         []float64
	sum       []float64 // what the columns summed up to before they were divided by it
	unit      []float64 // 1 at n-1
	row       []float64 // what is needed for a while, of Padded(n)
	weight    []float64 // of 2 x Padded(tokens)
	posTok    []float64 // of Padded(tokens) x Padded(n), zero when it is not needed
}

// NewAttention returns attention for n positions and that many tokens. It panics if
// one of them is below one.
func NewAttention(n, tokens int) *Attention { return NewAttentions(1, n, tokens)[0] }

// NewAttentions returns as many, for one goroutine: they share what Fill returns, and what is
// needed for a while.
func NewAttentions(many, n, tokens int) []*Attention {
	if n < 1 || tokens < 1 {
		panic(fmt.Sprintf("lanes: attention of %d positions and %d tokens, want at least one", n, tokens))
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

// Keys returns the matrix: what query i gives to key j is (j, i).
func (a *Attention) Keys() Matrix { return Matrix{a.n, a.n, a.stride, 1, a.p} }

// Factors are a number for each pair of a key and a query, as a product of four for
// their positions j, i and tokens a, b; or the gradient by these four. A row belongs
// to a key and a column to a query, and rows are padded to multiples of eight with
// zeros. PosPos has zeros where i < j.
type Factors struct {
	PosPos []float64 // Padded(n) x Padded(n), (j, i)
	TokPos []float64 // Padded(tokens) x Padded(n), (a, i)
	TokTok []float64 // Padded(tokens) x Padded(tokens), (a, b)
	PosTok []float64 // Padded(n) x Padded(tokens), (j, b); in a gradient its transpose
}

// Least is the smallest sum of products of factors that Fill divides by.
const Least = 1e-200

// Fill sets entry (j, i) to (PosPos_ji TokPos_aj,i) (TokTok_aj,ai PosTok_j,ai), where
// a_j = x[j] is the token of position j, and divides each column by its sum, by Least
// if that is more. It returns the sums. x has Padded(n) tokens, zeros from n on; that
// they are in range is not checked.
func (a *Attention) Fill(f Factors, x []int) []float64 {
	a.fits(&f, x)
	attend(a, f, x)
	return a.sum
}

func (a *Attention) fits(f *Factors, x []int) {
	t := a.tokens
	if len(x) != a.stride || len(f.PosPos) != len(a.p) || len(f.TokPos) != t*a.stride || len(f.TokTok) != t*t ||
		len(f.PosTok) != a.stride*t {
		panic(fmt.Sprintf("lanes: factors for another size than %d positions and up to %d tokens", a.n, t))
	}
}

func attendGo(a *Attention, f Factors, x []int) {
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
}

// Combine sets y_i to the sum of x_j times entry (j, i), over j <= i in this order, and adds
// y to total.
func (a *Attention) Combine(y, total, x []float64) {
	a.vectors(y, x)
	a.vectors(total, x)
	combine(a, y, total, x)
}

func combineGo(a *Attention, y, total, x []float64) {
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

// Dots sets y_j to the sum over i of entry (j, i) times x_i, in lanes.
func (a *Attention) Dots(y, x []float64) {
	a.vectors(y, x)
	dots(a, y, x)
}

func dotsGo(a *Attention, y, x []float64) {
	for j := range y {
		begin := j &^ 7
		row, x := a.p[j*a.stride:][begin:a.stride], x[begin:]
		y[j] = dot(row, x)
	}
}

// dot returns the sum of a_i b_i in lanes. The length is a multiple of eight.
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
		panic(fmt.Sprintf("lanes: vectors of %d and %d entries with attention of %d positions, want %d",
			len(y), len(x), a.n, a.stride))
	}
}

// A Rank is a gradient by attention of low rank, less its mean under the attention:
// entry (j, i) of it is sum_r Queries_ri Keys_rj - Mean_i, and Last_j more for the last
// query. Queries and Keys are terms x Padded(n), the others Padded(n).
type Rank struct {
	Queries, Keys []float64
	Mean, Last    []float64
}

// Back adds to g the gradient by the logarithms of the factors, that of the attention
// times its entry: z_ji = p_ji d_ji. In g the transpose of PosTok takes its place. The
// gradient of PosTok is summed up for itself, that of TokTok is the sum of its entries,
// and then they are added.
func (a *Attention) Back(g Factors, d Rank, x []int) {
	a.fits(&g, x)
	a.rankFits(&d)
	sum := g.PosTok
	g.PosTok = a.posTok
	attendGrad(a, g, d, x)
	fold(a, sum, g.TokTok, a.posTok, x)
}

// Gather is Back but for what follows the sum for PosTok, which it adds to that of g: Fold of
// this sum.
func (a *Attention) Gather(g Factors, d Rank, x []int) {
	a.fits(&g, x)
	a.rankFits(&d)
	attendGrad(a, g, d, x)
}

func (a *Attention) rankFits(d *Rank) {
	n := len(d.Keys)
	if n == 0 || n%a.stride != 0 || len(d.Queries) != n || len(d.Mean) != a.stride || len(d.Last) != a.stride {
		panic(fmt.Sprintf("lanes: gradient of another size than that of attention of %d positions", a.n))
	}
}

// Fold adds a sum of Gather to PosTok, of which g has the transpose, and its entries to TokTok,
// and clears it.
func (a *Attention) Fold(g Factors, sum []float64, x []int) {
	a.fits(&g, x)
	if len(sum) != len(g.PosTok) {
		panic(fmt.Sprintf("lanes: sum of %d numbers added to %d", len(sum), len(g.PosTok)))
	}
	fold(a, g.PosTok, g.TokTok, sum, x)
}

func foldGo(a *Attention, sum, pairs, posTok []float64, x []int) {
	t := a.tokens
	for b := range t {
		row, sum, pairs := posTok[b*a.stride:][:a.stride], sum[b*a.stride:][:a.stride], pairs[b:]
		x, sum := x[:len(row)], sum[:len(row)]
		for j, v := range row {
			sum[j] += v
			pairs[x[j]*t] += v
		}
	}
	clear(posTok)
}

func attendGradGo(a *Attention, g Factors, d Rank, x []int) {
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

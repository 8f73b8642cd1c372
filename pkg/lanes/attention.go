package lanes

import "fmt"

// Padded returns the multiple of eight that is next to n from above.
func Padded(n int) int { return (n + 7) &^ 7 }

// An Attention is causal attention of n queries to n keys, kept by keys: what query
// i >= j gives to key j is entry (j, i) of a matrix of Padded(n) x Padded(n), row-major,
// with zeros everywhere else. Vectors that go with it have Padded(n) entries, of
// which those from n on are zero.
type Attention struct {
	n, stride int
	p         []float64
	sum       []float64 // what the columns summed up to before they were divided by it
	unit      []float64 // 1 at n-1
	row       []float64 // of Padded(n), and of as many as there are tokens, when they are needed
	weight    []float64
}

// NewAttention returns attention for n positions and that many tokens. It panics if
// one of them is below one.
func NewAttention(n, tokens int) *Attention {
	if n < 1 || tokens < 1 {
		panic(fmt.Sprintf("lanes: attention of %d positions and %d tokens, want at least one", n, tokens))
	}
	stride := Padded(n)
	a := &Attention{
		n: n, stride: stride, p: make([]float64, stride*stride), sum: make([]float64, stride),
		unit: make([]float64, stride), row: make([]float64, stride), weight: make([]float64, Padded(tokens)),
	}
	a.unit[n-1] = 1
	return a
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
	t := len(a.weight)
	a.fits(f, x)
	if len(f.PosTok) < a.stride*t {
		panic("lanes: factors of another size than the attention")
	}
	attend(a, f, x)
	return a.sum
}

func (a *Attention) fits(f Factors, x []int) {
	t := len(a.weight)
	if len(x) != a.stride || len(f.PosPos) != len(a.p) || len(f.TokPos) != t*a.stride || len(f.TokTok) != t*t ||
		len(f.PosTok) != a.stride*t {
		panic(fmt.Sprintf("lanes: factors for another size than %d positions and up to %d tokens", a.n, t))
	}
}

func attendGo(a *Attention, f Factors, x []int) {
	clear(a.sum)
	sum, x := a.sum[:a.n], x[:a.n]
	t := len(a.weight)
	for j, token := range x {
		w, tokTok, posTok := a.weight, f.TokTok[token*t:][:t], f.PosTok[j*t:][:t]
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

// Combine sets y_i to the sum of x_j times entry (j, i), over j <= i in this order.
func (a *Attention) Combine(y, x []float64) {
	a.vectors(y, x)
	combine(a, y, x)
}

func combineGo(a *Attention, y, x []float64) {
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

// A Rank is a gradient by attention of low rank: entry (j, i) of it is
// sum_l R_li C_lj + S_li B_lj + Minus_i, and Last_j more for the last query. R, S, C and
// B are links x Padded(n), the others Padded(n).
type Rank struct {
	R, S, C, B  []float64
	Minus, Last []float64
}

// Back adds to g the gradient by the logarithms of the factors, that of the attention
// times its entry: z_ji = p_ji d_ji. In g the transpose of PosTok takes its place.
// TokTok is left as it is.
func (a *Attention) Back(g Factors, d Rank, x []int) {
	a.fits(g, x)
	n := len(d.R)
	if n == 0 || n%a.stride != 0 || len(d.S) != n || len(d.C) != n || len(d.B) != n ||
		len(d.Minus) != a.stride || len(d.Last) != a.stride {
		panic(fmt.Sprintf("lanes: gradient of another size than that of attention of %d positions", a.n))
	}
	attendGrad(a, g, d, x)
}

func attendGradGo(a *Attention, g Factors, d Rank, x []int) {
	n := a.n
	x = x[:n]
	for j, token := range x {
		z := a.row[j:n]
		copy(z, d.Minus[j:n])
		for l := 0; l < len(d.R); l += a.stride {
			r, s, c, b := d.R[l:][j:n], d.S[l:][j:n], d.C[l+j], d.B[l+j]
			r, s = r[:len(z)], s[:len(z)]
			for i := range z {
				v := z[i] + float64(r[i]*c)
				z[i] = v + float64(s[i]*b)
			}
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

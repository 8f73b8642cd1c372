//go:build !purego

package lanes

import "golang.org/x/sys/cpu"

func available() int {
	x := &cpu.X86
	return levelOf(x.HasAVX2 && x.HasBMI2, x.HasAVX512F && x.HasAVX512DQ && x.HasAVX512VL)
}

// levelOf returns the level of a processor that has the extensions for vectors of four
// numbers, and of eight. The kernels for eight need both.
func levelOf(four, eight bool) int {
	switch {
	case !four:
		return none
	case !eight:
		return avx2
	}
	return avx512
}

// A kernel is called by its name. A call through a variable would pass the arguments in
// registers and copy them to the stack, where the kernel reads them.

func addMul(c, a, b Matrix) {
	if level == none {
		addMulGo(c, a, b)
		return
	}
	// Parts of few rows are read side by side, so that the processor prefetches them.
	const part = 16
	for i := 0; i < c.Rows; i += part {
		rows := min(part, c.Rows-i)
		for k := 0; k < a.Cols; k += part {
			to, x, y, terms := &c.Data[i*c.Down], &a.Data[i*a.Down+k*a.Right], &b.Data[k*b.Down], min(part, a.Cols-k)
			if level == avx2 {
				addMulAVX2(to, x, y, rows, c.Cols, terms, c.Down, a.Down, a.Right, b.Down)
			} else {
				addMulAVX512(to, x, y, rows, c.Cols, terms, c.Down, a.Down, a.Right, b.Down)
			}
		}
	}
}

func attend(a *Attention, f Factors, x []int) {
	if level == none {
		attendGo(a, f, x)
		return
	}
	p, sum, w := &a.p[0], &a.sum[0], &a.weight[0]
	posPos, tokPos, tokTok, posTok := &f.PosPos[0], &f.TokPos[0], &f.TokTok[0], &f.PosTok[0]
	switch {
	case level == avx2:
		attendAVX2(p, sum, posPos, tokPos, tokTok, posTok, w, &x[0], a.stride, a.tokens, Least)
	case a.tokens == 8:
		attendOneAVX512(p, sum, posPos, tokPos, tokTok, posTok, w, &x[0], a.stride, a.tokens, Least)
	case a.tokens == 16:
		attendTwoAVX512(p, sum, posPos, tokPos, tokTok, posTok, w, &x[0], a.stride, a.tokens, Least)
	default:
		attendAVX512(p, sum, posPos, tokPos, tokTok, posTok, w, &x[0], a.stride, a.tokens, Least)
	}
}

func attendGrad(a *Attention, g Factors, d Rank, x []int) {
	terms := len(d.Keys) / a.stride
	switch level {
	case none:
		attendGradGo(a, g, d, x)
	case avx2:
		attendGradAVX2(&g.PosPos[0], &g.TokPos[0], &g.PosTok[0], &a.p[0], &d.Queries[0], &d.Keys[0], &d.Mean[0],
			&d.Last[0], &a.unit[0], &x[0], a.n, a.stride, terms)
	default:
		attendGradAVX512(&g.PosPos[0], &g.TokPos[0], &g.PosTok[0], &a.p[0], &d.Queries[0], &d.Keys[0], &d.Mean[0],
			&d.Last[0], &a.unit[0], &x[0], a.n, a.stride, terms)
	}
}

func combine(a *Attention, y, total, x []float64) {
	switch level {
	case none:
		combineGo(a, y, total, x)
	case avx2:
		combineAVX2(&y[0], &total[0], &x[0], &a.p[0], a.stride)
	default:
		combineAVX512(&y[0], &total[0], &x[0], &a.p[0], a.stride)
	}
}

func dots(a *Attention, y, x []float64) {
	switch level {
	case none:
		dotsGo(a, y, x)
	case avx2:
		dotsAVX2(&y[0], &a.p[0], &x[0], a.stride)
	default:
		dotsAVX512(&y[0], &a.p[0], &x[0], a.stride)
	}
}

func softmax(x Matrix, tops, sums []float64) {
	switch level {
	case none:
		softmaxGo(x, tops, sums)
	case avx2:
		softmaxAVX2(&x.Data[0], &tops[0], &sums[0], x.Cols, x.Rows, x.Down)
	default:
		softmaxAVX512(&x.Data[0], &tops[0], &sums[0], x.Cols, x.Rows, x.Down)
	}
}

func exps(x []float64) {
	switch level {
	case none:
		expsGo(x)
	case avx2:
		expsAVX2(&x[0], len(x))
	default:
		expsAVX512(&x[0], len(x))
	}
}

func rectify(x []float64) {
	switch level {
	case none:
		rectifyGo(x)
	case avx2:
		rectifyAVX2(&x[0], len(x))
	default:
		rectifyAVX512(&x[0], len(x))
	}
}

func rectifyGrad(dx, x, products []float64) {
	switch level {
	case none:
		rectifyGradGo(dx, x, products)
	case avx2:
		rectifyGradAVX2(&dx[0], &x[0], &products[0], len(x)/len(products), len(products))
	default:
		rectifyGradAVX512(&dx[0], &x[0], &products[0], len(x)/len(products), len(products))
	}
}

func transpose(y, x []float64, rows, columns int) {
	switch level {
	case none:
		transposeGo(y, x, rows, columns)
	case avx2:
		transposeAVX2(&y[0], &x[0], rows, columns)
	default:
		transposeAVX512(&y[0], &x[0], rows, columns)
	}
}

func fold(a *Attention, sum, pairs, posTok []float64, x []int) {
	switch level {
	case none:
		foldGo(a, sum, pairs, posTok, x)
	case avx2:
		foldAVX2(&sum[0], &pairs[0], &posTok[0], &x[0], a.stride, a.tokens)
	default:
		foldAVX512(&sum[0], &pairs[0], &posTok[0], &x[0], a.stride, a.tokens)
	}
}

// The sums of up to eight tokens stay in registers; with more tokens, plain Go is faster.
func spread(h, v Matrix, x []int, tokens int) bool {
	switch {
	case level == none || tokens > 8:
		return false
	case level == avx2:
		spreadAVX2(&h.Data[0], &v.Data[0], &x[0], tokens, v.Cols, h.Rows, h.Down, v.Down, len(x)/h.Rows)
	default:
		spreadAVX512(&h.Data[0], &v.Data[0], &x[0], tokens, v.Cols, h.Rows, h.Down, v.Down, len(x)/h.Rows)
	}
	return true
}

func collect(y, h Matrix, x []int, tokens int) bool {
	switch {
	case level == none || tokens > 16:
		return false
	case level == avx2:
		collectAVX2(&y.Data[0], &h.Data[0], &x[0], tokens, y.Cols, h.Rows, y.Down, h.Down, len(x)/h.Rows)
	default:
		collectAVX512(&y.Data[0], &h.Data[0], &x[0], tokens, y.Cols, h.Rows, y.Down, h.Down, len(x)/h.Rows)
	}
	return true
}

func addRows(to, v Matrix, at []int) {
	switch level {
	case none:
		addRowsGo(to, v, at)
	case avx2:
		addRowsAVX2(&to.Data[0], &v.Data[0], &at[0], v.Cols, v.Rows, to.Down, v.Down)
	default:
		addRowsAVX512(&to.Data[0], &v.Data[0], &at[0], v.Cols, v.Rows, to.Down, v.Down)
	}
}

func sumProducts(y, a, b []float64, n int) {
	switch level {
	case none:
		sumProductsGo(y, a, b, n)
	case avx2:
		productsAVX2(&y[0], &a[0], &b[0], n, len(a)/len(y), len(y)/n)
	default:
		productsAVX512(&y[0], &a[0], &b[0], n, len(a)/len(y), len(y)/n)
	}
}

func drain(sum, v []float64) {
	switch level {
	case none:
		drainGo(sum, v)
	case avx2:
		drainAVX2(&sum[0], &v[0], len(v))
	default:
		drainAVX512(&sum[0], &v[0], len(v))
	}
}

// Kernels for vectors of four numbers are called once for each half of eight problems.
const half = Eight / 2

func fillWords(dst []uint64, w *Words) {
	n := len(dst) / Eight
	switch level {
	case none:
		fillWordsGo(dst, w)
	case avx2:
		fillWordsAVX2(&dst[0], &w.s[0][0], n)
		fillWordsAVX2(&dst[half], &w.s[0][half], n)
	default:
		fillWordsAVX512(&dst[0], &w.s[0][0], n)
	}
}

func points(y []float64, inside []uint8, words []uint64, layers *[256]Layer) {
	switch level {
	case none:
		pointsGo(y, inside, words, layers)
	case avx2:
		pointsAVX2(&y[0], &inside[0], &words[0], &layers[0].Left, len(inside))
	default:
		pointsAVX512(&y[0], &inside[0], &words[0], &layers[0].Left, len(inside))
	}
}

func powers(x, y []float64, m int) {
	switch level {
	case none:
		powersGo(x, y, m)
	case avx2:
		powersAVX2(&x[0], &y[0], m, len(y)/Eight)
	default:
		powersAVX512(&x[0], &y[0], m, len(y)/Eight)
	}
}

func runningSums(sums, x []float64) {
	n := len(x) / Eight
	switch level {
	case none:
		runningSumsGo(sums, x)
	case avx2:
		runningSumsAVX2(&sums[0], &x[0], n)
		runningSumsAVX2(&sums[half], &x[half], n)
	default:
		runningSumsAVX512(&sums[0], &x[0], n)
	}
}

func eliminate(a []float64, least *[Eight]float64, s int) {
	switch level {
	case none:
		eliminateGo(a, least, s)
	case avx2:
		eliminateAVX2(&a[0], &least[0], s)
		eliminateAVX2(&a[half], &least[half], s)
	default:
		eliminateAVX512(&a[0], &least[0], s)
	}
}

func measure(mu []float64, total *[Eight]float64, a, sums []float64, s int) {
	switch level {
	case none:
		measureGo(mu, total, a, sums, s)
	case avx2:
		measureAVX2(&mu[0], &total[0], &a[0], &sums[0], s)
		measureAVX2(&mu[half], &total[half], &a[half], &sums[half], s)
	default:
		measureAVX512(&mu[0], &total[0], &a[0], &sums[0], s)
	}
}

func walk(states, rows [][Eight]int, parents []int, words []uint64, sums []float64, s int) {
	n := len(parents)
	switch level {
	case none:
		walkGo(states, rows, parents, words, sums, s)
	case avx2:
		walkAVX2(&states[0][0], &rows[0][0], &parents[0], &words[0], &sums[0], s, n)
		walkAVX2(&states[0][half], &rows[0][half], &parents[0], &words[half], &sums[half], s, n)
	default:
		walkAVX512(&states[0][0], &rows[0][0], &parents[0], &words[0], &sums[0], s, n)
	}
}

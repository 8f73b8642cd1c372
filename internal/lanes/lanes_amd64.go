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

// A kernel is called by its name, and jumps to the vectors of the level. A call through a variable would pass
// the arguments in registers and copy them to the stack, where the kernel reads them.

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
			addMulVectors(to, x, y, rows, c.Cols, terms, c.Down, a.Down, a.Right, b.Down)
		}
	}
}

func attend(a *Attention, f Factors, x []int) {
	if level == none {
		attendGo(a, f, x)
		return
	}
	attendVectors(&a.p[0], &a.sum[0], &f.PosPos[0], &f.TokPos[0], &f.TokTok[0], &f.PosTok[0], &a.weight[0],
		&x[0], a.stride, a.tokens, Least)
}

func attendGrad(a *Attention, g Factors, d Rank, x []int) {
	if level == none {
		attendGradGo(a, g, d, x)
		return
	}
	attendGradVectors(&g.PosPos[0], &g.TokPos[0], &g.PosTok[0], &a.p[0], &d.Queries[0], &d.Keys[0], &d.Mean[0],
		&d.Last[0], &a.unit[0], &x[0], a.n, a.stride, len(d.Keys)/a.stride)
}

func combine(a *Attention, y, total, x []float64) {
	if level == none {
		combineGo(a, y, total, x)
		return
	}
	combineVectors(&y[0], &total[0], &x[0], &a.p[0], a.stride)
}

func dots(a *Attention, y, x []float64) {
	if level == none {
		dotsGo(a, y, x)
		return
	}
	dotsVectors(&y[0], &a.p[0], &x[0], a.stride)
}

func softmax(x Matrix, tops, sums []float64) {
	if level == none {
		softmaxGo(x, tops, sums)
		return
	}
	softmaxVectors(&x.Data[0], &tops[0], &sums[0], x.Cols, x.Rows, x.Down)
}

func exps(x []float64) {
	if level == none {
		expsGo(x)
		return
	}
	expsVectors(&x[0], len(x))
}

func rectify(x []float64) {
	if level == none {
		rectifyGo(x)
		return
	}
	rectifyVectors(&x[0], len(x))
}

func rectifyGrad(dx, x, products []float64) {
	if level == none {
		rectifyGradGo(dx, x, products)
		return
	}
	rectifyGradVectors(&dx[0], &x[0], &products[0], len(x)/len(products), len(products))
}

func transpose(y, x []float64, rows, columns int) {
	if level == none {
		transposeGo(y, x, rows, columns)
		return
	}
	transposeVectors(&y[0], &x[0], rows, columns)
}

func fold(a *Attention, sum, pairs, posTok []float64, x []int) {
	if level == none {
		foldGo(a, sum, pairs, posTok, x)
		return
	}
	foldVectors(&sum[0], &pairs[0], &posTok[0], &x[0], a.stride, a.tokens)
}

// The sums of up to eight tokens stay in registers; with more tokens, plain Go is faster.
func spread(h, v Matrix, x []int, tokens int) bool {
	if level == none || tokens > 8 {
		return false
	}
	spreadVectors(&h.Data[0], &v.Data[0], &x[0], tokens, v.Cols, h.Rows, h.Down, v.Down, len(x)/h.Rows)
	return true
}

func collect(y, h Matrix, x []int, tokens int) bool {
	if level == none || tokens > 16 {
		return false
	}
	collectVectors(&y.Data[0], &h.Data[0], &x[0], tokens, y.Cols, h.Rows, y.Down, h.Down, len(x)/h.Rows)
	return true
}

func addRows(to, v Matrix, at []int) {
	if level == none {
		addRowsGo(to, v, at)
		return
	}
	addRowsVectors(&to.Data[0], &v.Data[0], &at[0], v.Cols, v.Rows, to.Down, v.Down)
}

func sumProducts(y, a, b []float64, n int) {
	if level == none {
		sumProductsGo(y, a, b, n)
		return
	}
	productsVectors(&y[0], &a[0], &b[0], n, len(a)/len(y), len(y)/n)
}

func drain(sum, v []float64) {
	if level == none {
		drainGo(sum, v)
		return
	}
	drainVectors(&sum[0], &v[0], len(v))
}

func fillWords(dst []uint64, w *Words) {
	if level == none {
		fillWordsGo(dst, w)
		return
	}
	fillWordsVectors(&dst[0], &w.s[0][0], len(dst)/Eight)
}

func points(y []float64, inside []uint8, words []uint64, layers *[256]Layer) {
	if level == none {
		pointsGo(y, inside, words, layers)
		return
	}
	pointsVectors(&y[0], &inside[0], &words[0], &layers[0].Left, len(inside))
}

func powers(x, y []float64, m int) {
	if level == none {
		powersGo(x, y, m)
		return
	}
	powersVectors(&x[0], &y[0], m, len(y)/Eight)
}

func runningSums(sums, x []float64) {
	if level == none {
		runningSumsGo(sums, x)
		return
	}
	runningSumsVectors(&sums[0], &x[0], len(x)/Eight)
}

func eliminate(a []float64, least *[Eight]float64, s int) {
	if level == none {
		eliminateGo(a, least, s)
		return
	}
	eliminateVectors(&a[0], &least[0], s)
}

func measure(mu []float64, total *[Eight]float64, a, sums []float64, s int) {
	if level == none {
		measureGo(mu, total, a, sums, s)
		return
	}
	measureVectors(&mu[0], &total[0], &a[0], &sums[0], s)
}

func walk(states, rows [][Eight]int, parents []int, words []uint64, sums []float64, s int) {
	if level == none {
		walkGo(states, rows, parents, words, sums, s)
		return
	}
	walkVectors(&states[0][0], &rows[0][0], &parents[0], &words[0], &sums[0], s, len(parents))
}

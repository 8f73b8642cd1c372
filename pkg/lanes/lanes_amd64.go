//go:build !purego

package lanes

import "golang.org/x/sys/cpu"

func available() int {
	x := &cpu.X86
	switch {
	case !x.HasAVX2 || !x.HasBMI2:
		return none
	case x.HasAVX512F && x.HasAVX512DQ && x.HasAVX512VL:
		return avx512
	}
	return avx2
}

func addMul(c, a, b Matrix) {
	kernel := addMulAVX2
	switch level {
	case none:
		addMulGo(c, a, b)
		return
	case avx512:
		kernel = addMulAVX512
	}
	// In parts of few rows, which are read side by side and so ahead of time.
	const part = 16
	for i := 0; i < c.Rows; i += part {
		for k := 0; k < a.Cols; k += part {
			kernel(&c.Data[i*c.Down], &a.Data[i*a.Down+k*a.Right], &b.Data[k*b.Down],
				min(part, c.Rows-i), c.Cols, min(part, a.Cols-k), c.Down, a.Down, a.Right, b.Down)
		}
	}
}

func attend(a *Attention, f Factors, x []int) {
	if level == none {
		attendGo(a, f, x)
		return
	}
	kernel := attendAVX2
	if level == avx512 {
		switch a.tokens {
		case 8:
			kernel = attendOneAVX512
		case 16:
			kernel = attendTwoAVX512
		default:
			kernel = attendAVX512
		}
	}
	kernel(&a.p[0], &a.sum[0], &f.PosPos[0], &f.TokPos[0], &f.TokTok[0], &f.PosTok[0], &a.weight[0], &x[0],
		a.stride, a.tokens, Least)
}

func attendGrad(a *Attention, g Factors, d Rank, x []int) {
	kernel := attendGradAVX2
	switch level {
	case none:
		attendGradGo(a, g, d, x)
		return
	case avx512:
		kernel = attendGradAVX512
	}
	kernel(&g.PosPos[0], &g.TokPos[0], &g.PosTok[0], &a.p[0], &d.Queries[0], &d.Keys[0], &d.Mean[0], &d.Last[0],
		&a.unit[0], &x[0], a.n, a.stride, len(d.Keys)/a.stride)
}

func combine(a *Attention, y, total, x []float64) {
	kernel := combineAVX2
	switch level {
	case none:
		combineGo(a, y, total, x)
		return
	case avx512:
		kernel = combineAVX512
	}
	kernel(&y[0], &total[0], &x[0], &a.p[0], a.stride)
}

func dots(a *Attention, y, x []float64) {
	kernel := dotsAVX2
	switch level {
	case none:
		dotsGo(a, y, x)
		return
	case avx512:
		kernel = dotsAVX512
	}
	kernel(&y[0], &a.p[0], &x[0], a.stride)
}

func softmax(x Matrix, tops, sums []float64) {
	kernel := softmaxAVX2
	switch level {
	case none:
		softmaxGo(x, tops, sums)
		return
	case avx512:
		kernel = softmaxAVX512
	}
	kernel(&x.Data[0], &tops[0], &sums[0], x.Cols, x.Rows, x.Down)
}

func rectify(x []float64) {
	kernel := rectifyAVX2
	switch level {
	case none:
		rectifyGo(x)
		return
	case avx512:
		kernel = rectifyAVX512
	}
	kernel(&x[0], len(x))
}

func rectifyGrad(dx, x, products []float64) {
	kernel := rectifyGradAVX2
	switch level {
	case none:
		rectifyGradGo(dx, x, products)
		return
	case avx512:
		kernel = rectifyGradAVX512
	}
	kernel(&dx[0], &x[0], &products[0], len(x)/len(products), len(products))
}

func transpose(y, x []float64, rows, columns int) {
	kernel := transposeAVX2
	switch level {
	case none:
		transposeGo(y, x, rows, columns)
		return
	case avx512:
		kernel = transposeAVX512
	}
	kernel(&y[0], &x[0], rows, columns)
}

func fold(a *Attention, sum, pairs []float64, x []int) {
	kernel := foldAVX2
	switch level {
	case none:
		foldGo(a, sum, pairs, x)
		return
	case avx512:
		kernel = foldAVX512
	}
	kernel(&sum[0], &pairs[0], &a.posTok[0], &x[0], a.stride, a.tokens)
}

// The sums of up to eight tokens stay in registers; with more of them, plain Go is faster.
func spread(h, v Matrix, x []int, tokens int) bool {
	kernel := spreadAVX2
	switch {
	case level == none || tokens > 8:
		return false
	case level == avx512:
		kernel = spreadAVX512
	}
	kernel(&h.Data[0], &v.Data[0], &x[0], tokens, v.Cols, h.Rows, h.Down, v.Down, len(x)/h.Rows)
	return true
}

func collect(y, h Matrix, x []int, tokens int) bool {
	kernel := collectAVX2
	switch {
	case level == none || tokens > 16:
		return false
	case level == avx512:
		kernel = collectAVX512
	}
	kernel(&y.Data[0], &h.Data[0], &x[0], tokens, y.Cols, h.Rows, y.Down, h.Down, len(x)/h.Rows)
	return true
}

func addRows(to, v Matrix, at []int) {
	kernel := addRowsAVX2
	switch level {
	case none:
		addRowsGo(to, v, at)
		return
	case avx512:
		kernel = addRowsAVX512
	}
	kernel(&to.Data[0], &v.Data[0], &at[0], v.Cols, v.Rows, to.Down, v.Down)
}

func sumProducts(y, a, b []float64, n int) {
	kernel := productsAVX2
	switch level {
	case none:
		sumProductsGo(y, a, b, n)
		return
	case avx512:
		kernel = productsAVX512
	}
	kernel(&y[0], &a[0], &b[0], n, len(a)/len(y), len(y)/n)
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

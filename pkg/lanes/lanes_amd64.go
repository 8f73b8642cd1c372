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

func combine(a *Attention, y, x []float64) {
	kernel := combineAVX2
	switch level {
	case none:
		combineGo(a, y, x)
		return
	case avx512:
		kernel = combineAVX512
	}
	kernel(&y[0], &x[0], &a.p[0], a.stride)
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

func softmax(x []float64) (top, sum float64) {
	switch level {
	case none:
		return softmaxGo(x)
	case avx512:
		return softmaxAVX512(&x[0], len(x))
	}
	return softmaxAVX2(&x[0], len(x))
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

func spread(sums, v []float64, x []int) {
	kernel := spreadAVX2
	switch level {
	case none:
		spreadGo(sums, v, x)
		return
	case avx512:
		kernel = spreadAVX512
	}
	kernel(&sums[0], &v[0], &x[0], len(sums), len(v))
}

func collect(y, table, v []float64, x []int) {
	kernel := collectAVX2
	switch level {
	case none:
		collectGo(y, table, v, x)
		return
	case avx512:
		kernel = collectAVX512
	}
	kernel(&y[0], &table[0], &v[0], &x[0], len(table), len(v))
}

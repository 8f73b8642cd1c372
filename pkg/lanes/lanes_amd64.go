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
	kernel(&c.Data[0], &a.Data[0], &b.Data[0], c.Rows, c.Cols, a.Cols, c.Down, a.Down, a.Right, b.Down)
}

func attend(a *Attention, f Factors, x []int) {
	if level == none {
		attendGo(a, f, x)
		return
	}
	kernel := attendAVX2
	if level == avx512 {
		switch len(a.weight) {
		case 8:
			kernel = attendOneAVX512
		case 16:
			kernel = attendTwoAVX512
		default:
			kernel = attendAVX512
		}
	}
	kernel(&a.p[0], &a.sum[0], &f.PosPos[0], &f.TokPos[0], &f.TokTok[0], &f.PosTok[0], &a.weight[0], &x[0],
		a.n, a.stride, len(a.weight), Least)
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
	kernel(&g.PosPos[0], &g.TokPos[0], &g.PosTok[0], &a.p[0], &d.R[0], &d.S[0], &d.C[0], &d.B[0], &d.Minus[0],
		&d.Last[0], &a.unit[0], &x[0], a.n, a.stride, len(d.R)/a.stride)
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
	kernel(&y[0], &x[0], &a.p[0], a.n, a.stride)
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

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

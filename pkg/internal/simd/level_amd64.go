//go:build !purego

package simd

import "golang.org/x/sys/cpu"

const assembly = true

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

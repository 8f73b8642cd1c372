//go:build purego || !amd64

package simd

const assembly = false // a constant, so that the calls of kernels are left out

func available() int { return none }

// Package simd adds and multiplies arrays of float64, in SIMD vectors where the processor has them and in
// plain Go elsewhere, with the same bytes everywhere.
//
// The plain Go defines every function. Products are rounded before they are added, and no operation is fused.
// Where an entry of the result is a sum, as in a product of matrices, its terms are added in order, beginning
// with the previous value. A sum over a row has eight lanes: lane l adds the terms l, l+8, l+16, ... from zero,
// and the lanes are then added as
//
//	((0+4) + (2+6)) + ((1+5) + (3+7))
//
// Other functions solve eight problems side by side, entry k of problem l at the index 8k+l, with the
// operations of one problem alone.
//
// The environment variable LEARNCAUSAL_VECTORS, one of none, avx2 and avx512, limits the vectors to fewer than
// the processor has. The build tag purego leaves out the assembly. [Level] returns the choice.
package simd

import (
	"fmt"
	"os"
	"slices"
)

// levels are the kinds of vectors; each includes the ones before it.
var levels = []string{"none", "avx2", "avx512"}

const (
	none = iota
	avx2
	avx512
)

var level = func() int {
	l, err := chosen(os.Getenv("LEARNCAUSAL_VECTORS"), available())
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2) // a panic would print the stack of the start of the program
	}
	return l
}()

// Level returns the vectors in use: none, avx2 or avx512.
func Level() string { return levels[level] }

// chosen returns the level of that name, at most the level of the machine, or the level
// of the machine if the name is empty. It is an error if there is no such level.
func chosen(name string, has int) (int, error) {
	if name == "" {
		return has, nil
	}
	want := slices.Index(levels, name)
	if want < 0 {
		return has, fmt.Errorf("simd: the environment variable LEARNCAUSAL_VECTORS is %q, want one of %v", name, levels)
	}
	return min(want, has), nil
}

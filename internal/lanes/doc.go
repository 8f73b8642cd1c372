// Package lanes adds and multiplies arrays of float64, with the vectors of the
// processor where it has them and in plain Go elsewhere, and gives the same bytes
// everywhere: vectors are only faster, never different.
//
// The plain Go defines every function. Products are rounded before they are added,
// and nothing is fused. Where the entries of a result are sums of their own, as in a
// product of matrices, each is added in the order of its terms, beginning with what
// was there. A sum over a row is kept in eight lanes: lane l adds up the terms l,
// l+8, l+16, ... from zero, and the lanes are then added as
//
//	((0+4) + (2+6)) + ((1+5) + (3+7))
//
// Other functions solve eight problems side by side, entry k of problem l at the
// index 8k+l: what is done to one is done to each alone.
//
// The environment variable LEARNCAUSAL_VECTORS, one of none, avx2 and avx512, keeps
// to less than the processor has, and so does the build tag purego, with which there
// is no assembly. [Level] says what is used.
package lanes

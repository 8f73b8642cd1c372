package num

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
	"math/rand/v2"
)

// Stream returns the random stream of one purpose: a PCG generator whose state is the SHA-256 hash of (seed,
// purpose, index...). Streams with different addresses are independent for all practical purposes, so that work
// may be split and ordered in any way without changing a draw.
func Stream(seed uint64, purpose string, index ...uint64) *rand.PCG {
	b := binary.LittleEndian.AppendUint64(nil, seed)
	for _, i := range index {
		b = binary.LittleEndian.AppendUint64(b, i)
	}
	h := sha256.Sum256(append(b, purpose...))
	return rand.NewPCG(binary.LittleEndian.Uint64(h[:]), binary.LittleEndian.Uint64(h[8:]))
}

// Uniform returns a draw from {0, 1, ..., 2**53-1} / 2**53.
func Uniform(src *rand.PCG) float64 { return float64(src.Uint64()>>11) * 0x1p-53 }

// UniformOpen returns a draw from {1/2, 3/2, ..., 2**52-1/2} / 2**52, never 0 or 1.
func UniformOpen(src *rand.PCG) float64 {
	return (float64(src.Uint64()>>12) + 0.5) * 0x1p-52
}

// Normal returns a standard normal variable by the polar method of Marsaglia.
func Normal(src *rand.PCG) float64 {
	for {
		u, v := 2*Uniform(src)-1, 2*Uniform(src)-1
		if q := float64(u*u) + float64(v*v); q > 0 && q < 1 {
			return float64(u * math.Sqrt(-2*Log(q)/q))
		}
	}
}

package num

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
)

// Words is eight generators xoshiro256++ (Blackman and Vigna, ACM TOMS 47, 2021)
// side by side, for random words in bulk. [NewWords] makes it.
type Words struct {
	s [4][8]uint64 // s[i][l] is word i of the state of generator l
}

// NewWords returns generators whose states are the next 32 draws from src: four of
// the first generator, four of the second, and so on.
func NewWords(src *rand.PCG) *Words {
	w := new(Words)
	for l := range 8 {
		for i := range w.s {
			w.s[i][l] = src.Uint64()
		}
	}
	return w
}

// Fill writes random words to dst: entry 8k+l is the k-th next draw of generator l.
// It panics unless the length of dst is a multiple of 8.
func (w *Words) Fill(dst []uint64) {
	if len(dst)%8 != 0 {
		panic(fmt.Sprintf("num: room for %d words, want a multiple of 8", len(dst)))
	}
	for l := range 8 {
		s0, s1, s2, s3 := w.s[0][l], w.s[1][l], w.s[2][l], w.s[3][l]
		for k := l; k < len(dst); k += 8 {
			dst[k] = bits.RotateLeft64(s0+s3, 23) + s0
			t := s1 << 17
			s2 ^= s0
			s3 ^= s1
			s1 ^= s2
			s0 ^= s3
			s2 ^= t
			s3 = bits.RotateLeft64(s3, 45)
		}
		w.s[0][l], w.s[1][l], w.s[2][l], w.s[3][l] = s0, s1, s2, s3
	}
}

// Fraction returns the upper 53 bits of a word as a number from
// {0, 1, ..., 2**53-1} / 2**53, uniform if the word is.
func Fraction(word uint64) float64 { return float64(int64(word>>11)) * 0x1p-53 }

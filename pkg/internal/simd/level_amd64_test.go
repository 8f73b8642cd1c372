//go:build !purego

package simd

import "testing"

func TestLevelNeedsAllItsInstructions(t *testing.T) {
	for has, want := range map[[2]bool]string{
		{false, false}: "none", {false, true}: "none", {true, false}: "avx2", {true, true}: "avx512",
	} {
		if got := levels[levelOf(has[0], has[1])]; got != want {
			t.Errorf("vectors of four %v, of eight %v: level %s, want %s", has[0], has[1], got, want)
		}
	}
}

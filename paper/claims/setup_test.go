package claims

import (
	"testing"

	"learncausal/paper/exact"
)

// TestPrimitiveChains knows the answers for S = 3.
func TestPrimitiveChains(t *testing.T) {
	for _, c := range []struct {
		pi, want string
	}{
		{"0 1 0; 0 0 1; 1 0 0", "periodic"},
		{"0 1 0; 0 0 1; 1/2 1/2 0", ""}, // cycles of length 2 and 3
		{"1 0 0; 1/3 1/3 1/3; 1/3 1/3 1/3", "reducible"},
	} {
		if ok, why := isPrimitive(exact.Rats(c.pi)); why != c.want || ok != (why == "") {
			t.Errorf("%v: %q, want %q", c.pi, why, c.want)
		}
	}
}

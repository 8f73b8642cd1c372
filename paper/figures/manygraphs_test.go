package figures

import (
	"testing"
)

func TestEverySpecIsValidAndItsOwn(t *testing.T) {
	for i, s := range Specs() {
		if err := s.Validate(); err != nil {
			t.Errorf("spec %d: %v", i, err)
		}
	}
	if n, want := len(Specs()), 3+20+8+2+27; n != want {
		t.Errorf("%d specs, want %d", n, want)
	}
}

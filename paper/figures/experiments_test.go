package figures

import (
	"strings"
	"testing"
)

func TestNamesAreFoundAndOthersAreListed(t *testing.T) {
	for _, e := range All() {
		if got, err := Named(e.Name); err != nil || got.Title != e.Title {
			t.Errorf("%s: %v", e.Name, err)
		}
	}
	for _, m := range append(MultiParents(), PrintedParents()...) {
		if got, err := MultiParentNamed(m.Name); err != nil || got.Short != m.Short {
			t.Errorf("%s: %v", m.Name, err)
		}
	}
	if _, err := MultiParentNamed("fivegram"); err == nil || !strings.Contains(err.Error(), "fourgram") {
		t.Errorf("error %v, want one that lists the names", err)
	}
}

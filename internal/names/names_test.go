package names

import (
	"slices"
	"testing"
)

func TestNamesThatContainTheWordAreNearest(t *testing.T) {
	got := Nearest("TV", []string{"tw", "lem-a", "lem-tv-step-max", "lemma"})
	if want := []string{"lem-tv-step-max", "tw", "lem-a"}; !slices.Equal(got, want) {
		t.Errorf("near TV: %v, want %v", got, want)
	}
}

package lanes

import (
	"fmt"
	"os"
	"slices"
)

// levels are the kinds of vectors, each with all that the ones before it have.
var levels = []string{"none", "avx2", "avx512"}

const (
	none = iota
	avx2
	avx512
)

var level = chosen(os.Getenv("LEARNCAUSAL_VECTORS"), available())

// Level returns which vectors are used: none, avx2 or avx512.
func Level() string { return levels[level] }

// chosen returns the level of that name, or the one that the machine has if that
// is less or the name is empty. It panics if there is no such level.
func chosen(name string, has int) int {
	if name == "" {
		return has
	}
	want := slices.Index(levels, name)
	if want < 0 {
		panic(fmt.Sprintf("lanes: the environment variable LEARNCAUSAL_VECTORS is %q, want one of %v", name, levels))
	}
	return min(want, has)
}

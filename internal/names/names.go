// Package names finds the names that a misspelt name may mean, and decides what the name of a node is.
package names

import (
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
)

// Nearest returns the three names nearest to name, or all if there are fewer: names
// that contain it, then names in the order of their edit distance. Case does not matter.
func Nearest(name string, names []string) []string {
	name = strings.ToLower(name)
	far := func(other string) int {
		if other = strings.ToLower(other); strings.Contains(other, name) {
			return 0
		}
		return levenshtein.ComputeDistance(name, other)
	}
	near := slices.Clone(names)
	slices.SortStableFunc(near, func(a, b string) int { return far(a) - far(b) })
	return near[:min(3, len(near))]
}

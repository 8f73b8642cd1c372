package graph

// Meet returns the least common ancestor of i and j, the last position that
// lies above both or is one of them, and the number of edges from it down to
// each. In different trees it is Root, and the numbers are -1. It panics if i
// or j is not in 0..T-1.
func (f *Forest) Meet(i, j int) (k, toI, toJ int) {
	f.check(i)
	f.check(j)
	for i != j {
		if i > j {
			i = f.parents[i]
			toI++
		} else {
			j = f.parents[j]
			toJ++
		}
		if i == Root || j == Root {
			return Root, -1, -1
		}
	}
	return i, toI, toJ
}

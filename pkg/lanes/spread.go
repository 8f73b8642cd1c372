package lanes

import "fmt"

// Up to how many tokens vectors are faster: a sum waits for the one before it less often
// where tokens are more, and two vectors of a table are looked up at once.
const spreadTokens, collectTokens = 8, 16

// Spread sets sums_a to the sum of the v_j with x_j = a, from zero and over j in this
// order. It panics unless there are as many numbers as tokens x; that these are in range
// is not checked.
func Spread(sums, v []float64, x []int) {
	perToken(len(v), len(x))
	if len(v) == 0 || len(sums) == 0 || len(sums) > spreadTokens {
		spreadGo(sums, v, x)
		return
	}
	spread(sums, v, x)
}

func spreadGo(sums, v []float64, x []int) {
	clear(sums)
	x = x[:len(v)]
	for j, a := range v {
		sums[x[j]] += a
	}
}

// Collect sets y_j to table_a + v_j for the token a = x_j. It panics unless there are as
// many numbers y, and v, as tokens x; that these are in range is not checked.
func Collect(y, table, v []float64, x []int) {
	perToken(len(y), len(x))
	perToken(len(v), len(x))
	if len(v) == 0 || len(table) == 0 || len(table) > collectTokens {
		collectGo(y, table, v, x)
		return
	}
	collect(y, table, v, x)
}

func collectGo(y, table, v []float64, x []int) {
	x, y = x[:len(v)], y[:len(v)]
	for j, a := range v {
		y[j] = table[x[j]] + a
	}
}

func perToken(n, tokens int) {
	if n != tokens {
		panic(fmt.Sprintf("lanes: %d numbers for %d tokens, want one for each", n, tokens))
	}
}

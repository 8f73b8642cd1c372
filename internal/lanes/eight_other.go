//go:build purego || !amd64

package lanes

func fillWords(dst []uint64, w *Words, _ int) { fillWordsGo(dst, w) }

func points(y []float64, inside []uint8, words []uint64, layers *[256]Layer, _ int) {
	pointsGo(y, inside, words, layers)
}

func powers(x, y []float64, m, _ int) { powersGo(x, y, m) }

func runningSums(sums, x []float64, _ int) { runningSumsGo(sums, x) }

func eliminate(a []float64, least *[Eight]float64, s int) { eliminateGo(a, least, s) }

func measure(mu []float64, total *[Eight]float64, a, sums []float64, s int) {
	measureGo(mu, total, a, sums, s)
}

func walk(states, rows [][Eight]int, parents []int, words []uint64, sums []float64, s int) {
	walkGo(states, rows, parents, words, sums, s)
}

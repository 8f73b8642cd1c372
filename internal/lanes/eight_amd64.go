//go:build !purego

package lanes

// Four problems are half of eight: their kernels are called for each half.
const half = Eight / 2

func fillWords(dst []uint64, w *Words, n int) {
	switch level {
	case none:
		fillWordsGo(dst, w)
	case avx2:
		fillWordsAVX2(&dst[0], &w.s[0][0], n)
		fillWordsAVX2(&dst[half], &w.s[0][half], n)
	default:
		fillWordsAVX512(&dst[0], &w.s[0][0], n)
	}
}

func points(y []float64, inside []uint8, words []uint64, layers *[256]Layer, n int) {
	switch level {
	case none:
		pointsGo(y, inside, words, layers)
	case avx2:
		pointsAVX2(&y[0], &inside[0], &words[0], &layers[0].Left, n)
	default:
		pointsAVX512(&y[0], &inside[0], &words[0], &layers[0].Left, n)
	}
}

func powers(x, y []float64, m, n int) {
	switch level {
	case none:
		powersGo(x, y, m)
	case avx2:
		powersAVX2(&x[0], &y[0], m, n)
	default:
		powersAVX512(&x[0], &y[0], m, n)
	}
}

func runningSums(sums, x []float64, n int) {
	switch level {
	case none:
		runningSumsGo(sums, x)
	case avx2:
		runningSumsAVX2(&sums[0], &x[0], n)
		runningSumsAVX2(&sums[half], &x[half], n)
	default:
		runningSumsAVX512(&sums[0], &x[0], n)
	}
}

func eliminate(a []float64, least *[Eight]float64, s int) {
	switch level {
	case none:
		eliminateGo(a, least, s)
	case avx2:
		eliminateAVX2(&a[0], &least[0], s)
		eliminateAVX2(&a[half], &least[half], s)
	default:
		eliminateAVX512(&a[0], &least[0], s)
	}
}

func measure(mu []float64, total *[Eight]float64, a, sums []float64, s int) {
	switch level {
	case none:
		measureGo(mu, total, a, sums, s)
	case avx2:
		measureAVX2(&mu[0], &total[0], &a[0], &sums[0], s)
		measureAVX2(&mu[half], &total[half], &a[half], &sums[half], s)
	default:
		measureAVX512(&mu[0], &total[0], &a[0], &sums[0], s)
	}
}

func walk(states, rows [][Eight]int, parents []int, words []uint64, sums []float64, s int) {
	n := len(parents)
	switch level {
	case none:
		walkGo(states, rows, parents, words, sums, s)
	case avx2:
		walkAVX2(&states[0][0], &rows[0][0], &parents[0], &words[0], &sums[0], s, n)
		walkAVX2(&states[0][half], &rows[0][half], &parents[0], &words[half], &sums[half], s, n)
	default:
		walkAVX512(&states[0][0], &rows[0][0], &parents[0], &words[0], &sums[0], s, n)
	}
}

//go:build purego || !amd64

package lanes

func available() int                                           { return none }
func addMul(c, a, b Matrix)                                    { addMulGo(c, a, b) }
func attend(a *Attention, f Factors, x []int)                  { attendGo(a, f, x) }
func attendGrad(a *Attention, g Factors, d Rank, x []int)      { attendGradGo(a, g, d, x) }
func combine(a *Attention, y, total, x []float64)              { combineGo(a, y, total, x) }
func dots(a *Attention, y, x []float64)                        { dotsGo(a, y, x) }
func softmax(x Matrix, tops, sums []float64)                   { softmaxGo(x, tops, sums) }
func exps(x []float64)                                         { expsGo(x) }
func rectify(x []float64)                                      { rectifyGo(x) }
func rectifyGrad(dx, x, products []float64)                    { rectifyGradGo(dx, x, products) }
func transpose(y, x []float64, rows, columns int)              { transposeGo(y, x, rows, columns) }
func fold(a *Attention, sum, pairs, posTok []float64, x []int) { foldGo(a, sum, pairs, posTok, x) }
func spread(_, _ Matrix, _ []int, _ int) bool                  { return false }
func collect(_, _ Matrix, _ []int, _ int) bool                 { return false }
func addRows(to, v Matrix, at []int)                           { addRowsGo(to, v, at) }
func sumProducts(y, a, b []float64, n int)                     { sumProductsGo(y, a, b, n) }
func drain(sum, v []float64)                                   { drainGo(sum, v) }
func fillWords(dst []uint64, w *Words)                         { fillWordsGo(dst, w) }
func powers(x, y []float64, m int)                             { powersGo(x, y, m) }
func runningSums(sums, x []float64)                            { runningSumsGo(sums, x) }
func eliminate(a []float64, least *[Eight]float64, s int)      { eliminateGo(a, least, s) }

func points(y []float64, inside []uint8, words []uint64, layers *[256]Layer) {
	pointsGo(y, inside, words, layers)
}

func measure(mu []float64, total *[Eight]float64, a, sums []float64, s int) {
	measureGo(mu, total, a, sums, s)
}

func walk(states, rows [][Eight]int, parents []int, words []uint64, sums []float64, s int) {
	walkGo(states, rows, parents, words, sums, s)
}

//go:build purego || !amd64

package lanes

func available() int { return none }

func addMul(c, a, b Matrix) { addMulGo(c, a, b) }

func attend(a *Attention, f Factors, x []int) { attendGo(a, f, x) }

func attendGrad(a *Attention, g Factors, d Rank, x []int) { attendGradGo(a, g, d, x) }

func combine(a *Attention, y, x []float64) { combineGo(a, y, x) }

func dots(a *Attention, y, x []float64) { dotsGo(a, y, x) }

func softmax(x []float64) (top, sum float64) { return softmaxGo(x) }

func rectify(x []float64) { rectifyGo(x) }

func rectifyGrad(dx, x, products []float64) { rectifyGradGo(dx, x, products) }

func transpose(y, x []float64, rows, columns int) { transposeGo(y, x, rows, columns) }

func fold(a *Attention, sum, pairs []float64, x []int) { foldGo(a, sum, pairs, x) }

func spread(sums, v []float64, x []int) { spreadGo(sums, v, x) }

func collect(y, table, v []float64, x []int) { collectGo(y, table, v, x) }

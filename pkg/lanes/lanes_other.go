//go:build purego || !amd64

package lanes

func available() int { return none }

func addMul(c, a, b Matrix) { addMulGo(c, a, b) }

func attend(a *Attention, f Factors, x []int) { attendGo(a, f, x) }

func attendGrad(a *Attention, g Factors, d Rank, x []int) { attendGradGo(a, g, d, x) }

func combine(a *Attention, y, x []float64) { combineGo(a, y, x) }

func dots(a *Attention, y, x []float64) { dotsGo(a, y, x) }

func softmax(x []float64) (top, sum float64) { return softmaxGo(x) }

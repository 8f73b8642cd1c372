package simd

// The kernels, in simd_amd64.s. The function that calls a kernel has its definition in plain Go.

func addMulVectors(c, a, b *float64, m, n, k, ldc, ra, ca, ldb int)
func combineVectors(y, total, x, p *float64, stride int)
func dotsVectors(y, p, x *float64, stride int)
func attendVectors(p, sum, posPos, tokPos, tokTok, posTok, w *float64, x *int, stride, tokens int, least float64)
func attendGradVectors(
	posPos, tokPos, posTok, p, queries, keys, mean, last, unit *float64, x *int, n, stride, terms int,
)
func foldVectors(sum, pairs, v *float64, x *int, stride, tokens int)
func spreadVectors(h, v *float64, x *int, tokens, n, rows, ldh, ldv, ldx int)
func collectVectors(y, h *float64, x *int, tokens, n, rows, ldy, ldh, ldx int)
func addRowsVectors(to, v *float64, at *int, n, rows, ldto, ldv int)
func productsVectors(y, a, b *float64, n, terms, rows int)
func drainVectors(sum, v *float64, n int)
func softmaxVectors(x, top, sum *float64, n, rows, ld int)
func expsVectors(x *float64, n int)
func rectifyVectors(x *float64, n int)
func rectifyGradVectors(dx, x, products *float64, rows, stride int)
func transposeVectors(y, x *float64, rows, columns int)

// Kernels of eight problems side by side take arguments on the stack.

//go:noescape
func fillWordsVectors(dst, state *uint64, n int)

//go:noescape
func pointsVectors(y *float64, inside *uint8, words *uint64, layers *float64, n int)

//go:noescape
func powersVectors(x, y *float64, m, n int)

//go:noescape
func runningSumsVectors(sums, x *float64, n int)

//go:noescape
func eliminateVectors(a, least *float64, n int)

//go:noescape
func measureVectors(mu, total, a, sums *float64, n int)

//go:noescape
func walkVectors(states, rows, parents *int, words *uint64, sums *float64, n, count int)

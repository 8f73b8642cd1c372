// Lanes generates the assembly of pkg/internal/simd. Run go generate in this folder after a change.
//
// Each kernel is written once, for vectors of eight numbers (AVX-512) and of four (AVX2), and its
// function begins with a jump to the vectors in use. No instruction here fuses a product and a sum. The
// function of pkg/internal/simd that calls a kernel defines it in plain Go, and documents the shapes.
package main

//go:generate go run . -out ../../pkg/internal/simd/simd_amd64.s

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

func main() {
	ConstraintExpr("!purego")
	kernel("addMul", "func(c, a, b *float64, m, n, k, ldc, ra, ca, ldb int)", addMul)
	kernel("combine", "func(y, total, x, p *float64, stride int)", combine)
	kernel("dots", "func(y, p, x *float64, stride int)", dots)
	kernel("attend", "func(p, sum, posPos, tokPos, tokTok, posTok, w *float64, x *int, stride, tokens int, least float64)", attend)
	kernel("attendGrad", "func(posPos, tokPos, posTok, p, queries, keys, mean, last, unit *float64, x *int, n, stride, terms int)", attendGrad)
	kernel("fold", "func(sum, pairs, v *float64, x *int, stride, tokens int)", fold)
	kernel("spread", "func(h, v *float64, x *int, tokens, n, rows, ldh, ldv, ldx int)", spread)
	kernel("collect", "func(y, h *float64, x *int, tokens, n, rows, ldy, ldh, ldx int)", collect)
	kernel("addRows", "func(to, v *float64, at *int, n, rows, ldto, ldv int)", addRows)
	kernel("products", "func(y, a, b *float64, n, terms, rows int)", products)
	kernel("drain", "func(sum, v *float64, n int)", drain)
	kernel("softmax", "func(x, top, sum *float64, n, rows, ld int)", softmax)
	kernel("exps", "func(x *float64, n int)", exps)
	kernel("rectify", "func(x *float64, n int)", rectify)
	kernel("rectifyGrad", "func(dx, x, products *float64, rows, stride int)", rectifyGrad)
	kernel("transpose", "func(y, x *float64, rows, columns int)", transpose)
	eight("fillWords", "func(dst, state *uint64, n int)", inHalves(fillWords))
	eight("points", "func(y *float64, inside *uint8, words *uint64, layers *float64, n int)", points)
	eight("powers", "func(x, y *float64, m, n int)", powers)
	eight("runningSums", "func(sums, x *float64, n int)", inHalves(runningSums))
	eight("eliminate", "func(a, least *float64, n int)", inHalves(eliminate))
	eight("measure", "func(mu, total, a, sums *float64, n int)", inHalves(measure))
	eight("walk", "func(states, rows, parents *int, words *uint64, sums *float64, n, count int)", inHalves(walk))
	Generate()
}

// kernel writes the function of a kernel.
func kernel(name, signature string, body func(v isa)) {
	TEXT(name+"Vectors", NOSPLIT, signature)
	const avx2 = I8(1) // as in pkg/internal/simd
	CMPQ(Mem{Symbol: Symbol{Name: "·level"}, Base: StaticBase}, avx2)
	JLE(LabelRef("four"))
	section("eight", func() { body(isa{w: 8}) })
	done()
	Label("four")
	section("four", func() { body(isa{w: 4}) })
	done()
}

func done() {
	VZEROUPPER()
	RET()
}

// prefix begins the labels of the current section.
var prefix string

// section writes a part of a function whose labels are its own.
func section(name string, body func()) {
	outer := prefix
	prefix += name + "_"
	body()
	prefix = outer
}

func label(name string) { Label(prefix + name) }

func ref(name string) LabelRef { return LabelRef(prefix + name) }

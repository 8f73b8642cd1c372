// Lanes generates the assembly of internal/lanes. Run go generate in this folder after a change.
//
// Each kernel is written once, for vectors of eight numbers (AVX-512) and of four
// (AVX2). No instruction here fuses a product and a sum. The plain Go in internal/lanes
// defines each kernel and documents the shapes of its arguments.
package main

//go:generate go run . -out ../../internal/lanes/lanes_amd64.s -stubs ../../internal/lanes/stubs_amd64.go -pkg lanes

import . "github.com/mmcloughlin/avo/build"

func main() {
	ConstraintExpr("!purego")
	for _, v := range []isa{{"AVX512", 8}, {"AVX2", 4}} {
		addMul(v)
		combine(v)
		dots(v)
		attend(v, "", 0)
		if v.w == 8 {
			attend(v, "One", 1)
			attend(v, "Two", 2)
		}
		attendGrad(v)
		fold(v)
		spread(v)
		collect(v)
		addRows(v)
		products(v)
		drain(v)
		softmax(v)
		exps(v)
		rectify(v)
		rectifyGrad(v)
		transpose(v)
		for _, kernel := range []func(isa){fillWords, points, powers, runningSums, eliminate, measure, walk} {
			kernel(v)
		}
	}
	Generate()
}

package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// spread is sums_a = sum of the v_j with x_j = a, over n numbers in order, a vector of
// tokens at a time: to the others it adds 0, which no sum that began at 0 notices.
func spread(v isa) {
	TEXT("spread"+v.name, NOSPLIT, "func(sums, v *float64, x *int, tokens, n int)")
	Doc("spread" + v.name + " sets sums to those of v for each of the tokens x.")
	sums, numbers, x, tokens, n := param("sums"), param("v"), param("x"), param("tokens"), param("n")
	own, step := v.reg(), v.copies(uint64(v.w))
	v.loadWords(v.numbering(), own)
	Label("tokens")
	some := v.masks(tokens)[0]
	sum, j := v.reg(), GP64()
	v.zero(sum)
	XORQ(j, j)
	Label("numbers")
	v.addWhere(Mem{Base: x, Index: j, Scale: 8}, own, Mem{Base: numbers, Index: j, Scale: 8}, sum)
	INCQ(j)
	CMPQ(j, n)
	JLT(LabelRef("numbers"))
	v.store(sum, Mem{Base: sums}, some)
	VPADDQ(step, own, own)
	ADDQ(U32(v.bytes()), sums)
	SUBQ(U32(v.w), tokens)
	JG(LabelRef("tokens"))
	done()
}

// addWhere adds the number at m to the lanes of sum where own is the token at x.
func (v isa) addWhere(x Mem, own VecVirtual, m Mem, sum VecVirtual) {
	if v.w == 8 {
		k := K()
		VPCMPEQQ_BCST(x, own, k)
		VADDPD_BCST(m, sum, k, sum)
		return
	}
	token, number := v.reg(), v.reg()
	v.bcast(x, token)
	v.bcast(m, number)
	VPCMPEQQ(token, own, token)
	VANDPD(token, number, number)
	VADDPD(number, sum, sum)
}

// collect is y_j = table_{x_j} + v_j for n numbers, with up to two vectors of tokens in
// registers where they can be looked up there.
func collect(v isa) {
	TEXT("collect"+v.name, NOSPLIT, "func(y, table, v *float64, x *int, tokens, n int)")
	Doc("collect" + v.name + " sets y to the entries of the table for the tokens x, and v added.")
	y, table, numbers, x, n := param("y"), param("table"), param("v"), param("x"), param("n")
	held := v.regs(2)
	if v.w == 8 {
		for i, some := range v.masks(param("tokens")) {
			v.load(Mem{Base: table, Disp: i * v.bytes()}, held[i], some)
		}
	}
	Label("numbers")
	some := v.masks(n)[0]
	index, sum := v.reg(), v.reg()
	v.load(Mem{Base: numbers}, sum, some)
	if v.w == 8 {
		VMOVDQU64_Z(Mem{Base: x}, some.k, index)
		VPERMI2PD(held[1], held[0], index)
	} else {
		v.load(Mem{Base: x}, index, some)
		t := v.reg()
		v.gather(table, index, 0, t)
		index = t
	}
	VADDPD(index, sum, sum)
	v.store(sum, Mem{Base: y}, some)
	for _, p := range []Register{y, numbers, x} {
		ADDQ(U32(v.bytes()), p)
	}
	SUBQ(U32(v.w), n)
	JG(LabelRef("numbers"))
	done()
}

package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// spread sets h_a to the sum of the v_j with x_j = a, over n numbers in order, for up to
// eight tokens a, and h_{tokens+j} = v_j. It adds 0 to the sums of the other tokens, which
// changes no sum that began at 0. h: rows x (tokens+n), rows ldh apart; v: rows x n.
func spread(v isa) {
	h, numbers, x, tokens, n := param("h"), param("v"), param("x"), param("tokens"), param("n")
	own, step := v.regs(8/v.w), v.copies(uint64(v.w))
	VMOVUPD(numbering(), own[0])
	for i := 1; i < len(own); i++ {
		VPADDQ(step, own[i-1], own[i])
	}
	some, last := v.masks(tokens), v.lastOf(n)
	rows := param("rows")
	label("rows")
	sums, j := v.zeros(len(own)), GP64()
	begin(j, "numbers")
	for i, s := range sums {
		v.addWhere(Mem{Base: x, Index: j, Scale: 8}, own[i], Mem{Base: numbers, Index: j, Scale: 8}, s)
	}
	INCQ(j)
	CMPQ(j, n)
	JLT(ref("numbers"))
	for i, s := range sums {
		v.store(s, Mem{Base: h, Disp: i * v.bytes()}, some[i])
	}
	to := GP64()
	LEAQ(Mem{Base: h, Index: tokens, Scale: 8}, to)
	v.vectorsOf(n, last, "copy", func(at Register, k mask) {
		t := v.reg()
		v.load(Mem{Base: numbers, Index: at, Scale: 8}, t, k)
		v.store(t, Mem{Base: to, Index: at, Scale: 8}, k)
	})
	nextRow(h, "ldh")
	nextRow(numbers, "ldv")
	nextRow(x, "ldx")
	again(rows, "rows")
}

// nextRow adds a distance, the name of an argument in numbers, to a pointer.
func nextRow(p Register, distance string) {
	d := param(distance)
	LEAQ(Mem{Base: p, Index: d, Scale: 8}, p)
}

// addWhere adds the number at m to the lanes of sum where own equals the token at x.
func (v isa) addWhere(x Mem, own VecVirtual, m Mem, sum VecVirtual) {
	if v.w == 8 {
		k := K()
		VPCMPEQQ_BCST(x, own, k)
		VADDPD_BCST(m, sum, k, sum)
		return
	}
	token, number := v.reg(), v.reg()
	VBROADCASTSD(x, token)
	VBROADCASTSD(m, number)
	VPCMPEQQ(token, own, token)
	VANDPD(token, number, number)
	VADDPD(number, sum, sum)
}

// lastOf returns the mask of the last vector of n numbers.
func (v isa) lastOf(n Register) mask {
	rest := GP64()
	LEAQ(Mem{Base: n, Disp: -1}, rest)
	ANDQ(U8(v.w-1), rest)
	INCQ(rest)
	return v.masks(rest)[0]
}

// vectorsOf calls f for n numbers, a vector at a time.
func (v isa) vectorsOf(n Register, last mask, loop string, f func(at Register, k mask)) {
	at, end := GP64(), GP64()
	LEAQ(Mem{Base: n, Disp: -1}, end)
	ANDQ(I8(-v.w), end)
	begin(at, loop)
	CMPQ(at, end)
	JGE(ref(loop + "Last"))
	f(at, mask{})
	ADDQ(U8(v.w), at)
	JMP(ref(loop))
	label(loop + "Last")
	f(at, last)
}

// collect sets y_j = h_{x_j} + h_{tokens+j} for n numbers. AVX-512 looks the tokens up in two
// vectors. y: rows x n; h: rows x (tokens+n).
func collect(v isa) {
	y, h, x, tokens, n, rows := param("y"), param("h"), param("x"), param("tokens"), param("n"), param("rows")
	last := v.lastOf(n)
	var some [2]mask
	if v.w == 8 {
		some = v.masks(tokens)
	}
	label("rows")
	held, numbers := v.regs(2), GP64()
	if v.w == 8 {
		for i, r := range held {
			v.load(Mem{Base: h, Disp: i * v.bytes()}, r, some[i])
		}
	}
	LEAQ(Mem{Base: h, Index: tokens, Scale: 8}, numbers)
	v.vectorsOf(n, last, "numbers", func(at Register, k mask) {
		index, sum := v.reg(), v.reg()
		v.load(Mem{Base: numbers, Index: at, Scale: 8}, sum, k)
		v.load(Mem{Base: x, Index: at, Scale: 8}, index, k)
		if v.w == 8 {
			VPERMI2PD(held[1], held[0], index)
		} else {
			t := v.reg()
			v.gather(h, index, 0, t)
			index = t
		}
		VADDPD(index, sum, sum)
		v.store(sum, Mem{Base: y, Index: at, Scale: 8}, k)
	})
	nextRow(y, "ldy")
	nextRow(h, "ldh")
	nextRow(x, "ldx")
	again(rows, "rows")
}

// addRows adds row k of v to row at_k of to. v: rows x n, rows ldv apart; to: rows ldto apart.
func addRows(v isa) {
	to, from, which, n, rows := param("to"), param("v"), param("at"), param("n"), param("rows")
	last, distance := v.lastOf(n), param("ldto")
	label("rows")
	row := GP64()
	MOVQ(Mem{Base: which}, row)
	IMULQ(distance, row)
	LEAQ(Mem{Base: to, Index: row, Scale: 8}, row)
	v.vectorsOf(n, last, "numbers", func(at Register, k mask) {
		a, b := v.reg(), v.reg()
		v.load(Mem{Base: from, Index: at, Scale: 8}, a, k)
		v.load(Mem{Base: row, Index: at, Scale: 8}, b, k)
		VADDPD(a, b, b)
		v.store(b, Mem{Base: row, Index: at, Scale: 8}, k)
	})
	ADDQ(U8(8), which)
	nextRow(from, "ldv")
	again(rows, "rows")
}

// products sets y_i = sum_r a_ri b_ri, over the terms r in order. y: rows x n; a, b: rows x terms x n.
func products(v isa) {
	y, a, b, n, rows := param("y"), param("a"), param("b"), param("n"), param("rows")
	SHLQ(U8(3), n)
	i, at := GP64(), GP64()
	label("rows")
	begin(i, "columns")
	sum, t := v.reg(), v.reg()
	v.zero(sum)
	terms := param("terms")
	MOVQ(i, at)
	label("terms")
	VMOVUPD(Mem{Base: a, Index: at, Scale: 1}, t)
	VMULPD(Mem{Base: b, Index: at, Scale: 1}, t, t)
	VADDPD(t, sum, sum)
	ADDQ(n, at)
	again(terms, "terms")
	VMOVUPD(sum, Mem{Base: y, Index: i, Scale: 1})
	v.next(i, n, "columns")
	ADDQ(n, y)
	SUBQ(n, at)
	ADDQ(U32(v.bytes()), at) // the terms of a row
	ADDQ(at, a)
	ADDQ(at, b)
	again(rows, "rows")
}

// drain adds v to sum and clears it.
func drain(v isa) {
	sum, from, n := param("sum"), param("v"), param("n")
	zero := v.zeros(1)[0]
	v.vectorsOf(n, v.lastOf(n), "numbers", func(at Register, k mask) {
		to, m := Mem{Base: sum, Index: at, Scale: 8}, Mem{Base: from, Index: at, Scale: 8}
		a, b := v.reg(), v.reg()
		v.load(to, a, k)
		v.load(m, b, k)
		VADDPD(b, a, a)
		v.store(a, to, k)
		v.store(zero, m, k)
	})
}

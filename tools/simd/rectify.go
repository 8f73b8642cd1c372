package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// rectify replaces x by max(0, x). n is a multiple of eight.
func rectify(v isa) {
	x, n := param("x"), param("n")
	zero, t := v.reg(), v.reg()
	v.zero(zero)
	label("numbers")
	VMAXPD(Mem{Base: x}, zero, t)
	VADDPD(zero, t, t) // -0 becomes 0
	VMOVUPD(t, Mem{Base: x})
	ADDQ(U32(v.bytes()), x)
	SUBQ(U32(v.w), n)
	JG(ref("numbers"))
}

// rectifyGrad is the backward pass of rectify, a column of vectors at a time. dx, x:
// rows x stride; products: stride.
func rectifyGrad(v isa) {
	dx, x, products, stride := param("dx"), param("x"), param("products"), param("stride")
	columns := GP64()
	MOVQ(stride, columns)
	SHLQ(U8(3), stride)
	zero := v.reg()
	v.zero(zero)
	label("columns")
	at, rows, sum, a, d, t := GP64(), param("rows"), v.reg(), v.reg(), v.reg(), v.reg()
	XORQ(at, at)
	VMOVUPD(Mem{Base: products}, sum)
	label("rows")
	VMOVUPD(Mem{Base: x, Index: at, Scale: 1}, a)
	v.keepWhereNot(zero, a, Mem{Base: dx, Index: at, Scale: 1}, d)
	VMOVUPD(d, Mem{Base: dx, Index: at, Scale: 1})
	VMULPD(d, a, t)
	VADDPD(t, sum, sum)
	ADDQ(stride, at)
	again(rows, "rows")
	VMOVUPD(sum, Mem{Base: products})
	for _, p := range []Register{dx, x, products} {
		ADDQ(U32(v.bytes()), p)
	}
	SUBQ(U32(v.w), columns)
	JG(ref("columns"))
}

// keepWhereNot loads r from m and clears its lanes where a = b.
func (v isa) keepWhereNot(b, a VecVirtual, m Mem, r VecVirtual) {
	const different = U8(4)
	if v.w == 8 {
		k := K()
		VCMPPD(different, b, a, k)
		VMOVUPD_Z(m, k, r)
		return
	}
	mask := v.reg()
	VCMPPD(different, b, a, mask)
	VANDPD(m, mask, r)
}

// transpose sets y to the transpose of x, rows x columns, both multiples of eight.
func transpose(v isa) {
	y, x, rows, columns := param("y"), param("x"), param("rows"), param("columns")
	SHLQ(U8(3), rows)
	SHLQ(U8(3), columns)
	i, j := GP64(), GP64()
	begin(i, "rows")
	begin(j, "columns")
	z := v.regs(v.w)
	from, to := GP64(), GP64()
	MOVQ(i, from)
	SHRQ(U8(3), from)
	IMULQ(columns, from)
	ADDQ(j, from)
	ADDQ(x, from)
	for k, r := range z {
		if k > 0 {
			ADDQ(columns, from)
		}
		VMOVUPD(Mem{Base: from}, r)
	}
	MOVQ(j, to)
	SHRQ(U8(3), to)
	IMULQ(rows, to)
	ADDQ(i, to)
	ADDQ(y, to)
	for k, r := range v.transpose(z) {
		if k > 0 {
			ADDQ(rows, to)
		}
		VMOVUPD(r, Mem{Base: to})
	}
	v.next(j, columns, "columns")
	v.next(i, rows, "rows")
}

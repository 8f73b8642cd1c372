package main

import (
	"fmt"
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// word returns the address of these bits.
func word(bits uint64) Mem { return table(fmt.Sprintf("word%016x", bits), bits) }

// constant returns w copies of f.
func (v isa) constant(f float64) VecVirtual { return v.copies(math.Float64bits(f)) }

// softmax replaces rows of x by their softmax, and the entries behind them, up to a multiple
// of eight, by zeros. x: rows x n, rows ld apart; top, sum: rows.
func softmax(v isa) {
	x, tops, totals, n, rows := param("x"), param("top"), param("sum"), param("n"), param("rows")
	lanes, at, end, rest := 8/v.w, GP64(), GP64(), GP64()
	LEAQ(Mem{Base: n, Disp: -1}, end)
	MOVQ(end, rest)
	ANDQ(U8(7), rest)
	INCQ(rest)
	some := v.masks(rest)
	ANDQ(I8(-8), end)
	loop := func(name string, f func(i int, m Mem)) {
		begin(at, name)
		for i := range lanes {
			f(i, Mem{Base: x, Index: at, Scale: 8, Disp: i * v.bytes()})
		}
		ADDQ(U8(8), at)
		CMPQ(at, end)
		JLE(ref(name))
	}
	label("rows")
	top := v.largest(x, end, some)
	VMOVSD(top.AsX(), Mem{Base: tops})
	sums := v.zeros(lanes)
	loop("exp", func(i int, m Mem) {
		t := v.reg()
		VMOVUPD(m, t)
		VSUBPD(top, t, t)
		e := v.exp(t)
		VMOVUPD(e, m)
		VADDPD(e, sums[i], sums[i])
	})
	sum, share, shares := v.sum(sums), XMM(), v.reg()
	VMOVSD(sum, Mem{Base: totals})
	VMOVSD(word(math.Float64bits(1)), share)
	VDIVSD(sum, share, share)
	VBROADCASTSD(share, shares)
	loop("scale", func(_ int, m Mem) {
		t := v.reg()
		VMULPD(m, shares, t)
		VMOVUPD(t, m)
	})
	ADDQ(U8(8), tops)
	ADDQ(U8(8), totals)
	nextRow(x, "ld")
	again(rows, "rows")
}

// exps replaces x by exponentials. n is a multiple of eight.
func exps(v isa) {
	x, n, t := param("x"), param("n"), v.reg()
	label("numbers")
	VMOVUPD(Mem{Base: x}, t)
	VMOVUPD(v.exp(t), Mem{Base: x})
	ADDQ(U32(v.bytes()), x)
	SUBQ(U32(v.w), n)
	JG(ref("numbers"))
}

// largest returns copies of the largest of the numbers at x, of which some are behind end, and
// puts -Inf behind them.
func (v isa) largest(x, end Register, some [2]mask) VecVirtual {
	none, top, at := v.constant(math.Inf(-1)), v.reg(), GP64()
	entry := func(i int) Mem { return Mem{Base: x, Index: at, Scale: 8, Disp: i * v.bytes()} }
	VMOVAPD(none, top)
	begin(at, "top")
	CMPQ(at, end)
	JGE(ref("last"))
	for i := range 8 / v.w {
		VMAXPD(entry(i), top, top)
	}
	ADDQ(U8(8), at)
	JMP(ref("top"))
	label("last")
	for i := range 8 / v.w {
		t := v.loadOr(entry(i), none, some[i])
		VMOVUPD(t, entry(i))
		VMAXPD(top, t, top)
	}
	v.broadcastMax(top)
	return top
}

// loadOr returns the numbers at m in the lanes of the mask, and other elsewhere.
func (v isa) loadOr(m Mem, other VecVirtual, k mask) VecVirtual {
	t := v.reg()
	if v.w == 8 {
		VMOVAPD(other, t)
		VMOVUPD(m, k.k, t)
		return t
	}
	VMASKMOVPD(m, k.k, t)
	VBLENDVPD(k.k, t, other, t)
	return t
}

// broadcastMax sets every lane of r to the largest.
func (v isa) broadcastMax(r VecVirtual) {
	t := v.reg()
	if v.w == 8 {
		VSHUFF64X2(U8(0x4e), r, r, t)
		VMAXPD(t, r, r)
		VSHUFF64X2(U8(0xb1), r, r, t)
		VMAXPD(t, r, r)
		VPERMILPD(U8(0x55), r, t)
	} else {
		VPERM2F128(U8(0x01), r, r, t)
		VMAXPD(t, r, r)
		VPERMILPD(U8(0x05), r, t)
	}
	VMAXPD(t, r, r)
}

// sum returns the sum of the eight lanes.
func (v isa) sum(s []VecVirtual) VecVirtual {
	half, t, u := YMM(), XMM(), XMM()
	if v.w == 8 {
		VEXTRACTF64X4(U8(1), s[0], half)
		VADDPD(half, s[0].AsY(), half)
	} else {
		VADDPD(s[1], s[0], half)
	}
	VEXTRACTF128(U8(1), half, t)
	VADDPD(t, half.AsX(), t)
	VPERMILPD(U8(1), t, u)
	VADDSD(u, t, t)
	return t
}

// exp returns e**x for x at most 0, as num.Exp computes it.
func (v isa) exp(x VecVirtual) VecVirtual {
	mul := func(a, b VecVirtual) VecVirtual { r := v.reg(); VMULPD(b, a, r); return r }
	add := func(a, b VecVirtual) VecVirtual { r := v.reg(); VADDPD(b, a, r); return r }
	sub := func(a, b VecVirtual) VecVirtual { r := v.reg(); VSUBPD(b, a, r); return r }
	k := sub(mul(x, v.constant(math.Log2E)), v.constant(0.5))
	v.words(VRNDSCALEPD, VROUNDPD, U8(3), k, k)
	hi := sub(x, mul(k, v.constant(6.93147180369123816490e-01)))
	lo := mul(k, v.constant(1.90821492927058770002e-10))
	r := sub(hi, lo)
	t := mul(r, r)
	p := v.constant(4.13813679705723846039e-08)
	for _, c := range []float64{
		-1.65339022054652515390e-06, 6.61375632143793436117e-05,
		-2.77777777770155933842e-03, 1.66666666666666657415e-01,
	} {
		p = add(v.constant(c), mul(t, p))
	}
	c := sub(r, mul(t, p))
	quotient := mul(r, c)
	VDIVPD(sub(v.constant(2), c), quotient, quotient)
	y := sub(v.constant(1), sub(sub(lo, quotient), hi))
	return v.scale(y, k, x)
}

const expUnderflow = -7.45133219101941108420e+02

// scale returns 2**k y, rounded once, and 0 where x underflows.
func (v isa) scale(y, k, x VecVirtual) VecVirtual {
	if v.w == 8 {
		under := K()
		VCMPPD(U8(5), v.constant(expUnderflow), x, under) // not less than
		VSCALEFPD_Z(k, y, under, y)
		return y
	}
	n, half, big, rest := XMM(), XMM(), XMM(), XMM()
	VCVTTPD2DQY(k, n)
	VPSRAD(U8(1), n, half)
	least := XMM()
	VPBROADCASTD(word(uint64(uint32(1<<32-1000))), least)
	VPCMPGTD(least, n, big)
	VPBLENDVB(big, half, least, half)
	VPSUBD(half, n, rest)
	bias := YMM()
	VPBROADCASTQ(word(1023), bias)
	for _, part := range []VecVirtual{rest, half} {
		power := YMM()
		VPMOVSXDQ(part, power)
		VPADDQ(bias, power, power)
		VPSLLQ(U8(52), power, power)
		VMULPD(power, y, y)
	}
	under := YMM()
	VCMPPD(U8(5), v.constant(expUnderflow), x, under)
	VANDPD(under, y, y)
	return y
}
